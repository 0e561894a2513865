//! Loads, stores, atomics and hints to caches.

use super::movement::space_is;
use crate::instruction::types::{fits, one_of};
use crate::instruction::{Wanted, operations};
use crate::names::named;
use crate::{Address, Base, Operand, Reg, Space, Symbol, Type};

named! {
    /// The order of an access, a fence or an atomic.
    pub enum Order {
        /// `.weak`, also where a load or a store says nothing.
        Weak = "weak",
        /// `.volatile`.
        Volatile = "volatile",
        /// `.relaxed`, also where an atomic says nothing.
        Relaxed = "relaxed",
        /// `.acquire`.
        Acquire = "acquire",
        /// `.release`.
        Release = "release",
        /// `.acq_rel`.
        AcquireRelease = "acq_rel",
        /// `.sc`.
        SequentiallyConsistent = "sc",
        /// `.mmio`: relaxed, each access performed as it stands.
        Mmio = "mmio",
    }
}

named! {
    /// Threads among which an order holds.
    pub enum Scope {
        /// The block.
        Block = "cta",
        /// The cluster.
        Cluster = "cluster",
        /// The device.
        Device = "gpu",
        /// All devices and the host.
        System = "sys",
    }
}

named! {
    /// How a load or store uses the caches.
    pub enum CacheOperator {
        /// In all levels.
        Ca = "ca",
        /// In L2 only.
        Cg = "cg",
        /// Likely used once.
        Cs = "cs",
        /// The line is not used again.
        Lu = "lu",
        /// Not cached: fetched again.
        Cv = "cv",
        /// Written back in all levels.
        Wb = "wb",
        /// Written through.
        Wt = "wt",
    }
}

named! {
    /// Eviction priority in a cache.
    pub enum Eviction {
        /// As usual.
        Normal = "evict_normal",
        /// As usual; the priority is not changed.
        Unchanged = "evict_unchanged",
        /// First.
        First = "evict_first",
        /// Last.
        Last = "evict_last",
        /// Not cached.
        NoAllocate = "no_allocate",
    }
}

named! {
    /// How much more a load fetches into L2.
    pub enum PrefetchSize {
        /// 64 bytes.
        Bytes64 = "64B",
        /// 128 bytes.
        Bytes128 = "128B",
        /// 256 bytes.
        Bytes256 = "256B",
    }
}

named! {
    /// A level of the caches.
    pub enum CacheLevel {
        /// The multiprocessor's.
        L1 = "L1",
        /// The device's.
        L2 = "L2",
    }
}

named! {
    /// The operator of an atomic, on memory and its operand.
    pub enum AtomicOperator {
        /// Sum.
        Add = "add",
        /// Up by one, to 0 behind the operand.
        Inc = "inc",
        /// Down by one, to the operand below 0 or above it.
        Dec = "dec",
        /// Smaller.
        Min = "min",
        /// Larger.
        Max = "max",
        /// Bits of both.
        And = "and",
        /// Bits of either.
        Or = "or",
        /// Bits of one.
        Xor = "xor",
        /// Operand.
        Exchange = "exch",
        /// Operand where memory equals the comparand.
        CompareAndSwap = "cas",
    }
}

named! {
    /// How a policy is made.
    pub enum PolicyKind {
        /// For a part of all accesses.
        Fractional = "fractional",
        /// For accesses to a range of memory.
        Range = "range",
        /// From an access property of the host's.
        Convert = "cvt",
    }
}

