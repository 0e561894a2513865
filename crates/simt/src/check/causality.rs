//! What comes before what.
//!
//! A block has a clock, which goes on at each of its barriers, each `sync_warp` and each release of
//! one of its threads, and each access has the time of its block. So whether an access is ordered
//! before another is a comparison: with the time of the block's last barrier, with the time up to
//! which a lane knows another lane of its warp, or with what a thread has acquired from others
//! through atomics and fences.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use cuda_std::emulation::{Effect, Scope, WARP_SIZE};

use super::shadow::Record;

const LANES: usize = WARP_SIZE as usize;

/// What is known of the past of a block: everything before `all`, and of some threads more.
#[derive(Clone, Debug, Default)]
struct Past {
    all: u32,
    threads: Vec<(u32, u32)>,
}

/// What is known of the past, block by block.
#[derive(Clone, Debug, Default)]
pub(super) struct View(HashMap<u32, Past>);

impl View {
    fn has(&self, record: &Record) -> bool {
        self.0.get(&record.block).is_some_and(|past| {
            let of_thread = past
                .threads
                .iter()
                .find(|(thread, _)| *thread == record.thread());
            record.time < past.all || of_thread.is_some_and(|(_, time)| record.time < *time)
        })
    }

    fn join(&mut self, other: &View) {
        for (block, past) in &other.0 {
            let own = self.0.entry(*block).or_default();
            own.all = own.all.max(past.all);
            for &(thread, time) in &past.threads {
                own.knows(thread, time);
            }
        }
    }
}

impl Past {
    fn knows(&mut self, thread: u32, time: u32) {
        match self.threads.iter_mut().find(|(other, _)| *other == thread) {
            Some((_, known)) => *known = time.max(*known),
            None => self.threads.push((thread, time)),
        }
        self.threads.retain(|(_, known)| *known > self.all);
    }
}

/// What atomics at each address have released.
pub(super) type Released = HashMap<usize, View>;

/// The clock of one block, and what its threads know.
#[derive(Default)]
pub(super) struct Clock {
    block: u32,
    now: u32,
    barrier: u32,
    /// For each lane of a warp, up to when it knows each other lane. Only of warps that have met in
    /// `sync_warp` since the last barrier.
    warps: HashMap<u32, Box<[[u32; LANES]; LANES]>>,
    acquired_by_all: View,
    acquired: HashMap<u32, View>,
    /// What a thread's relaxed reads saw: acquired at its next fence.
    seen: HashMap<u32, View>,
    /// What a thread's last fence releases through its next relaxed writes.
    fenced: HashMap<u32, (Scope, View)>,
    /// What atomics release to this block alone.
    released: Released,
}

impl Clock {
    pub(super) fn new(block: u32) -> Clock {
        Clock {
            block,
            now: 1,
            barrier: 1,
            ..Clock::default()
        }
    }

    pub(super) fn now(&self) -> u32 {
        self.now
    }

    /// Whether the access comes before what the thread does now.
    #[inline]
    pub(super) fn is_past(&self, record: &Record, thread: u32) -> bool {
        if record.block == self.block {
            if record.time < self.barrier {
                return true;
            }
            if record.thread() / WARP_SIZE == thread / WARP_SIZE
                && record.time < self.known(thread, record.thread())
            {
                return true;
            }
        }
        self.acquired_by_all.has(record)
            || self
                .acquired
                .get(&thread)
                .is_some_and(|view| view.has(record))
    }

    /// Up to when the thread knows another of its warp, by `sync_warp`.
    fn known(&self, thread: u32, other: u32) -> u32 {
        self.warps.get(&(thread / WARP_SIZE)).map_or(0, |known| {
            known[(thread % WARP_SIZE) as usize][(other % WARP_SIZE) as usize]
        })
    }

    /// All threads of the block have met.
    pub(super) fn barrier(&mut self) {
        self.now += 1;
        self.barrier = self.now;
        self.warps.clear();
        for view in self.acquired.values() {
            self.acquired_by_all.join(view);
        }
        self.acquired.clear();
    }

