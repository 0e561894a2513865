//! The functions that do nothing but panic.

use std::collections::{BTreeMap, HashSet};

use ::ptx::{Base, Instruction, Ld, Operation, Space, Symbol, Type};

use super::RECORD;
use crate::ptx::calls::{Calls, callee};
use crate::ptx::source::{Definition, Source};

/// The functions that can be put into others, by name.
pub(super) type Panics<'s> = BTreeMap<&'s str, Panic<'s>>;

/// A function that leads to the record and from which nothing returns.
pub(super) struct Panic<'s> {
    pub(super) definition: Definition<'s>,
    /// By number, the type of each parameter that it reads.
    pub(super) parameters: BTreeMap<u32, Type>,
}

impl<'s> Panic<'s> {
    pub(super) fn name(&self) -> &'s str {
        &self.definition.function.name
    }

    pub(super) fn label(&self) -> String {
        format!("$ptxstd_panic_{}", self.definition.number)
    }

    pub(super) fn register(&self, parameter: u32) -> String {
        format!("%ptxstd_panic_{}_{parameter}", self.definition.number)
    }
}

/// The functions of the module that can be put into others.
pub(super) fn panics<'s>(source: &'s Source<'_>) -> Panics<'s> {
    let never_returning = Calls::new(&source.module).never_returning(&source.module);
    let mut panics: Panics<'s> = source
        .definitions()
        .filter(|definition| never_returning.contains(definition.function.name.as_str()))
        .filter_map(|definition| {
            let parameters = plain_parameters(definition)?;
            let panic = Panic {
                definition,
                parameters,
            };
            Some((panic.name(), panic))
        })
        .collect();
    // A function that calls another stays one.
    loop {
        let fits = |panic: &Panic<'_>| {
            let mut instructions = panic.definition.body.instructions.iter();
            instructions.all(|one| match one.operation {
                Operation::Call(_) => called(source, one)
                    .is_some_and(|callee| callee != panic.name() && panics.contains_key(callee)),
                _ => true,
            })
        };
        let Some(other) = panics.values().find(|panic| !fits(panic)) else {
            break;
        };
        let name = other.name();
        panics.remove(name);
    }
    let records = recording(source, &panics);
    panics.retain(|name, _| records.contains(name));
    panics
}

/// The function that an instruction calls in any case.
pub(super) fn called<'s>(source: &'s Source<'_>, instruction: &Instruction) -> Option<&'s str> {
    let callee = callee(instruction).filter(|_| instruction.guard.is_none())?;
    Some(&source.module.functions[callee].name)
}

/// The parameters that the function reads, if it does no more with them and each is a register wide.
fn plain_parameters(definition: Definition<'_>) -> Option<BTreeMap<u32, Type>> {
    let Definition { function, body, .. } = definition;
    let is_entry = function.kind == ::ptx::FunctionKind::Entry;
    if is_entry || !function.returns.is_empty() {
        return None;
    }
    let mut parameters = BTreeMap::new();
    for instruction in &body.instructions {
        let mut named = false;
        instruction.visit_symbols(|symbol| named |= matches!(symbol, Symbol::Parameter(_)));
        if named {
            let (number, width) = parameter_read(instruction)?;
            parameters.insert(number, width);
        }
    }
    Some(parameters)
}

/// The number and the type of the parameter that the instruction loads into a register.
pub(super) fn parameter_read(instruction: &Instruction) -> Option<(u32, Type)> {
    let Operation::Ld(load) = &instruction.operation else {
        return None;
    };
    let Ld { space, ty, d, .. } = &**load;
    let Base::Symbol(Symbol::Parameter(number)) = load.address.base else {
        return None;
    };
    let is_whole = load.address.offset == 0 && d.len() == 1 && instruction.guard.is_none();
    let is_register_wide = matches!(ty, Type::B32 | Type::B64);
    (*space == Space::Param && is_whole && is_register_wide).then_some((number, *ty))
}

/// Of the functions, those that lead to the record.
fn recording<'s>(source: &'s Source<'_>, panics: &Panics<'s>) -> HashSet<&'s str> {
    let mut recording = HashSet::new();
    loop {
        let before = recording.len();
        for (&name, panic) in panics {
            let mut leads = false;
            for instruction in &panic.definition.body.instructions {
                instruction.visit_symbols(|symbol| {
                    let name = source.name(symbol).unwrap_or_default();
                    leads |= name == RECORD || recording.contains(name);
                });
            }
            if leads {
                recording.insert(name);
            }
        }
        if recording.len() == before {
            return recording;
        }
    }
}
