//! One way for all collectives: lengths are checked, and the engine does the rest.

use ridgepoint_driver::Stream;

use super::Communicator;
use super::engine::{Arguments, Engine};
use crate::element::{Element, Reduction};
use crate::error::RankError;
use crate::host::{Call, Place, reduced};
use crate::part::{Part, PartMut};

/// What is done with the elements of all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    AllReduce(Reduction),
    AllGather,
    ReduceScatter(Reduction),
    /// From this rank.
    Broadcast(usize),
}

impl Operation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Operation::AllReduce(_) => "all_reduce",
            Operation::AllGather => "all_gather",
            Operation::ReduceScatter(_) => "reduce_scatter",
            Operation::Broadcast(_) => "broadcast",
        }
    }

    /// How all ranks must have called it.
    fn call<T: Element>(self, len: usize) -> Call {
        let of = match self {
            Operation::AllReduce(by) | Operation::ReduceScatter(by) => format!("{by} of "),
            Operation::Broadcast(root) => format!("from rank {root} of "),
            Operation::AllGather => "of ".to_owned(),
        };
        let name = format!("{} {of}{len} {}", self.name(), T::NAME);
        Call { name }
    }
}

impl Communicator<'_> {
    /// A collective that reads one part and writes another.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    pub(super) unsafe fn between<T: Element>(
        &self,
        stream: &Stream<'_>,
        operation: Operation,
        from: &Part<'_, T>,
        to: PartMut<'_, T>,
    ) -> Result<(), RankError> {
        let size = self.size();
        let (actual, expected) = match operation {
            Operation::AllGather => (to.len(), from.len().saturating_mul(size)),
            Operation::ReduceScatter(_) => (from.len(), to.len().saturating_mul(size)),
            Operation::AllReduce(_) | Operation::Broadcast(_) => (to.len(), from.len()),
        };
        let what = match operation {
            Operation::ReduceScatter(_) => "what is read",
            _ => "what is written",
        };
        check_length(operation, what, actual, expected)?;
        match &self.engine {
            Engine::Host => {
                let place = Place {
                    first: from.range.start,
                    len: from.len(),
                };
                let call = operation.call::<T>(place.len);
                let all = call.gather(self.control(), stream, from.buffer, &place)?;
                let values = self.result(operation, &all);
                Ok(stream.write(&values, to.buffer, to.range.start)?)
            }
            Engine::Nccl(nccl) => {
                let source = from.buffer.slice(from.range.clone());
                let target = to.buffer.slice_mut(to.range.clone());
                nccl.accept(operation, source.home())?;
                nccl.accept(operation, target.home())?;
                let arguments = Arguments {
                    from: source.as_ptr().cast(),
                    to: target.as_ptr().cast(),
                    count: from.len().min(to.len()),
                    element: T::NCCL,
                };
                // SAFETY: the caller's contract; the lengths fit, as checked above.
                unsafe { nccl.put(&self.rank, stream, operation, &arguments) }
            }
        }
    }

    /// A collective that reads and writes one part.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    pub(super) unsafe fn within<T: Element>(
        &self,
        stream: &Stream<'_>,
        operation: Operation,
        part: PartMut<'_, T>,
    ) -> Result<(), RankError> {
        let (size, first) = (self.size(), part.range.start);
        let share = part.len() / size;
        let own = share * self.rank();
        // Where this rank's elements are read, and where they are written, within the part.
        let (read, written) = match operation {
            Operation::AllReduce(_) | Operation::Broadcast(_) => (0..part.len(), 0),
            Operation::AllGather => (own..own + share, 0),
            Operation::ReduceScatter(_) => (0..part.len(), own),
        };
        match operation {
            Operation::AllGather | Operation::ReduceScatter(_) => {
                check_length(operation, "the part of all ranks", part.len(), share * size)?;
            }
            Operation::Broadcast(root) if root >= size => {
                let operation = operation.name();
                return Err(RankError::NoSuchRank {
                    operation,
                    root,
                    size,
                });
            }
            Operation::AllReduce(_) | Operation::Broadcast(_) => {}
        }
        match &self.engine {
            Engine::Host => {
                let call = operation.call::<T>(read.len());
                let place = Place {
                    first: first + read.start,
                    len: match operation {
                        Operation::Broadcast(root) if root != self.rank() => 0,
                        _ => read.len(),
                    },
                };
                let all = call.gather(self.control(), stream, part.buffer, &place)?;
                let values = self.result(operation, &all);
                Ok(stream.write(&values, part.buffer, first + written)?)
            }
            Engine::Nccl(nccl) => {
                let whole = part.buffer.slice_mut(part.range.clone());
                nccl.accept(operation, whole.home())?;
                let start: *mut T = whole.as_ptr();
                let arguments = Arguments {
                    from: start.wrapping_add(read.start).cast_const().cast(),
                    to: start.wrapping_add(written).cast(),
                    count: match operation {
                        Operation::AllGather | Operation::ReduceScatter(_) => share,
                        Operation::AllReduce(_) | Operation::Broadcast(_) => part.range.len(),
                    },
                    element: T::NCCL,
                };
                // SAFETY: the caller's contract; the lengths fit, as checked above.
                unsafe { nccl.put(&self.rank, stream, operation, &arguments) }
            }
        }
    }

    /// What this rank has of it, by the elements of all ranks.
    fn result<T: Element>(&self, operation: Operation, all: &[Vec<T>]) -> Vec<T> {
        match operation {
            Operation::AllReduce(by) => reduced(all, by),
            Operation::AllGather => all.concat(),
            Operation::ReduceScatter(by) => {
                let share = all[0].len() / all.len();
                let own = share * self.rank();
                let parts: Vec<Vec<T>> =
                    all.iter().map(|it| it[own..own + share].to_vec()).collect();
                reduced(&parts, by)
            }
            Operation::Broadcast(root) => all[root].clone(),
        }
    }
}

fn check_length(
    operation: Operation,
    what: &'static str,
    actual: usize,
    expected: usize,
) -> Result<(), RankError> {
    match actual == expected {
        true => Ok(()),
        false => Err(RankError::Length {
            operation: operation.name(),
            what,
            actual,
            expected,
        }),
    }
}
