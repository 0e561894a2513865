//! The table of compute capabilities.

/// Hands every compute capability to the macro of this name, ascending: a row each, which is all that the workspace knows of it.
///
/// A row has a name, ten times the number, the architectures that kernels are built for (none: only sources written for
/// Rust-CUDA name it), and what is known of a multiprocessor, as fields of `Facts`: those left out are not known.
///
/// Sources: "Technical Specifications per Compute Capability" in the CUDA C++ Programming Guide (11 for 7.0 and 7.2, 13 for the
/// others), and `cuda_occupancy.h` of CUDA 13 for the blocks, and for 10.3 and 12.1. Lanes, results per clock: the table
/// "Throughput of Native Arithmetic Instructions" there; `i32` is multiply and multiply-add. Multiprocessors are those of the
/// GPU that stands behind them.
#[doc(hidden)]
#[macro_export]
macro_rules! capabilities {
    ($with:ident) => {
        $with! {
            Compute35 = 35 [] {}
            Compute37 = 37 [] {}
            Compute50 = 50 [] {}
            Compute52 = 52 [] {}
            Compute53 = 53 [] {}
            Compute60 = 60 [] {}
            Compute61 = 61 [] {}
            Compute62 = 62 [] {}
            Compute70 = 70 [Compute70 ""] {
                warps: 64, blocks: 32, shared_kib: 96, multiprocessors: 80, // V100
                f32: 64, f64: 32, f16x2: 128, i32: 64, special: 16
            }
            Compute72 = 72 [Compute72 ""] {
                warps: 64, blocks: 32, shared_kib: 96, multiprocessors: 8, // AGX Xavier
                f32: 64, f64: 32, f16x2: 128, i32: 64, special: 16
            }
            Compute75 = 75 [Compute75 ""] {
                warps: 32, blocks: 16, shared_kib: 64, multiprocessors: 40, // T4
                f32: 64, f64: 2, f16x2: 128, i32: 64, special: 16
            }
            Compute80 = 80 [Compute80 ""] {
                warps: 64, blocks: 32, shared_kib: 164, multiprocessors: 108, // A100
                f32: 64, f64: 32, f16x2: 256, bf16x2: 128, i32: 64, special: 16
            }
            Compute86 = 86 [Compute86 ""] {
                warps: 48, blocks: 16, shared_kib: 100, multiprocessors: 84, // A40
                f32: 128, f64: 2, i32: 64, special: 16
            }
            Compute87 = 87 [Compute87 ""] {
                warps: 48, blocks: 16, shared_kib: 164, multiprocessors: 16, // AGX Orin
                f32: 128, f64: 2, i32: 64, special: 16
            }
            Compute88 = 88 [Compute88 ""] { i32: 64, special: 16 }
            Compute89 = 89 [Compute89 ""] {
                warps: 48, blocks: 24, shared_kib: 100, multiprocessors: 142, // L40S
                f32: 128, f64: 2, i32: 64, special: 16
            }
            Compute90 = 90 [Compute90 "", Compute90a "a"] {
                warps: 64, blocks: 32, shared_kib: 228, multiprocessors: 132, // H100, H200
                f32: 128, f64: 64, f16x2: 256, bf16x2: 256, i32: 64, special: 16
            }
            Compute100 = 100 [Compute100 "", Compute100f "f", Compute100a "a"] {
                warps: 64, blocks: 32, shared_kib: 228, multiprocessors: 148, // B200
                f32: 128, f64: 64
            }
            Compute101 = 101 [Compute101 "", Compute101f "f", Compute101a "a"] {}
            Compute103 = 103 [Compute103 "", Compute103f "f", Compute103a "a"] {
                warps: 64, blocks: 32, shared_kib: 228, multiprocessors: 148, // B300
                f32: 128, f64: 2
            }
            Compute110 = 110 [Compute110 "", Compute110f "f", Compute110a "a"] {}
            Compute120 = 120 [Compute120 "", Compute120f "f", Compute120a "a"] {
                warps: 48, blocks: 24, shared_kib: 100, multiprocessors: 170, // RTX 5090
                f32: 128, f64: 2
            }
            Compute121 = 121 [Compute121 "", Compute121f "f", Compute121a "a"] {
                warps: 48, blocks: 24, shared_kib: 100, multiprocessors: 48, // GB10
                f32: 128, f64: 2
            }
        }
    };
}
