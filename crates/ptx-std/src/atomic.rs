//! Atomic operations with a scope: on the GPU each is one instruction.
//!
//! The scope says between which threads an operation is atomic and orders memory: those of one
//! block, of one device, or of the whole system, CPUs included. The narrower, the cheaper.
//! [`AtomicF32`] and its like are typed; [`mid`] works on any pointer. [`Ordering::SeqCst`] puts a
//! sequentially consistent fence before the operation.
//!
//! On the host all threads are one scope, and additions to floats are loops of compare-and-swap,
//! which give the same sum but for subnormals: the GPU's `f32` addition to global memory takes
//! subnormal numbers as zeros and gives none.
//!
//! `core::sync::atomic` compiles for the GPU too, and its loads, stores, `compare_exchange` and
//! `fence` are right, with the scope of the system. Its `fetch_*` and `swap` are so since Rust 1.99;
//! those of Rust 1.96 lose their ordering and their scope, and become relaxed operations of the
//! device. Use those of this module, or put fences around them. Its 8 and 16-bit operations are loops.

use core::cell::UnsafeCell;
pub use core::sync::atomic::Ordering;

use pastey::paste;

use crate::arch::atomic as arch;

pub mod mid;

macro_rules! fences {
    ($($scope:ident: $threads:literal;)*) => {paste! {$(
        #[doc = "Orders the memory accesses before it and after it, as seen by " $threads "."]
        ///
        /// Does nothing for [`Ordering::Relaxed`].
        ///
        /// ```
        #[doc = "use cuda_std::atomic::{Ordering, " $scope "_thread_fence};"]
        /// use std::sync::atomic::AtomicU32;
        ///
        /// let (value, flag) = (AtomicU32::new(0), AtomicU32::new(0));
        /// let publish = || {
        ///     value.store(7, Ordering::Relaxed);
        #[doc = "    " $scope "_thread_fence(Ordering::Release);"]
        ///     flag.store(1, Ordering::Relaxed);
        /// };
        /// let read = || {
        ///     let is_there = flag.load(Ordering::Relaxed) == 1;
        #[doc = "    " $scope "_thread_fence(Ordering::Acquire);"]
        ///     is_there.then(|| value.load(Ordering::Relaxed))
        /// };
        /// assert_eq!(read(), None);
        /// publish();
        /// assert_eq!(read(), Some(7));
        /// ```
        #[inline(always)]
        pub fn [<$scope _thread_fence>](ordering: Ordering) {
            arch::$scope::fence(ordering);
        }
    )*}};
}

fences! {
    block: "the threads of the block";
    device: "the threads of the device";
    system: "the threads of every device and the CPU's";
}

macro_rules! atomic_floats {
    ($($name:ident: $float:ident $width:literal $align:literal $scope:ident $(($unsafe:ident))?;)*) => {
        $(atomic_float!($name $float $width $align $scope [$($unsafe)?]);)*
    };
}

