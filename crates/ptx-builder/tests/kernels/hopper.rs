//! Every instruction that ptx-std has for Hopper alone, as `ptxas` takes it. What they do is tested by `crates/gemm` and
//! `crates/material/conformance`, as far as it is.

use std::fs;

use ptx_builder::NvvmArch;
use ptx_builder::resources::Report;

use crate::support::{build, kernel_crate};

/// Kernels of what is documented for `sm_90` or older.
const KERNELS: &str = r#"
use cuda_std::cluster::{self, BlockRank};
use cuda_std::mbarrier::{self, Barrier, Parity};
use cuda_std::mma::{self, Plain, Transposed, load_matrices, store_matrices};
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};
use cuda_std::warpgroup::{self, NamedBarrier};
use cuda_std::wgmma::{Accumulator, E4m3, E5m2, Element, Instruction, KMajor, MnMajor, N8, N16, N32, N64, N96, N128, N192, N256,
    Previous, SharedOperand, Swizzle32, Swizzle64, Swizzle128, Tf32};
use cuda_std::grid_dependency;

fn shared<T>() -> SharedPtr<T> { SharedPtr::new(dynamic_shared_mem::<T>()) }
fn barrier() -> Barrier { unsafe { Barrier::at(shared()) } }

#[kernel] pub unsafe fn barriers(y: *mut u32) { unsafe {
    let barrier = barrier();
    barrier.init(3); mbarrier::fence_init(); thread::sync_threads();
    barrier.arrive(); barrier.arrive_expect(64); barrier.expect(32); barrier.arrive_at(BlockRank(1));
    *y = u32::from(barrier.test(Parity::ODD)); barrier.wait(Parity::EVEN); barrier.invalidate();
} }

macro_rules! copies { ($($name:ident $d:literal;)*) => {$(
    #[kernel] pub unsafe fn $name(map: &TensorMap) { unsafe {
        let corner = [1; $d];
        map.prefetch(); map.prefetch_box(corner);
        map.load(corner, shared::<u8>(), barrier());
        map.load_multicast(corner, shared::<u8>(), barrier(), 3);
        tma::fence_shared(); tma::fence_global();
        map.store(corner, shared::<u8>()); map.store_add(corner, shared::<u8>());
        tma::commit_group(); tma::wait_group_read::<1>(); tma::wait_group::<0>();
    } }
)*} }
copies! { copy_1d 1; copy_2d 2; copy_3d 3; copy_4d 4; copy_5d 5; }

#[kernel] pub unsafe fn bytes(x: *const u8, y: *mut u8) { unsafe {
    tma::load_bytes(x, shared(), 64, barrier()); tma::store_bytes(shared(), y, 64);
} }

#[kernel] pub unsafe fn clusters(y: *mut u32) { unsafe {
    cluster::arrive(); cluster::wait(); cluster::sync();
    let there = cluster::map_shared(dynamic_shared_mem::<u32>(), BlockRank(cluster::size() - 1));
    *y = *there + cluster::rank().0 + cluster::index_x() + cluster::count_x();
    grid_dependency::launch_dependents(); grid_dependency::wait();
} }

#[kernel(block = [256], min_blocks = 1)] pub unsafe fn groups(y: *mut u32) { unsafe {
    NamedBarrier::new(1, 256).arrive(); NamedBarrier::new(2 + warpgroup::index(), 128).sync();
    if warpgroup::elect() { *y = 1 }
} }

macro_rules! products { ($($name:ident $ty:ty, $sum:ty;)*) => {$(
    #[kernel] pub unsafe fn $name(y: *mut $sum) { unsafe {
        let (mut sums, p) = ([*y; 4], shared::<u16>());
        let a: [u32; 4] = load_matrices::<_, Plain, _>(p); let b: [u32; 2] = load_matrices::<_, Transposed, _>(p);
        mma::multiply::<$ty>(&mut sums, a, b);
        let one: [u32; 1] = load_matrices::<_, Plain, _>(p);
        store_matrices::<_, Plain, _>(p, a); store_matrices::<_, Transposed, _>(p, b); store_matrices::<_, Plain, _>(p, one);
        for i in 0..4 { *y.add(i) = sums[i]; }
    } }
)*} }
products! { mma_bf16 bf16, f32; mma_f16 f16, f32; mma_tf32 Tf32, f32; mma_s8 i8, i32; }

