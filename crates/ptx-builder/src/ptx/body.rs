//! Takes a function's body apart: instructions, labels and its frame.

use std::collections::HashSet;

use super::instruction::{Instruction, is_name};
use super::scanner::Scanner;

/// A function's body.
#[derive(Debug)]
pub(crate) struct Body<'t> {
    /// Just after the opening brace, where registers may be declared.
    pub(crate) start: usize,
    /// Just after the closing brace.
    pub(crate) end: usize,
    pub(crate) instructions: Vec<Instruction<'t>>,
    /// Indices of the instructions that a label stands before.
    pub(crate) labelled: HashSet<usize>,
    /// The stack frame.
    pub(crate) frame: Option<Frame<'t>>,
}

/// A stack frame, which lies in local memory: off the chip, behind the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'t> {
    /// `.local .align 4 .b8 __local_depot1[12]`
    pub(crate) declaration: &'t str,
    pub(crate) name: &'t str,
}

/// Reads on from just after a body's opening brace to just after its closing one. `None` if there
/// is none.
pub(crate) fn parse<'t>(scanner: &mut Scanner<'t>) -> Option<Body<'t>> {
    let mut body = Body {
        start: scanner.position(),
        end: 0,
        instructions: Vec::new(),
        labelled: HashSet::new(),
        frame: None,
    };
    let mut open_braces = 1;
    while open_braces > 0 {
        scanner.skip_blanks();
        if scanner.comment().is_some() || scanner.eat(';') {
            continue;
        }
        if scanner.eat('{') {
            open_braces += 1;
        } else if scanner.eat('}') {
            open_braces -= 1;
        } else if is_location(scanner.rest()) {
            scanner.line();
        } else if skip_label(scanner) {
            body.labelled.insert(body.instructions.len());
        } else {
            let statement = scanner.until(&[';'])?;
            body.statement(statement);
        }
    }
    body.end = scanner.position();
    Some(body)
}

impl<'t> Body<'t> {
    fn statement(&mut self, statement: &'t str) {
        if !statement.starts_with('.') {
            self.instructions.push(Instruction::parse(statement));
        } else if statement.starts_with(".local") {
            self.frame = self.frame.or_else(|| parse_frame(statement));
        }
    }
}

fn is_location(rest: &str) -> bool {
    rest.starts_with(".loc") && !rest.starts_with(".local")
}

/// Goes past a label that may stand here.
fn skip_label(scanner: &mut Scanner<'_>) -> bool {
    let rest = scanner.rest();
    let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
    let after = rest[length..].trim_start();
    let is_label = length > 0 && after.starts_with(':') && !after.starts_with("::");
    if is_label {
        scanner.until(&[':']);
        scanner.eat(':');
    }
    is_label
}

fn parse_frame(directive: &str) -> Option<Frame<'_>> {
    let (declarator, _) = directive.strip_suffix(']')?.rsplit_once('[')?;
    Some(Frame {
        declaration: directive,
        name: declarator.split_whitespace().last()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
\t.local .align 4 .b8 \t__local_depot1[12];
\t.reg .b64 \t%SP;
\t.reg .b32 \t%r<42>;
\t.loc\t1 33 0
$L__func_begin1:
\tmov.b64 \t%SPL, __local_depot1;
\t.loc\t1 35 43
\t{ // callseq 0, 0
\t.param .b32 \tparam0;
\tst.param.b32 \t[param0], %r1;
\tcall.uni f, (param0);
\t} // callseq 0
\t.loc\t1 0 0
\t$L_brx_0: .branchtargets
\t\t$L__BB0_1,
\t\t$L__BB0_2;
\tbrx.idx \t%r1, $L_brx_0;
$L__BB0_1: // in the loop; twice
\t.pragma \"nounroll\";
\t// begin inline asm
\t{ .reg .pred p, q; setp.ne.b32 p, %r1, 0; @p bra DONE; add.s32 %r1, %r1, 1; DONE: }
\t// end inline asm
$L__BB0_2:
\tret;
}
tail";

    #[test]
    fn a_body_is_read_statement_by_statement() {
        let mut scanner = Scanner::new(TEXT);
        let body = parse(&mut scanner).expect("it ends");
        assert_eq!(scanner.rest(), "\ntail");
        let opcodes: Vec<_> = body.instructions.iter().map(|one| one.opcode).collect();
        assert_eq!(
            opcodes,
            [
                "mov.b64",
                "st.param.b32",
                "call.uni",
                "brx.idx",
                "setp.ne.b32",
                "bra",
                "add.s32",
                "ret",
            ]
        );
        assert_eq!(body.labelled, HashSet::from([0, 3, 4, 7]));
        let frame = body.frame.expect("there is one");
        assert_eq!(frame.name, "__local_depot1");
        assert_eq!(
            frame.declaration,
            ".local .align 4 .b8 \t__local_depot1[12]"
        );
    }
}
