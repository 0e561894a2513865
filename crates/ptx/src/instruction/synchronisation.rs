//! Barriers, fences, votes and what else threads do together.

use super::movement::space_is;
use crate::instruction::types::one_of;
use crate::instruction::{Meeting, Visit, Wanted, operations};
use crate::names::named;
use crate::{
    Address, MbarrierInit, MbarrierInval, Operand, Order, Predicate, Redux, Reg, Scope, Space, Type,
};

/// The action of a barrier besides counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierAction {
    /// `.sync`: waits.
    Sync,
    /// `.arrive`: does not wait.
    Arrive,
    /// `.red.popc`: waits, and counts the threads whose predicate is true.
    Popc {
        /// Destination, `u32`.
        d: Reg,
        /// The thread's predicate.
        predicate: Predicate,
    },
    /// `.red.and`: waits, and tells whether all predicates are true.
    And {
        /// Destination.
        p: Reg,
        /// The thread's predicate.
        predicate: Predicate,
    },
    /// `.red.or`: waits, and tells whether any predicate is true.
    Or {
        /// Destination.
        p: Reg,
        /// The thread's predicate.
        predicate: Predicate,
    },
}

impl Visit for BarrierAction {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        match self {
            Self::Sync | Self::Arrive => {}
            Self::Popc { d, predicate } => {
                d.visit(Wanted::WORD, visitor);
                predicate.visit(Wanted::PREDICATE, visitor);
            }
            Self::And { p, predicate } | Self::Or { p, predicate } => {
                p.visit(Wanted::PREDICATE, visitor);
                predicate.visit(Wanted::PREDICATE, visitor);
            }
        }
    }
}

named! {
    /// The action of `barrier.cluster`.
    pub enum ClusterAction {
        /// Does not wait.
        Arrive = "arrive",
        /// Waits.
        Wait = "wait",
    }
}

named! {
    /// The question of a vote.
    pub enum VoteMode {
        /// Whether all lanes say yes.
        All = "all",
        /// Whether one says yes.
        Any = "any",
        /// Whether all say the same.
        Uni = "uni",
        /// Which lanes say yes.
        Ballot = "ballot",
    }
}

named! {
    /// The result of `match.sync`.
    pub enum MatchMode {
        /// The lanes with the same value.
        Any = "any",
        /// All lanes if they have the same value, else none.
        All = "all",
    }
}

named! {
    /// The operation of `redux.sync`.
    pub enum ReduxOperator as "an operation such as `.add`" {
        /// Sum.
        Add = "add",
        /// Smallest.
        Min = "min",
        /// Largest.
        Max = "max",
        /// Bits of all.
        And = "and",
        /// Bits of any.
        Or = "or",
        /// Bits of an odd number.
        Xor = "xor",
    }
}

named! {
    /// The action of `griddepcontrol`.
    pub enum Griddepcontrol {
        /// Lets dependent grids begin.
        LaunchDependents = "launch_dependents",
        /// Waits for the grids that this one depends on.
        Wait = "wait",
    }
}

named! {
    /// A way to memory other than ordinary accesses.
    pub enum Proxy {
        /// Aliased virtual addresses.
        Alias = "alias",
        /// Asynchronous copies and tensor cores.
        Async = "async",
        /// The same, of global memory.
        AsyncGlobal = "async.global",
        /// The same, of this block's shared memory.
        AsyncShared = "async.shared::cta" | "async.shared",
        /// The same, of the cluster's shared memory.
        AsyncSharedCluster = "async.shared::cluster",
    }
}

/// The accesses that a fence orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fence {
    /// Accesses of the thread: `fence`, and `membar` (which is `.sc`).
    Thread {
        /// [`Order::SequentiallyConsistent`], `AcquireRelease`, `Acquire` or `Release`.
        order: Order,
        /// Among which threads.
        scope: Scope,
        /// `.sync_restrict::`: accesses of this space alone.
        restrict: Option<Space>,
    },
    /// `fence.mbarrier_init.release.cluster`.
    MbarrierInit,
    /// `fence.proxy`: accesses through two proxies.
    Proxy(Proxy),
    /// `fence.proxy.tensormap::generic.release` and `.acquire`.
    TensorMap {
        /// Release or acquire.
        order: Order,
        /// Among which threads.
        scope: Scope,
        /// The descriptor, with acquire.
        address: Option<Address>,
        /// Its bytes, with acquire.
        size: Option<Operand>,
    },
    /// `fence.proxy.async::generic.acquire` and `.release` with `.sync_restrict::`.
    AsyncGeneric {
        /// Release or acquire.
        order: Order,
        /// The space.
        restrict: Space,
        /// Among which threads.
        scope: Scope,
    },
}

impl Visit for Fence {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        if let Self::TensorMap { address, size, .. } = self {
            address.visit(Wanted::Address, visitor);
            size.visit(Wanted::WORD, visitor);
        }
    }
}

/// The phase of an mbarrier that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The phase of a state that an arrival gave, `b64`.
    State(Operand),
    /// `.parity`: the phase with this parity, `u32`.
    Parity(Operand),
}

impl Visit for Phase {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        match self {
            Self::State(state) => state.visit(Wanted::LONG, visitor),
            Self::Parity(parity) => parity.visit(Wanted::WORD, visitor),
        }
    }
}

