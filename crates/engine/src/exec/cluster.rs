//! Clusters: blocks that begin together, reach each other's shared memory, and have a barrier.
//!
//! An address of `shared::cluster` has the rank of its block, and one more, above 24 bits; without it is the
//! block's own.

use std::cell::Cell;
use std::rc::Rc;

use ptx::{Axis, SpecialRegister};

use super::checked;
use super::failure::Cause;
use super::op::{Context, Op};
use super::registers::{LANES, lanes_of};
use super::surroundings::axis;
use crate::check::BlockId;
use crate::memory::windows;

/// Bits of an offset in an address of `shared::cluster`.
const OFFSET: u32 = 24;

/// The last rank that an address has bits for.
const LAST: u32 = 0xfe;

/// The blocks of a cluster. One host thread runs them.
#[derive(Debug)]
pub(crate) struct Cluster {
    /// The number of its first block.
    first: u64,
    seats: Vec<Seat>,
    /// Threads that have not ended, and those that have arrived at the barrier in this phase.
    threads: Cell<u32>,
    arrived: Cell<u32>,
    phase: Cell<u32>,
}

/// A block of a cluster.
#[derive(Debug)]
struct Seat {
    shared: *mut u8,
    id: Option<BlockId>,
    has_ended: Cell<bool>,
}

/// Another block's shared memory.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) shared: *mut u8,
    pub(crate) id: Option<BlockId>,
}

impl Cluster {
    /// Of blocks with so many threads each, and where their shared memory is.
    pub(crate) fn new(
        first: u64,
        threads: u32,
        blocks: impl Iterator<Item = (*mut u8, Option<BlockId>)>,
    ) -> Rc<Cluster> {
        let seat = |(shared, id)| Seat {
            shared,
            id,
            has_ended: Cell::new(false),
        };
        let seats: Vec<Seat> = blocks.map(seat).collect();
        Rc::new(Cluster {
            first,
            threads: Cell::new(threads * seats.len() as u32),
            seats,
            arrived: Cell::new(0),
            phase: Cell::new(0),
        })
    }

    /// A block has ended. Gives whether all have.
    pub(crate) fn end(&self, block: u64) -> bool {
        self.seats[(block - self.first) as usize]
            .has_ended
            .set(true);
        self.seats.iter().all(|it| it.has_ended.get())
    }

    /// The number of its first block.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    fn peer(&self, rank: u64) -> Result<Peer, Cause> {
        let blocks = self.seats.len();
        let Some(seat) = self.seats.get(rank as usize) else {
            let text = format!("reaches block {rank} of a cluster of {blocks}");
            return Err(Cause::misuse(text));
        };
        if seat.has_ended.get() {
            let block = self.first + rank;
            let text = format!(
                "reaches the shared memory of block {block}, which has ended: blocks of a cluster meet before they end"
            );
            return Err(Cause::misuse(text));
        }
        Ok(Peer {
            shared: seat.shared,
            id: seat.id,
        })
    }

    /// Threads end: they count as arrived, those that have arrived in this phase no more than once.
    fn leave(&self, threads: u32, arrived: u32) {
        self.threads.set(self.threads.get() - threads);
        self.arrived.set(self.arrived.get() - arrived);
        self.settle();
    }

    fn settle(&self) {
        if self.arrived.get() > 0 && self.arrived.get() >= self.threads.get() {
            self.arrived.set(0);
            self.phase.set(self.phase.get() + 1);
        }
    }
}

/// The cluster of the block that runs.
fn cluster<'c>(context: &Context<'c>) -> &'c Cluster {
    // SAFETY: the block's, which has entered and keeps it.
    unsafe { &*context.at.cluster }
}

/// The block's number in its cluster.
fn own_rank(context: &Context<'_>) -> u64 {
    context.at.block - cluster(context).first
}

/// Whether a special register tells of the cluster.
pub(crate) fn is_special(special: SpecialRegister) -> bool {
    use SpecialRegister::{
        ClusterCtaid, ClusterCtarank, ClusterNctaid, ClusterNctarank, Clusterid, IsExplicitCluster,
        Nclusterid,
    };
    matches!(
        special,
        ClusterCtaid(_)
            | ClusterCtarank
            | ClusterNctaid(_)
            | ClusterNctarank
            | Clusterid(_)
            | IsExplicitCluster
            | Nclusterid(_)
    )
}

/// Returns the value of a special register of clusters. Clusters are blocks that follow each other along x.
pub(crate) fn special(context: &Context<'_>, special: SpecialRegister) -> u32 {
    use SpecialRegister::{
        ClusterCtaid, ClusterCtarank, ClusterNctaid, ClusterNctarank, Clusterid, IsExplicitCluster,
        Nclusterid,
    };
    let together = context.at.launch.together() as u32;
    let rank = context.at.block_index[0] % together;
    match special {
        ClusterCtaid(Axis::X) | ClusterCtarank => rank,
        ClusterCtaid(_) => 0,
        ClusterNctaid(Axis::X) | ClusterNctarank => together,
        ClusterNctaid(_) => 1,
        Clusterid(Axis::X) => context.at.block_index[0] / together,
        Clusterid(of) => context.at.block_index[axis(of)],
        Nclusterid(Axis::X) => context.at.launch.grid[0] / together,
        Nclusterid(of) => context.at.launch.grid[axis(of)],
        IsExplicitCluster if together > 1 => u32::MAX,
        _ => 0,
    }
}

