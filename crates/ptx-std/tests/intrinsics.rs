//! libdevice's functions: directed rounding against the host's own, what remains against `libm` and
//! known values.

use ptx_std::intrinsics;

/// A call that no argument makes unsafe.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: a function of values, or with pointers to a variable of the test.
        unsafe { intrinsics::$name($($argument),*) }
    };
}

/// Numbers of all kinds.
macro_rules! numbers {
    ($($name:ident of $float:ident, $moderate:expr;)*) => {$(
        fn $name(random: &mut fastrand::Rng, bits: impl Fn(&mut fastrand::Rng) -> $float) -> $float {
            const EDGES: [$float; 16] = [
                0.0, -0.0, 1.0, -1.0, 1.5, 3.0, -0.75, $float::EPSILON, 1.0 + $float::EPSILON,
                $float::MIN_POSITIVE, -$float::MIN_POSITIVE, $float::from_bits(1), -$float::from_bits(1),
                $float::MAX, $float::MIN, $float::INFINITY,
            ];
            match random.u8(..8) {
                0 | 1 => EDGES[random.usize(..EDGES.len())],
                2 | 3 => bits(random),
                // So that sums cancel and products are exact.
                4 => $float::from(random.i16(-300..300)) * $float::EPSILON,
                5 => $float::from(random.i16(-300..300)),
                _ => (random.$float() - 0.5) * ($float::from(random.i16($moderate))).exp2(),
            }
        }
    )*};
}

numbers! {
    single of f32, -130..100;
    double of f64, -1070..1000;
}

fn f32s(random: &mut fastrand::Rng) -> f32 {
    single(random, |random| f32::from_bits(random.u32(..)))
}

fn f64s(random: &mut fastrand::Rng) -> f64 {
    double(random, |random| f64::from_bits(random.u64(..)))
}

#[cfg(target_arch = "x86_64")]
mod directed {
    use std::arch::asm;

    use super::*;

    const NEAREST: u32 = 0x1f80;
    const DOWN: u32 = 0x3f80;
    const UP: u32 = 0x5f80;
    const ZERO: u32 = 0x7f80;

    /// One instruction while `MXCSR` rounds as `$mode` says.
    macro_rules! instruction {
        ($mode:expr, $instruction:literal, $($operands:tt)*) => {
            // SAFETY: the mode is the usual one again behind the instruction, which computes one
            // register from others.
            unsafe {
                asm!(
                    "ldmxcsr dword ptr [{mode}]",
                    $instruction,
                    "ldmxcsr dword ptr [{usual}]",
                    mode = in(reg) &$mode,
                    usual = in(reg) &NEAREST,
                    $($operands)*
                )
            }
        };
    }

    /// A test that compares a function in each direction with an instruction.
    macro_rules! tests {
        ($($name:ident($($x:ident: $ty:ty = $numbers:ident),*) -> $result:ty = $instruction:literal ($($operands:tt)*);)*) => {
            pastey::paste! {$(
                #[test]
                fn $name() {
                    if !is_x86_feature_detected!("fma") {
                        return;
                    }
                    let mut random = fastrand::Rng::with_seed(16);
                    for _ in 0..300_000 {
                        $(let $x: $ty = $numbers(&mut random);)*
                        for (mode, actual) in [
                            (NEAREST, call!([<$name _rn>]($($x),*))),
                            (ZERO, call!([<$name _rz>]($($x),*))),
                            (DOWN, call!([<$name _rd>]($($x),*))),
                            (UP, call!([<$name _ru>]($($x),*))),
                        ] {
                            #[allow(unused_assignments, reason = "what the instruction replaces")]
                            let mut result = <$result>::default();
                            tests!(@run $instruction, mode, result, $($x)*, $($operands)*);
                            assert!(
                                actual.to_ne_bytes() == result.to_ne_bytes()
                                    || (actual as f64).is_nan() && (result as f64).is_nan(),
                                "{} of {:?} in {mode:x}: {actual:e}, not {result:e}",
                                stringify!($name), ($($x,)*),
                            );
                        }
                    }
                }
            )*}
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident, to) => {
            instruction!($mode, $instruction, result = out(reg) $result, x = in(xmm_reg) $x)
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident, from) => {
            instruction!($mode, $instruction, result = inout(xmm_reg) $result, x = in(reg) i64::from($x))
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident, alone) => {
            instruction!($mode, $instruction, result = inout(xmm_reg) $result, x = in(xmm_reg) $x)
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident, under_1) => {
            $result = 1.0;
            instruction!($mode, $instruction, result = inout(xmm_reg) $result, x = in(xmm_reg) $x)
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident $y:ident,) => {
            $result = $x;
            instruction!($mode, $instruction, result = inout(xmm_reg) $result, x = in(xmm_reg) $y)
        };
        (@run $instruction:literal, $mode:ident, $result:ident, $x:ident $y:ident $z:ident,) => {
            $result = $x;
            instruction!($mode, $instruction, result = inout(xmm_reg) $result, x = in(xmm_reg) $y, z = in(xmm_reg) $z)
        };
    }

