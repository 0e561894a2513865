//! `Output`, generic kernels, parameters of all kinds, printing and failing.

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::prelude::*;

/// Scales in place: no `unsafe`.
#[kernel(instances(scale_f32<f32>, scale_f64<f64>, scale_i32<i32>))]
pub fn scale<T: Copy + core::ops::MulAssign>(factor: T, mut values: Output<T>) {
    for (_, value) in values.own() {
        *value *= factor;
    }
}

/// Adds `N` neighbours.
#[kernel(instances(add_2<u32, 2>, add_3<u32, 3>), max_threads = 128)]
pub fn add_neighbours<T: Copy + core::ops::Add<Output = T>, const N: usize>(
    groups: &[[T; N]],
    mut sums: Output<T>,
) {
    for (group, sum) in sums.own_with(groups) {
        let mut total = group[0];
        for value in &group[1..] {
            total = total + *value;
        }
        *sum = total;
    }
}

/// Nothing.
#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Unit;

/// Passed by value, with padding inside.
#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Mixed {
    /// One byte.
    pub small: u8,
    /// Eight.
    pub large: u64,
    /// An array.
    pub array: [u16; 3],
}

/// Parameters of every kind.
#[kernel]
pub fn parameters(
    unit: Unit,
    mixed: Mixed,
    array: [u32; 3],
    flag: bool,
    one: &u32,
    several: &[u16],
    mut out: Output<u64>,
) {
    let _: Unit = unit;
    if let Some((_, word)) = out.own_element() {
        *word = u64::from(mixed.small)
            + mixed.large
            + u64::from(mixed.array[2])
            + u64::from(array[1])
            + u64::from(flag)
            + u64::from(*one)
            + several.iter().map(|&x| u64::from(x)).sum::<u64>();
    }
}

/// Writes what an output says of its length: of one that is empty, and of one that is not.
#[kernel]
pub fn lengths(empty: Output<u32>, mut out: Output<[u64; 4]>) {
    let of_all = [
        empty.len() as u64,
        empty.is_empty().into(),
        out.len() as u64,
        out.is_empty().into(),
    ];
    for (_, words) in out.own() {
        *words = of_all;
    }
}

/// Says something from each thread of the first warp's first lanes.
#[kernel]
pub fn talk(count: u32) {
    let own = thread::index_1d();
    if own < count {
        println!(
            "thread {own} of {count}: {:.2} {:?}",
            own as f32 / 4.0,
            Some(own)
        );
    }
}

/// Prints a line in two parts, the first longer than one piece of output, and another line.
#[kernel]
pub fn recite(width: u32) {
    if thread::first() {
        print!("{:>width$}", "so", width = width as usize);
        println!(" long");
        println!();
        println!("{{}}");
    }
}

/// Prints with the driver's own function.
#[kernel(allow(local_memory))]
pub fn print_as_c(number: u32) {
    if thread::first() {
        print_by_driver(number);
    }
}

#[gpu_only]
fn print_by_driver(number: u32) {
    #[repr(C)]
    struct Arguments(u32, f64);
    let arguments = Arguments(number, 0.5);
    unsafe { cuda_std::io::vprintf(c"%u and %g\n".as_ptr(), (&raw const arguments).cast()) };
}

/// The line of the assertion in [`fail()`].
pub const FAILING_LINE: u32 = line!() + 6;

/// Fails in one thread.
#[kernel]
pub fn fail(at: u32, values: &[u32]) {
    if thread::index_1d() == at {
        assert_eq!(values.len(), at as usize, "the thread {at} has no element");
    }
}

/// Waits until so many launches have come, and then fails in one thread.
///
/// # Safety
/// `come` has an element, 0 before the first of them, which nothing else reaches.
#[kernel]
pub unsafe fn meet_and_fail(come: *const u32, launches: u32, at: u32) {
    let come = unsafe { AtomicU32::from_ptr(come.cast_mut()) };
    if thread::first() {
        come.fetch_add(1, Relaxed);
    }
    while come.load(Relaxed) < launches {}
    assert_ne!(thread::index_1d(), at);
}

/// Only there on a GPU.
#[gpu_only]
fn on_gpu() -> u32 {
    90
}

/// Kept under its own name.
#[externally_visible]
pub extern "C" fn conformance_visible(x: u32) -> u32 {
    x + 1
}

/// 90 on a GPU, else what a panic leaves.
#[kernel]
pub fn where_it_runs(mut out: Output<u32>) {
    for (_, word) in out.own() {
        *word = on_gpu();
    }
}
