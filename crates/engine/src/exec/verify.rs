//! The check of a decoded function before anything executes it.
//!
//! Handlers and the executor reach registers and tables through offsets and indices that lowering has chosen. That
//! these lie where they must is not left to lowering: a [`Program`](super::program::Program) is made here alone, and
//! of it holds:
//! - **slots**: every slot that an operation, a table, a block's end or a gate names begins a slot of the kind that its
//!   user wants, within the registers of an activation;
//! - **tables**: every index lies in its table, and every entry is what the handler that is given it executes;
//! - **targets**: every block's operations lie in the program, and every target is a block.
//!
//! SAFETY comments of the executor refer to these three facts.

mod tables;

use super::access::Access;
use super::op::Op;
use super::program::{
    BarrierAction, BarrierReduction, Block, Callee, Decoded, Draft, Gate, Parameter, Then, Words,
};
use super::registers::Kind;
use super::signature::{Aux, Mover, Signature, Table};
use super::slot_map::SlotMap;
use ptx::{Order, SpecialRegister};

/// Where a decoded function is not what its handlers want.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The instruction of the function, where it is one.
    pub(crate) instruction: Option<u32>,
    pub(crate) why: String,
}

/// Nothing wrong, or the rule that a part of a function breaks.
type Checked = Result<(), String>;

/// Checks a function.
///
/// # Errors
/// The first part that is not what its user wants.
pub(super) fn check(draft: &Draft) -> Result<(), Fault> {
    let of = &draft.decoded;
    let [ops, launch_ops] = &draft.signatures;
    let verifier = Verifier {
        of,
        slots: &of.slots,
    };
    let whole = |why| Fault {
        instruction: None,
        why,
    };
    verifier.registers().map_err(whole)?;
    verifier.beginnings().map_err(whole)?;
    for (ops, signatures) in [(&of.ops, ops), (&of.launch_ops, launch_ops)] {
        if ops.len() != signatures.len() {
            return Err(whole("operations without signatures".to_owned()));
        }
        for (op, signature) in ops.iter().zip(signatures) {
            verifier.op(op, signature).map_err(|why| Fault {
                instruction: Some(op.instruction),
                why,
            })?;
        }
    }
    for block in &of.blocks {
        verifier.block(block).map_err(|why| Fault {
            instruction: Some(block.instruction),
            why,
        })?;
    }
    Ok(())
}

struct Verifier<'p> {
    of: &'p Decoded,
    slots: &'p SlotMap,
}

