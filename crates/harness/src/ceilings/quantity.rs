//! The measured quantities, and their values on the data sheet.

use occupancy::Arithmetic;
use serde::{Deserialize, Serialize};

use crate::driver::DeviceProperties;
use crate::model::{Board, Limit, Precision, TensorType};
use Limit::{AddMul, Fma, Integer};
use Measures::{Latency, Other, Rate, Tensor};
use Precision::{Bf16x2, F16x2, F32, F64, I32};

/// Generates [`Quantity`] of its rows: the name in tables, the unit, and the arithmetic that it measures.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $unit:ident $(, $measures:expr)?;)*) => {
        /// A ceiling: a rate that no kernel on the device exceeds, or a time that none falls below.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Quantity {
            $($(#[$doc])* $name,)*
        }

        impl Quantity {
            /// Every quantity, in the order of tables.
            pub const ALL: [Quantity; [$($text),*].len()] = [$(Quantity::$name),*];

            /// The name in tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Quantity::$name => $text,)*
                }
            }

            /// The unit of its values.
            pub fn unit(self) -> Unit {
                match self {
                    $(Quantity::$name => Unit::$unit,)*
                }
            }

            /// The arithmetic that it measures.
            fn measures(self) -> Option<Measures> {
                match self {
                    $(Quantity::$name => [$($measures)?].first().copied(),)*
                }
            }
        }
    };
}

/// The arithmetic that a quantity measures.
#[derive(Clone, Copy)]
enum Measures {
    /// The rate of multiply-adds, or of adds and multiplies, of a type.
    Rate(Precision, Limit),
    /// The time of a multiply-add of a type.
    Latency(Precision),
    /// The rate of other lanes, of whose results each is so many operations.
    Other(Arithmetic, f64),
    /// The rate of tensor cores on matrices of a type.
    Tensor(TensorType),
}

