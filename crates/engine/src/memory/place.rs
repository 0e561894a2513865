//! Memory as the kernel's author knows it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Kind of a piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A buffer of the host's.
    Buffer,
    /// A variable of a module.
    Variable,
    /// Constant memory of a module.
    Constant,
    /// Host memory that kernels may reach.
    Host,
    /// Memory that a kernel allocated, at an instruction.
    Heap {
        /// The instruction that allocated it.
        instruction: u32,
        /// The number of its launch among those that are checked, from 1; 0 of one that is not.
        launch: u64,
    },
    /// Where a panic is recorded.
    PanicRecord,
    /// A shared variable.
    Shared,
    /// Dynamic shared memory.
    DynamicShared,
    /// The part of dynamic shared memory that has this number.
    DynamicPart(u32),
    /// The local memory of a function: what compilers make one variable of.
    Local,
    /// A variable in local memory.
    LocalVariable,
    /// Lanes of a block's tensor memory, as the label says; offsets are columns.
    TensorMemory,
}

/// A name and an element type for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The user's name of it: a parameter, a variable; empty if nothing is known.
    pub name: Arc<str>,
    /// Bytes per element, at least 1.
    pub element_bytes: u32,
}

impl Label {
    /// A name with the size of an element.
    pub fn new(name: &str, element_bytes: u32) -> Label {
        Label {
            name: name.into(),
            element_bytes: element_bytes.max(1),
        }
    }
}

/// An address relative to a piece of memory, which it may miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub kind: Kind,
    /// The name and the size of an element.
    pub label: Label,
    /// The device whose memory it is, where it is one's.
    pub device: Option<u32>,
    /// Bytes from its start; negative below it.
    pub offset: i64,
    /// Its bytes.
    pub bytes: u64,
}

impl Part {
    /// The element that the address lies in; negative, or from [`Part::elements`] on, none of its.
    pub fn element(&self) -> i64 {
        self.offset.div_euclid(i64::from(self.label.element_bytes))
    }

    /// How many elements it has.
    pub fn elements(&self) -> u64 {
        self.bytes / u64::from(self.label.element_bytes)
    }

    /// Returns its kind and its name.
    pub(crate) fn name(&self) -> String {
        let name = &self.label.name;
        match (&self.kind, name.is_empty()) {
            (Kind::Buffer | Kind::Host, true) => "a buffer".to_owned(),
            (Kind::Buffer | Kind::Host | Kind::Variable, false) => format!("`{name}`"),
            (Kind::Variable, true) => "a variable of the module".to_owned(),
            (Kind::Constant, true) => "constant memory".to_owned(),
            (Kind::Constant, false) => format!("the constant `{name}`"),
            (Kind::Heap { .. }, _) => "a heap block".to_owned(),
            (Kind::PanicRecord, _) => "the panic record".to_owned(),
            (Kind::Shared, true) => "a shared array".to_owned(),
            (Kind::Shared, false) => format!("the shared `{name}`"),
            (Kind::DynamicShared, _) => "the dynamic shared memory".to_owned(),
            (Kind::DynamicPart(number), _) => {
                format!("part {number} of the dynamic shared memory")
            }
            (Kind::Local, true) => "local memory".to_owned(),
            (Kind::Local, false) => format!("the local memory of `{name}`"),
            (Kind::TensorMemory, _) => format!("{name} of tensor memory"),
            (Kind::LocalVariable, true) => "a local array".to_owned(),
            (Kind::LocalVariable, false) => format!("the local `{name}`"),
        }
    }

    /// Returns its kind, its name and its size.
    fn sized(&self) -> String {
        let name = self.name();
        if self.kind == Kind::DynamicShared && self.bytes == 0 {
            return format!(
                "{name}, of which the launch has none: say how much, as `dynamic_shared` of its configuration or as \
                 `--shared`"
            );
        }
        match self.label.element_bytes {
            0 | 1 => format!("{name} (of {} bytes)", self.bytes),
            _ => format!("{name} (of {})", self.elements()),
        }
    }

    /// How many bytes lie between the address and this memory.
    pub fn distance(&self) -> u64 {
        match u64::try_from(self.offset) {
            Err(_) => self.offset.unsigned_abs(),
            Ok(offset) => offset.saturating_sub(self.bytes.saturating_sub(1)),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kind == Kind::TensorMemory {
            return write!(f, "column {} of {}", self.offset, self.name());
        }
        if self.label.element_bytes > 1 {
            write!(f, "element {} of ", self.element())?;
        } else {
            write!(f, "byte {} of ", self.offset)?;
        }
        f.write_str(&self.sized())
    }
}

/// Where an address lies, or what it lies next to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The address, or the offset in shared or local memory.
    pub address: u64,
    /// The memory that holds it, or the nearest below it.
    pub below: Option<Part>,
    /// The nearest above it, where none holds it.
    pub above: Option<Part>,
    /// Other memory, into which the pointer was made that led here.
    pub by_way_of: Option<Part>,
}

impl Place {
    /// Counts in elements of so many bytes where nothing is known of them.
    pub(crate) fn count_elements_of(&mut self, bytes: u32) {
        for part in self
            .below
            .iter_mut()
            .chain(&mut self.above)
            .chain(&mut self.by_way_of)
        {
            if part.label.element_bytes == 1 && part.kind != Kind::DynamicShared {
                part.label.element_bytes = bytes.max(1);
            }
        }
    }

    /// Tells of the address as of one in some bytes of the memory that holds it, which it may miss.
    pub(crate) fn lies_in(&mut self, bytes: &Range<u64>) {
        if let Some(part) = &mut self.below {
            part.offset = self.address.wrapping_sub(bytes.start) as i64;
            part.bytes = bytes.end - bytes.start;
        }
    }

    /// The memory that holds the address, in words.
    pub(crate) fn whole(&self) -> String {
        match &self.below {
            Some(part) => format!("{} of {} bytes", part.name(), part.bytes),
            None => "memory".to_owned(),
        }
    }

    /// The memory that holds the address, or the nearest to it, unless that is so far away that it says nothing.
    pub fn named(&self) -> Option<&Part> {
        self.nearest()
            .filter(|part| part.distance() < part.bytes.max(1 << 30))
    }

    /// The memory that holds the address, or the nearest to it.
    pub fn nearest(&self) -> Option<&Part> {
        match (&self.below, &self.above) {
            (Some(below), Some(above)) if above.distance() < below.distance() => Some(above),
            (Some(below), _) => Some(below),
            (None, above) => above.as_ref(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.named() {
            Some(part) => part.fmt(f)?,
            None => write!(f, "address {:#x}, in no memory of the launch", self.address)?,
        }
        match &self.by_way_of {
            Some(part) => write!(f, ", by way of {}", part.sized()),
            None => Ok(()),
        }
    }
}
