//! Kernels of CUDA C++, in Rust: `docs/cuda-to-rust.md` is made of this file and of
//! `examples/tests/dictionary/host.rs`.
//!
//! A line `// CUDA:` begins a row of the page, `// Note:` adds to it, and the code that follows, up to an empty line or a
//! comment, is its Rust. `//#` begins a table. The tests launch every kernel here and look at what it wrote.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the tests launch each kernel as it asks to be launched"
)]

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use cuda_std::async_copy::{cp_async_ca, cp_async_wait_all};
use cuda_std::atomic::Ordering;
use cuda_std::atomic::mid::*;
use cuda_std::cooperative::sync_grid;
use cuda_std::group::{self, Workspace};
use cuda_std::packed::F16x2;
use cuda_std::prelude::*;
use cuda_std::ptr::{AddressSpace, is_in_address_space};
use cuda_std::shared::{DynamicShared, dynamic_shared_mem};
use cuda_std::warp::*;
use cuda_std::{ApproxFloat, FloatExt, intrinsics, misc};

//# Functions and variables

/// `y = a x`.
// CUDA: `extern "C" __global__ void scale(const float *x, float *y, float a)`
// Note: The launch passes the lengths. Each thread reaches its own elements of an `Output`, so nothing is `unsafe`.
#[kernel]
pub fn scale(x: &[f32], mut y: Output<f32>, a: f32) {
    // CUDA: `int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i];`
    for (x, y) in y.own_with(x) {
        *y = a * x;
    }
}

/// `y = a x`.
///
/// # Safety
/// `y` has as many elements as `x`.
// CUDA: `__global__ void scale(const float *x, float *y, float a)` with plain pointers
#[kernel]
pub unsafe fn scale_by_pointer(x: &[f32], y: *mut f32, a: f32) {
    // CUDA: `for (int i = ..; i < n; i += gridDim.x * blockDim.x)`
    for i in thread::grid_stride(x.len()) {
        // CUDA: `y[i] = a * x[i];`
        unsafe { *y.add(i) = a * x[i] };
    }
}

/// Writes zeros.
// CUDA: `__global__ void __launch_bounds__(256, 4) clear(float *y)`
// Note: A launch of more threads is an error. `block = [16, 16]` allows one block alone.
#[kernel(max_threads = 256, min_blocks = 4)]
pub fn clear(mut y: Output<f32>) {
    y.own().for_each(|(_, y)| *y = 0.0);
}

/// Writes a value.
// CUDA: `template <typename T> __global__ void fill(T *y, T value)`
// Note: A kernel lists its instances, because each needs a name.
#[kernel(instances(fill_f32<f32>, fill_u64<u64>))]
pub fn fill<T: Copy + Send>(mut y: Output<T>, value: T) {
    y.own().for_each(|(_, y)| *y = value);
}

// CUDA: `__device__ float square(float x) { return x * x; }`
// Note: Any function; generic ones, closures and traits too.
fn square(x: f32) -> f32 {
    x * x
}

// CUDA: `__device__ __forceinline__`
#[inline(always)]
fn cube(x: f32) -> f32 {
    x * x * x
}

// CUDA: `__constant__ float WEIGHTS[3] = {1, 2, 4};`
#[address_space(constant)]
static WEIGHTS: [f32; 3] = [1.0, 2.0, 4.0];

// CUDA: `__device__ unsigned launches;`
static LAUNCHES: AtomicU32 = AtomicU32::new(0);

/// A product and a sum.
// CUDA: `struct Affine { float factor, offset; };` passed by value
#[derive(Clone, Copy, SafeValue)]
#[repr(C)]
pub struct Affine {
    /// Of the product.
    pub factor: f32,
    /// Of the sum.
    pub offset: f32,
}

