//! The bugs.

use planted_kernels::{bounds, divergence, global, progress, shared, uninitialised};

use crate::Before::{Nothing, Zeros};
use crate::Bug;

macro_rules! bugs {
    ($($module:ident::$name:ident / $fixed:ident: $launch:expr, $n:expr, $y:expr, $report:expr;)*) => {
        /// All of them.
        pub const BUGS: &[Bug] = &[$(Bug {
            name: stringify!($name),
            kernel: || $module::$name::entry().with_signature(),
            fixed: || $module::$fixed::entry().with_signature(),
            launch: $launch,
            n: $n,
            y: $y,
            report: $report,
        }),*];
    };
}

bugs! {
    shared::reduction_without_barrier / reduction_without_barrier_fixed:
        (2, 256, 0), 500, (2, Zeros),
        "race on element 128 of the shared array [u32; 256]: block [0, 0, 0], thread [128, 0, 0] \
        writes it at {before}, and block [0, 0, 0], thread [0, 0, 0] read it at {now}";
    shared::tile_overwritten / tile_overwritten_fixed:
        (2, 256, 0), 512, (512, Zeros),
        "race on element 1 of the shared array [u32; 256]: block [0, 0, 0], thread [1, 0, 0] \
        writes it at {now}, and block [0, 0, 0], thread [0, 0, 0] read it at {before}";
    shared::warp_without_sync / warp_without_sync_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 1 of the shared array [u32; 256]: block [0, 0, 0], thread [1, 0, 0] \
        writes it at {before}, and block [0, 0, 0], thread [0, 0, 0] read it at {now}";
    shared::shuffle_for_sync / shuffle_for_sync_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 1 of the shared array [u32; 256]: block [0, 0, 0], thread [0, 0, 0] \
        reads it at {now}, and block [0, 0, 0], thread [1, 0, 0] wrote it at {before}";
    shared::shared_histogram / shared_histogram_fixed:
        (2, 256, 0), 500, (32, Zeros),
        "race on element 1 of the shared array [u32; 16]: block [0, 0, 0], thread [14, 0, 0] \
        reads it at {both}, and block [0, 0, 0], thread [7, 0, 0] wrote it at {both}";
    shared::all_write_one / all_write_one_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "race on element 0 of the shared array [u32; 1]: block [0, 0, 0], thread [1, 0, 0] writes \
        it at {both}, and block [0, 0, 0], thread [0, 0, 0] wrote it at {both}";
    global::two_blocks_write / two_blocks_write_fixed:
        (4, 64, 0), 256, (256, Zeros),
        "race on element 64 of `y` (of 256): block [1, 0, 0], thread [0, 0, 0] writes it at \
        {both}, and block [0, 0, 0], thread [0, 0, 0] wrote it at {both}";
    global::global_histogram / global_histogram_fixed:
        (4, 64, 0), 256, (16, Zeros),
        "race on element 1 of `y` (of 16): block [0, 0, 0], thread [14, 0, 0] reads it at {both}, \
        and block [0, 0, 0], thread [7, 0, 0] wrote it at {both}";
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
        it at {both}, and block [0, 0, 0], thread [63, 0, 0] atomically accessed it at {both}";
    global::message_without_order / message_without_order_fixed:
        (2, 32, 0), 64, (3, Zeros),
        "race on element 0 of `y` (of 3): block [1, 0, 0], thread [0, 0, 0] reads it at {now}, \
        and block [0, 0, 0], thread [0, 0, 0] wrote it at {before}";
    global::neighbour_without_barrier / neighbour_without_barrier_fixed:
        (2, 64, 0), 128, (256, Zeros),
        "race on element 1 of `y` (of 256): block [0, 0, 0], thread [1, 0, 0] writes it at \
        {before}, and block [0, 0, 0], thread [0, 0, 0] read it at {now}";
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
        "divergence in block [0, 0, 0]: 8 threads, the first [32, 0, 0], wait in warp 1 for a \
        Shuffle of the mask 0xffffffff at {at}; there is no lane 8 in warp 1";
    divergence::lane_left / lane_left_fixed:
        (1, 32, 0), 20, (32, Zeros),
        "divergence in block [0, 0, 0]: 20 threads, the first [0, 0, 0], wait in warp 0 for a \
        Vote of the mask 0xffffffff at {at}; lane 20 of warp 0 has left";
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
        "uninitialised: block [0, 0, 0], thread [63, 0, 0] reads element 64 of the shared array \
        [u32; 65] at {now}";
    uninitialised::sum_not_cleared / sum_not_cleared_fixed:
        (2, 64, 256), 256, (128, Zeros),
        "uninitialised: block [0, 0, 0], thread [0, 0, 0] reads byte 0 of the dynamic shared \
        memory (of 256) at {now}";
    uninitialised::buffer_not_filled / buffer_not_filled_fixed:
        (2, 64, 0), 128, (128, Nothing),
        "uninitialised: block [0, 0, 0], thread [0, 0, 0] reads element 0 of `y` (of 128) at \
        {now}";
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
        "out of bounds: block [0, 0, 0], thread [63, 0, 0] writes element 63 of the shared array \
        [u32; 63] at {now}";
    bounds::dynamic_too_short / dynamic_too_short_fixed:
        (1, 64, 256), 64, (64, Zeros),
        "out of bounds: block [0, 0, 0], thread [63, 0, 0] writes byte 256 of the dynamic shared \
        memory (of 256) at {now}";
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
        "block [0, 0, 0], thread [16, 0, 0] goes on for ever, or for more than 1048576 steps, at {at}";
    progress::flag_never_set / flag_never_set_fixed:
        (1, 64, 0), 64, (2, Zeros),
        "block [0, 0, 0], thread [0, 0, 0] goes on for ever, or for more than 1048576 steps, at {at}";
    progress::lanes_in_a_circle / lanes_in_a_circle_fixed:
        (1, 32, 0), 32, (3, Zeros),
        "block [0, 0, 0] cannot go on: thread [0, 0, 0] waits in warp 0 for a Sync of the mask \
        0x00000003 at {at}; thread [1, 0, 0] waits in warp 0 for a Sync of the mask 0x00000006 \
        at {at}; thread [2, 0, 0] waits in warp 0 for a Sync of the mask 0x00000005 at {at}";
    progress::panics / panics_fixed:
        (1, 64, 0), 64, (64, Zeros),
        "block [0, 0, 0], thread [63, 0, 0] panicked at {at}:30: index out of bounds: the len is \
        64 but the index is 64";
}
