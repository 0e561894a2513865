//! Sums of several registers.

use super::harness::{Case, INTEGERS};

/// Two words as one number.
fn joined(high: u64, low: u64) -> u64 {
    high << 32 | low
}

#[test]
fn sums() {
    let text = "add.cc.u32 %d, %a, %c; addc.cc.u32 %e, %b, %f; addc.u32 %e, %e, 0;";
    let case = Case {
        text,
        written: &["b32", "b32"],
        read: ["b32"; 4],
    };
    let few = &INTEGERS[11..18];
    case.check([few; 4], |[a, b, c, f]| {
        let (sum, carry) = joined(b, a).overflowing_add(joined(f, c));
        vec![sum, (sum >> 32).wrapping_add(carry.into())]
    });
    let text = "add.cc.u64 %d, %a, %b; addc.u64 %e, 0, 0;";
    let case = Case {
        text,
        written: &["b64", "b64"],
        read: ["b64"; 2],
    };
    case.check([INTEGERS; 2], |[a, b]| {
        vec![a.wrapping_add(b), a.overflowing_add(b).1.into()]
    });
}

#[test]
fn differences() {
    let text = "sub.cc.u32 %d, %a, %c; subc.cc.u32 %e, %b, %f; subc.u32 %e, %e, 0;";
    let case = Case {
        text,
        written: &["b32", "b32"],
        read: ["b32"; 4],
    };
    let few = &INTEGERS[11..18];
    case.check([few; 4], |[a, b, c, f]| {
        let (difference, borrow) = joined(b, a).overflowing_sub(joined(f, c));
        vec![difference, (difference >> 32).wrapping_sub(borrow.into())]
    });
    let text = "sub.cc.u64 %d, %a, %b; subc.u64 %e, 0, 0;";
    let case = Case {
        text,
        written: &["b64", "b64"],
        read: ["b64"; 2],
    };
    case.check([INTEGERS; 2], |[a, b]| {
        vec![a.wrapping_sub(b), u64::from(a < b).wrapping_neg()]
    });
}

#[test]
fn products() {
    // The product of two words and a sum, in two words.
    let text = "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %e, %a, %b, 0;";
    let case = Case {
        text,
        written: &["b32", "b32"],
        read: ["b32"; 3],
    };
    case.check([INTEGERS; 3], |[a, b, c]| {
        let result = a * b + c;
        vec![result, result >> 32]
    });
    let text = "mad.lo.cc.u64 %d, %a, %b, %c; madc.hi.cc.u64 %e, %a, %b, %c; addc.u64 %d, 0, 0;";
    let case = Case {
        text,
        written: &["b64", "b64"],
        read: ["b64"; 3],
    };
    case.check([INTEGERS; 3], |[a, b, c]| {
        let product = u128::from(a) * u128::from(b);
        let (_, low) = (product as u64).overflowing_add(c);
        let sum = (product >> 64) + u128::from(c) + u128::from(low);
        vec![(sum >> 64) as u64, sum as u64]
    });
    let text = "mad.hi.cc.s32 %d, %a, %b, %c; madc.lo.s32 %e, %a, %b, 0;";
    let case = Case {
        text,
        written: &["b32", "b32"],
        read: ["b32"; 3],
    };
    case.check([INTEGERS; 3], |[a, b, c]| {
        let high = ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32;
        let (sum, carry) = high.overflowing_add(c as u32);
        vec![sum.into(), a.wrapping_mul(b).wrapping_add(carry.into())]
    });
}

/// Hardware has one carry, which a difference sets where nothing was borrowed: seen in the machine code of ptxas
/// 13.0 for sm_75 to sm_100, and run on an H100.
#[test]
fn differences_and_sums_share_the_carry() {
    let two = |text| Case {
        text,
        written: &["b32", "b32"],
        read: ["b32"; 2],
    };
    let text = "sub.cc.u32 %d, %a, %b; addc.u32 %e, 0, 0;";
    two(text).check([INTEGERS; 2], |[a, b]| {
        vec![a.wrapping_sub(b), u64::from(a >= b)]
    });
    let text = "add.cc.u32 %d, %a, %b; subc.u32 %e, 10, 0;";
    two(text).check([INTEGERS; 2], |[a, b]| {
        vec![a + b, 10 - u64::from(a + b < 1 << 32)]
    });
    let text = "sub.cc.u32 %d, %a, %b; madc.lo.cc.u32 %d, %a, %b, %b; subc.u32 %e, %a, %b;";
    two(text).check([INTEGERS; 2], |[a, b]| {
        let product = a.wrapping_mul(b) & u64::from(u32::MAX);
        let sum = product + b + u64::from(a >= b);
        let borrow = u64::from(sum >> 32 == 0);
        vec![sum, a.wrapping_sub(b).wrapping_sub(borrow)]
    });
    let text =
        "subc.cc.u32 %d, %a, %b; sub.cc.u32 %d, %a, %b; addc.cc.u32 %d, %a, %b; addc.u32 %e, 0, 0;";
    two(text).check([INTEGERS; 2], |[a, b]| {
        let sum = a + b + u64::from(a >= b);
        vec![sum, sum >> 32]
    });
    let case = Case {
        text: "sub.cc.u64 %d, %a, %b; addc.cc.u64 %d, %a, %b; subc.u64 %e, 0, 0;",
        written: &["b64", "b64"],
        read: ["b64"; 2],
    };
    case.check([INTEGERS; 2], |[a, b]| {
        let sum = u128::from(a) + u128::from(b) + u128::from(a >= b);
        vec![sum as u64, u64::from(sum >> 64 == 0).wrapping_neg()]
    });
}