/// Calls and reads what stands above.
#[kernel]
pub fn functions_and_variables(with: Affine, mut y: Output<[f32; 4]>) {
    for (i, y) in y.own() {
        // CUDA: `square(x)`, `__constant__` read
        let weighed = square(3.0) * WEIGHTS[i % 3];

        // CUDA: `atomicAdd(&launches, 1)` of a `__device__` variable
        unsafe { atomic_fetch_add_u32_device(LAUNCHES.as_ptr(), Ordering::Relaxed, 1) };

        *y = [
            weighed,
            cube(2.0),
            with.factor * 2.0 + with.offset,
            (LAUNCHES.load(Relaxed) > 0) as u32 as f32,
        ];
    }
}

//# Indices

/// Each thread's place.
#[kernel]
pub fn indices(mut out: Output<[u32; 12]>) {
    // CUDA: `threadIdx.x`
    let thread = thread::thread_idx_x();

    // CUDA: `blockIdx.y`
    let block = thread::block_idx_y();

    // CUDA: `blockDim.x`
    let threads = thread::block_dim_x();

    // CUDA: `gridDim.z`
    let blocks = thread::grid_dim_z();

    // CUDA: `uint3 t = threadIdx;`
    let all = thread::thread_idx();

    // CUDA: `blockIdx.x * blockDim.x + threadIdx.x`
    // Note: A `usize`, so it does not overflow at 2^31.
    let i = thread::global_index();

    // CUDA: `blockIdx.y * blockDim.y + threadIdx.y`, and the same of x
    // Note: A `UVec2`: `x` stands first in it, as in `threadIdx`.
    let (row, column) = (thread::index_2d().y, thread::index_2d().x);

    // CUDA: the same of x, y and z
    let voxel = thread::index_3d();

    // CUDA: the thread in a grid of any dimensions
    let linear = thread::linear_index();

    // CUDA: `warpSize`
    let lanes = thread::warp_size();

    // CUDA: `threadIdx.x % warpSize`, `%laneid`
    let lane = lane_id();

    let words = [
        thread,
        block,
        threads,
        blocks,
        all.z,
        i as u32,
        row,
        column,
        voxel.z,
        linear as u32,
        lanes,
        lane,
    ];
    out.own().for_each(|(_, out)| *out = words);
}

//# Shared memory and barriers

/// Fills shared memory in several ways, and reads it.
///
/// # Safety
/// A block of 64 threads with 256 bytes of dynamic shared memory; `out` has an element per thread.
#[kernel(block = [64], allow(panic_in_loop))]
pub unsafe fn shared_memory(x: &[f32], out: *mut [f32; 9]) {
    let t = thread::thread_idx_x() as usize;
    let i = thread::global_index();

    // CUDA: `__shared__ float tile[64];`
    let tile = shared_array![f32; 64];

    // CUDA: `extern __shared__ float dynamic[];`
    // Note: The launch gives the bytes: `with_dynamic_shared`.
    let dynamic: *mut f32 = dynamic_shared_mem();

    // CUDA: two arrays in one `extern __shared__`
    // Note: The emulator knows the parts, and finds accesses that leave one for the other.
    let mut parts = DynamicShared::new();
    let (first, second): (*mut f32, *mut u32) = (parts.take(32), parts.take(32));

    let all_parts = first == dynamic && !second.is_null();

    // CUDA: `tile[t] = x[i]; __syncthreads();`
    unsafe { *tile.add(t) = x[i] };
    thread::sync_threads();

    let turned = unsafe { *tile.add(63 - t) };

    // CUDA: `__syncthreads_count(p)`
    let count = thread::sync_threads_count((x[i] > 10.0).into());

    // CUDA: `__syncthreads_and(p)`, `__syncthreads_or(p)`
    let (all, any) = (
        thread::sync_threads_and(1),
        thread::sync_threads_or((t == 5).into()),
    );

    // CUDA: `__shared__` array that a block fills and then reads
    // Note: Without `unsafe`: two barriers are in `fill`, which all threads of the block reach.
    let mut safe = shared_tile![f32; 64];
    safe.fill(|i| x[i] + 1.0);

    // CUDA: `__syncwarp(mask)`
    unsafe { sync_warp(FULL_MASK) };

    // CUDA: `__pipeline_memcpy_async(&tile[t], &x[i], 4); __pipeline_wait_prior(0);`
    unsafe { cp_async_ca(tile.add(t), &x[i]) };
    cp_async_wait_all();

    thread::sync_threads();

    // CUDA: `__isShared(p)`
    let is_shared = unsafe { is_in_address_space(tile, AddressSpace::Shared) };

    let copied = unsafe { *tile.add((t + 1) % 64) };
    let told = [
        turned,
        count as f32,
        all as f32,
        any as f32,
        safe.get(63 - t),
        copied,
    ];
    let [a, b, c, d, e, f] = told;
    let local = STATIC.as_ptr() as *mut f32;
    unsafe {
        *local.add(t) = a;
        *out.add(i) = [
            a,
            b,
            c,
            d,
            e,
            f,
            is_shared as u32 as f32,
            all_parts as u32 as f32,
            *local.add(t),
        ];
    }
}

