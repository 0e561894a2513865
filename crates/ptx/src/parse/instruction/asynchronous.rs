//! Asynchronous copies.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::scope::Name;
use super::super::{Parser, Result};
use super::memory::prefetch_size;
use crate::{
    Address, AtomicOperator, CacheOperator, Completion, CpAsync, CpAsyncBulk, CpAsyncBulkPrefetch,
    CpAsyncBulkTensor, CpReduceAsyncBulk, Operand, Scope, Space, TensorCopy, TensorMapCopy,
    TensorMapField, TensorMapReplace, TensorMode, Type,
};

/// `[map, {x, y}]`.
struct TensorPlace {
    map: Address,
    coordinates: Vec<Operand>,
}

/// Ways of a bulk copy that stand in its name.
struct BulkKind {
    counted: bool,
    multicast: bool,
    has_policy: bool,
}

fn bulk_kind(op: &mut Opcode<'_>) -> Result<BulkKind> {
    let counted = op.flag("mbarrier::complete_tx::bytes");
    if !counted {
        op.need("bulk_group")?;
    }
    Ok(BulkKind {
        counted,
        multicast: op.flag("multicast::cluster"),
        has_policy: op.flag("L2::cache_hint"),
    })
}

impl<'a> Parser<'a> {
    pub(crate) fn cp_async(&mut self, op: &mut Opcode<'a>) -> Result<CpAsync> {
        let cache = op.want("`.ca` or `.cg`", CacheOperator::from_name)?;
        op.want("`.shared`", |part| {
            Space::from_name(part).filter(|&space| space == Space::Shared)
        })?;
        op.need("global")?;
        let has_policy = op.flag("L2::cache_hint");
        let prefetch = prefetch_size(op);
        let (destination, source) = (self.address()?, self.then_address()?);
        self.comma()?;
        let size = self.number32()?;
        let (mut source_size, mut ignore_source, mut policy) = (None, None, None);
        // The fourth is a size or a predicate, the last one a policy.
        while self.eat(b',')? {
            if self.is_predicate() {
                ignore_source = Some(self.predicate()?);
            } else if has_policy && self.is_last()? {
                policy = Some(self.operand(Type::B64)?);
            } else {
                source_size = Some(self.operand(Type::U32)?);
            }
        }
        Ok(CpAsync {
            cache,
            prefetch,
            policy,
            destination,
            source,
            size,
            source_size,
            ignore_source,
        })
    }

