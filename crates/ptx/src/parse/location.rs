//! `.file` and `.loc`, with names of functions from `.debug_str`.

use std::collections::HashMap;

use super::lexer::Token;
use super::{Parser, Result};
use crate::{File, Location, Module, Section};

/// `.loc` lines of the body that is being parsed.
#[derive(Default)]
pub(super) struct Lines<'a> {
    /// That of the next instruction.
    pub(super) current: Option<u32>,
    known: HashMap<Key<'a>, u32>,
    /// The last one at a file, line and column.
    at: HashMap<(u32, u32, u32), u32>,
    /// For each location the label of its function's name.
    functions: Vec<Option<NameAt<'a>>>,
}

/// A label of `.debug_str`, and bytes behind it.
type NameAt<'a> = (&'a str, u64);

type Key<'a> = ((u32, u32, u32), Option<NameAt<'a>>, Option<u32>);

/// Who wants names of `.debug_str`.
#[derive(Default)]
pub(super) struct Names<'a> {
    wanted: Vec<(usize, Vec<Option<NameAt<'a>>>)>,
}

/// `.debug_str`, and where its labels are.
struct Strings<'m> {
    bytes: &'m [u8],
    labels: HashMap<&'m str, usize>,
}

impl<'a> Names<'a> {
    /// Remembers which names the locations of a function want.
    pub(super) fn want(&mut self, function: usize, lines: Lines<'a>) {
        if lines.functions.iter().any(Option::is_some) {
            self.wanted.push((function, lines.functions));
        }
    }
}

impl<'m> Strings<'m> {
    fn of(section: &'m Section) -> Strings<'m> {
        let labels = section.labels.iter();
        Strings {
            bytes: &section.bytes,
            labels: labels.map(|(name, at)| (name.as_str(), *at)).collect(),
        }
    }

    fn name(&self, label: &str, offset: u64) -> Option<String> {
        let begin = self
            .labels
            .get(label)?
            .checked_add(usize::try_from(offset).ok()?)?;
        let rest = self.bytes.get(begin..)?;
        let end = rest
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(rest.len());
        std::str::from_utf8(&rest[..end]).ok().map(str::to_owned)
    }
}

impl<'a> Parser<'a> {
    /// `.file 1 "path", time, size`; the first word is taken.
    pub(super) fn file(&mut self) -> Result<()> {
        let index = self.count32("the number of a file")?;
        let Token::Text(path) = self.token else {
            return Err(self.expected("the path of a file"));
        };
        self.advance()?;
        while self.eat(b',')? {
            self.constant()?;
        }
        self.module.files.push(File {
            index,
            path: path.replace("\\\\", "\\"),
        });
        Ok(())
    }

    /// `.loc 1 20 3, function_name label+0, inlined_at 1 15 3`; the first word is taken.
    pub(super) fn loc(&mut self) -> Result<()> {
        let place = self.place()?;
        let mut function = None;
        let mut inlined_at = None;
        while self.eat(b',')? {
            match self.token {
                Token::Word("function_name") => {
                    self.advance()?;
                    let label = self.word("the label of a name")?;
                    let offset = if self.eat(b'+')? {
                        self.count("an offset")?
                    } else {
                        0
                    };
                    function = Some((label, offset));
                }
                Token::Word("inlined_at") => {
                    self.advance()?;
                    let outer = self.place()?;
                    let known = self.local.lines.at.get(&outer).copied();
                    inlined_at = Some(known.unwrap_or_else(|| self.location(outer, None, None)));
                }
                _ => return Err(self.expected("`function_name` or `inlined_at`")),
            }
        }
        self.local.lines.current = Some(self.location(place, function, inlined_at));
        Ok(())
    }

    fn place(&mut self) -> Result<(u32, u32, u32)> {
        Ok((
            self.plain("the number of a file")?,
            self.plain("a line")?,
            self.plain("a column")?,
        ))
    }

    /// A number, and no expression: the next may follow without a comma.
    pub(super) fn plain(&mut self, what: &str) -> Result<u32> {
        let Token::Number(text) = self.token else {
            return Err(self.expected(what));
        };
        let number = text.parse().map_err(|_| self.expected(what))?;
        self.advance()?;
        Ok(number)
    }

    fn location(
        &mut self,
        place: (u32, u32, u32),
        function: Option<NameAt<'a>>,
        inlined_at: Option<u32>,
    ) -> u32 {
        let lines = &mut self.local.lines;
        let locations = &mut self.local.body.locations;
        let id = *lines
            .known
            .entry((place, function, inlined_at))
            .or_insert_with(|| {
                let (file, line, column) = place;
                locations.push(Location {
                    file,
                    line,
                    column,
                    function: None,
                    inlined_at,
                });
                lines.functions.push(function);
                locations.len() as u32 - 1
            });
        lines.at.insert(place, id);
        id
    }

    /// Gives locations the names of their functions, when all sections are read.
    pub(super) fn name_locations(&mut self) {
        let Module {
            functions,
            sections,
            ..
        } = &mut self.module;
        let strings = sections.iter().find(|it| it.name == ".debug_str");
        let Some(strings) = strings.map(Strings::of) else {
            return;
        };
        for (function, wanted) in std::mem::take(&mut self.names.wanted) {
            let Some(body) = functions[function].body.as_mut() else {
                continue;
            };
            for (location, wanted) in body.locations.iter_mut().zip(wanted) {
                location.function = wanted.and_then(|(label, offset)| strings.name(label, offset));
            }
        }
    }
}
