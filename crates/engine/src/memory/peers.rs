//! Which devices reach the memory of which others, and whether any of those makes progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::device::{DEVICES, Memory};

impl Memory {
    /// The memory of another device of the same space.
    ///
    /// # Panics
    /// The number is not less than [`DEVICES`].
    #[must_use]
    pub fn of_device(&self, device: u32) -> Memory {
        assert!(device < DEVICES, "device {device} of {DEVICES}");
        let space = Arc::clone(&self.space);
        Memory { device, space }
    }

    /// The number of the device.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// From now on kernels of this device may use the memory of `peer`.
    pub fn enable_peer_access(&self, peer: &Memory) {
        self.space.peers.allow(self.device, peer.device);
    }

    /// From now on kernels of this device may no longer use the memory of `peer`.
    pub fn disable_peer_access(&self, peer: &Memory) {
        self.space.peers.forbid(self.device, peer.device);
    }

    /// Whether the device reaches another's memory, or its own is reached: kernels of either may wait for each other.
    pub(crate) fn has_peers(&self) -> bool {
        self.space.peers.is_joined(self.device)
    }

    /// A launch of a device with peers has come on.
    pub(crate) fn advance(&self) {
        self.space.peers.advance(self.device);
    }

    /// A launch has failed, for which those of other devices may wait.
    pub(crate) fn fail(&self) {
        if self.has_peers() {
            self.space.peers.fail(self.device);
        }
    }

    /// How many launches have failed on each other device that is joined to this one.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (u32, u64)> {
        self.space.peers.failures(self.device)
    }

    /// How often launches of devices that are joined to this one have come on.
    pub(crate) fn progress(&self) -> u64 {
        self.space.peers.progress(self.device)
    }

    /// Whether kernels of this device may use memory: their own, the host's that they were lent, a peer's.
    pub(super) fn reaches(&self, owner: Option<u32>) -> bool {
        owner.is_none_or(|owner| {
            owner == self.device || self.space.peers.reaches(self.device, owner)
        })
    }
}

/// A number for each device of an address space.
type Each = [AtomicU64; DEVICES as usize];

/// Of the devices of an address space.
#[derive(Debug)]
pub(super) struct Peers {
    /// A bit for each device whose memory kernels of one may use.
    reached: Each,
    /// A bit for each device that is joined to one: it reaches that or is reached, directly or by way of others.
    joined: Each,
    /// Goes on with whatever a joined device's launches do but wait.
    progress: Each,
    /// How many of those have failed.
    failures: Each,
    joining: Mutex<()>,
}

impl Default for Peers {
    fn default() -> Peers {
        let zeros = || [const { AtomicU64::new(0) }; DEVICES as usize];
        Peers {
            reached: zeros(),
            joined: zeros(),
            progress: zeros(),
            failures: zeros(),
            joining: Mutex::new(()),
        }
    }
}

impl Peers {
    /// From now on `device` reaches the memory of `peer`.
    pub(super) fn allow(&self, device: u32, peer: u32) {
        let _joining = self.joining.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |device: u32| self.joined[device as usize].load(Ordering::Acquire) | 1 << device;
        let all = of(device) | of(peer);
        for each in devices(all) {
            self.joined[each as usize].store(all, Ordering::Release);
        }
        self.reached[device as usize].fetch_or(1 << peer, Ordering::AcqRel);
    }

    /// From now on `device` no longer reaches the memory of `peer`. They stay joined: launches that have begun may wait for each other.
    pub(super) fn forbid(&self, device: u32, peer: u32) {
        self.reached[device as usize].fetch_and(!(1 << peer), Ordering::AcqRel);
    }

    /// Whether `device` reaches the memory of another.
    pub(super) fn reaches(&self, device: u32, owner: u32) -> bool {
        self.reached[device as usize].load(Ordering::Acquire) >> owner & 1 != 0
    }

    /// Whether a device is joined to others.
    pub(super) fn is_joined(&self, device: u32) -> bool {
        self.joined[device as usize].load(Ordering::Acquire) != 0
    }

    /// A launch of a joined device has come on.
    pub(super) fn advance(&self, device: u32) {
        self.progress[device as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often launches of those have come on that are joined to a device.
    pub(super) fn progress(&self, device: u32) -> u64 {
        let all = self.all_joined_to(device);
        all.map(|it| self.progress[it as usize].load(Ordering::Relaxed))
            .sum()
    }

    /// A launch of a joined device has failed.
    pub(super) fn fail(&self, device: u32) {
        self.failures[device as usize].fetch_add(1, Ordering::AcqRel);
    }

    /// How many launches have failed on each other device that is joined to one.
    pub(super) fn failures(&self, device: u32) -> impl Iterator<Item = (u32, u64)> {
        let others = self.all_joined_to(device).filter(move |it| *it != device);
        others.map(|it| (it, self.failures[it as usize].load(Ordering::Acquire)))
    }

    fn all_joined_to(&self, device: u32) -> impl Iterator<Item = u32> {
        devices(self.joined[device as usize].load(Ordering::Acquire))
    }
}

/// The devices whose bits are set.
fn devices(all: u64) -> impl Iterator<Item = u32> {
    (0..DEVICES).filter(move |device| all >> device & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_joined_by_way_of_others_and_reach_who_they_were_allowed() {
        let peers = Peers::default();
        peers.allow(1, 2);
        peers.allow(3, 2);
        peers.allow(5, 63);
        assert!(peers.reaches(1, 2) && !peers.reaches(2, 1) && !peers.reaches(1, 3));
        assert!(peers.is_joined(2) && !peers.is_joined(0) && peers.is_joined(63));
        peers.advance(3);
        peers.advance(63);
        assert_eq!([1, 0, 5].map(|device| peers.progress(device)), [1, 0, 1]);
        peers.forbid(1, 2);
        assert!(!peers.reaches(1, 2) && peers.reaches(3, 2) && peers.is_joined(1));
        peers.fail(3);
        let failed: Vec<(u32, u64)> = peers.failures(1).collect();
        assert_eq!(failed, [(2, 0), (3, 1)]);
    }
}
