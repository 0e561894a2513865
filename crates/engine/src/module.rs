//! A module of PTX in an emulated device's memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use ptx::{FunctionKind, Linkage, RelocatedAddress, Relocation, Space, Symbol, Variable};

use crate::coverage;
use crate::declarations::{self, TooLarge};
use crate::memory::{self, Kind, Label, Memory, Protection, windows};
use crate::mutation;
use crate::source;

mod kernel;

pub use kernel::Kernel;
pub(crate) use kernel::{Code, name_of_shared};

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
        /// Bytes that are free.
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
    /// Whether its kernels are for a debugger.
    is_stepped: bool,
}

/// PTX, which does not change.
#[derive(Debug)]
struct Parsed {
    ptx: Arc<ptx::Module>,
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
            ptx: Arc::new(ptx),
            text: text.to_owned(),
        });
        *last() = Some(Arc::clone(&parsed));
        Ok(parsed)
    }
}

/// Reads PTX as [`Module::load`] does. Text that was read last, by either, is not read again.
///
/// # Errors
/// The text is no PTX, or declares what no GPU has room for.
pub fn parse(text: &str) -> Result<Arc<ptx::Module>, LoadError> {
    Ok(Arc::clone(&Parsed::of(text)?.ptx))
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
        Module::load_as(text, memory, false)
    }

    /// As [`Module::load`], for [`Kernel::debug`]: its kernels keep the value of each register until it is written again, and
    /// take more memory and time for it.
    ///
    /// # Errors
    /// As for [`Module::load`].
    pub fn load_for_debugging(text: &str, memory: &Arc<Memory>) -> Result<Module, LoadError> {
        Module::load_as(text, memory, true)
    }

    fn load_as(text: &str, memory: &Arc<Memory>, is_stepped: bool) -> Result<Module, LoadError> {
        let changed = mutation::changed(text).map_err(LoadError::Refused)?;
        let parsed = Parsed::of(changed.as_ref().map_or(text, |it| &it.text))?;
        if let Some(changed) = changed {
            changed.has_been_read().map_err(LoadError::Refused)?;
        }
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
            is_stepped,
        };
        loaded.place()?;
        let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(loaded.number, Arc::downgrade(&loaded.parsed));
        drop(all);
        if let Some(recorder) = coverage::recorder() {
            recorder.loaded(loaded.number, &loaded.parsed.ptx, &loaded.parsed.text);
        }
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
