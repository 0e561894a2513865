//! Fences, and accesses that order others.

use std::sync::Arc;

use super::access::{Order, Scope};
use super::chains::{Chains, Head, Write};
use super::clock::{Clock, lanes};
use super::epochs::Epochs;
use super::hash::Map;

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
        let groups = self.groups(scope, Reach::All);
        for thread in lanes(warp, mask) {
            let view = Arc::make_mut(self.views.entry(thread).or_default());
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

    fn chain(&mut self, world: &mut Epochs, site: &mut Site, group: Group) -> u32 {
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
        for group in self.groups(Scope::System, reach) {
            let chain = self.chain(world, site, group);
            world.chains.release(chain, number, head);
        }
    }

    /// The groups that this block is in, up to a scope.
    fn groups(&self, scope: Scope, reach: Reach) -> Vec<Group> {
        let all = [
            Some(Group::Block(self.number, self.barrier)),
            self.is_clustered
                .then_some(Group::Cluster(self.launch.0, self.cluster)),
            (reach == Reach::All).then_some(Group::Device(self.device)),
            (reach == Reach::All).then_some(Group::System),
        ];
        let within = |group: &Group| group.scope() <= scope;
        all.into_iter().flatten().filter(within).collect()
    }

    /// The reading half of a strong access: what was released there is seen.
    pub(super) fn acquire(&mut self, world: &Epochs, site: &Site, thread: u32, how: How) {
        for (group, chain) in self.visible(site, how) {
            let len = world.chains.len(chain);
            if how.order.acquires() {
                let view = Arc::make_mut(self.views.entry(thread).or_default());
                world.chains.acquire(view, chain, len);
            } else {
                let seen = self.seen.entry(thread).or_default();
                seen.retain(|(_, other, _)| *other != chain);
                seen.push((group, chain, len));
            }
        }
    }

    /// After it: the writes themselves come before what the thread does next.
    pub(super) fn observe(&mut self, world: &Epochs, site: &Site, thread: u32, how: How) {
        for (_, chain) in self.visible(site, how) {
            let view = Arc::make_mut(self.views.entry(thread).or_default());
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
        world: &mut Epochs,
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
            let write = Write {
                owner: self.number,
                thread,
                epoch: self.now,
                place: how.place,
            };
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

impl Group {
    fn scope(self) -> Scope {
        match self {
            Group::Block(..) => Scope::Block,
            Group::Cluster(..) => Scope::Cluster,
            Group::Device(..) => Scope::Device,
            Group::System => Scope::System,
        }
    }
}
