//! Devices that reach each other's memory.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use crate::context::{Context, current};
use crate::device;
use crate::handles::{Handle, lock, look};
use crate::status::{Answer, Status};

/// Pairs of contexts of which the first reaches the memory of the second.
static ALLOWED: LazyLock<Mutex<HashSet<(Handle, Handle)>>> = LazyLock::new(Mutex::default);

fn allow(peer: Handle, flags: u32) -> Answer {
    let (own, peer) = (current()?, look::<Context>(peer)?);
    if own.device == peer.device {
        return Err(Status::PEER_ACCESS_UNSUPPORTED);
    }
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    if !lock(&ALLOWED).insert((own.handle, peer.handle)) {
        return Err(Status::PEER_ACCESS_ALREADY_ENABLED);
    }
    device::memory(own.device).enable_peer_access(device::memory(peer.device));
    Ok(())
}

fn forbid(peer: Handle) -> Answer {
    let (own, peer) = (current()?, look::<Context>(peer)?);
    let mut allowed = lock(&ALLOWED);
    if !allowed.remove(&(own.handle, peer.handle)) {
        return Err(Status::PEER_ACCESS_NOT_ENABLED);
    }
    let device_of = |context| look::<Context>(context).map(|it| it.device);
    // Memory is a device's, and another of its contexts may still reach the peer's.
    let devices = (Ok(own.device), Ok(peer.device));
    if !allowed
        .iter()
        .any(|&(from, to)| (device_of(from), device_of(to)) == devices)
    {
        device::memory(own.device).disable_peer_access(device::memory(peer.device));
    }
    Ok(())
}

/// `CUdevice_P2PAttribute`: rank, access, atomics of the system's scope, arrays.
fn attribute(which: u32, one: i32, other: i32) -> Answer<i32> {
    let are_two = device::number(one)? != device::number(other)?;
    match which {
        1 => Ok(0),
        2 | 3 => Ok(i32::from(are_two)),
        4 => Ok(0),
        _ => Err(Status::INVALID_VALUE),
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Out;

    driver! {
        fn cuDeviceCanAccessPeer(to: Out<i32>, one: i32, other: i32) {
            to.put(i32::from(device::number(one)? != device::number(other)?))
        }
        fn cuDeviceGetP2PAttribute(to: Out<i32>, which: u32, one: i32, other: i32) { to.put(attribute(which, one, other)?) }
        fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) { allow(peer, flags) }
        fn cuCtxDisablePeerAccess(peer: Handle) { forbid(peer) }
    }
}
