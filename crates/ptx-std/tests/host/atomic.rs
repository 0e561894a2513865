//! Atomic operations on the host: what they compute, and that no update of many threads is lost.

use std::ptr;
use std::thread;

use pastey::paste;
use ptx_std::atomic::mid::*;
use ptx_std::atomic::{
    AtomicF32, AtomicF64, BlockAtomicF32, BlockAtomicF64, Ordering, SystemAtomicF32,
    SystemAtomicF64,
};

const ALL: [Ordering; 5] = [
    Ordering::Relaxed,
    Ordering::Acquire,
    Ordering::Release,
    Ordering::AcqRel,
    Ordering::SeqCst,
];

/// For each row and scope: from `start`, the operation with `operand` leaves `end`.
macro_rules! fetch_cases {
    ($($operation:ident $type:ident: $start:expr, $operand:expr => $end:expr;)*) => {paste! {$(
        for ordering in ALL {
            for function in [
                [<atomic_fetch_ $operation _ $type _block>],
                [<atomic_fetch_ $operation _ $type _device>],
                [<atomic_fetch_ $operation _ $type _system>],
            ] {
                let mut value: $type = $start;
                // SAFETY: no other thread knows of the value.
                let before = unsafe { function(&raw mut value, ordering, $operand) };
                assert_eq!((before, value), ($start, $end), stringify!($operation $type));
            }
        }
    )*}};
}

#[test]
fn fetches_return_what_was_there_and_leave_the_result() {
    fetch_cases! {
        add u32: u32::MAX, 2 => 1;
        add i32: i32::MAX, 1 => i32::MIN;
        add f32: 0.5, 0.25 => 0.75;
        add u64: u64::MAX, 2 => 1;
        add i64: -5, 3 => -2;
        add f64: 0.5, 0.25 => 0.75;
        sub u32: 1, 2 => u32::MAX;
        sub i32: i32::MIN, 1 => i32::MAX;
        sub f32: 0.5, 0.75 => -0.25;
        sub u64: 5, 2 => 3;
        sub i64: -5, i64::MIN => i64::MAX - 4;
        sub f64: 0.5, 0.75 => -0.25;
        inc u32: 3, 4 => 4;
        inc u32: 4, 4 => 0;
        inc u32: 5, 4 => 0;
        dec u32: 3, 4 => 2;
        dec u32: 0, 4 => 4;
        dec u32: 5, 4 => 4;
        min u32: 1, u32::MAX => 1;
        min i32: 1, -1 => -1;
        min u64: u64::MAX, 1 => 1;
        min i64: -1, 1 => -1;
        max u32: 1, u32::MAX => u32::MAX;
        max i32: 1, -1 => 1;
        max u64: u64::MAX, 1 => u64::MAX;
        max i64: -1, 1 => 1;
        and u32: 0b1100, 0b1010 => 0b1000;
        and i32: -1, 5 => 5;
        and f32: -1.5, f32::from_bits(0x7FFF_FFFF) => 1.5;
        and u64: 0b1100, 0b1010 => 0b1000;
        and i64: -1, 5 => 5;
        and f64: -1.5, f64::from_bits(u64::MAX >> 1) => 1.5;
        or u32: 0b1100, 0b1010 => 0b1110;
        or i32: 4, 1 => 5;
        or f32: 1.5, -0.0 => -1.5;
        or u64: 0b1100, 0b1010 => 0b1110;
        or i64: 4, 1 => 5;
        or f64: 1.5, -0.0 => -1.5;
        xor u32: 0b1100, 0b1010 => 0b0110;
        xor i32: -1, 1 => -2;
        xor f32: -1.5, -0.0 => 1.5;
        xor u64: 0b1100, 0b1010 => 0b0110;
        xor i64: -1, 1 => -2;
        xor f64: -1.5, -0.0 => 1.5;
        exch u32: 3, 4 => 4;
        exch i32: 3, -4 => -4;
        exch f32: 3.0, 4.0 => 4.0;
        exch u64: 3, 4 => 4;
        exch i64: 3, -4 => -4;
        exch f64: 3.0, 4.0 => 4.0;
    }
}