operations! {
    /// Hints of an access to the caches; they change no value.
    pub struct CacheHints {
        /// `.ca` and the like.
        pub operator: Option<CacheOperator>,
        /// `.L1::`.
        pub level1: Option<Eviction>,
        /// `.L2::`.
        pub level2: Option<Eviction>,
        /// `.L2::64B` and the like.
        pub prefetch: Option<PrefetchSize>,
        /// `.L2::cache_hint`: a policy, `b64`.
        pub policy: Option<Operand> as Wanted::LONG,
    }

    /// A load.
    pub struct Ld {
        /// Where from.
        pub space: Space,
        /// [`Order::Weak`], `Volatile`, `Relaxed`, `Acquire` or `Mmio`.
        pub order: Order,
        /// Given with `Relaxed`, `Acquire` and `Mmio`.
        pub scope: Option<Scope>,
        /// `.nc`: nobody writes it during the launch.
        pub read_only: bool,
        /// `.unified`: the address is the same on all devices.
        pub unified: bool,
        /// To the caches.
        pub hints: CacheHints,
        /// Of an element in memory.
        pub ty: Type,
        /// 1, 2, 4 or 8 of them, which may be wider than `ty`; None: `_`.
        pub d: Vec<Option<Reg>> as Wanted::among(*ty, d.len()),
        /// Where.
        pub address: Address,
    }

    /// A load from memory that is the same for all lanes.
    pub struct Ldu {
        /// Where from.
        pub space: Space,
        /// Of an element in memory.
        pub ty: Type,
        /// 1, 2 or 4 of them.
        pub d: Vec<Option<Reg>> as Wanted::among(*ty, d.len()),
        /// Where.
        pub address: Address,
    }

    /// A store.
    pub struct St {
        /// Where to.
        pub space: Space,
        /// [`Order::Weak`], `Volatile`, `Relaxed`, `Release` or `Mmio`.
        pub order: Order,
        /// Given with `Relaxed`, `Release` and `Mmio`.
        pub scope: Option<Scope>,
        /// To the caches.
        pub hints: CacheHints,
        /// Of an element in memory.
        pub ty: Type,
        /// Where.
        pub address: Address,
        /// 1, 2, 4 or 8 values, of which the lower bits are stored.
        pub a: Vec<Operand> as Wanted::among(*ty, a.len()),
    }

    /// A store to another block's shared memory that counts at an mbarrier (`st.async.shared::cluster`),
    /// or a released store without one.
    pub struct StAsync {
        /// Where to.
        pub space: Space,
        /// [`Order::Weak`] or [`Order::Release`].
        pub order: Order,
        /// Given with `Release`.
        pub scope: Option<Scope>,
        /// Of an element.
        pub ty: Type,
        /// Where.
        pub address: Address,
        /// 1, 2 or 4 values.
        pub a: Vec<Operand> as Wanted::among(*ty, a.len()),
        /// The barrier; none with `Release`.
        pub mbarrier: Option<Address>,
    }

    /// A cache policy for accesses that are given it; it changes no value.
    pub struct CreatePolicy {
        /// How it is made.
        pub kind: PolicyKind,
        /// Priorities such as `L2::evict_last`, the primary one first.
        pub priorities: Vec<String>,
        /// Destination, 64 bits.
        pub d: Reg as Wanted::LONG,
        /// Of `range`: where it begins.
        pub address: Option<Address>,
        /// The fraction, the sizes, or the access property.
        pub a: Vec<Operand>,
    }

    /// Zeros in shared memory.
    pub struct StBulk {
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// Where.
        pub address: Address,
        /// Bytes, a multiple of 8.
        pub size: Operand as Wanted::LONG,
    }

    /// A reduction into another block's shared memory that counts at an mbarrier.
    pub struct RedAsync {
        /// Where to.
        pub space: Space,
        /// [`Order::Relaxed`] or [`Order::Release`].
        pub order: Order,
        /// Among which threads.
        pub scope: Option<Scope>,
        /// The operator.
        pub operator: AtomicOperator,
        /// Of the element.
        pub ty: Type,
        /// Where.
        pub address: Address,
        /// The operand.
        pub a: Operand as Wanted::Exactly(*ty),
        /// The barrier; none with `Release`.
        pub mbarrier: Option<Address>,
    }

    /// An atomic that returns what was in memory.
    pub struct Atom {
        /// Where.
        pub space: Space,
        /// None: it says nothing, which is [`Order::Relaxed`].
        pub order: Option<Order>,
        /// [`Scope::Device`] where it says nothing.
        pub scope: Scope,
        /// The operator.
        pub operator: AtomicOperator,
        /// Of an element.
        pub ty: Type,
        /// `.noftz`: subnormals are kept.
        pub noftz: bool,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
        /// 1, 2, 4 or 8; None: `_`.
        pub d: Vec<Option<Reg>> as Wanted::Exactly(*ty),
        /// Where.
        pub address: Address,
        /// The comparand of `cas`.
        pub comparand: Option<Operand> as Wanted::Exactly(*ty),
        /// As many operands as d.
        pub a: Vec<Operand> as Wanted::Exactly(*ty),
    }

    /// An atomic that returns nothing.
    pub struct Red {
        /// Where.
        pub space: Space,
        /// None: it says nothing, which is [`Order::Relaxed`].
        pub order: Option<Order>,
        /// [`Scope::Device`] where it says nothing.
        pub scope: Scope,
        /// The operator.
        pub operator: AtomicOperator,
        /// Of an element.
        pub ty: Type,
        /// `.noftz`: subnormals are kept.
        pub noftz: bool,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
        /// Where.
        pub address: Address,
        /// 1, 2, 4 or 8 operands.
        pub a: Vec<Operand> as Wanted::Exactly(*ty),
    }

    /// A hint to fetch a line.
    pub struct Prefetch {
        /// Where; [`Space::Generic`] where it says nothing.
        pub space: Space,
        /// Into which cache. None: `.tensormap`, a descriptor.
        pub level: Option<CacheLevel>,
        /// `.L2::evict_last`, `.L2::evict_normal`.
        pub eviction: Option<Eviction>,
        /// The address.
        pub address: Address,
    }

    /// Bytes in the cache.
    pub struct CacheRange read {
        /// [`Space::Global`] or [`Space::Generic`].
        pub space: Space = Space::Generic,
        /// Where.
        pub address: Address,
        /// How many: 128.
        pub bytes: Operand as Wanted::WORD,
    }
}

