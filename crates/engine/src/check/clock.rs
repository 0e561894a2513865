//! What comes before what.
//!
//! Times are numbers that the device counts; each is one block's own. A block's time goes on at its
//! barriers, when lanes of a warp meet, and when one of its threads releases, and an access has the
//! time of its block. So what is before what is a comparison with the time of the last barrier, or
//! with that at which the warp met, or a look at what a thread has acquired from others.

use std::rc::Rc;

use super::access::{LaunchId, Order, Scope};
use super::chains::{Chains, Head, Past, View, Write};
use super::hash::Map;
use super::streams::Operation;

/// A launch, and what has begun since.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) id: LaunchId,
    pub(super) operation: Operation,
    pub(super) blocks_per_cluster: u64,
    pub(super) start: u32,
    pub(super) is_running: bool,
}

/// Which block, of which launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) launch: LaunchId,
    /// Its linear index. None of the host.
    pub(super) block: Option<u64>,
}

/// Threads among which a chain is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Group {
    /// By number, from one barrier to the next: what came before it all of the block know.
    Block(u32, u32),
    Cluster(u32, u64),
    Device,
}

/// The chains of one address.
#[derive(Debug, Default)]
pub(super) struct Site {
    bytes: u32,
    chains: Vec<(Group, u32)>,
    /// What threads of which block have released here themselves: a later strong write of the same
    /// thread still does.
    released: Vec<(u32, u32, Scope, Head)>,
}

/// The chains of all addresses.
pub(super) type Sites = Map<u64, Site>;

/// Time, and all launches that are not yet before everything.
#[derive(Debug)]
pub(super) struct World {
    next: u32,
    /// From which time on times are which instance's.
    runs: Vec<(u32, u32)>,
    instances: Vec<Instance>,
    /// The number of the first of these.
    first_instance: u32,
    pub(super) launches: Vec<Launch>,
    launched: u32,
    pub(super) chains: Chains,
    pub(super) sites: Sites,
    fences: Site,
}

/// The first time that there is.
const FIRST: u32 = 2;

impl World {
    pub(super) fn new() -> World {
        World {
            next: FIRST,
            runs: Vec::new(),
            instances: Vec::new(),
            first_instance: 0,
            launches: Vec::new(),
            launched: 0,
            chains: Chains::default(),
            sites: Sites::default(),
            fences: Site::default(),
        }
    }

    /// Another time, of an instance: and whether it follows on its last one.
    fn tick(&mut self, instance: u32) -> (u32, bool) {
        let now = self.next;
        self.next += 1;
        let follows = self.runs.last().is_some_and(|(_, last)| *last == instance);
        if !follows {
            self.runs.push((now, instance));
        }
        (now, follows)
    }

    pub(super) fn now(&self) -> u32 {
        self.next
    }

    /// Whether times may run out.
    pub(super) fn is_old(&self) -> bool {
        self.next > 1 << 30 && self.launches.iter().all(|launch| !launch.is_running)
    }

    /// Begins a launch; gives the time before which everything is before it.
    pub(super) fn launch(&mut self, operation: Operation, cluster: u64) -> (LaunchId, u32) {
        self.launches
            .retain(|launch| launch.is_running || !operation.is_everyones(&launch.operation));
        if self.launches.is_empty() {
            self.forget();
        }
        let id = LaunchId(self.launched);
        self.launched += 1;
        let start = self.next;
        self.launches.push(Launch {
            id,
            operation,
            blocks_per_cluster: cluster.max(1),
            start,
            is_running: true,
        });
        (id, self.floor(id))
    }

    /// All that has been is before all that will be.
    fn forget(&mut self) {
        self.runs.clear();
        self.first_instance += self.instances.len() as u32;
        self.instances.clear();
        self.chains.clear();
        self.sites.clear();
        self.fences = Site::default();
    }

