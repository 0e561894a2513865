//! A kernel of a module, and the functions that it calls.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use ptx::{Function, Operation, Space, Symbol, Variable};

use super::{Loaded, SHARED_GAP};
use crate::check::Verb;
use crate::count::{BlockEnd, Listing};
use crate::exec::code::Functions;
use crate::exec::parameter_bounds::{ParameterBounds, parameter_bounds};
use crate::exec::program::{Program, Then};
use crate::exec::unlowered::Unlowered;
use crate::lower::{self, Layout, PANIC_RECORD};
use crate::memory::{self, Label, Memory};
use crate::reach::{Shared, reached, shared_variables};
use crate::source;

/// A kernel and the functions that it calls.
#[derive(Debug)]
pub(crate) struct Code {
    loaded: Arc<Loaded>,
    kernel: u32,
    /// The shared variables that they name, and where they lie.
    pub(crate) shared: Vec<memory::Variable>,
    offsets: HashMap<Shared, u32>,
    /// The alignment of dynamic shared memory: its offset is a multiple of this.
    dynamic_alignment: u32,
    /// Where the kernel's parameters lie.
    pub(crate) parameters: Vec<ParameterBounds>,
    /// Whether its module has instructions on clusters.
    pub(crate) needs_clusters: bool,
    /// Whether its module reads where a cooperative grid's workspace is.
    pub(crate) asks_for_workspace: bool,
    programs: Vec<OnceLock<Result<Arc<Program>, Unlowered>>>,
    /// The variables of the module that they name, found when a debugger asks first.
    named: OnceLock<BTreeSet<u32>>,
}

impl Code {
    pub(super) fn new(loaded: &Arc<Loaded>, kernel: u32) -> Code {
        let mut code = Code {
            loaded: Arc::clone(loaded),
            kernel,
            shared: Vec::new(),
            offsets: HashMap::new(),
            dynamic_alignment: 1,
            parameters: parameter_bounds(&loaded.parsed.ptx.functions[kernel as usize]),
            needs_clusters: lower::cluster::needs_clusters(&loaded.parsed.ptx),
            asks_for_workspace: loaded.parsed.text.contains("%envreg"),
            programs: loaded
                .parsed
                .ptx
                .functions
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
            named: OnceLock::new(),
        };
        let mut end = 0;
        let mut dynamic = Vec::new();
        for shared in shared_variables(&loaded.parsed.ptx, kernel) {
            let variable = shared.of(&loaded.parsed.ptx);
            if variable.bytes == 0 {
                dynamic.push(shared);
                code.dynamic_alignment = code.dynamic_alignment.max(variable.alignment);
                continue;
            }
            let bytes = variable.bytes as u32;
            let offset = u32::next_multiple_of(end, variable.alignment.max(1));
            end = offset + bytes + SHARED_GAP;
            code.offsets.insert(shared, offset);
            code.shared.push(memory::Variable {
                label: Label::new(&name_of_shared(&variable.name), variable.ty.bytes()),
                bytes,
                alignment: variable.alignment,
            });
        }
        let layout = code.layout(0);
        code.offsets
            .extend(dynamic.into_iter().map(|it| (it, layout.dynamic())));
        code
    }

    /// Where shared variables lie, with so many bytes behind them that a launch asks for.
    pub(crate) fn layout(&self, dynamic: u32) -> memory::Shared {
        memory::Shared::aligned(&self.shared, dynamic, SHARED_GAP, self.dynamic_alignment)
    }

    /// The shared variables that they name, with their offsets; the dynamic ones have no bytes.
    pub(crate) fn shared_places(&self) -> impl Iterator<Item = (&ptx::Variable, u32)> {
        let mut all: Vec<_> = self.offsets.iter().collect();
        all.sort_by_key(|&(_, offset)| *offset);
        all.into_iter()
            .map(|(shared, offset)| (shared.of(&self.loaded.parsed.ptx), *offset))
    }

