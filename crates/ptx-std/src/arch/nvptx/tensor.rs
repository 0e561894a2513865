//! Hopper's additions: barriers in shared memory, copies of tensors, clusters, warpgroups.
//!
//! None is `nomem`: the compiler moves no memory access across them.

use core::arch::asm;

use crate::tma::TensorMap;

macro_rules! intrinsics {
    ($($link:literal $name:ident($($argument:ident: $ty:ty),*);)*) => {
        #[allow(improper_ctypes)]
        mod llvm {
            unsafe extern "C" {$(
                #[link_name = $link]
                pub(super) fn $name($($argument: $ty),*);
            )*}
        }

        $(
            #[inline(always)]
            pub(crate) fn $name($($argument: $ty),*) {
                // SAFETY: the instruction touches no memory of its own; its rule about the threads
                // that reach it is stated by the public function that calls this one.
                unsafe { llvm::$name($($argument),*) }
            }
        )*
    };
}

intrinsics! {
    "llvm.nvvm.barrier.cta.sync.aligned.count" barrier_sync(id: u32, threads: u32);
    "llvm.nvvm.barrier.cta.arrive.aligned.count" barrier_arrive(id: u32, threads: u32);
    "llvm.nvvm.barrier.cluster.arrive.aligned" cluster_arrive();
    "llvm.nvvm.barrier.cluster.wait.aligned" cluster_wait();
    "llvm.nvvm.wgmma.fence.sync.aligned" wgmma_fence();
    "llvm.nvvm.wgmma.commit_group.sync.aligned" wgmma_commit();
}

#[allow(improper_ctypes)]
mod constant {
    // The argument is part of the instruction, so these are called with constants alone.
    unsafe extern "C" {
        #[link_name = "llvm.nvvm.wgmma.wait_group.sync.aligned"]
        pub(super) fn wgmma_wait(pending: u64);
        #[link_name = "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32"]
        pub(super) fn increase_registers(count: u32);
        #[link_name = "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"]
        pub(super) fn decrease_registers(count: u32);
    }
}

#[inline(always)]
pub(crate) fn wgmma_wait<const PENDING: u64>() {
    // SAFETY: waiting has no precondition but the one about threads, which the caller states.
    unsafe { constant::wgmma_wait(const { PENDING }) }
}

#[inline(always)]
pub(crate) fn increase_registers<const COUNT: u32>() {
    // SAFETY: the rules about threads and counts are the caller's.
    unsafe { constant::increase_registers(const { COUNT }) }
}

#[inline(always)]
pub(crate) fn decrease_registers<const COUNT: u32>() {
    // SAFETY: as above.
    unsafe { constant::decrease_registers(const { COUNT }) }
}

/// Instructions of 32-bit operands and no result. What each asks for is said by the public function that
/// calls it.
macro_rules! instructions {
    ($($name:ident($($x:ident),*) = $($text:literal)+;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name($($x: u32),*) {
            // SAFETY: the public function that calls this one states the contract.
            unsafe { asm!($($text,)+ $($x = in(reg32) $x,)* options(nostack)) }
        }
    )*};
}

instructions! {
    mbarrier_init(at, count) = "mbarrier.init.shared::cta.b64 [{at}], {count};";
    mbarrier_inval(at) = "mbarrier.inval.shared::cta.b64 [{at}];";
    mbarrier_arrive(at) = "mbarrier.arrive.shared::cta.b64 _, [{at}];";
    mbarrier_arrive_expect(at, bytes) =
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [{at}], {bytes};";
    mbarrier_expect(at, bytes) =
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{at}], {bytes};";
    // Without `.release.cluster`, which is a fence of the whole GPU: what is handed on has been read, not written.
    mbarrier_arrive_remote(at, block) =
        "{{"
        ".reg .b32 there;"
        "mapa.shared::cluster.u32 there, {at}, {block};"
        "mbarrier.arrive.shared::cluster.b64 _, [there];"
        "}}";
    fence_mbarrier_init() = "fence.mbarrier_init.release.cluster;";
    fence_async_shared() = "fence.proxy.async.shared::cta;";
    fence_async_global() = "fence.proxy.async.global;";
    bulk_commit() = "cp.async.bulk.commit_group;";
    launch_dependents() = "griddepcontrol.launch_dependents;";
    grid_dependency_wait() = "griddepcontrol.wait;";
}

