//! `mma`: each shape against sums by definition, with the fragments as the PTX ISA's figures have them.

use std::fmt::Write;

use super::harness::{Case, Random};

/// How a type of elements lies in bits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    S8,
    U8,
    S4,
    E4m3,
}
use Element::{Bf16, E4m3, F16, F64, S4, S8, Tf32, U8};

impl Element {
    fn bits(self) -> usize {
        match self {
            F64 => 64,
            Tf32 => 32,
            F16 | Bf16 => 16,
            S8 | U8 | E4m3 => 8,
            S4 => 4,
        }
    }

    /// A number that it has, and its bits.
    fn random(self, random: &mut Random) -> (f64, u64) {
        let small = random.small();
        match self {
            F64 => (small / 3.0, (small / 3.0).to_bits()),
            // Bits that must be ignored.
            Tf32 => (small, u64::from((small as f32).to_bits() | 0x155)),
            F16 => (small, f16_bits(small)),
            Bf16 => (small, u64::from((small as f32).to_bits() >> 16)),
            S8 => {
                let it = random.next() as i8;
                (f64::from(it), u64::from(it as u8))
            }
            U8 => {
                let it = random.next() as u8;
                (f64::from(it), u64::from(it))
            }
            S4 => {
                let it = (random.next() % 16) as i8 - 8;
                (f64::from(it), u64::from(it as u8 & 15))
            }
            // Exponents around 0: 2^(e - 7) * (1 + m / 8).
            E4m3 => {
                let (sign, e, m) = (random.next() & 1, 6 + random.next() % 3, random.next() & 7);
                let number = 2f64.powi(e as i32 - 7) * (1.0 + m as f64 / 8.0);
                (
                    if sign == 1 { -number } else { number },
                    sign << 7 | e << 3 | m,
                )
            }
        }
    }
}

/// Of a multiple of 1/16 between -4 and 4.
fn f16_bits(number: f64) -> u64 {
    let single = (number as f32).to_bits();
    let (sign, rest) = (single >> 31, single & 0x7fff_ffff);
    match rest {
        0 => u64::from(sign) << 15,
        _ => u64::from((sign << 15) | ((rest >> 13) - ((127 - 15) << 10))),
    }
}

