//! Arithmetic on integers.

use engine::arith::integer;

use super::harness::{INTEGERS, check, refusal};

/// For each type its register and its Rust type.
macro_rules! for_types {
    ([$($name:literal $register:literal $T:ty),*], $body:ident) => {
        $($body!($name, $register, $T);)*
    };
}

#[test]
fn of_two() {
    macro_rules! test {
        ($name:literal, $register:literal, $T:ty) => {
            let two = [INTEGERS, INTEGERS];
            macro_rules! binary {
                ($op:literal, $f:expr) => {
                    let text = format!(concat!($op, ".{} %d, %a, %b;"), $name);
                    check(&text, $register, [$register; 2], two, |[a, b]| {
                        $f(a as $T, b as $T) as u64
                    });
                };
            }
            binary!("add", integer::add);
            binary!("sub", integer::sub);
            binary!("mul.lo", integer::mul_lo);
            binary!("mul.hi", integer::mul_hi);
            binary!("div", integer::div);
            binary!("rem", integer::rem);
            binary!("min", integer::min);
            binary!("max", integer::max);
        };
    }
    for_types!(["u16" "b16" u16, "s16" "b16" i16, "u32" "b32" u32, "s32" "b32" i32, "u64" "b64" u64, "s64" "b64" i64], test);
}

#[test]
fn of_three() {
    macro_rules! test {
        ($name:literal, $register:literal, $T:ty) => {
            macro_rules! ternary {
                ($op:literal, $f:expr) => {
                    let text = format!(concat!($op, ".{} %d, %a, %b, %c;"), $name);
                    let three = [INTEGERS, INTEGERS, &INTEGERS[12..]];
                    check(&text, $register, [$register; 3], three, |[a, b, c]| {
                        $f(a as $T, b as $T, c as $T) as u64
                    });
                };
            }
            ternary!("mad.lo", integer::mad_lo);
            ternary!("mad.hi", integer::mad_hi);
            ternary!("sad", integer::sad);
        };
    }
    for_types!(["u16" "b16" u16, "s16" "b16" i16, "u32" "b32" u32, "s32" "b32" i32, "u64" "b64" u64, "s64" "b64" i64], test);
}

#[test]
fn of_one() {
    macro_rules! test {
        ($name:literal, $register:literal, $T:ty) => {
            let text = format!("abs.{} %d, %a;", $name);
            check(&text, $register, [$register], [INTEGERS], |[a]| {
                (a as $T).wrapping_abs() as u64
            });
            let text = format!("neg.{} %d, %a;", $name);
            check(&text, $register, [$register], [INTEGERS], |[a]| {
                (a as $T).wrapping_neg() as u64
            });
        };
    }
    for_types!(["s16" "b16" i16, "s32" "b32" i32, "s64" "b64" i64], test);
}

#[test]
fn wide() {
    macro_rules! test {
        ($name:literal, $register:literal, $T:ty, $wide:literal, $W:ty) => {
            let text = format!("mul.wide.{} %d, %a, %b;", $name);
            check(&text, $wide, [$register; 2], [INTEGERS; 2], |[a, b]| {
                (<$W>::from(a as $T).wrapping_mul(<$W>::from(b as $T))) as u64
            });
            let text = format!("mad.wide.{} %d, %a, %b, %c;", $name);
            check(
                &text,
                $wide,
                [$register, $register, $wide],
                [INTEGERS; 3],
                |[a, b, c]| integer::mad_wide(a as $T, b as $T, c as $W) as u64,
            );
        };
    }
    test!("u16", "b16", u16, "b32", u32);
    test!("s16", "b16", i16, "b32", i32);
    test!("u32", "b32", u32, "b64", u64);
    test!("s32", "b32", i32, "b64", i64);
    // The sources may be wider registers, and one of them the destination.
    check(
        "mul.wide.u32 %d, %a, 7;",
        "b64",
        ["b32"],
        [INTEGERS],
        |[a]| a * 7,
    );
}

#[test]
fn saturating() {
    let (two, three) = ([INTEGERS; 2], [INTEGERS; 3]);
    check(
        "add.sat.s32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        two,
        |[a, b]| (a as i32).saturating_add(b as i32) as u64,
    );
    check(
        "sub.sat.s32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        two,
        |[a, b]| (a as i32).saturating_sub(b as i32) as u64,
    );
    check(
        "mad.hi.sat.s32 %d, %a, %b, %c;",
        "b32",
        ["b32"; 3],
        three,
        |[a, b, c]| integer::mad_hi_sat(a as i32, b as i32, c as i32) as u64,
    );
    check(
        "min.relu.s32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        two,
        |[a, b]| (a as i32).min(b as i32).max(0) as u64,
    );
    check(
        "max.relu.s32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        two,
        |[a, b]| (a as i32).max(b as i32).max(0) as u64,
    );
}