    /// The variables of the module that have addresses and that they name.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (&ptx::Variable, u64)> {
        let module = &self.loaded.parsed.ptx;
        let named = self.named.get_or_init(|| named(module, self.kernel));
        named.iter().filter_map(|&index| {
            let address = self.loaded.addresses[index as usize]?;
            Some((&module.variables[index as usize], address))
        })
    }

    /// Bytes of the parameters of a launch.
    pub(crate) fn parameter_bytes(&self) -> u32 {
        self.parameters.last().map_or(0, |it| it.offset + it.bytes)
    }

    pub(crate) fn function(&self) -> &Function {
        &self.loaded.parsed.ptx.functions[self.kernel as usize]
    }

    /// The kernel's number in the module.
    pub(crate) fn index(&self) -> u32 {
        self.kernel
    }

    /// The module's number, of all of the process.
    pub(crate) fn number(&self) -> u32 {
        self.loaded.number
    }

    /// Returns an instruction's access to memory: its verb, and the bytes of an element.
    pub(crate) fn access_of(&self, (function, index): (u32, u32)) -> Option<(Verb, u32)> {
        let body = self
            .loaded
            .parsed
            .ptx
            .functions
            .get(function as usize)?
            .body
            .as_ref()?;
        Some(match &body.instructions.get(index as usize)?.operation {
            Operation::Ld(it) => (Verb::Read, it.ty.bytes()),
            Operation::Ldu(it) => (Verb::Read, it.ty.bytes()),
            Operation::St(it) => (Verb::Write, it.ty.bytes()),
            Operation::Atom(it) => (Verb::Atomic, it.ty.bytes()),
            Operation::Red(it) => (Verb::Atomic, it.ty.bytes()),
            Operation::CpAsync(it) => (Verb::Copy, it.size),
            Operation::Ldmatrix(_) => (Verb::Read, 16),
            Operation::Stmatrix(_) => (Verb::Write, 16),
            _ => return None,
        })
    }

    /// The number of a function.
    pub(crate) fn function_of(&self, name: &str) -> Option<u32> {
        let mut functions = self.loaded.parsed.ptx.functions.iter();
        functions
            .position(|it| it.name == name)
            .map(|index| index as u32)
    }

    /// The module's own panic record; 0 where it has none.
    pub(crate) fn panic_record(&self) -> u64 {
        let mut variables = self.loaded.parsed.ptx.variables.iter();
        let index = variables.position(|it| it.name == PANIC_RECORD);
        index.and_then(|it| self.loaded.addresses[it]).unwrap_or(0)
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.loaded.memory
    }

    /// The program of the kernel.
    pub(crate) fn kernel(&self) -> Result<Arc<Program>, Unlowered> {
        self.program(self.kernel)
    }

    /// Returns the part of the module that lowering needs.
    pub(crate) fn lowering(&self) -> Layout<'_> {
        Layout {
            module: &self.loaded.parsed.ptx,
            text: &self.loaded.parsed.text,
            addresses: &self.loaded.addresses,
            offsets: &self.offsets,
            is_stepped: self.loaded.is_stepped,
        }
    }
}

impl Functions for Code {
    /// The program of a function, made when it is first asked for.
    fn program(&self, function: u32) -> Result<Arc<Program>, Unlowered> {
        let made = self.programs[function as usize]
            .get_or_init(|| lower::lower(&self.lowering(), function).map(Arc::new));
        made.clone()
    }

    fn has_body(&self, function: u32) -> bool {
        let function = self.loaded.parsed.ptx.functions.get(function as usize);
        function.is_some_and(|it| it.body.is_some())
    }

    /// Where an instruction of a function is from: file and line, or the line of the PTX, and how the kernel came
    /// there.
    fn place_in(&self, function: u32, index: u32) -> String {
        let kernel = Some(self.kernel);
        self.loaded.parsed.place_in(function, index, kernel)
    }
}

