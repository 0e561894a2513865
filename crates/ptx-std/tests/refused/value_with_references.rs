#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scene<'a> {
    pub x: &'a [f32],
}

#[kernel]
pub fn scene(scene: Scene<'_>, mut y: Output<f32>) {}

#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Derived<'a> {
    pub x: &'a [f32],
}

#[kernel]
pub fn derived(scene: Derived<'_>, mut y: Output<f32>) {}

fn main() {}
