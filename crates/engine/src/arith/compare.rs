//! Comparisons and choices: `setp`, `set`, `slct`, `testp`.
//!
//! `f16` and `bf16` are compared as the `f32` of the same value ([`half`](super::half)). For types without
//! NaN the forms with and without `u` are the same. `lo`, `ls`, `hi` and `hs` are [`lt`], [`le`], [`gt`] and
//! [`ge`] of an unsigned type. The instruction's `.ftz` flushes the operands beforehand.

/// `eq`: equal, and both numbers.
#[inline(always)]
pub fn eq<T: PartialOrd>(a: T, b: T) -> bool {
    a == b
}

/// `ne`: not equal, and both numbers.
#[inline(always)]
pub fn ne<T: PartialOrd>(a: T, b: T) -> bool {
    (a < b) | (a > b)
}

/// `lt`, `lo`.
#[inline(always)]
pub fn lt<T: PartialOrd>(a: T, b: T) -> bool {
    a < b
}

/// `le`, `ls`.
#[inline(always)]
pub fn le<T: PartialOrd>(a: T, b: T) -> bool {
    a <= b
}

/// `gt`, `hi`.
#[inline(always)]
pub fn gt<T: PartialOrd>(a: T, b: T) -> bool {
    a > b
}

/// `ge`, `hs`.
#[inline(always)]
pub fn ge<T: PartialOrd>(a: T, b: T) -> bool {
    a >= b
}

/// Defines the comparison that holds for NaN, too, as the opposite of another.
macro_rules! unordered {
    ($($name:ident not $opposite:ident: $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        pub fn $name<T: PartialOrd>(a: T, b: T) -> bool {
            !$opposite(a, b)
        }
    )*};
}

unordered! {
    equ not ne: "`equ`: equal, or one is NaN.";
    neu not eq: "`neu`: not equal, or one is NaN.";
    ltu not ge: "`ltu`: less, or one is NaN.";
    leu not gt: "`leu`: less or equal, or one is NaN.";
    gtu not le: "`gtu`: greater, or one is NaN.";
    geu not lt: "`geu`: greater or equal, or one is NaN.";
    nan not num: "`nan`: one is NaN.";
}

/// `num`: both are numbers.
#[inline(always)]
pub fn num<T: PartialOrd>(a: T, b: T) -> bool {
    (a <= b) | (a > b)
}

/// `slct` by an integer: `a` if `c` is not negative.
#[inline(always)]
pub fn slct<T>(a: T, b: T, c: i32) -> T {
    if c >= 0 { a } else { b }
}

/// `slct` by a float: `a` if `c` is 0 of either sign or more; `b` if it is NaN.
#[inline(always)]
pub fn slct_f32<T>(a: T, b: T, c: f32) -> T {
    if c >= 0.0 { a } else { b }
}