macro_rules! waits {
    ($($name:ident = $instruction:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name(at: u32, parity: u32) -> bool {
            let ended: u32;
            // SAFETY: the caller has a barrier; waiting changes nothing.
            unsafe {
                asm!(
                    "{{",
                    ".reg .pred ended;",
                    concat!($instruction, " ended, [{at}], {parity};"),
                    "selp.u32 {ended}, 1, 0, ended;",
                    "}}",
                    at = in(reg32) at,
                    parity = in(reg32) parity,
                    ended = out(reg32) ended,
                    options(nostack)
                );
            }
            ended != 0
        }
    )*};
}

waits! {
    mbarrier_try_wait = "mbarrier.try_wait.parity.shared::cta.b64";
    mbarrier_test_wait = "mbarrier.test_wait.parity.shared::cta.b64";
}

#[inline(always)]
pub(crate) fn bulk_wait<const PENDING: u32>() {
    // SAFETY: waiting has no precondition.
    unsafe { asm!("cp.async.bulk.wait_group {};", const PENDING, options(nostack)) }
}

#[inline(always)]
pub(crate) fn bulk_wait_read<const PENDING: u32>() {
    // SAFETY: as above.
    unsafe { asm!("cp.async.bulk.wait_group.read {};", const PENDING, options(nostack)) }
}

/// The lane is the same for all of a warp, so a copy of the instruction is as good where each copy's warp is whole.
#[inline(always)]
pub(crate) fn elect() -> bool {
    let elected: u32;
    // SAFETY: the caller sees to it that the warp is whole.
    unsafe {
        asm!(
            "{{",
            ".reg .pred elected;",
            "elect.sync _|elected, -1;",
            "selp.u32 {}, 1, 0, elected;",
            "}}",
            out(reg32) elected,
            options(nostack)
        );
    }
    elected != 0
}