impl Verifier<'_> {
    fn registers(&self) -> Checked {
        match self.slots.bytes() {
            Ok(bytes) if bytes == self.of.register_bytes => Ok(()),
            _ => Err("registers of another size than their slots".to_owned()),
        }
    }

    fn slot(&self, slot: u32, kind: Kind) -> Checked {
        match self.slots.has(slot, kind) {
            true => Ok(()),
            false => Err(format!("no slot of {kind:?} at {slot}")),
        }
    }

    fn words(&self, words: Words) -> Checked {
        let Words {
            slot,
            count,
            is_double,
        } = words;
        if is_double {
            self.slot(slot, Kind::Double)?;
            return match count {
                2 => Ok(()),
                _ => Err(format!("{count} words of a slot of two")),
            };
        }
        match count == 0 || self.slots.has_row(slot, Kind::Word, count) {
            true => Ok(()),
            false => Err(format!("no {count} slots of words at {slot}")),
        }
    }

    /// Checks the slots that an activation begins with, and those given to functions and taken from them.
    fn beginnings(&self) -> Checked {
        for constant in &self.of.constants {
            self.slot(constant.slot, constant.kind)?;
        }
        let of_launch = &self.of.launch_specials;
        for &(special, slot) in of_launch.iter().chain(&self.of.block_specials) {
            let kind = match special {
                SpecialRegister::IsExplicitCluster => Kind::Predicate,
                _ => Kind::Word,
            };
            self.slot(slot, kind)?;
        }
        for parameter in &self.of.parameters {
            match *parameter {
                Parameter::Launch {
                    bytes, slot, kind, ..
                } => {
                    self.slot(slot, kind)?;
                    if !(1..=16).contains(&bytes) {
                        return Err(format!("a parameter of {bytes} bytes in a register"));
                    }
                }
                Parameter::Call(words) => self.words(words)?,
            }
        }
        self.of.returns.iter().try_for_each(|it| self.words(*it))
    }

    fn op(&self, op: &Op, signature: &Signature) -> Checked {
        let slots = [
            (op.d, signature.d),
            (op.a, signature.a),
            (op.b, signature.b),
            (op.c, signature.c),
        ];
        for (slot, kind) in slots {
            if let Some(kind) = kind {
                self.slot(slot, kind)?;
            }
        }
        // Lanes that do not run are given back what they had.
        if op.writes.is_some() && op.writes != signature.d {
            let (kept, written) = (op.writes, signature.d);
            return Err(format!("{kept:?} is kept of a result of {written:?}"));
        }
        self.aux(op, signature.aux)
    }

    fn aux(&self, op: &Op, aux: Aux) -> Checked {
        match aux {
            Aux::Number => Ok(()),
            Aux::Slot(kind) => match u32::try_from(op.aux) {
                Ok(slot) => self.slot(slot, kind),
                Err(_) => Err(format!("no slot at {}", op.aux)),
            },
            Aux::Above(bits) => match u32::try_from(op.aux >> bits) {
                Ok(slot) => self.slot(slot, Kind::Predicate),
                Err(_) => Err(format!("no slot at {}", op.aux >> bits)),
            },
            Aux::Access(mover) => {
                let access = entry(&self.of.accesses, op.aux)?;
                self.access(access)?;
                match moves(mover, access) {
                    true => Ok(()),
                    false => Err(format!("an access that is none of {mover:?}")),
                }
            }
            Aux::Index(table) => self.entry(table, op.aux),
            Aux::List => {
                let end = op.aux.checked_add(op.b.into());
                let end = end.filter(|&end| end <= self.of.lists.len() as u64);
                let end = end.ok_or("a list that ends beyond the lists")? as usize;
                let mut slots = self.of.lists[op.aux as usize..end].iter();
                // Rows of so many matrices are all that a warp has.
                if op.b > 4 {
                    return Err(format!("{} matrices of a warp", op.b));
                }
                slots.try_for_each(|&slot| self.slot(slot, Kind::Word))
            }
        }
    }

    fn entry(&self, table: Table, index: u64) -> Checked {
        match table {
            Table::Products => self.product(entry(&self.of.products, index)?),
            Table::Wgmmas => self.wgmma(entry(&self.of.wgmmas, index)?),
            Table::Touches => entry(&self.of.touches, index).map(drop),
            Table::TensorMemory => self.tensor_memory(entry(&self.of.tensor_memory, index)?),
            Table::Mbarriers => self.mbarrier(entry(&self.of.mbarriers, index)?),
            Table::Bulks => self.bulk(entry(&self.of.bulks, index)?),
            Table::Videos => entry(&self.of.videos, index).map(drop),
        }
    }

    fn block(&self, block: &Block) -> Checked {
        let ops = self.of.ops.len();
        if block.start > block.end || block.end as usize > ops {
            let (start, end) = (block.start, block.end);
            return Err(format!("operations {start} to {end} of {ops}"));
        }
        self.target(block.through)?;
        if self.of.blocks[block.through as usize].end < block.start {
            return Err("blocks that run through to an earlier one".to_owned());
        }
        if let Some(gate) = &block.gate {
            self.gate(gate)?;
        }
        self.then(&block.then)
    }

    fn gate(&self, gate: &Gate) -> Checked {
        self.slot(gate.members, Kind::Word)?;
        if let Some((slot, kind)) = gate.source {
            self.slot(slot, kind)?;
        }
        if let Some((amount, bounds)) = gate.from {
            self.slot(amount, Kind::Word)?;
            self.slot(bounds, Kind::Word)?;
        }
        Ok(())
    }

    fn target(&self, block: u32) -> Checked {
        match (block as usize) < self.of.blocks.len() {
            true => Ok(()),
            false => Err(format!(
                "block {block} is a target, of {}",
                self.of.blocks.len()
            )),
        }
    }

    fn then(&self, then: &Then) -> Checked {
        match then {
            Then::Jump(next) => self.target(*next),
            Then::Branch {
                predicate,
                taken,
                otherwise,
                ..
            } => {
                self.slot(*predicate, Kind::Predicate)?;
                self.target(*taken)?;
                self.target(*otherwise)
            }
            Then::Switch { index, targets } => {
                self.slot(*index, Kind::Word)?;
                targets.iter().try_for_each(|&it| self.target(it))
            }
            Then::Barrier { barrier, next } => {
                self.target(*next)?;
                self.slot(barrier.id, Kind::Word)?;
                if let Some(threads) = barrier.threads {
                    self.slot(threads, Kind::Word)?;
                }
                match barrier.action {
                    BarrierAction::Sync | BarrierAction::Arrive => Ok(()),
                    BarrierAction::Reduce {
                        operation,
                        destination,
                        predicate,
                        ..
                    } => {
                        self.slot(predicate, Kind::Predicate)?;
                        let kind = match operation {
                            BarrierReduction::Count => Kind::Word,
                            BarrierReduction::And | BarrierReduction::Or => Kind::Predicate,
                        };
                        self.slot(destination, kind)
                    }
                }
            }
            Then::Call { call, next } => {
                self.target(*next)?;
                if let Callee::Address(slot) = call.callee {
                    self.slot(slot, Kind::Double)?;
                }
                let mut all = call.arguments.iter().chain(&call.returns);
                all.try_for_each(|it| self.words(*it))
            }
            Then::Return | Then::Exit | Then::Trap => Ok(()),
        }
    }
}

/// An entry of a table.
fn entry<T>(table: &[T], index: u64) -> Result<&T, String> {
    let found = usize::try_from(index).ok().and_then(|it| table.get(it));
    found.ok_or_else(|| format!("entry {index} of a table of {}", table.len()))
}

/// Whether a handler executes an access.
fn moves(mover: Mover, access: &Access) -> bool {
    use super::access::Act;
    let (is_fitting, bytes, count) = match (mover, &access.act) {
        (Mover::Any, _) => return true,
        (Mover::Image, _) => return access.image.is_some(),
        (Mover::CopyFrom, act) => return matches!(act, Act::CopyFrom { .. }),
        (Mover::Load { bytes, count }, act) => (
            matches!(act, Act::Load { .. } | Act::CopyFrom { .. }),
            bytes,
            count,
        ),
        (Mover::Store { bytes, count }, act) => {
            (matches!(act, Act::Store | Act::CopyTo), bytes, count)
        }
    };
    let kind = match bytes {
        4 => Kind::Word,
        _ => Kind::Double,
    };
    is_fitting
        && access.order == Order::Weak
        && (access.element, access.data.len()) == (bytes, count)
        && access
            .data
            .iter()
            .all(|it| it.slot.is_none() || it.kind == kind)
}

#[cfg(test)]
mod tests;
