//! Arithmetic in independent chains of dependent operations: with many chains the rate of a
//! multiprocessor, with one chain what an operation takes.
//!
//! A step is v = v v + c. With c near -2 the values wander over their interval without regularity,
//! so that no data repeat, and no compiler can shorten the chain.

use core::marker::PhantomData;

use cuda_std::ApproxFloat;
use cuda_std::misc::{clock, globaltimer};
use cuda_std::packed::{Bf16x2, F16x2};
use cuda_std::prelude::*;

/// Threads with different starting values; the others repeat them.
pub const LANES: u32 = 8;

/// An operation that chains are made of.
pub trait Operation: 'static {
    /// The operands.
    type Value: Copy;

    /// Steps of a thread, over all its chains, between two looks at the loop's counter. These take
    /// three instructions: nothing beside operations that leave the scheduler time for others, and 1 %
    /// of 256 that do not. A multiple of 128.
    const LINE: u32;

    /// The c of the steps: near -1.9.
    const C: Self::Value;

    /// The value that chain `i`, below 128, starts with: from 0.5 to 1, both halves alike where two
    /// are in a register.
    fn start(i: u32) -> Self::Value;

    /// The next value of a chain.
    fn step(value: Self::Value, c: Self::Value) -> Self::Value;

    /// The value as a number; of two in a register their bits.
    fn number(value: Self::Value) -> f64;
}

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident of $ty:ty, $line:literal a line {
            $c:expr,
            |$i:ident| $start:expr,
            |$v:ident, $in:ident| $step:expr,
            |$last:ident| $number:expr
        }
    )*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Operation for $name {
            type Value = $ty;

            const LINE: u32 = $line;

            const C: $ty = $c;

            #[inline(always)]
            fn start($i: u32) -> $ty {
                $start
            }

            #[inline(always)]
            fn step($v: $ty, $in: $ty) -> $ty {
                $step
            }

            #[inline(always)]
            fn number($last: $ty) -> f64 {
                $number
            }
        }
    )*};
}

operations! {
    /// A fused multiply-add of `f32`.
    FmaF32 of f32, 1024 a line {
        -1.9,
        |i| 0.5 + i as f32 / 256.0,
        |v, c| GpuFloat::mul_add(v, v, c),
        |v| f64::from(v)
    }
    /// A fused multiply-add of `f64`.
    FmaF64 of f64, 256 a line {
        -1.9,
        |i| 0.5 + f64::from(i) / 256.0,
        |v, c| GpuFloat::mul_add(v, v, c),
        |v| v
    }
    /// A fused multiply-add of two `f16` in a register.
    FmaF16x2 of F16x2, 1024 a line {
        F16x2::splat(f16::from_f32_const(-1.9)),
        |i| F16x2::splat(f16::from_bits(0x3800 | (i as u16) << 3)),
        |v, c| v.mul_add(v, c),
        |v| f64::from(v.to_bits())
    }
    /// A fused multiply-add of two `bf16` in a register.
    FmaBf16x2 of Bf16x2, 1024 a line {
        Bf16x2::splat(bf16::from_f32_const(-1.9)),
        |i| Bf16x2::splat(bf16::from_bits(0x3F00 | i as u16)),
        |v, c| v.mul_add(v, c),
        |v| f64::from(v.to_bits())
    }
    /// A multiply and an add of `f32`, each of which rounds.
    AddMulF32 of f32, 1024 a line {
        -1.9,
        |i| 0.5 + i as f32 / 256.0,
        |v, c| v * v + c,
        |v| f64::from(v)
    }
    /// A multiply and an add of two `f16` in a register, each of which rounds.
    AddMulF16x2 of F16x2, 1024 a line {
        F16x2::splat(f16::from_f32_const(-1.9)),
        |i| F16x2::splat(f16::from_bits(0x3800 | (i as u16) << 3)),
        |v, c| v * v + c,
        |v| f64::from(v.to_bits())
    }
    /// A multiply-add of 32-bit integers, wrapping.
    MadI32 of u32, 128 a line {
        0x9E37_79B1,
        |i| i,
        |v, c| v.wrapping_mul(v).wrapping_add(c),
        |v| f64::from(v)
    }
    /// 2^-v, approximately: a special function that is one instruction of the machine. The values run
    /// into 0.641, so they do not tell how many steps there were; the instructions do (`tests/library/ptx.rs`).
    Exp2F32 of f32, 256 a line {
        0.0,
        |i| 0.5 + i as f32 / 256.0,
        |v, _c| (-v).fast_exp2_ftz(),
        |v| f64::from(v)
    }
}

