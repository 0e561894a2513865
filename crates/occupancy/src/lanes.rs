//! How much arithmetic a multiprocessor does at once.

use crate::ComputeCapability;

/// Generates [`Arithmetic`], and what a row of `capabilities.rs` may say, of the kinds of arithmetic that a multiprocessor has
/// so many lanes for.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $variant:ident = $field:ident;)*) => {
        /// Arithmetic that a multiprocessor has so many lanes for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Arithmetic {
            $($(#[$doc])* $variant,)*
        }

        /// The lanes of a multiprocessor of a capability: 0 where they are not known.
        #[derive(Clone, Copy)]
        pub(crate) struct Facts {
            pub(crate) warps: u32,
            pub(crate) blocks: u32,
            /// Shared memory, where the cache gives it all that it can.
            pub(crate) shared_kib: u32,
            /// Multiprocessors of a GPU.
            pub(crate) multiprocessors: u32,
            $($(#[$doc])* pub(crate) $field: u32,)*
        }

        impl Facts {
            pub(crate) const UNKNOWN: Facts = Facts {
                warps: 0,
                blocks: 0,
                shared_kib: 0,
                multiprocessors: 0,
                $($field: 0,)*
            };

            fn lanes(self, arithmetic: Arithmetic) -> u32 {
                match arithmetic {
                    $(Arithmetic::$variant => self.$field,)*
                }
            }
        }
    };
}

arithmetic! {
    /// Add, multiply, multiply-add of `f32`.
    F32 = f32;
    /// Add, multiply, multiply-add of `f64`.
    F64 = f64;
    /// The same of `f16` in pairs.
    F16x2 = f16x2;
    /// The same of `bf16` in pairs.
    Bf16x2 = bf16x2;
    /// Multiply and multiply-add of 32-bit integers.
    I32 = i32;
    /// Reciprocal, square root, logarithm, exponential, sine of `f32`, approximate.
    Special = special;
}

impl ComputeCapability {
    /// Results per clock of a multiprocessor. `None` for what is not known.
    pub fn lanes(self, arithmetic: Arithmetic) -> Option<u32> {
        let lanes = self.facts().lanes(arithmetic);
        (lanes > 0).then_some(lanes)
    }
}
