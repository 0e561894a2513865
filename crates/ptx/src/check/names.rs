//! Names that the language has itself.

use crate::special::is_special;
use crate::{Module, ParseError};

/// The warp's threads, a constant of the language.
const WARP_SIZE: &str = "WARP_SZ";

/// A body may call a register like one of the hardware; nothing else may be called so, and nothing at all like the
/// constant.
pub(super) fn check(module: &Module, source: &str, found: &mut Vec<ParseError>) {
    let variables = module.variables.iter().map(|it| (&it.name, it.line));
    let functions = module.functions.iter().map(|it| (&it.name, it.line));
    for (name, line) in variables.chain(functions) {
        if name == WARP_SIZE || is_special(name) {
            found.push(refused(source, line, name));
        }
    }
    for function in &module.functions {
        let parameters = function.parameters.iter().chain(&function.returns);
        let of_body = function.body.iter().flat_map(|body| {
            let registers = body.registers.iter().map(|it| &it.name);
            registers.chain(body.labels.iter().map(|it| &it.name))
        });
        let mut names = parameters.map(|it| &it.name).chain(of_body);
        if names.any(|name| name == WARP_SIZE) {
            found.push(refused(source, function.line, WARP_SIZE));
        }
    }
}

fn refused(source: &str, line: u32, name: &str) -> ParseError {
    let message = format!("`{name}` is a name of the language: call it otherwise");
    ParseError::in_line(source, line, message)
}
