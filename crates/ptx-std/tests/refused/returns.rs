extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn sum(x: &[f32]) -> f32 {
    x[0]
}

fn main() {}
