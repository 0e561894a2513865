//! The order of events within a block: its times, barriers, meetings and releases.
//!
//! Times are numbers that the device counts; each is one block's own. A block's time goes on at its
//! barriers, when lanes of a warp meet, and when one of its threads releases, and an access has the
//! time of its block. So what is before what is a comparison with the time of the last barrier, or
//! with that at which the warp met, or a look at what a thread has acquired from others.

use std::sync::Arc;

use super::Shape;
use super::access::{LaunchId, Scope};
use super::chains::{Head, Past, View, Write};
use super::epochs::{Epochs, Instance};
use super::hash::Map;
use super::seen::Seen;
use super::strong::{Group, Reach, Sites};

/// The time of a block, and what its threads know.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) launch: LaunchId,
    pub(super) block: Option<u64>,
    /// The device that it runs on.
    pub(super) device: u32,
    /// Whether that reaches others, or is reached.
    is_joined: bool,
    pub(super) cluster: u64,
    /// Whether the launch has clusters of several blocks.
    pub(super) is_clustered: bool,
    pub(super) number: u32,
    pub(super) floor: u32,
    /// The launch beside which its own has begun, until one of its threads waits for that.
    pub(super) beside: Option<LaunchId>,
    pub(super) start: u32,
    pub(super) now: u32,
    pub(super) run: u32,
    pub(super) barrier: u32,
    /// When each warp last met as a whole.
    pub(super) syncs: Vec<u32>,
    pub(super) all: View,
    pub(super) views: Map<u32, Arc<View>>,
    /// Reads by each warp that are not yet among these, nor in its lanes' views.
    pub(super) just_seen: Vec<Vec<Seen>>,
    /// Chains that a thread's relaxed reads saw: acquired at its next fence.
    pub(super) seen: Map<u32, Vec<(Group, u32, u32)>>,
    /// The past that a thread's last fences release through its next strong writes: of falling scopes.
    pub(super) fenced: Map<u32, Vec<(Scope, Head)>>,
    /// Chains of meetings: of lanes of a warp, and of barriers.
    meetings: Map<(u32, u32), u32>,
    pub(super) own_chains: Vec<u32>,
    /// Whether other blocks may come to know of the block's own chains since the last barrier.
    pub(super) is_exported: bool,
    /// The chains of its shared memory.
    pub(super) sites: Sites,
}

/// Numbers of meetings: those of barriers and of warps are below.
const PRODUCTS: u32 = 1 << 17;

impl Clock {
    pub(super) fn new(
        world: &mut Epochs,
        launch: LaunchId,
        block: Option<u64>,
        shape: Shape,
    ) -> Clock {
        let Shape {
            threads, is_joined, ..
        } = shape;
        let number = world.first_instance + world.instances.len() as u32;
        let device = world.of(launch).map_or(0, |launch| launch.device);
        world.instances.push(Instance {
            launch,
            device,
            block,
        });
        // One time for what is there at first, and one to begin with.
        let (start, follows) = world.tick(number);
        debug_assert!(!follows, "a number is one block's");
        let (now, _) = world.tick(number);
        let size = world
            .of(launch)
            .map_or(1, |launch| launch.blocks_per_cluster);
        let beside = world.begun_beside(launch);
        Clock {
            launch,
            block,
            device,
            cluster: block.unwrap_or(0) / size,
            is_clustered: size > 1,
            number,
            floor: beside.map_or_else(|| world.floor(launch), |(_, floor)| floor),
            beside: beside.map(|(other, _)| other),
            start,
            now,
            run: start,
            barrier: now,
            syncs: vec![0; threads.div_ceil(32) as usize],
            is_joined,
            all: match is_joined {
                true => world.known(launch),
                false => View::default(),
            },
            views: Map::default(),
            just_seen: vec![Vec::new(); threads.div_ceil(32) as usize],
            seen: Map::default(),
            fenced: Map::default(),
            meetings: Map::default(),
            own_chains: Vec::new(),
            is_exported: false,
            sites: Sites::default(),
        }
    }

    pub(super) fn tick(&mut self, world: &mut Epochs) {
        let (now, follows) = world.tick(self.number);
        self.now = now;
        if !follows {
            self.run = now;
        }
    }

    /// Whether what a thread did at that time comes before what `me` does now.
    pub(super) fn knows(&self, world: &Epochs, me: u32, epoch: u32, thread: u32) -> bool {
        if epoch < self.floor {
            return true;
        }
        let Some((owner, instance)) = world.owner(epoch) else {
            return true;
        };
        if owner == self.number {
            let sync = self.syncs.get(me as usize / 32).copied().unwrap_or(0);
            if thread == me || epoch < self.barrier || (thread / 32 == me / 32 && epoch < sync) {
                return true;
            }
        } else if self.is_of_launch_before(world, instance) {
            return true;
        }
        let mut views = [Some(&self.all), self.views.get(&me).map(Arc::as_ref)]
            .into_iter()
            .flatten();
        views.any(|view| {
            world.chains.knows(view, owner, thread, epoch)
                || self.knows_later(world, view, instance)
        })
    }

