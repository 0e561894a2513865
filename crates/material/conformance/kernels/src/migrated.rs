//! Kernels in the style of Rust-CUDA, as its users write them: only the dependency's line differs.

use core::mem::MaybeUninit;
use cuda_std::glam::{USizeVec2, UVec2};
use cuda_std::prelude::*;

/// # Safety
/// `c` has room for as many elements as `a`.
#[kernel]
#[allow(improper_ctypes_definitions, clippy::missing_safety_doc)]
pub unsafe fn vecadd(a: &[f32], b: &[f32], c: *mut f32) {
    let i = thread::index_1d() as usize;
    if i < a.len() {
        let elem = unsafe { &mut *c.add(i) };
        *elem = a[i] + b[i];
    }
}

/// # Safety
/// The matrices are of n x n elements.
#[kernel]
#[allow(improper_ctypes_definitions)]
pub unsafe fn gemm_tiled(a: &[f32], b: &[f32], c: *mut f32, n: usize, alpha: f32, beta: f32) {
    const TILE_SIZE: usize = 16;

    #[address_space(shared)]
    static mut TILE_A: [MaybeUninit<f32>; TILE_SIZE * TILE_SIZE] =
        [const { MaybeUninit::uninit() }; TILE_SIZE * TILE_SIZE];
    #[address_space(shared)]
    static mut TILE_B: [MaybeUninit<f32>; TILE_SIZE * TILE_SIZE] =
        [const { MaybeUninit::uninit() }; TILE_SIZE * TILE_SIZE];

    let tx = thread::thread_idx_x() as usize;
    let ty = thread::thread_idx_y() as usize;
    let row = thread::block_idx_y() as usize * TILE_SIZE + ty;
    let col = thread::block_idx_x() as usize * TILE_SIZE + tx;

    let mut sum = 0.0f32;
    for tile in (0..n).step_by(TILE_SIZE) {
        let at_a = tile + tx;
        let at_b = tile + ty;
        unsafe {
            TILE_A[ty * TILE_SIZE + tx].write(if row < n && at_a < n {
                a[row * n + at_a]
            } else {
                0.0
            });
            TILE_B[ty * TILE_SIZE + tx].write(if at_b < n && col < n {
                b[at_b * n + col]
            } else {
                0.0
            });
        }
        thread::sync_threads();
        for k in 0..TILE_SIZE {
            sum += unsafe {
                TILE_A[ty * TILE_SIZE + k].assume_init() * TILE_B[k * TILE_SIZE + tx].assume_init()
            };
        }
        thread::sync_threads();
    }
    if row < n && col < n {
        let element = unsafe { &mut *c.add(row * n + col) };
        *element = alpha * sum + beta * *element;
    }
}

#[derive(Clone, Copy)]
#[repr(C)]
/// Where a picture lies in the plane.
pub struct View {
    /// Of the left upper corner.
    pub origin: (f32, f32),
    /// Of a pixel.
    pub step: f32,
}

/// # Safety
/// `pixels` has room for every pixel.
#[kernel]
pub unsafe fn mandelbrot(pixels: *mut u32, size: UVec2, view: View) {
    let index = thread::index_2d();
    if index.cmpge(size).any() {
        return;
    }
    let at = USizeVec2::new(index.x as usize, index.y as usize);
    let (cx, cy) = (
        view.origin.0 + view.step * index.x as f32,
        view.origin.1 + view.step * index.y as f32,
    );
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut count = 0;
    while count < 100 && x * x + y * y < 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        count += 1;
    }
    unsafe { *pixels.add(at.y * size.x as usize + at.x) = count };
}
