//! Asynchronous copies.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::scope::Name;
use super::super::{Parser, Result};
use super::memory::prefetch_size;
use crate::{
    Address, AtomicOperator, CacheOperator, Completion, CpAsync, CpAsyncBulk, CpAsyncBulkPrefetch,
    CpAsyncBulkTensor, CpAsyncBulkWaitGroup, CpAsyncMbarrierArrive, CpReduceAsyncBulk, Operand,
    Operation, Space, TensorCopy, TensorMode, Type,
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
    pub(super) fn cp(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        let reduce = op.flag("reduce");
        op.need("async")?;
        if op.flag("mbarrier") {
            return self.cp_mbarrier_arrive(op);
        }
        if !op.flag("bulk") {
            return self.cp_async(op);
        }
        if op.flag("commit_group") {
            return Ok(Operation::CpAsyncBulkCommitGroup);
        }
        if op.flag("wait_group") {
            let read = op.flag("read");
            return Ok(Operation::CpAsyncBulkWaitGroup(CpAsyncBulkWaitGroup {
                groups: self.number32()?,
                read,
            }));
        }
        let prefetch = op.flag("prefetch");
        if op.flag("tensor") {
            return self.tensor(op, prefetch, reduce);
        }
        match (prefetch, reduce) {
            (true, _) => self.bulk_prefetch(op),
            (_, true) => self.bulk_reduce(op),
            _ => self.bulk(op),
        }
    }

    fn cp_mbarrier_arrive(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("arrive")?;
        op.need("b64")?;
        let no_increment = op.flag("noinc");
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        Ok(Operation::CpAsyncMbarrierArrive(CpAsyncMbarrierArrive {
            no_increment,
            space,
            address: self.address()?,
        }))
    }

    fn cp_async(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        if op.flag("commit_group") {
            return Ok(Operation::CpAsyncCommitGroup);
        }
        if op.flag("wait_all") {
            return Ok(Operation::CpAsyncWaitAll);
        }
        if op.flag("wait_group") {
            return Ok(Operation::CpAsyncWaitGroup(self.number32()?));
        }
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
        let copy = CpAsync {
            cache,
            prefetch,
            policy,
            destination,
            source,
            size,
            source_size,
            ignore_source,
        };
        Ok(Operation::CpAsync(Box::new(copy)))
    }

    /// Whether the next operand is a predicate.
    pub(super) fn is_predicate(&mut self) -> bool {
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

    fn bulk(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
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
        let copy = CpAsyncBulk {
            destination_space,
            source_space,
            destination,
            source,
            size,
            completion,
            multicast,
            policy,
            byte_mask,
        };
        Ok(Operation::CpAsyncBulk(Box::new(copy)))
    }

    fn bulk_reduce(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
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
        let copy = CpReduceAsyncBulk {
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
        };
        Ok(Operation::CpReduceAsyncBulk(Box::new(copy)))
    }

    fn bulk_prefetch(&mut self, op: &mut Opcode<'a>) -> Result<Operation> {
        op.need("L2")?;
        op.need("global")?;
        let has_policy = op.flag("L2::cache_hint");
        let (source, size) = (self.address()?, self.then(Type::U32)?);
        let policy = self.given(has_policy, Type::B64)?;
        Ok(Operation::CpAsyncBulkPrefetch(Box::new(
            CpAsyncBulkPrefetch {
                source,
                size,
                policy,
            },
        )))
    }

    /// A comma and the mbarrier, where there is one.
    fn completion(&mut self, counted: bool) -> Result<Completion> {
        if counted {
            Ok(Completion::Mbarrier(self.then_address()?))
        } else {
            Ok(Completion::Group)
        }
    }

    fn tensor(&mut self, op: &mut Opcode<'a>, prefetch: bool, reduce: bool) -> Result<Operation> {
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
            return Ok(tensor_copy(CpAsyncBulkTensor {
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
            }));
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
        Ok(tensor_copy(CpAsyncBulkTensor {
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
        }))
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

fn tensor_copy(copy: CpAsyncBulkTensor) -> Operation {
    Operation::CpAsyncBulkTensor(Box::new(copy))
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
