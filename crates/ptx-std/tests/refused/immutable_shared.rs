extern crate ptx_std as cuda_std;

use cuda_std::prelude::*;

#[address_space(shared)]
static TILE: [f32; 16] = [0.0; 16];

fn main() {}