// CUDA: `__shared__` variable at file scope
// Note: The static stands for the memory, which has no initial value.
#[address_space(shared)]
static STATIC: MaybeUninit<[f32; 64]> = MaybeUninit::uninit();

/// Reads what other blocks wrote in front of a barrier of the grid.
///
/// # Safety
/// `out` has an element per thread of a cooperative launch; `arrivals` is 0.
#[kernel]
pub unsafe fn fences(values: *mut u32, arrivals: *mut u32, out: *mut u32) {
    let i = thread::global_index();
    unsafe { *values.add(i) = i as u32 };

    // CUDA: `__threadfence_block()`
    block_thread_fence(Ordering::SeqCst);

    // CUDA: `__threadfence()`
    thread::device_fence();

    // CUDA: `__threadfence_system()`
    thread::system_fence();

    // CUDA: `__nanosleep(100)`
    thread::nanosleep(100);

    // CUDA: `cg::this_grid().sync()`
    // Note: The launch is cooperative: `prepare_cooperative`. `arrivals` is a word that is 0.
    unsafe { sync_grid(arrivals) };

    let last = thread::grid_threads() - 1;
    unsafe { *out.add(i) = *values.add(last - i) };
}

//# Warps, blocks and grids

/// Exchanges values in each warp.
///
/// # Safety
/// Whole warps; `out` has an element per thread.
#[kernel]
pub unsafe fn warps(x: &[f32], out: *mut [f32; 15]) {
    let i = thread::global_index();
    let (v, lane) = (x[i], lane_id());

    // CUDA: `__shfl_sync(mask, v, 3)`
    let third = unsafe { warp_shuffle_idx(FULL_MASK, v, 3, 32) }.0;

    // CUDA: `__shfl_up_sync(mask, v, 1)`
    // Note: The flag says whether there was such a lane.
    let (before, _) = unsafe { warp_shuffle_up(FULL_MASK, v, 1, 32) };

    // CUDA: `__shfl_down_sync(mask, v, 1, 16)`
    let (after, is_there) = unsafe { warp_shuffle_down(FULL_MASK, v, 1, 16) };

    // CUDA: `__shfl_xor_sync(mask, v, 1)`
    let (other, _) = unsafe { warp_shuffle_xor(FULL_MASK, v, 1, 32) };

    // CUDA: `__all_sync(mask, p)`, `__any_sync(mask, p)`
    let votes = unsafe {
        (
            warp_vote_all(FULL_MASK, v >= 0.0),
            warp_vote_any(FULL_MASK, lane == 40),
        )
    };

    // CUDA: `__ballot_sync(mask, p)`
    let ballot = unsafe { warp_vote_ballot(FULL_MASK, lane < 4) };

    // CUDA: `__activemask()`
    let active = activemask();

    // CUDA: `__match_any_sync(mask, v)`
    let same = unsafe { warp_match_any(FULL_MASK, lane / 16) };

    // CUDA: `__match_all_sync(mask, v, &pred)`
    let equal = unsafe { warp_match_all(FULL_MASK, 7) }.is_some();

    // CUDA: `__reduce_add_sync(mask, n)`, `__reduce_min_sync`, `__reduce_max_sync` ..
    let sum = unsafe { warp_reduce(FULL_MASK, lane, WarpReductionOp::Add) };

    // CUDA: `for (d = 16; d; d /= 2) v += __shfl_xor_sync(~0u, v, d);`
    // Note: Floats and integers, partial warps, no `unsafe`; each lane has the result.
    let total = group::warp().sum(v);

    // CUDA: `cg::tiled_partition<32>(cg::this_thread_block())`
    let warp = group::warp();

    // CUDA: `cg::reduce(warp, v, cg::greater<float>())`
    let greatest = warp.max(v);

    // CUDA: `cg::inclusive_scan(warp, v)`, `cg::exclusive_scan(warp, v)`
    let scans = [warp.inclusive_sum(v), warp.exclusive_sum(v)];

    // CUDA: `warp.shfl(v, 2)`, `warp.ballot(p)`
    // Note: The mask is that of the lanes that the block has in this warp.
    let (second, low) = (warp.broadcast(v, 2), warp.ballot(lane < 3));

    // CUDA: `warp.any(p)`, `warp.all(p)`
    let (any, all) = (warp.any(lane == 31), warp.all(v >= 0.0));

    unsafe {
        *out.add(i) = [
            third,
            before,
            if is_there { after } else { -1.0 },
            other,
            (votes.0 && !votes.1) as u32 as f32,
            ballot as f32,
            (active >> lane & 1) as f32,
            same.count_ones() as f32,
            equal as u32 as f32,
            sum as f32,
            total,
            greatest,
            scans[0],
            scans[1],
            if any && all {
                second + low as f32
            } else {
                -1.0
            },
        ];
    }
}

