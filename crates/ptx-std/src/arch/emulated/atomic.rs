//! Atomic operations on host memory, which are atomic for all of the host's threads, whatever the scope.

use core::panic::Location;
use core::sync::atomic::Ordering;

use crate::emulation::step;

/// The ordering of the read where a compare-and-swap fails and writes nothing.
fn of_failure(ordering: Ordering) -> Ordering {
    match ordering {
        Ordering::Release => Ordering::Relaxed,
        Ordering::AcqRel => Ordering::Acquire,
        readable => readable,
    }
}

macro_rules! access {
    ($load:ident $store:ident $bits:ident $atomic:ident) => {
        /// # Safety
        /// The pointer is valid for atomic reads.
        #[inline]
        #[track_caller]
        pub(crate) unsafe fn $load(pointer: *mut $bits, ordering: Ordering) -> $bits {
            step(256, Location::caller());
            // SAFETY: the caller vouches for the pointer.
            unsafe { $atomic::from_ptr(pointer) }.load(ordering)
        }

        /// # Safety
        /// The pointer is valid for atomic writes.
        #[inline]
        #[track_caller]
        pub(crate) unsafe fn $store(pointer: *mut $bits, ordering: Ordering, value: $bits) {
            step(1, Location::caller());
            // SAFETY: the caller vouches for the pointer.
            unsafe { $atomic::from_ptr(pointer) }.store(value, ordering);
        }
    };
}

macro_rules! read_modify_write {
    ($type:ident $atomic:ident: $($name:ident = $method:ident;)*) => {$(
        /// # Safety
        /// The pointer is valid for atomic reads and writes.
        #[inline]
        #[track_caller]
        pub(crate) unsafe fn $name(pointer: *mut $type, ordering: Ordering, value: $type) -> $type {
            step(1, Location::caller());
            // SAFETY: the caller vouches for the pointer.
            unsafe { $atomic::from_ptr(pointer) }.$method(value, ordering)
        }
    )*};
}

macro_rules! unsigned {
    ($type:ident $atomic:ident $($count:ident = |$old:ident, $limit:ident| $next:expr;)*) => {
        pub(crate) mod $type {
            use super::*;

            read_modify_write! { $type $atomic:
                add = fetch_add;
                min = fetch_min;
                max = fetch_max;
                and = fetch_and;
                or = fetch_or;
                xor = fetch_xor;
                exch = swap;
            }

            /// # Safety
            /// The pointer is valid for atomic reads and writes.
            #[inline]
            #[track_caller]
            pub(crate) unsafe fn compare_and_swap(
                pointer: *mut $type,
                ordering: Ordering,
                current: $type,
                new: $type,
            ) -> $type {
                step(1, Location::caller());
                // SAFETY: the caller vouches for the pointer.
                unsafe { $atomic::from_ptr(pointer) }
                    .compare_exchange(current, new, ordering, of_failure(ordering))
                    .unwrap_or_else(|other| other)
            }

            $(
                /// # Safety
                /// The pointer is valid for atomic reads and writes.
                #[inline]
                #[track_caller]
                pub(crate) unsafe fn $count(
                    pointer: *mut $type,
                    ordering: Ordering,
                    $limit: $type,
                ) -> $type {
                    step(1, Location::caller());
                    let next = |$old| Some($next);
                    // SAFETY: the caller vouches for the pointer.
                    unsafe { $atomic::from_ptr(pointer) }
                        .try_update(ordering, of_failure(ordering), next)
                        .unwrap_or_else(|unchanged| unchanged)
                }
            )*
        }
    };
}

macro_rules! signed {
    ($type:ident $atomic:ident) => {
        pub(crate) mod $type {
            use super::*;

            read_modify_write! { $type $atomic: min = fetch_min; max = fetch_max; }
        }
    };
}

macro_rules! float {
    ($type:ident $atomic:ident) => {
        pub(crate) mod $type {
            use super::*;

            /// # Safety
            /// The pointer is valid for atomic reads and writes.
            #[inline]
            #[track_caller]
            pub(crate) unsafe fn add(
                pointer: *mut $type,
                ordering: Ordering,
                value: $type,
            ) -> $type {
                step(1, Location::caller());
                // SAFETY: the caller vouches for the pointer.
                let atomic = unsafe { $atomic::from_ptr(pointer.cast()) };
                let add = |old| Some(($type::from_bits(old) + value).to_bits());
                let old = atomic.try_update(ordering, of_failure(ordering), add);
                $type::from_bits(old.unwrap_or_else(|unchanged| unchanged))
            }
        }
    };
}

pub(crate) mod every_scope {
    use super::*;
    use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

    pub(crate) fn fence(ordering: Ordering) {
        if ordering != Ordering::Relaxed {
            core::sync::atomic::fence(ordering);
        }
    }

    access!(load_32 store_32 u32 AtomicU32);
    access!(load_64 store_64 u64 AtomicU64);
    unsigned!(u32 AtomicU32
        inc = |old, limit| if old >= limit { 0 } else { old + 1 };
        dec = |old, limit| if old == 0 || old > limit { limit } else { old - 1 };
    );
    unsigned!(u64 AtomicU64);
    signed!(i32 AtomicI32);
    signed!(i64 AtomicI64);
    float!(f32 AtomicU32);
    float!(f64 AtomicU64);
}

pub(crate) use {every_scope as block, every_scope as device, every_scope as system};
