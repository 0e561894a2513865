//! Counting, finding and moving bits.

use engine::arith::bits::{self, Excess};

use super::harness::{Case, INTEGERS, check};

const AMOUNTS: &[u64] = &[
    0,
    1,
    7,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    255,
    256,
    0xFFFF_FFFF,
];

#[test]
fn counted() {
    check("popc.b32 %d, %a;", "b32", ["b32"], [INTEGERS], |[a]| {
        a.count_ones().into()
    });
    check("popc.b64 %d, %a;", "b32", ["b64"], [INTEGERS], |[a]| {
        a.count_ones().into()
    });
    check("clz.b32 %d, %a;", "b32", ["b32"], [INTEGERS], |[a]| {
        (a as u32).leading_zeros().into()
    });
    check("clz.b64 %d, %a;", "b32", ["b64"], [INTEGERS], |[a]| {
        a.leading_zeros().into()
    });
    check("brev.b32 %d, %a;", "b32", ["b32"], [INTEGERS], |[a]| {
        (a as u32).reverse_bits().into()
    });
    check("brev.b64 %d, %a;", "b64", ["b64"], [INTEGERS], |[a]| {
        a.reverse_bits()
    });
}

#[test]
fn found() {
    macro_rules! test {
        ($name:literal, $register:literal, $T:ty) => {
            check(
                concat!("bfind.", $name, " %d, %a;"),
                "b32",
                [$register],
                [INTEGERS],
                |[a]| bits::bfind(a as $T).into(),
            );
            check(
                concat!("bfind.shiftamt.", $name, " %d, %a;"),
                "b32",
                [$register],
                [INTEGERS],
                |[a]| bits::bfind_shiftamt(a as $T).into(),
            );
        };
    }
    test!("u32", "b32", u32);
    test!("s32", "b32", i32);
    test!("u64", "b64", u64);
    test!("s64", "b64", i64);
    let offsets = &[0, 1, 2, 9, 0xFFFF_FFFF, 0xFFFF_FFFE, 0x8000_0000];
    check(
        "fns.b32 %d, %a, %b, %c;",
        "b32",
        ["b32"; 3],
        [INTEGERS, AMOUNTS, offsets],
        |[a, b, c]| bits::fns(a as u32, b as u32, c as i32).into(),
    );
}

#[test]
fn fields() {
    macro_rules! bfe {
        ($name:literal, $register:literal, $T:ty) => {
            let read = [$register, "b32", "b32"];
            check(
                concat!("bfe.", $name, " %d, %a, %b, %c;"),
                $register,
                read,
                [INTEGERS, AMOUNTS, AMOUNTS],
                |[a, b, c]| bits::bfe(a as $T, b as u32, c as u32) as u64,
            );
        };
    }
    bfe!("u32", "b32", u32);
    bfe!("s32", "b32", i32);
    bfe!("u64", "b64", u64);
    bfe!("s64", "b64", i64);
    let text = "bfi.b32 %d, %a, %b, %c, %f;";
    Case {
        text,
        written: &["b32"],
        read: ["b32"; 4],
    }
    .check(
        [INTEGERS, &INTEGERS[..3], AMOUNTS, AMOUNTS],
        |[a, b, c, f]| vec![bits::bfi(a as u32, b as u32, c as u32, f as u32).into()],
    );
    let text = "bfi.b64 %d, %a, %b, %c, %f;";
    Case {
        text,
        written: &["b64"],
        read: ["b64", "b64", "b32", "b32"],
    }
    .check(
        [INTEGERS, &INTEGERS[18..], AMOUNTS, AMOUNTS],
        |[a, b, c, f]| vec![bits::bfi(a, b, c as u32, f as u32)],
    );
    // By numbers as by registers, though ptxas makes something else of the first two.
    check(
        "bfe.s32 %d, %a, 62, 6;",
        "b32",
        ["b32"],
        [&[0x7FC0_0000, 0x8000_0000]],
        |[a]| if a >> 31 == 1 { 0xFFFF_FFFF } else { 0 },
    );
    check(
        "bfi.b32 %d, %a, %a, 5, 44;",
        "b32",
        ["b32"],
        [&[0x162D_1078]],
        |_| 0xC5A2_0F18,
    );
    check(
        "bfe.u32 %d, %a, 4, 8;",
        "b32",
        ["b32"],
        [INTEGERS],
        |[a]| a >> 4 & 0xFF,
    );
}

#[test]
fn masks() {
    for (name, excess) in [("clamp", Excess::Clamp), ("wrap", Excess::Wrap)] {
        let two = [INTEGERS, AMOUNTS];
        check(
            &format!("szext.{name}.u32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            two,
            |[a, b]| bits::szext(a as u32, b as u32, excess).into(),
        );
        check(
            &format!("szext.{name}.s32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            two,
            |[a, b]| bits::szext(a as i32, b as u32, excess) as u64,
        );
        check(
            &format!("bmsk.{name}.b32 %d, %a, %b;"),
            "b32",
            ["b32"; 2],
            [AMOUNTS; 2],
            |[a, b]| bits::bmsk(a as u32, b as u32, excess).into(),
        );
    }
}