/// Reductions and scans of a block, and of the grid, of which the last block to come knows the results.
#[kernel]
pub fn blocks(
    x: &[f32],
    sums: Workspace,
    places: Workspace,
    mut out: Output<[f32; 7]>,
    mut all: BlockOutput<f32>,
) {
    let v = x.get(thread::global_index()).copied().unwrap_or(0.0);

    // CUDA: `cub::BlockReduce<float, 256>(storage).Sum(v)`
    // Note: Shared memory and barriers are inside. All threads have the result; CUB's thread 0 alone.
    let sum = group::block().sum(v);

    // CUDA: `BlockReduce.Reduce(v, cub::Max())`, `cub::ArgMax()`
    let (greatest, place) = group::block().arg_max(v, thread::thread_idx_x());

    // CUDA: `cub::BlockScan<float, 256>(storage).ExclusiveSum(v, v)`
    let before = group::block().exclusive_sum(v);

    // CUDA: `BlockScan.InclusiveScan(v, v, op)`
    let running = group::block().scan(v, f32::max).through;

    // CUDA: `cg::this_thread_block()`, `.thread_rank()`, `.size()`, `.sync()`
    let block = group::block();
    let (rank, size) = (block.rank(), block.len());
    block.sync();

    // CUDA: `cub::DeviceReduce::Sum(storage, bytes, x, &sum, n)` in one launch
    // Note: In the block that comes last. The same grid gives the same bits.
    let of_grid = sums.sum(v);

    // CUDA: `cub::DeviceReduce::ArgMin` ..
    let least = places.arg_min(v, thread::global_index() as u32);

    out.own().for_each(|(_, out)| {
        *out = [
            sum,
            greatest,
            place as f32,
            before,
            running,
            rank as f32,
            size as f32,
        ];
    });
    for mut row in all.own_rows() {
        for (column, all) in row.own() {
            let told = match column {
                0 => of_grid,
                _ => least.map(|(_, place)| place as f32),
            };
            *all = told.unwrap_or(-1.0);
        }
    }
}

