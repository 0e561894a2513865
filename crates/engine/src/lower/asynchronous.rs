//! `mbarrier`, and copies of many bytes.

use ptx::{
    Completion, CpAsyncBulk, CpAsyncBulkTensor, CpAsyncBulkWaitGroup, CpAsyncMbarrierArrive,
    CpReduceAsyncBulk, FirstCanceled, IsCanceled, MbarrierArrive, MbarrierInit, MbarrierInval,
    MbarrierPendingCount, MbarrierTransaction, MbarrierWait, Operand, Order, Phase, Space,
    TensorCopy, TensorMode, TryCancel,
};

use super::handler::{handler, rare};
use super::{Lowered, Lowering};
use crate::check;
use crate::exec::bulk::{self, Bulk, Global, Way};
use crate::exec::mbarrier::{self, Act, Arrival, Mbarrier};
use crate::exec::op::{lanes_where, unary};
use crate::exec::registers::Kind;
use crate::exec::shared_operand::Address;
use crate::exec::signature::Table;
use crate::exec::{access, checked};

/// The scope of a thread's action at an mbarrier: it is atomic for all that can reach it.
const SCOPE: check::Scope = check::Scope::Cluster;

impl Lowering<'_> {
    pub(super) fn mbarrier_init(&mut self, it: &MbarrierInit) -> Lowered<()> {
        let count = self.read(&it.count, Kind::Word)?;
        let what = check::AccessKind::Write(check::Strength::Weak);
        self.mbarrier(it.space, &it.address, Act::Init { count }, what)
    }

    pub(super) fn mbarrier_inval(&mut self, it: &MbarrierInval) -> Lowered<()> {
        let what = check::AccessKind::Write(check::Strength::Weak);
        self.mbarrier(it.space, &it.address, Act::Inval, what)
    }

    pub(super) fn mbarrier_transaction(&mut self, it: &MbarrierTransaction) -> Lowered<()> {
        let bytes = self.read(&it.count, Kind::Word)?;
        let act = match it.complete {
            true => Act::Complete { bytes },
            false => Act::Expect { bytes },
        };
        let what = check::AccessKind::Atomic(check::Order::Relaxed, SCOPE);
        self.mbarrier(it.space, &it.address, act, what)
    }

    pub(super) fn arrive_by_copies(&mut self, it: &CpAsyncMbarrierArrive) -> Lowered<()> {
        let act = Act::ArriveByCopies {
            is_expected: it.no_increment,
        };
        let what = check::AccessKind::Atomic(check::Order::Relaxed, SCOPE);
        self.mbarrier(it.space, &it.address, act, what)
    }

    pub(super) fn pending_count(&mut self, it: &MbarrierPendingCount) -> Lowered<()> {
        let state = self.read(&it.state, Kind::Double)?;
        let run = handler!(|c, op| unary(c, op, |a: u64| mbarrier::pending_count(a)));
        self.emit(run, it.d, &[state]);
        Ok(())
    }

    pub(super) fn commit_bulk(&mut self) -> Lowered<()> {
        self.emit_masked(rare!([], |c, _op| checked::bulk_commit(c)), 0, [0; 3], 0);
        Ok(())
    }

    pub(super) fn wait_for_bulk(&mut self, it: &CpAsyncBulkWaitGroup) -> Lowered<()> {
        let run = match it.read {
            true => rare!([], |c, op| checked::bulk_wait(c, op.a, true)),
            false => rare!([], |c, op| checked::bulk_wait(c, op.a, false)),
        };
        self.emit_masked(run, 0, [it.groups, 0, 0], 0);
        Ok(())
    }

    pub(super) fn arrive(&mut self, it: &MbarrierArrive) -> Lowered<()> {
        let optional = |this: &mut Self, operand: &Option<Operand>| match operand {
            Some(operand) => this.read(operand, Kind::Word).map(Some),
            None => Ok(None),
        };
        let arrival = Arrival {
            drops: it.drop,
            expect: optional(self, &it.expect_tx)?,
            completes: !it.no_complete,
            count: optional(self, &it.count)?,
            state: it.state.map(|state| self.write(state).0),
        };
        let order = match it.order {
            Order::Relaxed => check::Order::Relaxed,
            _ => check::Order::Release,
        };
        let what = check::AccessKind::Atomic(order, SCOPE);
        self.mbarrier(it.space, &it.address, Act::Arrive(arrival), what)
    }

    pub(super) fn wait(&mut self, it: &MbarrierWait) -> Lowered<()> {
        let phase = match &it.phase {
            Phase::State(state) => mbarrier::Phase::Of(self.read(state, Kind::Double)?),
            Phase::Parity(parity) => mbarrier::Phase::Parity(self.read(parity, Kind::Word)?),
        };
        let p = self.write(it.p).0;
        let order = match it.order {
            Order::Relaxed => check::Order::Relaxed,
            _ => check::Order::Acquire,
        };
        let what = check::AccessKind::Read(check::Strength::Strong(order, SCOPE));
        self.mbarrier(it.space, &it.address, Act::Wait { phase, p }, what)
    }

    fn mbarrier(
        &mut self,
        space: Space,
        address: &ptx::Address,
        act: Act,
        what: check::AccessKind,
    ) -> Lowered<()> {
        let at = self.place(space, address)?;
        self.mbarriers.push(Mbarrier { at, act, what });
        let index = self.mbarriers.len() as u64 - 1;
        self.emit_masked(
            rare!([aux: Table::Mbarriers], |c, op| mbarrier::execute(c, op)),
            0,
            [0; 3],
            index,
        );
        self.reaches_others();
        Ok(())
    }

    /// The last operation is one at which it matters who goes first.
    pub(super) fn reaches_others(&mut self) {
        if let Some(last) = self.ops.last_mut() {
            last.op.accesses_memory = true;
        }
    }

    /// An address whose base is not needed for anything else.
    pub(super) fn place(&mut self, space: Space, address: &ptx::Address) -> Lowered<Address> {
        let space = match space {
            Space::Global => access::Space::Global,
            Space::Shared => access::Space::Shared,
            Space::SharedCluster => access::Space::Cluster,
            Space::Generic => access::Space::Generic,
            other => return Err(format!("the space {other:?}")),
        };
        let (slot, offset) = self.address(address)?;
        Ok(Address {
            slot,
            offset,
            space,
        })
    }

    /// The blocks of the cluster that a copy goes to.
    pub(super) fn multicast(&mut self, blocks: Option<&Operand>) -> Lowered<Option<u32>> {
        match blocks {
            Some(blocks) => self.read(blocks, Kind::Word).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn bulk_copy(&mut self, it: &CpAsyncBulk) -> Lowered<()> {
        if it.byte_mask.is_some() {
            return Err("`.cp_mask`".to_owned());
        }
        let multicast = self.multicast(it.multicast.as_ref())?;
        let bytes = self.read(&it.size, Kind::Word)?;
        let (way, shared, global) = match (it.destination_space, it.source_space, it.completion) {
            (Space::Global, Space::Shared, Completion::Group) => {
                (Way::Store, &it.source, &it.destination)
            }
            (Space::Shared | Space::SharedCluster, Space::Global, Completion::Mbarrier(told)) => {
                let mbarrier = self.place(Space::SharedCluster, &told)?;
                (
                    Way::Load {
                        mbarrier,
                        multicast,
                    },
                    &it.destination,
                    &it.source,
                )
            }
            _ => return Err("a copy between these spaces".to_owned()),
        };
        let shared = self.place(Space::SharedCluster, shared)?;
        let at = self.place(Space::Global, global)?;
        self.bulk(Bulk {
            way,
            shared,
            global: Global::Adjacent { at, bytes },
        })
    }

    /// `clusterlaunchcontrol.try_cancel`: it comes too late, as it does on a GPU where all blocks have begun. The answer is 0.
    pub(super) fn try_cancel(&mut self, it: &TryCancel) -> Lowered<()> {
        if it.multicast {
            return Err("an answer for all blocks".to_owned());
        }
        let shared = self.place(it.space, &it.response)?;
        let mbarrier = self.place(it.space, &it.mbarrier)?;
        self.bulk(Bulk {
            way: Way::Load {
                mbarrier,
                multicast: None,
            },
            shared,
            global: Global::Zeros,
        })
    }

    pub(super) fn is_canceled(&mut self, it: &IsCanceled) -> Lowered<()> {
        let response = self.read(&it.response, Kind::Quad)?;
        let p = self.write(it.p).0;
        let run = rare!([d: Kind::Predicate, a: Kind::Quad], |c, op| {
            let answers = *c.slot::<u128>(op.a);
            c.set_predicate(op.d, lanes_where(|lane| answers[lane] != 0));
        });
        self.emit_to(run, p, Kind::Predicate, &[response]);
        Ok(())
    }

    /// Of no block, as none is cancelled.
    pub(super) fn first_canceled(&mut self, it: &FirstCanceled) -> Lowered<()> {
        for &d in &it.d {
            self.mov(d, &Operand::Immediate(0))?;
        }
        Ok(())
    }

    pub(super) fn bulk_reduction(&mut self, it: &CpReduceAsyncBulk) -> Lowered<()> {
        if (it.destination_space, it.source_space) != (Space::Global, Space::Shared) {
            return Err("a reduction between these spaces".to_owned());
        }
        let bytes = self.read(&it.size, Kind::Word)?;
        let shared = self.place(Space::Shared, &it.source)?;
        let at = self.place(Space::Global, &it.destination)?;
        crate::exec::atomic_update::update(it.operator, it.ty, Space::Global)?;
        self.bulk(Bulk {
            way: Way::Reduce {
                operator: it.operator,
                ty: Some(it.ty),
            },
            shared,
            global: Global::Adjacent { at, bytes },
        })
    }

    pub(super) fn tensor_copy(&mut self, it: &CpAsyncBulkTensor) -> Lowered<()> {
        if it.mode != TensorMode::Tile {
            return Err("coordinates of other than tiles".to_owned());
        }
        if it.block_group.is_some() {
            return Err("`.cta_group`".to_owned());
        }
        let multicast = self.multicast(it.multicast.as_ref())?;
        let map = self.place(Space::Generic, &it.tensor_map)?;
        let mut coordinates = Vec::new();
        for coordinate in &it.coordinates {
            coordinates.push(self.read(coordinate, Kind::Word)?);
        }
        let (way, shared) = match (&it.copy, it.completion) {
            (TensorCopy::Prefetch, _) => return Ok(()),
            (TensorCopy::Load { destination, .. }, Some(Completion::Mbarrier(told))) => {
                let mbarrier = self.place(Space::SharedCluster, &told)?;
                (
                    Way::Load {
                        mbarrier,
                        multicast,
                    },
                    destination,
                )
            }
            (TensorCopy::Store { source }, _) => (Way::Store, source),
            (TensorCopy::Reduce { source, operator }, _) => (
                Way::Reduce {
                    operator: *operator,
                    ty: None,
                },
                source,
            ),
            _ => return Err("this way to say that it is done".to_owned()),
        };
        let shared = self.place(Space::SharedCluster, shared)?;
        self.bulk(Bulk {
            way,
            shared,
            global: Global::Tensor { map, coordinates },
        })
    }

    fn bulk(&mut self, bulk: Bulk) -> Lowered<()> {
        self.bulks.push(bulk);
        let index = self.bulks.len() as u64 - 1;
        self.emit_masked(
            rare!([aux: Table::Bulks], |c, op| bulk::execute(c, op)),
            0,
            [0; 3],
            index,
        );
        self.reaches_others();
        Ok(())
    }
}
