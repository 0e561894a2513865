#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[derive(Clone, Copy, SafeValue)]
#[repr(C, align(32))]
pub struct A([u64; 4]);

#[kernel]
pub fn k(a: A, mut y: Output<u32>) {}

#[kernel]
pub unsafe fn u(a: A, mut y: Output<u32>) {}

fn main() {}