/// Each thread runs `CHAINS` chains for [`Operation::LINE`] / `CHAINS` steps each, `lines` times, and writes the
/// sum of their last values. The first thread of each block writes how long its chains took, in
/// cycles and in nanoseconds.
///
/// # Safety
/// The grid is one-dimensional; `c` points to one, and `sums` has a place for each thread, and `clocks`
/// for each block.
#[kernel(instances(
    fma_f32_c1<FmaF32, 1>,
    fma_f32_c2<FmaF32, 2>,
    fma_f32_c4<FmaF32, 4>,
    fma_f32_c8<FmaF32, 8>,
    fma_f64_c1<FmaF64, 1>,
    fma_f64_c8<FmaF64, 8>,
    fma_f16x2_c1<FmaF16x2, 1>,
    fma_f16x2_c8<FmaF16x2, 8>,
    fma_bf16x2_c1<FmaBf16x2, 1>,
    fma_bf16x2_c8<FmaBf16x2, 8>,
    add_mul_f32_c1<AddMulF32, 1>,
    add_mul_f32_c8<AddMulF32, 8>,
    add_mul_f16x2_c1<AddMulF16x2, 1>,
    add_mul_f16x2_c8<AddMulF16x2, 8>,
    mad_i32_c1<MadI32, 1>,
    mad_i32_c8<MadI32, 8>,
    exp2_f32_c1<Exp2F32, 1>,
    exp2_f32_c8<Exp2F32, 8>
))]
pub unsafe fn chains<O: Operation, const CHAINS: usize>(
    lines: u32,
    c: *const O::Value,
    sums: *mut f64,
    clocks: *mut [u64; 2],
) {
    // SAFETY: by the contract. A parameter of two halves `ptxas` would read again in each line.
    let c = unsafe { *c };
    let mut chains = Chains::<O, CHAINS>::new(thread::thread_idx_x() % LANES, c);
    let (ticks, nanoseconds) = (clock(), globaltimer());
    for _ in 0..lines {
        chains.line();
    }
    // SAFETY: a place for each thread, and one for each block, of which one thread writes it.
    unsafe {
        *sums.add(thread::global_index()) = chains.sum();
        if thread::thread_idx_x() == 0 {
            let passed = [clock() - ticks, globaltimer() - nanoseconds];
            *clocks.add(thread::block_idx_x() as usize) = passed;
        }
    }
}

/// The chains of a thread.
struct Chains<O: Operation, const CHAINS: usize> {
    values: [O::Value; CHAINS],
    c: O::Value,
    operation: PhantomData<O>,
}

impl<O: Operation, const CHAINS: usize> Chains<O, CHAINS> {
    #[inline(always)]
    fn new(lane: u32, c: O::Value) -> Self {
        let mut values = [c; CHAINS];
        for (chain, value) in values.iter_mut().enumerate() {
            *value = O::start(lane * CHAINS as u32 + chain as u32);
        }
        Chains {
            values,
            c,
            operation: PhantomData,
        }
    }

    /// In sixteen parts, because the compiler unrolls a loop of 64 steps and not one of 256.
    #[inline(always)]
    fn line(&mut self) {
        const { assert!(O::LINE.is_multiple_of(128)) };
        self.quarter();
        self.quarter();
        self.quarter();
        self.quarter();
    }

    #[inline(always)]
    fn quarter(&mut self) {
        self.part();
        self.part();
        self.part();
        self.part();
    }

    #[inline(always)]
    fn part(&mut self) {
        for _ in 0..const { O::LINE / 16 / CHAINS as u32 } {
            for value in &mut self.values {
                *value = O::step(*value, self.c);
            }
        }
    }

    #[inline(always)]
    fn sum(self) -> f64 {
        self.values
            .iter()
            .fold(0.0, |sum, value| sum + O::number(*value))
    }
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::{Chain, Measured, Variant};

/// The host's side: entries to launch the kernels, and references to check them.
#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use core::marker::PhantomData;

    use cuda_std::launch::{Entry, Signature, Slice, SliceMut};

    use super::*;

    /// The signature of the kernels of this operation: lines, c, sums and clocks.
    pub struct Chain<O>(PhantomData<O>);

    impl<O: Operation> Signature for Chain<O> {
        type Arguments<'a> = (
            u32,
            Slice<'a, O::Value>,
            SliceMut<'a, f64>,
            SliceMut<'a, [u64; 2]>,
        );
    }

    /// A kernel of an operation.
    pub struct Variant<O: Operation> {
        /// Independent chains of a thread.
        pub chains: u32,
        /// The kernel.
        pub entry: Entry<Chain<O>>,
        /// Returns what thread `lane` of a launch of so many `lines` writes to `sums`.
        pub reference: fn(lane: u32, lines: u32) -> f64,
    }

    /// An operation that there are kernels for.
    pub trait Measured: Operation + Sized {
        /// Operations of a step, as rates count them.
        const OPERATIONS: f64;

        /// How far a sum may be from the reference, as a fraction of it.
        const TOLERANCE: f64;

        /// The kernels, ascending by chains.
        const VARIANTS: &[Variant<Self>];
    }

    fn reference<O: Operation, const CHAINS: usize>(lane: u32, lines: u32) -> f64 {
        let mut chains = Chains::<O, CHAINS>::new(lane % LANES, O::C);
        for _ in 0..lines {
            chains.line();
        }
        chains.sum()
    }

    macro_rules! measured {
        ($($operation:ident($operations:literal, $tolerance:literal) = $($kernel:ident<$chains:literal>)*;)*) => {$(
            impl Measured for $operation {
                const OPERATIONS: f64 = $operations;
                const TOLERANCE: f64 = $tolerance;
                const VARIANTS: &[Variant<Self>] = &[$(Variant {
                    chains: $chains,
                    entry: Entry::<$kernel>::of_kernel().with_signature(),
                    reference: reference::<$operation, $chains>,
                }),*];
            }
        )*};
    }

    measured! {
        FmaF32(2.0, 0.0) = fma_f32_c1<1> fma_f32_c2<2> fma_f32_c4<4> fma_f32_c8<8>;
        FmaF64(2.0, 0.0) = fma_f64_c1<1> fma_f64_c8<8>;
        FmaF16x2(4.0, 0.0) = fma_f16x2_c1<1> fma_f16x2_c8<8>;
        FmaBf16x2(4.0, 0.0) = fma_bf16x2_c1<1> fma_bf16x2_c8<8>;
        AddMulF32(2.0, 0.0) = add_mul_f32_c1<1> add_mul_f32_c8<8>;
        AddMulF16x2(4.0, 0.0) = add_mul_f16x2_c1<1> add_mul_f16x2_c8<8>;
        MadI32(2.0, 0.0) = mad_i32_c1<1> mad_i32_c8<8>;
        Exp2F32(1.0, 1e-5) = exp2_f32_c1<1> exp2_f32_c8<8>;
    }
}
