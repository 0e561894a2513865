//! The operands in shared memory of instructions other than loads and stores.

use super::access::Space;
use super::cluster;
use super::failure::Cause;
use super::op::Context;
use super::registers::LANES;
use crate::check::BlockId;
use crate::finding_kind::FindingKind;
use crate::memory::windows;
use crate::memory::{Fault, Lanes};

/// An operand that is an address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    /// A slot of 64 bits.
    pub(crate) slot: u32,
    pub(crate) offset: i64,
    pub(crate) space: Space,
}

/// An operand in the shared memory of a block.
#[derive(Clone, Copy)]
pub(crate) struct SharedOperand {
    pub(crate) offset: u64,
    pub(crate) host: *mut u8,
    /// The block, in checked launches.
    pub(crate) owner: Option<BlockId>,
}

impl Address {
    /// A lane's address.
    ///
    /// # Safety
    /// The slot is one of the running program, of 64 bits.
    pub(crate) unsafe fn of(&self, context: &Context<'_>, lane: usize) -> u64 {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { context.slot::<u64>(self.slot)[lane].wrapping_add_signed(self.offset) }
    }

    /// Where a lane's address lies in shared memory, with so many bytes, a power of 2 and at most 16, that it
    /// is a multiple of.
    ///
    /// # Errors
    /// It does not lie there.
    ///
    /// # Safety
    /// As for [`Address::of`].
    pub(crate) unsafe fn spot(
        &self,
        context: &Context<'_>,
        lane: usize,
        bytes: u32,
    ) -> Result<SharedOperand, Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let address = unsafe { self.of(context, lane) };
        let (rank, offset) = match self.space {
            Space::Generic => match cluster::of_generic(context, address) {
                Some((rank, offset)) => (Some(rank), offset),
                None => (None, address ^ context.at.shared_window),
            },
            Space::Cluster if !context.at.cluster.is_null() => cluster::of_window(context, address),
            _ => (None, address),
        };
        let mut addresses = [0; LANES];
        addresses[lane] = offset;
        let lanes = Lanes::new(&addresses, 1 << lane, bytes);
        context.at.layout.resolve(&lanes).map_err(Cause::Fault)?;
        match rank {
            Some(rank) => SharedOperand::of(context, rank, offset),
            None => Ok(SharedOperand {
                offset,
                host: context.at.shared.wrapping_add(offset as usize),
                owner: context.at.checking.as_ref().map(|it| it.block()),
            }),
        }
    }

    /// As [`Address::spot`], of a multiple of 16 bytes.
    ///
    /// # Errors
    /// They do not all lie there.
    ///
    /// # Safety
    /// As for [`Address::of`].
    pub(crate) unsafe fn range(
        &self,
        context: &Context<'_>,
        lane: usize,
        bytes: u64,
    ) -> Result<SharedOperand, Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let spot = unsafe { self.spot(context, lane, 16)? };
        let layout = &context.at.layout;
        let last = spot.offset + bytes.max(1) - 1;
        if layout.holds(spot.offset, last) {
            return Ok(spot);
        }
        let beyond = (spot.offset..=last)
            .step_by(16)
            .find(|&it| !layout.holds(it, it + 15));
        let address = beyond.unwrap_or(last);
        Err(Cause::Fault(Fault {
            kind: FindingKind::OutOfBounds,
            lane: lane as u32,
            bytes: 16,
            place: Box::new(layout.place(address)),
        }))
    }
}

impl SharedOperand {
    /// An offset in the shared memory of a block of the cluster.
    ///
    /// # Errors
    /// There is no such block, or it has ended.
    pub(crate) fn of(
        context: &Context<'_>,
        rank: u64,
        offset: u64,
    ) -> Result<SharedOperand, Cause> {
        let peer = cluster::peer(context, rank)?;
        Ok(SharedOperand {
            offset,
            host: peer.shared.wrapping_add(offset as usize),
            owner: peer.id,
        })
    }

    pub(crate) fn read(&self) -> u64 {
        // SAFETY: resolved to 8 bytes of shared memory, which one host thread executes.
        unsafe { self.host.cast::<u64>().read() }
    }

    pub(crate) fn write(&self, bits: u64) {
        // SAFETY: as above.
        unsafe { self.host.cast::<u64>().write(bits) };
    }
}

/// The window of generic addresses that an address lies in is that of parameters.
pub(crate) fn is_parameter(address: u64) -> bool {
    windows::of(address) == windows::PARAMETERS
}
