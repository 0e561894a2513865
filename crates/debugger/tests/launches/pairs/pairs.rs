#![no_std]
#![feature(abi_ptx, stdarch_nvptx)]
use core::arch::nvptx::{_block_dim_x, _block_idx_x, _thread_idx_x};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

pub struct Pair {
    x: f32,
    n: [i32; 3],
}

#[inline(always)]
fn scale(pair: &Pair, by: f32) -> f32 {
    let scaled = pair.x * by;
    let middle = pair.n[1] as f32;
    scaled + middle
}

fn half(i: i32) -> Option<i32> {
    if i % 2 == 0 { Some(i / 2) } else { None }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn pairs(input: *const f32, out: *mut f32) {
    let i = unsafe { _block_idx_x() * _block_dim_x() + _thread_idx_x() } as i32;
    let pair = Pair { x: unsafe { *input.add(i as usize) }, n: [1, 2, i] };
    let halved = half(i);
    if let Some(half) = halved {
        let scaled = scale(&pair, 3.0);
        unsafe { *out.add(i as usize) = scaled + half as f32 };
    }
}
