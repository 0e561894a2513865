extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

pub struct Kernels;

impl Kernels {
    #[kernel]
    pub unsafe fn scale(&self, y: *mut f32) {}
}

fn main() {}
