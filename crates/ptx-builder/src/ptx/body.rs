//! Reads a function's body: instructions, labels and declarations.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::instruction::{Instruction, Location, is_name};
use super::scanner::Scanner;

/// A function's body.
#[derive(Debug)]
pub(crate) struct Body<'t> {
    /// Just after the opening brace, where registers may be declared.
    pub(crate) start: usize,
    /// Just after the closing brace.
    pub(crate) end: usize,
    pub(crate) instructions: Vec<Instruction<'t>>,
    pub(crate) labels: Vec<Label<'t>>,
    /// The targets of each `.branchtargets` directive, by its label.
    pub(crate) tables: HashMap<&'t str, Vec<&'t str>>,
    /// Registers, parameters and variables declared in it.
    pub(crate) declared: HashSet<&'t str>,
    /// The stack frame.
    pub(crate) frame: Option<Frame<'t>>,
}

/// A label, which is known in the braces around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label<'t> {
    pub(crate) name: &'t str,
    /// Index of the instruction that it stands before.
    pub(crate) at: usize,
    /// Indices of the instructions that know it.
    pub(crate) scope: Range<usize>,
}

/// A stack frame, which lies in local memory: off the chip, behind the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'t> {
    /// `.local .align 4 .b8 __local_depot1[12]`
    pub(crate) declaration: &'t str,
    pub(crate) name: &'t str,
    pub(crate) bytes: u64,
}

/// Reads on from just after a body's opening brace to just after its closing one. `None` if there
/// is none.
pub(crate) fn parse<'t>(scanner: &mut Scanner<'t>) -> Option<Body<'t>> {
    let mut body = Body {
        start: scanner.position(),
        end: 0,
        instructions: Vec::new(),
        labels: Vec::new(),
        tables: HashMap::new(),
        declared: HashSet::new(),
        frame: None,
    };
    // The number of instructions and of labels before each open brace.
    let mut scopes = vec![(0, 0)];
    let mut location = None;
    while !scopes.is_empty() {
        scanner.skip_blanks();
        if scanner.comment().is_some() || scanner.eat(';') {
            continue;
        }
        if scanner.eat('{') {
            scopes.push((body.instructions.len(), body.labels.len()));
        } else if scanner.eat('}') {
            body.close_scope(scopes.pop());
        } else if scanner.rest().starts_with(".loc") && !scanner.rest().starts_with(".local") {
            location = parse_location(scanner.line());
        } else if let Some(label) = label(scanner) {
            let at = body.instructions.len();
            body.labels.push(Label {
                name: label,
                at,
                scope: at..usize::MAX,
            });
        } else {
            let statement = scanner.until(&[';'])?;
            body.statement(statement, location);
        }
    }
    body.end = scanner.position();
    Some(body)
}

impl<'t> Body<'t> {
    /// The instruction that a branch to the label goes to: in inline assembly one name may label
    /// several, in braces of their own.
    pub(crate) fn label(&self, name: &str, branch: usize) -> Option<usize> {
        self.labels
            .iter()
            .filter(|label| label.name == name && label.scope.contains(&branch))
            .min_by_key(|label| label.scope.len())
            .map(|label| label.at)
    }

    /// The labels since the brace was opened are known from there to here, but for those of inner
    /// braces.
    fn close_scope(&mut self, opened: Option<(usize, usize)>) {
        let Some((instructions, labels)) = opened else {
            return;
        };
        let scope = instructions..self.instructions.len();
        for label in &mut self.labels[labels..] {
            if label.scope.end == usize::MAX {
                label.scope = scope.clone();
            }
        }
    }

    fn statement(&mut self, statement: &'t str, location: Option<Location>) {
        if statement.starts_with('.') {
            self.directive(statement);
        } else {
            self.instructions
                .push(Instruction::parse(statement, location));
        }
    }

    fn directive(&mut self, directive: &'t str) {
        if let Some(targets) = directive.strip_prefix(".branchtargets") {
            if let Some(table) = self.labels.last() {
                let targets = targets.split(',').map(str::trim).collect();
                self.tables.insert(table.name, targets);
            }
            return;
        }
        for declarator in directive.split(',') {
            let name = declarator.split(['<', '[', '=']).next().unwrap_or_default();
            self.declared.extend(name.split_whitespace().last());
        }
        if directive.starts_with(".local") {
            self.frame = self.frame.or_else(|| parse_frame(directive));
        }
    }
}

/// `.loc 1 17 54`, perhaps with `, function_name ..` after it. Line 0 is no line.
fn parse_location(line: &str) -> Option<Location> {
    // A comma may stand at the last of the numbers, or apart.
    let words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    let mut numbers = words.skip(1).map(str::parse);
    let mut next = || numbers.next()?.ok();
    let location = Location {
        file: next()?,
        line: next()?,
        column: next()?,
    };
    (location.line > 0).then_some(location)
}

/// Goes past a label that stands here.
fn label<'t>(scanner: &mut Scanner<'t>) -> Option<&'t str> {
    let rest = scanner.rest();
    let length = rest.find(|c: char| !is_name(c))?;
    let after = rest[length..].trim_start();
    if length == 0 || !after.starts_with(':') || after.starts_with("::") {
        return None;
    }
    let name = scanner.take(length);
    scanner.until(&[':']);
    scanner.eat(':');
    Some(name)
}

fn parse_frame(directive: &str) -> Option<Frame<'_>> {
    let (declarator, bytes) = directive.strip_suffix(']')?.rsplit_once('[')?;
    Some(Frame {
        declaration: directive,
        name: declarator.split_whitespace().last()?,
        bytes: bytes.parse().ok()?,
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
        let labels: Vec<_> = body.labels.iter().map(|one| (one.name, one.at)).collect();
        assert_eq!(
            labels[1..],
            [
                ("$L_brx_0", 3),
                ("$L__BB0_1", 4),
                ("DONE", 7),
                ("$L__BB0_2", 7)
            ]
        );
        assert_eq!(body.tables["$L_brx_0"], ["$L__BB0_1", "$L__BB0_2"]);
        let frame = body.frame.expect("there is one");
        assert_eq!((frame.name, frame.bytes), ("__local_depot1", 12));
        for name in ["p", "q", "param0", "%SP", "%r", "__local_depot1"] {
            assert!(body.declared.contains(name), "{name}");
        }
        let lines: Vec<_> = body
            .instructions
            .iter()
            .map(|one| one.location.map(|location| location.line))
            .collect();
        assert_eq!(lines[..3], [Some(33), Some(35), Some(35)]);
        assert_eq!(lines[3], None, "line 0 is none");
        // As LLVM writes it since Rust 1.99, and before.
        for comma in [", ", " , "] {
            let inlined = format!(".loc\t1 4 14{comma}function_name $L1, inlined_at 1 9 5");
            let location = parse_location(&inlined).expect("one");
            assert_eq!((location.file, location.line, location.column), (1, 4, 14));
        }
    }
}
