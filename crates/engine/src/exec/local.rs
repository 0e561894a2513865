//! The variables in the local memory of a warp's threads.

use std::sync::Arc;

use super::activation::Activations;
use crate::memory::{Fault, FaultClass, Kind, Label, Lanes, Part, Place};

/// A local variable of a function: where it lies in an activation's memory.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

/// The variables of all functions that lanes of a warp are in, by rising offsets.
#[derive(Debug, Default)]
pub(crate) struct Locals(Vec<Variable>);

impl Locals {
    /// Those of these activations.
    pub(crate) fn of(activations: &Activations) -> Locals {
        let mut all: Vec<Variable> = activations
            .iter()
            .flat_map(|it| {
                let variables = it.program.locals.iter().cloned();
                variables.map(|variable| Variable { offset: it.local + variable.offset, ..variable })
            })
            .collect();
        all.sort_by_key(|it| it.offset);
        Locals(all)
    }

    /// Checks that each active lane's offset lies in a variable.
    ///
    /// # Errors
    /// What is wrong with the first lane's that does not.
    pub(crate) fn resolve(&self, lanes: &Lanes<'_>) -> Result<(), Fault> {
        let fault = |class, lane, offset| Fault {
            class,
            lane,
            bytes: lanes.bytes,
            place: Box::new(self.place(offset)),
        };
        if let Some((lane, offset)) = lanes.misaligned() {
            return Err(fault(FaultClass::Misaligned, lane, offset));
        }
        match lanes.each().find(|(_, offset)| !self.holds(*offset, lanes.bytes)) {
            Some((lane, offset)) => Err(fault(FaultClass::OutOfBounds, lane, offset)),
            None => Ok(()),
        }
    }

    fn holds(&self, offset: u64, bytes: u32) -> bool {
        let behind = self.0.partition_point(|it| u64::from(it.offset) <= offset);
        let below = behind.checked_sub(1).map(|index| &self.0[index]);
        below.is_some_and(|it| offset + u64::from(bytes) <= u64::from(it.offset) + u64::from(it.bytes))
    }

    fn place(&self, offset: u64) -> Place {
        let behind = self.0.partition_point(|it| u64::from(it.offset) <= offset);
        let part = |it: &Variable| Part {
            kind: Kind::Local,
            label: Label::new(&it.name, 1),
            offset: offset.wrapping_sub(u64::from(it.offset)) as i64,
            bytes: it.bytes.into(),
        };
        let below = behind.checked_sub(1).map(|index| part(&self.0[index]));
        let is_held = below.as_ref().is_some_and(|it| it.distance() == 0);
        let above = self.0.get(behind).map(part).filter(|_| !is_held);
        Place { address: offset, below, above }
    }
}
