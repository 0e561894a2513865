//! The parts of a module outside of functions.

use super::lexer::Token;
use super::{Fail, Parser, Result};
use crate::{
    ArchFeatures, FunctionId, FunctionKind, Linkage, Module, Space, Spans, Symbol, Target,
};

pub(super) const fn empty() -> Module {
    Module {
        version: (0, 0),
        target: Target {
            arch: 0,
            features: ArchFeatures::Common,
            options: Vec::new(),
        },
        address_size: 64,
        files: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        aliases: Vec::new(),
        sections: Vec::new(),
    }
}

impl Parser<'_> {
    /// The whole text.
    pub(super) fn module(mut self) -> Result<(Module, Option<Spans>)> {
        if self.token != Token::Dotted("version") {
            return Err(self.expected("`.version`, which begins each module"));
        }
        while self.token != Token::End {
            self.directive()?;
        }
        if self.module.target.arch == 0 {
            return Err(self.expected("`.target`"));
        }
        self.name_locations();
        Ok((self.module, self.spans))
    }

    fn directive(&mut self) -> Result<()> {
        self.directive_begin = self.begin;
        let name = match self.token {
            Token::Dotted(name) => name,
            Token::Sign(b'@') => return self.skip_dwarf(),
            Token::Sign(b';') => return self.advance().map(drop),
            _ => return Err(self.expected("a directive")),
        };
        match name {
            "version" => self.version(),
            "target" => self.target(),
            "address_size" => {
                self.advance()?;
                self.module.address_size = self.count32("32 or 64")?;
                if let Some(spans) = &mut self.spans {
                    spans.head_end = self.end as u32;
                }
                Ok(())
            }
            "file" => self.advance().and_then(|_| self.file()),
            "section" => self.advance().and_then(|_| self.section()),
            "pragma" => self.advance().and_then(|_| self.pragma()).map(drop),
            "alias" => self.alias(),
            _ => self.declaration(),
        }
    }

    /// A line `@@DWARF ...` of old compilers.
    fn skip_dwarf(&mut self) -> Result<()> {
        if !self.source[self.begin..].starts_with("@@") {
            return Err(self.expected("a directive"));
        }
        self.lexer.skip_line();
        self.advance().map(drop)
    }

    fn version(&mut self) -> Result<()> {
        self.advance()?;
        let Token::Number(text) = self.token else {
            return Err(self.expected("a version such as `8.7`"));
        };
        let parts = text
            .split_once('.')
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        self.module.version = parts.ok_or_else(|| self.expected("a version such as `8.7`"))?;
        self.advance().map(drop)
    }

    fn target(&mut self) -> Result<()> {
        self.advance()?;
        for word in self.list(|parser| parser.word("a target such as `sm_90`"))? {
            let Some(arch) = word
                .strip_prefix("sm_")
                .or_else(|| word.strip_prefix("compute_"))
            else {
                self.module.target.options.push(word.to_owned());
                continue;
            };
            let digits = arch.trim_end_matches(|letter: char| letter.is_ascii_lowercase());
            let features = match &arch[digits.len()..] {
                "" => Some(ArchFeatures::Common),
                "f" => Some(ArchFeatures::Family),
                "a" => Some(ArchFeatures::Architecture),
                _ => None,
            };
            let (Ok(number), Some(features)) = (digits.parse(), features) else {
                return Err(Fail::at(
                    self.begin,
                    format!("`{word}` is no target such as `sm_90a`"),
                ));
            };
            self.module.target.arch = number;
            self.module.target.features = features;
        }
        Ok(())
    }

    /// `.pragma "a", "b";`; the first word is taken.
    pub(super) fn pragma(&mut self) -> Result<Vec<String>> {
        let pragmas = self.list(|parser| match parser.token {
            Token::Text(text) => parser.advance().map(|_| text.to_owned()),
            _ => Err(parser.expected("a string")),
        })?;
        self.expect(b';')?;
        Ok(pragmas)
    }

    fn alias(&mut self) -> Result<()> {
        self.advance()?;
        let alias = self.function_name()?;
        self.comma()?;
        let aliased = self.function_name()?;
        self.expect(b';')?;
        self.module.aliases.push((alias, aliased));
        Ok(())
    }

    /// The name of a function that is declared.
    pub(super) fn function_name(&mut self) -> Result<FunctionId> {
        let begin = self.begin;
        let name = self.word("the name of a function")?;
        match self.globals.names.get(name) {
            Some(&Symbol::Function(id)) => Ok(id),
            _ => Err(Fail::at(begin, format!("no function `{name}` is declared"))),
        }
    }

    /// A function or a variable.
    fn declaration(&mut self) -> Result<()> {
        let mut linkage = Linkage::Private;
        loop {
            let Token::Dotted(name) = self.token else {
                return Err(self.expected("`.func`, `.entry` or a state space"));
            };
            let given = match name {
                "extern" => Linkage::External,
                "visible" => Linkage::Visible,
                "weak" => Linkage::Weak,
                "common" => Linkage::Common,
                "entry" => {
                    return self
                        .advance()
                        .and_then(|_| self.function(FunctionKind::Entry, linkage));
                }
                "func" => {
                    return self
                        .advance()
                        .and_then(|_| self.function(FunctionKind::Device, linkage));
                }
                _ => match Space::from_name(name).filter(|&space| space != Space::Generic) {
                    Some(space) => {
                        return self.advance().and_then(|_| self.variables(space, linkage));
                    }
                    None => return Err(self.fail(format!("unknown directive `.{name}`"))),
                },
            };
            linkage = given;
            self.advance()?;
        }
    }
}
