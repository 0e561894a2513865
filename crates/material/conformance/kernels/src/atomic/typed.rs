//! The atomic floats of `cuda_std::atomic`.

use cuda_std::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use cuda_std::atomic::{
    AtomicF32, AtomicF64, BlockAtomicF32, BlockAtomicF64, SystemAtomicF32, SystemAtomicF64,
};
use cuda_std::prelude::*;

use super::operations;

macro_rules! typed {
    ($($name:ident: $float:ident $atomic:ident;)*) => {$(
        operations! { $name in global: $float, |cell, operand| [
            (&*cell.cast::<$atomic>()).fetch_add(operand, Relaxed),
            (&*cell.cast::<$atomic>()).fetch_sub(operand, AcqRel),
            (&*cell.cast::<$atomic>()).fetch_and(operand, Acquire),
            (&*cell.cast::<$atomic>()).fetch_or(operand, Release),
            (&*cell.cast::<$atomic>()).fetch_xor(operand, SeqCst),
            {
                // What some thread stored, after this one did.
                (&*cell.cast::<$atomic>()).store(operand, Release);
                $atomic::new((&*cell.cast::<$atomic>()).load(Acquire)).into_inner()
            },
        ]}
    )*};
}

typed! {
    typed_f32: f32 AtomicF32;
    typed_f64: f64 AtomicF64;
    typed_f32_block: f32 BlockAtomicF32;
    typed_f64_block: f64 BlockAtomicF64;
    typed_f32_system: f32 SystemAtomicF32;
    typed_f64_system: f64 SystemAtomicF64;
}
