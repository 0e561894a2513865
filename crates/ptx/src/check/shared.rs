//! Shared memory that kernels declare.

use std::collections::HashSet;

use crate::{ArchFeatures, Function, FunctionKind, Module, ParseError, Space, Symbol, Variable};

/// Bytes of shared memory that a block has without asking for more at launch.
const MAX: u64 = 48 << 10;

/// Kernels that name more than a block has, themselves or by the functions that they call. Code for one architecture
/// alone may have as much as that has, which is not known here.
pub(super) fn check(module: &Module, source: &str, found: &mut Vec<ParseError>) {
    if module.target.features == ArchFeatures::Architecture || !declares_much(module) {
        return;
    }
    let kernels = module
        .functions
        .iter()
        .filter(|it| it.kind == FunctionKind::Entry);
    for kernel in kernels {
        let bytes = Reached::from(module, kernel).bytes();
        if bytes > MAX {
            let name = &kernel.name;
            let message = format!(
                "the kernel `{name}` has {bytes} bytes of static shared memory; a block has {MAX}, and more as dynamic \
                 shared memory alone"
            );
            found.push(ParseError::in_line(source, kernel.line, message));
        }
    }
}

/// Whether all of it together is more than a block has: if not, no kernel's part is.
fn declares_much(module: &Module) -> bool {
    let bodies = module.functions.iter().filter_map(|it| it.body.as_ref());
    let of_bodies = bodies.flat_map(|body| &body.variables);
    sum(module.variables.iter().chain(of_bodies)) > MAX
}

fn sum<'m>(variables: impl Iterator<Item = &'m Variable>) -> u64 {
    variables
        .filter(|it| it.space == Space::Shared)
        .fold(0, |sum, it| sum.saturating_add(it.bytes))
}

/// Functions and shared variables that a kernel names.
struct Reached<'m> {
    module: &'m Module,
    functions: HashSet<u32>,
    variables: HashSet<u32>,
    /// Bytes that bodies declare.
    local: u64,
}

impl<'m> Reached<'m> {
    fn from(module: &'m Module, kernel: &'m Function) -> Self {
        let mut reached = Self {
            module,
            functions: HashSet::new(),
            variables: HashSet::new(),
            local: 0,
        };
        let mut open = vec![kernel];
        while let Some(function) = open.pop() {
            reached.visit(function, &mut open);
        }
        reached
    }

    fn visit(&mut self, function: &'m Function, open: &mut Vec<&'m Function>) {
        let Some(body) = &function.body else {
            return;
        };
        self.local = self.local.saturating_add(sum(body.variables.iter()));
        for instruction in &body.instructions {
            instruction.visit_symbols(|symbol| match symbol {
                Symbol::Module(index) => {
                    self.variables.insert(index);
                }
                Symbol::Function(id) if self.functions.insert(id.0) => {
                    open.extend(self.module.functions.get(id.0 as usize));
                }
                _ => {}
            });
        }
    }

    fn bytes(&self) -> u64 {
        let named = self
            .variables
            .iter()
            .filter_map(|&index| self.module.variables.get(index as usize));
        self.local.saturating_add(sum(named))
    }
}
