//! Atomic operations on pointers, one function for each operation, type and scope.
//!
//! The names are those of `cuda_std`: `atomic_fetch_{add,sub,and,or,xor,exch}_{type}_{scope}` for
//! `u32`, `i32`, `u64`, `i64`, `f32` and `f64`, `atomic_fetch_{min,max}` for the integers,
//! `atomic_fetch_{inc,dec}` for `u32`, `atomic_compare_and_swap_{type}_{scope}`, and
//! `atomic_load_{32,64}_{scope}` and `atomic_store_{32,64}_{scope}`, where the scope is `block`,
//! `device` or `system`. They are compiled for the ordering that is passed, if that is a
//! constant; otherwise they branch.
//!
//! # Safety
//! For every function here: the pointer is valid for reads and writes, aligned to its value's size,
//! and points to global or shared memory. While other threads may access the value, all accesses
//! are atomic, and those of threads that the scope does not cover do not come at the same time.
//!
//! ```
//! use cuda_std::atomic::{Ordering, mid::atomic_fetch_add_u32_device};
//!
//! let mut counter = 40;
//! // SAFETY: no other thread knows of the counter.
//! let before = unsafe { atomic_fetch_add_u32_device(&mut counter, Ordering::Relaxed, 2) };
//! assert_eq!((before, counter), (40, 42));
//! ```

use core::sync::atomic::Ordering;

use pastey::paste;

use crate::arch::atomic as arch;

pub use super::{block_thread_fence, device_thread_fence, system_thread_fence};

macro_rules! accesses {
    ($($scope:ident)*) => {paste! {$(
        accesses!(@width $scope 32 u32);
        accesses!(@width $scope 64 u64);
    )*}};
    (@width $scope:ident $width:literal $bits:ident) => {paste! {
        #[doc = "Reads the value; the scope is the " $scope "."]
        ///
        /// ```
        #[doc = "use cuda_std::atomic::{Ordering, mid::{atomic_load_" $width "_" $scope ", atomic_store_" $width "_" $scope "}};"]
        ///
        #[doc = "let mut flag: " $bits " = 0;"]
        /// // SAFETY: no other thread knows of the flag.
        /// let flag = unsafe {
        #[doc = "    atomic_store_" $width "_" $scope "(&mut flag, Ordering::Release, 7);"]
        #[doc = "    atomic_load_" $width "_" $scope "(&mut flag, Ordering::Acquire)"]
        /// };
        /// assert_eq!(flag, 7);
        /// ```
        ///
        /// # Panics
        /// For [`Ordering::Release`] and [`Ordering::AcqRel`].
        ///
        /// # Safety
        /// See the [module](self).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_load_ $width _ $scope>](ptr: *mut $bits, ordering: Ordering) -> $bits {
            // SAFETY: the caller vouches for the pointer.
            unsafe { arch::$scope::[<load_ $width>](ptr, ordering) }
        }

        #[doc = "Writes the value; the scope is the " $scope "."]
        #[doc = "[`atomic_load_" $width "_" $scope "`] has an example."]
        ///
        /// # Panics
        /// For [`Ordering::Acquire`] and [`Ordering::AcqRel`].
        ///
        /// # Safety
        /// See the [module](self).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_store_ $width _ $scope>](
            ptr: *mut $bits,
            ordering: Ordering,
            val: $bits,
        ) {
            // SAFETY: the caller vouches for the pointer.
            unsafe { arch::$scope::[<store_ $width>](ptr, ordering, val) };
        }
    }};
}

accesses!(block device system);

/// The same bits as another type, for operations that look at nothing but the bits.
trait Reinterpret<T> {
    fn reinterpret(self) -> T;
}

macro_rules! reinterpret {
    ($($from:ty => $to:ty: |$value:ident| $result:expr;)*) => {$(
        impl Reinterpret<$to> for $from {
            #[inline(always)]
            fn reinterpret(self) -> $to {
                let $value = self;
                $result
            }
        }
    )*};
}

