//! Video instructions: results worked out by hand, what an H100 gave where that is not what the PTX ISA says, and the
//! ISA's rules for whole instructions.

use super::harness::{check, refusal};

/// Words of which halves and bytes have every sign.
const WORDS: &[u64] = &[
    0,
    1,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1234_5678,
    0x80FF_7F01,
    0x00FF_8000,
    0xFEDC_BA98,
];

/// The results of an instruction on each row's a, b and c.
fn known(text: &str, rows: &[([u64; 3], u64)]) {
    for (sources, expected) in rows {
        let [a, b, c] = sources.each_ref().map(std::slice::from_ref);
        check(text, "b32", ["b32"; 3], [a, b, c], |_| *expected);
    }
}

#[test]
fn scalars_are_taken_saturated_and_merged() {
    // 0x80 of a is -128; half 1 of b is 0x8000, -32768.
    known(
        "vadd.s32.s32.s32 %d, %a.b3, %b.h1;",
        &[([0x80FF_7F01, 0x8000_1234, 0], 0xFFFF_7F80)],
    );
    // The same without a sign: 128 + 32768.
    known(
        "vadd.u32.u32.u32 %d, %a.b3, %b.h1;",
        &[([0x80FF_7F01, 0x8000_1234, 0], 0x8080)],
    );
    known(
        "vadd.s32.u32.u32.sat %d, %a, %b;",
        &[
            ([0xFFFF_FFFF, 1, 0], 0x7FFF_FFFF),
            ([0x7FFF_FFFF, 0, 0], 0x7FFF_FFFF),
        ],
    );
    known(
        "vsub.u32.u32.u32.sat %d, %a, %b;",
        &[([1, 2, 0], 0), ([2, 1, 0], 1)],
    );
    known("vsub.u32.u32.u32 %d, %a, %b;", &[([1, 2, 0], 0xFFFF_FFFF)]);
    // |-2^31 - (2^32 - 1)| is more than 32 bits have, which keep the lower ones.
    known(
        "vabsdiff.u32.s32.u32.sat %d, %a, %b;",
        &[
            ([0x8000_0000, 0xFFFF_FFFF, 0], 0x7FFF_FFFF),
            ([0xFFFF_FFFF, 3, 0], 4),
        ],
    );
    known(
        "vabsdiff.u32.s32.u32 %d, %a, %b;",
        &[([0x8000_0000, 0xFFFF_FFFF, 0], 0x7FFF_FFFF)],
    );
    known(
        "vmin.s32.s32.u32 %d, %a, %b;",
        &[([0xFFFF_FFFF, 5, 0], 0xFFFF_FFFF), ([7, 5, 0], 5)],
    );
    known(
        "vmax.s32.s32.u32 %d, %a, %b;",
        &[([0xFFFF_FFFF, 5, 0], 5), ([7, 5, 0], 7)],
    );
    // A merge keeps the rest of c; saturation is to the part.
    known(
        "vadd.s32.s32.s32.sat %d.b2, %a, %b, %c;",
        &[
            ([100, 100, 0x1122_3344], 0x117F_3344),
            ([0xFFFF_FF00, 0, 0x1122_3344], 0x1180_3344),
        ],
    );
    known(
        "vadd.u32.s32.s32 %d.h1, %a, %b, %c;",
        &[([0x1_8000, 0x7FFF, 0x1122_3344], 0xFFFF_3344)],
    );
}

#[test]
fn a_second_operation_sees_the_whole_result() {
    known(
        "vadd.u32.u32.u32.add %d, %a, %b, %c;",
        &[([1, 2, 40], 43), ([0xFFFF_FFFF, 2, 3], 4)],
    );
    known(
        "vsub.s32.s32.s32.min %d, %a, %b, %c;",
        &[
            ([1, 5, 0xFFFF_FFFE], 0xFFFF_FFFC),
            ([5, 1, 0xFFFF_FFFE], 0xFFFF_FFFE),
        ],
    );
    known(
        "vabsdiff.u32.u32.u32.max %d, %a, %b, %c;",
        &[([5, 9, 3], 4), ([5, 9, 0x8000_0000], 0x8000_0000)],
    );
}