    tests! {
        fadd(x: f32 = f32s, y: f32 = f32s) -> f32 = "addss {result}, {x}" ();
        fsub(x: f32 = f32s, y: f32 = f32s) -> f32 = "subss {result}, {x}" ();
        fmul(x: f32 = f32s, y: f32 = f32s) -> f32 = "mulss {result}, {x}" ();
        fdiv(x: f32 = f32s, y: f32 = f32s) -> f32 = "divss {result}, {x}" ();
        frcp(x: f32 = f32s) -> f32 = "divss {result}, {x}" (under_1);
        fsqrt(x: f32 = f32s) -> f32 = "sqrtss {result}, {x}" (alone);
        fmaf(x: f32 = f32s, y: f32 = f32s, z: f32 = f32s) -> f32 = "vfmadd213ss {result}, {x}, {z}" ();
        dadd(x: f64 = f64s, y: f64 = f64s) -> f64 = "addsd {result}, {x}" ();
        dmul(x: f64 = f64s, y: f64 = f64s) -> f64 = "mulsd {result}, {x}" ();
        ddiv(x: f64 = f64s, y: f64 = f64s) -> f64 = "divsd {result}, {x}" ();
        drcp(x: f64 = f64s) -> f64 = "divsd {result}, {x}" (under_1);
        dsqrt(x: f64 = f64s) -> f64 = "sqrtsd {result}, {x}" (alone);
        fma(x: f64 = f64s, y: f64 = f64s, z: f64 = f64s) -> f64 = "vfmadd213sd {result}, {x}, {z}" ();
        double2float(x: f64 = near_singles) -> f32 = "cvtsd2ss {result}, {x}" (alone);
        int2float(x: i32 = short_integers) -> f32 =
            "cvtsi2ss {result}, {x}" (from);
        ll2float(x: i64 = integers) -> f32 = "cvtsi2ss {result}, {x}" (from);
        ll2double(x: i64 = integers) -> f64 = "cvtsi2sd {result}, {x}" (from);
        float2ll(x: f32 = small) -> i64 = "cvtss2si {result}, {x}" (to);
        double2ll(x: f64 = small_doubles) -> i64 =
            "cvtsd2si {result}, {x}" (to);
    }

    /// Half of them in the range of `f32`.
    fn near_singles(random: &mut fastrand::Rng) -> f64 {
        if random.bool() {
            f64s(random)
        } else {
            f64::from(f32s(random)) * (1.0 + random.f64() * 1e-7)
        }
    }

    /// Of all lengths.
    fn integers(random: &mut fastrand::Rng) -> i64 {
        random.i64(..) >> random.u32(..64)
    }

    fn short_integers(random: &mut fastrand::Rng) -> i32 {
        (integers(random) >> 32) as i32
    }

    /// Within the range of `i64`.
    fn small(random: &mut fastrand::Rng) -> f32 {
        let x = f32s(random);
        if x.abs() < 9e18 { x } else { 0.5 }
    }

    fn small_doubles(random: &mut fastrand::Rng) -> f64 {
        let x = f64s(random);
        if x.abs() < 9e18 { x } else { 0.5 }
    }
}

/// Unsigned integers by way of signed ones: what is cut off 64 bits is in the last of 63.
#[test]
fn unsigned_integers_are_rounded_as_signed_ones() {
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..100_000 {
        let x = random.u64(..) >> random.u32(..64);
        let (whole, half) = (x.cast_signed(), (x >> 1 | x & 1).cast_signed());
        macro_rules! compare {
            ($($unsigned:ident $signed:ident)*) => {$(
                let expected = if whole < 0 {
                    2.0 * call!($signed(half))
                } else {
                    call!($signed(whole))
                };
                assert_eq!(call!($unsigned(whole)), expected, "{} of {x}", stringify!($unsigned));
            )*};
        }
        compare!(
            ull2float_rn ll2float_rn ull2float_rz ll2float_rz ull2float_rd ll2float_rd
            ull2float_ru ll2float_ru ull2double_rn ll2double_rn ull2double_rz ll2double_rz
            ull2double_rd ll2double_rd ull2double_ru ll2double_ru
        );
        let short = x as u32;
        let expected = call!(ll2float_rd(short.into()));
        assert_eq!(call!(uint2float_rd(short.cast_signed())), expected);
    }
}

#[test]
fn conversions_to_integers_stay_in_their_type() {
    assert_eq!(call!(float2int_ru(3e9)), i32::MAX);
    assert_eq!(call!(float2int_rd(-1.5)), -2);
    assert_eq!(call!(float2int_rn(2.5)), 2);
    assert_eq!(call!(float2uint_rz(-1.5)), 0);
    assert_eq!(call!(float2uint_ru(4e9)).cast_unsigned(), 4_000_000_000);
    assert_eq!(call!(float2ull_rn(f32::INFINITY)), -1);
    assert_eq!(call!(double2ll_rz(f64::NEG_INFINITY)), i64::MIN);
    assert_eq!(call!(float2int_rn(f32::NAN)), 0);
    assert_eq!(call!(double2uint_rn(f64::NAN)), i32::MIN);
    assert_eq!(call!(float2ull_rn(f32::NAN)), i64::MIN);
    assert_eq!(call!(llround(-2.5)), -3);
    assert_eq!(call!(llrint(-2.5)), -2);
}

