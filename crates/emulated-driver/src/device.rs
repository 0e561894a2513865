//! Devices.

use std::sync::{Arc, LazyLock};

use engine::memory::{Limits, Memory};

use crate::attributes;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// Returns the number of a device that a program names.
///
/// # Errors
/// There is none of this number.
pub(crate) fn number(device: i32) -> Answer<u32> {
    match u32::try_from(device) {
        Ok(device) if device < settings().devices => Ok(device),
        _ => Err(Status::INVALID_DEVICE),
    }
}

/// The memory of a device.
pub(crate) fn memory(device: u32) -> &'static Arc<Memory> {
    static ALL: LazyLock<Vec<Arc<Memory>>> = LazyLock::new(|| {
        let settings = settings();
        // Each device's own bytes are counted where it allocates.
        let bytes = settings.memory.saturating_mul(settings.devices.into());
        let first = Memory::new(Limits {
            bytes,
            ..Limits::default()
        });
        (0..settings.devices)
            .map(|device| Arc::new(first.of_device(device)))
            .collect()
    });
    &ALL[device as usize]
}

/// The memory of any device, for what is of the address space.
pub(crate) fn space() -> &'static Arc<Memory> {
    memory(0)
}

/// `Ridgepoint emulated sm_90 (cpu:0)`: no GPU has such a name.
pub(crate) fn name(device: u32) -> String {
    format!(
        "Ridgepoint emulated {} (cpu:{device})",
        settings().capability.arch()
    )
}

/// Other than that of any GPU, and another for each device.
fn uuid(device: u32) -> [u8; 16] {
    let mut uuid = *b"ridgepoint-cpu:\0";
    uuid[15] = device as u8;
    uuid
}

fn pci_bus_id(device: u32) -> String {
    format!("0000:{:02x}:00.0", attributes::pci_bus(device))
}

fn by_pci_bus_id(text: &str) -> Answer<i32> {
    let all = 0..settings().devices;
    let found = all
        .into_iter()
        .find(|&it| pci_bus_id(it).eq_ignore_ascii_case(text));
    found.map(|it| it as i32).ok_or(Status::INVALID_DEVICE)
}

pub(crate) mod calls {
    use std::ffi::c_char;

    use super::*;
    use crate::api;
    use crate::arguments::{Out, Text};
    use crate::settings::VERSION;

    driver! {
        fn cuInit(flags: u32) {
            if flags != 0 { return Err(Status::INVALID_VALUE) }
            api::begin();
            Ok(())
        }
        fn cuDriverGetVersion(to: Out<i32>) { to.put(VERSION) }
        fn cuDeviceGetCount(to: Out<i32>) { to.put(settings().devices as i32) }
        fn cuDeviceGet(to: Out<i32>, ordinal: i32) { to.put(number(ordinal)? as i32) }
        fn cuDeviceGetName(to: Out<c_char>, room: i32, of: i32) {
            to.put_text(&name(number(of)?), usize::try_from(room).unwrap_or(0))
        }
        fn cuDeviceGetUuid(to: Out<[u8; 16]>, of: i32) { to.put(uuid(number(of)?)) }
        fn cuDeviceGetUuid_v2(to: Out<[u8; 16]>, of: i32) { to.put(uuid(number(of)?)) }
        fn cuDeviceTotalMem_v2(to: Out<usize>, of: i32) { number(of)?; to.put(settings().memory as usize) }
        fn cuDeviceGetAttribute(to: Out<i32>, which: i32, of: i32) { to.put(attributes::of_device(which, number(of)?)?) }
        fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, of: i32) {
            number(of)?;
            major.put(settings().capability.major() as i32)?;
            minor.put(settings().capability.minor() as i32)
        }
        fn cuDeviceGetPCIBusId(to: Out<c_char>, room: i32, of: i32) {
            to.put_text(&pci_bus_id(number(of)?), usize::try_from(room).unwrap_or(0))
        }
        fn cuDeviceGetByPCIBusId(to: Out<i32>, id: Text) { to.check()?; to.put(by_pci_bus_id(&id.get()?)?) }
    }
}
