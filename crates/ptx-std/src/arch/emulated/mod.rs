//! The host's answers: what the emulator has set for the thread that runs.

pub(crate) mod async_copy;
pub(crate) mod atomic;
pub(crate) mod float;
pub(crate) mod intrinsics;
pub(crate) mod misc;
pub(crate) mod packed;
pub(crate) mod ptr;

use core::any::type_name;
use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::emulation::{
    Coordinates, Exchange, Operation, SharedArray, Tally, WARP_SIZE, coordinates, with_current,
};
use crate::warp::WarpShuffleMode;

macro_rules! special_registers {
    ($($name:ident = $field:ident[$axis:literal];)*) => {$(
        #[inline]
        pub(crate) fn $name() -> u32 {
            coordinates(|own| own.$field[$axis])
        }
    )*};
}

special_registers! {
    thread_idx_x = thread_idx[0];
    thread_idx_y = thread_idx[1];
    thread_idx_z = thread_idx[2];
    block_idx_x = block_idx[0];
    block_idx_y = block_idx[1];
    block_idx_z = block_idx[2];
    block_dim_x = block_dim[0];
    block_dim_y = block_dim[1];
    block_dim_z = block_dim[2];
    grid_dim_x = grid_dim[0];
    grid_dim_y = grid_dim[1];
    grid_dim_z = grid_dim[2];
}

#[inline]
pub(crate) fn opaque(value: u32) -> u32 {
    value
}

#[inline]
pub(crate) fn not_before(value: u32) -> u32 {
    value
}

#[inline]
pub(crate) fn multiply_add_wide(a: u32, b: u32, c: usize) -> usize {
    (a as usize * b as usize).wrapping_add(c)
}

pub(crate) fn multiprocessor() -> u32 {
    0
}

/// Panics where an address is not aligned as the instruction needs it.
#[inline]
#[track_caller]
pub(crate) fn expect_aligned<T>(pointer: *const T, alignment: usize) {
    assert!(
        pointer.addr().is_multiple_of(alignment),
        "an access to {pointer:p}, which is no multiple of {alignment} bytes"
    );
}

pub(crate) fn lane_id() -> u32 {
    coordinates(Coordinates::lane)
}

#[track_caller]
fn barrier(predicate: bool) -> Tally {
    let place = Location::caller();
    with_current(|lane| lane.hooks.sync_threads(predicate, place))
}

#[track_caller]
pub(crate) fn sync_threads() {
    barrier(false);
}

#[track_caller]
pub(crate) fn sync_threads_count(predicate: bool) -> u32 {
    barrier(predicate).in_favour
}

#[track_caller]
pub(crate) fn sync_threads_and(predicate: bool) -> bool {
    let tally = barrier(predicate);
    tally.in_favour == tally.threads
}

#[track_caller]
pub(crate) fn sync_threads_or(predicate: bool) -> bool {
    barrier(predicate).in_favour > 0
}

pub(crate) fn device_fence() {
    atomic::device::fence(Ordering::SeqCst);
}

pub(crate) use device_fence as system_fence;

#[track_caller]
pub(crate) fn nanosleep(nanoseconds: u32) {
    let place = Location::caller();
    with_current(|lane| {
        lane.fuel
            .set(lane.hooks.give_way(nanoseconds.max(64), place))
    });
}

#[track_caller]
pub(crate) fn activemask() -> u32 {
    let place = Location::caller();
    with_current(|lane| lane.hooks.active_mask(place))
}

/// Returns what the lanes of `mask` brought that have not ended, 0 for the others.
#[track_caller]
fn exchange(operation: Operation, mask: u32, value: u64) -> Exchange {
    meet(operation, mask, value, Location::caller())
}

fn meet(
    operation: Operation,
    mask: u32,
    value: u64,
    place: &'static Location<'static>,
) -> Exchange {
    let lane = lane_id();
    assert!(
        mask >> lane & 1 == 1,
        "lane {lane} comes to a {operation:?} with the mask {mask:#010x}, which does not name it, \
         at {place}"
    );
    with_current(|lane| lane.hooks.exchange(operation, mask, value, place))
}

/// The lanes that came with this value.
fn lanes_with(exchange: &Exchange, value: u64) -> u32 {
    (0..WARP_SIZE)
        .filter(|&lane| exchange.lanes >> lane & 1 == 1 && exchange.values[lane as usize] == value)
        .fold(0, |lanes, lane| lanes | 1 << lane)
}

#[track_caller]
pub(crate) fn sync_warp(mask: u32) {
    exchange(Operation::Sync, mask, 0);
}

#[track_caller]
pub(crate) fn vote_ballot(mask: u32, predicate: bool) -> u32 {
    lanes_with(&exchange(Operation::Vote, mask, predicate.into()), 1)
}

