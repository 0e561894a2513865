//! Instructions by which blocks of a cluster reach each other.

use ptx::{BarrierCluster, ClusterAction, Getctarank, Mapa, Operation, Order, Space};

use super::handler::rare;
use super::{Lowered, Lowering};
use crate::exec::cluster;
use crate::exec::op::each_lane;
use crate::exec::program::Meeting;
use crate::exec::registers::Kind;

impl Lowering<'_> {
    pub(super) fn barrier_of_cluster(&mut self, it: &BarrierCluster) -> Lowered<()> {
        if it.aligned || it.action == ClusterAction::Wait {
            self.meet_whole()?;
        }
        let run = match it.action {
            ClusterAction::Arrive => rare!([], |c, op| cluster::arrive(c, op)),
            ClusterAction::Wait => rare!([], |c, op| cluster::wait(c, op)),
        };
        if let (ClusterAction::Wait, Some(gate)) = (it.action, &mut self.gate) {
            gate.meeting = match it.aligned {
                true => Meeting::Cluster(self.instruction),
                false => Meeting::ClusterByLane,
            };
            gate.is_for_all = false;
        }
        let releases = u32::from(it.order != Order::Relaxed);
        self.emit_masked(run, 0, [releases, 0, 0], 0);
        Ok(())
    }

    pub(super) fn mapa(&mut self, it: &Mapa) -> Lowered<()> {
        let a = self.read(&it.a, Kind::Double)?;
        let rank = self.read(&it.b, Kind::Word)?;
        let mapped = self.scratch(Kind::Double);
        let run = match it.space {
            Space::Generic => rare!([d: Kind::Double, a: Kind::Double, b: Kind::Word], |c, op| {
                let (a, ranks) = (*c.slot::<u64>(op.a), *c.slot::<u32>(op.b));
                let mapped = each_lane(|lane| cluster::map_generic(c, a[lane], ranks[lane]));
                *c.slot_mut(op.d) = mapped;
            }),
            _ => rare!([d: Kind::Double, a: Kind::Double, b: Kind::Word], |c, op| {
                let (a, ranks) = (*c.slot::<u64>(op.a), *c.slot::<u32>(op.b));
                *c.slot_mut(op.d) = each_lane(|lane| cluster::map(a[lane], ranks[lane]));
            }),
        };
        self.emit_to(run, mapped, Kind::Double, &[a, rank]);
        let kind = self.slots.kind(it.d);
        let mapped = match kind {
            Kind::Double => mapped,
            kind => self.resized(mapped, Kind::Double, kind)?,
        };
        self.copy(it.d, mapped);
        Ok(())
    }

    pub(super) fn getctarank(&mut self, it: &Getctarank) -> Lowered<()> {
        let a = self.read(&it.a, Kind::Double)?;
        let run = match it.space {
            Space::Generic => rare!([d: Kind::Word, a: Kind::Double], |c, op| {
                let own = cluster::rank(c);
                let a = *c.slot::<u64>(op.a);
                let rank = |lane: usize| {
                    cluster::of_generic(c, a[lane]).map_or(own, |(rank, _)| rank as u32)
                };
                let ranks = each_lane(rank);
                *c.slot_mut(op.d) = ranks;
            }),
            _ => rare!([d: Kind::Word, a: Kind::Double], |c, op| {
                let own = cluster::rank(c);
                let a = *c.slot::<u64>(op.a);
                let rank = |lane: usize| {
                    cluster::of_window(c, a[lane])
                        .0
                        .map_or(own, |rank| rank as u32)
                };
                let ranks = each_lane(rank);
                *c.slot_mut(op.d) = ranks;
            }),
        };
        self.emit(run, it.d, &[a]);
        Ok(())
    }
}

/// Whether a module has instructions for which each launch has clusters, of one block if nothing else is said.
pub(crate) fn needs_clusters(module: &ptx::Module) -> bool {
    let bodies = module.functions.iter().filter_map(|it| it.body.as_ref());
    bodies.flat_map(|it| &it.instructions).any(|it| {
        matches!(
            it.operation,
            Operation::BarrierCluster(_) | Operation::Mapa(_) | Operation::Getctarank(_)
        )
    })
}