#[inline(always)]
pub(crate) fn shared_address(pointer: *const u8) -> u32 {
    let address;
    // SAFETY: arithmetic on an address.
    unsafe {
        asm!(
            "{{",
            ".reg .b64 window;",
            "cvta.to.shared.u64 window, {pointer};",
            "cvt.u32.u64 {address}, window;",
            "}}",
            pointer = in(reg64) pointer,
            address = out(reg32) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address
}

#[inline(always)]
pub(crate) fn generic_address(address: u32) -> *mut u8 {
    let pointer;
    // SAFETY: arithmetic on an address.
    unsafe {
        asm!(
            "{{",
            ".reg .b64 window;",
            "cvt.u64.u32 window, {address};",
            "cvta.shared.u64 {pointer}, window;",
            "}}",
            address = in(reg32) address,
            pointer = out(reg64) pointer,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    pointer
}

#[inline(always)]
pub(crate) fn map_shared(pointer: *mut u8, block: u32) -> *mut u8 {
    let mapped;
    // SAFETY: arithmetic on an address.
    unsafe {
        asm!(
            "mapa.u64 {mapped}, {pointer}, {block};",
            mapped = out(reg64) mapped,
            pointer = in(reg64) pointer,
            block = in(reg32) block,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    mapped
}

#[inline(always)]
pub(crate) fn prefetch_map(map: &TensorMap) {
    // SAFETY: brings the map into a cache.
    unsafe { asm!("prefetch.tensormap [{}];", in(reg64) map, options(nostack)) }
}

/// # Safety
/// As for [`crate::tma::load_bytes`].
#[inline(always)]
pub(crate) unsafe fn bulk_load(to: u32, from: *const u8, bytes: u32, barrier: u32) {
    // SAFETY: the caller's contract. The instruction takes no generic address.
    unsafe {
        asm!(
            "{{",
            ".reg .b64 from;",
            "cvta.to.global.u64 from, {from};",
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{to}], [from], {bytes}, [{barrier}];",
            "}}",
            to = in(reg32) to,
            from = in(reg64) from,
            bytes = in(reg32) bytes,
            barrier = in(reg32) barrier,
            options(nostack)
        );
    }
}

/// # Safety
/// As for [`crate::tma::store_bytes`].
#[inline(always)]
pub(crate) unsafe fn bulk_store(to: *mut u8, from: u32, bytes: u32) {
    // SAFETY: the caller's contract. The instruction takes no generic address.
    unsafe {
        asm!(
            "{{",
            ".reg .b64 to;",
            "cvta.to.global.u64 to, {to};",
            "cp.async.bulk.global.shared::cta.bulk_group [to], [{from}], {bytes};",
            "}}",
            to = in(reg64) to,
            from = in(reg32) from,
            bytes = in(reg32) bytes,
            options(nostack)
        );
    }
}

/// The copies of boxes in tensors of so many dimensions: `{c0}` and so on are the corner's coordinates.
macro_rules! boxes {
    ($($module:ident $dimensions:literal $corner:literal [$($c:ident $axis:literal),*];)*) => {$(
        pub(crate) mod $module {
            use core::arch::asm;

            use crate::tma::TensorMap;

            /// # Safety
            /// As for [`TensorMap::load`].
            #[inline(always)]
            pub(crate) unsafe fn load(
                map: &TensorMap,
                corner: [i32; $dimensions],
                to: u32,
                barrier: u32,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!(
                            "cp.async.bulk.tensor.", $dimensions, "d.shared::cluster.global.tile",
                            ".mbarrier::complete_tx::bytes [{to}], [{map}, ", $corner, "], [{barrier}];"
                        ),
                        to = in(reg32) to,
                        map = in(reg64) map,
                        barrier = in(reg32) barrier,
                        $($c = in(reg32) corner[$axis],)*
                        options(nostack)
                    );
                }
            }

            /// # Safety
            /// As for [`TensorMap::load_multicast`].
            #[inline(always)]
            pub(crate) unsafe fn load_multicast(
                map: &TensorMap,
                corner: [i32; $dimensions],
                to: u32,
                barrier: u32,
                blocks: u16,
            ) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!(
                            "cp.async.bulk.tensor.", $dimensions, "d.shared::cluster.global.tile",
                            ".mbarrier::complete_tx::bytes.multicast::cluster [{to}], [{map}, ",
                            $corner, "], [{barrier}], {blocks};"
                        ),
                        to = in(reg32) to,
                        map = in(reg64) map,
                        barrier = in(reg32) barrier,
                        blocks = in(reg16) blocks,
                        $($c = in(reg32) corner[$axis],)*
                        options(nostack)
                    );
                }
            }

            /// # Safety
            /// The map has so many dimensions.
            #[inline(always)]
            pub(crate) unsafe fn prefetch(map: &TensorMap, corner: [i32; $dimensions]) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!(
                            "cp.async.bulk.prefetch.tensor.", $dimensions, "d.L2.global.tile [{map}, ",
                            $corner, "];"
                        ),
                        map = in(reg64) map,
                        $($c = in(reg32) corner[$axis],)*
                        options(nostack)
                    );
                }
            }

            /// # Safety
            /// As for [`TensorMap::store`].
            #[inline(always)]
            pub(crate) unsafe fn store(map: &TensorMap, corner: [i32; $dimensions], from: u32) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!(
                            "cp.async.bulk.tensor.", $dimensions, "d.global.shared::cta.tile",
                            ".bulk_group [{map}, ", $corner, "], [{from}];"
                        ),
                        map = in(reg64) map,
                        from = in(reg32) from,
                        $($c = in(reg32) corner[$axis],)*
                        options(nostack)
                    );
                }
            }

            /// # Safety
            /// As for [`TensorMap::store_add`].
            #[inline(always)]
            pub(crate) unsafe fn store_add(map: &TensorMap, corner: [i32; $dimensions], from: u32) {
                // SAFETY: the caller's contract.
                unsafe {
                    asm!(
                        concat!(
                            "cp.reduce.async.bulk.tensor.", $dimensions, "d.global.shared::cta.add",
                            ".tile.bulk_group [{map}, ", $corner, "], [{from}];"
                        ),
                        map = in(reg64) map,
                        from = in(reg32) from,
                        $($c = in(reg32) corner[$axis],)*
                        options(nostack)
                    );
                }
            }
        }
    )*};
}

boxes! {
    tma_1d 1 "{{{c0}}}" [c0 0];
    tma_2d 2 "{{{c0}, {c1}}}" [c0 0, c1 1];
    tma_3d 3 "{{{c0}, {c1}, {c2}}}" [c0 0, c1 1, c2 2];
    tma_4d 4 "{{{c0}, {c1}, {c2}, {c3}}}" [c0 0, c1 1, c2 2, c3 3];
    tma_5d 5 "{{{c0}, {c1}, {c2}, {c3}, {c4}}}" [c0 0, c1 1, c2 2, c3 3, c4 4];
}