quantities! {
    /// Memory read.
    MemoryRead, "memory read", BytesPerSec;
    /// Memory written.
    MemoryWrite, "memory write", BytesPerSec;
    /// Memory copied: bytes read plus bytes written, as in the three below.
    MemoryCopy, "memory copy", BytesPerSec;
    /// y = a x.
    MemoryScale, "memory scale", BytesPerSec;
    /// y = x + a z.
    MemoryTriad, "memory triad", BytesPerSec;
    /// Level 2 cache read.
    L2Read, "L2 read", BytesPerSec;
    /// Level 1 cache read.
    L1Read, "L1 read", BytesPerSec;
    /// Shared memory read.
    SharedRead, "shared read", BytesPerSec;
    /// Shared memory read by words, each lane from a bank of its own.
    SharedWays1, "shared, no conflict", BytesPerSec;
    /// The same with 2 lanes at each bank that is read.
    SharedWays2, "shared, 2-way conflict", BytesPerSec;
    /// With 4.
    SharedWays4, "shared, 4-way conflict", BytesPerSec;
    /// With 8.
    SharedWays8, "shared, 8-way conflict", BytesPerSec;
    /// With 16.
    SharedWays16, "shared, 16-way conflict", BytesPerSec;
    /// With all 32.
    SharedWays32, "shared, 32-way conflict", BytesPerSec;
    /// Atomic additions of all threads to one counter in memory.
    AtomicTogether, "atomic add, one address", OpsPerSec;
    /// Atomic additions of each thread to a counter of its own, next to its neighbour's, that the level 2 cache holds.
    AtomicApart, "atomic add, spread", OpsPerSec;
    /// Atomic additions of all threads of a block to one counter in shared memory.
    SharedAtomicTogether, "shared atomic add, one address", OpsPerSec;
    /// Atomic additions of each thread to a counter of its own in shared memory.
    SharedAtomicApart, "shared atomic add, spread", OpsPerSec;
    /// Shuffles, of each lane.
    Shuffle, "shuffle", OpsPerSec;
    /// Votes, of each lane.
    Vote, "vote", OpsPerSec;
    /// Fused multiply-add of `f32`.
    FmaF32, "f32 fma", FlopsPerSec, Rate(F32, Fma);
    /// Multiply and add of `f32` that do not fuse.
    AddMulF32, "f32 add+mul", FlopsPerSec, Rate(F32, AddMul);
    /// Fused multiply-add of `f64`.
    FmaF64, "f64 fma", FlopsPerSec, Rate(F64, Fma);
    /// Fused multiply-add of two `f16` at once.
    FmaF16x2, "f16x2 fma", FlopsPerSec, Rate(F16x2, Fma);
    /// Fused multiply-add of two `bf16` at once.
    FmaBf16x2, "bf16x2 fma", FlopsPerSec, Rate(Bf16x2, Fma);
    /// Multiply and add of two `f16` at once that do not fuse.
    AddMulF16x2, "f16x2 add+mul", FlopsPerSec, Rate(F16x2, AddMul);
    /// Multiply-add of 32-bit integers.
    MadI32, "i32 multiply-add", OpsPerSec, Rate(I32, Integer);
    /// 2^x of `f32`: special functions.
    Exp2F32, "f32 exp2", OpsPerSec, Other(Arithmetic::Special, 1.0);
    /// Products of `bf16` on tensor cores by `wgmma`, with sums in `f32`, of random numbers.
    TensorBf16, "bf16 tensor", FlopsPerSec, Tensor(TensorType::Bf16);
    /// The same of zeros.
    TensorBf16Zeros, "bf16 tensor, zeros", FlopsPerSec, Tensor(TensorType::Bf16);
    /// Products of `f16` by `wgmma`, of random numbers.
    TensorF16, "f16 tensor", FlopsPerSec, Tensor(TensorType::F16);
    /// The same of zeros.
    TensorF16Zeros, "f16 tensor, zeros", FlopsPerSec, Tensor(TensorType::F16);
    /// Products of `tf32` by `wgmma`, of random numbers.
    TensorTf32, "tf32 tensor", FlopsPerSec, Tensor(TensorType::Tf32);
    /// The same of zeros.
    TensorTf32Zeros, "tf32 tensor, zeros", FlopsPerSec, Tensor(TensorType::Tf32);
    /// Products of `e4m3` by `wgmma`, of random numbers.
    TensorE4m3, "e4m3 tensor", FlopsPerSec, Tensor(TensorType::F8);
    /// The same of zeros.
    TensorE4m3Zeros, "e4m3 tensor, zeros", FlopsPerSec, Tensor(TensorType::F8);
    /// Products of `e5m2` by `wgmma`, of random numbers.
    TensorE5m2, "e5m2 tensor", FlopsPerSec, Tensor(TensorType::F8);
    /// The same of zeros.
    TensorE5m2Zeros, "e5m2 tensor, zeros", FlopsPerSec, Tensor(TensorType::F8);
    /// Products of 8-bit integers by `wgmma`, with sums of 32 bits, of random numbers.
    TensorS8, "s8 tensor", OpsPerSec, Tensor(TensorType::I8);
    /// The same of zeros.
    TensorS8Zeros, "s8 tensor, zeros", OpsPerSec, Tensor(TensorType::I8);
    /// Products of `f64` on tensor cores by `mma.sync`, of random numbers.
    TensorF64, "f64 tensor", FlopsPerSec, Tensor(TensorType::F64);
    /// The same of zeros.
    TensorF64Zeros, "f64 tensor, zeros", FlopsPerSec, Tensor(TensorType::F64);
    /// Products of `bf16` on tensor cores by `mma.sync`, of random numbers.
    MmaBf16, "bf16 mma.sync", FlopsPerSec, Tensor(TensorType::Bf16);
    /// The same of zeros.
    MmaBf16Zeros, "bf16 mma.sync, zeros", FlopsPerSec, Tensor(TensorType::Bf16);
    /// Shared memory of another block of the cluster read.
    ClusterRead, "cluster read", BytesPerSec;
    /// Boxes of a tensor brought from memory into shared memory.
    BoxLoad, "TMA load", BytesPerSec;
    /// The same from the level 2 cache.
    BoxLoadL2, "TMA load, L2", BytesPerSec;
    /// Boxes of a tensor stored from shared memory.
    BoxStore, "TMA store", BytesPerSec;
    /// A load from memory.
    MemoryLatency, "memory latency", Seconds;
    /// A load from memory that is read by all multiprocessors, at 95 % of the greatest rate: [`UnderLoad`](super::UnderLoad).
    LoadedReadLatency, "loaded latency, read", Seconds;
    /// The same where as much is written as is read.
    LoadedCopyLatency, "loaded latency, copy", Seconds;
    /// The same where two arrays are read and one is written.
    LoadedTriadLatency, "loaded latency, triad", Seconds;
    /// A load from the level 2 cache.
    L2Latency, "L2 latency", Seconds;
    /// A load from the level 2 cache's partition that is nearer to the multiprocessor.
    L2NearLatency, "L2 latency, near", Seconds;
    /// From the one that is farther.
    L2FarLatency, "L2 latency, far", Seconds;
    /// A load of one thread from memory that all other multiprocessors read, at 95 % of the greatest rate: [`Busy`](super::Busy).
    BusyMemoryLatency, "memory latency, busy", Seconds;
    /// The same of the level 2 cache.
    BusyL2Latency, "L2 latency, busy", Seconds;
    /// A load from the level 1 cache.
    L1Latency, "L1 latency", Seconds;
    /// A load from shared memory.
    SharedLatency, "shared latency", Seconds;
    /// An atomic addition in the level 2 cache that returns what was there.
    AtomicLatency, "atomic latency", Seconds;
    /// The same in shared memory.
    SharedAtomicLatency, "shared atomic latency", Seconds;
    /// A row of a tensor brought from the level 2 cache into shared memory, and waited for.
    BoxLatency, "TMA latency, L2", Seconds;
    /// A load from the shared memory of another block of the cluster.
    ClusterLatency, "cluster latency", Seconds;
    /// A barrier in shared memory at which 32 threads arrive and wait.
    Arrivals32, "mbarrier, 32 threads", Seconds;
    /// 256 threads.
    Arrivals256, "mbarrier, 256 threads", Seconds;
    /// 1024 threads.
    Arrivals1024, "mbarrier, 1024 threads", Seconds;
    /// A shuffle that waits for the one before.
    ShuffleLatency, "shuffle latency", Seconds;
    /// A vote that waits for the one before.
    VoteLatency, "vote latency", Seconds;
    /// A barrier of a block of 32 threads.
    BlockBarrier32, "barrier, 32 threads", Seconds;
    /// Of 128.
    BlockBarrier128, "barrier, 128 threads", Seconds;
    /// Of 256.
    BlockBarrier256, "barrier, 256 threads", Seconds;
    /// Of 512.
    BlockBarrier512, "barrier, 512 threads", Seconds;
    /// Of 1024.
    BlockBarrier1024, "barrier, 1024 threads", Seconds;
    /// An operation of [`Quantity::FmaF32`] that waits for the one before.
    FmaF32Latency, "f32 fma latency", Seconds, Latency(F32);
    /// An operation of [`Quantity::FmaF64`] that waits for the one before.
    FmaF64Latency, "f64 fma latency", Seconds, Latency(F64);
    /// An operation of [`Quantity::FmaF16x2`] that waits for the one before.
    FmaF16x2Latency, "f16x2 fma latency", Seconds, Latency(F16x2);
    /// An operation of [`Quantity::Exp2F32`], and the negation before it, that wait for the one before.
    Exp2F32Latency, "f32 exp2 latency", Seconds;
    /// The host's part of a launch that nobody waits for.
    LaunchEnqueue, "launch, enqueue", Seconds;
    /// A launch until the host knows that it is done.
    LaunchAndWait, "launch and wait", Seconds;
    /// A launch that is a node of a graph: the device's time.
    GraphNode, "graph node", Seconds;
    /// A barrier of all threads of a grid, a block on each multiprocessor.
    GridBarrier, "grid barrier", Seconds;
}

