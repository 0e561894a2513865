//! A module of PTX in an emulated device's memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use ptx::{
    Function, FunctionKind, Linkage, Operation, RelocatedAddress, Relocation, Space, Symbol,
    Variable,
};

use crate::check::Verb;
use crate::count::{BlockEnd, Listing};
use crate::declarations::{self, TooLarge};
use crate::exec::parameter_bounds::{ParameterBounds, parameter_bounds};
use crate::exec::program::{Program, Then};
use crate::exec::unlowered::Unlowered;
use crate::exec::worker::Functions;
use crate::lower::{self, Layout, PANIC_RECORD};
use crate::memory::{self, Kind, Label, Memory, Protection, windows};
use crate::reach::{Shared, reached, shared_variables};
use crate::source;

/// Why a module cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The text is no PTX.
    #[error("the PTX cannot be read: {0}")]
    Parse(#[from] ptx::ParseError),
    /// It is of a kind that the emulator does not take.
    #[error("the PTX cannot be loaded: {0}")]
    Refused(String),
    /// It declares what no GPU has room for.
    #[error("the PTX cannot be loaded: {0}")]
    TooLarge(#[from] TooLarge),
    /// Its global variables need more memory than is free.
    #[error(
        "the PTX cannot be loaded: `{variable}` has {bytes} bytes, and checks keep {} of them; {free} bytes of memory are free",
        crate::check::bytes_kept_of(*bytes)
    )]
    NoMemory {
        /// The variable.
        variable: String,
        /// Its bytes.
        bytes: u64,
        /// What there is.
        free: u64,
    },
}

/// Bytes of memory that are not those of a variable of the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes at {address:#x} lie in no variable of the module")]
pub struct NoVariable {
    /// Where.
    pub address: u64,
    /// How many.
    pub bytes: usize,
}

/// A module of PTX with its variables in memory.
#[derive(Clone, Debug)]
pub struct Module {
    loaded: Arc<Loaded>,
    /// The code of each function that is a kernel, made when it is first asked for.
    kernels: Arc<[OnceLock<Arc<Code>>]>,
}

#[derive(Debug)]
struct Loaded {
    parsed: Arc<Parsed>,
    /// Another for each module of the process.
    number: u32,
    memory: Arc<Memory>,
    /// Where variables lie; none for those in shared memory.
    addresses: Vec<Option<u64>>,
    /// The memory of variables, which [`Memory`] has adopted.
    storage: Vec<Box<[u128]>>,
}

/// PTX, which does not change.
#[derive(Debug)]
struct Parsed {
    ptx: ptx::Module,
    text: String,
}

impl Parsed {
    /// Reads PTX, of which every declaration fits a GPU. What was read last is kept, because tests open a device
    /// again and again.
    fn of(text: &str) -> Result<Arc<Parsed>, LoadError> {
        static LAST: Mutex<Option<Arc<Parsed>>> = Mutex::new(None);
        let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last().as_ref().filter(|it| it.text == text) {
            return Ok(Arc::clone(known));
        }
        let ptx = ptx::parse(text)?;
        declarations::check(&ptx)?;
        let parsed = Arc::new(Parsed {
            ptx,
            text: text.to_owned(),
        });
        *last() = Some(Arc::clone(&parsed));
        Ok(parsed)
    }
}

impl Parsed {
    /// Where an instruction is from, and how a kernel came there, if it is known which.
    fn place_in(&self, function: u32, index: u32, kernel: Option<u32>) -> String {
        let mut functions = self.ptx.functions.iter();
        let body = functions
            .nth(function as usize)
            .and_then(|it| it.body.as_ref());
        match body.filter(|it| (index as usize) < it.instructions.len()) {
            Some(body) => {
                let called_at = kernel.map(|kernel| source::called_at(&self.ptx, kernel, function));
                let called_at = called_at.unwrap_or_default();
                source::place(&self.ptx, body, index as usize, &called_at)
            }
            None => "an unknown place".to_owned(),
        }
    }
}

/// A kernel and the functions that it calls.
#[derive(Debug)]
pub(crate) struct Code {
    loaded: Arc<Loaded>,
    kernel: u32,
    /// The shared variables that they name, and where they lie.
    pub(crate) shared: Vec<memory::Variable>,
    offsets: HashMap<Shared, u32>,
    /// What the offset of dynamic shared memory is a multiple of.
    dynamic_alignment: u32,
    /// Where the kernel's parameters lie.
    pub(crate) parameters: Vec<ParameterBounds>,
    /// Whether its module has instructions on clusters.
    pub(crate) needs_clusters: bool,
    /// Whether its module reads where a cooperative grid's workspace is.
    pub(crate) asks_for_workspace: bool,
    programs: Vec<OnceLock<Result<Arc<Program>, Unlowered>>>,
}

static NUMBERS: AtomicU32 = AtomicU32::new(0);

/// The PTX of all modules that are loaded, by their numbers: findings name places of others, too.
static LOADED: Mutex<BTreeMap<u32, Weak<Parsed>>> = Mutex::new(BTreeMap::new());