    pub(super) fn end(&mut self, id: LaunchId) {
        if let Some(launch) = self.launches.iter_mut().find(|launch| launch.id == id) {
            launch.is_running = false;
        }
    }

    fn floor(&self, id: LaunchId) -> u32 {
        let own = self.of(id);
        let unordered = self.launches.iter().filter(|other| {
            own.is_none_or(|own| other.id == id || !own.operation.is_after(&other.operation))
        });
        unordered
            .map(|launch| launch.start)
            .min()
            .unwrap_or(self.next)
    }

    pub(super) fn of(&self, id: LaunchId) -> Option<&Launch> {
        self.launches.iter().find(|launch| launch.id == id)
    }

    /// Whose time it is.
    fn instance_at(&self, epoch: u32) -> Option<u32> {
        let after = self.runs.partition_point(|(from, _)| *from <= epoch);
        Some(self.runs.get(after.checked_sub(1)?)?.1)
    }

    /// Which block it was at that time.
    pub(super) fn instance(&self, epoch: u32) -> Option<Instance> {
        let number = self.instance_at(epoch)?;
        self.instances
            .get((number - self.first_instance) as usize)
            .copied()
    }
}

/// The time of a block, and what its threads know.
#[derive(Debug)]
pub(super) struct Clock {
    pub(super) launch: LaunchId,
    pub(super) block: Option<u64>,
    cluster: u64,
    /// Whether the launch has clusters of several blocks.
    pub(super) is_clustered: bool,
    pub(super) number: u32,
    pub(super) floor: u32,
    pub(super) start: u32,
    pub(super) now: u32,
    pub(super) run: u32,
    pub(super) barrier: u32,
    /// When each warp last met as a whole.
    pub(super) syncs: Vec<u32>,
    all: View,
    views: Map<u32, Rc<View>>,
    /// What a thread's relaxed reads saw: acquired at its next fence.
    seen: Map<u32, Vec<(Group, u32, u32)>>,
    /// What a thread's last fences release through its next strong writes: of falling scopes.
    fenced: Map<u32, Vec<(Scope, Head)>>,
    /// Chains of meetings: of lanes of a warp, and of barriers.
    meetings: Map<(u32, u32), u32>,
    own_chains: Vec<u32>,
    /// Whether other blocks may come to know of the block's own chains since the last barrier.
    is_exported: bool,
    /// The chains of its shared memory.
    pub(super) sites: Sites,
}

impl Clock {
    pub(super) fn new(
        world: &mut World,
        launch: LaunchId,
        block: Option<u64>,
        threads: u32,
    ) -> Clock {
        let number = world.first_instance + world.instances.len() as u32;
        world.instances.push(Instance { launch, block });
        // One time for what is there at first, and one to begin with.
        let (start, follows) = world.tick(number);
        debug_assert!(!follows, "a number is one block's");
        let (now, _) = world.tick(number);
        let size = world
            .of(launch)
            .map_or(1, |launch| launch.blocks_per_cluster);
        Clock {
            launch,
            block,
            cluster: block.unwrap_or(0) / size,
            is_clustered: size > 1,
            number,
            floor: world.floor(launch),
            start,
            now,
            run: start,
            barrier: now,
            syncs: vec![0; threads.div_ceil(32) as usize],
            all: View::default(),
            views: Map::default(),
            seen: Map::default(),
            fenced: Map::default(),
            meetings: Map::default(),
            own_chains: Vec::new(),
            is_exported: false,
            sites: Sites::default(),
        }
    }

    pub(super) fn tick(&mut self, world: &mut World) {
        let (now, follows) = world.tick(self.number);
        self.now = now;
        if !follows {
            self.run = now;
        }
    }

