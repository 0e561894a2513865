//! Fences, and accesses that order others.

use std::sync::Arc;

use super::access::{Order, Scope};
use super::chains::{Chains, Head, Write};
use super::clock::{Clock, lanes};
use super::epochs::Epochs;
use super::hash::Map;
use super::seen::Seen;

/// Threads among which a chain is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Group {
    /// By number, from one barrier to the next: what came before it all of the block know.
    Block(u32, u32),
    Cluster(u32, u64),
    /// By number.
    Device(u32),
    System,
}

/// The chains of one address.
#[derive(Debug, Default)]
pub(super) struct Site {
    bytes: u32,
    chains: Vec<(Group, u32)>,
    /// Releases by threads of a block here themselves: a later strong write of the same thread still releases them.
    released: Vec<(u32, u32, Scope, Head)>,
}

impl Site {
    fn chain(&self, group: Group) -> Option<u32> {
        let found = self.chains.iter().find(|(other, _)| *other == group);
        found.map(|(_, chain)| *chain)
    }

    /// Forgets the chains that have ended; whether there are others.
    pub(super) fn keep(&mut self, chains: &Chains) -> bool {
        self.chains.retain(|(_, chain)| chains.has(*chain));
        if self.chains.is_empty() {
            *self = Site::default();
        }
        !self.chains.is_empty()
    }
}

/// The chains of all addresses.
pub(super) type Sites = Map<u64, Site>;
impl Clock {
    /// A fence of lanes of a warp.
    pub(super) fn fence(
        &mut self,
        world: &mut Epochs,
        warp: u32,
        mask: u32,
        order: Order,
        scope: Scope,
    ) {
        self.learn_seen(warp);
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

    fn acquire_seen(&mut self, world: &Epochs, thread: u32, scope: Scope) {
        let Some(seen) = self.seen.remove(&thread) else {
            return;
        };
        let view = Arc::make_mut(self.views.entry(thread).or_default());
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

    /// Hands on all that the block's threads knew of other devices, or have seen, to everything after the launch.
    pub(super) fn hand_on(&mut self, world: &mut Epochs) {
        self.learn_all_seen();
        let mut known = std::mem::take(&mut self.all);
        for (_, view) in self.views.drain() {
            known.join(&view);
        }
        let seen = self.seen.drain().flat_map(|(_, seen)| seen);
        for (_, chain, len) in seen.filter(|(group, ..)| *group == Group::System) {
            world.chains.acquire(&mut known, chain, len);
        }
        known.forget(&self.own_chains);
        world.learn(self.launch, &known);
    }

    /// Fences of `fence.sc` are ordered among each other.
    fn fence_all(&mut self, world: &mut Epochs, warp: u32, mask: u32, scope: Scope) {
        let mut fences = std::mem::take(&mut world.fences);
        let groups = Groups::of(self, scope, Reach::All);
        for thread in lanes(warp, mask) {
            let view = Arc::make_mut(self.views.entry(thread).or_default());
            for (_, chain) in fences.chains.iter().filter(|(group, _)| groups.has(*group)) {
                world.chains.acquire(view, *chain, world.chains.len(*chain));
            }
        }
        for group in groups.widest_first() {
            let chain = self.chain(world, &mut fences, group, None);
            self.is_exported |= group.scope() > Scope::Block;
            for thread in lanes(warp, mask) {
                world.chains.release(chain, self.number, &self.head(thread));
            }
        }
        world.fences = fences;
    }

    fn chain(
        &mut self,
        world: &mut Epochs,
        site: &mut Site,
        group: Group,
        root: Option<u32>,
    ) -> u32 {
        if let Some(chain) = site.chain(group) {
            return chain;
        }
        let chain = world.chains.begin(root);
        site.chains.push((group, chain));
        if matches!(group, Group::Block(..)) {
            self.own_chains.push(chain);
        }
        chain
    }

    /// Adds a release of a block's past to what is known at a site of 8 bytes.
    pub(super) fn release_in(
        &mut self,
        world: &mut Epochs,
        site: &mut Site,
        reach: Reach,
        number: u32,
        head: &Head,
    ) {
        site.bytes = 8;
        let mut root = None;
        for group in Groups::of(self, Scope::System, reach).widest_first() {
            let chain = self.chain(world, site, group, root);
            root = root.or(Some(chain));
            world.chains.release(chain, number, head);
        }
    }

    /// The reading half of a strong access that acquires: what was released there is seen.
    pub(super) fn acquire(&mut self, world: &Epochs, site: &Site, thread: u32, how: How) {
        if !how.order.acquires() {
            return;
        }
        for (_, chain) in self.visible(site, how) {
            let view = Arc::make_mut(self.views.entry(thread).or_default());
            world.chains.acquire(view, chain, world.chains.len(chain));
        }
    }

    /// After it: the writes themselves come before what the thread does next, and what was released there before what
    /// follows its next fence.
    pub(super) fn observe(&mut self, world: &Epochs, site: &Site, thread: u32, how: How) {
        if how.order.acquires() {
            for (_, chain) in self.visible(site, how) {
                let view = Arc::make_mut(self.views.entry(thread).or_default());
                view.observe(chain, world.chains.len(chain));
            }
        } else {
            self.see(world, site, (thread / 32, 1 << (thread % 32)), (how, 0));
        }
    }

    /// A relaxed read by lanes of a warp, one after the other, each of which makes the chains longer by so much.
    pub(super) fn see(
        &mut self,
        world: &Epochs,
        site: &Site,
        (warp, mask): (u32, u32),
        (how, step): (How, u32),
    ) {
        let visible = || self.visible(site, how);
        let lens = site
            .chains
            .iter()
            .map(|(_, chain)| world.chains.len(*chain));
        let longest = lens.max().unwrap_or(0);
        // The widest has all writes of the others.
        let widest = visible().max_by_key(|(group, _)| group.scope());
        let seen = visible().map(|(group, chain)| Seen {
            mask,
            group,
            chain,
            first: world.chains.len(chain),
            next: if step == 0 {
                world.chains.len(chain)
            } else {
                longest
            },
            step,
            is_observed: widest.is_some_and(|it| it.1 == chain),
            has_releases: world.chains.has_releases(chain),
        });
        let seen = seen.filter(|it| it.is_observed || it.has_releases);
        seen.for_each(|seen| self.remember(warp, seen));
    }

    fn visible<'s>(
        &self,
        site: &'s Site,
        how: How,
    ) -> impl Iterator<Item = (Group, u32)> + use<'s> {
        let groups = Groups::of(self, how.scope, how.reach);
        let is_alike = site.bytes == how.bytes;
        let chains = site.chains.iter().copied().filter(move |_| is_alike);
        chains.filter(move |(group, _)| groups.has(*group))
    }

