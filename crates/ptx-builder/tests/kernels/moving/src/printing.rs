use cuda_std::prelude::*;
use cuda_std::{assert_eq, print, println};

#[kernel]
pub unsafe fn printing(x: &[f32]) {
    if thread::first() {
        print!("{} elements; ", x.len());
        println!("the first is {:?}", x.first());
    }
    assert_eq!(x.len() % 2, 0, "an odd length");
}
