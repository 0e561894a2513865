//! What threads wait for, and when it has come.

use std::panic::Location;
use std::rc::Rc;

use cuda_std::emulation::{Exchange, Operation, Tally, WARP_SIZE};

use crate::block::Parked;
use crate::coordinates;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// All live threads of the block.
    Barrier { predicate: bool },
    /// The lanes of `mask`.
    Exchange {
        operation: Operation,
        mask: u32,
        value: u128,
    },
    /// To know who else of the warp has come to the place.
    ActiveMask { place: &'static Location<'static> },
    /// Nothing: others go first.
    Turn,
}

/// What a thread is told when it goes on.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// It has only begun.
    Begin,
    Tally(Tally),
    Exchange(Rc<Exchange>),
    ActiveMask(u32),
    Turn,
}

/// The lanes of a warp that can go on, and what they are told. `parked` are the warp's threads
/// that wait; none runs.
pub(crate) fn ready(parked: &[Parked]) -> Option<(u32, Answer)> {
    let exchange = parked.iter().find_map(|one| match one.wait {
        Wait::Exchange {
            operation, mask, ..
        } => complete_exchange(parked, operation, mask),
        _ => None,
    });
    exchange.or_else(|| {
        let place = parked.iter().find_map(|one| match one.wait {
            Wait::ActiveMask { place } => Some(place),
            _ => None,
        })?;
        let lanes = lanes(parked, |wait| wait == Wait::ActiveMask { place });
        Some((lanes, Answer::ActiveMask(lanes)))
    })
}

/// Whether the thread only lets others go first.
pub(crate) fn gives_way(parked: &Parked) -> bool {
    parked.wait == Wait::Turn
}

fn complete_exchange(parked: &[Parked], operation: Operation, mask: u32) -> Option<(u32, Answer)> {
    let brought = |wait| match wait {
        Wait::Exchange {
            operation: its_operation,
            mask: its_mask,
            value,
        } => (its_operation == operation && its_mask == mask).then_some(value),
        _ => None,
    };
    let here = lanes(parked, |wait| brought(wait).is_some());
    if here & mask != mask {
        return None;
    }
    let mut values = [0; WARP_SIZE as usize];
    for one in parked {
        if let Some(value) = brought(one.wait) {
            values[(one.thread % WARP_SIZE) as usize] = value;
        }
    }
    Some((here, Answer::Exchange(Rc::new(Exchange { values }))))
}

fn lanes(parked: &[Parked], matches: impl Fn(Wait) -> bool) -> u32 {
    parked
        .iter()
        .filter(|one| matches(one.wait))
        .fold(0, |lanes, one| lanes | 1 << (one.thread % WARP_SIZE))
}

/// What the threads said at the barrier, if all are there.
pub(crate) fn tally<'a>(parked: impl Iterator<Item = &'a Parked>) -> Option<Tally> {
    let mut tally = Tally::default();
    for one in parked {
        let Wait::Barrier { predicate } = one.wait else {
            return None;
        };
        tally.threads += 1;
        tally.in_favour += u32::from(predicate);
    }
    Some(tally)
}

/// Who waits for what, for the report of threads that nothing can wake.
pub(crate) fn describe<'a>(parked: impl Iterator<Item = &'a Parked>, block: [u32; 3]) -> String {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    for one in parked {
        let what = match one.wait {
            Wait::Barrier { .. } => "at sync_threads".to_owned(),
            Wait::Exchange {
                operation, mask, ..
            } => {
                let warp = one.thread / WARP_SIZE;
                format!("in warp {warp} for a {operation:?} of the mask {mask:#010x}")
            }
            Wait::ActiveMask { place } => format!("in activemask at {place}"),
            Wait::Turn => "for its turn".to_owned(),
        };
        match groups.iter_mut().find(|(other, _)| *other == what) {
            Some((_, threads)) => threads.push(one.thread),
            None => groups.push((what, vec![one.thread])),
        }
    }
    let texts = groups.iter().map(|(what, threads)| {
        let first = coordinates(threads[0].into(), block);
        match threads.len() {
            1 => format!("thread {first:?} waits {what}"),
            count => format!("{count} threads, the first {first:?}, wait {what}"),
        }
    });
    texts.collect::<Vec<_>>().join("; ")
}