    /// A relaxed atomic of one address by lanes of a warp, as if by one after the other: whether it is one that all threads
    /// whose accesses there are known take part in, so that nothing but its writes is new.
    pub(super) fn all_update(
        &mut self,
        world: &mut Epochs,
        site: &mut Site,
        (warp, mask): (u32, u32),
        how: How,
    ) -> bool {
        let groups = Groups::of(self, Scope::System, how.reach);
        let is_known = site.bytes == how.bytes
            && site.chains.len() == groups.widest_first().count()
            && site.chains.iter().all(|(group, _)| groups.has(*group));
        let releases = |thread: u32| {
            self.fenced.contains_key(&thread)
                || site
                    .released
                    .iter()
                    .any(|it| (it.0, it.1) == (self.number, thread))
        };
        if !is_known || lanes(warp, mask).any(releases) {
            return false;
        }
        self.see(world, site, (warp, mask), (how, 1));
        for thread in lanes(warp, mask) {
            let write = Write {
                thread,
                epoch: self.now,
                place: how.place,
            };
            for group in groups.widest_first() {
                if let Some(chain) = site.chain(group) {
                    world.chains.write(chain, write);
                }
            }
        }
        true
    }

    /// The writing half of a strong access. The time must go on before the thread does more, if the
    /// order releases.
    pub(super) fn publish(
        &mut self,
        world: &mut Epochs,
        site: &mut Site,
        thread: u32,
        how: How,
        effect: Effect,
    ) {
        // Who may not observe it for its scope races with it: the write is known to them all the
        // same, since others may carry it on.
        let groups = Groups::of(self, Scope::System, how.reach);
        if effect == Effect::Replace || site.bytes != how.bytes {
            site.chains.clear();
        }
        site.bytes = how.bytes;
        site.chains.retain(|(group, _)| groups.has(*group));
        let mut heads = self.fenced.get(&thread).cloned().unwrap_or_default();
        if how.order.releases() {
            self.learn_seen(thread / 32);
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
        let mut root = None;
        for group in groups.widest_first() {
            let chain = self.chain(world, site, group, root);
            root = root.or(Some(chain));
        }
        let write = Write {
            thread,
            epoch: self.now,
            place: how.place,
        };
        for group in groups.widest_first() {
            let chain = self.chain(world, site, group, root);
            world.chains.write(chain, write);
            for (scope, head) in &heads {
                if group.scope() <= (*scope).min(how.scope) {
                    self.is_exported |= group.scope() > Scope::Block;
                    world.chains.release(chain, self.number, head);
                }
            }
        }
    }
}

/// How a strong access is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) order: Order,
    pub(super) scope: Scope,
    pub(super) bytes: u32,
    /// The address, and the space that it is of.
    pub(super) place: u64,
    pub(super) reach: Reach,
}

/// Who can reach the memory at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// The block alone.
    Block,
    /// Other blocks, and other devices.
    All,
}

/// The effect of a strong write on the chain of earlier writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Replace,
    Continue,
}

/// The groups that a block is in, up to a scope.
#[derive(Clone, Copy)]
struct Groups([Option<Group>; 4]);

impl Groups {
    fn of(clock: &Clock, scope: Scope, reach: Reach) -> Groups {
        let all = [
            (reach == Reach::All).then_some(Group::System),
            (reach == Reach::All).then_some(Group::Device(clock.device)),
            clock
                .is_clustered
                .then_some(Group::Cluster(clock.launch.0, clock.cluster)),
            Some(Group::Block(clock.number, clock.barrier)),
        ];
        Groups(all.map(|group| group.filter(|it| it.scope() <= scope)))
    }

    fn widest_first(&self) -> impl Iterator<Item = Group> + use<> {
        self.0.into_iter().flatten()
    }

    fn has(&self, group: Group) -> bool {
        self.0.contains(&Some(group))
    }
}

impl Group {
    pub(super) fn scope(self) -> Scope {
        match self {
            Group::Block(..) => Scope::Block,
            Group::Cluster(..) => Scope::Cluster,
            Group::Device(..) => Scope::Device,
            Group::System => Scope::System,
        }
    }
}
