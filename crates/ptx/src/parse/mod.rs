//! Text to a [`Module`].

mod body;
mod constant;
mod declaration;
mod function;
mod instruction;
mod lexer;
mod location;
mod module;
mod opcode;
mod operand;
mod read;
mod scope;
mod section;
mod spans;
mod variable;

use crate::{Module, ParseError, Spans};
use lexer::{Lexer, Token};
use scope::{Globals, Local};

/// Parses a PTX text.
///
/// ```
/// let module = ptx::parse(
///     ".version 8.7 .target sm_90 .address_size 64
///      .visible .entry twice(.param .u64 out) {
///          .reg .b32 %r<3>;
///          .reg .b64 %rd<2>;
///          ld.param.u64 %rd1, [out];
///          ld.global.u32 %r1, [%rd1];
///          shl.b32 %r2, %r1, 1;
///          st.global.u32 [%rd1], %r2;
///          ret;
///      }",
/// )?;
/// let body = module.functions[0].body.as_ref().ok_or("no body")?;
/// assert!(matches!(body.instructions[2].operation, ptx::Operation::Shl(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first place that is no PTX, or none that is known here; or else the first that `ptxas` refuses ([`crate::check`]).
pub fn parse(source: &str) -> std::result::Result<Module, ParseError> {
    let (module, _) = parse_with(source, Undeclared::Refused, None)?;
    match crate::check(&module, source).into_iter().next() {
        None => Ok(module),
        Some(refused) => Err(refused),
    }
}

/// Parses a PTX text that may lack declarations, as that of a compiler does whose inline assembly names what a
/// later step declares. A name that nothing declares is an external function where it is called, and elsewhere an
/// external variable of no bytes in [`Space::Generic`](crate::Space::Generic).
///
/// ```
/// let module = ptx::parse_undeclared(
///     ".version 8.7 .target sm_90 .address_size 64
///      .visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, TILE; call.uni later, (); ret; }",
/// )?;
/// assert_eq!(module.variable("TILE").ok_or("no variable")?.linkage, ptx::Linkage::External);
/// assert!(module.function("later").ok_or("no function")?.body.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Refusals of `ptxas` are not looked for, because a later step may change the text: [`crate::check`] does.
///
/// # Errors
/// The first place that is no PTX, or none that is known here.
pub fn parse_undeclared(source: &str) -> std::result::Result<Module, ParseError> {
    parse_with(source, Undeclared::External, None).map(|(module, _)| module)
}

/// Parses a compiler's text as [`parse_undeclared`], and tells where its parts lie in it, for who changes them there.
///
/// A statement of a body that is not known is kept: it is an [`Operation::Other`](crate::Operation::Other) of all that
/// it names, which counts as read and written, and stands in [`Spans::unknown`].
///
/// ```
/// let text = ".version 8.7 .target sm_90 .address_size 64
///     .entry k() { .reg .b64 %rd<3>; add.s64 %rd1, %rd2, 8; conjure.b64 %rd1; ret; }";
/// let (module, spans) = ptx::parse_with_spans(text)?;
/// let body = module.functions[0].body.as_ref().ok_or("no body")?;
/// let operands = spans.functions[0].mentions(&body.instructions[0]);
/// let texts: Vec<&str> = operands
///     .iter()
///     .map(|it| &text[it.span.start as usize..it.span.end as usize])
///     .collect();
/// assert_eq!(texts, ["%rd1", "%rd2", "8"]);
/// assert_eq!(spans.unknown[0].error.message, "unknown instruction `conjure`");
/// assert_eq!(body.instructions[1].text(text), "conjure.b64 %rd1;");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first place outside bodies that is no PTX, or none that is known here; in a body, a statement without an end.
pub fn parse_with_spans(source: &str) -> std::result::Result<(Module, Spans), ParseError> {
    let (module, spans) = parse_with(source, Undeclared::External, Some(Spans::default()))?;
    Ok((module, spans.unwrap_or_default()))
}

