#![allow(unused_variables)]
extern crate ptx_std as cuda_std;

use cuda_std::launch::{Kernel, Slice, SliceMut};
use cuda_std::prelude::*;

#[kernel]
pub unsafe fn scale(x: &[f32], y: *mut f32, a: f32) {}

fn launch<K: Kernel>(_: K::Arguments<'_>) {}

fn with_other(x: Slice<'_, f32>, y: SliceMut<'_, f32>) {
    launch::<scale>((x, y, 2));
}

fn main() {}
