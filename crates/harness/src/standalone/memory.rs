//! The memory of a launch: made before it, and looked at after it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use cuda_std::launch::Argument as Passed;

use super::argument::{Contents, Kind};
use super::structure::Structure;
use super::variable::{Known, Setting};
use super::{Argument, Element, Place, StandaloneError};
use crate::driver::{Device, DeviceBuffer, DriverError, free_host_memory};

/// A buffer after a launch.
pub struct After {
    /// Of which argument, or of which part of one.
    pub place: Place,
    /// All bytes.
    pub bytes: Vec<u8>,
    /// The kernel's change of them.
    pub change: Change,
    element: Element,
    addresses: Vec<Address>,
}

/// A word of a buffer that is an address of the launch's memory.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    /// Its first byte in the buffer.
    at: usize,
    /// Where it points to, from the start of the allocation.
    offset: u64,
}

const WORD: usize = size_of::<u64>();

fn addresses(device: &Device, bytes: &[u8]) -> Vec<Address> {
    let words = bytes.as_chunks::<WORD>().0.iter();
    let found = device.addresses(words.map(|word| u64::from_le_bytes(*word)));
    let at = |(word, offset)| Address {
        at: word * WORD,
        offset,
    };
    found.into_iter().map(at).collect()
}

/// The change of a buffer by a launch, as far as that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Bytes are others than before.
    Changed,
    /// All bytes are as before.
    Unchanged,
    /// All bits are set, as in uninitialised memory: the kernel has not written it, or has set all bits
    /// that it wrote, as -1 does.
    Unknown,
}

/// In a sentence about the buffer.
impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Change::Changed => "changed",
            Change::Unchanged => "as it was",
            Change::Unknown => "not written, or all bits set",
        })
    }
}

impl After {
    /// The first elements.
    pub fn shown(&self) -> String {
        const MAX: usize = 8;
        let size = self.element.bytes();
        let first = self.bytes.chunks_exact(size).take(MAX);
        let mut shown: Vec<String> = first.map(|it| self.element.shown(it)).collect();
        if self.bytes.len() > MAX * size {
            shown.push("..".to_owned());
        }
        shown.join(", ")
    }

    /// How many elements of which type.
    pub fn shape(&self) -> String {
        let elements = self.bytes.len() / self.element.bytes();
        format!("{}[{elements}]", self.element)
    }

    /// Whether another launch has left the same. Each has memory of its own: addresses on the emulator are compared by their
    /// offsets in what they point into.
    pub fn is_as(&self, other: &After) -> bool {
        self.addresses == other.addresses && self.without_addresses() == other.without_addresses()
    }

    fn without_addresses(&self) -> Cow<'_, [u8]> {
        let mut bytes = Cow::Borrowed(&self.bytes[..]);
        for address in &self.addresses {
            bytes.to_mut()[address.at..address.at + WORD].fill(0);
        }
        bytes
    }

    /// Tells contents apart.
    pub fn checksum(&self) -> u32 {
        crc32fast::hash(&self.bytes)
    }
}

