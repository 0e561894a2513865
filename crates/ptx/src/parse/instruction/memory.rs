//! Loads, stores and hints to caches.

use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    AtomicOperator, CacheHints, CacheLevel, CacheOperator, CacheRange, CreatePolicy, Eviction, Ld,
    Ldu, Order, PolicyKind, Prefetch, PrefetchSize, RedAsync, Scope, Space, St, StAsync, StBulk,
    Type,
};

/// The order that an access names. `.mmio` has `.relaxed` beside it.
pub(crate) fn order(op: &mut Opcode<'_>) -> Option<Order> {
    if op.flag("mmio") {
        op.take(Order::from_name);
        return Some(Order::Mmio);
    }
    op.take(Order::from_name)
}

/// `.L1::evict_first`, `.L2::evict_last`, `.L2::cache_hint`.
fn eviction(op: &mut Opcode<'_>, level: &str) -> Option<Eviction> {
    op.take(|part| Eviction::from_name(part.strip_prefix(level)?.strip_prefix("::")?))
}

pub(crate) fn prefetch_size(op: &mut Opcode<'_>) -> Option<PrefetchSize> {
    op.take(|part| PrefetchSize::from_name(part.strip_prefix("L2::")?))
}

/// How many elements an access has.
pub(crate) fn vector(op: &mut Opcode<'_>) -> usize {
    let count = op.take(|part| match part {
        "v2" => Some(2),
        "v4" => Some(4),
        "v8" => Some(8),
        _ => None,
    });
    count.unwrap_or(1)
}

/// The parts of the name of a load or a store.
struct AccessKind {
    space: Space,
    order: Order,
    scope: Option<Scope>,
    hints: CacheHints,
    has_policy: bool,
    ty: Type,
    count: usize,
}

fn access(op: &mut Opcode<'_>) -> Result<AccessKind> {
    let space = op.take(Space::from_name).unwrap_or(Space::Generic);
    let order = order(op).unwrap_or(Order::Weak);
    let scope = op.take(Scope::from_name);
    let (level1, level2) = (eviction(op, "L1"), eviction(op, "L2"));
    let has_policy = op.flag("L2::cache_hint");
    let prefetch = prefetch_size(op);
    let operator = op.take(CacheOperator::from_name);
    let count = vector(op);
    let hints = CacheHints {
        operator,
        level1,
        level2,
        prefetch,
        policy: None,
    };
    Ok(AccessKind {
        space,
        order,
        scope,
        hints,
        has_policy,
        ty: op.ty()?,
        count,
    })
}

impl<'a> Parser<'a> {
    /// An error where a list has another length than the type says.
    pub(crate) fn same_length(&self, wanted: usize, found: usize) -> Result<()> {
        if wanted == found {
            Ok(())
        } else {
            Err(self.fail(format!(
                "expected {wanted} registers before this, found {found}"
            )))
        }
    }

    pub(crate) fn ld(&mut self, op: &mut Opcode<'a>) -> Result<Ld> {
        let read_only = op.flag("nc");
        let AccessKind {
            space,
            order,
            scope,
            mut hints,
            has_policy,
            ty,
            count,
        } = access(op)?;
        let d = self.destinations()?;
        self.same_length(count, d.len())?;
        let address = self.then_address()?;
        let unified = self.eat_dotted("unified")?;
        hints.policy = self.given(has_policy, Type::B64)?;
        Ok(Ld {
            space,
            order,
            scope,
            read_only,
            unified,
            hints,
            ty,
            d,
            address,
        })
    }

    pub(crate) fn ldu(&mut self, op: &mut Opcode<'a>) -> Result<Ldu> {
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let count = vector(op);
        let ty = op.ty()?;
        let d = self.destinations()?;
        self.same_length(count, d.len())?;
        Ok(Ldu {
            space,
            ty,
            d,
            address: self.then_address()?,
        })
    }

