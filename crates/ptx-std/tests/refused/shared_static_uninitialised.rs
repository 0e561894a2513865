#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::prelude::*;

#[address_space(shared)]
static TABLE: &'static u32 = &7;

#[derive(Clone, Copy)]
pub enum Side {
    Left,
    Right,
}
#[address_space(shared)]
static SIDE: Side = Side::Right;

fn main() {}
