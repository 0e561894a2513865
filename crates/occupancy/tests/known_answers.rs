//! Cases computed by hand from NVIDIA's tables and rules.

use occupancy::Resource::{Blocks, Registers, SharedMemory, Warps};
use occupancy::{ComputeCapability, Kernel, Multiprocessor, Occupancy, OccupancyError, Resource};

fn multiprocessor(arch: u32) -> Multiprocessor {
    Multiprocessor::of(ComputeCapability::from_arch(arch)).expect("known")
}

fn registers(registers_per_thread: u32) -> Kernel {
    Kernel {
        registers_per_thread,
        ..Kernel::default()
    }
}

fn shared(registers_per_thread: u32, static_bytes: u32, dynamic_bytes: u32) -> Kernel {
    Kernel {
        static_shared_bytes: static_bytes,
        dynamic_shared_bytes: dynamic_bytes,
        ..registers(registers_per_thread)
    }
}

#[track_caller]
fn check(arch: u32, kernel: Kernel, threads: u32, blocks: u32, warps: u32, by: &[Resource]) {
    let found = multiprocessor(arch)
        .occupancy(&kernel, threads)
        .expect("a block runs");
    let expected = Occupancy {
        block_threads: threads,
        blocks,
        active_warps: warps,
        max_warps: found.max_warps,
        limited_by: by.to_vec(),
    };
    assert_eq!(found, expected);
}

#[test]
fn sm_90() {
    // 128 x 32 = 4096 registers per warp, 16384 / 4096 = 4 warps a partition, 16 in all.
    check(90, registers(128), 256, 2, 16, &[Registers]);
    // 32 x 32 = 1024: 16 warps a partition, 64 in all, as many as there are places.
    check(90, registers(32), 256, 8, 64, &[Warps, Registers]);
    check(90, registers(16), 256, 8, 64, &[Warps]);
    check(90, registers(16), 32, 32, 32, &[Blocks]);
    check(90, registers(16), 64, 32, 64, &[Warps, Blocks]);
    check(90, registers(16), 1024, 2, 64, &[Warps]);
    // 33 x 32 = 1056, rounded up to 1280: 12 warps a partition, 48 in all.
    check(90, registers(33), 128, 12, 48, &[Registers]);
    // 3 warps per block: 64 / 3 = 21.
    check(90, registers(16), 96, 21, 63, &[Warps]);
    // A last warp that is not full counts as one.
    check(90, registers(16), 33, 32, 64, &[Warps, Blocks]);
    // 48 + 1 KiB per block: 228 / 49 = 4.
    check(90, shared(32, 48 * 1024, 0), 128, 4, 16, &[SharedMemory]);
    check(
        90,
        shared(32, 27 * 1024, 200 * 1024),
        1024,
        1,
        32,
        &[SharedMemory],
    );
}

#[test]
fn sm_80() {
    // 255 x 32 = 8160, rounded up to 8192: 2 warps a partition, 8 in all.
    check(80, registers(255), 256, 1, 8, &[Registers]);
    check(80, registers(64), 512, 2, 32, &[Registers]);
    // 40 x 32 = 1280: 12 warps a partition, 48 in all, of 24 a block.
    check(80, registers(40), 768, 2, 48, &[Warps, Registers]);
    // 100 + 1024 bytes, rounded up to 1152: 164 x 1024 / 1152 = 145.
    check(80, shared(16, 100, 0), 32, 32, 32, &[Blocks]);
    // 40 + 1 KiB: 164 / 41 = 4, and 4 x 16 warps are all there are places for.
    check(
        80,
        shared(32, 0, 40 * 1024),
        512,
        4,
        64,
        &[Warps, Registers, SharedMemory],
    );
}

#[test]
fn sm_86() {
    check(86, registers(32), 256, 6, 48, &[Warps]);
    check(86, registers(32), 1024, 1, 32, &[Warps]);
    check(86, registers(16), 64, 16, 32, &[Blocks]);
    check(86, registers(16), 96, 16, 48, &[Warps, Blocks]);
    // 40 x 32 = 1280: 48 warps.
    check(86, registers(40), 256, 6, 48, &[Warps, Registers]);
    // 24 + 1 KiB: 100 / 25 = 4.
    check(86, shared(32, 24 * 1024, 0), 128, 4, 16, &[SharedMemory]);
}

