//! Beside the definitions in the PTX ISA, bit by bit, where a GPU's results are missing or are those of few operands.

use super::super::bits;
use super::super::integer::{self, Integer};
use super::super::{atomic, compare, convert, float, half};

fn bit(x: u64, i: u64) -> bool {
    i < 64 && x >> i & 1 == 1
}

/// The ISA's loop for `bfe`.
fn field(a: u64, position: u32, length: u32, width: u64, is_signed: bool) -> u64 {
    let (position, length) = (u64::from(position & 0xff), u64::from(length & 0xff));
    let sign = is_signed && length > 0 && bit(a, (position + length - 1).min(width - 1));
    let place = |i| {
        if i < length && position + i < width {
            bit(a, position + i)
        } else {
            sign
        }
    };
    (0..width).map(|i| u64::from(place(i)) << i).sum()
}

/// The ISA's loop for `bfi`.
fn with_field(a: u64, b: u64, position: u32, length: u32, width: u64) -> u64 {
    let (position, length) = (u64::from(position & 0xff), u64::from(length & 0xff));
    (0..length)
        .filter(|i| position + i < width)
        .fold(b, |f, i| {
            let place = 1 << (position + i);
            if bit(a, i) { f | place } else { f & !place }
        })
}

#[test]
fn fields() {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..100_000 {
        let (a, b) = (random.u64(..), random.u64(..));
        let limit = *random.choice(&[70, 600]).unwrap_or(&70);
        let (position, length) = (random.u32(..limit), random.u32(..limit));
        assert_eq!(
            bits::bfe(a, position, length),
            field(a, position, length, 64, false)
        );
        let signed = bits::bfe(a.cast_signed(), position, length);
        assert_eq!(signed.cast_unsigned(), field(a, position, length, 64, true));
        let narrow = bits::bfe(a as i32, position, length).cast_unsigned();
        assert_eq!(
            u64::from(narrow),
            field(a & 0xffff_ffff, position, length, 32, true)
        );
        assert_eq!(
            bits::bfi(a, b, position, length),
            with_field(a, b, position, length, 64)
        );
    }
}

#[test]
fn the_nth_set_bit() {
    let mut random = fastrand::Rng::with_seed(2);
    for _ in 0..200_000 {
        let mask = random.u32(..) & random.u32(..);
        let (base, offset) = (random.u32(..32), random.i32(-40..=40));
        let candidates: Vec<u32> = match offset {
            0 => vec![base],
            1.. => (base..32).collect(),
            ..0 => (0..=base).rev().collect(),
        };
        let mut set = candidates.into_iter().filter(|i| mask >> i & 1 == 1);
        let expected = set
            .nth(offset.unsigned_abs().saturating_sub(1) as usize)
            .unwrap_or(u32::MAX);
        assert_eq!(
            bits::fns(mask, base, offset),
            expected,
            "{mask:x} {base} {offset}"
        );
    }
    assert_eq!(bits::fns(1, 0, i32::MIN), u32::MAX);
}

#[test]
fn logic_of_three_inputs() {
    // Each of the eight combinations in four bits.
    let (a, b, c) = (0xf0f0_f0f0, 0xcccc_cccc, 0xaaaa_aaaa);
    for table in 0..=u8::MAX {
        assert_eq!(bits::lop3(a, b, c, table), u32::from(table) * 0x0101_0101);
    }
}

#[test]
fn carries() {
    let mut random = fastrand::Rng::with_seed(3);
    let edges = [0, 1, u32::MAX, u32::MAX - 1, 1 << 31];
    for _ in 0..50_000 {
        let mut any = || {
            if random.bool() {
                random.u32(..)
            } else {
                edges[random.usize(..5)]
            }
        };
        let (a, b, c) = (any(), any(), any());
        let carry = c & 1 == 1;
        let sum = u64::from(a) + u64::from(b) + u64::from(carry);
        assert_eq!(
            integer::add_with_carry(a, b, carry),
            (sum as u32, sum >> 32 != 0)
        );
        let difference = i64::from(a) - i64::from(b) - i64::from(!carry);
        assert_eq!(
            integer::sub_with_carry(a, b, carry),
            (difference as u32, difference >= 0)
        );
        let product = i64::from(a.cast_signed()) * i64::from(b.cast_signed());
        let sum = (product >> 32) as u32 as u64 + u64::from(c) + u64::from(carry);
        let result =
            integer::mad_hi_with_carry(a.cast_signed(), b.cast_signed(), c.cast_signed(), carry);
        assert_eq!(result, (sum as u32 as i32, sum >> 32 != 0));
        let sum = u64::from(a.wrapping_mul(b)) + u64::from(c) + u64::from(carry);
        assert_eq!(
            integer::mad_lo_with_carry(a, b, c, carry),
            (sum as u32, sum >> 32 != 0)
        );
    }
}

