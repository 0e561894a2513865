//! Barriers, fences and what warps do together.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    Barrier, BarrierAction, BarrierCluster, ClusterAction, Elect, Fence, Match, MatchMode, Operand,
    Order, Predicate, Proxy, Scope, Space, Type, Vote, VoteMode,
};

/// The operation of a barrier's reduction.
#[derive(Clone, Copy)]
enum Reduction {
    Popc,
    And,
    Or,
}

impl<'a> Parser<'a> {
    pub(crate) fn barrier(&mut self, op: &mut Opcode<'a>) -> Result<Barrier> {
        op.flag("cta");
        let aligned = op.flag("aligned") || op.name == "bar";
        if op.flag("red") {
            return self.barrier_reduction(op, aligned);
        }
        let arrive = op.flag("arrive");
        if !arrive {
            op.need("sync")?;
        }
        let action = if arrive {
            BarrierAction::Arrive
        } else {
            BarrierAction::Sync
        };
        let (id, threads) = (self.operand(Type::U32)?, self.optional(Type::U32)?);
        Ok(Barrier {
            aligned,
            action,
            id,
            threads,
        })
    }

    pub(crate) fn barrier_cluster(&mut self, op: &mut Opcode<'a>) -> Result<BarrierCluster> {
        let action = op.want("`.arrive` or `.wait`", ClusterAction::from_name)?;
        let otherwise = if action == ClusterAction::Arrive {
            Order::Release
        } else {
            Order::Acquire
        };
        let order = op.take(Order::from_name).unwrap_or(otherwise);
        Ok(BarrierCluster {
            action,
            order,
            aligned: op.flag("aligned"),
        })
    }

    /// `bar.red.and.pred p, a, b, c`, where b may be missing.
    fn barrier_reduction(&mut self, op: &mut Opcode<'a>, aligned: bool) -> Result<Barrier> {
        let reduction = op.want("`.popc`, `.and` or `.or`", |part| match part {
            "popc" => Some(Reduction::Popc),
            "and" => Some(Reduction::And),
            "or" => Some(Reduction::Or),
            _ => None,
        })?;
        op.need(if matches!(reduction, Reduction::Popc) {
            "u32"
        } else {
            "pred"
        })?;
        let d = self.reg()?;
        let id = self.then(Type::U32)?;
        self.comma()?;
        let (threads, predicate) = if self.token == Token::Sign(b'!') || self.is_predicate() {
            (None, self.predicate()?)
        } else {
            let first = self.operand(Type::U32)?;
            if self.eat(b',')? {
                (Some(first), self.predicate()?)
            } else {
                (
                    None,
                    Predicate {
                        value: first,
                        negated: false,
                    },
                )
            }
        };
        let action = match reduction {
            Reduction::Popc => BarrierAction::Popc { d, predicate },
            Reduction::And => BarrierAction::And { p: d, predicate },
            Reduction::Or => BarrierAction::Or { p: d, predicate },
        };
        Ok(Barrier {
            aligned,
            action,
            id,
            threads,
        })
    }

    pub(crate) fn fence(&mut self, op: &mut Opcode<'a>) -> Result<Fence> {
        if op.name == "membar" {
            return self.membar(op);
        }
        if op.flag("mbarrier_init") {
            op.need("release")?;
            op.need("cluster")?;
            return Ok(Fence::MbarrierInit);
        }
        if op.flag("proxy") {
            return self.proxy(op);
        }
        let order = op.take(Order::from_name).unwrap_or(Order::AcquireRelease);
        let restrict = restriction(op);
        let scope = op.want("a scope such as `.gpu`", Scope::from_name)?;
        Ok(Fence::Thread {
            order,
            scope,
            restrict,
        })
    }

    fn membar(&mut self, op: &mut Opcode<'a>) -> Result<Fence> {
        if op.flag("proxy") {
            return self.proxy(op);
        }
        let scope = op.want("`.cta`, `.gl` or `.sys`", |part| match part {
            "cta" => Some(Scope::Block),
            "gl" => Some(Scope::Device),
            "sys" => Some(Scope::System),
            _ => None,
        })?;
        Ok(Fence::Thread {
            order: Order::SequentiallyConsistent,
            scope,
            restrict: None,
        })
    }

    fn proxy(&mut self, op: &mut Opcode<'a>) -> Result<Fence> {
        if op.flag("tensormap::generic") {
            let order = op.want("`.acquire` or `.release`", Order::from_name)?;
            let scope = op.want("a scope such as `.gpu`", Scope::from_name)?;
            let acquire = order == Order::Acquire;
            let (address, size) = if acquire {
                (Some(self.address()?), Some(self.then(Type::U32)?))
            } else {
                (None, None)
            };
            return Ok(Fence::TensorMap {
                order,
                scope,
                address,
                size,
            });
        }
        if op.flag("async::generic") {
            let order = op.want("`.acquire` or `.release`", Order::from_name)?;
            let restrict =
                restriction(op).ok_or_else(|| op.error("`fence` lacks `.sync_restrict`"))?;
            let scope = op.want("a scope such as `.cluster`", Scope::from_name)?;
            return Ok(Fence::AsyncGeneric {
                order,
                restrict,
                scope,
            });
        }
        let proxy = op.want("a proxy such as `.async`", |part| {
            matches!(part, "alias" | "async").then_some(part)
        })?;
        let space = if proxy == "async" {
            op.take(Space::from_name)
        } else {
            None
        };
        Ok(Fence::Proxy(match (proxy, space) {
            ("alias", _) => Proxy::Alias,
            (_, Some(Space::Global)) => Proxy::AsyncGlobal,
            (_, Some(Space::Shared)) => Proxy::AsyncShared,
            (_, Some(Space::SharedCluster)) => Proxy::AsyncSharedCluster,
            (_, None) => Proxy::Async,
            (_, Some(space)) => {
                return Err(op.error(&format!("`fence.proxy.async` knows no `.{}`", space.name())));
            }
        }))
    }

    pub(crate) fn matching(&mut self, op: &mut Opcode<'a>) -> Result<Match> {
        let mode = op.want("`.any` or `.all`", MatchMode::from_name)?;
        let ty = op.ty()?;
        let (d, p) = self.pair()?;
        Ok(Match {
            mode,
            ty,
            d,
            p,
            a: self.then(ty)?,
            mask: self.then(Type::B32)?,
        })
    }

    pub(crate) fn elect(&mut self, _: &mut Opcode<'a>) -> Result<Elect> {
        let d = self.sink()?;
        self.expect(b'|')?;
        Ok(Elect {
            d,
            p: self.reg()?,
            mask: self.then(Type::B32)?,
        })
    }

    pub(crate) fn vote(&mut self, op: &mut Opcode<'a>) -> Result<Vote> {
        let sync = op.flag("sync");
        let mode = op.want("a mode such as `.ballot`", VoteMode::from_name)?;
        op.need(if mode == VoteMode::Ballot {
            "b32"
        } else {
            "pred"
        })?;
        let d = self.reg()?;
        self.comma()?;
        let a = self.predicate()?;
        let mask: Option<Operand> = self.given(sync, Type::B32)?;
        Ok(Vote { mask, mode, d, a })
    }
}

/// `.sync_restrict::shared::cta`.
fn restriction(op: &mut Opcode<'_>) -> Option<Space> {
    op.take(|part| Space::from_name(part.strip_prefix("sync_restrict::")?))
}
