//! The parts of numbers, their kinds, and their neighbours, differences and remainders.

use super::numbers::{f32s, f64s};
use super::{Known, infinity, known, minus_infinity, nan, stored, value};

known! { kinds, KINDS by value, same:
    isnand isnanf: [(nan()) => 1, (infinity()) => 0, (-0.0) => 0];
    isinfd isinff: [(nan()) => 0, (infinity()) => 1, (minus_infinity()) => 1, (3.0) => 0];
    isfinited finitef: [(nan()) => 0, (infinity()) => 0, (-3.0) => 1, (3.0) => 1];
    signbitd signbitf: [(-0.0) => 1, (0.0) => 0, (-3.0) => 1, (infinity()) => 0];
    ilogb ilogbf: [
        (0.156_25) => -3, (-10.0) => 3, (0.0) => i32::MIN, (nan()) => i32::MIN,
        (infinity()) => i32::MAX,
    ];
    logb logbf: [
        (0.156_25) => -3.0, (-10.0) => 3.0, (0.0) => minus_infinity(), (nan()) => nan(),
        (minus_infinity()) => infinity(),
    ];
    ilogb: [(5e-324) => -1074];
    ilogbf: [(1e-45) => -149];
    logb: [(5e-324) => -1074.0];
    logbf: [(1e-45) => -149.0];
    llrint llrintf: [
        (2.5) => 2, (-3.5) => -4, (-2.75) => -3, (1e30) => i64::MAX, (nan()) => i64::MIN,
    ];
    llround llroundf: [
        (2.5) => 3, (-3.5) => -4, (-2.5) => -3, (-1e30) => i64::MIN, (nan()) => i64::MIN,
    ];
    llround: [(0.499_999_999_999_999_94) => 0, (4_503_599_627_370_497.5) => 4_503_599_627_370_498];
    llroundf: [(0.499_999_97) => 0, (8_388_609.0) => 8_388_609];
}

known! { neighbours_and_remainders, NEIGHBOURS by value, same:
    fdim fdimf: [
        (3.5, 1.0) => 2.5, (1.0, 3.5) => 0.0, (nan(), 1.0) => nan(),
        (1.0, nan()) => nan(), (infinity(), infinity()) => 0.0,
    ];
    nextafter nextafterf: [
        (0.0, -0.0) => -0.0, (2.5, 2.5) => 2.5, (nan(), 1.0) => nan(),
        (1.0, nan()) => nan(),
    ];
    nextafter: [
        (1.0, 2.0) => 1.000_000_000_000_000_2, (1.0, 0.0) => 0.999_999_999_999_999_9,
        (0.0, -1.0) => -5e-324, (-1.0, -2.0) => -1.000_000_000_000_000_2,
    ];
    nextafterf: [
        (1.0, 2.0) => 1.000_000_1, (1.0, 0.0) => 0.999_999_94, (0.0, -1.0) => -1e-45,
        (-1.0, -2.0) => -1.000_000_1,
    ];
    remainder remainderf: [
        (7.0, 4.0) => -1.0, (4.0, 7.0) => -3.0, (-7.0, 4.0) => 1.0, (6.0, 4.0) => -2.0,
        (10.0, 4.0) => 2.0, (-5.0, infinity()) => -5.0, (1.0, 0.0) => nan(),
    ];
}

known! { parts, PARTS by stored, same:
    remquo remquof: [
        (7.0, 4.0) => (-1.0, 2), (4.0, 7.0) => (-3.0, 1), (-29.0, 4.0) => (-1.0, -7),
        (37.0, -4.0) => (1.0, -1),
    ];
    // Eight times the divisor is infinite.
    remquo: [
        (1.348_269_851_146_737e308, 8.988_465_674_311_58e307) => (-4.494_232_837_155_79e307, 2),
        (1e308, f64::INFINITY) => (1e308, 0),
    ];
    remquof: [(-2.552_117_8e38, 1.701_411_8e38) => (8.507_059e37, -2)];
    frexp frexpf: [
        (-6.5) => (-0.8125, 3), (0.156_25) => (0.625, -2), (0.0) => (0.0, 0), (-0.0) => (-0.0, 0),
        (infinity()) => (infinity(), 0),
    ];
    frexp: [(5e-324) => (0.5, -1073)];
    frexpf: [(1e-45) => (0.5, -148)];
    modf modff: [
        (-2.75) => (-0.75, -2.0), (2.0) => (0.0, 2.0), (-0.0) => (-0.0, -0.0),
        (minus_infinity()) => (-0.0, minus_infinity()), (nan()) => (nan(), nan()),
    ];
}