/// Lanes of a warp have ended.
pub(crate) fn leave(context: &Context<'_>, lanes: u32) {
    if context.at.cluster.is_null() {
        return;
    }
    let cluster = cluster(context);
    let phase = Some(cluster.phase.get());
    // SAFETY: the warp's own, which has entered.
    let awaited = unsafe { &mut *context.at.awaited };
    let has_arrived = |&lane: &usize| awaited[lane] == phase;
    let arrived = lanes_of(lanes).filter(has_arrived).count();
    lanes_of(lanes).for_each(|lane| awaited[lane] = None);
    cluster.leave(lanes.count_ones(), arrived as u32);
}

/// Blocks of the cluster.
pub(crate) fn blocks(context: &Context<'_>) -> u32 {
    cluster(context).seats.len() as u32
}

/// The block's number in its cluster.
pub(crate) fn rank(context: &Context<'_>) -> u32 {
    own_rank(context) as u32
}

/// The rank that an address of `shared::cluster` names, if that is another block's, and the offset.
pub(crate) fn of_window(context: &Context<'_>, address: u64) -> (Option<u64>, u64) {
    let (rank, offset) = (address >> OFFSET, address & ((1 << OFFSET) - 1));
    let other = rank.checked_sub(1).filter(|&it| it != own_rank(context));
    (other, offset)
}

/// The same of a generic address in the window of shared memory; none where it is of no block of the cluster.
pub(crate) fn of_generic(context: &Context<'_>, address: u64) -> Option<(u64, u64)> {
    if context.at.cluster.is_null() {
        return None;
    }
    let block = (address & windows::OFFSET) >> 33;
    let rank = block.checked_sub(cluster(context).first)?;
    let is_other = rank != own_rank(context) && rank < u64::from(blocks(context));
    is_other.then_some((rank, address & u64::from(u32::MAX)))
}

/// Another block of the cluster.
///
/// # Errors
/// There is none, or it has ended.
pub(crate) fn peer(context: &Context<'_>, rank: u64) -> Result<Peer, Cause> {
    cluster(context).peer(rank)
}

/// `mapa` of generic addresses.
pub(crate) fn map_generic(context: &Context<'_>, address: u64, rank: u32) -> u64 {
    let block = cluster(context).first + u64::from(rank);
    windows::of_block(block) | address & u64::from(u32::MAX)
}

/// `mapa.shared::cluster`. Addresses have 32 bits: ranks beyond those that fit are the last, which no cluster
/// has.
pub(crate) fn map(address: u64, rank: u32) -> u64 {
    (u64::from(rank.min(LAST)) + 1) << OFFSET | address & ((1 << OFFSET) - 1)
}

/// `barrier.cluster.arrive`; `op.a` is 0 where it is relaxed.
pub(crate) fn arrive(context: &mut Context<'_>, op: &Op) {
    let (mask, cluster) = (context.mask, cluster(context));
    // SAFETY: the warp's own, which has entered.
    let awaited = unsafe { &mut *context.at.awaited };
    if let Some(lane) = lanes_of(mask).find(|&lane| awaited[lane].is_some()) {
        let text =
            format!("lane {lane} arrives at the cluster's barrier again before it has waited");
        context.fault(Cause::misuse(text), op.instruction);
        return;
    }
    lanes_of(mask).for_each(|lane| awaited[lane] = Some(cluster.phase.get()));
    if op.a != 0 {
        checked::arrive_in_cluster(context);
    }
    cluster
        .arrived
        .set(cluster.arrived.get() + mask.count_ones());
    cluster.settle();
}

/// Whether all have arrived for whom lanes wait at the cluster's barrier.
pub(crate) fn may_go_on(context: &Context<'_>, mask: u32) -> bool {
    // SAFETY: the warp's own, which has entered.
    let awaited: &[Option<u32>; LANES] = unsafe { &*context.at.awaited };
    let phase = cluster(context).phase.get();
    lanes_of(mask).all(|lane| awaited[lane].is_none_or(|it| it < phase))
}

/// `barrier.cluster.wait`, when the lanes may go on.
pub(crate) fn wait(context: &mut Context<'_>, op: &Op) {
    let mask = context.mask;
    // SAFETY: the warp's own, which has entered.
    let awaited = unsafe { &mut *context.at.awaited };
    if let Some(lane) = lanes_of(mask).find(|&lane| awaited[lane].is_none()) {
        let text = format!("lane {lane} waits at the cluster's barrier, where it has not arrived");
        context.fault(Cause::misuse(text), op.instruction);
        return;
    }
    lanes_of(mask).for_each(|lane| awaited[lane] = None);
    checked::leave_in_cluster(context);
}
