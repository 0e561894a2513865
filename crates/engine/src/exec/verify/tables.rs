//! The entries of a program's tables.

use super::{Checked, Verifier};
use crate::exec::access::{Access, Act};
use crate::exec::bulk::{Bulk, Global, Way};
use crate::exec::fragment::{Factor, Product, Summand, kind_of, kind_of_sum};
use crate::exec::mbarrier::{Act as MbarrierAct, Mbarrier, Phase};
use crate::exec::registers::Kind;
use crate::exec::shared_operand::Address;
use crate::exec::tensor_memory::{Instruction, Left as TensorLeft};
use crate::exec::wgmma::{Left, Wgmma};

impl Verifier<'_> {
    pub(super) fn access(&self, access: &Access) -> Checked {
        let (element, count) = (access.element, access.data.len());
        if !matches!(element, 1 | 2 | 4 | 8 | 16) || !matches!(count, 1 | 2 | 4 | 8) {
            return Err(format!("an access of {count} elements of {element} bytes"));
        }
        for data in &access.data {
            if let Some(slot) = data.slot {
                self.slot(slot, data.kind)?;
            }
            if !(1..=128).contains(&data.bits) {
                return Err(format!("{} bits of a register", data.bits));
            }
        }
        if let Some(reach) = &access.image {
            let mut slots = reach.coordinates.iter().chain(&reach.layer);
            slots.try_for_each(|&slot| self.slot(slot, Kind::Word))?;
        }
        match &access.act {
            Act::Load { .. } | Act::Store | Act::CopyTo => Ok(()),
            Act::CopyFrom { to, .. } => self.slot(*to, Kind::Double),
            Act::Atomic(atomic) => {
                self.slot(atomic.comparand, atomic.kind)?;
                if let Some(part) = atomic.part {
                    self.slot(part.begins, Kind::Word)?;
                }
                let mut operands = atomic.operands[..count].iter();
                operands.try_for_each(|&slot| self.slot(slot, atomic.kind))
            }
        }
    }

    pub(super) fn product(&self, product: &Product) -> Checked {
        self.factor(&product.a)?;
        self.factor(&product.b)?;
        self.summand(&product.c)?;
        self.summand(&product.d)
    }

    fn factor(&self, factor: &Factor) -> Checked {
        let kind = kind_of(factor.of);
        let mut slots = factor.slots.iter();
        slots.try_for_each(|&slot| self.slot(slot, kind))
    }

    fn summand(&self, summand: &Summand) -> Checked {
        let kind = kind_of_sum(summand.of);
        let mut slots = summand.slots.iter();
        slots.try_for_each(|&slot| self.slot(slot, kind))
    }

    pub(super) fn wgmma(&self, it: &Wgmma) -> Checked {
        match &it.a {
            Left::Registers(factor) => self.factor(factor)?,
            Left::Shared(matrix) => self.slot(matrix.descriptor, Kind::Double)?,
        }
        self.slot(it.b.descriptor, Kind::Double)?;
        self.slot(it.adds, Kind::Predicate)?;
        self.summand(&it.d)
    }

    fn address(&self, address: &Address) -> Checked {
        self.slot(address.slot, Kind::Double)
    }

    pub(super) fn mbarrier(&self, it: &Mbarrier) -> Checked {
        self.address(&it.at)?;
        match it.act {
            MbarrierAct::Inval | MbarrierAct::ArriveByCopies { .. } => Ok(()),
            MbarrierAct::Init { count } => self.slot(count, Kind::Word),
            MbarrierAct::Expect { bytes } | MbarrierAct::Complete { bytes } => {
                self.slot(bytes, Kind::Word)
            }
            MbarrierAct::Arrive(arrival) => {
                for word in [arrival.expect, arrival.count].into_iter().flatten() {
                    self.slot(word, Kind::Word)?;
                }
                arrival
                    .state
                    .map_or(Ok(()), |slot| self.slot(slot, Kind::Double))
            }
            MbarrierAct::Wait { phase, p } => {
                self.slot(p, Kind::Predicate)?;
                match phase {
                    Phase::Of(state) => self.slot(state, Kind::Double),
                    Phase::Parity(parity) => self.slot(parity, Kind::Word),
                }
            }
        }
    }

    pub(super) fn tensor_memory(&self, it: &Instruction) -> Checked {
        let words = |slots: &[u32]| slots.iter().try_for_each(|&it| self.slot(it, Kind::Word));
        match it {
            Instruction::Allocate { to, columns } => {
                self.address(to)?;
                words(&[*columns])
            }
            Instruction::Free { address, columns } => words(&[*address, *columns]),
            Instruction::Relinquish => Ok(()),
            Instruction::Move(it) => {
                self.address(&it.address)?;
                let registers = it.shape.registers() * it.repeats as usize;
                if it.slots.len() != registers || registers > 128 {
                    return Err(format!("{} registers of {registers}", it.slots.len()));
                }
                words(&it.slots)
            }
            Instruction::Copy(it) => {
                self.address(&it.address)?;
                self.slot(it.descriptor, Kind::Double)
            }
            Instruction::Multiply(it) => {
                self.address(&it.d)?;
                match &it.a {
                    TensorLeft::Shared(slot) => self.slot(*slot, Kind::Double)?,
                    TensorLeft::Tensor(address) => self.address(address)?,
                }
                if let Some(scales) = &it.scales {
                    self.address(&scales.a)?;
                    self.address(&scales.b)?;
                }
                self.slot(it.b, Kind::Double)?;
                self.slot(it.adds, Kind::Predicate)?;
                words(&[it.descriptor])?;
                words(&it.disabled)
            }
            Instruction::Commit {
                mbarrier,
                multicast,
            } => {
                self.address(mbarrier)?;
                multicast.map_or(Ok(()), |slot| words(&[slot]))
            }
        }
    }

    pub(super) fn bulk(&self, it: &Bulk) -> Checked {
        self.address(&it.shared)?;
        match &it.global {
            Global::Adjacent { at, bytes } => {
                self.address(at)?;
                self.slot(*bytes, Kind::Word)?;
            }
            Global::Zeros => {}
            Global::Tensor { map, coordinates } => {
                self.address(map)?;
                let mut slots = coordinates.iter();
                slots.try_for_each(|&slot| self.slot(slot, Kind::Word))?;
            }
        }
        match &it.way {
            Way::Store | Way::Reduce { .. } => Ok(()),
            Way::Load {
                mbarrier,
                multicast,
            } => {
                self.address(mbarrier)?;
                multicast.map_or(Ok(()), |slot| self.slot(slot, Kind::Word))
            }
        }
    }
}