#[test]
fn of_24_bits() {
    let (two, three) = ([INTEGERS; 2], [INTEGERS; 3]);
    macro_rules! test {
        ($name:literal, $T:ty) => {
            macro_rules! of {
                ($text:literal, 2, $f:expr) => {
                    let text = format!($text, $name);
                    check(&text, "b32", ["b32"; 2], two, |[a, b]| {
                        $f(a as $T, b as $T) as u64
                    });
                };
                ($text:literal, 3, $f:expr) => {
                    let text = format!($text, $name);
                    check(&text, "b32", ["b32"; 3], three, |[a, b, c]| {
                        $f(a as $T, b as $T, c as $T) as u64
                    });
                };
            }
            of!("mul24.lo.{} %d, %a, %b;", 2, integer::mul24_lo);
            of!("mul24.hi.{} %d, %a, %b;", 2, integer::mul24_hi);
            of!("mad24.lo.{} %d, %a, %b, %c;", 3, integer::mad24_lo);
            of!("mad24.hi.{} %d, %a, %b, %c;", 3, integer::mad24_hi);
        };
    }
    test!("u32", u32);
    test!("s32", i32);
    check(
        "mad24.hi.sat.s32 %d, %a, %b, %c;",
        "b32",
        ["b32"; 3],
        three,
        |[a, b, c]| integer::mad24_hi_sat(a as i32, b as i32, c as i32) as u64,
    );
    check(
        "mul24.lo.s32 %d, %a, %b;",
        "b32",
        ["b32"; 2],
        [&[0xFF_FFFF], &[3]],
        |_| -3i64 as u64,
    );
}

#[test]
fn packed() {
    macro_rules! test {
        ($op:literal, $T:ty, $f:expr) => {
            check(
                concat!($op, " %d, %a, %b;"),
                "b32",
                ["b32"; 2],
                [INTEGERS; 2],
                |[a, b]| {
                    let half = |shift: u32| {
                        u64::from($f((a >> shift) as $T, (b >> shift) as $T) as u16) << shift
                    };
                    half(0) | half(16)
                },
            );
        };
    }
    test!("add.u16x2", u16, u16::wrapping_add);
    test!("add.s16x2", i16, i16::wrapping_add);
    test!("min.u16x2", u16, u16::min);
    test!("min.s16x2", i16, i16::min);
    test!("max.u16x2", u16, u16::max);
    test!("max.s16x2", i16, i16::max);
    test!("min.relu.s16x2", i16, |a: i16, b: i16| a.min(b).max(0));
    test!("max.relu.s16x2", i16, |a: i16, b: i16| a.max(b).max(0));
}

#[test]
fn dot_products() {
    macro_rules! dp4a {
        ($name:literal, $A:ty, $B:ty) => {
            check(
                concat!("dp4a.", $name, " %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [INTEGERS; 3],
                |[a, b, c]| {
                    let product =
                        |i: u32| i32::from((a >> (8 * i)) as $A) * i32::from((b >> (8 * i)) as $B);
                    (0..4).fold(c as i32, |sum, i| sum.wrapping_add(product(i))) as u64
                },
            );
        };
    }
    dp4a!("u32.u32", u8, u8);
    dp4a!("u32.s32", u8, i8);
    dp4a!("s32.u32", i8, u8);
    dp4a!("s32.s32", i8, i8);
    macro_rules! dp2a {
        ($name:literal, $A:ty, $B:ty, $from:literal) => {
            check(
                concat!("dp2a.", $name, " %d, %a, %b, %c;"),
                "b32",
                ["b32"; 3],
                [INTEGERS; 3],
                |[a, b, c]| {
                    let product = |i: u32| {
                        i32::from((a >> (16 * i)) as $A) * i32::from((b >> (8 * i + $from)) as $B)
                    };
                    (0..2).fold(c as i32, |sum, i| sum.wrapping_add(product(i))) as u64
                },
            );
        };
    }
    dp2a!("lo.u32.u32", u16, u8, 0);
    dp2a!("lo.u32.s32", u16, i8, 0);
    dp2a!("lo.s32.u32", i16, u8, 0);
    dp2a!("lo.s32.s32", i16, i8, 0);
    dp2a!("hi.u32.u32", u16, u8, 16);
    dp2a!("hi.u32.s32", u16, i8, 16);
    dp2a!("hi.s32.u32", i16, u8, 16);
    dp2a!("hi.s32.s32", i16, i8, 16);
}

#[test]
fn refused() {
    assert_eq!(
        refusal("add.sat.u32 %d, %a, %b;", "b32", &["b32"; 2]),
        "`add.sat.u32`: `.sat` does not go with `.u32` here"
    );
    assert_eq!(
        refusal("add.u64 %d, %a, %b;", "b32", &["b64"; 2]),
        "`add.u64`: `%d` is `.b32`: expected an integer or bits, 64 of them"
    );
}