    pub(crate) fn st(&mut self, op: &mut Opcode<'a>) -> Result<St> {
        let AccessKind {
            space,
            order,
            scope,
            mut hints,
            has_policy,
            ty,
            count,
        } = access(op)?;
        let address = self.address()?;
        self.comma()?;
        let a = self.sources(ty)?;
        self.same_length(count, a.len())?;
        hints.policy = self.given(has_policy, Type::B64)?;
        Ok(St {
            space,
            order,
            scope,
            hints,
            ty,
            address,
            a,
        })
    }

    pub(crate) fn st_async(&mut self, op: &mut Opcode<'a>) -> Result<StAsync> {
        let counted = op.flag("mbarrier::complete_tx::bytes");
        let AccessKind {
            space,
            order,
            scope,
            ty,
            count,
            ..
        } = access(op)?;
        let address = self.address()?;
        self.comma()?;
        let a = self.sources(ty)?;
        self.same_length(count, a.len())?;
        let mbarrier = if counted {
            Some(self.then_address()?)
        } else {
            None
        };
        let space = if counted { Space::SharedCluster } else { space };
        Ok(StAsync {
            space,
            order,
            scope,
            ty,
            address,
            a,
            mbarrier,
        })
    }

    pub(crate) fn red_async(&mut self, op: &mut Opcode<'a>) -> Result<RedAsync> {
        let counted = op.flag("mbarrier::complete_tx::bytes");
        let space = op.take(Space::from_name);
        let order = order(op).unwrap_or(Order::Relaxed);
        let scope = op.take(Scope::from_name);
        let operator = op.want("an operation such as `.add`", AtomicOperator::from_name)?;
        let ty = op.ty()?;
        let (address, a) = (self.address()?, self.then(ty)?);
        let mbarrier = if counted {
            Some(self.then_address()?)
        } else {
            None
        };
        let space = space.unwrap_or(if counted {
            Space::SharedCluster
        } else {
            Space::Generic
        });
        Ok(RedAsync {
            space,
            order,
            scope,
            operator,
            ty,
            address,
            a,
            mbarrier,
        })
    }

    pub(crate) fn st_bulk(&mut self, op: &mut Opcode<'a>) -> Result<StBulk> {
        op.flag("weak");
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let (address, size) = (self.address()?, self.then(Type::U64)?);
        self.comma()?;
        if self.number32()? != 0 {
            return Err(self.fail("`st.bulk` writes zeros alone"));
        }
        Ok(StBulk {
            space,
            address,
            size,
        })
    }

    pub(crate) fn create_policy(&mut self, op: &mut Opcode<'a>) -> Result<CreatePolicy> {
        let kind = op.want("`.fractional`, `.range` or `.cvt`", PolicyKind::from_name)?;
        op.take(Space::from_name);
        let priorities = op.drain();
        let (d, mut a, mut address) = (self.reg()?, Vec::new(), None);
        let ty = match kind {
            PolicyKind::Fractional => Type::F32,
            PolicyKind::Range => {
                address = Some(self.then_address()?);
                Type::U32
            }
            PolicyKind::Convert => Type::B64,
        };
        while self.eat(b',')? {
            a.push(self.operand(ty)?);
        }
        Ok(CreatePolicy {
            kind,
            priorities,
            d,
            address,
            a,
        })
    }

    pub(crate) fn prefetch(&mut self, op: &mut Opcode<'a>) -> Result<Prefetch> {
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let eviction = eviction(op, "L2");
        let level = if op.flag("tensormap") {
            None
        } else if eviction.is_some() {
            Some(CacheLevel::L2)
        } else {
            Some(op.want("`.L1` or `.L2`", CacheLevel::from_name)?)
        };
        Ok(Prefetch {
            space,
            level,
            eviction,
            address: self.address()?,
        })
    }

    pub(crate) fn apply_priority(&mut self, op: &mut Opcode<'a>) -> Result<CacheRange> {
        op.need("L2::evict_normal")?;
        self.fields(op)
    }
}