    /// Whether a view knows a release of a launch that is after another device's block, or after a copy: who hands on
    /// in one launch what an earlier one has done.
    fn knows_later(&self, world: &Epochs, view: &View, instance: &Instance) -> bool {
        instance.launch != self.launch
            && (instance.device != self.device || instance.block.is_none())
            && world.knows_later(view, instance.launch)
    }

    fn is_of_launch_before(&self, world: &Epochs, instance: &Instance) -> bool {
        match (world.of(instance.launch), world.of(self.launch)) {
            (Some(before), Some(own)) => {
                before.id != own.id
                    && self.beside != Some(before.id)
                    && own.operation.is_after(&before.operation)
            }
            _ => instance.launch != self.launch,
        }
    }

    /// A thread has waited for the launch beside which its own has begun.
    pub(super) fn wait_for_launch(&mut self, world: &Epochs) {
        if self.beside.take().is_some() {
            self.floor = world.floor(self.launch);
        }
    }

    /// Whether it is a time of this block, before its last barrier.
    pub(super) fn is_before_barrier(&self, world: &Epochs, epoch: u32) -> bool {
        epoch < self.barrier && self.is_own(world, epoch)
    }

    /// Whether it is a time of this block.
    pub(super) fn is_own(&self, world: &Epochs, epoch: u32) -> bool {
        world.instance_at(epoch) == Some(self.number)
    }

    /// Whether another block of the launch is in the same cluster.
    pub(super) fn is_in_cluster(&self, world: &Epochs, block: u64) -> bool {
        let size = world
            .of(self.launch)
            .map_or(1, |launch| launch.blocks_per_cluster);
        block / size == self.cluster
    }

    /// Whether `me` has observed a strong write of an element at this place.
    pub(super) fn has_observed(
        &self,
        world: &Epochs,
        me: u32,
        (epoch, thread, place): (u32, u32, u64),
    ) -> bool {
        if world.instance_at(epoch).is_none() {
            return true;
        }
        let write = Write {
            thread,
            epoch,
            place,
        };
        let own = self.views.get(&me);
        world.chains.has_observed(&self.all, write)
            || own.is_some_and(|view| world.chains.has_observed(view, write))
            || self.has_just_seen(world, me, write)
    }

    /// All threads of the block have met.
    pub(super) fn barrier(&mut self, world: &mut Epochs) {
        self.tick(world);
        self.barrier = self.now;
        self.learn_all_seen();
        for (_, view) in self.views.drain() {
            self.all.join(&view);
        }
        self.end_chains(world);
    }

    /// Ends the block's own chains: everybody of the block knows all of them now.
    fn end_chains(&mut self, world: &mut Epochs) {
        if self.own_chains.is_empty() {
            return;
        }
        let own = std::mem::take(&mut self.own_chains);
        self.all.forget(&own);
        self.meetings.clear();
        for seen in self.seen.values_mut() {
            seen.retain(|(group, ..)| group.scope() > Scope::Block);
        }
        self.sites.clear();
        if !std::mem::take(&mut self.is_exported) {
            own.into_iter().for_each(|chain| world.chains.end(chain));
        }
    }

    fn past(&self, warp: u32, mask: u32) -> Past {
        Past {
            barrier: self.barrier,
            warp,
            sync: self.syncs.get(warp as usize).copied().unwrap_or(0),
            mask,
            from: 0,
            time: self.now + 1,
        }
    }

    /// Returns a thread's knowledge beyond barriers.
    fn view(&self, thread: u32) -> Arc<View> {
        match self.views.get(&thread) {
            None => Arc::new(self.all.clone()),
            Some(view) if self.all.is_empty() => view.clone(),
            Some(view) => {
                let mut view = View::clone(view);
                view.join(&self.all);
                Arc::new(view)
            }
        }
    }

    /// Returns a thread's past and knowledge so far. The time must go on before it does more.
    pub(super) fn head(&self, thread: u32) -> Head {
        Head {
            past: self.past(thread / 32, 1 << (thread % 32)),
            view: self.view(thread),
        }
    }

    /// Lanes of a warp, of which `all` exist, have met.
    pub(super) fn sync_warp(&mut self, world: &mut Epochs, warp: u32, mask: u32, all: u32) {
        let is_whole = mask & all == all;
        self.learn_seen(warp);
        if is_whole && self.views.is_empty() {
            self.tick(world);
            self.syncs[warp as usize] = self.now;
            return;
        }
        let threads = [(warp, mask)];
        self.arrive(world, (1 << 16) + warp, mask, &threads);
        self.leave(world, (1 << 16) + warp, mask, &threads);
        if is_whole {
            self.syncs[warp as usize] = self.now;
        }
    }

