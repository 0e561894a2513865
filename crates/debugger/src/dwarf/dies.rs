//! The entries of debugging information, and their attributes.

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, Dwarf, EndianSlice, LittleEndian, Operation,
    Unit, UnitOffset,
};

pub(super) type Bytes<'d> = EndianSlice<'d, LittleEndian>;

/// All entries of a module.
pub(super) struct Dies<'d> {
    pub(super) dwarf: Dwarf<Bytes<'d>>,
    pub(super) units: Vec<Unit<Bytes<'d>>>,
}

/// An entry, with the number of its unit.
pub(super) struct Die<'d> {
    pub(super) unit: usize,
    pub(super) entry: DebuggingInformationEntry<Bytes<'d>>,
}

/// Entries that an entry refers to for what it does not say itself, at most.
const MOST_ORIGINS: usize = 4;

impl<'d> Dies<'d> {
    pub(super) fn of(dwarf: Dwarf<Bytes<'d>>) -> Dies<'d> {
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            units.extend(dwarf.unit(header));
        }
        Dies { dwarf, units }
    }

    pub(super) fn at(&self, unit: usize, offset: UnitOffset) -> Option<Die<'d>> {
        let entry = self.units.get(unit)?.entry(offset).ok()?;
        Some(Die { unit, entry })
    }

    /// The entries below one, with their depths below it, as far as they can be read.
    pub(super) fn within(
        &self,
        unit: usize,
        offset: UnitOffset,
    ) -> impl Iterator<Item = (isize, Die<'d>)> {
        let cursor = self.units.get(unit);
        let mut cursor = cursor.and_then(|it| it.entries_at_offset(offset).ok());
        // The first is the entry itself.
        let first = cursor.as_mut().and_then(|it| it.next_dfs().ok().flatten());
        let top = first.map_or(0, DebuggingInformationEntry::depth);
        let next = move || {
            let entry = cursor.as_mut()?.next_dfs().ok()??.clone();
            let depth = entry.depth() - top;
            (depth > 0).then_some((depth, Die { unit, entry }))
        };
        std::iter::from_fn(next)
    }

    /// The entry that an attribute refers to.
    pub(super) fn referred(&self, die: &Die<'_>, at: DwAt) -> Option<(usize, UnitOffset)> {
        match die.entry.attr_value(at)? {
            AttributeValue::UnitRef(offset) => Some((die.unit, offset)),
            AttributeValue::DebugInfoRef(offset) => {
                let mut all = self.units.iter().enumerate();
                all.find_map(|(index, unit)| Some((index, offset.to_unit_offset(&unit.header)?)))
            }
            _ => None,
        }
    }

    /// The entry itself, and those that it refers to for what it does not say.
    fn with_origins<T>(&self, die: &Die<'d>, of: impl Fn(&Die<'d>) -> Option<T>) -> Option<T> {
        if let Some(found) = of(die) {
            return Some(found);
        }
        let mut origin = self.origin(die);
        for _ in 0..MOST_ORIGINS {
            let die = origin?;
            if let Some(found) = of(&die) {
                return Some(found);
            }
            origin = self.origin(&die);
        }
        None
    }

    fn origin(&self, die: &Die<'_>) -> Option<Die<'d>> {
        let of = |at| self.referred(die, at);
        let found = of(gimli::DW_AT_abstract_origin).or_else(|| of(gimli::DW_AT_specification));
        let (unit, offset) = found?;
        self.at(unit, offset)
    }

    /// The entry that has an attribute: this one, or one that it refers to.
    pub(super) fn owner(&self, die: &Die<'d>, at: DwAt) -> Option<Die<'d>> {
        self.with_origins(die, |it| {
            it.entry.attr(at)?;
            self.at(it.unit, it.entry.offset())
        })
    }

    /// The text of an attribute, of this entry or of one that it refers to.
    pub(super) fn text(&self, die: &Die<'d>, at: DwAt) -> Option<String> {
        self.with_origins(die, |it| {
            let value = it.entry.attr_value(at)?;
            let unit = self.units.get(it.unit)?;
            let text = self.dwarf.attr_string(unit, value).ok()?;
            Some(text.to_string_lossy().into_owned())
        })
    }

    pub(super) fn number(&self, die: &Die<'_>, at: DwAt) -> Option<u64> {
        // As it is written: gimli has types of its own for files, encodings and the like.
        let value = die.entry.attr_value_raw(at)?;
        value
            .udata_value()
            .or_else(|| value.sdata_value().map(|it| it as u64))
    }

    /// Where a member lies: a number, or DWARF 2's expression that adds it.
    pub(super) fn member_offset(&self, die: &Die<'_>) -> u64 {
        let at = gimli::DW_AT_data_member_location;
        let of_expression = || {
            let expression = die.entry.attr_value(at)?.exprloc_value()?;
            let encoding = self.units.get(die.unit)?.encoding();
            match Operation::parse(&mut expression.0.clone(), encoding).ok()? {
                Operation::PlusConstant { value } => Some(value),
                _ => None,
            }
        };
        let number = self.number(die, at).or_else(of_expression);
        number.unwrap_or(0)
    }
}
