//! The dotted parts of an instruction's name.

use super::{Fail, Result};
use crate::names::Modifier;
use crate::{Row, Type};

/// More parts than any instruction has.
const MOST: usize = 24;

/// `add.rn.f32`: each part is taken once, by whoever knows it; one that nobody takes is an error.
/// The order of parts counts only among those of one kind (`cvt.f32.s32`).
pub(crate) struct Opcode<'a> {
    pub(crate) name: &'a str,
    pub(super) begin: usize,
    parts: [&'a str; MOST],
    count: usize,
    /// One bit for each part that is not taken.
    left: u32,
    /// A part that must be there was not.
    lacks: bool,
    /// How many operands have been read.
    operands: u32,
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
            operands: 0,
        }
    }

    pub(crate) fn push(&mut self, part: &'a str) -> Result<()> {
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
    pub(crate) fn take<T>(&mut self, known: impl Fn(&'a str) -> Option<T>) -> Option<T> {
        let (index, value) = self
            .rest()
            .find_map(|(index, part)| Some((index, known(part)?)))?;
        self.left &= !(1 << index);
        Some(value)
    }

    /// The same; it must be there.
    pub(crate) fn want<T>(
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

    /// Takes a modifier, which must be there.
    pub(crate) fn want_modifier<T: Modifier>(&mut self) -> Result<T> {
        match self.take(T::of_name) {
            Some(value) => Ok(value),
            None => self.want(
                &T::KIND.map_or_else(|| one_of(T::NAMES), ToOwned::to_owned),
                T::of_name,
            ),
        }
    }

    /// Takes this part if it is there.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        self.take(|part| (part == name).then_some(())).is_some()
    }

    /// Takes this part, which must be there.
    pub(crate) fn need(&mut self, name: &str) -> Result<()> {
        self.lacks = !self.flag(name);
        if !self.lacks {
            return Ok(());
        }
        Err(self.error(&format!("`{}` lacks `.{name}`", self.name)))
    }

    /// Whether this part is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.rest().any(|(_, part)| part == name)
    }

    /// Whether it has this part, taken or not.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.parts[..self.count].contains(&name)
    }

    /// Whether all these parts are there.
    pub(crate) fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.has(name))
    }

    /// Takes these parts.
    pub(crate) fn take_all(&mut self, names: &[&str]) {
        for name in names {
            self.flag(name);
        }
    }

    /// Counts the operands before the next.
    pub(crate) const fn next_operand(&mut self) -> u32 {
        self.operands += 1;
        self.operands - 1
    }

    /// The next type.
    pub(crate) fn ty(&mut self) -> Result<Type> {
        self.want("a type", Type::from_name)
    }

    pub(crate) fn optional_type(&mut self) -> Option<Type> {
        self.take(Type::from_name)
    }

    /// The first type, which stays.
    pub(crate) fn peek_type(&self) -> Option<Type> {
        self.rest().find_map(|(_, part)| Type::from_name(part))
    }

    /// All that are left, in order.
    pub(crate) fn drain(&mut self) -> Vec<String> {
        let parts = self.rest().map(|(_, part)| part.to_owned()).collect();
        self.left = 0;
        parts
    }

    /// The error of an opcode that no row has: of those with its name, the one that it is nearest to says what it lacks.
    pub(crate) fn unknown(&mut self, rows: &[Row]) -> Box<Fail> {
        let lacking = |opcode: &&'static str| -> Option<Vec<&'static str>> {
            let mut parts = opcode.split('.');
            let is_same = parts.next() == Some(self.name);
            is_same.then(|| parts.filter(|part| !self.has(part)).collect())
        };
        let all = rows.iter().flat_map(|row| row.opcodes());
        let lacking: Vec<_> = all.filter_map(lacking).collect();
        let Some(parts) = lacking.into_iter().min_by_key(Vec::len) else {
            self.drain();
            return self.error(&format!("unknown instruction `{}`", self.name));
        };
        self.lacks = true;
        let parts: Vec<_> = parts.iter().map(|part| format!("`.{part}`")).collect();
        self.error(&format!("`{}` lacks {}", self.name, parts.join(" and ")))
    }

    pub(crate) fn error(&self, message: &str) -> Box<Fail> {
        Fail::at(self.begin, message)
    }

    /// An error if a part is left, unless there is a better one.
    pub(crate) fn finish(&self, source: &str) -> Result<()> {
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

/// These names, in words.
fn one_of(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`.{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
