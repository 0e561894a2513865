extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub fn write(mut out: Output<*const u32>) {
    for (_, pointer) in out.own() {
        *pointer = core::ptr::null();
    }
}

fn main() {}
