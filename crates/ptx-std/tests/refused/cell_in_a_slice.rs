extern crate ptx_std as cuda_std;
use core::cell::Cell;
use cuda_std::prelude::*;

#[kernel]
pub fn read(x: &[Cell<u32>]) {
    x[0].get();
}

fn main() {}
