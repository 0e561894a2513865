//! The functions that do nothing but panic.

use std::collections::{BTreeMap, HashSet};

use super::RECORD;
use crate::ptx::body::Body;
use crate::ptx::calls::Calls;
use crate::ptx::instruction::Instruction;
use crate::ptx::parse::{Function, Kind, Module};

/// A function that leads to the record and from which nothing returns.
pub(super) struct Panic<'m, 't> {
    pub(super) number: usize,
    pub(super) function: &'m Function<'t>,
    pub(super) body: &'m Body<'t>,
    /// By number, the width of each parameter that it reads.
    pub(super) parameters: BTreeMap<usize, &'t str>,
}

impl Panic<'_, '_> {
    pub(super) fn label(&self) -> String {
        format!("$ptxstd_panic_{}", self.number)
    }

    pub(super) fn register(&self, parameter: usize) -> String {
        format!("%ptxstd_panic_{}_{parameter}", self.number)
    }
}

/// The functions of the module that can be put into others, by name. `parsed` is of the same text.
pub(super) fn panics<'m, 't>(
    module: &'m Module<'t>,
    parsed: &::ptx::Module,
) -> BTreeMap<&'t str, Panic<'m, 't>> {
    let calls = Calls::new(parsed);
    let never_returning = calls.never_returning(parsed);
    let mut panics: BTreeMap<&'t str, Panic<'m, 't>> = BTreeMap::new();
    for (number, function) in module.functions.iter().enumerate() {
        if let Some(body) = &function.body
            && never_returning.contains(function.name)
            && let Some(parameters) = plain_parameters(function)
        {
            let panic = Panic {
                number,
                function,
                body,
                parameters,
            };
            panics.insert(function.name, panic);
        }
    }
    // A function that calls another stays one.
    loop {
        let fits = |panic: &Panic<'_, '_>| {
            let mut instructions = panic.body.instructions.iter();
            instructions.all(|one| match one.callee() {
                Some(callee) => callee != panic.function.name && panics.contains_key(callee),
                None => true,
            })
        };
        let Some(other) = panics.values().find(|panic| !fits(panic)) else {
            break;
        };
        let name = other.function.name;
        panics.remove(name);
    }
    let records = recording(&panics);
    panics.retain(|name, _| records.contains(name));
    panics
}

/// The parameters that the function reads, if it does no more with them and each is a register wide.
fn plain_parameters<'t>(function: &Function<'t>) -> Option<BTreeMap<usize, &'t str>> {
    let body = function.body.as_ref()?;
    let returns = function.linkage.contains('(');
    if function.kind == Kind::Entry || returns || body.frame.is_some() {
        return None;
    }
    let mut parameters = BTreeMap::new();
    for instruction in &body.instructions {
        let mut sources = instruction.sources().into_iter();
        if sources.any(|name| function.has_parameter(name)) {
            let (number, width) = parameter_read(function, instruction)?;
            parameters.insert(number, width);
        }
    }
    Some(parameters)
}

/// The number and the width of the parameter that the instruction loads.
pub(super) fn parameter_read<'t>(
    function: &Function<'t>,
    instruction: &Instruction<'t>,
) -> Option<(usize, &'t str)> {
    let width = instruction.opcode.strip_prefix("ld.param.")?;
    let name = instruction
        .operands
        .get(1)?
        .strip_prefix('[')?
        .strip_suffix(']')?;
    let number = function.parameters.iter().position(|parameter| {
        let declared = parameter.split_whitespace().last();
        declared == Some(name)
    })?;
    matches!(width, "b32" | "b64").then_some((number, width))
}

/// Of the functions, those that lead to the record.
fn recording<'t>(panics: &BTreeMap<&'t str, Panic<'_, 't>>) -> HashSet<&'t str> {
    let mut recording = HashSet::new();
    loop {
        let before = recording.len();
        for (&name, panic) in panics {
            let leads = panic.body.instructions.iter().any(|one| {
                let mut sources = one.sources().into_iter();
                sources.any(|source| source == RECORD || recording.contains(source))
            });
            if leads {
                recording.insert(name);
            }
        }
        if recording.len() == before {
            return recording;
        }
    }
}
