//! One allocation.

use std::alloc::Layout;

use super::place::{Kind, Label, Part};

/// Which allocation. A slot is used again once its last holder is forgotten, with another serial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AllocationId {
    /// A small number, for tables.
    pub slot: u32,
    /// Counts the holders of the slot, from 1. 0 is nobody.
    pub serial: u32,
}

/// Whether kernels may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// They may.
    #[default]
    ReadWrite,
    /// They may not: constants.
    ReadOnly,
}

/// The contents of memory before anybody writes to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contents {
    /// Nothing that may be used.
    #[default]
    Undefined,
    /// Values: what is adopted, or zeroed.
    Defined,
}

/// Memory that the device knows.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Which it is.
    pub id: AllocationId,
    /// The device whose memory it is; none of the host's, which all devices reach.
    pub device: Option<u32>,
    /// Its address.
    pub start: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The kind.
    pub kind: Kind,
    /// Its name for reports.
    pub label: Label,
    /// Whether kernels may write.
    pub protection: Protection,
    /// Its contents at first.
    pub contents: Contents,
    /// Which of all that the device has ever allocated.
    pub serial: u64,
    /// The host's block around it, guards included, and where that begins. None of adopted memory.
    pub(super) block: Option<(usize, Layout)>,
}

impl Allocation {
    /// Whether so many bytes from the address on lie in it.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        let offset = address.wrapping_sub(self.start);
        offset < self.bytes && bytes <= self.bytes - offset
    }

    /// The address as a place in this memory, or past it.
    pub fn part(&self, address: u64) -> Part {
        Part {
            kind: self.kind.clone(),
            label: self.label.clone(),
            device: self.device,
            offset: address.wrapping_sub(self.start) as i64,
            bytes: self.bytes,
        }
    }
}