/// 32 banks of 4 bytes a clock: CUDA C++ Programming Guide, "Shared Memory".
const BANK_BYTES: f64 = 128.0;

/// The unit of a [`Quantity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Bytes per second.
    #[serde(rename = "B/s")]
    BytesPerSec,
    /// Floating-point operations per second; a multiply-add is two.
    #[serde(rename = "FLOP/s")]
    FlopsPerSec,
    /// Other operations per second; a multiply-add is two.
    #[serde(rename = "op/s")]
    OpsPerSec,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
}

impl Quantity {
    /// Returns the quantity of a precision's arithmetic roof, where it is measured.
    pub fn arithmetic_rate(precision: Precision, limit: Limit) -> Option<Quantity> {
        Quantity::of(|it| matches!(it, Rate(of, kind) if (of, kind) == (precision, limit)))
    }

    /// The quantity that measures the roof of tensor cores that multiply matrices of a type, where it is measured: random numbers, as
    /// kernels have them.
    pub fn tensor_rate(element: TensorType) -> Option<Quantity> {
        Quantity::of(|it| matches!(it, Tensor(of) if of == element))
    }

    /// The quantity that measures the time of a multiply-add that waits for the one before.
    pub fn fma_latency(precision: Precision) -> Option<Quantity> {
        Quantity::of(|it| matches!(it, Latency(of) if of == precision.measured_as()))
    }

