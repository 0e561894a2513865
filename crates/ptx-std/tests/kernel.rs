//! What `#[kernel]` makes of a function on the host, and what it refuses.

extern crate ptx_std as cuda_std;

use core::ffi::c_void;

use cuda_std::launch::{Kernel, Parameter, Passing, Slice, SliceMut};
use cuda_std::prelude::*;

#[derive(Clone, Copy)]
#[repr(C)]
struct Scale {
    by: f32,
    offset: f32,
}

/// # Safety
/// `y` has room for `x.len()` elements.
#[kernel]
unsafe fn scale(x: &[f32], y: *mut f32, first: *const f32, with: Scale, count: u32) {
    for i in thread::grid_stride(x.len().min(count as usize)) {
        // SAFETY: i < x.len(), and the caller vouches for y and first.
        unsafe { *y.add(i) = x[i] * with.by + with.offset + *first };
    }
}

#[test]
fn the_description_is_the_signature() {
    let parameter = |name, ty, passing| Parameter { name, ty, passing };
    assert_eq!(scale::NAME, "scale");
    assert_eq!(
        scale::PARAMETERS,
        [
            parameter("x", "&[f32]", Passing::Slice),
            parameter("y", "*mut f32", Passing::Pointer),
            parameter("first", "*const f32", Passing::Pointer),
            parameter("with", "Scale", Passing::Value { size: 8 }),
            parameter("count", "u32", Passing::Value { size: 4 }),
        ]
    );
}

#[test]
fn parameters_are_marshalled_in_the_order_of_the_ptx_entry() {
    let x = [1.0f32, 2.0, 3.0];
    let mut y = [0.0f32; 3];
    let y_pointer = y.as_mut_ptr();
    let with = Scale {
        by: 2.0,
        offset: 1.0,
    };
    // SAFETY: the arrays outlive the views.
    let arguments = unsafe {
        (
            Slice::from_raw(x.as_ptr(), x.len()),
            SliceMut::from_raw(y_pointer, y.len()),
            Slice::from_raw(x.as_ptr().add(2), 1),
            with,
            7u32,
        )
    };
    let mut addresses: Vec<*const c_void> = Vec::new();
    scale::marshal(&arguments, &mut |address| addresses.push(address));
    assert_eq!(addresses.len(), 6, "a slice is two PTX parameters");
    // SAFETY: the addresses are those of values of these types inside `arguments`.
    unsafe {
        assert_eq!(addresses[0].cast::<*const f32>().read(), x.as_ptr());
        assert_eq!(addresses[1].cast::<usize>().read(), 3);
        assert_eq!(addresses[2].cast::<*mut f32>().read(), y_pointer);
        assert_eq!(addresses[3].cast::<*const f32>().read(), x.as_ptr().add(2));
        assert_eq!(addresses[4].cast::<Scale>().read().offset, 1.0);
        assert_eq!(addresses[5].cast::<u32>().read(), 7);
    }
}

#[test]
#[should_panic(expected = "outside of a launch")]
fn a_kernel_outside_of_a_launch_says_so() {
    let _ = thread::thread_idx_x();
}

#[test]
fn what_cannot_be_a_kernel_is_refused_at_the_offending_tokens() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
