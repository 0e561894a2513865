use alloc::collections::BTreeMap;
use cuda_std::mem::{free, malloc};
use cuda_std::prelude::*;

trait Shape {
    fn area(&self) -> f32;
}

struct Square(f32);

impl Shape for Square {
    fn area(&self) -> f32 {
        self.0 * self.0
    }
}

struct Disc(f32);

impl Shape for Disc {
    fn area(&self) -> f32 {
        3.0 * self.0 * self.0
    }
}

#[kernel]
pub unsafe fn areas(sides: &[f32], areas: *mut f32) {
    let index = thread::index();
    let side = sides[index as usize];
    let shape: Box<dyn Shape> = if index % 2 == 0 {
        Box::new(Square(side))
    } else {
        Box::new(Disc(side))
    };
    *areas.add(index as usize) = shape.area();
}

#[kernel]
pub unsafe fn collections(counts: *mut usize) {
    let squares: Vec<u32> = (0..10).map(|n| n * n).collect();
    let mut names = BTreeMap::new();
    for n in &squares {
        names.insert(*n, format!("{n}"));
    }
    *counts = squares.len() + names.len();
}

#[kernel]
pub unsafe fn by_hand(out: *mut u32) {
    let own = malloc(4) as *mut u32;
    *own = cuda_std::cfg::ComputeCapability::from_cuda_arch_env() as u32;
    *out = *own;
    free(own as *mut _);
}