    /// The first that measures this.
    fn of(wanted: impl Fn(Measures) -> bool) -> Option<Quantity> {
        let mut all = Quantity::ALL.into_iter();
        all.find(|it| it.measures().is_some_and(&wanted))
    }

    /// Returns the data sheet's value, or for arithmetic and shared memory the product of the parts: multiprocessors x
    /// results a clock x clock. `None` for the emulator and where nothing is known.
    pub fn datasheet(self, facts: &DeviceProperties) -> Option<f64> {
        let gpu = facts.gpu.as_ref()?;
        let clocks = f64::from(facts.multiprocessors) * gpu.clock_hz;
        if let Some((arithmetic, operations)) = self.arithmetic() {
            let lanes = facts.capability().lanes(arithmetic)?;
            return Some(clocks * f64::from(lanes) * operations);
        }
        if let Some(Tensor(element)) = self.measures() {
            let rate = Board::of(&facts.name)?.tensor_roofs().get(element)?;
            return Some(rate.0);
        }
        match self {
            Quantity::MemoryRead
            | Quantity::MemoryWrite
            | Quantity::MemoryCopy
            | Quantity::MemoryScale
            | Quantity::MemoryTriad
            | Quantity::BoxLoad
            | Quantity::BoxStore => Some(Board::of(&facts.name)?.memory.0),
            // CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions": results a clock.
            Quantity::Shuffle => Some(clocks * 32.0),
            Quantity::Vote => Some(clocks * 64.0),
            _ => Some(clocks * BANK_BYTES / f64::from(self.ways()?)),
        }
    }

    /// Lanes that want different words from a bank of shared memory at a time.
    fn ways(self) -> Option<u32> {
        Some(match self {
            Quantity::SharedRead | Quantity::SharedWays1 => 1,
            Quantity::SharedWays2 => 2,
            Quantity::SharedWays4 => 4,
            Quantity::SharedWays8 => 8,
            Quantity::SharedWays16 => 16,
            Quantity::SharedWays32 => 32,
            _ => return None,
        })
    }

    /// The lanes that do it, and how many operations each of their results is.
    fn arithmetic(self) -> Option<(Arithmetic, f64)> {
        match self.measures()? {
            Rate(precision, Limit::Fma | Limit::Integer) => Some((precision.into(), 2.0)),
            // An add or a multiply takes a multiply-add's place.
            Rate(precision, _) => Some((precision.into(), 1.0)),
            Other(arithmetic, operations) => Some((arithmetic, operations)),
            Latency(_) | Tensor(_) => None,
        }
    }
}

impl Unit {
    /// A value for people, such as `4.23 TB/s` or `561 ns`.
    pub fn text(self, value: f64) -> String {
        match self {
            Unit::Seconds if value < 1e-6 => format!("{:.1} ns", value * 1e9),
            Unit::Seconds => format!("{:.2} us", value * 1e6),
            Unit::BytesPerSec => rate(value, "B/s"),
            Unit::FlopsPerSec => rate(value, "FLOP/s"),
            Unit::OpsPerSec => rate(value, "op/s"),
        }
    }
}

fn rate(value: f64, unit: &str) -> String {
    if value >= 1e12 {
        format!("{:.3} T{unit}", value / 1e12)
    } else {
        format!("{:.3} G{unit}", value / 1e9)
    }
}
