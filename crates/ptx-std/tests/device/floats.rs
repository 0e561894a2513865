//! Functions that have an instruction are that instruction; the rest needs nothing from outside.

use std::fmt::Write;

use crate::entry;

const EXACT: [(&str, [&str; 2]); 10] = [
    ("floor", ["cvt.rmi.f32.f32", "cvt.rmi.f64.f64"]),
    ("ceil", ["cvt.rpi.f32.f32", "cvt.rpi.f64.f64"]),
    ("trunc", ["cvt.rzi.f32.f32", "cvt.rzi.f64.f64"]),
    ("round_ties_even", ["cvt.rni.f32.f32", "cvt.rni.f64.f64"]),
    ("sqrt", ["sqrt.rn.f32", "sqrt.rn.f64"]),
    ("abs", ["abs.f32", "abs.f64"]),
    ("mul_add", ["fma.rn.f32", "fma.rn.f64"]),
    ("copysign", ["copysign.f32", "copysign.f64"]),
    ("min", ["min.f32", "min.f64"]),
    ("max", ["max.f32", "max.f64"]),
];

const APPROXIMATE: [(&str, &str); 9] = [
    ("sin", "sin"),
    ("cos", "cos"),
    ("exp2", "ex2"),
    ("log2", "lg2"),
    ("tanh", "tanh"),
    ("rcp", "rcp"),
    ("sqrt", "sqrt"),
    ("rsqrt", "rsqrt"),
    ("div", "div"),
];

/// Functions of one argument that are computed, not looked up in the instruction set.
const COMPUTED: &str = "round fract signum exp exp2 ln log2 log10 cbrt sin cos tan asin acos atan \
    exp_m1 ln_1p sinh cosh tanh asinh acosh atanh sinpi cospi error_function \
    complementary_error_function inv_error_function inv_complementary_error_function \
    scaled_complementary_error_function norm_cdf inv_norm_cdf gamma log_gamma j0 j1 y0 y1 \
    cyl_bessel_i0 cyl_bessel_i1 log1p exp10 rcbrt rsqrt saturate";

/// Expressions of the others.
const COMPUTED_WITH: &str = "x.div_euclid(y); x.rem_euclid(y); x.powi(n); x.powf(y); x.log(y); \
    x.hypot(y); x.atan2(y); x.sin_cos().0; x.sincospi().1; x.jn(n); x.yn(n); x.frexp().0; \
    x.ldexp(n); x.scale_by_n(n); x.norm3d(y, y); x.rhypot(y)";

/// The kernels of this file.
pub(crate) fn source() -> String {
    let mut source = String::new();
    for ty in ["f32", "f64"] {
        for (function, _) in EXACT {
            let arguments = match function {
                "mul_add" => "*p.add(1), *p.add(2)",
                "copysign" | "min" | "max" => "*p.add(1)",
                _ => "",
            };
            writeln!(
                source,
                "#[kernel] pub unsafe fn exact_{function}_{ty}(p: *mut {ty}) \
                 {{ unsafe {{ *p = (*p).{function}({arguments}); }} }}"
            )
            .expect("a string");
        }
        let unary = COMPUTED
            .split_whitespace()
            .map(|name| format!("x.{name}()"));
        let others = COMPUTED_WITH.split(';').map(|call| call.trim().to_owned());
        for (index, call) in unary.chain(others).enumerate() {
            writeln!(
                source,
                "#[kernel] pub unsafe fn computed_{index}_{ty}(p: *mut {ty}, y: {ty}, n: i32) \
                 {{ unsafe {{ let x = *p; *p = {call}; }} }}"
            )
            .expect("a string");
        }
    }
    for (function, _) in APPROXIMATE {
        let argument = if function == "div" { "*p.add(1)" } else { "" };
        writeln!(
            source,
            "#[kernel] pub unsafe fn fast_{function}(p: *mut f32) \
             {{ unsafe {{ *p = (*p).fast_{function}({argument}); }} }}"
        )
        .expect("a string");
    }
    source
}

/// Returns the instructions of a kernel that do not read its parameters or memory.
fn arithmetic(name: &str) -> Vec<&'static str> {
    let moves = ["ld.", "st.", "mov", "cvta", "ret", ".reg"];
    let is_move = |opcode: &&str| moves.iter().any(|stem| opcode.starts_with(stem));
    let opcodes = entry(name).iter().map(String::as_str);
    opcodes.filter(|opcode| !is_move(opcode)).collect()
}

#[test]
fn what_has_an_instruction_is_that_instruction() {
    for (function, expected) in EXACT {
        for (ty, expected) in ["f32", "f64"].into_iter().zip(expected) {
            let name = format!("exact_{function}_{ty}");
            assert_eq!(arithmetic(&name), [expected], "{name}");
        }
    }
    for (function, instruction) in APPROXIMATE {
        let expected = format!("{instruction}.approx.f32");
        assert_eq!(
            arithmetic(&format!("fast_{function}")),
            [expected],
            "{function}"
        );
    }
}

#[test]
fn everything_else_is_computed_without_panics_or_externals() {
    for word in [".extern", "panic", "trap;"] {
        let line = crate::PTX.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "the PTX contains {word:?}");
    }
    assert_eq!(
        arithmetic("computed_0_f32"),
        ["copysign.f32", "add.rn.f32", "cvt.rzi.f32.f32"],
        "round"
    );
}
