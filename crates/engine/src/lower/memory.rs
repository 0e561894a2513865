//! Loads, stores, atomics, fences and hints.

use ptx::{
    Address, Atom, AtomicOperator, Base, CpAsync, CreatePolicy, Fence, Griddepcontrol, Ld, Ldu,
    Operand, Order, Proxy, Red, Reg, Scope, Space, St, StBulk, Type,
};

use super::atomic;
use super::handler::{handler, rare};
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::exec::access::{self, Access, Act, Atomic, Data, Part};
use crate::exec::atomic_update::update;
use crate::exec::op::binary;
use crate::exec::registers::{Kind, LANES};
use crate::exec::row;
use crate::exec::signature::{Aux, Handler, Mover};
use crate::exec::{checked, partial, zeros};

impl Lowering<'_> {
    pub(super) fn atom(&mut self, it: &Atom) -> Lowered<()> {
        self.atomic(&atomic::Change {
            space: it.space,
            order: it.order,
            scope: it.scope,
            operator: it.operator,
            ty: it.ty,
            address: &it.address,
            comparand: it.comparand.as_ref(),
            operands: &it.a,
            destinations: &it.d,
        })
    }

    pub(super) fn red(&mut self, it: &Red) -> Lowered<()> {
        self.atomic(&atomic::Change {
            space: it.space,
            order: it.order,
            scope: it.scope,
            operator: it.operator,
            ty: it.ty,
            address: &it.address,
            comparand: None,
            operands: &it.a,
            destinations: &vec![None; it.a.len()],
        })
    }

    /// `cp.async.commit_group`: copies are done where they begin.
    pub(super) fn commit_copies(&mut self) -> Lowered<()> {
        self.emit_masked(handler!([], |c, _op| checked::commit(c)), 0, [0; 3], 0);
        Ok(())
    }

    /// `cp.async.wait_group`.
    pub(super) fn wait_for_copies(&mut self, but: u32) -> Lowered<()> {
        let run = handler!([], |c, op| checked::wait(c, Some(op.a)));
        self.emit_masked(run, 0, [but, 0, 0], 0);
        Ok(())
    }

    /// `cp.async.wait_all`.
    pub(super) fn wait_for_all_copies(&mut self) -> Lowered<()> {
        self.emit_masked(handler!([], |c, _op| checked::wait(c, None)), 0, [0; 3], 0);
        Ok(())
    }

    /// `createpolicy`: what caches do with it is not emulated, and any bits will do.
    pub(super) fn create_policy(&mut self, it: &CreatePolicy) -> Lowered<()> {
        let bits = self.constant(Kind::Double, 0);
        self.copy(it.d, bits);
        Ok(())
    }

    pub(super) fn nanosleep(&mut self) -> Lowered<()> {
        let run = handler!([], |c, _op| {
            c.at.looks = c.at.looks.saturating_add(1 << 16);
        });
        self.emit_masked(run, 0, [0; 3], 0);
        Ok(())
    }

    pub(super) fn ld(&mut self, it: &Ld) -> Lowered<()> {
        match (it.space, it.address.base) {
            (Space::Param | Space::ParamEntry | Space::ParamFunction, Base::Symbol(symbol)) => {
                self.load_parameter(symbol, it)
            }
            _ => {
                let act = Act::Load {
                    signed: it.ty.is_signed(),
                    is_read_only: it.read_only,
                };
                let scope = it.scope.unwrap_or(Scope::System);
                let data = it.d.iter().map(|&it| self.loaded(it)).collect();
                self.access(it.space, it.ty, &it.address, it.order, scope, act, data)
            }
        }
    }

    pub(super) fn ldu(&mut self, it: &Ldu) -> Lowered<()> {
        let act = Act::Load {
            signed: it.ty.is_signed(),
            is_read_only: false,
        };
        let (weak, scope) = (Order::Weak, Scope::System);
        let data = it.d.iter().map(|&it| self.loaded(it)).collect();
        self.access(it.space, it.ty, &it.address, weak, scope, act, data)
    }

    /// A copy from global to shared memory, done at once.
    pub(super) fn copy_async(&mut self, it: &CpAsync) -> Lowered<()> {
        let read = self.bytes_read(it)?;
        let ty = match it.size {
            4 => Type::B32,
            8 => Type::B64,
            _ => Type::B128,
        };
        let kind = kind(ty);
        let data = vec![Data {
            slot: Some(self.scratch(kind)),
            kind,
            bits: ty.bits(),
        }];
        let (weak, scope) = (Order::Weak, Scope::System);
        let to = self.address(&it.destination)?;
        let load = Act::CopyFrom {
            to: to.0,
            to_offset: to.1,
        };
        self.access(
            Space::Global,
            ty,
            &it.source,
            weak,
            scope,
            load,
            data.clone(),
        )?;
        if let (Some(read), Some(last)) = (read, self.ops.last_mut()) {
            let run = rare!(
                [a: Kind::Double, b: Kind::Word, aux: Aux::Access(Mover::CopyFrom)],
                |c, op| partial::copy_from(c, op)
            );
            last.handle_by(run);
            last.op.b = read;
        }
        self.access(
            Space::Shared,
            ty,
            &it.destination,
            weak,
            scope,
            Act::CopyTo,
            data,
        )
    }

    pub(super) fn zeros(&mut self, it: &StBulk) -> Lowered<()> {
        let is_generic = match it.space {
            Space::Shared => 0,
            Space::Generic => 1,
            other => return Err(format!("the space {other:?}")),
        };
        let (address, offset) = self.address(&it.address)?;
        let size = self.read(&it.size, Kind::Double)?;
        let run = rare!([a: Kind::Double, b: Kind::Double], |c, op| zeros::store(c, op));
        self.emit_masked(run, 0, [address, size, is_generic], offset as u64);
        if let Some(last) = self.ops.last_mut() {
            last.op.accesses_memory = true;
        }
        Ok(())
    }

    /// The slot of words that say how many bytes a copy reads, where they may be fewer than it writes.
    fn bytes_read(&mut self, it: &CpAsync) -> Lowered<Option<u32>> {
        if let Some(ignored) = &it.ignore_source {
            let ignored = self.read_predicate(ignored)?;
            let run = rare!([d: Kind::Word, a: Kind::Predicate], |c, op| {
                let ignored = c.predicate(op.a);
                let bytes = |lane: usize| op.aux as u32 * (1 - (ignored >> lane & 1));
                *c.slot_mut(op.d) = std::array::from_fn::<u32, LANES, _>(bytes);
            });
            let bytes = u64::from(it.size);
            return Ok(Some(self.value(run, Kind::Word, [ignored, 0, 0], bytes)));
        }
        match it.source_size {
            None => Ok(None),
            Some(Operand::Immediate(bytes)) if bytes == u64::from(it.size) => Ok(None),
            Some(size) => self.read(&size, Kind::Word).map(Some),
        }
    }

    /// Where a loaded element goes.
    fn loaded(&mut self, register: Option<Reg>) -> Data {
        let Some(register) = register else {
            return Data {
                slot: None,
                kind: Kind::Word,
                bits: 32,
            };
        };
        let (slot, kind) = self.write(register);
        Data {
            slot: Some(slot),
            kind,
            bits: self.register_bits(register),
        }
    }

    /// Bits of a register, as it is declared.
    pub(super) fn register_bits(&self, register: Reg) -> u32 {
        let body = self.function.body.as_ref().expect("it has one");
        body.registers[register.0 as usize].ty.bits()
    }

    pub(super) fn st(&mut self, it: &St) -> Lowered<()> {
        if let (Space::Param | Space::ParamFunction, Base::Symbol(symbol)) =
            (it.space, it.address.base)
        {
            return self.store_parameter(symbol, it);
        }
        let mut data = Vec::new();
        for operand in &it.a {
            let kind = match *operand {
                Operand::Register(register) => self.slots.kind(register),
                _ => kind(it.ty),
            };
            data.push(Data {
                slot: Some(self.read(operand, kind)?),
                kind,
                bits: 128,
            });
        }
        let scope = it.scope.unwrap_or(Scope::System);
        self.access(
            it.space,
            it.ty,
            &it.address,
            it.order,
            scope,
            Act::Store,
            data,
        )
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "each is one of the instruction's parts"
    )]
    pub(super) fn access(
        &mut self,
        space: Space,
        ty: Type,
        address: &Address,
        order: Order,
        scope: Scope,
        act: Act,
        data: Vec<Data>,
    ) -> Lowered<()> {
        let space = match space {
            Space::Global | Space::Const => access::Space::Global,
            Space::Shared => access::Space::Shared,
            Space::SharedCluster => access::Space::Cluster,
            Space::Local => access::Space::Local,
            Space::Param | Space::ParamEntry => access::Space::Parameters,
            Space::Generic => access::Space::Generic,
            other => return Err(format!("the space {other:?}")),
        };
        let (base, offset) = self.address(address)?;
        let body = self.function.body.as_ref().expect("it has one");
        let root = self
            .roots
            .of_address(&self.layout, self.index, body, &self.locals, address);
        let root = match act {
            Act::Load { .. } | Act::CopyFrom { .. } => root,
            _ => root.map(|root| self.roots.written(root)),
        };
        let is_word = matches!(
            act,
            Act::Load { .. } | Act::Atomic(Atomic { compares: true, .. })
        );
        let part_bytes = self.partial_words.bytes_at(address);
        let part_bytes = part_bytes.filter(|_| is_word && ty.bytes() == 4 && data.len() == 1);
        let access = Access {
            part_bytes,
            root,
            image: None,
            act,
            space,
            element: ty.bytes(),
            data,
            offset,
            order,
            scope,
        };
        self.access_from(base, access);
        Ok(())
    }

    /// An access at the addresses of a slot.
    pub(super) fn access_from(&mut self, base: u32, access: Access) {
        let (run, space) = (mover(&access), access.space);
        self.accesses.push(access);
        let index = self.accesses.len() as u64 - 1;
        self.emit_masked(run, 0, [base, 0, 0], index);
        if let Some(last) = self.ops.last_mut() {
            last.op.accesses_memory =
                space != access::Space::Local && space != access::Space::Parameters;
        }
    }

    /// The slot that an address begins at, and what is added.
    pub(super) fn address(&mut self, address: &Address) -> Lowered<(u32, i64)> {
        Ok(match address.base {
            Base::Register(register) if self.slots.kind(register) == Kind::Word => {
                (self.narrow_address(register, address.offset)?, 0)
            }
            Base::Register(register) => (
                self.read(&Operand::Register(register), Kind::Double)?,
                address.offset,
            ),
            Base::Symbol(symbol) => (self.address_of(symbol, address.offset)?, 0),
            Base::Absolute => (self.constant(Kind::Double, 0), address.offset),
        })
    }

    /// The slot of an address of 32 bits, which wraps around at 2^32.
    fn narrow_address(&mut self, register: Reg, offset: i64) -> Lowered<u32> {
        let base = self.read(&Operand::Register(register), Kind::Word)?;
        let offset = self.constant(Kind::Word, u128::from(offset as u32));
        let sum = self.scratch(Kind::Double);
        let run = handler!(|c, op| binary(c, op, |a: u32, b: u32| u64::from(a.wrapping_add(b))));
        self.emit_to(run, sum, Kind::Double, &[base, offset]);
        Ok(sum)
    }

    pub(super) fn atomic(&mut self, change: &atomic::Change<'_>) -> Lowered<()> {
        let update = update(change.operator, change.ty, change.space)?;
        let kind = kind(change.ty);
        let mut operands = [0; 8];
        for (slot, operand) in operands.iter_mut().zip(change.operands) {
            *slot = self.read(operand, kind)?;
        }
        let comparand = match change.comparand {
            Some(comparand) => self.read(comparand, kind)?,
            None => operands[0],
        };
        let data = change
            .destinations
            .iter()
            .map(|&it| self.loaded(it))
            .collect();
        let part = match self.partial_words.placed(self.instruction) {
            Some(placed) => Some(Part {
                begins: self.read(&Operand::Register(placed.begins), Kind::Word)?,
                bytes: placed.bytes,
            }),
            None => None,
        };
        let act = Act::Atomic(Atomic {
            part,
            update,
            operands,
            comparand,
            kind,
            compares: change.comparand.is_some(),
            exchanges: change.operator == AtomicOperator::Exchange,
        });
        self.access(
            change.space,
            change.ty,
            change.address,
            change.order.unwrap_or(Order::Relaxed),
            change.scope,
            act,
            data,
        )
    }

    /// Launches follow one another: the checks want to know which may not.
    pub(super) fn grid_dependency(&mut self, it: Griddepcontrol) -> Lowered<()> {
        let run = match it {
            Griddepcontrol::LaunchDependents => {
                handler!([], |c, _op| checked::let_dependents_begin(c))
            }
            Griddepcontrol::Wait => handler!([], |c, _op| checked::wait_for_launch(c)),
        };
        self.emit_masked(run, 0, [0; 3], 0);
        Ok(())
    }

    pub(super) fn fence(&mut self, fence: &Fence) -> Lowered<()> {
        // Fences of proxies order what the engine does in order anyway: the checks want to know of them.
        match *fence {
            Fence::Thread { order, scope, .. } | Fence::TensorMap { order, scope, .. } => {
                self.fence_of_threads(order, scope);
            }
            Fence::MbarrierInit
            | Fence::AsyncGeneric { .. }
            | Fence::Proxy(Proxy::Async | Proxy::AsyncShared | Proxy::AsyncSharedCluster) => {
                let run = handler!([], |c, _op| checked::proxy_fence(c));
                self.emit_masked(run, 0, [0; 3], 0);
            }
            Fence::Proxy(_) => {}
        }
        Ok(())
    }

    /// A fence of the thread's accesses.
    pub(super) fn fence_of_threads(&mut self, order: Order, scope: Scope) {
        let run = handler!([], |c, op| {
            std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
            c.at.looks = c.at.looks.saturating_add(1);
            checked::fence(c, op.a, op.b);
        });
        self.emit_masked(run, 0, [order as u32, scope as u32, 0], 0);
    }
}

