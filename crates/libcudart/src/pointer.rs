//! Attributes of addresses.

use std::ffi::c_int;

use crate::arguments::Out;
use crate::device::context;
use crate::driver;
use crate::status::Answer;

/// `cudaPointerAttributes`, of which those of CUDA 13 have more that is reserved.
#[repr(C)]
pub(crate) struct Attributes {
    kind: c_int,
    device: c_int,
    of_device: u64,
    of_host: u64,
}

/// `CU_POINTER_ATTRIBUTE_..`
const MEMORY_TYPE: c_int = 2;
const DEVICE_POINTER: c_int = 3;
const HOST_POINTER: c_int = 4;
const IS_MANAGED: c_int = 8;
const DEVICE_ORDINAL: c_int = 9;

/// `cudaMemoryType..`
const UNREGISTERED: c_int = 0;
const MANAGED: c_int = 3;
/// The device of memory that none has.
const NO_DEVICE: c_int = -2;

fn ask(attribute: c_int, address: u64) -> Answer<u64> {
    let mut value = 0;
    driver::cuPointerGetAttribute(Out::of(&mut value), attribute, address)?;
    Ok(value)
}

fn attributes(address: u64) -> Attributes {
    let Ok(kind) = ask(MEMORY_TYPE, address) else {
        return Attributes {
            kind: UNREGISTERED,
            device: NO_DEVICE,
            of_device: 0,
            of_host: address,
        };
    };
    let flag = |attribute| ask(attribute, address).unwrap_or(0) as c_int;
    let is_managed = flag(IS_MANAGED) & 1 != 0;
    Attributes {
        // The driver's numbers of host and device are the runtime's.
        kind: if is_managed { MANAGED } else { kind as c_int },
        device: flag(DEVICE_ORDINAL),
        of_device: ask(DEVICE_POINTER, address).unwrap_or(0),
        of_host: ask(HOST_POINTER, address).unwrap_or(0),
    }
}

runtime! {
    fn cudaPointerGetAttributes(to: Out<Attributes>, address: u64) { context()?; to.put(attributes(address)) }
}