/// The memory of the arguments and of the variables' values and its names in findings, in the order of [`arrange`]: `argument 3`,
/// `argument 3.1` behind a pointer in it. The names live for as long as the process.
pub(super) fn names(steps: &[Vec<Argument>], settings: &[Setting]) -> Vec<(Place, &'static str)> {
    fn add(kind: &Kind, place: Place, names: &mut Vec<(Place, &'static str)>) {
        if let Kind::Structure(structure) | Kind::Pointer(structure) = kind {
            for (number, part) in structure.parts.iter().enumerate() {
                add(part, place.part(number), names);
            }
        }
        if kind.is_memory() || matches!(kind, Kind::Texture(_)) {
            let name = &*place.title().leak();
            names.push((place, name));
            if let Kind::Texture(_) = kind {
                let title = format!("the object of {name}");
                names.push((Place::Named(title.clone()), title.leak()));
            }
        }
    }
    let mut names = Vec::new();
    for (launch, arguments) in steps.iter().enumerate() {
        for (number, argument) in arguments.iter().enumerate() {
            let place = match &argument.name {
                Some(name) => Place::Named(name.clone()),
                None => Place::of_launch(launch, number),
            };
            add(&argument.kind, place, &mut names);
        }
    }
    for Setting { name, kind } in settings {
        let place = match kind {
            // Its elements are the variable's.
            Kind::Buffer(_) => continue,
            Kind::Pointer(_) => Place::Named(format!("*{name}")),
            _ => Place::Named(name.clone()),
        };
        add(kind, place, &mut names);
    }
    names
}

/// The arguments of launches, with memory of their own.
pub(super) struct Arranged {
    steps: Vec<Vec<Own>>,
    /// The memory behind a pointer comes before the memory that holds it.
    memory: Vec<Memory>,
    /// The values of variables.
    pub(super) settings: Vec<Vec<u8>>,
}

/// An argument: its bytes, or the number of its memory.
enum Own {
    Bytes(Vec<u8>),
    Memory(usize),
}

/// Makes the memory of the arguments, and fills it.
///
/// # Errors
/// As [`Device::buffer_from`]; a file cannot be read or does not fit, or there is too little memory of the host.
pub(super) fn arrange(
    device: &Device,
    (steps, settings): (&[Vec<Argument>], &[Setting]),
    names: &[(Place, &'static str)],
) -> Result<Arranged, StandaloneError> {
    check_memory(device, bytes(steps, settings), free_host_memory())?;
    let mut making = Making {
        device,
        names,
        named: BTreeMap::new(),
        memory: Vec::new(),
    };
    let mut own = Vec::new();
    for arguments in steps {
        let arguments = arguments.iter().map(|argument| making.own(argument));
        own.push(arguments.collect::<Result<Vec<Own>, StandaloneError>>()?);
    }
    let values = settings.iter().map(|it| making.value(it));
    let settings = values.collect::<Result<_, _>>()?;
    Ok(Arranged {
        steps: own,
        memory: making.memory,
        settings,
    })
}

/// Bytes of all memory of the arguments and values, as far as they say it.
pub(super) fn bytes(steps: &[Vec<Argument>], settings: &[Setting]) -> u64 {
    let arguments = steps.iter().flatten().map(|it| &it.kind);
    let kinds = arguments.chain(settings.iter().map(|it| &it.kind));
    kinds.map(Kind::memory_bytes).fold(0, u64::saturating_add)
}

/// The memory that has been made.
struct Making<'a> {
    device: &'a Device,
    names: &'a [(Place, &'static str)],
    /// The addresses of memory that others refer to.
    named: BTreeMap<String, Vec<u8>>,
    memory: Vec<Memory>,
}

impl Making<'_> {
    fn own(&mut self, argument: &Argument) -> Result<Own, StandaloneError> {
        let bytes = self.bytes(&argument.kind)?;
        if let Some(name) = &argument.name {
            self.named.insert(name.clone(), bytes.clone());
        }
        Ok(match argument.kind.is_memory() {
            true => Own::Memory(self.memory.len() - 1),
            false => Own::Bytes(bytes),
        })
    }

    /// Returns the bytes of a variable: of an array its elements.
    fn value(&mut self, setting: &Setting) -> Result<Vec<u8>, StandaloneError> {
        match &setting.kind {
            Kind::Buffer(buffer) => {
                let place = Place::Named(setting.name.clone());
                match buffer.contents(&place)? {
                    Contents::Written(bytes) => Ok(bytes),
                    Contents::Unwritten(_) => unreachable!("refused when it was read"),
                }
            }
            kind => self.bytes(kind),
        }
    }

    /// Returns the bytes of an argument, of a pointer its address, once what it points to is there.
    fn bytes(&mut self, kind: &Kind) -> Result<Vec<u8>, StandaloneError> {
        match kind {
            Kind::Value(_, bytes) | Kind::Bytes(bytes) => Ok(bytes.clone()),
            Kind::Structure(structure) => self.structure(structure),
            Kind::Buffer(buffer) => {
                let (place, _) = &self.names[self.memory.len()];
                let contents = buffer.contents(place)?;
                self.add(buffer.element, contents)
            }
            Kind::Pointer(structure) => {
                let bytes = self.structure(structure)?;
                self.add(Element::U8, Contents::Written(bytes))
            }
            Kind::Texture(texture) => {
                if !self.device.properties().is_emulated() {
                    return Err(StandaloneError::Usage(
                        "textures and surfaces can be given on the emulator alone".to_owned(),
                    ));
                }
                let (place, _) = &self.names[self.memory.len()];
                let contents = texture.buffer.contents(place)?;
                let start = self.add(texture.buffer.element, contents)?;
                let start = start.try_into().map_or(0, u64::from_le_bytes);
                let description = texture.description(start);
                self.add(Element::U8, Contents::Written(description))
            }
            Kind::Same(name) => self.named.get(name).cloned().ok_or_else(|| {
                StandaloneError::Usage(format!("@{name}: no argument before it is called {name}"))
            }),
        }
    }

    fn structure(&mut self, structure: &Structure) -> Result<Vec<u8>, StandaloneError> {
        structure.bytes(|_, part| self.bytes(part))
    }

    /// Makes memory, and returns its address.
    fn add(&mut self, element: Element, contents: Contents) -> Result<Vec<u8>, StandaloneError> {
        let (place, name) = &self.names[self.memory.len()];
        let memory = Memory::new(self.device, (place.clone(), *name), element, contents)?;
        let address = memory.buffer.slice(..).as_ptr() as u64;
        self.memory.push(memory);
        Ok(address.to_le_bytes().to_vec())
    }
}

