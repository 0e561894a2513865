//! Lengths of outputs that say what the grid is, and extents that are not those of the buffer.

use std::cell::UnsafeCell;
use std::panic;
use std::sync::mpsc;
use std::thread as host_thread;

use cuda_std::launch::{SliceMut, output_length};
use cuda_std::prelude::*;

/// The thread of each of `len` elements, counted from 1, of a launch that passes `passed` for their number.
fn owners(shape: simt::Shape, len: usize, passed: usize) -> Vec<usize> {
    let owners: Vec<UnsafeCell<usize>> = (0..len).map(|_| UnsafeCell::new(0)).collect();
    let first = owners.as_ptr().cast::<usize>().cast_mut();
    let kernel = || {
        // SAFETY: the elements outlive the launch, and no other output has them.
        let mut output = unsafe { Output::from_raw(first, passed) };
        assert_eq!(output.len(), len);
        for (index, owner) in output.own() {
            assert_eq!(*owner, 0, "element {index} has two threads");
            *owner = 1 + linear_index();
        }
    };
    simt::Launch::new(shape).run(&kernel).expect("a launch");
    owners.into_iter().map(UnsafeCell::into_inner).collect()
}

/// The thread's index in its grid, over all dimensions.
fn linear_index() -> usize {
    let (block, blocks) = (thread::block_idx(), thread::grid_dim());
    let (thread, threads) = (thread::thread_idx(), thread::block_dim());
    let block = (block.z * blocks.y + block.y) * blocks.x + block.x;
    let thread = (thread.z * threads.y + thread.y) * threads.x + thread.x;
    (block * threads.x * threads.y * threads.z + thread) as usize
}

#[test]
fn a_length_that_says_what_the_grid_is_leaves_each_element_to_its_thread() {
    for (grid, block) in [
        ([4, 1, 1], [32, 1, 1]),
        ([2, 2, 1], [32, 1, 1]),
        ([4, 1, 1], [8, 2, 2]),
        ([1, 1, 2], [1, 1, 64]),
    ] {
        let shape = simt::Shape {
            grid,
            block,
            dynamic_shared: 0,
        };
        for len in [0, 1, 127, 128, 129, 1000] {
            let expected: Vec<usize> = (0..len).map(|index| 1 + index % 128).collect();
            let saying = output_length(len, len, grid, block);
            assert_eq!(owners(shape, len, len), expected, "{grid:?} {block:?}");
            assert_eq!(owners(shape, len, saying), expected, "{saying:#x}");
        }
    }
}

#[test]
fn of_elements_without_bytes_there_are_as_many_as_memory_could_have() {
    let said = output_length(usize::MAX, usize::MAX, [1, 1, 1], [32, 1, 1]);
    assert_eq!(said, 1 << 61 | 1 << 62);
}

#[test]
fn an_extent_has_31_bits() {
    // Of elements without bytes there are enough.
    let pointer = std::ptr::NonNull::<()>::dangling().as_ptr();
    // SAFETY: there is nothing to outlive.
    let view = |len| unsafe { SliceMut::from_raw(pointer, len) };
    assert!(
        view(i32::MAX as usize)
            .try_shaped([1, i32::MAX as usize])
            .is_ok()
    );
    let error = view(1 << 31)
        .try_shaped([1, 1 << 31])
        .err()
        .expect("32 bits");
    let text = "1 x 2147483648: an extent is at most 2147483647, and the slice has 2147483648";
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn wrong_extents_are_told_with_the_place_that_gives_them() {
    let (sender, receiver) = mpsc::channel();
    let (own, others) = (host_thread::current().id(), panic::take_hook());
    panic::set_hook(Box::new(move |told| {
        if host_thread::current().id() != own {
            return others(told);
        }
        let place = told.location().expect("a place");
        sender.send(place.file().to_owned()).expect("a receiver");
    }));
    let mut elements = [0; 6];
    let refused = panic::catch_unwind(move || {
        // SAFETY: the array outlives the view.
        let view = unsafe { SliceMut::from_raw(elements.as_mut_ptr(), 6) };
        view.shaped([2, 4]).extents()
    });
    assert!(refused.is_err(), "2 x 4 are no 6 elements");
    assert_eq!(receiver.recv().as_deref(), Ok(file!()));
}
