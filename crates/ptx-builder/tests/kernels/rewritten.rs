//! Changes of the builder to the PTX of real kernels, seen in the machine code.

use std::fs;

use crate::machine_code;
use crate::support::{build, kernel_crate};

/// Addresses of shared memory, taken as ptx-std takes them.
const SHARED: &str = r#"
use core::arch::asm;
#[inline(always)]
fn tile<T, const UID: usize, const N: usize>() -> *mut T {
    let pointer: *mut T;
    unsafe { asm!("mov.u64 {p}, __shared_fixture_{uid}__{align}_{size}; cvta.shared.u64 {p}, {p};",
        p = out(reg64) pointer, uid = const { UID }, align = const { align_of::<T>() },
        size = const { size_of::<T>() * N }, options(pure, nomem, nostack)) };
    pointer
}
#[inline(always)]
fn dynamic<T>() -> *mut T {
    let pointer: *mut T;
    unsafe { asm!("mov.u64 {p}, __dynamic_shared; cvta.shared.u64 {p}, {p};",
        p = out(reg64) pointer, options(pure, nomem, nostack)) };
    pointer
}
"#;

/// Builds, and returns the PTX and its machine code.
fn built(name: &str, kernels: &str) -> (String, String) {
    let folder = kernel_crate(name, &format!("{SHARED}{kernels}"));
    let path = build(&folder).build().expect("it builds");
    let code = machine_code::of(&path);
    (fs::read_to_string(path).expect("written"), code)
}

/// Asserts that the kernel has these accesses and no other.
fn assert_accesses(code: &str, kernel: &str, expected: &[&str]) {
    assert_eq!(
        machine_code::accesses(code, kernel),
        expected,
        "{kernel}:\n{code}"
    );
}

#[test]
fn values_of_1_to_16_bytes_are_loaded_and_stored_as_shared() {
    let kernels = r#"
macro_rules! reverse { ($($name:ident: $ty:ty,)*) => {$(
    #[kernel]
    pub unsafe fn $name(x: *const $ty, y: *mut $ty) {
        let (tile, t) = (tile::<$ty, 1, 256>(), thread::thread_idx_x() as usize);
        unsafe { tile.add(t).write(*x.add(t)) };
        thread::sync_threads();
        unsafe { *y.add(t) = *tile.add(255 - t) };
    }
)*} }
reverse! { one: u8, two: u16, four: f32, eight: f64, sixteen: u128, }
"#;
    let (ptx, code) = built("fixture-widths", kernels);
    assert!(!ptx.contains("cvta.shared"), "{ptx}");
    for (kernel, suffix) in [
        ("one", ".U8"),
        ("two", ".U16"),
        ("four", ""),
        ("eight", ".64"),
        ("sixteen", ".128"),
    ] {
        let accesses = machine_code::accesses(&code, kernel);
        let load = format!("LDS{suffix}");
        assert!(accesses.contains(&load), "{kernel}: {accesses:?}");
        for access in &accesses {
            let of_a_space = ["LDS", "STS", "LDC", "LDG.E", "STG.E"];
            let known = of_a_space.iter().any(|one| access.starts_with(one));
            assert!(known, "{kernel}: {access} in {accesses:?}");
        }
    }
}

#[test]
fn a_tile_inlined_into_two_kernels_and_an_unrolled_loop_is_shared_in_both() {
    let kernels = r#"
#[inline(always)]
unsafe fn sum(x: *const f32, y: *mut f32, n: usize) {
    let (tile, t) = (tile::<f32, 1, 1024>(), thread::thread_idx_x() as usize);
    let mut sum = 0.0;
    for i in 0..n {
        unsafe { *tile.add(t) = *x.add(t + i * 1024) };
        thread::sync_threads();
        for j in 0..16 { sum += unsafe { *tile.add((j * 16 + t) & 1023) }; }
        thread::sync_threads();
    }
    unsafe { *y.add(t) = sum };
}
#[kernel] pub unsafe fn once(x: *const f32, y: *mut f32, n: usize) { unsafe { sum(x, y, n) } }
#[kernel] pub unsafe fn twice(x: *const f32, y: *mut f32, n: usize) {
    unsafe { sum(x, y, n); sum(x, y.add(1024), n) }
}
"#;
    let (ptx, code) = built("fixture-unrolled", kernels);
    let declaration = ".shared .align 4 .b8 __shared_fixture_1__4_4096[4096];";
    assert_eq!(ptx.matches(declaration).count(), 1, "{ptx}");
    for kernel in ["once", "twice"] {
        assert_accesses(
            &code,
            kernel,
            &["LDC", "LDC.64", "LDG.E", "LDS", "STG.E", "STS"],
        );
    }
}

