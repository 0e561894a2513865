//! Writes to memory that is watched.

use engine::debug::Stopped;

use crate::breakpoints::{Breakpoints, Hit};

/// The watched memory of a run. Stores and atomics are seen before they are made, whatever they write; other writes, such as
/// asynchronous copies, by what has changed.
#[derive(Default)]
pub(crate) struct Watching {
    all: Vec<Watched>,
    previous: Option<Previous>,
}

struct Watched {
    address: u64,
    bytes: u32,
    /// The watchpoint, where it is one.
    id: Option<u32>,
    last: Option<Vec<u8>>,
}

/// The step before.
struct Previous {
    position: u64,
    lane: u32,
    /// Whether its writes were seen.
    is_seen: bool,
}

impl Watching {
    /// Watches for watchpoints, and for what a motion asks for: address and bytes.
    pub(crate) fn of(breakpoints: &Breakpoints, asked: Option<(u64, u32)>) -> Watching {
        let mut watching = asked.map(Watching::only).unwrap_or_default();
        let watched = breakpoints.watched().into_iter();
        watching
            .all
            .extend(watched.map(|(address, bytes, id)| Watched {
                address,
                bytes,
                id: Some(id),
                last: None,
            }));
        watching
    }

    /// Watches for what a motion asks for alone.
    pub(crate) fn only((address, bytes): (u64, u32)) -> Watching {
        Watching {
            all: vec![Watched {
                address,
                bytes,
                id: None,
                last: None,
            }],
            previous: None,
        }
    }

    pub(crate) fn is_any(&self) -> bool {
        !self.all.is_empty()
    }

    /// The write of the step before, where it was not seen then, and the one that this step is about to make: each with its
    /// step.
    pub(crate) fn look(&mut self, stopped: &Stopped<'_>) -> [Option<(u64, Hit)>; 2] {
        if self.all.is_empty() {
            return [None, None];
        }
        let mut changed: Vec<Option<u32>> = Vec::new();
        for watched in &mut self.all {
            let now = stopped.read(0, watched.address, watched.bytes as usize);
            if watched.last.is_some() && now.is_some() && watched.last != now {
                changed.push(watched.id);
            }
            watched.last = now.or(watched.last.take());
        }
        let unseen = self.previous.as_ref().filter(|it| !it.is_seen);
        let before = unseen.filter(|_| !changed.is_empty()).map(|it| {
            let hit = Hit {
                breakpoints: changed.into_iter().flatten().collect(),
                lane: it.lane,
                ..Hit::default()
            };
            (it.position, hit)
        });
        let here = self.written(stopped);
        self.previous = Some(Previous {
            position: stopped.position(),
            lane: stopped.running().trailing_zeros(),
            is_seen: here.is_some(),
        });
        [before, here.map(|hit| (stopped.position(), hit))]
    }

    fn written(&self, stopped: &Stopped<'_>) -> Option<Hit> {
        let writes = stopped.writes();
        let meets = |watched: &Watched| {
            writes.iter().find(|it| {
                it.address < watched.address + u64::from(watched.bytes)
                    && watched.address < it.address.saturating_add(it.bytes.into())
            })
        };
        let mut hit: Option<Hit> = None;
        for watched in &self.all {
            if let Some(write) = meets(watched) {
                let hit = hit.get_or_insert_with(|| Hit {
                    lane: write.lane,
                    ..Hit::default()
                });
                hit.breakpoints.extend(watched.id);
            }
        }
        hit
    }
}
