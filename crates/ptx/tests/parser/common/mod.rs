//! A kernel around instructions under test.

use ptx::{Body, Module, Operand, Operation, Reg};

/// The text before the instructions. Registers get their numbers as they are used.
const BEFORE: &str = ".version 9.0
.target sm_100a
.address_size 64
.global .align 8 .b8 data[64];
.func (.param .b32 out) callee(.param .b32 a);
.visible .entry kernel(.param .u64 p, .param .f32 q) {
.reg .pred p<9>; .reg .b16 h<9>; .reg .b32 r<40>; .reg .b64 d<9>; .reg .f32 f<9>; .reg .f64 g<9>;
";

/// Lines of the text before the instructions.
pub(crate) const LINES_BEFORE: u32 = 7;

pub(crate) fn text(instructions: &str) -> String {
    format!("{BEFORE}{instructions}\n}}\n")
}

pub(crate) fn module(instructions: &str) -> Module {
    let text = text(instructions);
    ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn body(instructions: &str) -> Body {
    module(instructions)
        .functions
        .pop()
        .and_then(|function| function.body)
        .expect("a body")
}

/// The only instruction. Its first register is 0, its second 1 and so on.
pub(crate) fn one(instruction: &str) -> Operation {
    let mut instructions = body(instruction).instructions;
    assert_eq!(instructions.len(), 1, "{instruction}");
    instructions.remove(0).operation
}

pub(crate) fn error(instructions: &str) -> String {
    ptx::parse(&text(instructions))
        .expect_err(instructions)
        .to_string()
}

pub(crate) fn reg(number: u32) -> Operand {
    Operand::Register(Reg(number))
}

pub(crate) fn corpus() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    let paths = std::fs::read_dir(folder)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .map(|path| {
            let name = path
                .file_name()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            (name, std::fs::read_to_string(&path).expect("a text"))
        })
        .collect();
    files.sort();
    files
}
