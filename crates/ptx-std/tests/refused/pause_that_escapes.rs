#![allow(unused)]
extern crate ptx_std as cuda_std;
use cuda_std::emulation::{Lane, enter, pause};

fn keep(lane: &Lane<'_>) {
    let escaped = enter(lane, pause);
    drop(escaped);
}

fn main() {}
