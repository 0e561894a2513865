//! Functions, blocks and their variables.

use std::ops::Range;

use gimli::AttributeValue;

use super::dies::{Die, Dies};
use super::types::{TypeId, TypeReader};

/// A function, an inlined one, or a block.
pub(crate) struct Scope {
    /// The one around it; none for a function.
    pub(crate) parent: Option<usize>,
    /// Its code.
    pub(crate) ranges: Vec<Range<u64>>,
    pub(crate) function: Option<Function>,
    pub(crate) variables: Vec<Variable>,
}

/// The function that a scope is of.
pub(crate) struct Function {
    /// Its name: that of the linker, where there is one.
    pub(crate) name: String,
    /// Where it was inlined: file, line and column.
    pub(crate) call: Option<[u32; 3]>,
}

/// A variable of the source.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: TypeId,
    pub(crate) places: Vec<Place>,
    /// The value of one that is nowhere because it is always the same.
    pub(crate) constant: Option<u64>,
}

/// Where a variable is.
pub(crate) struct Place {
    /// In which code; none: wherever it is seen.
    pub(crate) code: Option<Range<u64>>,
    /// An expression of DWARF.
    pub(crate) expression: Vec<u8>,
}

impl Scope {
    pub(crate) fn holds(&self, address: u64) -> bool {
        self.ranges.iter().any(|it| it.contains(&address))
    }
}

/// The scopes that have code, each behind those around it, and the variables outside of all.
pub(super) fn scopes<'d>(
    dies: &Dies<'d>,
    types: &mut TypeReader<'_, 'd>,
) -> (Vec<Scope>, Vec<Variable>) {
    let (mut scopes, mut globals) = (Vec::<Scope>::new(), Vec::new());
    for (unit, own) in dies.units.iter().enumerate() {
        // The functions and blocks that the entry is in, with their depths; none: without code.
        let mut open: Vec<(isize, Option<usize>)> = Vec::new();
        let mut cursor = own.entries();
        while let Ok(Some(entry)) = cursor.next_dfs() {
            let (depth, entry) = (entry.depth(), entry.clone());
            open.retain(|it| it.0 < depth);
            let die = Die { unit, entry };
            let around = open.last().map(|it| it.1);
            match die.entry.tag() {
                gimli::DW_TAG_subprogram
                | gimli::DW_TAG_inlined_subroutine
                | gimli::DW_TAG_lexical_block => {
                    let is_own = die.entry.tag() == gimli::DW_TAG_subprogram;
                    let parent = if is_own { None } else { around.flatten() };
                    let scope = scope(dies, &die, parent);
                    let has_code = !scope.ranges.is_empty() && (is_own || parent.is_some());
                    open.push((depth, has_code.then_some(scopes.len())));
                    scopes.extend(has_code.then_some(scope));
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let into = match around {
                        None => &mut globals,
                        Some(Some(scope)) => &mut scopes[scope].variables,
                        Some(None) => continue,
                    };
                    into.extend(variable(dies, types, &die));
                }
                _ => {}
            }
        }
    }
    (scopes, globals)
}

fn scope<'d>(dies: &Dies<'d>, die: &Die<'d>, parent: Option<usize>) -> Scope {
    let mut ranges = Vec::new();
    if let Ok(mut all) = dies.dwarf.die_ranges(&dies.units[die.unit], &die.entry) {
        while let Ok(Some(it)) = all.next() {
            ranges.push(it.begin..it.end);
        }
    }
    let number = |at| dies.number(die, at).and_then(|it| u32::try_from(it).ok());
    let call = || {
        Some([
            number(gimli::DW_AT_call_file)?,
            number(gimli::DW_AT_call_line)?,
            number(gimli::DW_AT_call_column).unwrap_or(0),
        ])
    };
    let function = || {
        let text = |at| dies.text(die, at);
        let linked = text(gimli::DW_AT_linkage_name);
        let linked = linked.or_else(|| text(gimli::DW_AT_MIPS_linkage_name));
        Function {
            name: linked
                .or_else(|| text(gimli::DW_AT_name))
                .unwrap_or_default(),
            call: call(),
        }
    };
    let is_function = die.entry.tag() != gimli::DW_TAG_lexical_block;
    Scope {
        parent,
        ranges,
        function: is_function.then(function),
        variables: Vec::new(),
    }
}

fn variable<'d>(
    dies: &Dies<'d>,
    types: &mut TypeReader<'_, 'd>,
    die: &Die<'d>,
) -> Option<Variable> {
    let name = dies
        .text(die, gimli::DW_AT_name)
        .filter(|it| !it.is_empty())?;
    let ty = dies.owner(die, gimli::DW_AT_type)?;
    let constant = dies.owner(die, gimli::DW_AT_const_value);
    let constant = constant.and_then(|it| dies.number(&it, gimli::DW_AT_const_value));
    Some(Variable {
        name,
        ty: types.of(&ty)?,
        places: places(dies, die).unwrap_or_default(),
        constant,
    })
}

fn places(dies: &Dies<'_>, die: &Die<'_>) -> Option<Vec<Place>> {
    let value = die.entry.attr_value(gimli::DW_AT_location)?;
    if let AttributeValue::Exprloc(_) | AttributeValue::Block(_) = value {
        let expression = value.exprloc_value()?.0.slice().to_vec();
        return Some(vec![Place {
            code: None,
            expression,
        }]);
    }
    let unit = &dies.units[die.unit];
    let mut list = dies.dwarf.attr_locations(unit, value).ok()??;
    let mut places = Vec::new();
    while let Ok(Some(it)) = list.next() {
        places.push(Place {
            code: Some(it.range.begin..it.range.end),
            expression: it.data.0.slice().to_vec(),
        });
    }
    Some(places)
}
