extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[gpu_only]
pub fn numbers(n: u32) -> impl Iterator<Item = u32> {
    0..n
}

fn main() {}