/// The bits of the NaN that a pointer to a text names.
macro_rules! tagged {
    ($name:ident($tag:expr)) => {
        // SAFETY: null, or a text that ends with a 0 byte and is read alone.
        unsafe { ptx_std::intrinsics::$name($tag.cast_mut().cast()) }.to_bits()
    };
}

known! { tags_are_the_payloads_of_nans, TAGS by tagged, same:
    nan: [
        (c"".as_ptr()) => 0x7ff8_0000_0000_0000, (c"17".as_ptr()) => 0x7ff8_0000_0000_0011,
        (c"017".as_ptr()) => 0x7ff8_0000_0000_000f, (c"0x1F".as_ptr()) => 0x7ff8_0000_0000_001f,
        (c"0".as_ptr()) => 0x7ff8_0000_0000_0000, (c"19z".as_ptr()) => 0x7ff8_0000_0000_0000,
        (c"09".as_ptr()) => 0x7ff8_0000_0000_0000,
        (c"0xfabcdef012345678".as_ptr()) => 0x7ffc_def0_1234_5678,
        (std::ptr::null::<i8>()) => 0x7ff8_0000_0000_0000,
    ];
    nanf: [
        (c"5".as_ptr()) => 0x7fc0_0005, (c"0xabcdef".as_ptr()) => 0x7feb_cdef,
        (std::ptr::null::<i8>()) => 0x7fc0_0000,
    ];
}

known! { representations, REPRESENTATIONS by value, same:
    float_as_int: [(1.5) => 0x3fc0_0000, (-0.0) => i32::MIN];
    int_as_float: [(0x3fc0_0000) => 1.5, (i32::MIN) => -0.0];
    double_as_longlong: [(1.5) => 0x3ff8_0000_0000_0000, (-0.0) => i64::MIN];
    longlong_as_double: [(0x3ff8_0000_0000_0000) => 1.5, (i64::MIN) => -0.0];
    double2hiint: [(3.141_592_653_589_793) => 0x4009_21fb, (-0.0) => i32::MIN];
    double2loint: [(3.141_592_653_589_793) => 0x5444_2d18, (-0.0) => 0];
    // The lower half of 0.1 is negative as an `i32`.
    hiloint2double: [
        (0x4009_21fb, 0x5444_2d18) => 3.141_592_653_589_793, (0x3fb9_9999, -0x6666_6666) => 0.1,
    ];
    int2double_rn: [(-3) => -3.0, (i32::MAX) => 2_147_483_647.0];
    uint2double_rn: [(-3) => 4_294_967_293.0, (5) => 5.0];
    float2half_rn: [
        (-1.5) => -0x4200, (65_519.0) => 0x7bff, (65_520.0) => 0x7c00, (-1e9) => -0x0400,
        (nan()) => 0x7fff,
        // Ties, and the subnormal numbers.
        (1.000_488_281_25) => 0x3c00, (1.001_464_843_75) => 0x3c02, (5.960_464_5e-8) => 1,
        (2.980_232_2e-8) => 0, (0.333_333_33) => 0x3555,
    ];
    half2float: [
        (0x3555) => 0.333_251_95, (-0x4200) => -1.5, (1) => 5.960_464_5e-8, (0x7c00) => infinity(),
        (0x7e00) => nan(), (-0x0400) => minus_infinity(),
    ];
}

#[test]
fn remainders_and_neighbours_are_those_of_libm() {
    fn check<T: Known, A: std::fmt::Debug>(name: &str, arguments: A, actual: T, expected: T) {
        assert!(
            actual.is(expected),
            "{name} of {arguments:?} is {actual:?}, not {expected:?}"
        );
    }
    macro_rules! compare {
        ($numbers:ident, $random:ident: $remquo:ident $remainder:ident $nextafter:ident $fdim:ident $modf:ident) => {
            let (x, y) = ($numbers(&mut $random), $numbers(&mut $random));
            let (remainder, quotient) = libm::$remquo(x, y);
            // Without a remainder the quotient is unspecified.
            let quotient = if remainder.is_nan() {
                stored!($remquo(x, y)).1
            } else {
                quotient % 8
            };
            check(
                stringify!($remquo),
                (x, y),
                stored!($remquo(x, y)),
                (remainder, quotient),
            );
            check(
                stringify!($remainder),
                (x, y),
                value!($remainder(x, y)),
                remainder,
            );
            check(
                stringify!($nextafter),
                (x, y),
                value!($nextafter(x, y)),
                libm::$nextafter(x, y),
            );
            check(
                stringify!($fdim),
                (x, y),
                value!($fdim(x, y)),
                libm::$fdim(x, y),
            );
            check(stringify!($modf), x, stored!($modf(x)), libm::$modf(x));
        };
    }
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..100_000 {
        compare!(f64s, random: remquo remainder nextafter fdim modf);
        compare!(f32s, random: remquof remainderf nextafterf fdimf modff);
    }
}
