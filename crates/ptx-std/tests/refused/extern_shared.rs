extern crate ptx_std as cuda_std;

use cuda_std::prelude::*;

unsafe extern "C" {
    #[address_space(shared)]
    static TILE: [f32; 16];
}

fn main() {}
