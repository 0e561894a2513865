//! The parameters of a launch, in either of the driver's forms.

use engine::Kernel;
use engine::memory::Label;

use crate::arguments::In;
use crate::device;
use crate::findings::say;
use crate::names::Named;
use crate::status::{Answer, Status};

/// Keys of the second form: the end, a buffer of all parameters, and a place with its bytes.
const END: usize = 0;
const BUFFER: usize = 1;
const BYTES: usize = 2;

/// Memory below this is nobody's.
const LOWEST: u64 = 64 << 10;

/// Returns the bytes of a kernel's parameters, from an address for each of them or from one buffer of all.
///
/// # Errors
/// Both forms are given, or neither where it has parameters, or fewer bytes than it has.
pub(crate) fn packed(kernel: &Kernel, each: In<In<u8>>, extra: In<usize>) -> Answer<Vec<u8>> {
    match (each.is_null(), extra.is_null()) {
        (false, false) => Err(Status::INVALID_VALUE),
        (_, false) => of_buffer(kernel, extra),
        (_, true) => of_each(kernel, each),
    }
}

fn of_each(kernel: &Kernel, each: In<In<u8>>) -> Answer<Vec<u8>> {
    let count = kernel.parameter_bytes().count();
    let addresses = each.all(count)?;
    if addresses.iter().any(|it| it.is_null()) {
        return Err(Status::INVALID_VALUE);
    }
    let addresses: Vec<*const u8> = addresses.iter().map(|it| it.as_ptr()).collect();
    // SAFETY: the program gives an address for each parameter, with as many bytes as it has, by the contract of
    // `cuLaunchKernel`; none is null.
    Ok(unsafe { kernel.pack(&addresses) })
}

fn of_buffer(kernel: &Kernel, extra: In<usize>) -> Answer<Vec<u8>> {
    let (mut buffer, mut bytes) = (0, None);
    let mut index = 0;
    loop {
        match extra.at(index)? {
            END => break,
            BUFFER => buffer = extra.at(index + 1)?,
            BYTES => {
                let place = std::ptr::with_exposed_provenance::<usize>(extra.at(index + 1)?);
                if place.is_null() {
                    return Err(Status::INVALID_VALUE);
                }
                // SAFETY: the address of a number, by the contract of `CU_LAUNCH_PARAM_BUFFER_SIZE`.
                bytes = Some(unsafe { place.read_unaligned() });
            }
            _ => return Err(Status::INVALID_VALUE),
        }
        index += 2;
    }
    let own = kernel.parameters().last().map_or(0, |it| it.end as usize);
    let given = bytes
        .filter(|_| buffer != 0 || own == 0)
        .ok_or(Status::INVALID_VALUE)?;
    if given < own {
        say(&format!(
            "{}: {given} bytes of parameters; it has {own}",
            kernel.name()
        ));
        return Err(Status::INVALID_VALUE);
    }
    let start = std::ptr::with_exposed_provenance::<u8>(buffer);
    if own == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the buffer has as many bytes as the program says, by the contract of `CU_LAUNCH_PARAM_BUFFER_POINTER`,
    // of which these are the first: a structure of C is padded at its end.
    Ok(unsafe { std::slice::from_raw_parts(start, own) }.to_vec())
}

/// A copy of a kernel's parameters, and their addresses, where a program reads them.
pub(crate) struct Told {
    bytes: Box<[u8]>,
    addresses: Box<[usize]>,
}

impl Told {
    pub(crate) fn new(kernel: &Kernel, parameters: &[u8]) -> Told {
        let bytes: Box<[u8]> = parameters.into();
        let start = bytes.as_ptr().expose_provenance();
        let addresses = kernel.parameters().map(|it| start + it.start as usize);
        Told {
            addresses: addresses.collect(),
            bytes,
        }
    }

    /// Tells other parameters in their place, of a kernel that has as many of the same bytes.
    pub(crate) fn tell_anew(&mut self, kernel: &Kernel, parameters: &[u8]) -> bool {
        let start = self.bytes.as_ptr().addr();
        let own = self.addresses.iter().map(|it| it - start);
        let places = kernel.parameters().map(|it| it.start as usize);
        let is_alike = self.bytes.len() == parameters.len() && own.eq(places);
        if is_alike {
            self.bytes.copy_from_slice(parameters);
        }
        is_alike
    }

    /// Where the addresses are; null where there are no parameters.
    pub(crate) fn address(&self) -> usize {
        match self.addresses.is_empty() {
            true => 0,
            false => self.addresses.as_ptr().expose_provenance(),
        }
    }
}

/// Names the memory that parameters point to, for findings: PTX has no better names than their places.
pub(crate) fn name_buffers(kernel: &Kernel, named: &Named, parameters: &[u8]) {
    // The first of several that point to the same memory names it.
    let all: Vec<_> = kernel.parameters().collect();
    for (index, place) in all.iter().enumerate().rev() {
        let bytes = parameters.get(place.start as usize..place.end as usize);
        let Some(bytes) = bytes.and_then(|it| <[u8; 8]>::try_from(it).ok()) else {
            continue;
        };
        let address = u64::from_le_bytes(bytes);
        if address >= LOWEST && device::space().find(address).is_some() {
            let label = Label::new(&named.parameter(index), 1);
            device::space().name(address, label);
        }
    }
}

/// The second form's pairs as they are declared.
pub(crate) type Extra = In<usize>;
/// The first form's addresses as they are declared.
pub(crate) type Each = In<In<u8>>;

/// Nothing in the second form.
pub(crate) fn no_extra() -> Extra {
    In::null()
}
