//! The bugs.

use planted_kernels::{
    atomics, bounds, copies, correct, divergence, elsewhere, global, heap, local, parts, progress,
    shared, streams, uninitialised,
};

use planted_hopper_kernels::{clusters, loads, products, rings, stores};

use crate::Before::{Nothing, Zeros};
use crate::{Bug, Correct, Launch, Needs};

macro_rules! bugs {
    ($($module:ident::$name:ident / $fixed:ident: $shape:expr $(; $streams:literal streams)? $(; $needs:ident $($blocks:literal blocks)?)?,
        $n:expr, $y:expr $(; lent $lent:literal)? $(; times $times:literal)?, $report:expr;)*) => {
        /// All of them.
        pub const BUGS: &[Bug] = &[$(Bug {
            name: stringify!($name),
            kernel: || $module::$name::entry().with_signature(),
            fixed: || $module::$fixed::entry().with_signature(),
            launch: Launch {
                needs: [$(Needs::$needs,)? Needs::Any][0],
                shape: $shape,
                cluster: [$($($blocks,)?)? 1][0],
                streams: [$($streams,)? 1][0],
                times: [$($times,)? 1][0],
                n: $n,
                y: $y,
                lent: [$($lent,)? usize::MAX][0],
            },
            report: $report,
        }),*];
    };
}

macro_rules! correct {
    ($($name:ident: $shape:expr, $n:expr, $y:expr;)*) => {
        /// Kernels in which there is nothing to find.
        pub const CORRECT: &[Correct] = &[$(Correct {
            name: stringify!($name),
            kernel: || correct::$name::entry().with_signature(),
            launch: Launch {
                needs: Needs::Any,
                shape: $shape,
                cluster: 1,
                streams: 1,
                times: 1,
                n: $n,
                y: $y,
                lent: usize::MAX,
            },
        }),*];
    };
}

correct! {
    pointers_in_a_buffer: (1, 64, 0), 50, (54, Zeros);
    warps_that_leave: (1, 128, 0), 64, (64, Zeros);
}