    /// Whether what a thread did at that time comes before what `me` does now.
    pub(super) fn knows(&self, world: &World, me: u32, epoch: u32, thread: u32) -> bool {
        if epoch < self.floor {
            return true;
        }
        let Some(owner) = world.instance_at(epoch) else {
            return true;
        };
        if owner == self.number {
            let sync = self.syncs.get(me as usize / 32).copied().unwrap_or(0);
            if thread == me || epoch < self.barrier || (thread / 32 == me / 32 && epoch < sync) {
                return true;
            }
        } else if self.is_of_launch_before(world, epoch) {
            return true;
        }
        world.chains.knows(&self.all, owner, thread, epoch)
            || self
                .views
                .get(&me)
                .is_some_and(|view| world.chains.knows(view, owner, thread, epoch))
    }

    fn is_of_launch_before(&self, world: &World, epoch: u32) -> bool {
        let Some(instance) = world.instance(epoch) else {
            return true;
        };
        match (world.of(instance.launch), world.of(self.launch)) {
            (Some(before), Some(own)) => {
                before.id != own.id && own.operation.is_after(&before.operation)
            }
            _ => instance.launch != self.launch,
        }
    }

    /// Whether it is a time of this block.
    pub(super) fn is_own(&self, world: &World, epoch: u32) -> bool {
        world.instance_at(epoch) == Some(self.number)
    }

    /// Whether another block of the launch is in the same cluster.
    pub(super) fn is_in_cluster(&self, world: &World, block: u64) -> bool {
        let size = world
            .of(self.launch)
            .map_or(1, |launch| launch.blocks_per_cluster);
        block / size == self.cluster
    }

    /// Whether `me` has observed a strong write.
    pub(super) fn has_observed(&self, world: &World, me: u32, epoch: u32, thread: u32) -> bool {
        let Some(owner) = world.instance_at(epoch) else {
            return true;
        };
        let write: Write = (owner, thread, epoch);
        world.chains.has_observed(&self.all, write)
            || self
                .views
                .get(&me)
                .is_some_and(|view| world.chains.has_observed(view, write))
    }

    /// All threads of the block have met.
    pub(super) fn barrier(&mut self, world: &mut World) {
        self.tick(world);
        self.barrier = self.now;
        for (_, view) in self.views.drain() {
            self.all.join(&view);
        }
        self.end_chains(world);
    }

