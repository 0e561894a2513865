//! Attributes of kernels.

use std::ffi::{c_char, c_int};

use crate::arguments::Out;
use crate::driver::{self, Handle};
use crate::inside;
use crate::program::{function, kernel};
use crate::status::Answer;

/// `cudaFuncAttributes`: the attributes of the driver in the order of the structure, those of CUDA 12 last.
#[repr(C)]
pub(crate) struct Attributes {
    bytes: [usize; 3],
    numbers: [c_int; 7],
    of_clusters: [c_int; 6],
}

/// `CU_FUNC_ATTRIBUTE_..` of each field.
const BYTES: [c_int; 3] = [1, 2, 3];
const NUMBERS: [c_int; 7] = [0, 4, 5, 6, 7, 8, 9];
const OF_CLUSTERS: [c_int; 6] = [10, 11, 12, 13, 15, 14];

fn attribute(function: Handle, attribute: c_int) -> Answer<c_int> {
    let mut value = 0;
    driver::cuFuncGetAttribute(Out::of(&mut value), attribute, function)?;
    Ok(value)
}

/// Puts the fields that the caller's structure has: before CUDA 12 it ended with the numbers.
fn put(to: Out<Attributes>, address: usize, function: Handle) -> Answer {
    to.check()?;
    for (index, of) in BYTES.into_iter().enumerate() {
        let place = address + std::mem::offset_of!(Attributes, bytes) + index * 8;
        Out::at(place).put(attribute(function, of)? as usize)?;
    }
    let numbers = (std::mem::offset_of!(Attributes, numbers), &NUMBERS[..]);
    let of_clusters = (
        std::mem::offset_of!(Attributes, of_clusters),
        &OF_CLUSTERS[..],
    );
    let known = 1 + usize::from(inside::major() >= 12);
    for (start, attributes) in [numbers, of_clusters].into_iter().take(known) {
        for (index, &of) in attributes.iter().enumerate() {
            // What a driver does not know yet is 0.
            Out::at(address + start + index * 4).put(attribute(function, of).unwrap_or(0))?;
        }
    }
    Ok(())
}

runtime! {
    fn cudaFuncGetAttributes(to: Out<Attributes>, host: usize) { put(to, to.address(), function(host)?) }
    fn cudaFuncSetAttribute(host: usize, attribute: c_int, value: c_int) {
        driver::cuFuncSetAttribute(function(host)?, attribute, value)
    }
    fn cudaFuncSetCacheConfig(host: usize, preferred: u32) { driver::cuFuncSetCacheConfig(function(host)?, preferred) }
    fn cudaFuncSetSharedMemConfig(host: usize, preferred: u32) {
        driver::cuFuncSetSharedMemConfig(function(host)?, preferred)
    }
    fn cudaFuncGetName(to: Out<*const c_char>, host: usize) { driver::cuFuncGetName(to, function(host)?) }
    fn cudaFuncGetParamInfo(host: usize, index: usize, offset: Out<usize>, bytes: Out<usize>) {
        driver::cuFuncGetParamInfo(function(host)?, index, offset, bytes)
    }
    fn cudaGetFuncBySymbol(to: Out<Handle>, host: usize) { to.check()?; to.put(function(host)?) }
    fn cudaGetKernel(to: Out<Handle>, host: usize) { to.check()?; to.put(kernel(host)?) }
}