impl Listing for Code {
    fn name(&self) -> &str {
        &self.function().name
    }

    fn ptx(&self) -> &ptx::Module {
        &self.loaded.parsed.ptx
    }

    fn text(&self) -> &str {
        &self.loaded.parsed.text
    }

    fn each_block(&self, function: u32, block: &mut dyn FnMut(Range<u32>, BlockEnd)) {
        let program = self.program(function).expect("it has run");
        for it in &program.blocks {
            let end = match it.then {
                Then::Branch { .. } => BlockEnd::Branch,
                Then::Switch { .. } => BlockEnd::Switch,
                _ => BlockEnd::Other,
            };
            block(it.issues.clone(), end);
        }
    }

    fn memory(&self) -> &Memory {
        self.memory()
    }
}

/// The variables of a module that a kernel and the functions that it reaches name.
fn named(module: &ptx::Module, kernel: u32) -> BTreeSet<u32> {
    let mut named = BTreeSet::new();
    let functions = reached(module, kernel).into_iter();
    let bodies = functions.filter_map(|it| module.functions[it as usize].body.as_ref());
    for instruction in bodies.flat_map(|it| &it.instructions) {
        instruction.visit_symbols(|symbol| {
            if let Symbol::Module(index) = symbol {
                named.insert(index);
            }
        });
    }
    named
}

/// Returns the author's name of a shared variable: none, where ptx-std's macro has named it by its place.
pub(crate) fn name_of_shared(name: &str) -> Cow<'_, str> {
    match name.starts_with("__shared_") {
        true => Cow::Borrowed(""),
        false => source::name_of(name),
    }
}

/// A kernel of a module.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) code: Arc<Code>,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.code.function().name
    }

    /// Makes the code of the kernel and of the functions that it names, which a launch does otherwise.
    ///
    /// # Errors
    /// One of them has an instruction that the engine does not execute.
    pub fn prepare(&self) -> Result<(), Unlowered> {
        for function in reached(&self.code.loaded.parsed.ptx, self.code.kernel) {
            self.code.program(function)?;
        }
        Ok(())
    }

    /// Bytes of each of its parameters.
    pub fn parameter_bytes(&self) -> impl Iterator<Item = u64> {
        self.code.function().parameters.iter().map(|it| it.bytes)
    }

    /// Where each of its parameters lies among the bytes of all.
    pub fn parameters(&self) -> impl Iterator<Item = Range<u32>> {
        let all = self.code.parameters.iter();
        all.map(|it| it.offset..it.offset + it.bytes)
    }

    /// Bytes of shared memory of a block that it declares, without what a launch adds and without the
    /// gaps between variables that the emulator leaves.
    pub fn static_shared(&self) -> u32 {
        self.code.shared.iter().fold(0, |end, variable| {
            end.next_multiple_of(variable.alignment.max(1)) + variable.bytes
        })
    }

    /// Bytes of constant memory that its module declares.
    pub fn constant_bytes(&self) -> u64 {
        let variables = self.code.loaded.parsed.ptx.variables.iter();
        packed(variables.filter(|it| it.space == Space::Const))
    }

    /// Bytes of local memory of a thread that the kernel and the functions which it names declare, each called once.
    pub fn local_bytes(&self) -> u64 {
        let ptx = &self.code.loaded.parsed.ptx;
        let functions = reached(ptx, self.code.kernel).into_iter();
        let bodies = functions.filter_map(|it| ptx.functions[it as usize].body.as_ref());
        packed(
            bodies
                .flat_map(|it| &it.variables)
                .filter(|it| it.space == Space::Local),
        )
    }
}

/// Bytes of variables, one behind the other.
fn packed<'a>(variables: impl Iterator<Item = &'a Variable>) -> u64 {
    variables.fold(0, |end, variable| {
        end.next_multiple_of(u64::from(variable.alignment.max(1))) + variable.bytes
    })
}