/// Where an instruction of a module is from: file and line, or the line of the PTX.
pub(crate) fn place_of(module: u32, function: u32, index: u32) -> String {
    let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let parsed = loaded.get(&module).and_then(Weak::upgrade);
    drop(loaded);
    match parsed {
        Some(parsed) => parsed.place_in(function, index, None),
        None => "a module that is no longer loaded".to_owned(),
    }
}

/// Bytes behind each shared variable that belong to nobody, so that overruns are found. Whole lines, so
/// that banks stay as they are.
pub(crate) const SHARED_GAP: u32 = 256;

impl Module {
    /// Reads PTX and puts its variables into the memory of a device.
    ///
    /// # Errors
    /// The text is no PTX, or has what the emulator does not take: see [`LoadError`].
    pub fn load(text: &str, memory: &Arc<Memory>) -> Result<Module, LoadError> {
        let parsed = Parsed::of(text)?;
        if parsed.ptx.address_size != 64 {
            let size = parsed.ptx.address_size;
            return Err(LoadError::Refused(format!(
                "addresses of {size} bits; 64 are supported"
            )));
        }
        let mut loaded = Loaded {
            addresses: vec![None; parsed.ptx.variables.len()],
            parsed,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            memory: Arc::clone(memory),
            storage: Vec::new(),
        };
        loaded.place()?;
        let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(loaded.number, Arc::downgrade(&loaded.parsed));
        drop(all);
        Ok(Module {
            kernels: loaded
                .parsed
                .ptx
                .functions
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
            loaded: Arc::new(loaded),
        })
    }

    /// A kernel by its name.
    pub fn kernel(&self, name: &str) -> Option<Kernel> {
        let functions = self.loaded.parsed.ptx.functions.iter();
        let index = functions.into_iter().position(|it| {
            it.name == name && it.kind == FunctionKind::Entry && it.body.is_some()
        })?;
        let code =
            self.kernels[index].get_or_init(|| Arc::new(Code::new(&self.loaded, index as u32)));
        Some(Kernel {
            code: Arc::clone(code),
        })
    }

    /// The names of its kernels.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        let functions = self.loaded.parsed.ptx.functions.iter();
        let kernels = functions.filter(|it| it.kind == FunctionKind::Entry && it.body.is_some());
        kernels.map(|it| it.name.as_str())
    }

    /// Address and bytes of a variable in global or constant memory.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let variables = &self.loaded.parsed.ptx.variables;
        let index = variables.iter().position(|it| it.name == name)?;
        Some((self.loaded.addresses[index]?, variables[index].bytes))
    }
}

impl Module {
    /// The bytes of a variable in global or constant memory.
    pub fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let (address, bytes) = self.variable(name)?;
        let from = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the variable's memory, which the module keeps.
        Some(unsafe { std::slice::from_raw_parts(from, bytes as usize) }.to_vec())
    }

    /// Sets bytes of one of the module's own variables in global or constant memory, before launches.
    ///
    /// # Errors
    /// They do not all lie in one of its variables.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), NoVariable> {
        let variables = &self.loaded.parsed.ptx.variables;
        let holds = |(start, variable): (&Option<u64>, &Variable)| {
            let offset = start.and_then(|start| address.checked_sub(start));
            let end = offset.and_then(|offset| offset.checked_add(bytes.len() as u64));
            end.is_some_and(|end| end <= variable.bytes)
        };
        if !self.loaded.addresses.iter().zip(variables).any(holds) {
            let bytes = bytes.len();
            return Err(NoVariable { address, bytes });
        }
        let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the bytes lie in a variable of the module by the search above; `Loaded::store` has given it room
        // for all of its bytes, which the module keeps.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    }
}

