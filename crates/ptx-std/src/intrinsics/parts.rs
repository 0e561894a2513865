//! The parts of numbers, their kinds, and their neighbours, differences and remainders.

use crate::arch::intrinsics as arch;
use crate::float::{FloatExt, GpuFloat};
use crate::intrinsics::{intrinsics, storing_intrinsics};
use crate::math::Functions;

intrinsics! {
    /// 1 for NaN, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::isnand;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { isnand(f64::NAN) }, 1);
    /// ```
    isnand(x: f64) -> i32 = x.is_nan().into();
    /// 1 for NaN, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::isnanf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { isnanf(f32::NAN) }, 1);
    /// ```
    isnanf(x: f32) -> i32 = x.is_nan().into();
    /// 1 for either infinity, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::isinfd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { isinfd(f64::NEG_INFINITY) }, 1);
    /// ```
    isinfd(x: f64) -> i32 = x.is_infinite().into();
    /// 1 for either infinity, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::isinff;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { isinff(f32::NEG_INFINITY) }, 1);
    /// ```
    isinff(x: f32) -> i32 = x.is_infinite().into();
    /// 0 for infinities and NaN, else 1.
    ///
    /// ```
    /// use cuda_std::intrinsics::isfinited;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { isfinited(1.0) }, 1);
    /// ```
    isfinited(x: f64) -> i32 = x.is_finite().into();
    /// 0 for infinities and NaN, else 1.
    ///
    /// ```
    /// use cuda_std::intrinsics::finitef;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { finitef(1.0) }, 1);
    /// ```
    finitef(x: f32) -> i32 = x.is_finite().into();
    /// 1 where the sign's bit is set, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::signbitd;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { signbitd(-0.0) }, 1);
    /// ```
    signbitd(x: f64) -> i32 = x.is_sign_negative().into();
    /// 1 where the sign's bit is set, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::signbitf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { signbitf(-0.0) }, 1);
    /// ```
    signbitf(x: f32) -> i32 = x.is_sign_negative().into();

    /// [`FloatExt::unbiased_exp`].
    ///
    /// ```
    /// use cuda_std::intrinsics::ilogb;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ilogb(10.0) }, 3);
    /// ```
    ilogb(x: f64) -> i32 = x.unbiased_exp();
    /// [`FloatExt::unbiased_exp`].
    ///
    /// ```
    /// use cuda_std::intrinsics::ilogbf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { ilogbf(10.0) }, 3);
    /// ```
    ilogbf(x: f32) -> i32 = x.unbiased_exp();
    /// The exponent of two; -∞ for 0, ∞ for infinities.
    ///
    /// ```
    /// use cuda_std::intrinsics::logb;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { logb(10.0) }, 3.0);
    /// ```
    logb(x: f64) -> f64 = exponent(x);
    /// The exponent of two; -∞ for 0, ∞ for infinities.
    ///
    /// ```
    /// use cuda_std::intrinsics::logbf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { logbf(10.0) }, 3.0);
    /// ```
    logbf(x: f32) -> f32 = exponent(x.into()) as f32;

    /// The nearest integer, of two the even one; beyond the type and for NaN as
    /// [`double2ll_rn`](crate::intrinsics::double2ll_rn).
    ///
    /// ```
    /// use cuda_std::intrinsics::llrint;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llrint(2.5) }, 2);
    /// ```
    llrint(x: f64) -> i64 = arch::double2ll_rn(x);
    /// The nearest integer, of two the even one; beyond the type and for NaN as
    /// [`float2ll_rn`](crate::intrinsics::float2ll_rn).
    ///
    /// ```
    /// use cuda_std::intrinsics::llrintf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llrintf(2.5) }, 2);
    /// ```
    llrintf(x: f32) -> i64 = arch::float2ll_rn(x);
    /// The nearest integer, of two that away from 0; beyond the type and for NaN as
    /// [`double2ll_rz`](crate::intrinsics::double2ll_rz).
    ///
    /// ```
    /// use cuda_std::intrinsics::llround;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llround(2.5) }, 3);
    /// ```
    llround(x: f64) -> i64 = arch::double2ll_rz(GpuFloat::round(x));
    /// The nearest integer, of two that away from 0; beyond the type and for NaN as
    /// [`float2ll_rz`](crate::intrinsics::float2ll_rz).
    ///
    /// ```
    /// use cuda_std::intrinsics::llroundf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { llroundf(2.5) }, 3);
    /// ```
    llroundf(x: f32) -> i64 = arch::float2ll_rz(GpuFloat::round(x));

    /// `x - y` where that is positive or NaN, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fdim;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fdim(5.0, 2.0) }, 3.0);
    /// ```
    fdim(x: f64, y: f64) -> f64 = if x <= y { 0.0 } else { x - y };
    /// `x - y` where that is positive or NaN, else 0.
    ///
    /// ```
    /// use cuda_std::intrinsics::fdimf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { fdimf(5.0, 2.0) }, 3.0);
    /// ```
    fdimf(x: f32, y: f32) -> f32 = if x <= y { 0.0 } else { x - y };
    /// The number next to `x` in the direction of `y`; `y` where they are equal.
    ///
    /// ```
    /// use cuda_std::intrinsics::nextafter;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { nextafter(1.0, 2.0) }, 1.0 + f64::EPSILON);
    /// ```
    nextafter(x: f64, y: f64) -> f64 = if x < y {
        x.next_up()
    } else if x > y {
        x.next_down()
    } else {
        equal_or_nan(x, y)
    };
    /// The number next to `x` in the direction of `y`; `y` where they are equal.
    ///
    /// ```
    /// use cuda_std::intrinsics::nextafterf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { nextafterf(1.0, 2.0) }, 1.0 + f32::EPSILON);
    /// ```
    nextafterf(x: f32, y: f32) -> f32 = if x < y {
        x.next_up()
    } else if x > y {
        x.next_down()
    } else {
        equal_or_nan(x, y)
    };
    /// `x - n * y` for the integer `n` nearest to `x / y`, of two the even one; exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::remainder;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { remainder(7.0, 4.0) }, -1.0);
    /// ```
    remainder(x: f64, y: f64) -> f64 = remainder_and_quotient(x, y).0;
    /// `x - n * y` for the integer `n` nearest to `x / y`, of two the even one; exactly.
    ///
    /// ```
    /// use cuda_std::intrinsics::remainderf;
    ///
    /// // SAFETY: any numbers will do.
    /// assert_eq!(unsafe { remainderf(7.0, 4.0) }, -1.0);
    /// ```
    remainderf(x: f32, y: f32) -> f32 = remainder_and_quotient(x.into(), y.into()).0 as f32;
}