    /// What the block's own chains say, everybody of the block knows now.
    fn end_chains(&mut self, world: &mut World) {
        if self.own_chains.is_empty() {
            return;
        }
        let own = std::mem::take(&mut self.own_chains);
        self.all.forget(&own);
        self.meetings.clear();
        self.seen.clear();
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
            time: self.now + 1,
        }
    }

    /// What a thread knows beyond barriers.
    fn view(&self, thread: u32) -> Rc<View> {
        match self.views.get(&thread) {
            None => Rc::new(self.all.clone()),
            Some(view) if self.all.is_empty() => view.clone(),
            Some(view) => {
                let mut view = View::clone(view);
                view.join(&self.all);
                Rc::new(view)
            }
        }
    }

    /// What a thread has done so far. The time must go on before it does more.
    fn head(&self, thread: u32) -> Head {
        Head {
            past: self.past(thread / 32, 1 << (thread % 32)),
            view: self.view(thread),
        }
    }

    /// Lanes of a warp, of which `all` exist, have met.
    pub(super) fn sync_warp(&mut self, world: &mut World, warp: u32, mask: u32, all: u32) {
        let is_whole = mask & all == all;
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
        world: &mut World,
        meeting: u32,
        key: u32,
        threads: &[(u32, u32)],
    ) {
        let chain = self.meeting(world, meeting, key);
        for &(warp, mask) in threads {
            let mut view = View::default();
            for thread in lanes(warp, mask) {
                if let Some(own) = self.views.get(&thread) {
                    view.join(own);
                }
            }
            let head = Head {
                past: self.past(warp, mask),
                view: Rc::new(view),
            };
            world.chains.release(chain, self.number, &head);
        }
        self.tick(world);
    }

    /// Threads leave a meeting.
    pub(super) fn leave(
        &mut self,
        world: &mut World,
        meeting: u32,
        key: u32,
        threads: &[(u32, u32)],
    ) {
        let chain = self.meeting(world, meeting, key);
        let len = world.chains.len(chain);
        let mut last: Option<(Option<Rc<View>>, Rc<View>)> = None;
        for &(warp, mask) in threads {
            for thread in lanes(warp, mask) {
                let before = self.views.get(&thread).cloned();
                let shared = last.as_ref().filter(|(other, _)| *other == before);
                let view = shared.map(|(_, view)| view.clone()).unwrap_or_else(|| {
                    let mut view = before.as_deref().cloned().unwrap_or_default();
                    world.chains.acquire(&mut view, chain, len);
                    Rc::new(view)
                });
                last = Some((before, view.clone()));
                self.views.insert(thread, view);
            }
        }
    }

    fn meeting(&mut self, world: &mut World, meeting: u32, key: u32) -> u32 {
        let own = &mut self.own_chains;
        *self.meetings.entry((meeting, key)).or_insert_with(|| {
            let chain = world.chains.begin();
            own.push(chain);
            chain
        })
    }

    /// A fence of lanes of a warp.
    pub(super) fn fence(
        &mut self,
        world: &mut World,
        warp: u32,
        mask: u32,
        order: Order,
        scope: Scope,
    ) {
        for thread in lanes(warp, mask) {
            if order.acquires() {
                self.acquire_seen(world, thread, scope);
            }
        }
        if order == Order::SequentiallyConsistent {
            self.fence_all(world, warp, mask, scope);
        }
        if order.releases() {
            self.is_exported |= scope > Scope::Block;
            for thread in lanes(warp, mask) {
                let head = self.head(thread);
                let fences = self.fenced.entry(thread).or_default();
                fences.retain(|(other, _)| *other > scope);
                fences.push((scope, head));
            }
            self.tick(world);
        }
    }

    fn acquire_seen(&mut self, world: &World, thread: u32, scope: Scope) {
        let Some(seen) = self.seen.remove(&thread) else {
            return;
        };
        let view = Rc::make_mut(self.views.entry(thread).or_default());
        let (known, rest) = seen
            .into_iter()
            .partition::<Vec<_>, _>(|(group, ..)| group.scope() <= scope);
        for (_, chain, len) in known {
            world.chains.acquire(view, chain, len);
        }
        if !rest.is_empty() {
            self.seen.insert(thread, rest);
        }
    }

    /// Fences of `fence.sc` are ordered among each other.
    fn fence_all(&mut self, world: &mut World, warp: u32, mask: u32, scope: Scope) {
        let mut fences = std::mem::take(&mut world.fences);
        let groups = self.groups(scope, Reach::Device);
        for thread in lanes(warp, mask) {
            let view = Rc::make_mut(self.views.entry(thread).or_default());
            for (_, chain) in fences
                .chains
                .iter()
                .filter(|(group, _)| groups.contains(group))
            {
                world.chains.acquire(view, *chain, world.chains.len(*chain));
            }
        }
        for group in groups {
            let chain = self.chain(world, &mut fences, group);
            self.is_exported |= group.scope() > Scope::Block;
            for thread in lanes(warp, mask) {
                world.chains.release(chain, self.number, &self.head(thread));
            }
        }
        world.fences = fences;
    }

    fn chain(&mut self, world: &mut World, site: &mut Site, group: Group) -> u32 {
        if let Some((_, chain)) = site.chains.iter().find(|(other, _)| *other == group) {
            return *chain;
        }
        let chain = world.chains.begin();
        site.chains.push((group, chain));
        if matches!(group, Group::Block(..)) {
            self.own_chains.push(chain);
        }
        chain
    }

    /// The groups that this block is in, up to a scope.
    fn groups(&self, scope: Scope, reach: Reach) -> Vec<Group> {
        let all = [
            Some(Group::Block(self.number, self.barrier)),
            self.is_clustered
                .then_some(Group::Cluster(self.launch.0, self.cluster)),
            (reach == Reach::Device).then_some(Group::Device),
        ];
        let within = |group: &Group| group.scope() <= scope;
        all.into_iter().flatten().filter(within).collect()
    }

    /// The reading half of a strong access: what was released there is seen.
    pub(super) fn acquire(&mut self, world: &World, site: &Site, thread: u32, how: How) {
        for (group, chain) in self.visible(site, how) {
            let len = world.chains.len(chain);
            if how.order.acquires() {
                let view = Rc::make_mut(self.views.entry(thread).or_default());
                world.chains.acquire(view, chain, len);
            } else {
                let seen = self.seen.entry(thread).or_default();
                seen.retain(|(_, other, _)| *other != chain);
                seen.push((group, chain, len));
            }
        }
    }

    /// After it: the writes themselves come before what the thread does next.
    pub(super) fn observe(&mut self, world: &World, site: &Site, thread: u32, how: How) {
        for (_, chain) in self.visible(site, how) {
            let view = Rc::make_mut(self.views.entry(thread).or_default());
            view.observe(chain, world.chains.len(chain));
        }
    }

    fn visible(&self, site: &Site, how: How) -> Vec<(Group, u32)> {
        if site.chains.is_empty() || site.bytes != how.bytes {
            return Vec::new();
        }
        let groups = self.groups(how.scope, how.reach);
        let chains = site.chains.iter().copied();
        chains.filter(|(group, _)| groups.contains(group)).collect()
    }

    /// The writing half of a strong access. The time must go on before the thread does more, if the
    /// order releases.
    pub(super) fn publish(
        &mut self,
        world: &mut World,
        site: &mut Site,
        thread: u32,
        how: How,
        effect: Effect,
    ) {
        // Who may not observe it for its scope races with it: the write is known to them all the
        // same, since others may carry it on.
        let groups = self.groups(Scope::System, how.reach);
        if effect == Effect::Replace || site.bytes != how.bytes {
            site.chains.clear();
        }
        site.bytes = how.bytes;
        site.chains.retain(|(group, _)| groups.contains(group));
        let mut heads = self.fenced.get(&thread).cloned().unwrap_or_default();
        if how.order.releases() {
            let head = self.head(thread);
            let other = |release: &(u32, u32, Scope, Head)| {
                (release.0, release.1) != (self.number, thread) || release.2 > how.scope
            };
            site.released.retain(other);
            site.released.push((self.number, thread, how.scope, head));
        }
        for (block, other, scope, head) in &site.released {
            if (*block, *other) == (self.number, thread) {
                heads.push((*scope, head.clone()));
            }
        }
        for group in groups {
            let chain = self.chain(world, site, group);
            world.chains.write(chain, (self.number, thread, self.now));
            for (scope, head) in &heads {
                if group.scope() <= (*scope).min(how.scope) {
                    self.is_exported |= group.scope() > Scope::Block;
                    world.chains.release(chain, self.number, head);
                }
            }
        }
    }

    /// The block has ended.
    pub(super) fn end(&mut self, world: &mut World) {
        self.end_chains(world);
    }
}

/// How a strong access is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) order: Order,
    pub(super) scope: Scope,
    pub(super) bytes: u32,
    pub(super) reach: Reach,
}

/// Who can reach the memory at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Block,
    Device,
}

/// What a strong write does with what was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Replace,
    Continue,
}

impl Group {
    fn scope(self) -> Scope {
        match self {
            Group::Block(..) => Scope::Block,
            Group::Cluster(..) => Scope::Cluster,
            Group::Device => Scope::Device,
        }
    }
}

pub(super) fn lanes(warp: u32, mask: u32) -> impl Iterator<Item = u32> {
    (0..32)
        .filter(move |lane| mask >> lane & 1 == 1)
        .map(move |lane| warp * 32 + lane)
}