/// A handler of weak loads or stores of so many elements of so many bytes.
macro_rules! moves {
    ($way:ident, $bytes:literal, $count:literal, $by:expr) => {
        handler!(
            [a: Kind::Double, aux: Aux::Access(Mover::$way { bytes: $bytes, count: $count })],
            |c, op| $by(c, op)
        )
    };
}

/// Returns the handler of an access: where it may be one of a row, the one that looks for that first.
fn mover(access: &Access) -> Handler {
    let lanewise = handler!(
        [a: Kind::Double, aux: Aux::Access(Mover::Any)],
        |c, op| access::access(c, op)
    );
    let kind = match access.element {
        4 => Kind::Word,
        8 => Kind::Double,
        _ => Kind::Quad,
    };
    let is_plain = |data: &Data| data.kind == kind || data.slot.is_none();
    let is_plain = access.order == Order::Weak && access.data.iter().all(is_plain);
    let shape = (access.element, access.data.len());
    match access.act {
        Act::Load { .. } | Act::CopyFrom { .. } if is_plain => match shape {
            (4, 1) => moves!(Load, 4, 1, row::load::<u32, 1>),
            (4, 2) => moves!(Load, 4, 2, row::load::<u32, 2>),
            (4, 4) => moves!(Load, 4, 4, row::load_quads),
            (8, 1) => moves!(Load, 8, 1, row::load::<u64, 1>),
            (8, 2) => moves!(Load, 8, 2, row::load::<u64, 2>),
            _ => lanewise,
        },
        Act::Store | Act::CopyTo if is_plain => match shape {
            (4, 1) => moves!(Store, 4, 1, row::store::<u32, 1>),
            (4, 2) => moves!(Store, 4, 2, row::store::<u32, 2>),
            (4, 4) => moves!(Store, 4, 4, row::store::<u32, 4>),
            (8, 1) => moves!(Store, 8, 1, row::store::<u64, 1>),
            (8, 2) => moves!(Store, 8, 2, row::store::<u64, 2>),
            _ => lanewise,
        },
        _ => lanewise,
    }
}