#[test]
fn shifts_clamp_or_wrap_their_amounts() {
    known(
        "vshl.u32.u32.u32.clamp %d, %a, %b;",
        &[
            ([1, 31, 0], 0x8000_0000),
            ([1, 32, 0], 0),
            ([1, 33, 0], 0),
            ([3, 0xFFFF_FFFF, 0], 0),
        ],
    );
    known(
        "vshl.u32.u32.u32.wrap %d, %a, %b;",
        &[([1, 31, 0], 0x8000_0000), ([1, 32, 0], 1), ([3, 33, 0], 6)],
    );
    known(
        "vshl.u32.u32.u32.sat.clamp %d, %a, %b;",
        &[([1, 32, 0], 0xFFFF_FFFF), ([1, 31, 0], 0x8000_0000)],
    );
    known(
        "vshr.s32.s32.u32.clamp %d, %a, %b;",
        &[
            ([0x8000_0000, 31, 0], 0xFFFF_FFFF),
            ([0x8000_0000, 40, 0], 0xFFFF_FFFF),
        ],
    );
    known(
        "vshr.u32.u32.u32.clamp %d, %a, %b;",
        &[([0x8000_0000, 31, 0], 1), ([0x8000_0000, 40, 0], 0)],
    );
    known(
        "vshr.u32.u32.u32.wrap.add %d, %a.h1, %b.b0, %c;",
        &[([0xABCD_0000, 0x1124, 1], 0xABD)],
    );
}

#[test]
fn products_are_negated_scaled_and_saturated() {
    known(
        "vmad.s32.s32.s32 %d, %a, %b, %c;",
        &[([0xFFFF_FFFD, 5, 1], 0xFFFF_FFF2)],
    );
    known(
        "vmad.u32.u32.u32.shr7 %d, %a, %b, %c;",
        &[
            ([0x7FFF_FFFF, 0x7FFF_FFFF, 0], 0xFE00_0000),
            // -1 * -1.
            ([0xFFFF_FFFF, 0xFFFF_FFFF, 0], 0),
        ],
    );
    known(
        "vmad.u32.u32.u32.sat.shr15 %d, %a, %b, %c;",
        &[
            ([0x7FFF_FFFF, 0x7FFF_FFFF, 0], 0xFFFF_FFFF),
            ([0x8000, 3, 0], 3),
            // -1 * 1.
            ([0xFFFF_FFFF, 1, 0], 0xFFFF_FFFF),
        ],
    );
    known(
        "vmad.s32.s32.s32.sat %d, %a, %b, %c;",
        &[
            ([0x8000_0000, 2, 0], 0x8000_0000),
            ([0x4000_0000, 4, 0], 0x7FFF_FFFF),
        ],
    );
    // 6 * 7 + 1 + 1, of parts.
    known(
        "vmad.u32.u32.u32.po %d, %a.b1, %b.h1, %c;",
        &[([0x0000_0600, 0x0007_0000, 1], 44)],
    );
    known(
        "vmad.s32.u32.u32 %d, -%a, %b, %c;",
        &[([6, 7, 2], (-40i32 as u32).into())],
    );
    known("vmad.s32.u32.u32 %d, %a, %b, -%c;", &[([6, 7, 2], 40)]);
    // Both are negated: neither is.
    known("vmad.u32.u32.u32 %d, -%a, -%b, %c;", &[([6, 7, 2], 44)]);
    // -(-1 * -1) - 1, and -(2^31 - 1)^2 - 1, which is far below 32 bits.
    known(
        "vmad.s32.u32.u32.sat %d, -%a, %b, %c;",
        &[
            ([0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF], 0xFFFF_FFFE),
            ([0x7FFF_FFFF, 0x7FFF_FFFF, 0xFFFF_FFFF], 0x8000_0000),
        ],
    );
}

