//! One way for all collectives: lengths are checked, and the engine does the rest.

use std::ptr;

use cuda_std::launch::{Home, Slice, SliceMut};
use ridgepoint_driver::{DriverError, HostWork, Stream};

use super::Communicator;
use super::engine::{Arguments, Engine};
use crate::element::{Element, Reduction};
use crate::error::RankError;
use crate::host::{Call, reduced};
use crate::part::{Part, PartMut};

/// The operation on the elements of all ranks.
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

/// Where a rank's elements are read, and where its results are written.
struct Places<T> {
    from: *const T,
    from_len: usize,
    to: *mut T,
    to_len: usize,
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
        let (what, actual, expected) = match operation {
            Operation::AllGather => (WRITTEN, to.len(), from.len().saturating_mul(size)),
            Operation::ReduceScatter(_) => (READ, from.len(), to.len().saturating_mul(size)),
            Operation::AllReduce(_) | Operation::Broadcast(_) => (WRITTEN, to.len(), from.len()),
        };
        check_length(operation, what, actual, expected)?;
        let source = from.buffer.slice(from.range.clone());
        let target = to.buffer.slice_mut(to.range.clone());
        self.accept(operation, source.home())?;
        self.accept(operation, target.home())?;
        let places = Places {
            from: source.as_ptr(),
            from_len: source.len(),
            to: target.as_ptr(),
            to_len: target.len(),
        };
        // SAFETY: the caller's contract; the lengths fit.
        unsafe { self.put(stream, operation, &places) }
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
        let (size, len) = (self.size(), part.len());
        let share = len / size;
        match operation {
            Operation::AllGather | Operation::ReduceScatter(_) => {
                check_length(operation, "the part of all ranks", len, share * size)?;
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
        let whole = part.buffer.slice_mut(part.range.clone());
        self.accept(operation, whole.home())?;
        let start: *mut T = whole.as_ptr();
        let own = start.wrapping_add(share * self.rank());
        let (from, from_len, to, to_len) = match operation {
            Operation::AllReduce(_) | Operation::Broadcast(_) => (start, len, start, len),
            Operation::AllGather => (own, share, start, len),
            Operation::ReduceScatter(_) => (start, len, own, share),
        };
        let from = from.cast_const();
        let places = Places {
            from,
            from_len,
            to,
            to_len,
        };
        // SAFETY: the caller's contract; the lengths fit.
        unsafe { self.put(stream, operation, &places) }
    }

    /// # Safety
    /// As for [`Communicator::all_reduce`]; the places are the device's, and their lengths fit the operation.
    unsafe fn put<T: Element>(
        &self,
        stream: &Stream<'_>,
        operation: Operation,
        places: &Places<T>,
    ) -> Result<(), RankError> {
        let &Places {
            from,
            from_len,
            to,
            to_len,
        } = places;
        match &self.engine {
            Engine::Nccl(nccl) => {
                let arguments = Arguments {
                    from: from.cast(),
                    to: to.cast(),
                    // Of one rank, where a collective gathers or scatters.
                    count: from_len.min(to_len),
                    element: T::NCCL,
                };
                // SAFETY: the caller's contract.
                unsafe { nccl.put(&self.rank, stream, operation, &arguments) }
            }
            Engine::Host => {
                let given = match operation {
                    Operation::Broadcast(root) if root != self.rank() => 0,
                    _ => from_len,
                };
                let call = operation.call::<T>(from_len);
                let control = self.control().clone();
                // Addresses go to the thread that replays.
                let (from, to) = (from.expose_provenance(), to.expose_provenance());
                let work = move |memory: &HostWork<'_>| {
                    // SAFETY: the caller's contract, until the last replay.
                    let (from, to) = unsafe {
                        let from = ptr::with_exposed_provenance::<T>(from);
                        let to = ptr::with_exposed_provenance_mut::<T>(to);
                        (Slice::from_raw(from, given), SliceMut::from_raw(to, to_len))
                    };
                    let mut own = vec![T::zeroed(); given];
                    // SAFETY: the caller's contract.
                    unsafe { memory.read(&from, &mut own) }.map_err(RankError::from)?;
                    let all = call.exchange(&control, &own)?;
                    let results = result(operation, control.rank(), &all);
                    // SAFETY: the caller's contract.
                    unsafe { memory.write(&results, &to) }.map_err(RankError::from)?;
                    Ok(())
                };
                Ok(stream.host_work(work)?)
            }
        }
    }

    /// Refuses memory of another device.
    fn accept(&self, operation: Operation, of: Option<&'static Home>) -> Result<(), DriverError> {
        match (self.home, of) {
            (Some(on), Some(of)) if on != of => Err(DriverError::OtherDevice {
                operation: operation.name(),
                on: on.name(),
                what: "the buffer".into(),
                of: of.name(),
            }),
            _ => Ok(()),
        }
    }
}

const READ: &str = "what is read";
const WRITTEN: &str = "what is written";

/// Returns a rank's result, by the elements of all ranks.
fn result<T: Element>(operation: Operation, rank: usize, all: &[Vec<T>]) -> Vec<T> {
    match operation {
        Operation::AllReduce(by) => reduced(all, by),
        Operation::AllGather => all.concat(),
        Operation::ReduceScatter(by) => {
            let share = all[0].len() / all.len();
            let own = share * rank..share * (rank + 1);
            let parts: Vec<Vec<T>> = all.iter().map(|it| it[own.clone()].to_vec()).collect();
            reduced(&parts, by)
        }
        Operation::Broadcast(root) => all[root].clone(),
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
