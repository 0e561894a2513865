//! Devices.

use std::sync::{Arc, LazyLock};

use engine::memory::{Limits, Memory};

use crate::attributes;
use crate::settings::settings;
use crate::status::{Answer, Status};

/// How many devices the program sees.
pub(crate) fn count() -> u32 {
    settings().devices.len() as u32
}

/// Returns the number of a device that a program names.
///
/// # Errors
/// There is none of this number.
pub(crate) fn number(device: i32) -> Answer<u32> {
    match u32::try_from(device) {
        Ok(device) if device < count() => Ok(device),
        _ => Err(Status::INVALID_DEVICE),
    }
}

/// The memory of a device.
pub(crate) fn memory(device: u32) -> &'static Arc<Memory> {
    static ALL: LazyLock<Vec<Arc<Memory>>> = LazyLock::new(|| {
        let settings = settings();
        // Each device's own bytes are counted where it allocates.
        let bytes = settings.memory.saturating_mul(count().into());
        let first = Memory::new(Limits {
            bytes,
            ..Limits::default()
        });
        (0..count())
            .map(|device| Arc::new(first.of_device(device)))
            .collect()
    });
    &ALL[device as usize]
}

/// The memory of any device, for what is of the address space.
pub(crate) fn space() -> &'static Arc<Memory> {
    memory(0)
}

/// Returns the number of a device among all, those included that the program does not see.
pub(crate) fn number_of_all(device: u32) -> u32 {
    settings().devices[device as usize]
}

/// `Ridgepoint emulated sm_90 (cpu:0)`: no GPU has such a name.
pub(crate) fn name(device: u32) -> String {
    format!(
        "Ridgepoint emulated {} (cpu:{})",
        settings().capability.arch(),
        number_of_all(device)
    )
}

/// Other than that of any GPU, and another for each device.
fn uuid(device: u32) -> [u8; 16] {
    let mut uuid = *b"ridgepoint-cpu:\0";
    uuid[15] = number_of_all(device) as u8;
    uuid
}

fn pci_bus_id(device: u32) -> String {
    format!("0000:{:02x}:00.0", attributes::pci_bus(device))
}

fn by_pci_bus_id(text: &str) -> Answer<i32> {
    let found = (0..count()).find(|&it| pci_bus_id(it).eq_ignore_ascii_case(text));
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
            if count() == 0 { return Err(Status::NO_DEVICE) }
            api::begin();
            Ok(())
        }
        fn cuDriverGetVersion(to: Out<i32>) { to.put(VERSION) }
        fn cuDeviceGetCount(to: Out<i32>) { to.put(count() as i32) }
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
