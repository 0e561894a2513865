//! The functions beside what one H200 returned: a hash of the results for each of some intervals, and single
//! results where the tables do not come in. Printed by `scripts/gpu/special-function-unit.py`.

use sfu::{ex2, lg2, rcp, rcp_f64, rsqrt, rsqrt_f64, sqrt};

/// FNV-1a, of words.
fn hash(results: impl Iterator<Item = u32>) -> u64 {
    results.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ u64::from(word)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Results for the 2^23 numbers from `first` away from 0.
fn interval(function: fn(f32) -> f32, first: f32) -> u64 {
    hash((0..1 << 23).map(|i| function(f32::from_bits(first.to_bits() + i)).to_bits()))
}

#[test]
fn intervals_are_an_h200s() {
    type Function = fn(f32) -> f32;
    let intervals: [(Function, &str, f32, u64); 17] = [
        (ex2, "ex2", 1.0, 0x3f0f_3852_f2fa_7edb),
        (ex2, "ex2", 0.5, 0x1938_ae1c_a053_e4e7),
        (ex2, "ex2", 0.25, 0xb94e_8e67_fa1d_559d),
        (ex2, "ex2", 0.015_625, 0xa471_c408_dcf9_f525),
        (ex2, "ex2", -0.5, 0x86cb_d167_bc4d_aa17),
        (ex2, "ex2", -1.0, 0xbf4f_30a3_7a9d_5b98),
        (lg2, "lg2", 1.0, 0x5ca4_3d6b_0d17_6848),
        (lg2, "lg2", 0.5, 0xf888_4f09_7b12_e53d),
        (lg2, "lg2", 0.25, 0xee85_4704_6f8f_0ea9),
        (lg2, "lg2", 2.0, 0x68a8_fcc6_91e5_1fd5),
        (lg2, "lg2", 4.0, 0x29c3_0235_4514_5ed1),
        (lg2, "lg2", 1_048_576.0, 0x3dcd_3020_f67c_7a5f),
        (rcp, "rcp", 1.0, 0xfa72_a6c6_9827_4964),
        (rsqrt, "rsqrt", 1.0, 0x0c40_b0bd_f554_807c),
        (rsqrt, "rsqrt", 2.0, 0xac1e_22b0_ce75_548b),
        (sqrt, "sqrt", 1.0, 0xec16_2b03_dcc3_9119),
        (sqrt, "sqrt", 2.0, 0x30da_7c2c_e019_6274),
    ];
    for (function, name, first, expected) in intervals {
        assert_eq!(interval(function, first), expected, "{name} from {first}");
    }
}

#[test]
fn intervals_of_f64_are_an_h200s() {
    let upper = |function: fn(f64) -> f64, count: u64| {
        hash((0..count).map(|i| {
            let argument = f64::from_bits(((0x3ff0_0000 + i) << 32) | 0xffff_ffff);
            let result = function(argument).to_bits();
            assert_eq!(result as u32, 0);
            (result >> 32) as u32
        }))
    };
    assert_eq!(upper(rcp_f64, 1 << 20), 0x01ea_cab1_4f00_177e);
    assert_eq!(upper(rsqrt_f64, 2 << 20), 0x9b87_c583_fc08_583b);
}
