//! Takes the text of a PTX module apart, as LLVM writes it, for what is changed in it. What is not understood is
//! passed over.

use super::body::{self, Body};
use super::edit::position;
use super::instruction::names;
use super::scanner::Scanner;

/// The text's structure. Every part is a slice of the text.
#[derive(Debug)]
pub(crate) struct Module<'t> {
    pub(crate) text: &'t str,
    /// The end of the line `.address_size 64`: where declarations may be put.
    pub(crate) head_end: usize,
    pub(crate) functions: Vec<Function<'t>>,
    pub(crate) variables: Vec<Variable<'t>>,
    /// Comment lines at module scope.
    pub(crate) comments: Vec<&'t str>,
}

/// An entry, a function, or the declaration of a function.
#[derive(Debug)]
pub(crate) struct Function<'t> {
    pub(crate) name: &'t str,
    pub(crate) kind: Kind,
    pub(crate) parameters: Vec<&'t str>,
    /// What stands before the name: `.visible .entry`, `.extern .func (..)`.
    pub(crate) linkage: &'t str,
    /// What stands between the parameters and the body: `.noreturn`.
    pub(crate) attributes: &'t str,
    /// Where the attributes begin.
    pub(crate) attributes_at: usize,
    /// Missing in a declaration.
    pub(crate) body: Option<Body<'t>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entry,
    Function,
}

/// A variable at module scope.
#[derive(Debug)]
pub(crate) struct Variable<'t> {
    pub(crate) name: &'t str,
    /// All of it but the semicolon.
    pub(crate) text: &'t str,
}

/// Why a text is no PTX module.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub(crate) struct ParseError {
    pub(crate) line: usize,
    pub(crate) reason: String,
}

impl<'t> Module<'t> {
    pub(crate) fn parse(text: &'t str) -> Result<Self, ParseError> {
        let mut module = Module {
            text,
            head_end: 0,
            functions: Vec::new(),
            variables: Vec::new(),
            comments: Vec::new(),
        };
        let mut scanner = Scanner::new(text);
        loop {
            scanner.skip_blanks();
            if scanner.rest().is_empty() {
                return Ok(module);
            }
            if let Some(comment) = scanner.comment() {
                module.comments.push(comment);
                continue;
            }
            module.item(&mut scanner)?;
        }
    }

    pub(crate) fn position(&self, part: &str) -> usize {
        position(self.text, part).start
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Function<'t>> {
        self.functions
            .iter()
            .filter(|function| function.name == name)
            .max_by_key(|function| function.body.is_some())
    }

    fn item(&mut self, scanner: &mut Scanner<'t>) -> Result<(), ParseError> {
        let word = scanner.rest().split_whitespace().next().unwrap_or_default();
        match word {
            ".version" | ".target" | ".file" => {
                scanner.line();
            }
            ".address_size" => {
                scanner.line();
                self.head_end = scanner.position();
            }
            ".section" => {
                scanner.until(&['{']);
                scanner
                    .group('{', '}')
                    .ok_or_else(|| unclosed(scanner, word))?;
            }
            // Labels of debug sections.
            _ if word.ends_with(':') => {
                scanner.line();
            }
            _ => self.declaration(scanner)?,
        }
        Ok(())
    }

    fn declaration(&mut self, scanner: &mut Scanner<'t>) -> Result<(), ParseError> {
        let start = scanner.position();
        let head = scanner
            .until(&['(', '{', ';', '='])
            .ok_or_else(|| unclosed(scanner, "a declaration"))?;
        let kind = head.split_whitespace().find_map(|word| match word {
            ".entry" => Some(Kind::Entry),
            ".func" => Some(Kind::Function),
            _ => None,
        });
        if let Some(kind) = kind {
            let function = function(scanner, start, kind)?;
            self.functions.push(function);
            return Ok(());
        }
        scanner
            .until(&[';'])
            .ok_or_else(|| unclosed(scanner, head))?;
        let text = self.text[start..scanner.position()].trim_end();
        scanner.eat(';');
        let declarator = text.split('=').next().unwrap_or(text);
        let name = declarator.split('[').next().unwrap_or(declarator);
        if let Some(name) = name.split_whitespace().last() {
            self.variables.push(Variable { name, text });
        }
        Ok(())
    }
}

impl<'t> Variable<'t> {
    /// `.global`, `.shared`, `.const`.
    pub(crate) fn space(&self) -> Option<&'t str> {
        self.text
            .split_whitespace()
            .find(|word| matches!(*word, ".global" | ".shared" | ".const"))
    }
}

