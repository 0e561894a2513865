//! The GPU's instructions that round in a given direction, and others that no operator of
//! Rust stands for.

mod exact;

use core::cmp::Ordering;

use exact::{add, div, fma, mul, sqrt};

/// Where to round, if not to the nearest.
#[derive(Clone, Copy)]
enum Direction {
    Zero,
    Down,
    Up,
}

/// A function for each rounding: what the host's own arithmetic gives, which is the nearest, and what
/// is computed from a direction.
macro_rules! rounded {
    ($(
        $name:ident($($x:ident: $ty:ty),*) -> $result:ty = $nearest:expr, |$direction:ident| $directed:expr;
    )*) => { pastey::paste! {$(
        #[inline]
        pub(crate) fn [<$name _rn>]($($x: $ty),*) -> $result {
            $nearest
        }

        rounded!([<$name _rz>]($($x: $ty),*) -> $result = |$direction: Zero| $directed);
        rounded!([<$name _rd>]($($x: $ty),*) -> $result = |$direction: Down| $directed);
        rounded!([<$name _ru>]($($x: $ty),*) -> $result = |$direction: Up| $directed);
    )*}};
    (
        $name:ident($($x:ident: $ty:ty),*) -> $result:ty = |$direction:ident: $which:ident| $directed:expr
    ) => {
        #[inline]
        pub(crate) fn $name($($x: $ty),*) -> $result {
            let $direction = Direction::$which;
            $directed
        }
    };
}

// Every `f32` is an `f64`, so that rounding twice in one direction is rounding once.
rounded! {
    fadd(x: f32, y: f32) -> f32 = x + y, |to| narrow(add(x.into(), y.into(), to), to);
    fsub(x: f32, y: f32) -> f32 = x - y, |to| narrow(add(x.into(), (-y).into(), to), to);
    fmul(x: f32, y: f32) -> f32 = x * y, |to| narrow(mul(x.into(), y.into(), to), to);
    fdiv(x: f32, y: f32) -> f32 = x / y, |to| narrow(div(x.into(), y.into(), to), to);
    frcp(x: f32) -> f32 = 1.0 / x, |to| narrow(div(1.0, x.into(), to), to);
    fsqrt(x: f32) -> f32 = x.sqrt(), |to| narrow(sqrt(x.into(), to), to);
    fmaf(x: f32, y: f32, z: f32) -> f32 = x.mul_add(y, z),
        |to| narrow(fma(x.into(), y.into(), z.into(), to), to);
    dadd(x: f64, y: f64) -> f64 = x + y, |to| add(x, y, to);
    dmul(x: f64, y: f64) -> f64 = x * y, |to| mul(x, y, to);
    ddiv(x: f64, y: f64) -> f64 = x / y, |to| div(x, y, to);
    drcp(x: f64) -> f64 = 1.0 / x, |to| div(1.0, x, to);
    dsqrt(x: f64) -> f64 = x.sqrt(), |to| sqrt(x, to);
    fma(x: f64, y: f64, z: f64) -> f64 = x.mul_add(y, z), |to| fma(x, y, z, to);

    double2float(x: f64) -> f32 = x as f32, |to| narrow(x, to);
    int2float(x: i32) -> f32 = x as f32, |to| single(x.into(), to);
    uint2float(x: i32) -> f32 = x.cast_unsigned() as f32, |to| single(x.cast_unsigned().into(), to);
    ll2float(x: i64) -> f32 = x as f32, |to| single(x.into(), to);
    ull2float(x: i64) -> f32 = x.cast_unsigned() as f32, |to| single(x.cast_unsigned().into(), to);
    ll2double(x: i64) -> f64 = x as f64, |to| double(x.into(), to);
    ull2double(x: i64) -> f64 = x.cast_unsigned() as f64, |to| double(x.cast_unsigned().into(), to);
}