/// The sums before each thread of the grid.
#[kernel]
pub fn scan_of_the_grid(x: &[f32], workspace: Workspace, mut y: Output<f32>) {
    let v = x.get(thread::global_index()).copied().unwrap_or(0.0);

    // CUDA: `cub::DeviceScan::ExclusiveSum(storage, bytes, x, y, n)` in one cooperative launch
    let before = workspace.exclusive_sum(v);

    y.own().for_each(|(_, y)| *y = before);
}

/// Writes arrays of several dimensions, each thread its own elements.
#[kernel]
pub fn dimensions(
    // CUDA: `float *y` of rows x columns, indexed by `y[row * columns + column]`
    // Note: `Output2<f32, 4, 4>` gives each thread tiles of 4 x 4.
    mut plane: Output2<f32>,
    // CUDA: `float *y` of planes x rows x columns
    mut volume: Output3<f32>,
    // CUDA: `float *y` by rows, a warp for each
    mut by_warps: WarpOutput<f32>,
    // CUDA: `float *y` by rows, a block for each; `y[blockIdx.x]` is one column
    mut by_blocks: BlockOutput<f32>,
) {
    // CUDA: `if (row < rows && column < columns) y[row * columns + column] = ..`
    for ([row, column], y) in plane.own() {
        *y = (10 * row + column) as f32;
    }
    // CUDA: the same with `plane`, `row` and `column`
    for ([plane, row, column], y) in volume.own() {
        *y = (100 * plane + 10 * row + column) as f32;
    }
    // CUDA: `for (row = warp; row < rows; row += warps) for (i = lane; i < columns; i += 32)`
    for mut row in by_warps.own_rows() {
        let number = row.row();
        row.own()
            .for_each(|(column, y)| *y = (10 * number + column) as f32);
    }
    // CUDA: `if (threadIdx.x == 0) sums[blockIdx.x] = sum;`
    for mut row in by_blocks.own_rows() {
        let sum = group::block().sum(group::block().rank() as f32);
        row.own_element().into_iter().for_each(|(_, y)| *y = sum);
    }
}

//# Atomics

/// Changes each word in another way.
///
/// # Safety
/// `words` has eight elements, `counts` one for each block, and the others point to one each; nothing else reaches any of them.
#[kernel]
pub unsafe fn atomics(
    words: *mut u32,
    counts: *mut u32,
    floats: *mut f32,
    double: *mut f64,
    flag: *mut u32,
    seen: *mut u32,
) {
    let i = thread::global_index() as u32;
    let block = thread::block_idx_x() as usize;
    unsafe {
        // CUDA: `atomicAdd(&n, 2u)`
        // Note: Scope and order are said: `device`, `Relaxed`. CUDA's functions are relaxed, too.
        atomic_fetch_add_u32_device(words, Ordering::Relaxed, 2);

        // CUDA: `atomicAdd_block(&counts[blockIdx.x], 1u)`
        atomic_fetch_add_u32_block(counts.add(block), Ordering::Relaxed, 1);

        // CUDA: `atomicAdd_system(&n, 1u)`
        atomic_fetch_add_u32_system(words.add(2), Ordering::Relaxed, 1);

        // CUDA: `atomicAdd(&f, 0.5f)`
        atomic_fetch_add_f32_device(floats, Ordering::Relaxed, 0.5);

        // CUDA: `atomicAdd(&d, 0.5)`
        atomic_fetch_add_f64_device(double, Ordering::Relaxed, 0.5);

        // CUDA: `atomicSub(&n, 1u)`
        atomic_fetch_sub_u32_device(words.add(3), Ordering::Relaxed, 1);

        // CUDA: `atomicMax(&n, i)`, `atomicMin`
        atomic_fetch_max_u32_device(words.add(4), Ordering::Relaxed, i);

        // CUDA: `atomicOr(&n, 1u << i)`, `atomicAnd`, `atomicXor`
        atomic_fetch_or_u32_device(words.add(5), Ordering::Relaxed, 1 << (i % 32));

        // CUDA: `atomicExch(&n, 7u)`
        atomic_fetch_exch_u32_device(words.add(6), Ordering::Relaxed, 7);

        // CUDA: `atomicInc(&n, 9u)`, `atomicDec`
        atomic_fetch_inc_u32_device(words.add(7), Ordering::Relaxed, 9);

        // CUDA: `atomicCAS(&n, 0u, i + 1)`
        atomic_compare_and_swap_u32_device(seen, 0, i + 1, Ordering::Relaxed);

        // CUDA: `cuda::atomic_ref<unsigned, cuda::thread_scope_device>(n).store(1, cuda::memory_order_release)`
        atomic_store_32_device(flag, Ordering::Release, 1);

        // CUDA: the same, `.load(cuda::memory_order_acquire)`
        let seen_flag = atomic_load_32_device(flag, Ordering::Acquire);

        assert!(seen_flag == 1);
    }
}

