extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

pub trait Shape {
    fn area(&self) -> f32;
}

#[kernel]
pub unsafe fn text(name: &str, y: *mut f32) {}

#[kernel]
pub unsafe fn object(shape: &dyn Shape, y: *mut f32) {}

fn main() {}