fn parse_with(
    source: &str,
    undeclared: Undeclared,
    spans: Option<Spans>,
) -> std::result::Result<(Module, Option<Spans>), ParseError> {
    if u32::try_from(source.len()).is_err() {
        return Err(Fail::at(0, "a text of more than 4 GiB").locate(source));
    }
    Parser::new(source, undeclared, spans)
        .and_then(Parser::module)
        .map_err(|fail| fail.locate(source))
}

/// Why and where parsing stopped.
#[derive(Debug)]
pub(crate) struct Fail {
    offset: usize,
    message: String,
}

pub(crate) type Result<T> = std::result::Result<T, Box<Fail>>;

impl Fail {
    fn at(offset: usize, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            offset,
            message: message.into(),
        })
    }

    fn locate(&self, source: &str) -> ParseError {
        ParseError::at(source, self.offset, self.message.clone())
    }
}

/// The treatment of a name in a body that nothing declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undeclared {
    Refused,
    External,
}

/// Where the parser stands, and what it knows so far.
pub(crate) struct Parser<'a> {
    source: &'a str,
    /// Behind `token`.
    lexer: Lexer<'a>,
    /// The next token, its first byte and its line.
    token: Token<'a>,
    begin: usize,
    line: u32,
    /// Behind the token before.
    end: usize,
    module: Module,
    globals: Globals<'a>,
    /// Of the function whose body is being parsed.
    local: Local<'a>,
    names: location::Names<'a>,
    undeclared: Undeclared,
    /// Where the parts lie, if it is asked for.
    spans: Option<Spans>,
    /// Where the directive of the module, or the statement of a body, begins that is being parsed.
    directive_begin: usize,
}

impl<'a> Parser<'a> {
    fn new(source: &'a str, undeclared: Undeclared, spans: Option<Spans>) -> Result<Self> {
        let mut parser = Self {
            source,
            lexer: Lexer::new(source),
            token: Token::End,
            begin: 0,
            line: 1,
            end: 0,
            module: module::empty(),
            globals: Globals::default(),
            local: Local::default(),
            names: location::Names::default(),
            undeclared,
            spans,
            directive_begin: 0,
        };
        parser.advance()?;
        Ok(parser)
    }

    /// Takes the token and looks at the next.
    fn advance(&mut self) -> Result<Token<'a>> {
        let taken = self.token;
        self.end = self.lexer.offset;
        self.lexer.skip_space()?;
        self.begin = self.lexer.offset;
        self.line = self.lexer.line;
        self.token = self.lexer.token()?;
        Ok(taken)
    }

    /// Takes this sign if it is next.
    fn eat(&mut self, sign: u8) -> Result<bool> {
        let found = self.token == Token::Sign(sign);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Takes this `.word` if it is next.
    fn eat_dotted(&mut self, word: &str) -> Result<bool> {
        let found = self.token == Token::Dotted(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, sign: u8) -> Result<()> {
        if self.eat(sign)? {
            Ok(())
        } else {
            Err(self.expected(&format!("`{}`", char::from(sign))))
        }
    }

    fn comma(&mut self) -> Result<()> {
        self.expect(b',')
    }

    fn word(&mut self, what: &str) -> Result<&'a str> {
        match self.token {
            Token::Word(word) => {
                self.advance()?;
                Ok(word)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// Items with commas between them.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat(b',')? {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// An error at the next token.
    fn fail(&self, message: impl Into<String>) -> Box<Fail> {
        Fail::at(self.begin, message)
    }

    fn expected(&self, what: &str) -> Box<Fail> {
        self.fail(format!("expected {what}, found {}", self.found()))
    }

    fn found(&self) -> String {
        match self.token {
            Token::Word(text) | Token::Number(text) => format!("`{text}`"),
            Token::Dotted(text) => format!("`.{text}`"),
            Token::Text(text) => format!("\"{text}\""),
            Token::Sign(sign) => format!("`{}`", char::from(sign)),
            Token::End => "the end of the text".to_owned(),
        }
    }
}