    /// Whether the next operand is a predicate.
    pub(crate) fn is_predicate(&mut self) -> bool {
        match self.token {
            Token::Sign(b'!') => true,
            Token::Word(name) => match self.lookup(name) {
                Some(Name::Register(register)) => {
                    self.local.body.registers[register.0 as usize].ty == Type::Pred
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether a semicolon follows the next token.
    fn is_last(&self) -> Result<bool> {
        let mut ahead = self.lexer;
        ahead.skip_space()?;
        Ok(self.source[ahead.offset..].starts_with(';'))
    }

    pub(crate) fn bulk(&mut self, op: &mut Opcode<'a>) -> Result<CpAsyncBulk> {
        let (destination_space, source_space) = bulk_spaces(op)?;
        let BulkKind {
            counted,
            multicast,
            has_policy,
        } = bulk_kind(op)?;
        let masked = op.flag("cp_mask");
        let (destination, source, size) =
            (self.address()?, self.then_address()?, self.then(Type::U32)?);
        let completion = self.completion(counted)?;
        let multicast = self.given(multicast, Type::U16)?;
        let policy = self.given(has_policy, Type::B64)?;
        let byte_mask = self.given(masked, Type::U16)?;
        Ok(CpAsyncBulk {
            destination_space,
            source_space,
            destination,
            source,
            size,
            completion,
            multicast,
            policy,
            byte_mask,
        })
    }

    pub(crate) fn bulk_reduce(&mut self, op: &mut Opcode<'a>) -> Result<CpReduceAsyncBulk> {
        let (destination_space, source_space) = bulk_spaces(op)?;
        let BulkKind {
            counted,
            has_policy,
            ..
        } = bulk_kind(op)?;
        let operator = op.want("an operation such as `.add`", AtomicOperator::from_name)?;
        let noftz = op.flag("noftz");
        let ty = op.ty()?;
        let (destination, source, size) =
            (self.address()?, self.then_address()?, self.then(Type::U32)?);
        let completion = self.completion(counted)?;
        let policy = self.given(has_policy, Type::B64)?;
        Ok(CpReduceAsyncBulk {
            destination_space,
            source_space,
            operator,
            ty,
            noftz,
            destination,
            source,
            size,
            completion,
            policy,
        })
    }

    pub(crate) fn bulk_prefetch(&mut self, op: &mut Opcode<'a>) -> Result<CpAsyncBulkPrefetch> {
        let has_policy = op.flag("L2::cache_hint");
        let (source, size) = (self.address()?, self.then(Type::U32)?);
        let policy = self.given(has_policy, Type::B64)?;
        Ok(CpAsyncBulkPrefetch {
            source,
            size,
            policy,
        })
    }

    pub(crate) fn tensor_map_replace(&mut self, op: &mut Opcode<'a>) -> Result<TensorMapReplace> {
        let field = op.want(
            "a field such as `.global_address`",
            TensorMapField::from_name,
        )?;
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        if !matches!(space, Space::Generic | Space::Global | Space::Shared) {
            return Err(op.error(&format!("`tensormap.replace` knows no `.{}`", space.name())));
        }
        op.need("b1024")?;
        op.need(field.ty().name())?;
        let tensor_map = self.address()?;
        let dimension = match field.is_of_dimension() {
            true => Some(self.constant_below(5, op)?),
            false => None,
        };
        let value = match field.is_constant() {
            true => Operand::Immediate(self.constant_below(u32::MAX, op)?.into()),
            false => self.then(field.ty())?,
        };
        Ok(TensorMapReplace {
            space,
            field,
            tensor_map,
            dimension,
            value,
        })
    }

    pub(crate) fn tensor_map_copy(&mut self, op: &mut Opcode<'a>) -> Result<TensorMapCopy> {
        for part in ["shared::cta", "tensormap::generic", "release"] {
            op.need(part)?;
        }
        let scope = op.want("a scope such as `.gpu`", Scope::from_name)?;
        op.need("sync")?;
        op.need("aligned")?;
        let (destination, source) = (self.address()?, self.then_address()?);
        match self.then(Type::U32)? {
            Operand::Immediate(128) => Ok(TensorMapCopy {
                destination,
                source,
                scope,
            }),
            _ => Err(op.error("`tensormap.cp_fenceproxy` copies 128 bytes")),
        }
    }

    /// A comma and a constant below a limit.
    fn constant_below(&mut self, limit: u32, op: &Opcode<'a>) -> Result<u32> {
        match self.then(Type::U32)? {
            Operand::Immediate(value) if value < u64::from(limit) => Ok(value as u32),
            _ => Err(op.error("`tensormap.replace` wants a constant")),
        }
    }

    /// A comma and the mbarrier, where there is one.
    fn completion(&mut self, counted: bool) -> Result<Completion> {
        if counted {
            Ok(Completion::Mbarrier(self.then_address()?))
        } else {
            Ok(Completion::Group)
        }
    }

    pub(crate) fn tensor(&mut self, op: &mut Opcode<'a>) -> Result<CpAsyncBulkTensor> {
        let (prefetch, reduce) = (op.flag("prefetch"), op.flag("reduce"));
        let dimensions = op.want("`.1d` to `.5d`", dimension)?;
        let mode = op.take(TensorMode::from_name).unwrap_or(TensorMode::Tile);
        let block_group = op.take(|part| part.strip_prefix("cta_group::")?.parse().ok());
        if prefetch {
            op.need("L2")?;
            op.need("global")?;
            let has_policy = op.flag("L2::cache_hint");
            let TensorPlace {
                map: tensor_map,
                coordinates,
            } = self.tensor_place()?;
            let offsets = self.offsets()?;
            let policy = self.given(has_policy, Type::B64)?;
            let (copy, completion, multicast) = (TensorCopy::Prefetch, None, None);
            return Ok(CpAsyncBulkTensor {
                copy,
                dimensions,
                mode,
                tensor_map,
                coordinates,
                offsets,
                completion,
                multicast,
                block_group,
                policy,
            });
        }
        let (destination_space, source_space) = bulk_spaces(op)?;
        let BulkKind {
            counted,
            multicast,
            has_policy,
        } = bulk_kind(op)?;
        let operator = if reduce {
            Some(op.want("an operation such as `.add`", AtomicOperator::from_name)?)
        } else {
            None
        };
        let (copy, place) = match (operator, source_space) {
            (None, Space::Global) => {
                let destination = self.address()?;
                self.comma()?;
                (
                    TensorCopy::Load {
                        space: destination_space,
                        destination,
                    },
                    self.tensor_place()?,
                )
            }
            (operator, _) => {
                let place = self.tensor_place()?;
                let source = self.then_address()?;
                (
                    operator.map_or(TensorCopy::Store { source }, |operator| {
                        TensorCopy::Reduce { source, operator }
                    }),
                    place,
                )
            }
        };
        let completion = Some(self.completion(counted)?);
        let offsets = self.offsets()?;
        let multicast = self.given(multicast, Type::U16)?;
        let policy = self.given(has_policy, Type::B64)?;
        let TensorPlace {
            map: tensor_map,
            coordinates,
        } = place;
        Ok(CpAsyncBulkTensor {
            copy,
            dimensions,
            mode,
            tensor_map,
            coordinates,
            offsets,
            completion,
            multicast,
            block_group,
            policy,
        })
    }

    fn tensor_place(&mut self) -> Result<TensorPlace> {
        self.expect(b'[')?;
        let map = self.place_in_memory()?;
        self.comma()?;
        let coordinates = self.sources(Type::S32)?;
        self.expect(b']')?;
        Ok(TensorPlace { map, coordinates })
    }

    /// A comma and offsets in braces, where they are next.
    fn offsets(&mut self) -> Result<Vec<Operand>> {
        let mut ahead = self.lexer;
        ahead.skip_space()?;
        if self.token != Token::Sign(b',') || !self.source[ahead.offset..].starts_with('{') {
            return Ok(Vec::new());
        }
        self.comma()?;
        self.sources(Type::U16)
    }
}

/// Destination and source.
fn bulk_spaces(op: &mut Opcode<'_>) -> Result<(Space, Space)> {
    Ok((
        op.want("the destination's state space", Space::from_name)?,
        op.want("the source's state space", Space::from_name)?,
    ))
}

fn dimension(part: &str) -> Option<u8> {
    part.strip_suffix('d')?
        .parse()
        .ok()
        .filter(|dimensions| (1..=5).contains(dimensions))
}
