//! Asynchronous copies, clocks, events and address spaces.

use crate::{entry, opcodes};

/// The kernels of this file.
pub(crate) const SOURCE: &str = "
#[kernel]
pub unsafe fn copies(shared: *mut [f32; 4], global: *const [f32; 4], out: *mut f32) {
    unsafe {
        cp_async_cg(shared, global);
        cp_async_ca(shared.add(1).cast::<f64>(), global.add(1).cast::<f64>());
        cp_async_commit_group();
        cp_async_ca(shared.add(2).cast::<f32>(), global.add(2).cast::<f32>());
        cp_async_commit_group();
        cp_async_wait_group::<1>();
        *out = (*shared)[3];
        cp_async_wait_all();
        *out.add(1) = (*shared)[3];
    }
}

#[kernel]
pub unsafe fn misc_and_spaces(p: *mut u64) {
    unsafe {
        *p = misc::clock();
        *p.add(1) = misc::globaltimer();
        misc::profiler_counter(5);
        misc::breakpoint();
        *p.add(2) = is_in_address_space(p, AddressSpace::Shared).into();
        let own = convert_generic_to_specific_address_space(p, AddressSpace::Constant);
        *p.add(3) = own.addr() as u64;
        let generic = convert_specific_address_space_to_generic(p, AddressSpace::Local);
        *p.add(4) = generic.addr() as u64;
    }
}

#[kernel]
pub unsafe fn halves(p: *mut u16, q: *mut f32) {
    unsafe {
        *q = f16::from_bits(*p).to_f32() + bf16::from_bits(*p.add(1)).to_f32();
        *p = f16::from_f32(*q.add(1)).to_bits();
        *p.add(1) = bf16::from_f32(*q.add(1)).to_bits();
    }
}

fn y_len(y: &[f32]) -> usize {
    y.len()
}

#[kernel]
pub unsafe fn lengths(x: &[f32], x_len: u32, y: &[f32], out: *mut f32) {
    unsafe { *out = x.len() as f32 + x_len as f32 + y_len(y) as f32 };
}
";

#[test]
fn a_slices_length_has_a_name_that_no_parameter_or_function_can_meet() {
    assert!(!entry("lengths").is_empty());
}

#[test]
fn copies_groups_and_waits_keep_their_order_with_the_loads() {
    let stems = ["cp.async", "ld.global", "ld.b32", "ld.f32"];
    let order = opcodes("copies", &stems);
    assert_eq!(
        order
            .iter()
            .map(|opcode| opcode.replace(".b32", ""))
            .collect::<Vec<_>>(),
        [
            "cp.async.cg.shared.global",
            "cp.async.ca.shared.global",
            "cp.async.commit_group",
            "cp.async.ca.shared.global",
            "cp.async.commit_group",
            "cp.async.wait_group",
            "ld.global",
            "cp.async.wait_all",
            "ld.global",
        ]
    );
}

#[test]
fn clocks_events_and_address_spaces_are_their_instructions() {
    let stems = [
        "pmevent",
        "brkpt",
        "isspacep",
        "cvta.to.const",
        "cvta.local",
    ];
    assert_eq!(
        opcodes("misc_and_spaces", &stems),
        [
            "pmevent",
            "brkpt",
            "isspacep.shared",
            "cvta.to.const.u64",
            "cvta.local.u64"
        ]
    );
    assert!(!entry("halves").is_empty());
}
