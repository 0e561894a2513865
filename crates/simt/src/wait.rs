//! What threads wait for, and when it has come.

use std::panic::Location;
use std::rc::Rc;

use cuda_std::emulation::{Exchange, Operation, Tally, WARP_SIZE};

use crate::coordinates;
use crate::source::line;
use crate::warp::Parked;

/// What a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// All live threads of the block.
    Barrier {
        predicate: bool,
        place: &'static Location<'static>,
    },
    /// The lanes of `mask`.
    Exchange {
        operation: Operation,
        mask: u32,
        value: u64,
        place: &'static Location<'static>,
    },
    /// To know who else of the warp has come to the place.
    ActiveMask { place: &'static Location<'static> },
    /// Nothing: others go first, for it sleeps.
    Sleep,
    /// Nothing: others go first, for it has gone far.
    Preempted,
    /// For ever: it has failed.
    Failed,
    /// Nothing but its turn: this has come.
    Answered(Answer),
}

impl Default for Wait {
    fn default() -> Self {
        Wait::Answered(Answer::Turn)
    }
}

impl Wait {
    /// Whether the thread stands where it can be unwound: not in an access of instrumented code.
    pub(crate) fn unwinds(&self) -> bool {
        !matches!(
            self,
            Wait::Preempted | Wait::Failed | Wait::Answered(Answer::Fuel)
        )
    }
}

/// What a thread is told when it goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// Nothing but that, to begin or after it slept.
    Turn,
    /// That it may go as far again.
    Fuel,
    Tally(Tally),
    /// What the lanes brought, which lies in the thread's slot.
    Exchange,
    ActiveMask(u32),
}

/// What a thread is told once others have gone first, if that is all that it waits for.
pub(crate) fn way_given(parked: &Parked) -> Option<Answer> {
    match parked.wait() {
        Wait::Sleep => Some(Answer::Turn),
        Wait::Preempted => Some(Answer::Fuel),
        _ => None,
    }
}

/// Lets those lanes of a warp go on for which what they wait for has come, if that is so for any.
/// `parked` are the warp's threads that wait; none runs. Returns the lanes that have met in a
/// `sync_warp`, if it was that.
pub(crate) fn release(parked: &[Parked]) -> Option<u32> {
    let exchange = parked.iter().find_map(|one| match one.wait() {
        Wait::Exchange {
            operation, mask, ..
        } => complete_exchange(parked, (operation, mask)).map(|complete| (operation, complete)),
        _ => None,
    });
    if let Some((operation, (lanes, exchange))) = exchange {
        let exchange = Rc::new(exchange);
        for one in of_lanes(parked, lanes) {
            one.answer_exchange(&exchange);
        }
        return Some(if operation == Operation::Sync {
            lanes
        } else {
            0
        });
    }
    let place = parked.iter().find_map(|one| match one.wait() {
        Wait::ActiveMask { place } => Some(place),
        _ => None,
    })?;
    let is_here = |wait| matches!(wait, Wait::ActiveMask { place: its } if its == place);
    let lanes = lanes(parked, is_here);
    for one in of_lanes(parked, lanes) {
        one.answer(Answer::ActiveMask(lanes));
    }
    Some(0)
}

fn of_lanes(parked: &[Parked], lanes: u32) -> impl Iterator<Item = &Parked> {
    parked
        .iter()
        .filter(move |one| lanes >> one.lane() & 1 == 1)
}

/// What the lanes of `mask` have brought to an exchange, if all have come, and which lanes have.
fn complete_exchange(parked: &[Parked], wanted: (Operation, u32)) -> Option<(u32, Exchange)> {
    let mut here = 0;
    let mut values = [0; WARP_SIZE as usize];
    for one in parked {
        if let Wait::Exchange {
            operation,
            mask,
            value,
            ..
        } = one.wait()
            && (operation, mask) == wanted
        {
            let lane = one.lane();
            here |= 1 << lane;
            values[lane as usize] = value;
        }
    }
    (here & wanted.1 == wanted.1).then_some((here, Exchange { values }))
}

fn lanes(parked: &[Parked], matches: impl Fn(Wait) -> bool) -> u32 {
    parked
        .iter()
        .filter(|one| matches(one.wait()))
        .fold(0, |lanes, one| lanes | 1 << one.lane())
}

/// A thread at a barrier.
pub(crate) type At = (u32, &'static Location<'static>);

/// Threads at a barrier: what they said, the first of them, and one that is at another place.
pub(crate) struct Meeting {
    pub(crate) tally: Tally,
    pub(crate) first: At,
    pub(crate) elsewhere: Option<At>,
}

/// The threads at a barrier, if all are there.
pub(crate) fn meeting<'a>(mut parked: impl Iterator<Item = &'a Parked>) -> Option<Meeting> {
    let mut tally = Tally::default();
    let mut places: Option<(At, Option<At>)> = None;
    parked.try_for_each(|one| {
        let Wait::Barrier { predicate, place } = one.wait() else {
            return None;
        };
        tally.threads += 1;
        tally.in_favour += u32::from(predicate);
        let (first, elsewhere) = places.get_or_insert(((one.thread(), place), None));
        if *first.1 != *place {
            elsewhere.get_or_insert((one.thread(), place));
        }
        Some(())
    })?;
    let (first, elsewhere) = places?;
    Some(Meeting {
        tally,
        first,
        elsewhere,
    })
}

/// Threads that wait for the same, and how to say it.
pub(crate) struct Group {
    pub(crate) what: String,
    pub(crate) threads: Vec<u32>,
    /// Of an exchange, its warp and its mask.
    pub(crate) exchange: Option<(u32, u32)>,
}

/// Who waits for what, of threads that nothing can wake.
pub(crate) fn groups<'a>(parked: impl Iterator<Item = &'a Parked>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in parked {
        let warp = one.thread() / WARP_SIZE;
        let (what, exchange) = match one.wait() {
            Wait::Barrier { place, .. } => (format!("at the barrier at {}", line(place)), None),
            Wait::Exchange {
                operation,
                mask,
                place,
                ..
            } => (
                format!(
                    "in warp {warp} for a {operation:?} of the mask {mask:#010x} at {}",
                    line(place)
                ),
                Some((warp, mask)),
            ),
            _ => ("for its turn".to_owned(), None),
        };
        match groups.iter_mut().find(|group| group.what == what) {
            Some(group) => group.threads.push(one.thread()),
            None => groups.push(Group {
                what,
                threads: vec![one.thread()],
                exchange,
            }),
        }
    }
    groups
}

impl Group {
    /// The lanes that the group waits for.
    pub(crate) fn missing(&self) -> u32 {
        self.exchange.map_or(0, |(_, mask)| {
            self.threads
                .iter()
                .fold(mask, |mask, thread| mask & !(1 << (thread % WARP_SIZE)))
        })
    }

    pub(crate) fn describe(&self, block: [u32; 3]) -> String {
        let first = coordinates(self.threads[0].into(), block);
        match self.threads.len() {
            1 => format!("thread {first:?} waits {}", self.what),
            count => format!("{count} threads, the first {first:?}, wait {}", self.what),
        }
    }
}