/// Memory in which threads can meet: what orders and atomics are of.
const MET: &[Space] = &[
    Space::Generic,
    Space::Global,
    Space::Shared,
    Space::SharedCluster,
];

/// A vector of these elements.
fn vector(ty: Type, count: usize, space: Space) -> Result<(), String> {
    let bits = ty.bits() as usize * count;
    let wide = matches!(space, Space::Global) && bits == 256 && ty.bits() < 128;
    match count {
        1 => Ok(()),
        2 | 4 if bits <= 128 => Ok(()),
        4 | 8 if wide => Ok(()),
        _ => Err(format!("`.v{count}` does not go with `.{}`", ty.name())),
    }
}

/// The order of a load or a store, its scope and its space.
fn ordered(order: Order, allowed: Order, scope: Option<Scope>, space: Space) -> Result<(), String> {
    match order {
        Order::Weak => return unscoped(order, scope),
        Order::Volatile => unscoped(order, scope)?,
        Order::Mmio => {
            space_is(space, &[Space::Generic, Space::Global])?;
            if scope.is_some_and(|scope| scope != Scope::System) {
                return Err("`.mmio` takes the scope `.sys`".to_owned());
            }
        }
        Order::Relaxed => {}
        _ if order == allowed => {}
        _ => return Err(format!("it has no `.{}`", order.name())),
    }
    if scope.is_none() && order != Order::Volatile {
        return Err(format!(
            "`.{}` requires a scope such as `.gpu`",
            order.name()
        ));
    }
    space_is(space, MET)
}

fn unscoped(order: Order, scope: Option<Scope>) -> Result<(), String> {
    match scope {
        None => Ok(()),
        Some(scope) => Err(format!(
            "`.{}` requires an order such as `.relaxed`, and `.{}` is none",
            scope.name(),
            order.name()
        )),
    }
}

