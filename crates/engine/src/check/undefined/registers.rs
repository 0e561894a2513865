//! Undefined values in registers.

use super::origins::OriginId;
use crate::check::hash::Map;
use crate::memory::LANES;

/// The registers of an activation, by where they lie in the host's memory, and a slot in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RegisterId {
    pub(crate) registers: u64,
    pub(crate) slot: u32,
}

/// The undefined bits of a slot's lanes, and where each lane's came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) bits: [u128; LANES],
    pub(crate) origins: [OriginId; LANES],
}

/// The slots of a launch of which something is undefined.
#[derive(Debug, Default)]
pub(crate) struct Registers(Map<RegisterId, Box<Value>>);

impl Value {
    pub(crate) fn set(&mut self, lane: usize, bits: u128, origin: OriginId) {
        (self.bits[lane], self.origins[lane]) = (bits, origin);
    }

    /// The lanes of which something is undefined.
    pub(crate) fn lanes(&self) -> u32 {
        let all = self.bits.iter().enumerate();
        all.fold(0, |mask, (lane, bits)| mask | u32::from(*bits != 0) << lane)
    }
}

impl Registers {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The slots of an activation of which something is undefined.
    pub(crate) fn slots(&self, registers: u64) -> impl Iterator<Item = u32> {
        let own = self.0.keys().filter(move |it| it.registers == registers);
        own.map(|it| it.slot)
    }

    /// Returns the undefined bits of a slot in some lanes, if it has any.
    pub(crate) fn of(&self, id: RegisterId, mask: u32) -> Option<Value> {
        let value = **self.0.get(&id)?;
        (value.lanes() & mask != 0).then_some(value)
    }

    /// Lanes of a slot have other values.
    pub(crate) fn set(&mut self, id: RegisterId, mask: u32, value: &Value) {
        let known = self.0.entry(id).or_default();
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            known.set(lane, value.bits[lane], value.origins[lane]);
        }
        if known.lanes() == 0 {
            self.0.remove(&id);
        }
    }

    /// Lanes of a slot are defined.
    pub(crate) fn define(&mut self, id: RegisterId, mask: u32) {
        let Some(known) = self.0.get_mut(&id) else {
            return;
        };
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            known.bits[lane] = 0;
        }
        if known.lanes() == 0 {
            self.0.remove(&id);
        }
    }

    /// The registers of an activation begin anew.
    pub(crate) fn forget(&mut self, registers: u64) {
        self.0.retain(|id, _| id.registers != registers);
    }
}