operations! {
    /// A barrier of the block.
    pub struct Barrier {
        /// All lanes of a warp execute it together: `bar` and `.aligned`.
        pub aligned: bool,
        /// The action.
        pub action: BarrierAction,
        /// Which of the 16, `u32`.
        pub id: Operand as Wanted::WORD,
        /// How many threads, a multiple of the warp's; None: all of the block.
        pub threads: Option<Operand> as Wanted::WORD,
    }

    /// The barrier of the cluster.
    pub struct BarrierCluster {
        /// The action.
        pub action: ClusterAction,
        /// Release, relaxed (arrive) or acquire (wait).
        pub order: Order,
        /// All lanes of a warp execute it together.
        pub aligned: bool,
    }

    /// A vote of the warp.
    pub struct Vote {
        /// Of `vote.sync`: the lanes that take part. None: the old `vote`.
        pub mask: Option<Operand> as Wanted::WORD,
        /// The question.
        pub mode: VoteMode,
        /// Destination, a predicate, of a ballot `b32`.
        pub d: Reg as voted(*mode),
        /// The lane's answer.
        pub a: Predicate,
    }

    /// Lanes with the same value.
    pub struct Match {
        /// The result.
        pub mode: MatchMode,
        /// `b32` or `b64`: of a.
        pub ty: Type,
        /// Destination, `b32`; None: `_`.
        pub d: Option<Reg> as Wanted::WORD,
        /// Whether all are the same ([`MatchMode::All`]).
        pub p: Option<Reg> as Wanted::PREDICATE,
        /// The lane's value.
        pub a: Operand as Wanted::Exactly(*ty),
        /// The lanes that take part.
        pub mask: Operand as Wanted::WORD,
    }

    /// One lane of several.
    pub struct Elect {
        /// Which, `b32`; None: `_`.
        pub d: Option<Reg> as Wanted::WORD,
        /// Whether it is this one.
        pub p: Reg as Wanted::PREDICATE,
        /// The lanes that take part.
        pub mask: Operand as Wanted::WORD,
    }

    /// A change of the bytes that an mbarrier waits for.
    pub struct MbarrierTransaction {
        /// `.complete_tx`: fewer; else `.expect_tx`: more.
        pub complete: bool,
        /// Block or cluster.
        pub scope: Scope,
        /// [`Space::Shared`], [`Space::SharedCluster`] or [`Space::Generic`].
        pub space: Space,
        /// Where.
        pub address: Address,
        /// Bytes, `u32`.
        pub count: Operand as Wanted::WORD,
    }

    /// An arrival at an mbarrier.
    pub struct MbarrierArrive {
        /// `.arrive_drop`: later phases expect fewer.
        pub drop: bool,
        /// `.expect_tx`: so many more bytes first.
        pub expect_tx: Option<Operand> as Wanted::WORD,
        /// `.noComplete`: it does not end the phase.
        pub no_complete: bool,
        /// [`Order::Release`] or [`Order::Relaxed`].
        pub order: Order,
        /// Block or cluster.
        pub scope: Scope,
        /// [`Space::Shared`], [`Space::SharedCluster`] or [`Space::Generic`].
        pub space: Space,
        /// The state before it, `b64`; None: `_`, or not given.
        pub state: Option<Reg> as Wanted::LONG,
        /// Where.
        pub address: Address,
        /// Arrivals, `u32`; None: one.
        pub count: Option<Operand> as Wanted::WORD,
    }

    /// A look at an mbarrier, or a wait for it.
    pub struct MbarrierWait {
        /// `.try_wait`: it may wait for a while.
        pub suspend: bool,
        /// [`Order::Acquire`] or [`Order::Relaxed`].
        pub order: Order,
        /// Block or cluster.
        pub scope: Scope,
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// Whether the phase is complete.
        pub p: Reg as Wanted::PREDICATE,
        /// Where.
        pub address: Address,
        /// Which phase.
        pub phase: Phase,
        /// How long at most, nanoseconds, `u32`.
        pub time: Option<Operand> as Wanted::WORD,
    }
}

/// The result of a vote.
const fn voted(mode: VoteMode) -> Wanted {
    match mode {
        VoteMode::Ballot => Wanted::BITS,
        _ => Wanted::PREDICATE,
    }
}

impl Vote {
    pub(super) const fn meeting(&self) -> Meeting {
        match self.mask {
            Some(_) => Meeting::Warp,
            None => Meeting::Lanes,
        }
    }
}

impl Fence {
    pub(super) fn rule(&self) -> Result<(), String> {
        let known = [
            Order::SequentiallyConsistent,
            Order::AcquireRelease,
            Order::Acquire,
            Order::Release,
        ];
        match self {
            Self::Thread { order, .. } if !known.contains(order) => {
                Err(format!("it has no `.{}`", order.name()))
            }
            _ => Ok(()),
        }
    }
}

impl Redux {
    pub(super) fn rule(&self) -> Result<(), String> {
        use ReduxOperator as O;
        let types: &[Type] = match self.operator {
            O::Add => &[Type::U32, Type::S32],
            O::Min | O::Max => &[Type::U32, Type::S32, Type::F32],
            O::And | O::Or | O::Xor => &[Type::B32],
        };
        one_of(self.ty, types)
    }
}

/// This block's barriers.
const OWN: &[Space] = &[Space::Generic, Space::Shared];
/// Those of the cluster.
const OF_CLUSTER: &[Space] = &[Space::Generic, Space::Shared, Space::SharedCluster];

impl MbarrierInit {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, OWN)
    }
}

impl MbarrierInval {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, OWN)
    }
}

impl MbarrierArrive {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, OF_CLUSTER)
    }
}

impl MbarrierWait {
    pub(super) fn rule(&self) -> Result<(), String> {
        space_is(self.space, OWN)
    }
}