impl Ld {
    /// Whether it loads one value from a parameter of the function by its name.
    pub(super) fn is_pure(&self) -> bool {
        let of_launch = matches!(self.address.base, Base::Symbol(Symbol::Parameter(_)));
        of_launch && matches!(self.space, Space::Param | Space::ParamEntry) && self.d.len() == 1
    }

    pub(super) fn rule(&self) -> Result<(), String> {
        vector(self.ty, self.d.len(), self.space)?;
        if self.read_only {
            space_is(self.space, &[Space::Global])?;
        }
        ordered(self.order, Order::Acquire, self.scope, self.space)
    }
}

impl Ldu {
    pub(super) fn rule(&self) -> Result<(), String> {
        vector(self.ty, self.d.len(), Space::Generic)?;
        space_is(self.space, &[Space::Generic, Space::Global])
    }
}

impl St {
    pub(super) fn rule(&self) -> Result<(), String> {
        vector(self.ty, self.a.len(), self.space)?;
        let local = [Space::Local, Space::Param, Space::ParamFunction];
        space_is(self.space, &[MET, &local].concat())?;
        ordered(self.order, Order::Release, self.scope, self.space)
    }
}

/// The types of what an atomic does to one element, or to several.
const fn types_of(operator: AtomicOperator, count: usize) -> &'static [Type] {
    use AtomicOperator as O;
    use Type::*;
    match operator {
        O::Add if count > 1 => &[F16, Bf16, F16x2, Bf16x2, F32],
        O::Min | O::Max if count > 1 => &[F16, Bf16, F16x2, Bf16x2],
        O::Add => &[U32, S32, U64, F32, F64, F16, Bf16, F16x2, Bf16x2],
        O::Min | O::Max => &[U32, S32, U64, S64],
        O::Inc | O::Dec => &[U32],
        O::And | O::Or | O::Xor => &[B32, B64],
        O::Exchange => &[B32, B64, B128],
        O::CompareAndSwap => &[B16, B32, B64, B128],
    }
}

fn atomic(
    operator: AtomicOperator,
    ty: Type,
    count: usize,
    noftz: bool,
    space: Space,
) -> Result<(), String> {
    space_is(space, MET)?;
    one_of(ty, types_of(operator, count))?;
    let half = ty.is_float() && !matches!(ty, Type::F32 | Type::F64);
    match (half, noftz) {
        (true, false) => Err(format!("`.{}` requires `.noftz`", ty.name())),
        (false, true) => fits(false, "noftz", ty),
        _ => Ok(()),
    }
}

impl Atom {
    pub(super) fn rule(&self) -> Result<(), String> {
        let known = [
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcquireRelease,
        ];
        if let Some(order) = self.order.filter(|order| !known.contains(order)) {
            return Err(format!("it has no `.{}`", order.name()));
        }
        atomic(self.operator, self.ty, self.a.len(), self.noftz, self.space)
    }
}

impl Red {
    pub(super) fn rule(&self) -> Result<(), String> {
        let known = [Order::Relaxed, Order::Release];
        if let Some(order) = self.order.filter(|order| !known.contains(order)) {
            return Err(format!("it has no `.{}`", order.name()));
        }
        let swaps = [AtomicOperator::Exchange, AtomicOperator::CompareAndSwap];
        if swaps.contains(&self.operator) {
            return Err(format!(
                "it has no `.{}`, which returns a value",
                self.operator.name()
            ));
        }
        atomic(self.operator, self.ty, self.a.len(), self.noftz, self.space)
    }
}

impl Prefetch {
    pub(super) fn rule(&self) -> Result<(), String> {
        match self.level {
            Some(_) => space_is(self.space, &[Space::Generic, Space::Global, Space::Local]),
            None => Ok(()),
        }
    }
}
