//! Signatures of kernels that somebody else compiled, beside what `#[kernel]` makes of the same parameters.

use core::ffi::c_void;

use bytemuck::NoUninit;
use cuda_std::launch::{
    Entry, Foreign, Home, In, Memory, Out, Parameter, Passing, Signature, Slice, SliceMut,
};
use cuda_std::prelude::*;

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Affine {
    by: f32,
    offset: f32,
}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Nothing;

/// # Safety
/// None: it does nothing.
#[kernel]
unsafe fn own(
    n: i32,
    x: *const f32,
    y: *mut f64,
    with: Affine,
    nothing: Nothing,
    is_last: bool,
    strides: [i64; 3],
) {
    let _ = (n, x, y, with, nothing, is_last, strides);
}

type Same = Foreign<(i32, In<f32>, Out<f64>, Affine, Nothing, bool, [i64; 3])>;

/// The parameters that a launch passes to the driver, and where each argument lies.
fn passed<'a, S: Signature>(
    entry: Entry<S>,
    arguments: &S::Arguments<'a>,
) -> (Vec<(*const c_void, Option<&'static Home>)>, Vec<Memory>) {
    let mut parameters = Vec::new();
    (entry.marshal())(arguments, &mut |address, home| {
        parameters.push((address, home));
    });
    (parameters, (entry.memory())(arguments))
}

#[test]
fn a_launch_passes_what_it_passes_to_a_kernel_of_our_own() {
    let (x, mut y) = ([1.0f32, 2.0, 3.0], [0.0f64; 5]);
    let home: &Home = Box::leak(Box::new(Home::new("the host".to_owned())));
    // SAFETY: the arrays outlive the views.
    let views = unsafe {
        (
            Slice::from_raw(x.as_ptr(), x.len()),
            SliceMut::from_raw(y.as_mut_ptr(), y.len()).of(home),
        )
    };
    let with = Affine {
        by: 2.0,
        offset: 1.0,
    };
    let arguments = (7, views.0, views.1, with, Nothing, true, [1, -2, 3]);
    let (parameters, memory) = passed(Entry::<Same>::foreign("own"), &arguments);
    let (as_own, memory_of_own) = passed(own::entry(), &arguments);
    assert_eq!(parameters, as_own);
    assert_eq!(parameters.len(), 6, "a value without bytes is no parameter");

    let pointers = [memory_of_own[0].address, memory_of_own[1].address];
    assert_eq!(pointers, [x.as_ptr().addr(), y.as_ptr().addr()]);
    // SAFETY: the addresses are those of values of these types inside `arguments`.
    unsafe {
        assert_eq!(parameters[0].0.cast::<i32>().read(), 7);
        assert_eq!(parameters[1].0.cast::<usize>().read(), pointers[0]);
        assert_eq!(parameters[2].0.cast::<usize>().read(), pointers[1]);
        assert_eq!(parameters[3].0.cast::<Affine>().read().offset, 1.0);
        assert!(parameters[4].0.cast::<bool>().read());
        assert_eq!(parameters[5].0.cast::<[i64; 3]>().read(), [1, -2, 3]);
    }
    let named = |mut memory: Memory, name| {
        memory.parameter = name;
        memory
    };
    let expected = [named(memory_of_own[0], "1"), named(memory_of_own[1], "2")];
    assert_eq!(memory, expected, "the same, under the parameter's place");
}

#[test]
fn parameters_are_described_as_far_as_they_are_known() {
    let parameter = |name, ty, passing| Parameter { name, ty, passing };
    let value = |name, size| parameter(name, "_", Passing::Value { size });
    let entry = Entry::<Same>::foreign("own");
    assert_eq!(
        entry.parameters(),
        [
            value("0", 4),
            parameter("1", "*const _", Passing::Pointer),
            parameter("2", "*mut _", Passing::Pointer),
            value("3", 8),
            value("4", 0),
            value("5", 1),
            value("6", 24),
        ]
    );
    assert_eq!(entry.bounds(), Default::default());
}

#[test]
fn a_kernel_may_have_no_parameter_and_as_many_as_12() {
    let (none, memory) = passed(Entry::<Foreign<()>>::foreign("none"), &());
    assert!(none.is_empty() && memory.is_empty());

    type Twelve = Foreign<(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64)>;
    let arguments = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.0, 12.0);
    let (all, _) = passed(Entry::<Twelve>::foreign("twelve"), &arguments);
    assert_eq!(all.len(), 12);
    // SAFETY: the address is that of the last argument.
    assert_eq!(unsafe { all[11].0.cast::<f64>().read() }, 12.0);
}

#[test]
fn a_name_is_kept_once() {
    let named = |name: String| Entry::<Foreign<()>>::foreign(&name).name();
    let first = named("_Z5saxpyifPKfPf".to_owned());
    assert_eq!(first, "_Z5saxpyifPKfPf");
    assert_eq!(first.as_ptr(), named(first.to_owned()).as_ptr());
    assert_ne!(first, named("_Z5saxpyifPKfPd".to_owned()));
}

#[test]
fn an_entry_says_who_compiled_it_under_any_signature() {
    let foreign = Entry::<Same>::foreign("own");
    assert!(foreign.is_foreign() && !foreign.is_own());
    assert!(foreign.with_signature::<own>().is_foreign());
    assert!(!own::entry().is_foreign());
    assert!(!own::entry().with_signature::<Same>().is_foreign());
}

#[test]
#[should_panic(expected = "a foreign kernel has no function that the emulator could run")]
fn the_emulator_has_nothing_to_run() {
    let entry = Entry::<Foreign<(u32,)>>::foreign("elsewhere");
    // SAFETY: nothing runs.
    unsafe { (entry.call())(&(1,)) };
}
