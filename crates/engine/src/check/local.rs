//! Which bytes of local memory have a value.

use super::access::{Access, Accessors, Unwritten};
use super::finding::Finding;
use super::{Checked, Checker, live};
use crate::finding_kind::FindingKind;
use crate::memory::{Local, Pattern};

/// Per byte of a warp's local memory, the lanes for which it has a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Written(Vec<u32>);

impl Written {
    fn bytes(&mut self, offset: u64, bytes: u64) -> &mut [u32] {
        let (from, to) = (offset as usize, (offset + bytes) as usize);
        if to > self.0.len() {
            self.0.resize(to.next_power_of_two(), 0);
        }
        &mut self.0[from..to]
    }

    /// Which of a lane's bytes have no value, a bit each.
    pub(super) fn unwritten(&mut self, offset: u64, bytes: u32, lane: u32) -> u16 {
        let all = self.bytes(offset, bytes.into()).iter().enumerate();
        all.fold(0, |missing, (byte, lanes)| {
            missing | u16::from(lanes & lane == 0) << byte
        })
    }

    /// The lanes that read bytes without a value.
    fn access(&mut self, access: &Access<'_>) -> u32 {
        let (lanes, bytes) = (access.lanes, u64::from(access.lanes.bytes));
        if let Pattern::Same { address } = lanes.pattern {
            return self.touch(access, address, lanes.mask);
        }
        // One lane is a row of its own.
        if let Pattern::Consecutive { start } = lanes.pattern
            && lanes.mask.is_power_of_two()
        {
            let lane = u64::from(lanes.mask.trailing_zeros());
            return self.touch(access, start.wrapping_add(lane * bytes), lanes.mask);
        }
        lanes.each().fold(0, |missing, (lane, offset)| {
            missing | self.touch(access, offset, 1 << lane)
        })
    }

    fn touch(&mut self, access: &Access<'_>, offset: u64, mask: u32) -> u32 {
        let bytes = self.bytes(offset, access.lanes.bytes.into());
        let mut missing = 0;
        if access.what.reads() {
            missing = mask & !bytes.iter().fold(u32::MAX, |all, lanes| all & lanes);
        }
        if access.what.writes() {
            bytes.iter_mut().for_each(|lanes| *lanes |= mask);
        }
        missing
    }
}

impl Checker {
    /// A frame of local memory begins: it holds nothing yet.
    pub fn frame(&mut self, who: Accessors, offset: u32, bytes: u32) {
        let block = live(&mut self.blocks, who.block);
        let written = block.local[who.warp as usize].bytes(offset.into(), bytes.into());
        written.iter_mut().for_each(|lanes| *lanes &= !who.mask);
    }

    /// An access to local memory, by offsets that `local` has resolved.
    ///
    /// # Errors
    /// A read of what the thread has not written.
    pub fn local(&mut self, who: Accessors, access: &Access<'_>, local: &Local) -> Checked {
        let block = live(&mut self.blocks, who.block);
        let missing = block.local[who.warp as usize].access(access);
        if access.what.writes() && !block.undefined_local.is_empty() {
            for (lane, at) in access.lanes.each() {
                let thread = u64::from(who.warp * 32 + lane);
                let bytes = access.lanes.bytes.into();
                block.undefined_local.define(thread << 32 | at, bytes);
            }
        }
        if missing == 0 {
            return Ok(());
        }
        if access.unwritten == Unwritten::Carried {
            self.undefined.meet();
            return Ok(());
        }
        let lane = missing.trailing_zeros();
        let offset = access.lanes.addresses[lane as usize];
        let now = self.side(who, lane, access.instruction, access.what);
        now.map_or(Ok(()), |now| {
            let found = Box::new(Finding {
                place: Some(local.place(lane, offset)),
                ..Finding::new(FindingKind::Uninitialised, now)
            });
            Err(found.into())
        })
    }
}