storing_intrinsics! {
    /// [`remainder`]; stores the last three bits of `n` with the sign of `x / y`.
    ///
    /// ```
    /// use cuda_std::intrinsics::remquo;
    ///
    /// let mut stored = 0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { remquo(7.0, 4.0, &mut stored) };
    /// assert_eq!((returned, stored), (-1.0, 2));
    /// ```
    remquo(x: f64, y: f64 => c: *mut i32) -> f64 = remainder_and_quotient(x, y);
    /// [`remainderf`]; stores the last three bits of `n` with the sign of `x / y`.
    ///
    /// ```
    /// use cuda_std::intrinsics::remquof;
    ///
    /// let mut stored = 0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { remquof(7.0, 4.0, &mut stored) };
    /// assert_eq!((returned, stored), (-1.0, 2));
    /// ```
    remquof(x: f32, y: f32 => quo: *mut i32) -> f32 = {
        let (remainder, quotient) = remainder_and_quotient(x.into(), y.into());
        (remainder as f32, quotient)
    };
    /// The fraction of [`FloatExt::frexp`]; stores its exponent.
    ///
    /// ```
    /// use cuda_std::intrinsics::frexp;
    ///
    /// let mut stored = 0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { frexp(12.0, &mut stored) };
    /// assert_eq!((returned, stored), (0.75, 4));
    /// ```
    frexp(x: f64 => b: *mut i32) -> f64 = FloatExt::frexp(x);
    /// The fraction of [`FloatExt::frexp`]; stores its exponent.
    ///
    /// ```
    /// use cuda_std::intrinsics::frexpf;
    ///
    /// let mut stored = 0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { frexpf(12.0, &mut stored) };
    /// assert_eq!((returned, stored), (0.75, 4));
    /// ```
    frexpf(x: f32 => b: *mut i32) -> f32 = FloatExt::frexp(x);
    /// Returns the digits behind the point, and stores those before it. Both have the sign of `x`.
    ///
    /// ```
    /// use cuda_std::intrinsics::modf;
    ///
    /// let mut stored = 0.0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { modf(-2.5, &mut stored) };
    /// assert_eq!((returned, stored), (-0.5, -2.0));
    /// ```
    modf(x: f64 => b: *mut f64) -> f64 = {
        let rest = if x.is_infinite() { 0.0 } else { GpuFloat::fract(x) };
        (rest.copysign(x), GpuFloat::trunc(x))
    };
    /// Returns the digits behind the point, and stores those before it. Both have the sign of `x`.
    ///
    /// ```
    /// use cuda_std::intrinsics::modff;
    ///
    /// let mut stored = 0.0;
    /// // SAFETY: the place is this thread's.
    /// let returned = unsafe { modff(-2.5, &mut stored) };
    /// assert_eq!((returned, stored), (-0.5, -2.0));
    /// ```
    modff(x: f32 => b: *mut f32) -> f32 = {
        let rest = if x.is_infinite() { 0.0 } else { GpuFloat::fract(x) };
        (rest.copysign(x), GpuFloat::trunc(x))
    };
}