    /// Threads come to a meeting: what they did is known to who leaves it.
    pub(super) fn arrive(
        &mut self,
        world: &mut Epochs,
        meeting: u32,
        key: u32,
        threads: &[(u32, u32)],
    ) {
        let chain = self.meeting(world, meeting, key);
        for &(warp, mask) in threads {
            self.learn_seen(warp);
            let mut view = View::default();
            for thread in lanes(warp, mask) {
                if let Some(own) = self.views.get(&thread) {
                    view.join(own);
                }
            }
            let head = Head {
                past: self.past(warp, mask),
                view: Arc::new(view),
            };
            world.chains.release(chain, self.number, &head);
        }
        self.tick(world);
    }

    /// Threads leave a meeting.
    pub(super) fn leave(
        &mut self,
        world: &mut Epochs,
        meeting: u32,
        key: u32,
        threads: &[(u32, u32)],
    ) {
        let chain = self.meeting(world, meeting, key);
        let len = world.chains.len(chain);
        let mut last: Option<(Option<Arc<View>>, Arc<View>)> = None;
        for &(warp, mask) in threads {
            for thread in lanes(warp, mask) {
                let before = self.views.get(&thread).cloned();
                let shared = last.as_ref().filter(|(other, _)| *other == before);
                let view = shared.map(|(_, view)| view.clone()).unwrap_or_else(|| {
                    let mut view = before.as_deref().cloned().unwrap_or_default();
                    world.chains.acquire(&mut view, chain, len);
                    Arc::new(view)
                });
                last = Some((before, view.clone()));
                self.views.insert(thread, view);
            }
        }
    }

    fn meeting(&mut self, world: &mut Epochs, meeting: u32, key: u32) -> u32 {
        let own = &mut self.own_chains;
        *self.meetings.entry((meeting, key)).or_insert_with(|| {
            let chain = world.chains.begin(None);
            own.push(chain);
            chain
        })
    }

    /// Releases all that lane 0 of a warp has done from a time on to the threads that wait for its warpgroup's
    /// products.
    pub(super) fn commit_products(&mut self, world: &mut Epochs, warp: u32, from: u32) {
        let chain = self.meeting(world, PRODUCTS + warp / 4, 0);
        let past = Past {
            barrier: 0,
            warp,
            sync: 0,
            mask: 1,
            from,
            time: self.now + 1,
        };
        let view = Arc::default();
        world
            .chains
            .release(chain, self.number, &Head { past, view });
        self.tick(world);
    }

    /// Lanes of a warp have waited for products.
    pub(super) fn wait_for_products(&mut self, world: &mut Epochs, warp: u32, mask: u32) {
        self.leave(world, PRODUCTS + warp / 4, 0, &[(warp, mask)]);
    }

    /// Threads arrive at the barrier of the cluster.
    pub(super) fn arrive_in_cluster(&mut self, world: &mut Epochs, warp: u32, mask: u32) {
        let chain = world.chain_of_cluster(self.launch, self.cluster);
        self.is_exported = true;
        self.learn_seen(warp);
        let mut view = self.all.clone();
        for thread in lanes(warp, mask) {
            if let Some(own) = self.views.get(&thread) {
                view.join(own);
            }
        }
        let head = Head {
            past: self.past(warp, mask),
            view: Arc::new(view),
        };
        world.chains.release(chain, self.number, &head);
        self.tick(world);
    }

    /// Threads go on from the barrier of the cluster.
    pub(super) fn leave_in_cluster(&mut self, world: &mut Epochs, warp: u32, mask: u32) {
        let chain = world.chain_of_cluster(self.launch, self.cluster);
        let len = world.chains.len(chain);
        for thread in lanes(warp, mask) {
            let view = Arc::make_mut(self.views.entry(thread).or_default());
            world.chains.acquire(view, chain, len);
        }
    }

    /// Shows those who wait at an address of the block's shared memory what a copy has done, of the block of a
    /// number.
    pub(super) fn release_at(&mut self, world: &mut Epochs, offset: u64, number: u32, head: &Head) {
        let key = offset | space_of(self.start);
        let reach = self.reach();
        let known = match reach {
            Reach::Block => self.sites.remove(&key),
            Reach::All => world.sites.remove(&key),
        };
        let mut site = known.unwrap_or_default();
        self.release_in(world, &mut site, reach, number, head);
        match reach {
            Reach::Block => self.sites.insert(key, site),
            Reach::All => world.sites.insert(key, site),
        };
    }

    /// Who can reach the block's shared memory.
    pub(super) fn reach(&self) -> Reach {
        match self.is_clustered {
            true => Reach::All,
            false => Reach::Block,
        }
    }

    /// The block has ended.
    pub(super) fn end(&mut self, world: &mut Epochs) {
        if self.is_joined {
            self.hand_on(world);
        }
        self.end_chains(world);
    }
}

/// Returns bits that tell shared memory of a block that began at a time from other memory.
pub(super) fn space_of(start: u32) -> u64 {
    u64::from(start) << 24 | 1 << 63
}

pub(super) fn lanes(warp: u32, mask: u32) -> impl Iterator<Item = u32> {
    (0..32)
        .filter(move |lane| mask >> lane & 1 == 1)
        .map(move |lane| warp * 32 + lane)
}