reinterpret! {
    u32 => u32: |value| value;
    i32 => u32: |value| value.cast_unsigned();
    u32 => i32: |value| value.cast_signed();
    i32 => i32: |value| value;
    f32 => u32: |value| value.to_bits();
    u32 => f32: |value| f32::from_bits(value);
    f32 => f32: |value| value;
    u64 => u64: |value| value;
    i64 => u64: |value| value.cast_unsigned();
    u64 => i64: |value| value.cast_signed();
    i64 => i64: |value| value;
    f64 => u64: |value| value.to_bits();
    u64 => f64: |value| f64::from_bits(value);
    f64 => f64: |value| value;
}

macro_rules! does {
    (add) => {
        "Adds `val`, wrapping around if it is an integer"
    };
    (sub) => {
        "Subtracts `val`, wrapping around if it is an integer"
    };
    (inc) => {
        "Adds 1, or writes 0 if the value is `val` or greater"
    };
    (dec) => {
        "Subtracts 1, or writes `val` if the value is 0 or greater than `val`"
    };
    (min) => {
        "Writes the lesser of the value and `val`"
    };
    (max) => {
        "Writes the greater of the value and `val`"
    };
    (and) => {
        "Takes the bitwise \"and\" with `val`"
    };
    (or) => {
        "Takes the bitwise \"or\" with `val`"
    };
    (xor) => {
        "Takes the bitwise \"exclusive or\" with `val`"
    };
    (exch) => {
        "Writes `val`"
    };
}

/// The value before, `val` and the value after, in the example of an operation.
macro_rules! example {
    (add) => {
        "6, 3, 9"
    };
    (sub) => {
        "6, 3, 3"
    };
    (inc) => {
        "6, 9, 7"
    };
    (dec) => {
        "6, 9, 5"
    };
    (min) => {
        "6, 3, 3"
    };
    (max) => {
        "6, 3, 6"
    };
    (and) => {
        "6, 6, 6"
    };
    (or) => {
        "0, 3, 3"
    };
    (xor) => {
        "3, 3, 0"
    };
    (exch) => {
        "6, 3, 3"
    };
}

/// `operation type = |val| instruction(operand)`: the instruction is the one for the operand's
/// module of [`arch`].
macro_rules! fetch {
    ($($operation:ident $type:ident = |$val:ident| $bits:ident::$instruction:ident($value:expr);)*) => {
        $(
            fetch!(@scope block $operation $type |$val| $bits::$instruction($value));
            fetch!(@scope device $operation $type |$val| $bits::$instruction($value));
            fetch!(@scope system $operation $type |$val| $bits::$instruction($value));
        )*
    };
    (
        @scope $scope:ident $operation:ident $type:ident
        |$val:ident| $bits:ident::$instruction:ident($value:expr)
    ) => {paste! {
        #[doc = concat!(does!($operation), "; returns what was there before.")]
        #[doc = "The scope is the " $scope "."]
        ///
        /// ```
        #[doc = "use cuda_std::atomic::{Ordering, mid::atomic_fetch_" $operation "_" $type "_" $scope "};"]
        ///
        #[doc = concat!("let [before, val, after] = [", example!($operation), "].map(|number| number as ", stringify!($type), ");")]
        /// let mut value = before;
        /// // SAFETY: no other thread knows of the value.
        /// let returned = unsafe {
        #[doc = "    atomic_fetch_" $operation "_" $type "_" $scope "(&mut value, Ordering::Relaxed, val)"]
        /// };
        /// assert_eq!((returned, value), (before, after));
        /// ```
        ///
        /// # Safety
        /// See the [module](self).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_fetch_ $operation _ $type _ $scope>](
            ptr: *mut $type,
            ordering: Ordering,
            $val: $type,
        ) -> $type {
            // SAFETY: the caller vouches for the pointer; a cast changes no size or alignment.
            unsafe { arch::$scope::$bits::$instruction(ptr.cast(), ordering, $value.reinterpret()) }
                .reinterpret()
        }
    }};
}

