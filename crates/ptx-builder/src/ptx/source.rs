//! A text and what it declares, each part with its place in the text.

use ::ptx::{
    Body, Declaration, Function, FunctionSpans, Instruction, Mention, Module, Operand, ParseError,
    Span, Spans, Symbol,
};

/// A module that has been parsed, with its text and where the parts lie in it.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    pub(crate) text: &'t str,
    pub(crate) module: Module,
    pub(crate) spans: Spans,
}

/// A function that has a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'s> {
    /// Its place among all that declares or defines a function, in the text's order.
    pub(crate) number: usize,
    pub(crate) function: &'s Function,
    pub(crate) body: &'s Body,
    pub(crate) spans: &'s FunctionSpans,
}

impl<'t> Source<'t> {
    /// Parses a text, of which statements may be [unknown](Spans::unknown).
    ///
    /// # Errors
    /// Outside of bodies something is unknown.
    pub(crate) fn parse(text: &'t str) -> Result<Self, ParseError> {
        let (module, spans) = ::ptx::parse_with_spans(text)?;
        Ok(Source {
            text,
            module,
            spans,
        })
    }

    /// Whether every statement is known.
    pub(crate) fn is_known(&self) -> bool {
        self.spans.unknown.is_empty()
    }

    /// The functions that have a body, in the text's order.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = Definition<'_>> {
        let functions = self.spans.functions.iter().enumerate();
        functions.filter_map(|(number, spans)| {
            spans.body.as_ref()?;
            let function = &self.module.functions[spans.function.0 as usize];
            Some(Definition {
                number,
                function,
                body: function.body.as_ref()?,
                spans,
            })
        })
    }

    /// The name of a variable or a function of the module.
    pub(crate) fn name(&self, symbol: Symbol) -> Option<&str> {
        match symbol {
            Symbol::Module(index) => Some(&self.module.variables[index as usize].name),
            Symbol::Function(id) => Some(&self.module.functions[id.0 as usize].name),
            Symbol::Body(_) | Symbol::Parameter(_) | Symbol::Return(_) => None,
        }
    }

    /// The variables and functions of the module that instructions name, each as often as it is named.
    pub(crate) fn named(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        for definition in self.definitions() {
            for instruction in &definition.body.instructions {
                instruction.visit_symbols(|symbol| symbols.push(symbol));
            }
        }
        symbols
    }

    /// The part of the text.
    pub(crate) fn slice(&self, span: &Span) -> &'t str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// The instruction without its semicolon and the blanks before it.
    pub(crate) fn statement(&self, instruction: &Instruction) -> Span {
        let text = instruction.text(self.text);
        let text = text.strip_suffix(';').unwrap_or(text).trim_end();
        let start = instruction.span.start;
        start..start + text.len() as u32
    }
}

impl<'s> Definition<'s> {
    /// The operands of an instruction of the body.
    pub(crate) fn mentions(&self, instruction: &Instruction) -> &'s [Mention] {
        self.spans.mentions(instruction)
    }

    /// Where instructions name the symbol, but for addresses of functions that are called.
    pub(crate) fn mentions_of(&self, symbol: Symbol) -> impl Iterator<Item = &'s Mention> {
        let mentions = self.spans.mentions.iter();
        mentions.filter(move |mention| symbol_of(mention).is_some_and(|(it, _)| it == symbol))
    }

    /// The declaration of a variable of the body.
    pub(crate) fn declaration(&self, variable: Symbol) -> Option<&'s Declaration> {
        let mut declarations = self.spans.declarations.iter();
        declarations.find(|declaration| declaration.variables == [variable])
    }
}

/// The symbol that is mentioned, and the offset behind it.
pub(crate) fn symbol_of(mention: &Mention) -> Option<(Symbol, i64)> {
    match mention.operand {
        Operand::Symbol { symbol, offset } => Some((symbol, offset)),
        Operand::Register(_) | Operand::Immediate(_) | Operand::Special(_) => None,
    }
}