    /// Lanes of a warp have met.
    pub(super) fn sync_warp(&mut self, warp: u32, lanes: u32) {
        self.now += 1;
        let known = self.warps.entry(warp).or_default();
        let met = |lane: &usize| lanes >> lane & 1 == 1;
        let mut together = [0; LANES];
        let mut acquired = View::default();
        for lane in (0..LANES).filter(met) {
            known[lane][lane] = self.now;
            for (time, other) in together.iter_mut().zip(known[lane]) {
                *time = other.max(*time);
            }
            if let Some(view) = self.acquired.get(&(warp * WARP_SIZE + lane as u32)) {
                acquired.join(view);
            }
        }
        for lane in (0..LANES).filter(met) {
            known[lane] = together;
            if !acquired.0.is_empty() {
                let thread = warp * WARP_SIZE + lane as u32;
                self.acquired.insert(thread, acquired.clone());
            }
        }
    }

    /// All that comes before what the thread does now. What it does next no longer does.
    fn release(&mut self, thread: u32) -> View {
        self.now += 1;
        let mut view = self.acquired_by_all.clone();
        if let Some(acquired) = self.acquired.get(&thread) {
            view.join(acquired);
        }
        let own = view.0.entry(self.block).or_default();
        own.all = own.all.max(self.barrier);
        own.knows(thread, self.now);
        let warp = thread / WARP_SIZE;
        if let Some(known) = self.warps.get(&warp) {
            for (lane, &time) in known[(thread % WARP_SIZE) as usize].iter().enumerate() {
                if time > 0 {
                    own.knows(warp * WARP_SIZE + lane as u32, time);
                }
            }
        }
        view
    }

    /// A fence of the thread.
    pub(super) fn fence(&mut self, thread: u32, scope: Scope, ordering: Ordering) {
        if acquires(ordering)
            && let Some(seen) = self.seen.remove(&thread)
        {
            self.acquired.entry(thread).or_default().join(&seen);
        }
        if releases(ordering) {
            let view = self.release(thread);
            self.fenced.insert(thread, (scope, view));
        }
    }

    /// An atomic access of the thread. `device` is what atomics have released to all blocks.
    pub(super) fn atomic(
        &mut self,
        thread: u32,
        address: usize,
        effect: Effect,
        (scope, ordering): (Scope, Ordering),
        device: &mut Released,
    ) {
        if effect != Effect::Write {
            let mut seen = self.released.get(&address).cloned();
            if scope == Scope::Device
                && let Some(other) = device.get(&address)
            {
                seen.get_or_insert_default().join(other);
            }
            if let Some(seen) = seen {
                let known = if acquires(ordering) {
                    &mut self.acquired
                } else {
                    &mut self.seen
                };
                known.entry(thread).or_default().join(&seen);
            }
        }
        if effect != Effect::Read {
            let release = if releases(ordering) {
                Some((scope, self.release(thread)))
            } else {
                self.fenced.get(&thread).cloned()
            };
            publish(&mut self.released, address, effect, release.as_ref());
            let to_all = release.filter(|(fence, _)| *fence == Scope::Device);
            if scope == Scope::Device {
                publish(device, address, effect, to_all.as_ref());
            }
        }
    }
}

/// A store takes the place of what earlier ones released; an operation that reads too adds to it.
fn publish(
    released: &mut Released,
    address: usize,
    effect: Effect,
    release: Option<&(Scope, View)>,
) {
    if effect == Effect::Write {
        released.remove(&address);
    }
    if let Some((_, view)) = release {
        released.entry(address).or_default().join(view);
    }
}

fn acquires(ordering: Ordering) -> bool {
    !matches!(ordering, Ordering::Relaxed | Ordering::Release)
}

fn releases(ordering: Ordering) -> bool {
    !matches!(ordering, Ordering::Relaxed | Ordering::Acquire)
}