/// How often each byte occurs.
#[kernel(allow(panic_in_loop))]
pub fn histogram_of_bytes(
    // CUDA: `unsigned *counts`, which the kernel changes by atomics alone
    // Note: Without `unsafe`. The launch lends `counts.slice_mut(..).into_atomics()`. `&[AtomicF32]` is of `float`.
    counts: &[AtomicU32],
    // Each is the index of an element of `counts`.
    bytes: &[u8],
) {
    for i in thread::grid_stride(bytes.len()) {
        // CUDA: `atomicAdd(&counts[bytes[i]], 1)`
        counts[usize::from(bytes[i])].fetch_add(1, Relaxed);
    }
}

//# Memory

/// Moves four elements per thread.
///
/// # Safety
/// `y` has as many elements as `x`, a multiple of 4 that are aligned to 16 bytes, one per thread.
#[kernel(allow(local_memory))]
pub unsafe fn memory(x: &[f32], y: *mut f32) {
    let i = 4 * thread::global_index();
    if i >= x.len() {
        return;
    }

    // CUDA: `float4 v = *(const float4 *)(x + i);`
    let v: [f32; 4] = unsafe { vector::load(x.as_ptr().add(i)) };

    // CUDA: `__ldg(x + i)`, `const float *__restrict__ x`
    // Note: Nobody writes what a kernel has a `&` of, which the compiler and the emulator know.
    let first = x[i];

    // CUDA: `float local[4];`
    let mut local = [0.0f32; 4];

    // CUDA: `#pragma unroll`
    // Note: The index is a constant, so the array stays in registers.
    cuda_std::unroll!(J in 0..4 => { local[J] = v[J] + first; });

    // CUDA: `int *p = new int(5); .. delete p;`
    let boxed = Box::new(5.0f32);

    local[3] += *boxed;

    // CUDA: `*(float4 *)(y + i) = v;`
    unsafe { vector::store(y.add(i), local) };
}

//# Arithmetic

