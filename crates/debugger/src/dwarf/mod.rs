//! Debugging information: the variables of the source, where they are, and what they are.
//!
//! It is DWARF, which PTX has as numbers and names of its own labels, variables and registers. All of it is read once per module
//! and kept as what it means; what cannot be read is left out.

mod dies;
mod location;
mod scopes;
mod symbols;
#[cfg(test)]
mod tests;
mod types;

use std::borrow::Cow;
use std::collections::HashMap;

use engine::debug::Site;
use gimli::{Dwarf, EndianSlice, LittleEndian, SectionId};
use ptx::Module;

pub(crate) use location::{Held, Machine};
use scopes::Scope;
pub(crate) use scopes::Variable;
use symbols::{Symbols, address_of, function_of};
pub(crate) use types::{Kind, Member, TypeId, Types};

/// The debugging information of a module.
#[derive(Default)]
pub(crate) struct Information {
    symbols: Option<Symbols>,
    scopes: Vec<Scope>,
    /// The scopes of each function, by its number in the module.
    of_functions: HashMap<u32, Vec<usize>>,
    globals: Vec<Variable>,
    pub(crate) types: Types,
}

/// A `.debug_line` of DWARF 2 without a line. PTX has `.loc` in its place, and what refers to it needs one.
const NO_LINES: [u8; 17] = [13, 0, 0, 0, 2, 0, 7, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0];

/// A function, inlined or not, that an instruction stands in.
pub(crate) struct Level<'i> {
    /// Its name.
    pub(crate) function: &'i str,
    /// Where it was inlined: file, line and column.
    pub(crate) call: Option<[u32; 3]>,
    /// Its innermost block there.
    pub(crate) scope: usize,
}

impl Information {
    /// That of a module; empty where there is none.
    pub(crate) fn of(module: &Module) -> Information {
        if module.section(".debug_info").is_none() {
            return Information::default();
        }
        let symbols = Symbols::of(module);
        let bytes = |id: SectionId| match (module.section(id.name()), id) {
            (Some(section), _) => symbols.bytes(section),
            (None, SectionId::DebugLine) => Cow::Borrowed(&NO_LINES[..]),
            (None, _) => Cow::Borrowed(&[][..]),
        };
        let sections = gimli::DwarfSections::load(|id| Ok::<_, ()>(bytes(id))).unwrap_or_default();
        let dwarf: Dwarf<_> = sections.borrow(|it| EndianSlice::new(it, LittleEndian));
        let dies = dies::Dies::of(dwarf);
        let mut types = types::TypeReader::new(&dies);
        let (scopes, globals) = scopes::scopes(&dies, &mut types);
        let types = types.end();
        let mut of_functions: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, scope) in scopes.iter().enumerate() {
            let function = scope.ranges.first().and_then(|it| function_of(it.start));
            if let Some(function) = function {
                of_functions.entry(function).or_default().push(index);
            }
        }
        Information {
            symbols: Some(symbols),
            scopes,
            of_functions,
            globals,
            types,
        }
    }

    /// The functions that an instruction stands in, the innermost first.
    pub(crate) fn levels(&self, site: Site) -> Vec<Level<'_>> {
        let address = address_of(site);
        let of_function = self.of_functions.get(&site.function);
        let of_function = of_function.map_or(&[][..], Vec::as_slice).iter();
        // Each scope stands behind those around it.
        let innermost = of_function
            .rev()
            .find(|&&it| self.scopes[it].holds(address));
        let mut levels = Vec::new();
        let mut within = None;
        let mut at = innermost.copied();
        while let Some(index) = at {
            let scope = &self.scopes[index];
            let block = *within.get_or_insert(index);
            if let Some(function) = &scope.function {
                levels.push(Level {
                    function: &function.name,
                    call: function.call,
                    scope: block,
                });
                within = None;
            }
            at = scope.parent;
        }
        levels
    }

    /// The variables of a function that are seen in one of its blocks, the innermost first.
    pub(crate) fn variables(&self, scope: usize) -> impl Iterator<Item = &Variable> {
        let next = |&index: &usize| {
            let scope = &self.scopes[index];
            scope.parent.filter(|_| scope.function.is_none())
        };
        let around = std::iter::successors(Some(scope), next);
        around.flat_map(|index| self.scopes[index].variables.iter().rev())
    }

    /// A variable outside of all functions.
    pub(crate) fn global(&self, name: &str) -> Option<&Variable> {
        self.globals.iter().find(|it| it.name == name)
    }

    /// Where the value of a variable is at an instruction; none where it is optimized out.
    pub(crate) fn held(
        &self,
        variable: &Variable,
        site: Site,
        machine: &dyn Machine,
    ) -> Option<Held> {
        let address = address_of(site);
        let is_here = |code: &std::ops::Range<u64>| code.contains(&address);
        let mut places = variable.places.iter();
        let place = places.find(|it| it.code.as_ref().is_none_or(is_here));
        let symbols = self.symbols.as_ref()?;
        let held = place.and_then(|it| location::evaluate(&it.expression, symbols, machine));
        held.or_else(|| {
            let bytes = variable.constant?.to_le_bytes();
            Some(Held::Bytes(bytes.map(Some).to_vec()))
        })
    }
}
