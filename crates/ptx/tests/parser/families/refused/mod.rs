//! Refusals for types, modifiers, spaces, scopes and calls, and that `ptxas` refuses and takes the same.

mod assembler;
mod cases;
mod variants;
mod versions;

/// A module with one kernel whose body these lines are, after registers of all types and variables of most spaces.
fn module(lines: &[String]) -> String {
    format!("{HEAD}{}\nret;\n}}\n", lines.join("\n"))
}

/// The line of the first that [`module`] is given.
const FIRST_LINE: u32 = 6;

const HEAD: &str = "\
.version 9.0
.target sm_90a
.address_size 64
.global .b32 gv[4]; .shared .align 16 .b8 sv[64]; .const .b32 cv[4]; .func f(.param .b32 a) { ret; }
.visible .entry k(.param .u64 p) { .local .b32 lv[4]; .reg .pred %pred<4>; .reg .b8 %b8_<4>; .reg .u8 %u8_<4>; .reg .s8 %s8_<4>; .reg .b16 %b16_<4>; .reg .u16 %u16_<4>; .reg .s16 %s16_<4>; .reg .f16 %f16_<4>; .reg .b32 %b32_<4>; .reg .u32 %u32_<4>; .reg .s32 %s32_<4>; .reg .f32 %f32_<4>; .reg .b64 %b64_<4>; .reg .u64 %u64_<4>; .reg .s64 %s64_<4>; .reg .f64 %f64_<4>; .reg .b128 %b128_<4>;
";

/// Returns why this crate refuses one line.
fn ours(line: &str) -> Option<String> {
    let text = module(&[line.to_owned()]);
    ptx::parse(&text).err().map(|error| error.message)
}
