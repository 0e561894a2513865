//! With the user's own glam, which is that of `cuda_std`.

use cuda_std::prelude::*;
use glam::{Mat4, UVec2, UVec4, Vec2, Vec3};

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Mixed {
    pub weight: f32,
    pub at: Vec2,
    pub cells: UVec4,
}

fn largest<T: PartialOrd + Copy, const N: usize>(values: [T; N]) -> T {
    let mut largest = values[0];
    for value in values {
        if value > largest {
            largest = value;
        }
    }
    largest
}

#[kernel]
pub unsafe fn mixed(value: Mixed, size: UVec2, pixels: *mut Vec3) {
    let index = thread::index_2d();
    if index.cmpge(size).any() {
        return;
    }
    let rotated = Mat4::from_rotation_z(value.weight).transform_point3(value.at.extend(1.0));
    let cell = largest(value.cells.to_array()) as f32;
    *pixels.add((index.y * size.x + index.x) as usize) = rotated.normalize() * cell;
}