impl Arranged {
    /// One argument for each parameter of a launch, and behind them what those may reach by pointers.
    pub(super) fn list(&mut self, step: usize) -> Vec<Passed<'_>> {
        let mut memory: Vec<Option<&mut Memory>> = self.memory.iter_mut().map(Some).collect();
        let arguments = self.steps[step].iter().map(|own| match own {
            Own::Bytes(bytes) => Passed::Value(bytes),
            Own::Memory(number) => {
                let Memory {
                    name,
                    element,
                    buffer,
                    ..
                } = memory[*number].take().expect("one argument's memory");
                Passed::Memory {
                    name,
                    element_bytes: element.bytes(),
                    view: buffer.slice_mut(..),
                }
            }
        });
        let mut passed: Vec<Passed<'_>> = arguments.collect();
        let reached = memory.into_iter().flatten();
        passed.extend(reached.map(
            |Memory {
                 name,
                 element,
                 buffer,
                 ..
             }| Passed::Reached {
                name,
                element_bytes: element.bytes(),
                view: buffer.slice_mut(..),
            },
        ));
        passed
    }

    /// All memory after the launch, in the order of its places.
    pub(super) fn after(&self, device: &Device) -> Result<Vec<After>, DriverError> {
        let after = self.memory.iter().map(|it| it.after(device));
        let mut after: Vec<After> = after.collect::<Result<_, _>>()?;
        after.sort_by(|one, other| one.place.cmp(&other.place));
        Ok(after)
    }
}

impl After {
    /// A variable, with the bytes that it had before.
    pub(super) fn of_variable(
        device: &Device,
        variable: &Known,
        (before, bytes): (&[u8], Vec<u8>),
    ) -> After {
        After {
            place: Place::Named(variable.name.clone()),
            change: match before == bytes {
                true => Change::Unchanged,
                false => Change::Changed,
            },
            addresses: addresses(device, &bytes),
            bytes,
            element: variable.element,
        }
    }
}

/// A buffer of a launch.
struct Memory {
    place: Place,
    name: &'static str,
    element: Element,
    buffer: DeviceBuffer<u8>,
    /// The checksum of what it began with; `None` where nobody had written it.
    before: Option<u32>,
}

impl Memory {
    fn new(
        device: &Device,
        (place, name): (Place, &'static str),
        element: Element,
        contents: Contents,
    ) -> Result<Memory, DriverError> {
        let (buffer, before) = match contents {
            Contents::Unwritten(bytes) => (device.buffer_uninitialized(bytes)?, None),
            Contents::Written(bytes) => {
                (device.buffer_from(&bytes)?, Some(crc32fast::hash(&bytes)))
            }
        };
        Ok(Memory {
            place,
            name,
            element,
            buffer,
            before,
        })
    }

    fn after(&self, device: &Device) -> Result<After, DriverError> {
        let bytes = self.buffer.to_vec()?;
        let change = match self.before {
            Some(before) if before == crc32fast::hash(&bytes) => Change::Unchanged,
            None if bytes.iter().all(|byte| *byte == 0xFF) => Change::Unknown,
            _ => Change::Changed,
        };
        Ok(After {
            place: self.place.clone(),
            addresses: addresses(device, &bytes),
            bytes,
            change,
            element: self.element,
        })
    }
}

/// Fails where so much free memory is too little for what checks keep of buffers of so many bytes.
fn check_memory(device: &Device, bytes: u64, free: u64) -> Result<(), StandaloneError> {
    let kept = device.bytes_with_checks(bytes) - bytes;
    match kept > 0 && bytes.saturating_add(kept) > free {
        false => Ok(()),
        true => Err(StandaloneError::Usage(format!(
            "buffers of {bytes} bytes, of which checks keep {kept}: {free} bytes of memory are free; give smaller buffers, \
             or --no-check"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;

    #[test]
    fn buffers_are_compared_with_what_their_checks_keep() {
        let device = |is_checked| {
            Device::emulator(Emulation {
                is_checked,
                ..Emulation::default()
            })
        };
        let said = |checked, free| {
            check_memory(&device(checked), 1 << 20, free).map_err(|it| it.to_string())
        };
        assert_eq!(said(false, 0), Ok(()));
        assert_eq!(said(true, 6 << 20), Ok(()));
        let error = said(true, (6 << 20) - 1).expect_err("too little");
        assert!(
            error.contains("of which checks keep 5242880: 6291455 bytes"),
            "{error}"
        );
    }
}