/// The NaN with the payload that a text names: a number that is decimal, octal behind 0, or
/// hexadecimal behind 0x. Any other text names 0, as null does.
///
/// ```
/// use cuda_std::intrinsics::nan;
///
/// // SAFETY: the text ends with a 0 byte.
/// let number = unsafe { nan(c"0x2a".as_ptr().cast_mut()) };
/// assert!(number.is_nan());
/// assert_eq!(number.to_bits() & 0xFF, 42);
/// ```
///
/// # Safety
/// The pointer is null or points to a text that ends with a 0 byte.
#[inline]
#[must_use]
pub unsafe fn nan(tagp: *mut i8) -> f64 {
    // SAFETY: the caller's contract.
    let payload = unsafe { number(tagp) };
    f64::from_bits(f64::NAN.to_bits() | payload & ((1 << 51) - 1))
}

/// [`nan`], of fewer bits.
///
/// ```
/// use cuda_std::intrinsics::nanf;
///
/// // SAFETY: the text ends with a 0 byte.
/// let number = unsafe { nanf(c"0x2a".as_ptr().cast_mut()) };
/// assert!(number.is_nan());
/// assert_eq!(number.to_bits() & 0xFF, 42);
/// ```
///
/// # Safety
/// As for [`nan`].
#[inline]
#[must_use]
pub unsafe fn nanf(tagp: *mut i8) -> f32 {
    // SAFETY: the caller's contract.
    let payload = unsafe { number(tagp) };
    f32::from_bits(f32::NAN.to_bits() | payload as u32 & ((1 << 22) - 1))
}

/// The number that a text stands for, 0 if it is none.
///
/// # Safety
/// The pointer is null or points to a text that ends with a 0 byte.
#[inline]
unsafe fn number(mut text: *const i8) -> u64 {
    if text.is_null() {
        return 0;
    }
    // SAFETY: the second byte is read behind a first one that is not the last, and each next one too.
    unsafe {
        let radix = match (*text).cast_unsigned() {
            b'0' if matches!((*text.add(1)).cast_unsigned(), b'x' | b'X') => {
                text = text.add(2);
                16
            }
            b'0' => 8,
            _ => 10,
        };
        let mut number = 0u64;
        while *text != 0 {
            let digit = match (*text).cast_unsigned() {
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'a'..=b'f' => digit - b'a' + 10,
                digit @ b'A'..=b'F' => digit - b'A' + 10,
                _ => radix,
            };
            if digit >= radix {
                return 0;
            }
            number = number.wrapping_mul(radix.into()).wrapping_add(digit.into());
            text = text.add(1);
        }
        number
    }
}

/// `y`, or NaN if either is.
fn equal_or_nan<T: PartialEq + core::ops::Add<Output = T> + Copy>(x: T, y: T) -> T {
    if x == y { y } else { x + y }
}

fn exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_finite() {
        x.unbiased_exp().into()
    } else {
        x.abs()
    }
}

/// The remainder for the nearest integer quotient, and the last three bits of that with its sign.
fn remainder_and_quotient(x: f64, y: f64) -> (f64, i32) {
    let divisor = y.abs();
    // Below eight times the divisor: what is taken off is a multiple of eight. If `8 * y` overflows,
    // nothing is taken off; an infinite `y` leaves `x` itself as the remainder.
    let mut rest = Functions::rem(x, 8.0 * y).abs();
    let mut quotient = 0;
    for bit in [4, 2, 1] {
        let part = f64::from(bit) * divisor;
        if rest >= part {
            rest -= part;
            quotient += bit;
        }
    }
    // Compared without twice the rest, which may be infinite.
    let beyond = divisor - rest;
    if rest > beyond || rest == beyond && quotient & 1 == 1 {
        rest -= divisor;
        quotient += 1;
    }
    let quotient = quotient & 7;
    (
        if x.is_sign_negative() { -rest } else { rest },
        if x.is_sign_negative() == y.is_sign_negative() {
            quotient
        } else {
            -quotient
        },
    )
}
