//! The epoch of each launch and block.

use super::access::LaunchId;
use super::chains::{Chains, View};
use super::hash::Map;
use super::launches::{Launch, Launches};
use super::streams::Operation;
use super::strong::{Site, Sites};

/// Which block, of which launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Instance {
    pub(super) launch: LaunchId,
    /// The device that the launch is on.
    pub(super) device: u32,
    /// Its linear index. None of the host.
    pub(super) block: Option<u64>,
}

/// Time, and all launches that are not yet before everything.
#[derive(Debug)]
pub(super) struct Epochs {
    next: u32,
    /// Pairs of a first time and the instance whose times begin there.
    runs: Vec<(u32, u32)>,
    pub(super) instances: Vec<Instance>,
    /// The number of the first of these.
    pub(super) first_instance: u32,
    launches: Launches,
    launched: u32,
    /// The device of all launches until now, if they are on one.
    device: Option<u32>,
    /// Runs left after the last cleanup.
    kept: usize,
    pub(super) chains: Chains,
    pub(super) sites: Sites,
    pub(super) fences: Site,
    /// The knowledge of launches that are before everything to come.
    known: View,
    /// The chains of clusters' barriers.
    clusters: Map<(u32, u64), u32>,
}

/// The first time that there is.
const FIRST: u32 = 2;

/// Launches that have ended and that the host has not waited for, before the oldest counts as done.
const UNORDERED: usize = 1 << 12;

/// Runs that are kept whether they are needed or not.
const SMALL: usize = 1 << 10;

impl Epochs {
    pub(super) fn new() -> Epochs {
        Epochs {
            next: FIRST,
            runs: Vec::new(),
            instances: Vec::new(),
            first_instance: 0,
            launches: Launches::default(),
            launched: 0,
            device: None,
            kept: SMALL,
            chains: Chains::default(),
            sites: Sites::default(),
            fences: Site::default(),
            known: View::default(),
            clusters: Map::default(),
        }
    }