#[track_caller]
pub(crate) fn vote_all(mask: u32, predicate: bool) -> bool {
    let votes = exchange(Operation::Vote, mask, predicate.into());
    lanes_with(&votes, 1) == votes.lanes
}

#[track_caller]
pub(crate) fn vote_any(mask: u32, predicate: bool) -> bool {
    vote_ballot(mask, predicate) != 0
}

#[track_caller]
pub(crate) fn match_any_32(mask: u32, value: u32) -> u32 {
    match_any_64(mask, value.into())
}

#[track_caller]
pub(crate) fn match_any_64(mask: u32, value: u64) -> u32 {
    lanes_with(&exchange(Operation::Match, mask, value), value)
}

pub(crate) fn shuffle(
    source: WarpShuffleMode,
    mask: u32,
    value: u32,
    n: u32,
    clamp: u32,
    place: &'static Location<'static>,
) -> u32 {
    let exchange = meet(Operation::Shuffle, mask, value.into(), place);
    let lane = lane_id();
    let read = lane_read(source, lane, n, clamp);
    assert!(
        mask >> read & 1 == 1,
        "lane {lane} shuffles from lane {read}, which its mask {mask:#010x} does not name, at {place}"
    );
    assert!(
        exchange.lanes >> read & 1 == 1,
        "lane {lane} shuffles from lane {read}, which has left, at {place}"
    );
    exchange.values[read as usize & 31] as u32
}

/// The lane that a lane reads by the rule of PTX's `shfl.sync` (PTX ISA, "Data Movement and
/// Conversion Instructions").
#[inline]
fn lane_read(source: WarpShuffleMode, lane: u32, n: u32, clamp: u32) -> u32 {
    let segments = clamp >> 8 & 31;
    let limit = clamp & 31;
    let (n, max_lane, min_lane) = (n & 31, lane & segments | limit & !segments, lane & segments);
    let (read, in_segment) = match source {
        WarpShuffleMode::Down => (lane + n, lane + n <= max_lane),
        WarpShuffleMode::Up => (
            lane.wrapping_sub(n),
            lane as i32 - n as i32 >= max_lane as i32,
        ),
        WarpShuffleMode::Idx => (
            min_lane | n & !segments,
            min_lane | n & !segments <= max_lane,
        ),
        WarpShuffleMode::Xor => (lane ^ n, lane ^ n <= max_lane),
    };
    if in_segment { read } else { lane }
}

macro_rules! reductions {
    ($($name:ident: $ty:ty = $combine:expr;)*) => {$(
        #[track_caller]
        pub(crate) fn $name(mask: u32, value: $ty) -> $ty {
            let exchange = exchange(Operation::Reduce, mask, u64::from(value as u32));
            (0..WARP_SIZE)
                .filter(|&lane| exchange.lanes >> lane & 1 == 1)
                .map(|lane| exchange.values[lane as usize] as u32 as $ty)
                .reduce($combine)
                .unwrap_or(value)
        }
    )*};
}

reductions! {
    reduce_add: u32 = u32::wrapping_add;
    reduce_min_u32: u32 = u32::min;
    reduce_max_u32: u32 = u32::max;
    reduce_min_i32: i32 = i32::min;
    reduce_max_i32: i32 = i32::max;
    reduce_and: u32 = |a, b| a & b;
    reduce_or: u32 = |a, b| a | b;
    reduce_xor: u32 = |a, b| a ^ b;
}

pub(crate) fn shared_array<T, const N: usize, const SITE: u64>() -> *mut T {
    let array = SharedArray {
        site: SITE,
        element: type_name::<T>(),
        element_bytes: size_of::<T>(),
        len: N,
    };
    with_current(|lane| lane.hooks.shared_array(array).cast())
}

/// # Safety
/// `words` points to four of them.
pub(crate) unsafe fn load_four(words: *const AtomicU32) -> [u32; 4] {
    // SAFETY: the caller's.
    core::array::from_fn(|i| unsafe { &*words.add(i) }.load(Ordering::Relaxed))
}

pub(crate) fn dynamic_shared() -> *mut u8 {
    with_current(|lane| lane.hooks.dynamic_shared().0)
}

pub(crate) fn shared_part(part: *mut u8, _number: u32, _bytes: u32, _element: u32) -> *mut u8 {
    part
}

pub(crate) fn dynamic_smem_size() -> u32 {
    with_current(|lane| lane.hooks.dynamic_shared().1 as u32)
}

pub(crate) fn total_smem_size() -> u32 {
    with_current(|lane| lane.hooks.shared_bytes() as u32)
}

/// Prints text that ends with a 0 byte.
pub(crate) fn print(text: &[u8]) {
    let text = std::string::String::from_utf8_lossy(&text[..text.len() - 1]);
    with_current(|lane| lane.hooks.print(&text));
}