#[test]
fn compare_and_swap_writes_only_over_the_expected_bits() {
    macro_rules! cases {
        ($($type:ident)*) => {paste! {$(
            for ordering in ALL {
                for function in [
                    [<atomic_compare_and_swap_ $type _block>],
                    [<atomic_compare_and_swap_ $type _device>],
                    [<atomic_compare_and_swap_ $type _system>],
                ] {
                    let mut value = 1 as $type;
                    let pointer = &raw mut value;
                    // SAFETY: no other thread knows of the value.
                    let before = unsafe {
                        [
                            function(pointer, 1 as $type, 2 as $type, ordering),
                            function(pointer, 1 as $type, 3 as $type, ordering),
                        ]
                    };
                    assert_eq!((before, value), ([1 as $type, 2 as $type], 2 as $type));
                }
            }
        )*}};
    }
    cases!(u32 i32 f32 u64 i64 f64);
}

#[test]
fn loads_read_what_stores_wrote() {
    macro_rules! cases {
        ($($scope:ident)*) => {paste! {$(
            let (mut narrow, mut wide) = (0_u32, 0_u64);
            // SAFETY: no other thread knows of the values.
            let read = unsafe {
                [<atomic_store_32_ $scope>](&raw mut narrow, Ordering::Release, 7);
                [<atomic_store_64_ $scope>](&raw mut wide, Ordering::SeqCst, 1 << 40);
                (
                    [<atomic_load_32_ $scope>](&raw mut narrow, Ordering::Acquire),
                    [<atomic_load_64_ $scope>](&raw mut wide, Ordering::Relaxed),
                )
            };
            assert_eq!(read, (7, 1 << 40));
            ALL.into_iter().for_each([<$scope _thread_fence>]);
        )*}};
    }
    cases!(block device system);
}

#[test]
fn typed_atomics_do_what_their_names_say() {
    macro_rules! cases {
        ($($name:ident)*) => {$(
            let atomic = $name::new(1.5);
            // SAFETY: no other thread knows of the value. (Some of the types ask for it.)
            #[allow(unused_unsafe)]
            let seen = unsafe {
                let added = atomic.fetch_add(2.0, Ordering::AcqRel);
                let subtracted = atomic.fetch_sub(0.5, Ordering::Relaxed);
                let negated = atomic.fetch_or(-0.0, Ordering::Relaxed);
                let restored = atomic.fetch_xor(-0.0, Ordering::Relaxed);
                let cleared = atomic.fetch_and(0.0, Ordering::SeqCst);
                atomic.store(atomic.load(Ordering::Acquire) + 4.0, Ordering::Release);
                [added, subtracted, negated, restored, cleared]
            };
            assert_eq!(seen, [1.5, 3.5, 3.0, -3.0, 3.0]);
            assert_eq!(atomic.into_inner(), 4.0);
        )*};
    }
    cases!(AtomicF32 AtomicF64 BlockAtomicF32 BlockAtomicF64 SystemAtomicF32 SystemAtomicF64);
}

#[test]
fn no_update_of_many_threads_is_lost() {
    const THREADS: u32 = 8;
    const TIMES: u32 = 5_000;
    let sum = AtomicF64::new(0.0);
    let mut counter = 0_u32;
    let mut greatest = 0_i64;
    let (counter_address, greatest_address) = (
        ptr::from_mut(&mut counter).expose_provenance(),
        ptr::from_mut(&mut greatest).expose_provenance(),
    );
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let sum = &sum;
            scope.spawn(move || {
                let counter = ptr::with_exposed_provenance_mut::<u32>(counter_address);
                let greatest = ptr::with_exposed_provenance_mut::<i64>(greatest_address);
                for time in 0..TIMES {
                    sum.fetch_add(0.5, Ordering::Relaxed);
                    // SAFETY: both outlive the scope, and all accesses in it are atomic.
                    unsafe {
                        atomic_fetch_add_u32_device(counter, Ordering::Relaxed, 1);
                        let candidate = i64::from(thread * TIMES + time);
                        atomic_fetch_max_i64_device(greatest, Ordering::Relaxed, candidate);
                    }
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), f64::from(THREADS * TIMES) / 2.0);
    assert_eq!(counter, THREADS * TIMES);
    assert_eq!(greatest, i64::from(THREADS * TIMES) - 1);
}

#[test]
fn a_load_cannot_release_and_a_store_cannot_acquire() {
    let load = |ordering| AtomicF32::new(0.0).load(ordering);
    let store = |ordering| AtomicF32::new(0.0).store(0.0, ordering);
    for (of_load, of_store) in [
        (Ordering::Release, Ordering::Acquire),
        (Ordering::AcqRel, Ordering::AcqRel),
    ] {
        assert!(std::panic::catch_unwind(|| load(of_load)).is_err());
        assert!(std::panic::catch_unwind(|| store(of_store)).is_err());
    }
}