/// `x`, rounded to an `f32`.
fn narrow(x: f64, to: Direction) -> f32 {
    let nearest = x as f32;
    match x.partial_cmp(&f64::from(nearest)) {
        Some(Ordering::Less) if to.is_down(x) => nearest.next_down(),
        Some(Ordering::Greater) if !to.is_down(x) => nearest.next_up(),
        _ => nearest,
    }
}

macro_rules! of_integer {
    ($($name:ident of $float:ident;)*) => {$(
        /// An integer of 64 bits, signed or not, rounded.
        fn $name(x: i128, to: Direction) -> $float {
            let nearest = x as $float;
            let down = to.is_down(nearest.into());
            match x.cmp(&(nearest as i128)) {
                Ordering::Less if down => nearest.next_down(),
                Ordering::Greater if !down => nearest.next_up(),
                _ => nearest,
            }
        }
    )*};
}

of_integer! {
    single of f32;
    double of f64;
}

impl Direction {
    /// Whether `x` is rounded downwards.
    fn is_down(self, x: f64) -> bool {
        match self {
            Direction::Zero => x.is_sign_positive(),
            Direction::Down => true,
            Direction::Up => false,
        }
    }
}

/// To the integers of a type, the nearest of which stands for what is beyond them. What NaN becomes
/// depends on the types (PTX ISA, `cvt`).
macro_rules! to_integer {
    ($($name:ident($float:ident) -> $result:ident = $integer:ident, NaN $nan:expr;)*) => { pastey::paste! {$(
        to_integer!([<$name _rn>]($float) -> $result = round_ties_even $integer $nan);
        to_integer!([<$name _rz>]($float) -> $result = trunc $integer $nan);
        to_integer!([<$name _rd>]($float) -> $result = floor $integer $nan);
        to_integer!([<$name _ru>]($float) -> $result = ceil $integer $nan);
    )*}};
    ($name:ident($float:ident) -> $result:ident = $round:ident $integer:ident $nan:expr) => {
        #[inline]
        pub(crate) fn $name(x: $float) -> $result {
            if x.is_nan() { $nan } else { x.$round() as $integer as $result }
        }
    };
}

to_integer! {
    float2int(f32) -> i32 = i32, NaN 0;
    float2uint(f32) -> i32 = u32, NaN 0;
    float2ll(f32) -> i64 = i64, NaN i64::MIN;
    float2ull(f32) -> i64 = u64, NaN i64::MIN;
    double2int(f64) -> i32 = i32, NaN i32::MIN;
    double2uint(f64) -> i32 = u32, NaN i32::MIN;
    double2ll(f64) -> i64 = i64, NaN i64::MIN;
    double2ull(f64) -> i64 = u64, NaN i64::MIN;
}

/// The greater or the lesser number. Of a number and NaN the number; -0 counts as less than 0.
macro_rules! extreme {
    ($($name:ident of $float:ident: $better:tt, $zeros:tt;)*) => {$(
        #[inline]
        pub(crate) fn $name(x: $float, y: $float) -> $float {
            if x == y {
                $float::from_bits(x.to_bits() $zeros y.to_bits())
            } else if x $better y || y.is_nan() {
                x
            } else {
                y
            }
        }
    )*};
}

extreme! {
    fmaxf of f32: >, &;
    fminf of f32: <, |;
    fmax of f64: >, &;
    fmin of f64: <, |;
}

/// The bytes of `y` and `x`, those of `x` the lower ones, that the four lower digits of `z` name. A
/// digit of 8 or more stands for eight times the sign of the byte.
pub(crate) fn byte_perm(x: i32, y: i32, z: i32) -> i32 {
    let bytes = u64::from(y.cast_unsigned()) << 32 | u64::from(x.cast_unsigned());
    let byte = |digit: i32| {
        let byte = (bytes >> (8 * (digit & 7))) as i8;
        if digit & 8 == 0 { byte } else { byte >> 7 }
    };
    i32::from_le_bytes([0, 4, 8, 12].map(|shift| byte(z >> shift).cast_unsigned()))
}
