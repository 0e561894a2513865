extern crate ptx_std as cuda_std;

use cuda_std::prelude::*;

#[kernel(instances(scale_f32<f32, 4>))]
pub unsafe fn scale<T: Copy>(y: *mut T) {}

fn main() {}