fetch! {
    add u32 = |val| u32::add(val);
    add i32 = |val| u32::add(val);
    add u64 = |val| u64::add(val);
    add i64 = |val| u64::add(val);
    add f32 = |val| f32::add(val);
    add f64 = |val| f64::add(val);
    sub u32 = |val| u32::add(val.wrapping_neg());
    sub i32 = |val| u32::add(val.wrapping_neg());
    sub u64 = |val| u64::add(val.wrapping_neg());
    sub i64 = |val| u64::add(val.wrapping_neg());
    sub f32 = |val| f32::add((-val));
    sub f64 = |val| f64::add((-val));
    inc u32 = |val| u32::inc(val);
    dec u32 = |val| u32::dec(val);
    min u32 = |val| u32::min(val);
    min i32 = |val| i32::min(val);
    min u64 = |val| u64::min(val);
    min i64 = |val| i64::min(val);
    max u32 = |val| u32::max(val);
    max i32 = |val| i32::max(val);
    max u64 = |val| u64::max(val);
    max i64 = |val| i64::max(val);
    and u32 = |val| u32::and(val);
    and i32 = |val| u32::and(val);
    and u64 = |val| u64::and(val);
    and i64 = |val| u64::and(val);
    and f32 = |val| u32::and(val);
    and f64 = |val| u64::and(val);
    or u32 = |val| u32::or(val);
    or i32 = |val| u32::or(val);
    or u64 = |val| u64::or(val);
    or i64 = |val| u64::or(val);
    or f32 = |val| u32::or(val);
    or f64 = |val| u64::or(val);
    xor u32 = |val| u32::xor(val);
    xor i32 = |val| u32::xor(val);
    xor u64 = |val| u64::xor(val);
    xor i64 = |val| u64::xor(val);
    xor f32 = |val| u32::xor(val);
    xor f64 = |val| u64::xor(val);
    exch u32 = |val| u32::exch(val);
    exch i32 = |val| u32::exch(val);
    exch u64 = |val| u64::exch(val);
    exch i64 = |val| u64::exch(val);
    exch f32 = |val| u32::exch(val);
    exch f64 = |val| u64::exch(val);
}

macro_rules! compare_and_swap {
    ($($type:ident = $bits:ident;)*) => {$(
        compare_and_swap!(@scope block $type $bits);
        compare_and_swap!(@scope device $type $bits);
        compare_and_swap!(@scope system $type $bits);
    )*};
    (@scope $scope:ident $type:ident $bits:ident) => {paste! {
        /// Writes `new` if the bits there are those of `current`; returns what was there before.
        #[doc = "The scope is the " $scope "."]
        ///
        /// ```
        #[doc = "use cuda_std::atomic::{Ordering, mid::atomic_compare_and_swap_" $type "_" $scope " as compare_and_swap};"]
        ///
        #[doc = "let [free, taken] = [0 as " $type ", 1 as " $type "];"]
        /// let mut lock = free;
        /// // SAFETY: no other thread knows of the lock.
        /// let mut take = || unsafe { compare_and_swap(&mut lock, free, taken, Ordering::Acquire) };
        /// assert_eq!(take(), free); // Now it is taken,
        /// assert_eq!(take(), taken); // and whoever comes next sees that.
        /// ```
        ///
        /// # Safety
        /// See the [module](self).
        #[inline(always)]
        #[track_caller]
        pub unsafe fn [<atomic_compare_and_swap_ $type _ $scope>](
            ptr: *mut $type,
            current: $type,
            new: $type,
            ordering: Ordering,
        ) -> $type {
            let (current, new) = (current.reinterpret(), new.reinterpret());
            // SAFETY: the caller vouches for the pointer; a cast changes no size or alignment.
            unsafe { arch::$scope::$bits::compare_and_swap(ptr.cast(), ordering, current, new) }
                .reinterpret()
        }
    }};
}

compare_and_swap! {
    u32 = u32;
    i32 = u32;
    f32 = u32;
    u64 = u64;
    i64 = u64;
    f64 = u64;
}
