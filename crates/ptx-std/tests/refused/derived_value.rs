#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[derive(Clone, Copy, SafeValue)]
pub struct Rust(u32, u8);

#[derive(Clone, Copy, SafeValue)]
#[repr(align(16))]
pub struct Aligned(u32, u8);

#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub enum Kind {
    One,
}

#[derive(Clone, Copy, SafeValue)]
#[repr(u32)]
pub enum Shape {
    Point,
    Circle { radius: f32 },
}

#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub union Bits {
    float: f32,
    bits: u32,
}

#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Nested {
    pair: (u32, f32),
}

fn main() {}