/// Each thread computes the same.
#[kernel]
pub fn arithmetic(x: f32, n: u32, mut out: Output<[f32; 26]>) {
    // CUDA: `__fmaf_rn(x, x, 1.0f)`, `fmaf`
    // Note: Always one instruction. `a * b + c` becomes one by the builder's `fma_contraction`, which is on as nvcc's.
    let fused = x.mul_add(x, 1.0);

    // CUDA: `__fadd_rd(x, -1e-9f)`, `__fmul_rz`, `__fdiv_ru` ..
    let down = unsafe { intrinsics::fadd_rd(x, -1e-9) };

    // CUDA: `sqrtf(x)`
    let root = x.sqrt();

    // CUDA: `rsqrtf(x)`
    let reciprocal_root = x.fast_rsqrt();

    // CUDA: `expf(x)`, `logf`, `sinf`, `powf` ..
    // Note: The same bits on the emulator and on a GPU: [Mathematics](mathematics.md).
    let exponential = GpuFloat::exp(x);

    // CUDA: `__expf(x)`, `__logf`, `__sinf` ..
    let approximate = x.fast_exp();

    // CUDA: `sincosf(x, &s, &c)`
    let (sine, cosine) = GpuFloat::sin_cos(x);

    // CUDA: `erff(x)`, `tgammaf`, `j0f` ..
    let error_function = x.error_function();

    // CUDA: `fminf(x, 1.0f)`, `fmaxf`
    let least = x.min(1.0);

    // CUDA: `rintf(x)`, `floorf`, `truncf`
    let rounded = x.round_ties_even();

    // CUDA: `isnan(x)`
    let is_nan = x.is_nan();

    // CUDA: `__float_as_uint(x)`
    let bits = x.to_bits();

    // CUDA: `__uint_as_float(n)`
    let float = f32::from_bits(bits);

    // CUDA: `(int)x`
    // Note: Saturates, and a NaN is 0, as the instruction does it.
    let integer = x as i32;

    // CUDA: `__float2int_rn(x)`
    let nearest = unsafe { intrinsics::float2int_rn(x) };

    // CUDA: `__popc(n)`
    let ones = n.count_ones();

    // CUDA: `__clz(n)`
    let zeros = n.leading_zeros();

    // CUDA: `__ffs(n)`
    let first_set = if n == 0 { 0 } else { n.trailing_zeros() + 1 };

    // CUDA: `__brev(n)`
    let reversed = n.reverse_bits();

    // CUDA: `__funnelshift_l(n, n, 4)`
    let rotated = n.rotate_left(4);

    // CUDA: `__umulhi(n, n)`
    let high = ((u64::from(n) * u64::from(n)) >> 32) as u32;

    // CUDA: `__byte_perm(n, 0, 0x0123)`
    let swapped = n.swap_bytes();

    // CUDA: `unsigned` that wraps: `n + 0xffffffffu`
    let wrapped = n.wrapping_add(u32::MAX);

    // CUDA: `__half h = __float2half(x); __half2float(h)`
    let half = f16::from_f32(x).to_f32();

    // CUDA: `__nv_bfloat16 b = __float2bfloat16(x)`
    let brain = bf16::from_f32(x).to_f32();

    // CUDA: `__half2 p = __floats2half2_rn(x, 1.0f); __hfma2(p, p, p)`
    let pair = F16x2::from_f32(x, 1.0);
    let pair = pair.mul_add(pair, pair).to_f32s();

    let told = [
        fused,
        down,
        root,
        reciprocal_root,
        exponential,
        approximate,
        sine,
        cosine,
        error_function,
        least,
        rounded,
        is_nan as u32 as f32,
        float,
        integer as f32,
        nearest as f32,
        ones as f32,
        zeros as f32,
        first_set as f32,
        reversed as f32,
        rotated as f32,
        high as f32,
        swapped as f32,
        wrapped as f32,
        half,
        brain,
        pair.1,
    ];
    out.own().for_each(|(_, out)| *out = told);
}

//# Debugging and the machine

/// Of the first thread.
#[kernel(allow(local_memory, panic_in_loop))]
pub fn debugging(x: &[f32], mut out: Output<[u64; 3]>) {
    // CUDA: `long long start = clock64();`
    let start = misc::clock();

    // CUDA: `assert(n > 0);`
    // Note: It stays in release builds; `debug_assert!` does not.
    assert!(!x.is_empty());

    // CUDA: `printf("%d elements\n", n);`
    if thread::first() {
        println!("{} elements", x.len());
    }

    // CUDA: `%globaltimer`
    let now = misc::globaltimer();

    // CUDA: `%smid`
    let multiprocessor = thread::multiprocessor();

    // CUDA: `asm("mov.u32 %0, %%laneid;" : "=r"(lane));`
    let lane = lane_by_assembly();

    let cycles = misc::clock() - start;
    out.own().for_each(|(_, out)| {
        *out = [
            cycles,
            (now > 0) as u64 + u64::from(multiprocessor > 1000),
            lane.into(),
        ]
    });
}

// CUDA: a `__device__` function with `asm`
// Note: The host can compile it, and never calls it.
#[gpu_only]
fn lane_by_assembly() -> u32 {
    let lane: u32;
    unsafe { core::arch::asm!("mov.u32 {}, %laneid;", out(reg32) lane) };
    lane
}
