//! The cost of a panic in a kernel.

use std::fs;

use ptx_builder::resources::{KernelResources, Report};
use ptx_builder::{CudaBuilder, Panics};

use crate::support::{build, builder, kernel_crate};

const KERNELS: &str = "
#[kernel] pub unsafe fn add(a: &[f32], b: &[f32], c: *mut f32, n: usize) {
    let c = unsafe { core::slice::from_raw_parts_mut(c, n) };
    let i = thread::index_1d() as usize;
    c[i] = a[i] + b[i];
}
#[kernel] pub unsafe fn says(a: &[f32], y: *mut f32, n: usize) {
    assert_eq!(a.len(), n, \"not {n} elements\");
    let first: Result<&f32, usize> = a.first().ok_or(n);
    unsafe { *y = *first.unwrap() };
}
";

/// Returns the kernels' resources, sorted by name.
fn resources(builder: CudaBuilder) -> Vec<KernelResources> {
    let mut built = builder.build_all().expect("it builds");
    let report = built.swap_remove(0).resources;
    let path = report.expect("./setup.sh installs NVIDIA's PTX tools");
    let report = Report::from_json(&fs::read_to_string(path).expect("written")).expect("valid");
    let mut kernels = report.kernels;
    kernels.sort_by(|one, other| one.name.cmp(&other.name));
    kernels
}

#[test]
fn a_panic_that_tells_its_place_costs_few_registers_and_no_stack() {
    let folder = kernel_crate("fixture-panics", KERNELS);
    // Linked with libraries for all architectures, it would have a stack.
    let by_default = resources(build(&folder));
    let as_trap = resources(builder(&folder).panics(Panics::Trap));
    let with_message = resources(builder(&folder).panics(Panics::Message));
    assert_eq!(by_default.len(), 2);
    for ((place, trap), message) in by_default.iter().zip(&as_trap).zip(&with_message) {
        assert_eq!(place.stack_bytes, 0, "{place:?}");
        assert!(place.registers <= 16, "{place:?}");
        // Else there is nothing that is saved.
        assert!(message.stack_bytes > 500, "{message:?}");
        if place.name == "add" {
            assert!(place.registers <= trap.registers + 4, "{place:?}, {trap:?}");
        }
    }
}
