//! Operands of instructions.

use crate::names::named;

/// A register of a function: an index into [`Body::registers`](crate::Body::registers).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A place in a function: an index into [`Body::labels`](crate::Body::labels).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// A function of the module: an index into [`Module::functions`](crate::Module::functions).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// A variable of the module: an index into [`Module::variables`](crate::Module::variables).
    Module(u32),
    /// A variable of the body: an index into [`Body::variables`](crate::Body::variables).
    Body(u32),
    /// A parameter of the function: an index into [`Function::parameters`](crate::Function::parameters).
    Parameter(u32),
    /// A returned value of the function: an index into [`Function::returns`](crate::Function::returns).
    Return(u32),
    /// A function.
    Function(FunctionId),
}

/// A value that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// The value of a register.
    Register(Reg),
    /// A constant: the bits of the operand's type where the instruction tells it (a float literal
    /// of an `f32` instruction is 32 bits), with those above it zero.
    Immediate(u64),
    /// An address, in the state space of the symbol.
    Symbol {
        /// Of what.
        symbol: Symbol,
        /// Bytes behind its begin.
        offset: i64,
    },
    /// A register that the hardware sets.
    Special(SpecialRegister),
}

impl Operand {
    /// The register that it reads, where it reads one.
    #[must_use]
    pub const fn register(self) -> Option<Reg> {
        match self {
            Self::Register(register) => Some(register),
            _ => None,
        }
    }
}

/// A predicate that an instruction reads: `p` or `!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Predicate {
    /// A predicate register, or an immediate 0 or 1.
    pub value: Operand,
    /// Whether it is negated.
    pub negated: bool,
}

/// The address in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    /// Its base.
    pub base: Base,
    /// Bytes behind that.
    pub offset: i64,
}

/// The base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// The address in a register.
    Register(Reg),
    /// A variable or parameter.
    Symbol(Symbol),
    /// Address zero.
    Absolute,
}

named! {
    /// A component of an index or a size.
    pub enum Axis {
        /// The first.
        X = "x",
        /// The second.
        Y = "y",
        /// The third.
        Z = "z",
    }
}

/// A register that the hardware sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    /// `%tid`: the thread in its block.
    Tid(Axis),
    /// `%ntid`: threads of a block.
    Ntid(Axis),
    /// `%ctaid`: the block in the grid.
    Ctaid(Axis),
    /// `%nctaid`: blocks of the grid.
    Nctaid(Axis),
    /// `%clusterid`: the cluster in the grid.
    Clusterid(Axis),
    /// `%nclusterid`: clusters of the grid.
    Nclusterid(Axis),
    /// `%cluster_ctaid`: the block in its cluster.
    ClusterCtaid(Axis),
    /// `%cluster_nctaid`: blocks of a cluster.
    ClusterNctaid(Axis),
    /// `%cluster_ctarank`: the block's number in its cluster.
    ClusterCtarank,
    /// `%cluster_nctarank`: how many blocks a cluster has.
    ClusterNctarank,
    /// `%is_explicit_cluster`: whether the launch asked for clusters.
    IsExplicitCluster,
    /// `%laneid`.
    Laneid,
    /// `%warpid`.
    Warpid,
    /// `%nwarpid`.
    Nwarpid,
    /// `%smid`.
    Smid,
    /// `%nsmid`.
    Nsmid,
    /// `%gridid`.
    Gridid,
    /// `%lanemask_eq`: this lane.
    LanemaskEq,
    /// `%lanemask_le`: lanes up to this one.
    LanemaskLe,
    /// `%lanemask_lt`: lanes before this one.
    LanemaskLt,
    /// `%lanemask_ge`: lanes from this one on.
    LanemaskGe,
    /// `%lanemask_gt`: lanes behind this one.
    LanemaskGt,
    /// `%clock`: the lower 32 bits of the cycle counter.
    Clock,
    /// `%clock_hi`: the upper 32 bits.
    ClockHi,
    /// `%clock64`.
    Clock64,
    /// `%globaltimer`: nanoseconds.
    Globaltimer,
    /// `%globaltimer_lo`.
    GlobaltimerLo,
    /// `%globaltimer_hi`.
    GlobaltimerHi,
    /// `%pm0` to `%pm7`.
    Pm(u8),
    /// `%pm0_64` to `%pm7_64`.
    Pm64(u8),
    /// `%envreg0` to `%envreg31`.
    Envreg(u8),
    /// `%total_smem_size`: the block's bytes of shared memory, without those that the system reserves.
    TotalSmemSize,
    /// `%aggr_smem_size`: the block's bytes of shared memory in all.
    AggrSmemSize,
    /// `%dynamic_smem_size`: the bytes of shared memory that the launch added.
    DynamicSmemSize,
    /// `%reserved_smem_offset_begin`.
    ReservedSmemOffsetBegin,
    /// `%reserved_smem_offset_end`.
    ReservedSmemOffsetEnd,
    /// `%reserved_smem_offset_cap`.
    ReservedSmemOffsetCap,
    /// `%reserved_smem_offset_0` and `_1`.
    ReservedSmemOffset(u8),
    /// `%current_graph_exec`.
    CurrentGraphExec,
}