impl Loaded {
    /// Gives variables their memory and first values.
    fn place(&mut self) -> Result<(), LoadError> {
        for index in 0..self.parsed.ptx.variables.len() {
            let variable = &self.parsed.ptx.variables[index];
            let (kind, protection) = match variable.space {
                Space::Global => (Kind::Variable, Protection::ReadWrite),
                Space::Const => (Kind::Constant, Protection::ReadOnly),
                Space::Shared => continue,
                space => {
                    let (name, space) = (&variable.name, space.name());
                    return Err(LoadError::Refused(format!(
                        "`{name}`, which is declared in `.{space}` outside of any function: declare it in the kernel"
                    )));
                }
            };
            if variable.linkage == Linkage::External {
                let name = &variable.name;
                return Err(LoadError::Refused(format!(
                    "`{name}`, which nothing defines"
                )));
            }
            let label = Label::new(&source::name_of(&variable.name), variable.ty.bytes());
            let (alignment, bytes) = (u64::from(variable.alignment), variable.bytes);
            let address = self
                .store(bytes, alignment)
                .map_err(|free| LoadError::NoMemory {
                    variable: self.parsed.ptx.variables[index].name.clone(),
                    bytes,
                    free,
                })?;
            // SAFETY: `store` has given it room for so many bytes, which the module keeps until it disowns them.
            unsafe { self.memory.adopt(address, bytes, kind, label, protection) };
            self.addresses[index] = Some(address);
        }
        for index in 0..self.parsed.ptx.variables.len() {
            let (Some(address), Some(initial)) = (
                self.addresses[index],
                &self.parsed.ptx.variables[index].initial,
            ) else {
                continue;
            };
            let mut bytes = initial.bytes.clone();
            if bytes.len() as u64 > self.parsed.ptx.variables[index].bytes {
                let name = &self.parsed.ptx.variables[index].name;
                return Err(LoadError::Refused(format!(
                    "`{name}` has more first values than bytes"
                )));
            }
            for relocation in &initial.relocations {
                let value = self.relocated(relocation)?.to_le_bytes();
                let (at, count) = (relocation.offset as usize, usize::from(relocation.bytes));
                let to = bytes.get_mut(at..).and_then(|it| it.get_mut(..count));
                let (Some(to), Some(from)) = (to, value.get(..count)) else {
                    let name = &self.parsed.ptx.variables[index].name;
                    return Err(LoadError::Refused(format!(
                        "an address among the first values of `{name}` lies beyond them"
                    )));
                };
                to.copy_from_slice(from);
            }
            let to = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
            // SAFETY: `store` has given it room for the variable's bytes, which are no fewer by the check above,
            // and nothing runs yet.
            unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        Ok(())
    }

    /// Room of its own for a variable: zeros, with some at both ends that belong to nobody.
    ///
    /// # Errors
    /// So many bytes, and those of their checks, are not free; gives how many are.
    fn store(&mut self, bytes: u64, alignment: u64) -> Result<u64, u64> {
        const GUARD: u64 = 512;
        let taken = bytes
            .checked_add(2 * GUARD)
            .and_then(|bytes| bytes.checked_add(alignment));
        let has_room =
            |it: &u64| memory::has_room(it.saturating_add(crate::check::bytes_kept_of(*it)));
        let taken = taken.filter(has_room);
        let room = taken.and_then(|taken| memory::zeros(taken.div_ceil(16)));
        let mut room = room.ok_or_else(memory::free_bytes)?;
        let start = room.as_mut_ptr().expose_provenance() as u64;
        self.storage.push(room);
        Ok((start + GUARD).next_multiple_of(alignment.max(1)))
    }

    fn relocated(&self, relocation: &Relocation) -> Result<u64, LoadError> {
        let address = match relocation.symbol {
            Symbol::Module(index) => self.addresses[index as usize],
            Symbol::Function(function) => Some(windows::FUNCTIONS + 16 * u64::from(function.0)),
            _ => None,
        };
        let address = address.ok_or_else(|| {
            LoadError::Refused("the address of a shared variable as a first value".to_owned())
        })?;
        let is_constant = match relocation.symbol {
            Symbol::Module(index) => {
                self.parsed.ptx.variables[index as usize].space == Space::Const
            }
            _ => false,
        };
        let window = match relocation.address {
            RelocatedAddress::Generic if is_constant => windows::CONSTANT,
            RelocatedAddress::Generic | RelocatedAddress::InSpace => 0,
        };
        let address = address + window;
        Ok(address.wrapping_add_signed(relocation.addend) >> relocation.shift)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.number);
        drop(all);
        for address in self.addresses.iter().flatten() {
            self.memory.disown(*address);
        }
        // A launch of another module may be at them.
        self.memory.retire(std::mem::take(&mut self.storage));
    }
}

impl Code {
    fn new(loaded: &Arc<Loaded>, kernel: u32) -> Code {
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

    /// Bytes of the parameters of a launch.
    pub(crate) fn parameter_bytes(&self) -> u32 {
        self.parameters.last().map_or(0, |it| it.offset + it.bytes)
    }

    pub(crate) fn function(&self) -> &Function {
        &self.loaded.parsed.ptx.functions[self.kernel as usize]
    }

    /// The module's number, of all of the process.
    pub(crate) fn number(&self) -> u32 {
        self.loaded.number
    }

    /// What an instruction does with memory: what it is called, and the bytes of an element.
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

    /// What lowering asks of the module.
    pub(crate) fn lowering(&self) -> Layout<'_> {
        Layout {
            module: &self.loaded.parsed.ptx,
            text: &self.loaded.parsed.text,
            addresses: &self.loaded.addresses,
            offsets: &self.offsets,
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

/// What the author calls a shared variable: nothing, where ptx-std's macro has named it by its place.
fn name_of_shared(name: &str) -> Cow<'_, str> {
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

    /// Bytes of shared memory of a block that it declares, without what a launch adds and without the
    /// gaps between variables that the emulator leaves.
    pub fn static_shared(&self) -> u32 {
        self.code.shared.iter().fold(0, |end, variable| {
            end.next_multiple_of(variable.alignment.max(1)) + variable.bytes
        })
    }
}
