//! The functions and the shared variables that a kernel reaches.

use std::collections::BTreeSet;

use ptx::{FunctionId, Operation, Space, Symbol, Variable};

/// A variable in shared memory: of the module, or of a function's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Shared {
    Module(u32),
    Body(u32, u32),
}

impl Shared {
    pub(crate) fn of(self, module: &ptx::Module) -> &Variable {
        match self {
            Shared::Module(index) => &module.variables[index as usize],
            Shared::Body(function, index) => {
                let body = module.functions[function as usize].body.as_ref();
                &body.expect("it names a variable").variables[index as usize]
            }
        }
    }
}

/// The shared variables that a kernel and the functions that it may call name, in order.
pub(crate) fn shared_variables(module: &ptx::Module, kernel: u32) -> Vec<Shared> {
    let mut names = BTreeSet::new();
    let mut seen = BTreeSet::from([kernel]);
    let mut left = vec![kernel];
    while let Some(function) = left.pop() {
        let Some(body) = &module.functions[function as usize].body else {
            continue;
        };
        for (index, variable) in body.variables.iter().enumerate() {
            if variable.space == Space::Shared {
                names.insert(Shared::Body(function, index as u32));
            }
        }
        let mut symbol = |symbol| match symbol {
            Symbol::Module(index) if module.variables[index as usize].space == Space::Shared => {
                names.insert(Shared::Module(index));
            }
            Symbol::Function(function) if seen.insert(function.0) => left.push(function.0),
            _ => {}
        };
        for instruction in &body.instructions {
            instruction.visit_symbols(&mut symbol);
            if let Operation::Call(call) = &instruction.operation
                && matches!(call.callee, ptx::Callee::Indirect { .. })
            {
                // Any function whose address a first value has.
                taken(module).into_iter().for_each(&mut symbol);
            }
        }
    }
    names.into_iter().collect()
}

/// A kernel and the functions that it may call.
pub(crate) fn reached(module: &ptx::Module, kernel: u32) -> BTreeSet<u32> {
    let mut seen = BTreeSet::from([kernel]);
    let mut left = vec![kernel];
    while let Some(function) = left.pop() {
        let body = module.functions[function as usize].body.as_ref();
        let mut symbol = |symbol| match symbol {
            Symbol::Function(FunctionId(it))
                if module.functions[it as usize].body.is_some() && seen.insert(it) =>
            {
                left.push(it);
            }
            _ => {}
        };
        for instruction in body.into_iter().flat_map(|it| &it.instructions) {
            instruction.visit_symbols(&mut symbol);
        }
        taken(module).into_iter().for_each(symbol);
    }
    seen
}

/// The functions whose addresses initial values have.
fn taken(module: &ptx::Module) -> Vec<Symbol> {
    let initials = module.variables.iter().filter_map(|it| it.initial.as_ref());
    let symbols = initials.flat_map(|it| &it.relocations).map(|it| it.symbol);
    symbols
        .filter(|it| matches!(it, Symbol::Function(_)))
        .collect()
}