#[kernel] pub unsafe fn mma_f64(y: *mut f64) { unsafe {
    let mut sums = [*y, *y.add(1)];
    mma::multiply::<f64>(&mut sums, *y.add(2), *y.add(3)); *y = sums[0] + sums[1];
} }
"#;

/// Kernels of what `sm_90a` alone has.
const OF_SM_90A: &str = r#"
#[kernel(block = [256], min_blocks = 1)] pub unsafe fn parts(y: *mut u32) { unsafe {
    if warpgroup::index() == 0 { warpgroup::decrease_registers::<24>() } else { warpgroup::increase_registers::<240>() }
    if warpgroup::elect() { *y = 1 }
} }

#[kernel(block = [128], min_blocks = 1)] pub unsafe fn wgmma_in_order(y: *mut f32) { unsafe {
    let tile = KMajor::<bf16, Swizzle128>::new(shared::<bf16>().align_up(1024));
    let (mut first, mut second) = (Accumulator::<N64, f32>::zeroed(), Accumulator::<N64, f32>::zeroed());
    let (mut earlier, mut later) = (first.begin(), second.begin());
    earlier.open_group(); earlier.multiply::<bf16, _, _>(Previous::Discard, tile, tile); earlier.commit();
    later.open_group(); later.multiply::<bf16, _, _>(Previous::Discard, tile, tile); later.commit();
    earlier.finish_before::<1>();
    *y.add(thread::thread_idx_x() as usize) = first.values()[3];
    later.finish();
    *y.add(thread::thread_idx_x() as usize) += second.values()[3];
} }

macro_rules! widths { ($($name:ident $n:ident $ty:ty, $sum:ty, $tile:ty;)*) => {$(
    #[kernel(block = [128], min_blocks = 1)] pub unsafe fn $name(y: *mut $sum, a: u32) { unsafe {
        let tile = <$tile>::new(shared::<$ty>().align_up(1024));
        let mut sums = Accumulator::<$n, $sum>::zeroed();
        let mut in_flight = sums.begin();
        in_flight.open_group();
        in_flight.multiply::<$ty, _, _>(Previous::Discard, tile, tile.step::<0>());
        in_flight.multiply_registers::<$ty, _>(Previous::Keep, [a; 4], tile);
        in_flight.commit(); in_flight.wait_operands::<1>(); in_flight.finish();
        *y.add(thread::thread_idx_x() as usize) = sums.values()[3];
    } }
)*} }
widths! {
    wgmma_8 N8 bf16, f32, KMajor<bf16, Swizzle128>;
    wgmma_16 N16 f16, f32, KMajor<f16, Swizzle64>;
    wgmma_32 N32 Tf32, f32, KMajor<Tf32, Swizzle32>;
    wgmma_64 N64 E4m3, f32, KMajor<E4m3, Swizzle128>;
    wgmma_96 N96 E5m2, f32, KMajor<E5m2, Swizzle128>;
    wgmma_128 N128 i8, i32, KMajor<i8, Swizzle128>;
    wgmma_192 N192 f16, f32, MnMajor<f16, Swizzle128, 64>;
    wgmma_256 N256 bf16, f32, MnMajor<bf16, Swizzle64, 32>;
}
"#;

/// The report of kernels that `ptxas` takes for the architecture.
fn report(name: &str, kernels: &str, arch: NvvmArch) -> Report {
    let folder = kernel_crate(name, kernels);
    let built = build(&folder).arch(arch).build_all();
    let built = built.unwrap_or_else(|error| panic!("{error}"));
    let report = built[0].resources.as_ref();
    let report = report.expect("ptxas is there (./setup.sh) and takes the PTX");
    Report::from_json(&fs::read_to_string(report).expect("written")).expect("valid")
}

#[test]
fn ptxas_takes_every_instruction() {
    let all = format!("{KERNELS}{OF_SM_90A}");
    let report = report("fixture-hopper", &all, NvvmArch::Compute90a);
    assert_eq!(report.kernels.len(), 24);
    assert!(report.kernels.iter().all(|kernel| kernel.losses.is_empty()));
}

/// LLVM writes PTX 7.8 for it, which lacks `fence_init`, expected bytes and copies of boxes.
#[test]
fn what_is_documented_for_sm_90_is_assembled_for_sm_90() {
    let report = report("fixture-hopper-common", KERNELS, NvvmArch::Compute90);
    assert_eq!(report.kernels.len(), 14);
}
