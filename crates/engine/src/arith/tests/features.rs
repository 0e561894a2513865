//! The same bits from code for every processor as from code for AVX2.

use super::super::float::{self, Rounding};
use super::super::half::{self, Bf16, F16};
use super::super::{bits, compare, convert, integer};
use super::reference::random_bits;

const LANES: usize = 32;

type Lanes = [u32; LANES];

/// A warp's results of what an executor's loops are made of.
#[inline(always)]
fn warp(a: &Lanes, b: &Lanes, c: &Lanes) -> Vec<Lanes> {
    let f = f32::from_bits;
    macro_rules! all {
        ($(|$a:ident, $b:ident, $c:ident| $value:expr;)*) => {
            vec![$({
                let mut d = [0; LANES];
                for i in 0..LANES {
                    let ($a, $b, $c) = (a[i], b[i], c[i]);
                    d[i] = $value;
                }
                d
            }),*]
        };
    }
    all! {
        |a, b, _c| float::add(f(a), f(b), Rounding::Nearest).to_bits();
        |a, b, c| float::fma(f(a), f(b), f(c), Rounding::Nearest).to_bits();
        |a, b, c| float::fma_ftz(f(a), f(b), f(c), Rounding::Nearest).to_bits();
        |a, b, c| float::fma(f(a), f(b), f(c), Rounding::Down).to_bits();
        |a, b, _c| float::mul_ftz(f(a), f(b), Rounding::Nearest).to_bits();
        |a, b, _c| float::div(f(a), f(b), Rounding::Nearest).to_bits();
        |a, _b, _c| float::sqrt(f(a), Rounding::Nearest).to_bits();
        |a, b, _c| float::min(f(a), f(b)).to_bits();
        |a, b, _c| float::max_nan(f(a), f(b)).to_bits();
        |a, _b, _c| convert::round_to_integral(f(a), Rounding::Nearest).to_bits();
        |a, _b, _c| convert::to_integer::<_, i32>(f(a), Rounding::Down).cast_unsigned();
        |a, _b, _c| convert::to_integer::<_, u32>(f(a), Rounding::Zero);
        |a, b, c| half::packed([a, b, c], |[a, b, c]| half::fma::<F16>(a, b, c));
        |a, b, c| half::packed([a, b, c], |[a, b, c]| half::fma::<Bf16>(a, b, c));
        |a, b, _c| half::packed([a, b], |[a, b]| half::mul::<Bf16>(a, b));
        |a, _b, _c| half::from_f32::<F16>(f(a), Rounding::Nearest).into();
        |a, b, c| bits::bfe(a.cast_signed(), b & 63, c & 63).cast_unsigned();
        |a, b, _c| bits::shr(a.cast_signed(), b & 63).cast_unsigned();
        |a, _b, _c| bits::popc(a) ^ bits::clz(a) << 8 ^ bits::bfind(a) << 16;
        |a, b, c| integer::mad_hi_sat(a.cast_signed(), b.cast_signed(), c.cast_signed()).cast_unsigned();
        |a, b, c| integer::dp4a::<i8, u8>(a, b, c);
        |a, b, _c| u32::from(compare::ltu(f(a), f(b)));
        |a, b, c| bits::lop3(a, b, c, 0x6a);
        |a, b, c| bits::prmt(a, b, c, bits::Permutation::Named);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn warp_avx2(a: &Lanes, b: &Lanes, c: &Lanes) -> Vec<Lanes> {
    warp(a, b, c)
}

#[cfg(target_arch = "x86_64")]
#[test]
fn features_change_no_bit() {
    if !["avx2", "fma", "f16c"].into_iter().all(has) {
        return;
    }
    let mut random = fastrand::Rng::with_seed(6);
    for _ in 0..2000 {
        let [a, b, c] = std::array::from_fn(|_| {
            std::array::from_fn(|_| random_bits(&mut random, 8, 23) as u32)
        });
        // SAFETY: the processor has the features, as was asked above.
        let vectors = unsafe { warp_avx2(&a, &b, &c) };
        for (i, (baseline, vectors)) in warp(&a, &b, &c).into_iter().zip(vectors).enumerate() {
            assert_eq!(baseline, vectors, "function {i}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has(feature: &str) -> bool {
    match feature {
        "avx2" => is_x86_feature_detected!("avx2"),
        "fma" => is_x86_feature_detected!("fma"),
        _ => is_x86_feature_detected!("f16c"),
    }
}
