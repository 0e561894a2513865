//! The host function that `#[kernel]` makes, and what the attribute refuses.

use core::ffi::c_void;

use cuda_std::launch::{Home, Kernel, Parameter, Passing, Slice, SliceMut};
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
    let home: &Home = Box::leak(Box::new(Home::new("the host".to_owned())));
    let with = Scale {
        by: 2.0,
        offset: 1.0,
    };
    // SAFETY: the arrays outlive the views.
    let arguments = unsafe {
        (
            Slice::from_raw(x.as_ptr(), x.len()),
            SliceMut::from_raw(y_pointer, y.len()).of(home),
            Slice::from_raw(x.as_ptr().add(2), 1),
            with,
            7u32,
        )
    };
    let mut addresses: Vec<*const c_void> = Vec::new();
    let mut homes = Vec::new();
    scale::marshal(&arguments, &mut |address, home| {
        addresses.push(address);
        homes.push(home);
    });
    assert_eq!(addresses.len(), 6, "a slice is two PTX parameters");
    assert_eq!(homes, [None, None, Some(home), None, None, None]);
    assert_eq!(scale::memory(&arguments)[1].home, Some(home));
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

#[kernel]
fn offset(by: &f32, mut y: Output<f32>) {
    for (_, y) in y.own() {
        *y += by;
    }
}

#[test]
#[should_panic(expected = "a `&T` parameter refers to the first element of a slice")]
fn a_reference_needs_an_element() {
    let mut y = [1.0f32];
    // SAFETY: the array outlives the view; the other view has no element.
    let arguments = unsafe {
        (
            Slice::from_raw(core::ptr::dangling(), 0),
            SliceMut::from_raw(y.as_mut_ptr(), 1),
        )
    };
    offset::marshal(&arguments, &mut |_, _| {});
}

/// # Safety
/// `y` has room for an element.
#[kernel]
unsafe fn lengths(x: &[f32], x_len: u32, y: *mut f32, y_len: u32) {
    // SAFETY: the caller vouches for y.
    unsafe { *y = x.len() as f32 + (x_len + y_len) as f32 };
}

/// # Safety
/// None.
#[kernel]
unsafe fn arguments(sink: u32, arguments: u32) {
    let _ = sink + arguments;
}

/// # Safety
/// None.
#[kernel]
unsafe fn sink(arguments: &[f32], sink: *const f32) {
    let _ = (arguments, sink);
}

#[test]
fn a_kernel_and_its_parameters_may_be_named_like_what_the_macro_needs() {
    let mut y = [0.0f32];
    // SAFETY: the arrays outlive the views.
    unsafe {
        let x = Slice::from_raw([1.0f32, 2.0].as_ptr(), 2);
        let view = SliceMut::from_raw(y.as_mut_ptr(), 1);
        lengths::call(&(x, 3, view, 4));
        arguments::call(&(1, 2));
        sink::call(&(
            Slice::from_raw([1.0f32].as_ptr(), 1),
            Slice::from_raw([1.0f32].as_ptr(), 1),
        ));
    }
    assert_eq!(y, [9.0]);
    assert_eq!(lengths::PARAMETERS[1].name, "x_len");
}

macro_rules! kernels {
    ($($name:ident($input:ty, $output:ty, $element:ty);)*) => {$(
        /// # Safety
        /// `y` has room for an element.
        #[kernel]
        #[allow(unused_parens)]
        unsafe fn $name(x: $input, y: $output, z: &[$element], a: ($element)) {
            let _ = (&x, &y, z, a);
        }
    )*};
}

kernels! {
    from_macro(&[f32], *mut f32, f32);
    from_macro_with_output(&f32, Output<f32>, u32);
}