#[test]
fn atomics_and_volatile_accesses_are_shared() {
    let kernels = r#"
use core::sync::atomic::{AtomicU32, Ordering};
// The order that Rust before 1.99 drops is not what this is about.
#[kernel(allow(unordered_atomic))]
pub unsafe fn count(y: *mut u32, n: u32) {
    let tile = tile::<u32, 1, 64>();
    let counter = unsafe { AtomicU32::from_ptr(tile) };
    let old = counter.fetch_add(n, Ordering::Relaxed);
    counter.fetch_max(old, Ordering::AcqRel);
    let swapped = counter.compare_exchange(1, 2, Ordering::SeqCst, Ordering::Relaxed);
    counter.store(7, Ordering::Release);
    unsafe { tile.add(1).write_volatile(9) };
    unsafe { *y = counter.load(Ordering::Acquire) + swapped.unwrap_or(9) };
}
"#;
    let (ptx, code) = built("fixture-atomics", kernels);
    assert!(!ptx.contains("cvta.shared"), "{ptx}");
    let accesses = machine_code::accesses(&code, "count");
    assert!(
        accesses.iter().any(|one| one.starts_with("ATOMS")),
        "{accesses:?}"
    );
    for generic in ["LD", "ST", "ATOM", "LD.", "ST.", "ATOM."] {
        let found = accesses
            .iter()
            .any(|one| one == generic || (generic.ends_with('.') && one.starts_with(generic)));
        assert!(!found, "{generic}: {accesses:?}");
    }
}

#[test]
fn an_address_that_leaves_the_kernel_is_generic_and_the_rest_is_not() {
    let kernels = r#"
#[inline(never)]
fn read(pointer: *const f32) -> f32 { unsafe { *pointer.add(thread::thread_idx_x() as usize) } }
#[kernel]
pub unsafe fn lends(y: *mut f32, z: *mut *mut f32, n: usize) {
    let tile = dynamic::<f32>();
    unsafe { *tile.add(n) = 1.0 };
    thread::sync_threads();
    unsafe { *y = read(tile) + read(tile.add(n)) + *tile.add(2 * n) };
    unsafe { *z = tile };
}
"#;
    let (ptx, _) = built("fixture-lends", kernels);
    assert!(
        ptx.contains(".extern .shared .align 128 .b8 __dynamic_shared[];"),
        "{ptx}"
    );
    let (_, entry) = ptx.split_once(".entry lends(").expect("the kernel");
    for part in [
        "cvta.shared.u64 %ptxstd_g2",
        "st.shared.b32",
        "ld.shared.b32",
    ] {
        assert!(entry.contains(part), "{part:?} is not in:\n{entry}");
    }
    assert!(
        !entry.contains("\tst.b32") && !entry.contains("\tld.b32"),
        "{entry}"
    );
}

#[test]
fn a_slice_of_dynamic_shared_memory_is_shared_through_its_iterators() {
    let kernels = r#"
#[kernel]
pub unsafe fn smooth(y: *mut f32, n: usize) {
    let tile = unsafe { core::slice::from_raw_parts(dynamic::<f32>(), n) };
    for (i, v) in tile.iter().enumerate() {
        if *v > 0.0 { unsafe { *y.add(i) = *v * 2.0 }; }
    }
    unsafe { *y = tile.windows(2).map(|pair| pair[0] * pair[1]).sum::<f32>() };
}
"#;
    let (_, code) = built("fixture-slices", kernels);
    assert_accesses(&code, "smooth", &["LDC", "LDC.64", "LDS", "STG.E"]);
}

#[test]
fn a_constant_is_declared_and_read_as_constant_memory() {
    let kernels = r#"
#[unsafe(export_name = "__constant__TABLE")] #[used]
static TABLE: [f32; 4] = [1.0, 2.0, 3.0, 5.0];
#[kernel]
pub unsafe fn look_up(y: *mut f32, n: usize) {
    let table: *const f32;
    unsafe { asm!("mov.u64 {p}, __constant__TABLE; cvta.const.u64 {p}, {p};",
        p = out(reg64) table, options(pure, nomem, nostack)) };
    let t = thread::thread_idx_x() as usize;
    unsafe { *y.add(t) = *table.add((t + n) % 4) };
}
"#;
    let (ptx, code) = built("fixture-constant", kernels);
    assert!(
        ptx.contains(".visible .const .align 4 .b8 TABLE[16]"),
        "{ptx}"
    );
    assert!(!ptx.contains("__constant__"), "{ptx}");
    assert_accesses(&code, "look_up", &["LDC", "LDC.64", "STG.E"]);
}

#[test]
fn launch_bounds_are_written_as_described() {
    let kernel = r#"
core::arch::global_asm!("// ptx-std kernel bounded file=src/lib.rs line=5 params=8,8,8 max_threads=256 min_blocks=4 block=0,0,0 allow=");
#[kernel] pub unsafe fn bounded(x: &[f32], y: *mut f32) { unsafe { *y = x.len() as f32 } }
"#;
    let (ptx, _) = built("fixture-bounded", kernel);
    assert!(
        ptx.contains(")\n.maxntid 256, 1, 1\n.minnctapersm 4\n{"),
        "{ptx}"
    );
}
