//! The dotted parts of an instruction's name.

use super::{Fail, Result};
use crate::Type;

/// More parts than any instruction has.
const MOST: usize = 24;

/// `add.rn.f32`: each part is taken once, by whoever knows it; one that nobody takes is an error.
/// The order of parts counts only among those of one kind (`cvt.f32.s32`).
pub(super) struct Opcode<'a> {
    pub(super) name: &'a str,
    pub(super) begin: usize,
    parts: [&'a str; MOST],
    count: usize,
    /// One bit for each part that is not taken.
    left: u32,
    /// A part that must be there was not.
    lacks: bool,
}

impl<'a> Opcode<'a> {
    pub(super) const fn new(name: &'a str, begin: usize) -> Self {
        Self {
            name,
            begin,
            parts: [""; MOST],
            count: 0,
            left: 0,
            lacks: false,
        }
    }

    pub(super) fn push(&mut self, part: &'a str) -> Result<()> {
        if self.count == MOST {
            return Err(self.error("more modifiers than an instruction has"));
        }
        self.parts[self.count] = part;
        self.left |= 1 << self.count;
        self.count += 1;
        Ok(())
    }

    /// The parts that are left.
    fn rest(&self) -> impl Iterator<Item = (usize, &'a str)> + use<'a> {
        let (parts, left) = (self.parts, self.left);
        (0..self.count)
            .filter(move |index| left & (1 << index) != 0)
            .map(move |index| (index, parts[index]))
    }

    /// Takes the first part that `known` knows.
    pub(super) fn take<T>(&mut self, known: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let (index, value) = self
            .rest()
            .find_map(|(index, part)| Some((index, known(part)?)))?;
        self.left &= !(1 << index);
        Some(value)
    }

    /// The same; it must be there.
    pub(super) fn want<T>(
        &mut self,
        what: &str,
        known: impl Fn(&'a str) -> Option<T>,
    ) -> Result<T> {
        if let Some(value) = self.take(known) {
            return Ok(value);
        }
        self.lacks = true;
        let meant = self
            .rest()
            .find(|(_, part)| Type::from_name(part).is_none());
        let meant = meant.map_or(String::new(), |(_, part)| {
            format!(", and `.{part}` is none")
        });
        Err(self.error(&format!("`{}` lacks {what}{meant}", self.name)))
    }

    /// Takes this part if it is there.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.take(|part| (part == name).then_some(())).is_some()
    }

    /// Takes this part, which must be there.
    pub(super) fn need(&mut self, name: &str) -> Result<()> {
        self.lacks = !self.flag(name);
        if !self.lacks {
            return Ok(());
        }
        Err(self.error(&format!("`{}` lacks `.{name}`", self.name)))
    }

    /// Whether this part is there.
    pub(super) fn has(&self, name: &str) -> bool {
        self.rest().any(|(_, part)| part == name)
    }

    /// The next type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        self.want("a type", Type::from_name)
    }

    pub(super) fn optional_type(&mut self) -> Option<Type> {
        self.take(Type::from_name)
    }

    /// The first type, which stays.
    pub(super) fn peek_type(&self) -> Option<Type> {
        self.rest().find_map(|(_, part)| Type::from_name(part))
    }

    /// All that are left, in order.
    pub(super) fn drain(&mut self) -> Vec<String> {
        let parts = self.rest().map(|(_, part)| part.to_owned()).collect();
        self.left = 0;
        parts
    }

    pub(super) fn error(&self, message: &str) -> Box<Fail> {
        Fail::at(self.begin, message)
    }

    /// An error if a part is left, unless there is a better one.
    pub(super) fn finish(&self, source: &str) -> Result<()> {
        if self.left == 0 || self.lacks {
            return Ok(());
        }
        match self.rest().next() {
            None => Ok(()),
            Some((_, part)) => {
                let offset = part.as_ptr() as usize - source.as_ptr() as usize;
                Err(Fail::at(
                    offset,
                    format!("unknown modifier `.{part}` of `{}`", self.name),
                ))
            }
        }
    }
}