#[test]
fn types_that_come_through_a_macro_are_passed_like_any() {
    let passing = |parameters: &[Parameter]| {
        let passing = parameters.iter().map(|parameter| parameter.passing);
        passing.collect::<Vec<_>>()
    };
    let value = Passing::Value { size: 4 };
    assert_eq!(
        passing(from_macro::PARAMETERS),
        [Passing::Slice, Passing::Pointer, Passing::Slice, value]
    );
    assert_eq!(
        passing(from_macro_with_output::PARAMETERS),
        [Passing::Pointer, Passing::Output, Passing::Slice, value]
    );
    assert_eq!(from_macro::PARAMETERS[0].ty, "&[f32]");
    assert_eq!(from_macro_with_output::PARAMETERS[1].ty, "Output<f32>");
}

#[derive(Clone, Copy)]
struct Scene<'a> {
    radii: &'a [f32],
    scale: f32,
}

/// # Safety
/// `y` has room for 4 elements.
#[kernel]
#[allow(elided_lifetimes_in_paths)]
unsafe fn scenes<'a>(
    named: &'a Scene<'a>,
    unwritten: &Scene,
    many: &[Scene<'_>],
    rows: &[&[f32]],
    value: Scene,
    y: *mut f32,
) {
    let sums = [
        named.radii[0] * unwritten.scale,
        many[1].radii[1],
        rows[0][1],
        value.radii[0] + value.scale,
    ];
    // SAFETY: the caller vouches for y.
    unsafe { y.cast::<[f32; 4]>().write(sums) };
}

#[kernel(instances(pairs_f32<f32>))]
fn pairs<'a, T: Copy>([_, second]: [T; 2], x: &'a [T], mut y: Output<'a, T>) {
    let _ = (second, x.len(), y.len());
    y.own().for_each(drop);
}

/// # Safety
/// `y` has room for an element.
#[kernel]
#[allow(clippy::toplevel_ref_arg, reason = "the macro takes it")]
unsafe extern "C" fn patterns([a, mut b]: [f32; 2], ref c: f32, _: u32, y: *mut f32) {
    b += a;
    // SAFETY: the caller vouches for y.
    unsafe { *y = b + c };
}

#[test]
fn lifetimes_are_the_launchs_however_they_are_written() {
    let radii = vec![2.0f32, 3.0];
    let scene = Scene {
        radii: &radii,
        scale: 10.0,
    };
    let (many, rows) = ([scene, scene], [&*radii]);
    let mut y = [0.0f32; 4];
    // SAFETY: the arrays outlive the views.
    unsafe {
        let one = Slice::from_raw(&raw const scene, 1);
        let also = Slice::from_raw(&raw const scene, 1);
        let many = Slice::from_raw(many.as_ptr(), 2);
        let rows = Slice::from_raw(rows.as_ptr(), 1);
        scenes::call(&(
            one,
            also,
            many,
            rows,
            scene,
            SliceMut::from_raw(y.as_mut_ptr(), 4),
        ));
    }
    assert_eq!(y, [20.0, 3.0, 3.0, 12.0]);
    let types = scenes::PARAMETERS.iter().map(|parameter| parameter.ty);
    assert!(types.eq([
        "&'a Scene<'a>",
        "&Scene",
        "&[Scene<'_>]",
        "&[&[f32]]",
        "Scene",
        "*mut f32"
    ]));
}

#[test]
fn patterns_take_parameters_apart_and_have_numbers_for_names() {
    let mut y = [0.0f32];
    // SAFETY: the array outlives the view.
    unsafe { patterns::call(&([1.0, 2.0], 3.0, 9, SliceMut::from_raw(y.as_mut_ptr(), 1))) };
    assert_eq!(y, [6.0]);
    let names = patterns::PARAMETERS.iter().map(|parameter| parameter.name);
    assert!(names.eq(["argument_0", "argument_1", "argument_2", "y"]));
    assert_eq!(pairs_f32::PARAMETERS[0].ty, "[f32; 2]");
}

trait Element: Copy {
    type Sum: Copy;
}

impl Element for f32 {
    type Sum = f64;
}

const WIDTH: usize = 4;

#[kernel(instances(first_4<f32, WIDTH>, first_2<u32, 2>))]
fn first<T: Copy, const N: usize>(x: &[[T; N]], mut y: Output<T>) {
    for (x, y) in y.own_with(x) {
        *y = x[0];
    }
}