bugs! {
    shared::reduction_without_barrier / reduction_without_barrier_fixed:
        (2, 256, 0), 500, (2, Zeros),
        "race on element 128 of a shared array (of 256): block [0, 0, 0], thread [128, 0, 0] \
        writes it at {before}, and block [0, 0, 0], thread [0, 0, 0] read it at {now}";
    shared::tile_overwritten / tile_overwritten_fixed:
        (2, 256, 0), 512, (512, Zeros),
        "race on element 1 of a shared array (of 256): block [0, 0, 0], thread [1, 0, 0] \
        writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] read it at {before}";
    shared::warp_without_sync / warp_without_sync_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 1 of a shared array (of 256): block [0, 0, 0], thread [0, 0, 0] reads it at \
        {now}, and block [0, 0, 0], thread [1, 0, 0] wrote it at {before}";
    shared::shuffle_for_sync / shuffle_for_sync_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 1 of a shared array (of 256): block [0, 0, 0], thread [0, 0, 0] \
        reads it at {now}, and block [0, 0, 0], thread [1, 0, 0] wrote it at {before}";
    shared::shared_histogram / shared_histogram_fixed:
        (2, 256, 0), 500, (32, Zeros),
        "race on element 0 of a shared array (of 16): block [0, 0, 0], thread [0, 0, 0] writes it at \
        {both}, and block [0, 0, 0], thread [23, 0, 0] read it at {both}";
    shared::equal_stores / equal_stores_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "stores of equal values on element 0 of a shared array (of 1): block [0, 0, 0], thread [33, \
        0, 0] writes it at {both}, and block [0, 0, 0], thread [1, 0, 0] wrote it at {both}";
    bounds::beyond_lent_part / beyond_lent_part_fixed:
        (1, 64, 0), 64, (128, Zeros); lent 64,
        "out of bounds: block [0, 0, 0], thread [63, 0, 0] writes element 64 of `y` (of 64) at {now}";
    divergence::masks_differ / masks_differ_fixed:
        (1, 32, 0), 32, (32, Zeros),
        "divergence in block [0, 0, 0]: thread [0, 0, 0]: lane 0 comes to a Shuffle with the mask \
        0xffffffff, and lane 16, which that names, with the mask 0xffff0000, at {at}";
    divergence::odd_width / odd_width_fixed:
        (1, 32, 0), 32, (32, Zeros),
        "misuse: block [0, 0, 0], thread [0, 0, 0]: it shuffles within segments of 12 lanes, which is \
        no power of two, at {at}";
    loads::barrier_unfenced / barrier_unfenced_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "no proxy fence for an mbarrier on byte 0 of a shared array (of 8 bytes): block [0, 0, 0], \
        thread [0, 0, 0] counts a copy at it at {now}, and block [0, 0, 0], thread [0, 0, 0] wrote it at \
        {before}; `fence.proxy.async` or `fence.mbarrier_init` between the two is missing";
    loads::wait_before_inval / wait_before_inval_fixed:
        (1, 32, 0); Hopper, 32, (32, Zeros),
        "wait before `mbarrier.inval` on byte 0 of a shared array (of 8 bytes): block [0, 0, 0], thread \
        [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [31, 0, 0] read it at {before}";
    loads::dependent_without_wait / dependent_without_wait_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros); times 2,
        "race on element 0 of `y` (of 64): block [0, 0, 0], thread [0, 0, 0] reads it at {now}, and \
        block [0, 0, 0], thread [0, 0, 0] of another launch wrote it at {now}; a launch that may begin \
        before another ends waits for it by `griddepcontrol.wait`";
    shared::all_write_one / all_write_one_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 0 of a shared array (of 1): block [0, 0, 0], thread [1, 0, 0] writes \
        it at {both}, and block [0, 0, 0], thread [0, 0, 0] wrote it at {both}";
    global::two_blocks_write / two_blocks_write_fixed:
        (4, 64, 0), 256, (256, Zeros),
        "race on element 64 of `y` (of 256): block [1, 0, 0], thread [0, 0, 0] writes it at \
        {both}, and block [0, 0, 0], thread [0, 0, 0] wrote it at {both}";
    global::global_histogram / global_histogram_fixed:
        (4, 64, 0), 256, (16, Zeros),
        "race on element 0 of `y` (of 16): block [0, 0, 0], thread [0, 0, 0] writes it at {both}, \
        and block [0, 0, 0], thread [30, 0, 0] read it at {both}";
    global::stencil_in_place / stencil_in_place_fixed:
        (4, 64, 0), 256, (256, Zeros),
        "race on element 1 of `y` (of 256): block [0, 0, 0], thread [1, 0, 0] writes it at {now}, \
        and block [0, 0, 0], thread [0, 0, 0] read it at {before}";
    global::last_block_without_fence / last_block_without_fence_fixed:
        (4, 64, 0), 256, (6, Zeros),
        "race on element 2 of `y` (of 6): block [3, 0, 0], thread [1, 0, 0] reads it at {now}, \
        and block [0, 0, 0], thread [0, 0, 0] wrote it at {before}";
    global::scope_too_narrow / scope_too_narrow_fixed:
        (4, 64, 0), 256, (1, Zeros),
        "race on element 0 of `y` (of 1): block [1, 0, 0], thread [0, 0, 0] atomically accesses \
        it at {both}, and block [0, 0, 0], thread [31, 0, 0] atomically accessed it at {both}; \
        the scope of one leaves the other out";
    global::message_without_order / message_without_order_fixed:
        (2, 32, 0), 64, (3, Zeros),
        "race on element 0 of `y` (of 3): block [1, 0, 0], thread [0, 0, 0] reads it at {now}, \
        and block [0, 0, 0], thread [0, 0, 0] wrote it at {before}";
    global::neighbour_without_barrier / neighbour_without_barrier_fixed:
        (2, 64, 0), 128, (256, Zeros),
        "race on element 1 of `y` (of 256): block [0, 0, 0], thread [0, 0, 0] reads it at {now}, and \
        block [0, 0, 0], thread [1, 0, 0] wrote it at {before}";
    divergence::barrier_under_branch / barrier_under_branch_fixed:
        (1, 64, 0), 64, (48, Zeros),
        "divergence in block [0, 0, 0]: 48 threads wait at the barrier at {at}, and 16 of warp 1, \
        the first [48, 0, 0], have left";
    divergence::two_barriers / two_barriers_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "divergence in block [0, 0, 0]: thread [0, 0, 0] waits at the barrier at {at}, and thread \
        [1, 0, 0] waits at the barrier at {other}";
    divergence::early_return / early_return_fixed:
        (2, 64, 0), 100, (100, Zeros),
        "divergence in block [1, 0, 0]: 36 threads wait at the barrier at {at}, and 28 of warp 1, \
        the first [36, 0, 0], have left";
    divergence::full_mask_in_partial_warp / full_mask_in_partial_warp_fixed:
        (1, 40, 0), 40, (40, Zeros),
        "divergence in block [0, 0, 0]: thread [39, 0, 0]: lane 7 shuffles from lane 8, which warp 1 \
        does not have, at {at}";
    divergence::lane_left / lane_left_fixed:
        (1, 32, 0), 20, (32, Zeros),
        "divergence in block [0, 0, 0]: thread [19, 0, 0]: lane 19 shuffles from lane 20, which has \
        left, at {at}";
    divergence::shuffle_outside_mask / shuffle_outside_mask_fixed:
        (1, 32, 0), 32, (32, Zeros),
        "divergence in block [0, 0, 0]: thread [15, 0, 0]: lane 15 shuffles from lane 16, which \
        its mask 0x0000ffff does not name, at {at}";
    divergence::mask_without_own_lane / mask_without_own_lane_fixed:
        (1, 32, 0), 32, (32, Zeros),
        "divergence in block [0, 0, 0]: thread [16, 0, 0]: lane 16 comes to a Sync with the mask \
        0x0000ffff, which does not name it, at {at}";
    divergence::lanes_at_barrier / lanes_at_barrier_fixed:
        (1, 32, 0), 32, (32, Zeros),
        "divergence in block [0, 0, 0]: 16 threads, the first [0, 0, 0], wait in warp 0 for a \
        Sync of the mask 0xffffffff at {at}; 16 threads, the first [16, 0, 0], wait at the \
        barrier at {other}; lane 16 of warp 0 is at the barrier";
    uninitialised::halo_not_filled / halo_not_filled_fixed:
        (2, 64, 0), 128, (128, Zeros),
        "uninitialised: block [0, 0, 0], thread [63, 0, 0] reads element 64 of a shared array (of 65) at {now}, \
        and block [0, 0, 0], thread [63, 0, 0] writes it as a result at {now}";
    uninitialised::sum_not_cleared / sum_not_cleared_fixed:
        (2, 64, 256), 256, (128, Zeros),
        "uninitialised: block [0, 0, 0], thread [0, 0, 0] reads byte 0 of the dynamic shared \
        memory (of 256 bytes) at {now}, and block [0, 0, 0], thread [0, 0, 0] writes it as a result at {at}";
    uninitialised::buffer_not_filled / buffer_not_filled_fixed:
        (2, 64, 0), 128, (128, Nothing),
        "uninitialised: block [0, 0, 0], thread [0, 0, 0] reads element 0 of `y` (of 128) at \
        {now}, and block [0, 0, 0], thread [0, 0, 0] writes it as a result at {at}";
    bounds::one_too_many / one_too_many_fixed:
        (4, 64, 0), 250, (250, Zeros),
        "out of bounds: block [3, 0, 0], thread [58, 0, 0] writes element 250 of `y` (of 250) at \
        {now}";
    bounds::no_check / no_check_fixed:
        (4, 64, 0), 250, (250, Zeros),
        "out of bounds: block [3, 0, 0], thread [58, 0, 0] reads element 250 of `x` (of 250) at \
        {now}";
    bounds::before_the_first / before_the_first_fixed:
        (2, 64, 0), 128, (128, Zeros),
        "out of bounds: block [0, 0, 0], thread [0, 0, 0] reads element -1 of `x` (of 128) at \
        {now}";
    bounds::shared_too_short / shared_too_short_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [63, 0, 0] writes element 63 of a shared array (of 63) at {now}";
    bounds::dynamic_too_short / dynamic_too_short_fixed:
        (1, 64, 256), 64, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [63, 0, 0] writes byte 256 of the dynamic shared \
        memory (of 256 bytes) at {now}";
    bounds::misaligned_vector / misaligned_vector_fixed:
        (1, 64, 0), 256, (256, Zeros),
        "misaligned: block [0, 0, 0], thread [0, 0, 0] reads element 2 of `x` (of 256) at {now}, \
        with an alignment of 16 bytes";
    bounds::misaligned_word / misaligned_word_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "misaligned: block [0, 0, 0], thread [0, 0, 0] reads element 0 of `x` (of 64) at {now}, \
        with an alignment of 4 bytes";
    progress::endless_loop / endless_loop_fixed:
        (1, 32, 0), 64, (32, Zeros),
        "block [0, 0, 0], thread [0, 0, 0]: goes on for ever, or for more than 16384 steps; of 1 block, 1 began \
        and 0 ended, at {at}";
    progress::flag_never_set / flag_never_set_fixed:
        (1, 64, 0), 64, (2, Zeros),
        "block [0, 0, 0], thread [0, 0, 0]: goes on for ever, or for more than 16384 steps: it reads element 0 of `y` \
        (of 2) again and again; of 1 block, 1 began and 0 ended, at {at}";
    progress::lanes_in_a_circle / lanes_in_a_circle_fixed:
        (1, 32, 0), 32, (3, Zeros),
        "block [0, 0, 0] cannot go on: thread [0, 0, 0] waits in warp 0 for a Sync of the mask \
        0x00000003 at {at}; thread [1, 0, 0] waits in warp 0 for a Sync of the mask 0x00000006 \
        at {at}; thread [2, 0, 0] waits in warp 0 for a Sync of the mask 0x00000005 at {at}";
    progress::meets_in_plain_launch / meets_in_plain_launch_fixed:
        (20, 32, 0), 64, (40, Zeros),
        "block [0, 0, 0], thread [0, 0, 0]: waits for what others write, for more than 16384 steps, and block \
        [1, 0, 0] has not begun: only a cooperative launch has all of its blocks running at once, at {at}";
    progress::syncs_grid_in_plain_launch / syncs_grid_in_plain_launch_fixed:
        (20, 32, 0), 64, (1281, Zeros),
        "block [0, 0, 0], thread [0, 0, 0]: waits for what others write, for more than 16384 steps, and block \
        [1, 0, 0] has not begun: only a cooperative launch has all of its blocks running at once, at {at}";
    progress::panics / panics_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "block [0, 0, 0], thread [63, 0, 0] panicked at {at}:30: index out of bounds";
    heap::heap_race / heap_race_fixed:
        (1, 64, 0), 64, (1, Zeros),
        "race on element 0 of a heap block (of 1): block [0, 0, 0], thread [0, 0, 0] writes it at \
        {both}, and block [0, 0, 0], thread [1, 0, 0] read it at {both}";
    heap::heap_not_written / heap_not_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "uninitialised: block [0, 0, 0], thread [3, 0, 0] reads element 3 of a heap block (of 4) at \
        {now}, and block [0, 0, 0], thread [3, 0, 0] writes it as a result at {now}";
    heap::use_after_free / use_after_free_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "use after free: block [0, 0, 0], thread [0, 0, 0] reads element 0 of a heap block (of 1) at \
        {now}";
    heap::double_free / double_free_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "double free: block [0, 0, 0], thread [32, 0, 0] frees byte 0 of a heap block (of 4 bytes) at \
        {both}";
    heap::heap_leak / heap_leak_fixed:
        (1, 32, 0), 64, (64, Zeros),
        "leak: no later kernel reaches a heap block of 4 bytes, allocated at {at}";
    local::local_not_written / local_not_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "uninitialised: block [0, 0, 0], thread [7, 0, 0] reads element 7 of the local memory of \
        `local_not_written` (of 8) at {now}, and block [0, 0, 0], thread [7, 0, 0] writes it as a result at {now}";
    local::local_overrun / local_overrun_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [8, 0, 0] reads element 8 of the local memory of \
        `local_overrun` (of 8) at {now}";
    local::other_threads_memory / other_threads_memory_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "local memory of another thread: block [0, 0, 0], thread [0, 0, 0] reads element 0 of the local \
        memory of `other_threads_memory` (of 4) at {now}";
    copies::copy_without_wait / copy_without_wait_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, 0], \
        thread [0, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to or from \
        it at {before}";
    copies::wait_for_one_too_few / wait_for_one_too_few_fixed:
        (1, 64, 0), 128, (64, Zeros),
        "asynchronous copy without a wait on element 64 of a shared array (of 128): block [0, 0, 0], \
        thread [0, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to or from \
        it at {before}";
    atomics::mixed_sizes / mixed_sizes_fixed:
        (1, 64, 0), 64, (2, Zeros),
        "race on element 0 of `y` (of 2): block [0, 0, 0], thread [32, 0, 0] atomically accesses it at \
        {now}, and block [0, 0, 0], thread [31, 0, 0] atomically accessed it at {before}; atomics \
        of different sizes";
    atomics::plain_against_atomic / plain_against_atomic_fixed:
        (1, 64, 0), 64, (1, Zeros),
        "race on element 0 of `y` (of 1): block [0, 0, 0], thread [0, 0, 0] writes it at {before}, \
        and block [0, 0, 0], thread [31, 0, 0] atomically accessed it at {now}";
    atomics::order_dropped / order_dropped_fixed:
        (4, 64, 0), 64, (6, Zeros),
        "race on element 2 of `y` (of 6): block [3, 0, 0], thread [0, 0, 0] reads it at {now}, \
        and block [0, 0, 0], thread [0, 0, 0] wrote it at {before}";
    elsewhere::constant_written / constant_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "write to constant memory: block [0, 0, 0], thread [0, 0, 0] writes element 0 of the constant \
        `TABLE` (of 4) at {now}";
    elsewhere::into_next_array / into_next_array_fixed:
        (1, 64, 0), 256, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [0, 0, 0] reads element 32 of a shared array (of 256), \
        by way of a shared array (of 64) at {now}";
    elsewhere::into_other_buffer / into_other_buffer_fixed:
        (1, 64, 0), 64, (256, Zeros),
        "out of bounds: block [0, 0, 0], thread [0, 0, 0] writes element 0 of `x` (of 64), by way of \
        `y` (of 256) at {now}";
    elsewhere::slice_written / slice_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "write through a shared reference: block [0, 0, 0], thread [0, 0, 0] writes element 0 of `x` (of 64) \
        at {now}";
    elsewhere::static_written / static_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "write to constant memory: block [0, 0, 0], thread [0, 0, 0] writes element 0 of `FACTORS` (of 4) at \
        {now}";
    elsewhere::read_only_written / read_only_written_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "read-only load of data that the kernel writes on element 0 of `STEPS` (of 4): block [0, 0, 0], \
        thread [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [60, 0, 0] read it at {before}; \
        `ld.global.nc` is for what no thread of the launch writes";
    elsewhere::other_blocks_memory / other_blocks_memory_fixed:
        (2, 64, 0), 64, (6, Zeros),
        "shared memory of another block: block [1, 0, 0], thread [0, 0, 0] reads element 0 of a shared array \
        (of 64) at {now}";
    parts::into_next_part / into_next_part_fixed:
        (1, 64, 512), 64, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [0, 0, 0] writes element 0 of part 1 of the dynamic shared \
        memory (of 64), by way of part 0 of the dynamic shared memory (of 64) at {now}";
    streams::two_streams / two_streams_fixed:
        (1, 64, 0); 2 streams, 64, (64, Zeros),
        "race on element 0 of `y` (of 64): block [0, 0, 0], thread [0, 0, 0] reads it at {both}, and \
        block [0, 0, 0], thread [0, 0, 0] of another launch wrote it at {both}";
    loads::load_without_wait / load_without_wait_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, \
        0], thread [0, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    loads::load_wrong_parity / load_wrong_parity_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, \
        0], thread [0, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    loads::load_expects_fewer / load_expects_fewer_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "asynchronous copy without a wait on element 32 of a shared array (of 64): block [0, 0, \
        0], thread [32, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {at}";
    loads::load_expects_more / load_expects_more_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "no end of a phase: block [0, 0, 0], thread [0, 0, 0] waits for ever: the mbarrier on \
        byte 0 of a shared array (of 8 bytes) expects 16 bytes that do not come, at {at}";
    loads::barrier_not_made / barrier_not_made_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "misuse: block [0, 0, 0], thread [0, 0, 0]: no mbarrier is where it looks for one: it has \
        not been initialised, has been invalidated, or something else was written there, at \
        {now}";
    loads::load_over_read / load_over_read_fixed:
        (1, 64, 0); Hopper, 128, (64, Zeros),
        "race on byte 128 of a shared array (of 256 bytes): block [0, 0, 0], thread [0, 0, 0] \
        copies to or from it at {now}, and block [0, 0, 0], thread [31, 0, 0] read it at \
        {before}";
    loads::load_misaligned / load_misaligned_fixed:
        (1, 64, 0); Hopper, 128, (64, Zeros),
        "misaligned: block [0, 0, 0], thread [0, 0, 0] reaches element 1 of `x` (of 128) at \
        {now}, with an alignment of 16 bytes";
    loads::load_odd_bytes / load_odd_bytes_fixed:
        (1, 64, 0); Hopper, 64, (64, Zeros),
        "misuse: block [0, 0, 0], thread [0, 0, 0]: a copy of 248 bytes, no multiple of 16, at \
        {now}";
    loads::load_too_long / load_too_long_fixed:
        (1, 64, 0); Hopper, 48, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [0, 0, 0] reaches element 48 of `x` (of 48) at \
        {now}";
    stores::store_unfenced / store_unfenced_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "no proxy fence on byte 0 of a shared array (of 256 bytes): block [0, 0, 0], thread [0, \
        0, 0] copies to or from it at {now}, and block [0, 0, 0], thread [0, 0, 0] wrote it at \
        {before}; `fence.proxy.async` between the two is missing";
    stores::store_too_early / store_too_early_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "race on byte 0 of a shared array (of 256 bytes): block [0, 0, 0], thread [0, 0, 0] \
        copies to or from it at {now}, and block [0, 0, 0], thread [1, 0, 0] wrote it at \
        {before}";
    stores::store_overwritten / store_overwritten_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, \
        0], thread [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    stores::store_not_committed / store_not_committed_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, \
        0], thread [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    stores::store_one_too_few / store_one_too_few_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait on element 64 of a shared array (of 128): block [0, 0, \
        0], thread [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    stores::store_read_back / store_read_back_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait on element 0 of `y` (of 128): block [0, 0, 0], thread \
        [0, 0, 0] reads it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to or from it \
        at {before}";
    stores::store_left_behind / store_left_behind_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait: block [0, 0, 0], thread [0, 0, 0] copies to or from \
        byte 0 of a shared array (of 256 bytes) at {at}, and its block has ended";
    stores::store_waited_by_other / store_waited_by_other_fixed:
        (1, 64, 0); Hopper, 64, (128, Zeros),
        "asynchronous copy without a wait on element 0 of a shared array (of 64): block [0, 0, \
        0], thread [0, 0, 0] writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {before}";
    rings::ring_filled_early / ring_filled_early_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "asynchronous copy without a wait on byte 0 of a shared array (of 256 bytes): block [0, \
        0, 0], thread [0, 0, 0] copies to or from it at {copy}, and block [0, 0, 0], thread [0, \
        0, 0] copied to or from it at {copy}";
    rings::ring_parity_not_flipped / ring_parity_not_flipped_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "no end of a phase: block [0, 0, 0], thread [0, 0, 0] waits for ever: the mbarrier on \
        byte 16 of a shared array (of 32 bytes) expects 32 arrivals that do not come, at {at}";
    rings::ring_not_released / ring_not_released_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "no end of a phase: block [0, 0, 0], thread [0, 0, 0] waits for ever: the mbarrier on \
        byte 16 of a shared array (of 32 bytes) expects 32 arrivals that do not come, at {at}";
    rings::ring_released_early / ring_released_early_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "race on byte 0 of a shared array (of 256 bytes): block [0, 0, 0], thread [0, 0, 0] \
        copies to or from it at {copy}, and block [0, 0, 0], thread [63, 0, 0] read it at {use}";
    rings::ring_released_for_others / ring_released_for_others_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "race on byte 0 of a shared array (of 256 bytes): block [0, 0, 0], thread [0, 0, 0] \
        copies to or from it at {copy}, and block [0, 0, 0], thread [63, 0, 0] read it at {use}";
    rings::ring_stage_ahead / ring_stage_ahead_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "asynchronous copy without a wait on element 33 of a shared array (of 64): block [0, 0, \
        0], thread [32, 0, 0] reads it at {use}, and block [0, 0, 0], thread [0, 0, 0] copied to \
        or from it at {copy}";
    rings::ring_producer_parity / ring_producer_parity_fixed:
        (1, 64, 0); Hopper, 192, (32, Zeros),
        "asynchronous copy without a wait on byte 0 of a shared array (of 256 bytes): block [0, \
        0, 0], thread [0, 0, 0] copies to or from it at {copy}, and block [0, 0, 0], thread [0, \
        0, 0] copied to or from it at {copy}";
    clusters::peer_not_synced / peer_not_synced_fixed:
        (2, 64, 0); Hopper 2 blocks, 128, (128, Zeros),
        "race on element 0 of a shared array (of 64): block [1, 0, 0], thread [0, 0, 0] writes it \
        at {before}, and block [0, 0, 0], thread [63, 0, 0] read it at {now}";
    clusters::peer_outside_cluster / peer_outside_cluster_fixed:
        (2, 64, 0); Hopper 2 blocks, 128, (128, Zeros),
        "shared memory of another block: block [1, 0, 0], thread [32, 0, 0] reads element 31 of a \
        shared array (of 64) at {now}";
    clusters::arrives_at_own / arrives_at_own_fixed:
        (2, 64, 0); Hopper 2 blocks, 128, (128, Zeros),
        "no end of a phase: block [0, 0, 0], thread [0, 0, 0] waits for ever: the mbarrier on \
        byte 0 of a shared array (of 8 bytes) expects 1 arrivals that do not come, at {at}";
    products::operand_unfenced / operand_unfenced_fixed:
        (1, 128, 17408); Hopper, 64, (4096, Zeros),
        "no proxy fence on byte 8192 of the dynamic shared memory (of 17408 bytes): block [0, 0, \
        0], thread [0, 0, 0] multiplies it at {product}, and block [0, 0, 0], thread [0, 0, 0] wrote \
        it at {before}; `fence.proxy.async` between the two is missing";
    products::operand_too_early / operand_too_early_fixed:
        (1, 128, 17408); Hopper, 64, (4096, Zeros),
        "race on byte 8192 of the dynamic shared memory (of 17408 bytes): block [0, 0, 0], thread \
        [0, 0, 0] multiplies it at {product}, and block [0, 0, 0], thread [1, 0, 0] wrote it at \
        {before}";
    products::operand_overwritten / operand_overwritten_fixed:
        (1, 128, 17408); Hopper, 64, (4096, Zeros),
        "product without a wait on byte 0 of the dynamic shared memory (of 17408 bytes): block \
        [0, 0, 0], thread [0, 0, 0] writes it at {again}, and block [0, 0, 0], thread [0, 0, 0] \
        multiplied it at {product}";
    products::operand_one_too_few / operand_one_too_few_fixed:
        (1, 128, 17408); Hopper, 64, (4096, Zeros),
        "product without a wait on byte 0 of the dynamic shared memory (of 17408 bytes): block \
        [0, 0, 0], thread [0, 0, 0] writes it at {again}, and block [0, 0, 0], thread [0, 0, 0] \
        multiplied it at {product}";
}
