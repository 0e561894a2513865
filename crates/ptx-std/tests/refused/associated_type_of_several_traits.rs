extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

pub trait Element {
    type Sum: Copy;
}

pub trait Other {}

#[kernel(instances(copy_f32<f32>))]
pub fn copy<T: Copy + Element + Other>(x: &[T::Sum], y: Output<T>) {}

fn main() {}