/// An instruction, its a, b and c, and its result.
type Measured = (&'static str, [u64; 3], u64);

/// Results of random programs on an H100 (CUDA driver 13.0), one of each kind that the PTX ISA's pseudo-code
/// contradicts.
#[rustfmt::skip]
const OF_AN_H100: &[Measured] = &[
    ("vabsdiff.u32.u32.s32.sat.max %d, %a, %b.h0, %c;", [0xFFFF_FFFF, 0x007F_FFFF, 0xD97F], 0x0),
    ("vadd.s32.u32.s32.max %d, %a, %b.h0, %c;", [0x9BA3_3C9D, 0x9BA3_3C9D, 0xF8AC], 0xF8AC),
    ("vadd.u32.s32.s32.min %d, %a, %b, %c;", [0xFCBD_F264, 0x1, 0xFCBD_F264], 0xFCBD_F264),
    ("vadd.u32.u32.u32.sat.add %d, %a.h1, %b, %c;", [0x41E3_653C, 0xFFFF_FFFF, 0x41E3_653C], 0x41E3_A71E),
    ("vmad.s32.s32.u32.sat.shr15 %d, %a, %b, %c;", [0x63C6_396D, 0xD42A_15C8, 0xFFFF_FFFF], 0x8000_0000),
    ("vmad.s32.s32.u32.shr7 %d, %a.h1, %b, %c;", [0xC56B_757A, 0xC19D_C55F, 0xC081_D144], 0x8CA1_ECD5),
    ("vmad.s32.u32.s32.sat.shr15 %d, %a, %b.b1, %c;", [0xC16D_1508, 0xC092_2168, 0x0], 0xFFEF_DE1F),
    ("vmad.s32.u32.s32.sat.shr7 %d, %a, %b.b1, %c;", [0x9271_B2F3, 0x783A_8021, 0x7F], 0x6D8E_4D0D),
    ("vmad.s32.u32.s32.shr7 %d, %a, %b.h0, %c;", [0xBFA1_1C97, 0x4D8A_62D6, 0xBFA1_1C97], 0x4B3A_81A1),
    ("vmad.s32.u32.u32.sat %d, %a, %b.b1, %c;", [0x86C7_B4F1, 0x86C7_B4F1, 0x1976], 0x0),
    ("vmad.s32.u32.u32.sat.shr15 %d, %a, %b.h0, %c;", [0x70F2_2A50, 0xFFFF_FFFF, 0x8000_0001], 0xE1E2_72BB),
    ("vmad.s32.u32.u32.sat.shr7 %d, %a, %b, %c;", [0xFFFF_FFFF, 0xA6F5_8A29, 0x3F80_0001], 0x0131_14EB),
    ("vmad.s32.u32.u32.shr15 %d, %a, %b.h0, %c;", [0x7F7F_FFFF, 0xFE3F_12C7, 0xC153_722A], 0x12B3_BBA6),
    ("vmad.u32.s32.u32.sat.shr15 %d, %a, %b, %c;", [0x6C91_31A1, 0x9C2B_23E1, 0x6C91_31A1], 0x8000_0000),
    ("vmad.u32.s32.u32.shr15 %d, %a.b0, %b, %c;", [0x5261, 0xC106_34CE, 0x4F00_0000], 0xFFD0_E4B4),
    ("vmad.u32.s32.u32.shr7 %d, %a.b0, %b, %c;", [0x1806_04D6, 0xBB22_AF58, 0x3F80_0001], 0x1717_9E77),
    ("vmad.u32.u32.s32.sat %d, %a, %b.h0, %c;", [0xBF80_0000, 0xB01C, 0xBF80_0000], 0x7FFF_FFFF),
    ("vmad.u32.u32.s32.shr15 %d, %a, %b.h0, %c;", [0xD12D_1B88, 0x9232_32AE, 0xD12D_1B88], 0xED75_9A6C),
    ("vmad.u32.u32.s32.shr7 %d, %a, %b.b1, %c;", [0xFFFF_FFFF, 0xFFFF_FFFF, 0x74A4_8790], 0x00E9_490F),
    ("vmad.u32.u32.u32.sat %d, %a.b0, %b.h0, %c;", [0x1577_A4F6, 0x1577_A4F6, 0xFFFF_FFFF], 0x009E_8463),
    ("vmad.u32.u32.u32.sat.shr15 %d, %a.b0, %b, %c;", [0xB014, 0xC90A_C4D7, 0x72F2_1A5C], 0xFFFF_FFFF),
    ("vmad.u32.u32.u32.sat.shr7 %d, %a, %b, %c;", [0xFFFF_FFFF, 0xFF, 0xFF], 0x0),
    ("vmad.u32.u32.u32.shr15 %d, %a, %b.b1, %c;", [0x2, 0x8000_0000, 0xAD1F_3208], 0xFFFF_5A3E),
    ("vmax.u32.s32.s32.max %d, %a.b0, %b.h0, %c;", [0xEFEE_F4EC, 0xC1C7_BA98, 0x2], 0xFFFF_FFEC),
    ("vmin.u32.u32.s32.max %d, %a, %b, %c;", [0xE29, 0xC186_202D, 0x80], 0xC186_202D),
    ("vshl.s32.s32.u32.sat.clamp %d, %a, %b;", [0x2, 0x3B5C_F835, 0x0], 0x8000_0000),
    ("vshl.s32.u32.u32.sat.clamp %d, %a.h1, %b;", [0x0080_0000, 0x0080_0000, 0x0], 0x0),
    ("vshl.s32.u32.u32.sat.wrap %d, %a, %b;", [0x3F00_2E40, 0xA531, 0x0], 0x5C80_0000),
    ("vshl.u32.s32.u32.sat.clamp %d, %a.b0, %b;", [0x7F, 0x7F, 0x0], 0x0),
    ("vshl.u32.s32.u32.sat.wrap %d, %a.b0, %b;", [0x6555, 0x007F_FFFF, 0x0], 0x0),
    ("vshl.u32.u32.u32.sat.clamp %d, %a, %b;", [0xFFFF_FFFF, 0x4538_394F, 0x0], 0x0),
    ("vshl.u32.u32.u32.sat.wrap %d, %a.h1, %b;", [0xFA67_7D58, 0x66B1_7D96, 0x0], 0x0),
    ("vsub.s32.u32.s32.min %d, %a, %b, %c;", [0xFFFF_FFFF, 0xF06F, 0xF06F], 0xFFFF_0F90),
    ("vsub.u32.s32.s32.sat.max %d, %a.b0, %b, %c;", [0xB82D, 0x8000_0000, 0x97F6_7B6D], 0x8000_002D),
    ("vsub.u32.s32.u32.max %d, %a.b0, %b.b1, %c;", [0xFF, 0x0DA9_139E, 0x7FFF], 0xFFFF_FFEC),
    ("vsub.u32.u32.u32.max %d, %a.h1, %b.h0, %c;", [0x2, 0x7F7F_0080, 0x1A99_5B17], 0xFFFF_FF80),
    ("vsub.u32.u32.u32.min %d, %a.b0, %b.b1, %c;", [0x3F80_0001, 0xE79E_6E1A, 0x4B00_0001], 0x4B00_0001),
    ("vsub.u32.u32.u32.sat.max %d, %a, %b.h0, %c;", [0xFFFF_FFFF, 0x7C86_5E08, 0xFFFF_FFFF], 0xFFFF_A1F7),
];

#[test]
fn a_gpu_has_pairs_of_registers_for_intermediate_results() {
    for (text, sources, expected) in OF_AN_H100 {
        known(text, &[(*sources, *expected)]);
    }
    // More than 32 bits of a sum are not seen, 34 of what is shifted are.
    known(
        "vadd.u32.u32.u32.sat %d, %a, %b;",
        &[([0xFFFF_FFFF, 2, 0], 1)],
    );
    known(
        "vshl.u32.u32.u32.sat.clamp %d, %a, %b;",
        &[([2, 31, 0], 0xFFFF_FFFF), ([4, 31, 0], 0), ([8, 31, 0], 0)],
    );
    // The third operand of a comparison has the sign of the first.
    for (types, least) in [("s32.u32", 0xFFFF_FFFE), ("u32.s32", 0)] {
        known(
            &format!("vset.{types}.lt.min %d, %a, %b, %c;"),
            &[([2, 1, 0xFFFF_FFFE], least)],
        );
    }
}

#[test]
fn comparisons_give_one() {
    for (name, holds) in [
        ("eq", (|a, b| a == b) as fn(i64, i64) -> bool),
        ("ne", |a, b| a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ] {
        let text = format!("vset.s32.u32.{name} %d, %a, %b;");
        check(&text, "b32", ["b32"; 2], [WORDS; 2], |[a, b]| {
            u64::from(holds(i64::from(a as i32), b as i64))
        });
        let text = format!("vset4.u32.s32.{name}.add %d, %a, %b, %c;");
        check(
            &text,
            "b32",
            ["b32"; 3],
            [WORDS, WORDS, &[5]],
            |[a, b, _]| {
                let byte = |x: u64, lane: u32| (x >> (8 * lane)) as u8;
                let of = |lane| holds(byte(a, lane).into(), (byte(b, lane) as i8).into());
                5 + (0..4).map(|lane| u64::from(of(lane))).sum::<u64>()
            },
        );
    }
    known(
        "vset.u32.u32.lt.add %d, %a, %b, %c;",
        &[([1, 2, 10], 11), ([2, 1, 10], 10)],
    );
    known(
        "vset2.u32.u32.lt %d.h1, %a, %b, %c;",
        &[([0x0001_0005, 0x0002_0006, 0x7777_8888], 0x0001_8888)],
    );
}

/// The operation of one lane.
type Lane = fn(i64, i64) -> i64;

const LANES: [(&str, Lane); 6] = [
    ("vadd", |a, b| a + b),
    ("vsub", |a, b| a - b),
    ("vabsdiff", |a, b| (a - b).abs()),
    ("vmin", i64::min),
    ("vmax", i64::max),
    ("vavrg", |a, b| {
        let sum = a + b;
        // Halves go up from 0 on, and down below it.
        if sum >= 0 {
            (sum + 1).div_euclid(2)
        } else {
            sum.div_euclid(2)
        }
    }),
];

/// Each lane of the forms with 2 and 4, by the ISA's rule: parts of their own operand, saturation, the sum with c or
/// c's parts where the destination's mask has none.
fn lanes(count: u32) {
    let bits = 32 / count;
    let part = |x: u64, lane: u32, signed: bool| {
        let part = (x >> (bits * lane) & ((1 << bits) - 1)) as i64;
        let is_negative = signed && part >> (bits - 1) == 1;
        if is_negative {
            part - (1 << bits)
        } else {
            part
        }
    };
    let letter = if count == 2 { 'h' } else { 'b' };
    for (name, compute) in LANES {
        for (d, a_type, b_type) in [
            (true, true, true),
            (false, false, false),
            (true, false, true),
        ] {
            let types = [d, a_type, b_type].map(|signed| if signed { "s32" } else { "u32" });
            let types = types.join(".");
            let result = |a, b, lane, saturates: bool| {
                let result = compute(part(a, lane, a_type), part(b, lane, b_type));
                let (least, most) = match d {
                    true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
                    false => (0, (1i64 << bits) - 1),
                };
                if saturates {
                    result.clamp(least, most)
                } else {
                    result
                }
            };
            for (sat, saturates) in [("", false), (".sat", true)] {
                let text = format!("{name}{count}.{types}{sat} %d.{letter}1, %a, %b, %c;");
                check(&text, "b32", ["b32"; 3], [WORDS; 3], |[a, b, c]| {
                    let mask = ((1u64 << bits) - 1) << bits;
                    c & !mask | (result(a, b, 1, saturates) as u64) << bits & mask
                });
            }
            let text = format!("{name}{count}.{types}.add %d, %a, %b, %c;");
            check(&text, "b32", ["b32"; 3], [WORDS; 3], |[a, b, c]| {
                (0..count).fold(c, |sum, lane| {
                    sum.wrapping_add(result(a, b, lane, false) as u64)
                })
            });
        }
    }
}

#[test]
fn two_lanes() {
    lanes(2);
}

#[test]
fn four_lanes() {
    lanes(4);
    // The sum of the absolute differences of four bytes: 1, 2, 255 and 0.
    known(
        "vabsdiff4.u32.u32.u32.add %d, %a, %b, %c;",
        &[([0x01FF_0203, 0x0200_0403, 1000], 1258)],
    );
    known(
        "vabsdiff4.u32.u32.u32 %d, %a, %b, %c;",
        &[([0x01FF_0203, 0x0200_0403, 1000], 0x01FF_0200)],
    );
}

#[test]
fn selectors_take_parts_of_both_operands() {
    // The lowest lane's part is the last digit; 0 to 3 are a's bytes, 4 to 7 b's.
    known(
        "vadd4.u32.u32.u32 %d, %a.b0123, %b.b7654, %c;",
        &[([0x0102_0304, 0x1020_3040, 0], 0x1423_3241)],
    );
    known(
        "vadd4.u32.u32.u32 %d, %a.b7777, %b.b0000, %c;",
        &[([0x0102_0304, 0x1020_3040, 0], 0x1414_1414)],
    );
    known(
        "vmax2.s32.s32.s32 %d, %a.h30, %b.h12, %c;",
        &[([0x7FFF_8000, 0x0001_FFFF, 0], 0x7FFF_FFFF)],
    );
    known(
        "vmin4.u32.u32.u32 %d.b20, %a, %b, %c;",
        &[([0x0102_0304, 0x1001_3002, 0xAABB_CCDD], 0xAA01_CC02)],
    );
}

#[test]
fn what_the_isa_has_not_is_refused() {
    let read = ["b32"; 3];
    for text in [
        "vadd.u32.u32.u32 %d.b0, %a, %b;",
        "vadd4.u32.u32.u32 %d, %a.b10, %b, %c;",
        "vadd2.u32.u32.u32.min %d, %a, %b, %c;",
        "vadd.u32.u32.u32 %d, -%a, %b;",
    ] {
        refusal(text, "b32", &read);
    }
}