#[test]
fn remainders_and_neighbours_are_those_of_libm() {
    let mut random = fastrand::Rng::with_seed(5);
    let same = |actual: f64, expected: f64| {
        actual.to_bits() == expected.to_bits() || actual.is_nan() && expected.is_nan()
    };
    for _ in 0..100_000 {
        let (x, y) = (f64s(&mut random), f64s(&mut random));
        let (remainder, quotient) = libm::remquo(x, y);
        let mut bits = -1;
        assert!(
            same(call!(remquo(x, y, &raw mut bits)), remainder),
            "remquo({x:e}, {y:e})"
        );
        assert!(
            same(call!(remainder(x, y)), remainder),
            "remainder({x:e}, {y:e})"
        );
        if !remainder.is_nan() {
            assert_eq!(bits, quotient % 8, "remquo({x:e}, {y:e}): {quotient}");
        }
        assert!(
            same(call!(nextafter(x, y)), libm::nextafter(x, y)),
            "nextafter({x:e}, {y:e})"
        );
        assert!(
            same(call!(fdim(x, y)), libm::fdim(x, y)),
            "fdim({x:e}, {y:e})"
        );
        let (mut whole, expected) = (0.0, libm::modf(x));
        assert!(
            same(call!(modf(x, &raw mut whole)), expected.0),
            "modf({x:e})"
        );
        assert!(same(whole, expected.1), "modf({x:e})");

        let (x, y) = (f32s(&mut random), f32s(&mut random));
        let (remainder, quotient) = libm::remquof(x, y);
        let mut bits = -1;
        assert!(
            same(call!(remquof(x, y, &raw mut bits)).into(), remainder.into()),
            "remquof({x:e}, {y:e})"
        );
        if !remainder.is_nan() {
            assert_eq!(bits, quotient % 8, "remquof({x:e}, {y:e}): {quotient}");
        }
        assert!(same(
            call!(nextafterf(x, y)).into(),
            libm::nextafterf(x, y).into()
        ));
    }
}

#[test]
fn bits_and_bytes() {
    assert_eq!(
        call!(byte_perm(0x3322_1100, 0x7766_5544, 0x7531)),
        0x7755_3311
    );
    assert_eq!(
        call!(byte_perm(0x0000_8000, 0, 0x9101)),
        0xff80_0080u32.cast_signed()
    );
    assert_eq!(
        (call!(ffs(0)), call!(ffs(8)), call!(ffsll(i64::MIN))),
        (0, 4, 64)
    );
    assert_eq!((call!(clz(0)), call!(clzll(1))), (32, 63));
    assert_eq!(call!(mul24(0x0080_0001, 2)), -0x00ff_fffe);
    assert_eq!(call!(umul24(0x7f80_0001, 2)), 0x0100_0002);
    assert_eq!(call!(sad(i32::MIN, i32::MAX, 1)), 0);
    assert_eq!((call!(hadd(-3, 0)), call!(rhadd(-3, 0))), (-2, -1));
    assert_eq!((call!(uhadd(-1, -1)), call!(urhadd(-1, -2))), (-1, -1));
    assert_eq!(call!(umul64hi(-1, -1)), -2);
    assert_eq!(call!(mul64hi(i64::MIN, i64::MIN)), 1 << 62);
    assert_eq!(call!(hiloint2double(0x4000_0000, 0)), 2.0);
}

#[test]
fn extremes_of_zeros_and_nan() {
    let (zero, nan) = (0.0f64, f64::NAN);
    for (x, y) in [(zero, -zero), (-zero, zero)] {
        assert!(call!(fmax(x, y)).is_sign_positive() && call!(fmin(x, y)).is_sign_negative());
    }
    assert_eq!(
        (call!(fmax(nan, -3.0)), call!(fmin(-3.0, nan))),
        (-3.0, -3.0)
    );
    assert!(call!(fmax(nan, nan)).is_nan());
}

#[test]
fn a_tag_is_the_payload_of_nan() {
    let payload = |tag: &std::ffi::CStr| {
        // SAFETY: a text that ends with a 0 byte, which is read alone.
        let bits = unsafe { intrinsics::nan(tag.as_ptr().cast_mut().cast()) }.to_bits();
        assert_eq!(bits >> 51, 0xfff);
        bits & ((1 << 51) - 1)
    };
    let tags = [c"", c"17", c"017", c"0x1F", c"0", c"19z", c"09"];
    assert_eq!(tags.map(payload), [0, 17, 15, 31, 0, 0, 0]);
    assert!(call!(nan(std::ptr::null_mut())).is_nan());
    // SAFETY: as above.
    let single = unsafe { intrinsics::nanf(c"5".as_ptr().cast_mut().cast()) };
    assert_eq!(single.to_bits(), 0x7fc0_0005);
}