impl Function<'_> {
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        let named = |declarator: &str| names(declarator).any(|one| one == name);
        named(self.linkage) || self.parameters.iter().any(|one| named(one))
    }
}

/// Reads on from the first bracket of a function whose head begins at `start`.
fn function<'t>(
    scanner: &mut Scanner<'t>,
    start: usize,
    kind: Kind,
) -> Result<Function<'t>, ParseError> {
    let mut head = scanner.before(start);
    if head.ends_with(".func") {
        scanner
            .group('(', ')')
            .ok_or_else(|| unclosed(scanner, head))?;
        scanner
            .until(&['(', '{', ';'])
            .ok_or_else(|| unclosed(scanner, head))?;
        head = scanner.before(start);
    }
    let name = head.split_whitespace().last().unwrap_or(head);
    let linkage = &head[..head.len() - name.len()];
    let parameters = parameters(scanner).ok_or_else(|| unclosed(scanner, name))?;
    let attributes_at = scanner.position();
    let attributes = scanner
        .until(&['{', ';'])
        .ok_or_else(|| unclosed(scanner, name))?;
    let body = if scanner.eat(';') {
        None
    } else {
        scanner.eat('{');
        Some(body::parse(scanner).ok_or_else(|| unclosed(scanner, name))?)
    };
    Ok(Function {
        name,
        kind,
        parameters,
        linkage,
        attributes,
        attributes_at,
        body,
    })
}

/// Goes past a list of parameters that may stand here.
fn parameters<'t>(scanner: &mut Scanner<'t>) -> Option<Vec<&'t str>> {
    if !scanner.rest().starts_with('(') {
        return Some(Vec::new());
    }
    let list = scanner.group('(', ')')?.split(',').map(str::trim);
    Some(list.filter(|parameter| !parameter.is_empty()).collect())
}

fn unclosed(scanner: &Scanner<'_>, what: &str) -> ParseError {
    ParseError {
        line: scanner.line_number(),
        reason: format!("{what} has no end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//
// Generated by LLVM NVPTX Back-End
//
.version 7.8
.target sm_90
.address_size 64
// ptx-std kernel k file=a b.rs line=3 params=8
.extern .func  (.param .b32 func_retval0) vprintf
(
\t.param .b64 vprintf_param_0,
\t.param .b64 vprintf_param_1
)
;
.func panics()
.noreturn;
.visible .global .align 4 .b8 TABLE[4] = {1, 2, 3, 4};
.shared .align 16 .b8 TILE[4096];
\t// .globl\tk
.visible .entry k(
\t.param .u64 .ptr .align 1 k_param_0
)
{
\t.reg .b32 \t%r<3>;
\tret;
}
.func  (.param .b32 func_retval0) helper(
\t.param .b32 helper_param_0
)
{
\tret;
}
\t.section\t.debug_macinfo\t{\t}
$L__sec_end0:
\t.file\t1 \"/src//lib.rs\"
";

    #[test]
    fn a_module_is_read_item_by_item() {
        let module = Module::parse(TEXT).expect("PTX");
        let names: Vec<_> = module.functions.iter().map(|one| one.name).collect();
        assert_eq!(names, ["vprintf", "panics", "k", "helper"]);
        let [vprintf, panics, k, helper] = &module.functions[..] else {
            panic!("four functions");
        };
        assert!(vprintf.body.is_none());
        assert_eq!(panics.attributes.trim(), ".noreturn");
        assert_eq!((k.kind, helper.kind), (Kind::Entry, Kind::Function));
        assert_eq!(k.parameters, [".param .u64 .ptr .align 1 k_param_0"]);
        assert_eq!(&TEXT[k.attributes_at - 2..][..3], "\n)\n");
        assert_eq!(vprintf.parameters.len(), 2);
        assert!(k.body.is_some() && helper.body.is_some());
        let variables: Vec<_> = module
            .variables
            .iter()
            .map(|one| (one.name, one.space()))
            .collect();
        assert_eq!(
            variables,
            [("TABLE", Some(".global")), ("TILE", Some(".shared"))]
        );
        assert!(TEXT[..module.head_end].ends_with(".address_size 64"));
        assert!(module.comments.iter().any(|one| one.contains("kernel k")));
    }

    #[test]
    fn a_function_without_an_end_is_an_error_at_its_line() {
        let error = Module::parse(".entry k()\n{\n\tret;\n").expect_err("no end");
        assert_eq!(error.to_string(), "line 4: k has no end");
    }
}