#[kernel(instances(copy_sums<f32>))]
fn copy<T: Copy + Element>(x: &[T::Sum], mut y: Output<<T as Element>::Sum>) {
    for (x, y) in y.own_with(x) {
        *y = *x;
    }
}

#[kernel(instances(negate_f32<f32>))]
fn negate<T>(x: &[T], mut y: Output<T::Output>)
where
    T: Copy + core::ops::Neg<Output = T>,
{
    for (x, y) in y.own_with(x) {
        *y = -*x;
    }
}

#[test]
fn instances_take_named_constants_and_associated_types() {
    let types = |parameters: &'static [Parameter]| [parameters[0].ty, parameters[1].ty];
    assert_eq!(
        types(first_4::PARAMETERS),
        ["&[[f32; WIDTH]]", "Output<f32>"]
    );
    assert_eq!(types(first_2::PARAMETERS), ["&[[u32; 2]]", "Output<u32>"]);
    assert_eq!(types(copy_sums::PARAMETERS)[0], "&[<f32 as Element>::Sum]");
    assert_eq!(
        types(copy_sums::PARAMETERS)[1],
        "Output<<f32 as Element>::Sum>"
    );
    assert_eq!(
        types(negate_f32::PARAMETERS)[1],
        "Output<<f32 as core::ops::Neg>::Output>"
    );
}

#[kernel(max_threads = 256, min_blocks = 2, block = [16, 16])]
fn bounded(_count: u32) {}

#[test]
fn a_block_of_as_many_threads_as_are_allowed_is_allowed() {
    assert_eq!(bounded::BOUNDS.max_threads, Some(256));
    assert_eq!(bounded::BOUNDS.min_blocks, Some(2));
    assert_eq!(bounded::BOUNDS.block, Some([16, 16, 1]));
}

#[gpu_only]
#[deny(unused_mut)]
fn next(mut n: u32) -> u32 {
    n += 1;
    n
}

#[test]
#[should_panic(expected = "`next` runs only on a GPU")]
fn what_is_for_the_gpu_panics_on_the_host() {
    next(1);
}

#[externally_visible]
#[allow(missing_docs)]
pub(crate) extern "C" fn getpid() -> i32 {
    -7
}

#[test]
fn what_is_visible_in_ptx_takes_no_symbols_place_on_the_host() {
    // SAFETY: so it is declared in unistd.h.
    unsafe extern "C" {
        #[link_name = "getpid"]
        safe fn of_the_system() -> i32;
    }
    assert_eq!(of_the_system(), std::process::id() as i32);
    assert_eq!(getpid(), -7);
}

#[address_space(shared)]
static mut TILE: [f32; 32] = [0.0; 32];

/// # Safety
/// No two launches at once.
#[kernel]
unsafe fn tile() {
    // SAFETY: each thread writes its own element.
    unsafe { TILE[thread::thread_idx_x() as usize] = 1.0 };
}

#[address_space(shared)]
static COUNT: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0);

/// # Safety
/// None.
#[kernel]
unsafe fn count() {
    COUNT.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
}

#[test]
fn macros_and_types_have_the_names_of_cuda_std() {
    cuda_std::assert_eq!(*Rc::new(1), 1);
    cuda_std::assert_ne!(tile::NAME, count::NAME);
    let capability = cuda_std::cfg::ComputeCapability::from_cuda_arch_env();
    cuda_std::assert_eq!(capability, cuda_std::cfg::ComputeCapability::Compute90);
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

const SIDE: usize = 16;
const BLOCKS: u8 = 3;

#[kernel(max_threads = 2 * SIDE * SIDE, min_blocks = BLOCKS, block = [SIDE, 4], instances(bounded_by_constants<u32>))]
fn bounded_by<T: Copy + Sync + 'static>(_count: T) {}

#[test]
fn bounds_are_constants_of_any_integer_type() {
    let expected = cuda_std::launch::Bounds {
        max_threads: Some(512),
        min_blocks: Some(3),
        block: Some([16, 4, 1]),
    };
    assert_eq!(bounded_by_constants::BOUNDS, expected);
}
