//! Handlers for this processor.

/// A [`Handler`](crate::exec::signature::Handler) of an expression of `context` and `op`: compiled twice, for
/// any processor and for one with AVX2 and FMA, of which the right one is taken.
///
/// The kinds of its operands are those of the functions on lanes whose value the expression is (`unary` and the
/// like). One that reaches slots in another way names them before itself: `[d: Kind::Word, a: Kind::Double]`.
macro_rules! handler {
    ($([$($operand:ident: $kind:expr),*],)? |$context:ident, $op:ident| $body:expr) => {{
        // SAFETY: the operation is one of a verified program, whose slots, tables and `aux` are what the signature
        // below asks: `exec::verify`.
        #[allow(unused_unsafe, reason = "not every body does something unsafe")]
        unsafe fn baseline($context: &mut $crate::exec::op::Context<'_>, $op: &$crate::exec::op::Op) {
            // SAFETY: the contract of `Run`, as above.
            #[allow(unused_unsafe, reason = "not every body needs it")]
            let _ = unsafe { $body };
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        // SAFETY: as for `baseline`; the processor has been asked.
        #[allow(unused_unsafe, reason = "as above")]
        unsafe fn vectors($context: &mut $crate::exec::op::Context<'_>, $op: &$crate::exec::op::Op) {
            // SAFETY: the contract of `Run`, as above.
            #[allow(unused_unsafe, reason = "not every body needs it")]
            let _ = unsafe { $body };
        }
        #[cfg(target_arch = "x86_64")]
        let run = match $crate::processor::has_vectors() {
            true => vectors as $crate::exec::signature::Run,
            false => baseline as $crate::exec::signature::Run,
        };
        #[cfg(not(target_arch = "x86_64"))]
        let run = baseline as $crate::exec::signature::Run;
        let signature = $crate::lower::handler::signature!($([$($operand: $kind),*],)? |$context, $op| $body);
        $crate::exec::signature::Handler { run, signature }
    }};
}
pub(crate) use handler;

/// As [`handler!`], compiled once: of what is seldom executed, or gains nothing by vectors.
macro_rules! rare {
    ($([$($operand:ident: $kind:expr),*],)? |$context:ident, $op:ident| $body:expr) => {{
        // SAFETY: as for `handler!`.
        #[allow(unused_unsafe, reason = "not every body does something unsafe")]
        unsafe fn baseline($context: &mut $crate::exec::op::Context<'_>, $op: &$crate::exec::op::Op) {
            // SAFETY: the contract of `Run`, as for `handler!`.
            let _ = unsafe { $body };
        }
        let run = baseline as $crate::exec::signature::Run;
        let signature = $crate::lower::handler::signature!($([$($operand: $kind),*],)? |$context, $op| $body);
        $crate::exec::signature::Handler { run, signature }
    }};
}
pub(crate) use rare;

/// The [`Signature`](crate::exec::signature::Signature) of a handler: as it is written, or that of the type of its
/// expression.
macro_rules! signature {
    ([$($operand:ident: $kind:expr),*], |$context:ident, $op:ident| $body:expr) => {
        $crate::exec::signature::Signature::of(|_signature| {
            $(_signature.$operand = $kind.into();)*
        })
    };
    (|$context:ident, $op:ident| $body:expr) => {
        $crate::exec::signature::signature_of(
            |$context: &mut $crate::exec::op::Context<'_>, $op: &$crate::exec::op::Op| {
                // SAFETY: it is not called.
                #[allow(unused_unsafe, reason = "as for the handler")]
                unsafe { $body }
            },
        )
    };
}
pub(crate) use signature;

/// A handler of a function on lanes, all of the Rust type of a PTX type; `None` for types that are not
/// of the group.
macro_rules! each {
    (unary $ty:expr, of $group:ident, $f:expr) => {
        $crate::lower::handler::with_type!($ty, T of $group, $crate::lower::handler::handler!(
            |c, op| $crate::exec::op::unary(c, op, |a: T| $f(a))))
    };
    (binary $ty:expr, of $group:ident, $f:expr) => {
        $crate::lower::handler::with_type!($ty, T of $group, $crate::lower::handler::handler!(
            |c, op| $crate::exec::op::binary(c, op, |a: T, b: T| $f(a, b))))
    };
    (ternary $ty:expr, of $group:ident, $f:expr) => {
        $crate::lower::handler::with_type!($ty, T of $group, $crate::lower::handler::handler!(
            |c, op| $crate::exec::op::ternary(c, op, |a: T, b: T, d: T| $f(a, b, d))))
    };
    (compare $ty:expr, of $group:ident, $f:expr) => {
        $crate::lower::handler::with_type!($ty, T of $group, $crate::lower::handler::handler!(
            |c, op| $crate::exec::op::compare(c, op, |a: T, b: T| $f(a, b))))
    };
}
pub(crate) use each;

/// `$body` with `$T` as the Rust type of a PTX type, of the group that is named; `None` for others.
macro_rules! with_type {
    ($ty:expr, $T:ident of integers, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body,
            U16 | B16 => u16, S16 => i16, U32 | B32 => u32, S32 => i32, U64 | B64 => u64, S64 => i64)
    };
    ($ty:expr, $T:ident of long_integers, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body,
            U32 | B32 => u32, S32 => i32, U64 | B64 => u64, S64 => i64)
    };
    ($ty:expr, $T:ident of signed, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body, S16 => i16, S32 => i32, S64 => i64)
    };
    ($ty:expr, $T:ident of long_words, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body,
            B32 | U32 | S32 => u32, B64 | U64 | S64 => u64)
    };
    ($ty:expr, $T:ident of words, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body,
            B16 | U16 | S16 => u16, B32 | U32 | S32 | F32 => u32, B64 | U64 | S64 | F64 => u64)
    };
    ($ty:expr, $T:ident of floats, $body:expr) => {
        $crate::lower::handler::typed!($ty, $T, $body, F32 => f32, F64 => f64)
    };
}
pub(crate) use with_type;

macro_rules! typed {
    ($ty:expr, $T:ident, $body:expr, $($($name:ident)|* => $rust:ty),*) => {
        match $ty {
            $($(ptx::Type::$name)|* => {
                type $T = $rust;
                Some($body)
            })*
            _ => None,
        }
    };
}
pub(crate) use typed;