fn f16_number(bits: u32) -> f64 {
    let (e, m) = ((bits >> 10 & 31) as i32, f64::from(bits & 0x3ff));
    let magnitude = match e {
        0 => m * 2f64.powi(-24),
        _ => (1.0 + m / 1024.0) * 2f64.powi(e - 15),
    };
    if bits >> 15 & 1 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

/// Where element `i` of a lane's part lies: `(lane, i)` to row and column.
type Figure = fn(usize, usize) -> (usize, usize);

/// An instruction with the figures of its fragments.
struct Form {
    /// Behind `mma.sync.aligned.`
    text: &'static str,
    shape: (usize, usize, usize),
    a: (Element, Figure),
    b: (Element, Figure),
    c: Figure,
    sum: Sum,
}

#[derive(Clone, Copy, PartialEq)]
enum Sum {
    F16,
    F32,
    F64,
    S32,
    Saturated,
}

fn group(lane: usize) -> (usize, usize) {
    (lane >> 2, lane % 4)
}

/// c of m16n8 in registers of 32 bits, two to a row.
fn c_16x8(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
}

fn c_8x8(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    (g, t * 2 + (i & 1))
}

const FORMS: &[Form] = &[
    Form {
        text: "m16n8k16.row.col.f32.f16.f16.f32",
        shape: (16, 8, 16),
        a: (F16, a_16x16),
        b: (F16, b_16x8),
        c: c_16x8,
        sum: Sum::F32,
    },
    Form {
        text: "m16n8k16.row.col.f32.bf16.bf16.f32",
        shape: (16, 8, 16),
        a: (Bf16, a_16x16),
        b: (Bf16, b_16x8),
        c: c_16x8,
        sum: Sum::F32,
    },
    Form {
        text: "m16n8k16.row.col.f16.f16.f16.f16",
        shape: (16, 8, 16),
        a: (F16, a_16x16),
        b: (F16, b_16x8),
        c: c_16x8,
        sum: Sum::F16,
    },
    Form {
        text: "m16n8k8.row.col.f32.f16.f16.f32",
        shape: (16, 8, 8),
        a: (F16, |lane, i| {
            let (g, t) = group(lane);
            (if i < 2 { g } else { g + 8 }, t * 2 + (i & 1))
        }),
        b: (F16, |lane, i| {
            let (g, t) = group(lane);
            (t * 2 + i, g)
        }),
        c: c_16x8,
        sum: Sum::F32,
    },
    Form {
        text: "m16n8k8.row.col.f32.tf32.tf32.f32",
        shape: (16, 8, 8),
        a: (Tf32, |lane, i| {
            let (g, t) = group(lane);
            (
                if i == 0 || i == 2 { g } else { g + 8 },
                if i < 2 { t } else { t + 4 },
            )
        }),
        b: (Tf32, |lane, i| {
            let (g, t) = group(lane);
            (if i == 0 { t } else { t + 4 }, g)
        }),
        c: c_16x8,
        sum: Sum::F32,
    },
    Form {
        text: "m8n8k4.row.col.f64.f64.f64.f64",
        shape: (8, 8, 4),
        a: (F64, |lane, _| group(lane)),
        b: (F64, |lane, _| (lane % 4, lane >> 2)),
        c: c_8x8,
        sum: Sum::F64,
    },
    Form {
        text: "m16n8k16.row.col.f64.f64.f64.f64",
        shape: (16, 8, 16),
        a: (F64, |lane, i| {
            let (g, t) = group(lane);
            match i % 2 {
                0 => (g, i * 2 + t),
                _ => (g + 8, i * 2 - 2 + t),
            }
        }),
        b: (F64, |lane, i| (lane % 4 + 4 * i, lane >> 2)),
        c: c_16x8,
        sum: Sum::F64,
    },
    Form {
        text: "m8n8k16.row.col.s32.s8.s8.s32",
        shape: (8, 8, 16),
        a: (S8, |lane, i| (lane >> 2, lane % 4 * 4 + i)),
        b: (S8, |lane, i| (lane % 4 * 4 + i, lane >> 2)),
        c: c_8x8,
        sum: Sum::S32,
    },
    Form {
        text: "m16n8k32.row.col.s32.s8.u8.s32",
        shape: (16, 8, 32),
        a: (S8, a_16x32),
        b: (U8, b_32x8),
        c: c_16x8,
        sum: Sum::S32,
    },
    Form {
        text: "m16n8k32.row.col.satfinite.s32.s8.u8.s32",
        shape: (16, 8, 32),
        a: (S8, a_16x32),
        b: (U8, b_32x8),
        c: c_16x8,
        sum: Sum::Saturated,
    },
    Form {
        text: "m16n8k32.row.col.f32.e4m3.e4m3.f32",
        shape: (16, 8, 32),
        a: (E4m3, a_16x32),
        b: (E4m3, b_32x8),
        c: c_16x8,
        sum: Sum::F32,
    },
    Form {
        text: "m16n8k64.row.col.s32.s4.s4.s32",
        shape: (16, 8, 64),
        a: (S4, |lane, i| {
            let (g, t) = group(lane);
            let row = if i < 8 || (16..24).contains(&i) {
                g
            } else {
                g + 8
            };
            (row, t * 8 + (i & 7) + if i < 16 { 0 } else { 32 })
        }),
        b: (S4, |lane, i| {
            let (g, t) = group(lane);
            (t * 8 + (i & 7) + if i < 8 { 0 } else { 32 }, g)
        }),
        c: c_16x8,
        sum: Sum::S32,
    },
];

fn a_16x16(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    let row = if i < 2 || (4..6).contains(&i) {
        g
    } else {
        g + 8
    };
    (row, t * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
}

fn b_16x8(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    (t * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, g)
}

fn a_16x32(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    let row = if i < 4 || (8..12).contains(&i) {
        g
    } else {
        g + 8
    };
    (row, t * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
}

fn b_32x8(lane: usize, i: usize) -> (usize, usize) {
    let (g, t) = group(lane);
    (t * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, g)
}

/// A matrix by rows, and each lane's words of it.
fn spread(
    (rows, columns): (usize, usize),
    bits: usize,
    figure: Figure,
    mut element: impl FnMut() -> (f64, u64),
) -> (Vec<f64>, Vec<Vec<u32>>) {
    let all: Vec<(f64, u64)> = (0..rows * columns).map(|_| element()).collect();
    let each = rows * columns / 32;
    let lanes = (0..32).map(|lane| {
        let mut words = vec![0u32; (each * bits).div_ceil(32)];
        for i in 0..each {
            let (row, column) = figure(lane, i);
            let (at, value) = (i * bits, all[row * columns + column].1);
            words[at / 32] |= (value << (at % 32)) as u32;
            if bits == 64 {
                words[at / 32 + 1] = (value >> 32) as u32;
            }
        }
        words
    });
    (all.iter().map(|it| it.0).collect(), lanes.collect())
}

impl Form {
    fn sum_bits(&self) -> usize {
        match self.sum {
            Sum::F16 => 16,
            Sum::F32 | Sum::S32 | Sum::Saturated => 32,
            Sum::F64 => 64,
        }
    }

    fn random_c(&self, random: &mut Random) -> (f64, u64) {
        let small = random.small();
        match self.sum {
            Sum::F16 => (small, f16_bits(small)),
            Sum::F32 => (small, u64::from((small as f32).to_bits())),
            Sum::F64 => (small, small.to_bits()),
            // Near the greatest, so that some sums leave the range.
            Sum::S32 | Sum::Saturated => {
                let it = i32::MAX - (random.next() % 100_000) as i32;
                (f64::from(it), u64::from(it as u32))
            }
        }
    }

    fn number(&self, words: &[u32], i: usize) -> f64 {
        match self.sum {
            Sum::F16 => f16_number(words[i / 2] >> (16 * (i % 2)) & 0xffff),
            Sum::F32 => f64::from(f32::from_bits(words[i])),
            Sum::F64 => f64::from_bits(u64::from(words[2 * i]) | u64::from(words[2 * i + 1]) << 32),
            Sum::S32 | Sum::Saturated => f64::from(words[i] as i32),
        }
    }

    fn expected(&self, c: f64, terms: impl Iterator<Item = (f64, f64)>) -> f64 {
        let exact = match self.sum {
            Sum::F64 => terms.fold(c, |sum, (a, b)| a.mul_add(b, sum)),
            _ => terms.fold(c, |sum, (a, b)| sum + a * b),
        };
        match self.sum {
            Sum::S32 => f64::from(exact as i64 as i32),
            Sum::Saturated => f64::from(exact as i32),
            _ => exact,
        }
    }

    fn check(&self, random: &mut Random) {
        let (m, n, k) = self.shape;
        let (a, a_words) = spread((m, k), self.a.0.bits(), self.a.1, || {
            self.a.0.random(random)
        });
        let (b, b_words) = spread((k, n), self.b.0.bits(), self.b.1, || {
            self.b.0.random(random)
        });
        let (c, c_words) = spread((m, n), self.sum_bits(), self.c, || self.random_c(random));
        let counts = [a_words[0].len(), b_words[0].len(), c_words[0].len()];
        let x: Vec<u32> = (0..32)
            .flat_map(|lane| {
                [&a_words[lane], &b_words[lane], &c_words[lane]]
                    .into_iter()
                    .flatten()
            })
            .copied()
            .collect();
        let y = Case::new(&self.body(counts)).x(x).run();
        for lane in 0..32 {
            let words = &y[lane * counts[2]..][..counts[2]];
            for i in 0..m * n / 32 {
                let (row, column) = (self.c)(lane, i);
                let terms = (0..k).map(|l| (a[row * k + l], b[l * n + column]));
                let expected = self.expected(c[row * n + column], terms);
                let got = self.number(words, i);
                let tolerance = match self.sum {
                    // One rounding.
                    Sum::F16 => expected.abs() * 2f64.powi(-11),
                    Sum::F32 => expected.abs() * 2f64.powi(-24),
                    _ => 0.0,
                };
                assert!(
                    (got - expected).abs() <= tolerance,
                    "{}: row {row}, column {column}: {got}, not {expected}",
                    self.text
                );
            }
        }
    }

    /// Loads each lane's words, multiplies and stores.
    fn body(&self, counts: [usize; 3]) -> String {
        let mut body = String::new();
        let total: usize = counts.iter().sum();
        let wide = |index: usize| match index {
            2 => self.sum == Sum::F64,
            _ => self.a.0 == F64,
        };
        writeln!(body, "mad.wide.u32 %rd3, %r1, {}, %rd1;", 4 * total).expect("text");
        writeln!(body, "mad.wide.u32 %rd4, %r1, {}, %rd2;", 4 * counts[2]).expect("text");
        let (mut operands, mut at) = (Vec::new(), 0);
        for (index, &count) in counts.iter().enumerate() {
            let mut names = Vec::new();
            let step = 1 + usize::from(wide(index));
            for place in (0..count).step_by(step) {
                let (name, ty) = match (wide(index), index, self.sum) {
                    (true, ..) => (format!("%fd{}", at + place), "f64"),
                    (_, 2, Sum::F32) => (format!("%f{}", at + place), "f32"),
                    _ => (format!("%r{}", 20 + at + place), "b32"),
                };
                // The address is a multiple of 4 alone.
                match ty {
                    "f64" => writeln!(
                        body,
                        "ld.global.b32 %r10, [%rd3+{0}]; ld.global.b32 %r11, [%rd3+{0}+4]; mov.b64 {name}, {{%r10, %r11}};",
                        4 * (at + place)
                    ),
                    _ => writeln!(body, "ld.global.{ty} {name}, [%rd3+{}];", 4 * (at + place)),
                }
                .expect("text");
                names.push(name);
            }
            operands.push(format!("{{{}}}", names.join(", ")));
            at += count;
        }
        let [a, b, c] = &operands[..] else {
            unreachable!("three")
        };
        writeln!(body, "mma.sync.aligned.{} {c}, {a}, {b}, {c};", self.text).expect("text");
        let names = c.trim_matches(['{', '}']).split(", ");
        for (place, name) in names.enumerate() {
            match self.sum {
                Sum::F64 => writeln!(body, "mov.b64 {{%r10, %r11}}, {name}; st.global.b32 [%rd4+{}], %r10; st.global.b32 [%rd4+{}], %r11;", 8 * place, 8 * place + 4),
                _ => writeln!(body, "st.global.b32 [%rd4+{}], {name};", 4 * place),
            }
            .expect("text");
        }
        body
    }
}

#[test]
fn each_form_of_mma_is_a_product_in_the_fragments_of_the_isa() {
    let mut random = Random(20);
    for form in FORMS {
        for _ in 0..4 {
            form.check(&mut random);
        }
    }
}

#[test]
fn single_bits_are_counted() {
    for (operator, expected) in [("and", 256 / 4), ("xor", 256 / 2)] {
        let body = format!(
            "mov.b32 %r20, 0x55555555; mov.b32 %r21, 0x33333333; mov.b32 %r22, 0;
            mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.{operator}.popc {{%r30, %r31, %r32, %r33}},
                {{%r20, %r20, %r20, %r20}}, {{%r21, %r21}}, {{%r22, %r22, %r22, %r22}};
            mad.wide.u32 %rd4, %r1, 16, %rd2;
            st.global.v4.b32 [%rd4], {{%r30, %r31, %r32, %r33}};"
        );
        let y = Case::new(&body).run();
        assert_eq!(y[..128], [expected; 128], "{operator}");
    }
}

#[test]
fn what_is_no_number_is_the_canonical_nan() {
    let body = "mov.b32 %r20, 0x7c007c00; mov.b32 %r21, 0x00000000; mov.f32 %f1, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r20, %r20, %r20, %r20},
            {%r21, %r21}, {%f1, %f1, %f1, %f1};
        mad.wide.u32 %rd4, %r1, 16, %rd2;
        st.global.v4.f32 [%rd4], {%f2, %f3, %f4, %f5};";
    assert_eq!(Case::new(body).run()[..128], [0x7fff_ffff; 128]);
}

#[test]
fn half_a_warp_cannot_multiply() {
    let body = "setp.ge.u32 %p1, %r1, 16; @%p1 ret;
        mov.b32 %r20, 0; mov.f32 %f1, 0f00000000;
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r20, %r20, %r20, %r20},
            {%r20, %r20}, {%f1, %f1, %f1, %f1};";
    let text = Case::new(body).finding();
    assert!(text.contains("lanes 0x0000ffff alone come to"), "{text}");
}