/// The block's atomics have unsafe methods, because another block may hold the same reference.
macro_rules! atomic_float {
    ($name:ident $float:ident $width:literal $align:literal $scope:ident [$($unsafe:ident)?]) => {
        #[doc = concat!("An `", stringify!($float), "` shared between threads; its operations have ")]
        #[doc = concat!("the scope of the ", stringify!($scope), ".")]
        ///
        /// It lies in memory as the float does.
        ///
        /// ```
        #[doc = concat!("use cuda_std::atomic::{", stringify!($name), ", Ordering};")]
        ///
        #[doc = concat!("let sum = ", stringify!($name), "::new(1.0);")]
        /// let kernel = || {
        #[doc = concat!("    ", atomic_float!(@open $($unsafe)?), "sum.fetch_add(0.5, Ordering::Relaxed)", atomic_float!(@close $($unsafe)?), ";")]
        /// };
        /// # let shape = simt::Shape { grid: [1, 1, 1], block: [64, 1, 1], dynamic_shared: 0 };
        /// # simt::Launch::new(shape).run(&kernel)?;
        /// assert_eq!(sum.into_inner(), 33.0);
        ///
        #[doc = concat!("let value = ", stringify!($name), "::new(0.0);")]
        #[doc = atomic_float!(@block_open $($unsafe)?)]
        /// value.store(5.0, Ordering::Release);
        /// assert_eq!(value.fetch_sub(2.0, Ordering::AcqRel), 5.0);
        /// assert_eq!(value.load(Ordering::Acquire), 3.0);
        /// // The others are of bits: this one takes the sign off, and those leave it so.
        #[doc = concat!("value.fetch_and(", stringify!($float), "::from_bits(!(-0.0 as ", stringify!($float), ").to_bits()), Ordering::Relaxed);")]
        /// value.fetch_or(0.0, Ordering::Relaxed);
        /// assert_eq!(value.fetch_xor(-0.0, Ordering::Relaxed), 3.0);
        #[doc = atomic_float!(@block_close $($unsafe)?)]
        /// assert_eq!(value.into_inner(), -3.0);
        /// # Ok::<(), simt::LaunchError>(())
        /// ```
        #[repr(C, align($align))]
        #[derive(Debug, Default)]
        pub struct $name(UnsafeCell<$float>);

        // SAFETY: every access through a shared reference is atomic: for the threads of the scope
        // by the instructions' definition, for others by the contract of the unsafe methods.
        unsafe impl Sync for $name {}

        // SAFETY: the bits of a float.
        unsafe impl crate::shared::AnyBits for $name {}

        impl $name {
            /// A new atomic of this value.
            pub const fn new(value: $float) -> Self {
                Self(UnsafeCell::new(value))
            }

            /// The value.
            pub fn into_inner(self) -> $float {
                self.0.into_inner()
            }

            atomic_float! { @fetch $float $scope [$($unsafe)?]
                /// Adds `value` and returns what was there before.
                add
                /// Subtracts `value` and returns what was there before.
                sub
                /// Takes the bitwise "and" with `value`'s bits and returns what was there before.
                and
                /// Takes the bitwise "or" with `value`'s bits and returns what was there before.
                or
                /// Takes the bitwise "exclusive or" with `value`'s bits and returns what was there
                /// before.
                xor
            }

            paste! {
                /// The value.
                ///
                /// # Panics
                /// For [`Ordering::Release`] and [`Ordering::AcqRel`].
                $(#[doc = atomic_float!(@$unsafe)])?
                #[inline(always)]
                #[track_caller]
                pub $($unsafe)? fn load(&self, ordering: Ordering) -> $float {
                    // SAFETY: the reference keeps the value alive.
                    let bits = unsafe {
                        mid::[<atomic_load_ $width _ $scope>](self.0.get().cast(), ordering)
                    };
                    $float::from_bits(bits)
                }

                /// Sets the value.
                ///
                /// # Panics
                /// For [`Ordering::Acquire`] and [`Ordering::AcqRel`].
                $(#[doc = atomic_float!(@$unsafe)])?
                #[inline(always)]
                #[track_caller]
                pub $($unsafe)? fn store(&self, value: $float, ordering: Ordering) {
                    let (pointer, bits) = (self.0.get().cast(), value.to_bits());
                    // SAFETY: the reference keeps the value alive.
                    unsafe { mid::[<atomic_store_ $width _ $scope>](pointer, ordering, bits) };
                }
            }
        }
    };
    (
        @fetch $float:ident $scope:ident $unsafe:tt
        $($(#[$doc:meta])* $operation:ident)*
    ) => {
        $(atomic_float!(@one $float $scope $unsafe $(#[$doc])* $operation);)*
    };
    (
        @one $float:ident $scope:ident [$($unsafe:ident)?]
        $(#[$doc:meta])* $operation:ident
    ) => {
        paste! {
            $(#[$doc])*
            $(#[doc = atomic_float!(@$unsafe)])?
            #[inline(always)]
            #[track_caller]
            pub $($unsafe)? fn [<fetch_ $operation>](
                &self,
                value: $float,
                ordering: Ordering,
            ) -> $float {
                let pointer = self.0.get();
                // SAFETY: the reference keeps the value alive.
                unsafe {
                    mid::[<atomic_fetch_ $operation _ $float _ $scope>](pointer, ordering, value)
                }
            }
        }
    };
    (@open unsafe) => {
        "// SAFETY: there is one block.\n    unsafe { "
    };
    (@open) => {
        ""
    };
    (@close unsafe) => {
        " }"
    };
    (@close) => {
        ""
    };
    (@block_open unsafe) => {
        "// SAFETY: this thread alone knows of it.\nunsafe {"
    };
    (@block_open) => {
        "# {"
    };
    (@block_close unsafe) => {
        "}"
    };
    (@block_close) => {
        "# }"
    };
    (@unsafe) => {
        "\n# Safety\nNo thread of another block accesses the value at the same time."
    };
}

atomic_floats! {
    AtomicF32: f32 32 4 device;
    AtomicF64: f64 64 8 device;
    BlockAtomicF32: f32 32 4 block (unsafe);
    BlockAtomicF64: f64 64 8 block (unsafe);
    SystemAtomicF32: f32 32 4 system;
    SystemAtomicF64: f64 64 8 system;
}