#[test]
fn wide_products() {
    assert_eq!(integer::mul_wide(i32::MIN, i32::MIN), 1i64 << 62);
    assert_eq!(
        integer::mul_wide(u32::MAX, u32::MAX),
        0xffff_fffe_0000_0001u64
    );
    assert_eq!(integer::mul_wide(-3i16, 5), -15i32);
    assert_eq!(integer::mad_wide(u16::MAX, u16::MAX, u32::MAX), 0xfffe_0000);
}

#[test]
fn comparisons_with_nan() {
    type Comparison = fn(f32, f32) -> bool;
    // Less, equal, greater, with NaN.
    let expected: [(Comparison, [bool; 4]); 14] = [
        (compare::eq, [false, true, false, false]),
        (compare::ne, [true, false, true, false]),
        (compare::lt, [true, false, false, false]),
        (compare::le, [true, true, false, false]),
        (compare::gt, [false, false, true, false]),
        (compare::ge, [false, true, true, false]),
        (compare::equ, [false, true, false, true]),
        (compare::neu, [true, false, true, true]),
        (compare::ltu, [true, false, false, true]),
        (compare::leu, [true, true, false, true]),
        (compare::gtu, [false, false, true, true]),
        (compare::geu, [false, true, true, true]),
        (compare::num, [true, true, true, false]),
        (compare::nan, [false, false, false, true]),
    ];
    for (i, (comparison, expected)) in expected.into_iter().enumerate() {
        let results =
            [(1.0, 2.0), (0.0, -0.0), (2.0, 1.0), (f32::NAN, 1.0)].map(|(a, b)| comparison(a, b));
        assert_eq!(results, expected, "{i}");
        assert_eq!(comparison(1.0, f32::NAN), expected[3], "{i}");
    }
    assert!(compare::num(1u32, 2) && !compare::nan(1i64, 2));
}

#[test]
fn packs_keep_what_is_above() {
    assert_eq!(convert::pack::<u32>(-5, 9, 0x1234_5678, 4), 0x3456_7809);
    assert_eq!(convert::pack::<i32>(-100, 3, 0xff, 2), 0xff << 4 | 0b10_01);
}

#[test]
fn atomics() {
    assert_eq!([0, 4, 5, 6].map(|x| atomic::inc(x, 5)), [1, 5, 0, 0]);
    assert_eq!([0, 4, 5, 6].map(|x| atomic::dec(x, 5)), [5, 3, 4, 5]);
    assert_eq!([atomic::cas(7u64, 7, 9), atomic::cas(8u64, 7, 9)], [9, 8]);
    let lanes = [1.0, f32::NAN, -0.0, 0.0];
    assert_eq!(
        atomic::redux_f32(lanes.into_iter(), float::min).map(f32::to_bits),
        Some(1 << 31)
    );
    assert_eq!(
        atomic::redux_f32(lanes.into_iter(), float::max_nan).map(f32::to_bits),
        Some(0x7fff_ffff)
    );
    assert_eq!(
        atomic::redux_f32([f32::NAN].into_iter(), float::max).map(f32::to_bits),
        Some(0x7fff_ffff)
    );
    assert_eq!(atomic::redux([3u32, 9].into_iter(), integer::max), Some(9));
}

#[test]
fn halves_of_registers_are_apart() {
    let two = |a: f32, b: f32| u64::from(b.to_bits()) << 32 | u64::from(a.to_bits());
    let sum = float::packed([two(1.0, 2.0), two(10.0, 20.0)], |[a, b]| {
        float::add(a, b, float::Rounding::Nearest)
    });
    assert_eq!(sum, two(11.0, 22.0));
    assert_eq!(
        half::packed([0x8000_0001, 0x0001_8000], |[a, b]| a ^ b),
        0x8001_8001
    );
}

#[test]
fn extremes_of_each_width() {
    fn check<T: Integer + std::fmt::Debug>() {
        assert!(
            integer::div(T::MAX, T::from(false)).to_unsigned() == !<T::Unsigned as Integer>::MIN
        );
        assert_eq!(integer::max(T::MIN, T::MAX), T::MAX);
        assert_eq!(integer::neg(T::MIN), T::MIN);
        assert_eq!(
            bits::shr(T::MAX, T::BITS - 1),
            T::from(T::MIN == T::from(false))
        );
    }
    check::<u8>();
    check::<i16>();
    check::<u32>();
    check::<i32>();
    check::<i64>();
    check::<u64>();
    assert_eq!(
        [integer::div(i64::MIN, -1), integer::rem(i64::MIN, -1)],
        [i64::MIN, 0]
    );
}
