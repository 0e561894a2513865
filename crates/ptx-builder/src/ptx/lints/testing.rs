//! Modules with a planted fault, for the tests of each lint.

use ::ptx::Module;

use super::super::{Options, Passes, Sources, process};
use super::{Finding, Level, Levels, Lint};

pub(crate) const HEAD: &str = ".version 7.8\n.target sm_90\n.address_size 64\n";

/// The registers that the texts of tests use without declaring them.
pub(crate) const REGISTERS: &str =
    ".reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<12>, %SP, %SPL;";

/// File 1 is the kernel's, file 2 a library's.
const FILES: &str = "
.file 1 \"/w/kernels/src/lib.rs\"
.file 2 \"/w/std/src/lib.rs\"
";

/// The text of a module of these functions.
pub(crate) fn module(functions: &str) -> String {
    format!("{HEAD}{}", with_registers(functions))
}

/// A module of these functions, parsed.
pub(crate) fn parse(functions: &str) -> Module {
    let text = module(functions);
    ::ptx::parse_undeclared(&text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}

/// Declares [`REGISTERS`] in each function, behind its opening brace.
pub(super) fn with_registers(functions: &str) -> String {
    let mut text = String::new();
    let mut rest = functions;
    while let Some(at) = [".entry", ".func"]
        .iter()
        .filter_map(|one| rest.find(one))
        .min()
    {
        let head = rest[at..]
            .find(['{', ';'])
            .map_or(rest.len(), |end| at + end + 1);
        text += &rest[..head];
        if text.ends_with('{') {
            text += REGISTERS;
        }
        rest = &rest[head..];
    }
    text + rest
}

pub(super) fn options(level: impl Fn(Lint) -> Level) -> Options {
    let mut levels = Levels::default();
    for &lint in Lint::ALL {
        levels.set(lint, level(lint));
    }
    Options {
        sources: Sources {
            root: "/w".into(),
            kernels: vec!["/w/kernels".into()],
            libraries: vec!["/w/std".into()],
        },
        levels,
        compiler: (1, 96),
        passes: Passes::default(),
    }
}

/// Returns the findings of the lint alone in the module.
pub(super) fn findings(lint: Lint, module: &str) -> Vec<Finding> {
    findings_by((1, 96), lint, module)
}

/// Returns the findings of the lint alone in the module, which this version of the compiler made.
pub(super) fn findings_by(compiler: (u32, u32), lint: Lint, module: &str) -> Vec<Finding> {
    let only = |one| {
        if one == lint {
            Level::Deny
        } else {
            Level::Allow
        }
    };
    let text = format!("{}{FILES}", self::module(module));
    let options = Options {
        compiler,
        ..options(only)
    };
    process(&text, &options).findings
}

/// The same, as the reader sees them.
pub(super) fn lines(lint: Lint, module: &str) -> Vec<String> {
    let findings = findings(lint, module);
    findings.iter().map(Finding::to_string).collect()
}