    /// Another time, of an instance: and whether it follows on its last one.
    pub(super) fn tick(&mut self, instance: u32) -> (u32, bool) {
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

    /// Whether all launches have been on one device.
    pub(super) fn has_one_device(&self) -> bool {
        self.device.is_some()
    }

    /// Whether times may run out.
    pub(super) fn is_old(&self) -> bool {
        self.next > 1 << 30 && !self.launches.are_running()
    }

    /// Begins a launch; gives the time before which everything is before it.
    pub(super) fn launch(
        &mut self,
        operation: Operation,
        device: u32,
        cluster: u64,
    ) -> (LaunchId, u32) {
        let known = &mut self.known;
        self.launches
            .forget_everyones(&operation, |launch| known.join(&launch.known));
        self.launches.forget_oldest(UNORDERED);
        if self.launches.is_empty() || self.runs.len() > 2 * self.kept {
            self.collect();
        }
        let id = LaunchId(self.launched);
        if self.launched == 0 {
            self.device = Some(device);
        }
        self.device = self.device.filter(|it| *it == device);
        self.launched += 1;
        let start = self.next;
        // A launch keeps it for its blocks.
        let unordered = self.launches.first_start_unordered(&operation);
        let floor = unordered.unwrap_or(start);
        let beside = self.launches.beside(&operation);
        let begun_beside = beside.map(|it| (it.id, it.start.min(floor)));
        self.launches.begin(Launch {
            id,
            operation,
            device,
            blocks_per_cluster: cluster.max(1),
            start,
            floor,
            begun_beside,
            has_let_begin: false,
            known: View::default(),
        });
        (id, begun_beside.map_or(floor, |(_, floor)| floor))
    }

    /// Forgets what is before all that will be: all from before the first launch that something may still
    /// race with.
    fn collect(&mut self) {
        let floor = self.launches.first_start().unwrap_or(self.next);
        let past = self.runs.partition_point(|(from, _)| *from < floor);
        self.runs.drain(..past);
        let end = self.first_instance + self.instances.len() as u32;
        let first = self.runs.iter().map(|(_, instance)| *instance).min();
        let first = first.unwrap_or(end);
        self.instances
            .drain(..(first - self.first_instance) as usize);
        self.first_instance = first;
        self.chains.end_before(floor);
        let chains = &self.chains;
        self.known.keep(chains);
        self.sites.retain(|_, site| site.keep(chains));
        self.fences.keep(chains);
        self.kept = self.runs.len().max(SMALL);
    }

    /// Returns the chain that threads release and acquire at a cluster's barrier.
    pub(super) fn chain_of_cluster(&mut self, launch: LaunchId, cluster: u64) -> u32 {
        let chains = &mut self.chains;
        let of = self.clusters.entry((launch.0, cluster));
        *of.or_insert_with(|| chains.begin(None))
    }

    pub(super) fn end(&mut self, id: LaunchId) {
        self.clusters.retain(|(launch, _), _| *launch != id.0);
        self.launches.end(id);
    }

    /// A block of a launch has ended, which knows so much of others.
    pub(super) fn learn(&mut self, id: LaunchId, known: &View) {
        if let Some(launch) = self.launches.get_mut(id) {
            launch.known.join(known);
        }
    }

    /// Returns a launch's knowledge as it begins: that of the launches before it.
    pub(super) fn known(&self, id: LaunchId) -> View {
        let mut known = self.known.clone();
        if let Some(own) = self.of(id) {
            let before = |it: &&Launch| it.id != id && own.operation.is_after(&it.operation);
            for launch in self.launches.iter().filter(before) {
                known.join(&launch.known);
            }
        }
        known
    }

    /// Whether the view knows a release of a launch that is after another.
    pub(super) fn knows_later(&self, view: &View, before: LaunchId) -> bool {
        let Some(before) = self.of(before) else {
            return true;
        };
        let is_after = |number: u32| {
            let at = number.checked_sub(self.first_instance);
            let instance = at.and_then(|at| self.instances.get(at as usize));
            let launch = instance.and_then(|it| self.of(it.launch));
            let later = launch.filter(|it| it.id != before.id);
            later.is_some_and(|it| it.operation.is_after(&before.operation))
        };
        self.chains.releasers(view).any(is_after)
    }

    /// The time before which everything is before a launch, or before all that will be.
    pub(super) fn floor(&self, id: LaunchId) -> u32 {
        self.of(id).map_or(self.next, |launch| launch.floor)
    }

    /// The launch that one has begun beside, though it depends on that, and the time before which everything is before it until
    /// it waits.
    pub(super) fn begun_beside(&self, id: LaunchId) -> Option<(LaunchId, u32)> {
        self.of(id)?.begun_beside
    }

    /// A launch lets those begin that depend on it.
    pub(super) fn let_begin(&mut self, id: LaunchId) {
        if let Some(launch) = self.launches.get_mut(id) {
            launch.has_let_begin = true;
        }
    }

    /// When a launch began.
    pub(super) fn began(&self, id: LaunchId) -> u32 {
        self.of(id).map_or(self.next, |launch| launch.start)
    }

    pub(super) fn of(&self, id: LaunchId) -> Option<&Launch> {
        self.launches.get(id)
    }

    /// Whose time it is: a block's number, and which that is.
    pub(super) fn owner(&self, epoch: u32) -> Option<(u32, &Instance)> {
        let after = self.runs.partition_point(|(from, _)| *from <= epoch);
        let (_, number) = *self.runs.get(after.checked_sub(1)?)?;
        let instance = self
            .instances
            .get((number - self.first_instance) as usize)?;
        Some((number, instance))
    }

    /// The number of the block whose time it is.
    pub(super) fn instance_at(&self, epoch: u32) -> Option<u32> {
        Some(self.owner(epoch)?.0)
    }

    /// Which block it was at that time.
    pub(super) fn instance(&self, epoch: u32) -> Option<Instance> {
        Some(*self.owner(epoch)?.1)
    }
}