#[test]
fn turing_and_volta_reserve_nothing_and_allocate_256_bytes() {
    // 64 KiB / 257 -> 512 bytes = 128 blocks; the 16 places for blocks are fewer.
    check(75, shared(16, 257, 0), 64, 16, 32, &[Warps, Blocks]);
    check(75, shared(16, 32 * 1024, 0), 64, 2, 4, &[SharedMemory]);
    check(70, shared(16, 0, 96 * 1024), 64, 1, 2, &[SharedMemory]);
    // 3000 bytes, rounded up to 3072: 96 x 1024 / 3072 = 32.
    check(
        70,
        shared(16, 3000, 0),
        64,
        32,
        64,
        &[Warps, Blocks, SharedMemory],
    );
}

#[test]
fn a_block_that_cannot_run_says_what_it_asks_and_what_there_is() {
    let hopper = multiprocessor(90);
    let error = |kernel: Kernel, threads| hopper.occupancy(&kernel, threads).expect_err("too much");
    assert_eq!(
        error(registers(16), 1025),
        OccupancyError::BlockThreads {
            actual: 1025,
            limit: 1024
        }
    );
    assert_eq!(
        error(registers(16), 0),
        OccupancyError::BlockThreads {
            actual: 0,
            limit: 1024
        }
    );
    let bounded = Kernel {
        max_threads_per_block: Some(256),
        ..registers(16)
    };
    assert_eq!(
        error(bounded, 512),
        OccupancyError::BlockThreads {
            actual: 512,
            limit: 256
        }
    );
    assert_eq!(
        error(registers(256), 32),
        OccupancyError::RegistersPerThread {
            actual: 256,
            limit: 255
        }
    );
    // 65 x 32 = 2080, rounded up to 2304, times 32 warps.
    assert_eq!(
        error(registers(65), 1024),
        OccupancyError::RegistersPerBlock {
            actual: 73_728,
            limit: 65_536,
            per_thread: 65
        }
    );
    let text = error(shared(16, 0, 228 * 1024), 32).to_string();
    assert!(text.contains("233472") && text.contains("232448"), "{text}");
    let unknown = Multiprocessor::of(ComputeCapability::new(6, 1)).expect_err("too old");
    assert!(unknown.to_string().contains("6.1") && unknown.to_string().contains("8.6"));
}

#[test]
fn a_launch_is_refused_for_the_registers_of_warps_rounded_up_to_four() {
    // 232 x 32 = 7424 registers per warp: 9 warps would have 66,816, and so 8 are the most.
    let kernel = registers(232);
    assert!(multiprocessor(90).occupancy(&kernel, 256).is_ok());
    // 5 warps are checked as 8, which fit.
    check(90, kernel, 160, 1, 5, &[Registers]);
    // 208 x 32 = 6656: 9 warps need 59,904 but are checked as 12, which is 79,872.
    assert_eq!(
        multiprocessor(90).occupancy(&registers(208), 288),
        Err(OccupancyError::RegistersPerBlock {
            actual: 79_872,
            limit: 65_536,
            per_thread: 208
        })
    );
}

#[test]
fn every_capability_has_limits_that_hold_together() {
    for capability in ComputeCapability::ALL {
        let limits = Multiprocessor::of(capability).expect("in the table");
        let whole = limits.max_shared_bytes_per_block + limits.reserved_shared_bytes_per_block;
        assert_eq!(whole, limits.shared_bytes, "{capability}");
        let smallest = limits.occupancy(&Kernel::default(), 32).expect("it runs");
        assert_eq!(
            smallest.blocks,
            limits.max_blocks.min(limits.max_warps),
            "{capability}"
        );
        let largest = limits.occupancy(&registers(32), 1024).expect("it runs");
        assert_eq!(largest.blocks, limits.max_warps / 32, "{capability}");
    }
}
