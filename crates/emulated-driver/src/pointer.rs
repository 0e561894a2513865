//! Answers to a program's questions about an address.

use engine::memory;

use crate::allocations::{self, Allocated, Kind};
use crate::arguments::Out;
use crate::context::current;
use crate::status::{Answer, Status};

/// `CU_MEMORYTYPE_HOST`, `CU_MEMORYTYPE_DEVICE`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
/// `CU_POINTER_ATTRIBUTE_MAPPED`: the one that every address has.
const MAPPED: u32 = 13;
const READ_AND_WRITE: u32 = 3;

/// Writes an attribute of an address.
///
/// # Errors
/// The address is none that the driver knows, or the attribute is none that such memory has.
fn attribute(which: u32, address: u64, to: Out<u64>) -> Answer {
    let (found, own) = match allocations::holding(address) {
        Some((found, Some(own))) => (found, own),
        // A variable of a module.
        Some((found, None))
            if matches!(found.kind, memory::Kind::Variable | memory::Kind::Constant) =>
        {
            let own = Allocated {
                context: current()?.handle,
                device: found.device.unwrap_or(0),
                bytes: found.bytes,
                kind: Kind::Device,
                flags: 0,
            };
            (found, own)
        }
        _ if which == MAPPED => return to.cast::<u8>().put(0),
        _ => return Err(Status::INVALID_VALUE),
    };
    let is_of_device = own.kind.is_of_device();
    match which {
        1 => to.cast::<usize>().put(own.context),
        2 => to.cast::<u32>().put(memory_type(&own)),
        3 => to.put(address),
        4 if !is_of_device => to.put(address),
        6 => to.cast::<u32>().put(0),
        7 => to.put(found.serial),
        8 => to.cast::<u32>().put(u32::from(own.kind == Kind::Managed)),
        9 => to.cast::<i32>().put(own.device as i32),
        10 => to.cast::<u8>().put(0),
        11 => to.put(found.start),
        12 => to.cast::<usize>().put(found.bytes as usize),
        MAPPED => to.cast::<u8>().put(1),
        14 => to.put(0),
        15 => to.cast::<u8>().put(0),
        16 => to.cast::<u32>().put(READ_AND_WRITE),
        17 => to.cast::<usize>().put(match own.kind {
            Kind::OfPool(pool) => pool,
            _ => 0,
        }),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn memory_type(own: &Allocated) -> u32 {
    match own.kind {
        Kind::Host | Kind::Registered => HOST,
        Kind::Device | Kind::OfPool(_) | Kind::OfGraph | Kind::Managed => DEVICE,
    }
}

/// Bytes of an attribute's value.
fn size(which: u32) -> usize {
    match which {
        1 | 3..=5 | 7 | 11 | 12 | 14 | 17..=20 => 8,
        10 | 13 | 15 => 1,
        _ => 4,
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::In;

    driver! {
        fn cuPointerGetAttribute(to: Out<u64>, which: u32, address: u64) { to.check()?; attribute(which, address, to) }
        fn cuPointerGetAttributes(count: u32, which: In<u32>, to: In<Out<u64>>, address: u64) {
            for index in 0..count as usize {
                let (which, to) = (which.at(index)?, to.at(index)?);
                to.check()?;
                // What an address does not have is zero here, by the function's description.
                if attribute(which, address, to).is_err() {
                    to.cast::<u8>().put_all(std::iter::repeat_n(0, size(which)))?;
                }
            }
            Ok(())
        }
        fn cuPointerSetAttribute(value: In<u32>, _which: u32, address: u64) {
            if value.is_null() { return Err(Status::INVALID_VALUE) }
            allocations::holding(address).map(drop).ok_or(Status::INVALID_VALUE)
        }
    }
}
