//! The edges of launches, as fuzzers take them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;

use engine::coverage::edges_into;
use engine::memory::Memory;
use engine::{Kernel, LaunchError, Module, Options, Schedule, Shape};

use crate::support::launch_checked;

/// A branch, a guard, a branch to one of several, a function, and a trap at the end.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.func helper() {
    ret;
}
.visible .entry ways(.param .u32 limit) {
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    mov.u32 %r1, %tid.x;
    ld.param.u32 %r2, [limit];
    setp.ge.u32 %p1, %r1, %r2;
    @%p1 bra END;
    and.b32 %r3, %r1, 1;
ts: .branchtargets END, ODD;
    brx.idx %r3, ts;
ODD:
    call.uni helper, ();
END:
    setp.eq.u32 %p2, %r2, 1000;
    @%p2 trap;
    ret;
}
.visible .entry idle() {
    ret;
}
";

const SHAPE: Shape = Shape {
    grid: [2, 1, 1],
    block: [48, 1, 1],
    dynamic_shared: 0,
};

fn load(name: &str) -> Kernel {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("PTX");
    module.kernel(name).expect("a kernel")
}

fn launch(limit: u32) -> Result<(), LaunchError> {
    let parameters = limit.to_le_bytes();
    load("ways").launch(SHAPE, Options::default(), &parameters, &|_| {}, None)
}

fn map() -> Vec<AtomicU8> {
    (0..4096).map(|_| AtomicU8::new(0)).collect()
}

fn bytes(map: &[AtomicU8]) -> Vec<u8> {
    map.iter().map(|it| it.load(Ordering::Relaxed)).collect()
}

/// The map after `run`.
fn edges(run: impl FnOnce()) -> Vec<u8> {
    let map = map();
    edges_into(&map, run);
    bytes(&map)
}

fn of_limit(limit: u32) -> Vec<u8> {
    edges(|| launch(limit).expect("nothing is wrong"))
}

/// The counts in a map, ascending.
fn counts(map: &[u8]) -> Vec<u8> {
    let mut counts: Vec<u8> = map.iter().copied().filter(|&it| it > 0).collect();
    counts.sort_unstable();
    counts
}

#[test]
fn each_edge_has_the_threads_that_went_along_it() {
    // Of 96 threads 40 are below the limit, 20 of them odd. The branch parts the first warp of each block, and so does the switch.
    let parted = 2;
    let (taken, others) = (56, 40);
    let (even, odd, called, returned, ends) = (20, 20, 20, 20, 96);
    let mut expected = [parted, taken, others, even, odd, called, returned, ends];
    expected.sort_unstable();
    let found = counts(&of_limit(20));
    for count in expected {
        assert!(found.contains(&count), "{count}: {found:?}");
    }
    assert_eq!(counts(&edges(|| ())), []);
}

#[test]
fn the_map_is_the_same_however_the_launch_is_made_and_another_where_threads_go_elsewhere() {
    let same = of_limit(20);
    assert_eq!(of_limit(20), same);
    let (kernel, parameters) = (load("ways"), 20u32.to_le_bytes());
    let seeded = Options {
        schedule: Schedule::Seeded(3),
        ..Options::default()
    };
    let checked = || launch_checked(&kernel, SHAPE, Options::default(), &parameters);
    let counted = || kernel.count(SHAPE, Options::default(), &parameters, &|_| {}, None);
    let by_seed = || kernel.launch(SHAPE, seeded, &parameters, &|_| {}, None);
    assert_eq!(edges(|| checked().expect("nothing is wrong")), same);
    assert_eq!(edges(|| drop(counted().expect("nothing is wrong"))), same);
    // Warps whose lanes go ahead part more often.
    let places = |map: &[u8]| -> Vec<bool> { map.iter().map(|&it| it > 0).collect() };
    let seeded = edges(|| by_seed().expect("nothing is wrong"));
    assert_eq!(places(&seeded), places(&same));
    for other in [0, 1, 2, 48] {
        assert_ne!(of_limit(other), same, "{other}");
    }
    // Up to 255: three times 96 threads are more.
    let thrice = edges(|| (0..3).for_each(|_| launch(20).expect("nothing is wrong")));
    assert_eq!(places(&thrice), places(&same));
    assert_eq!(thrice.iter().max(), Some(&255));
}

#[test]
fn launches_outside_of_other_threads_and_of_inner_calls_are_not_among_them() {
    let inner = map();
    let outer = edges(|| {
        edges_into(&inner, || launch(20)).expect("nothing is wrong");
        thread::scope(|scope| {
            let other = scope.spawn(|| launch(20));
            other.join().expect("no panic").expect("nothing is wrong");
        });
    });
    launch(20).expect("nothing is wrong");
    assert_eq!(counts(&outer), []);
    assert_eq!(bytes(&inner), of_limit(20));
    // Another kernel has other edges.
    let idle = || load("idle").launch(SHAPE, Options::default(), &[], &|_| {}, None);
    let idle = edges(|| idle().expect("nothing is wrong"));
    assert_eq!(counts(&idle), [96]);
    // No byte takes none.
    edges_into(&[], || launch(20)).expect("nothing is wrong");
}

#[test]
fn a_launch_that_fails_and_a_panic_leave_the_edges_until_then() {
    let failing = edges(|| drop(launch(1000).expect_err("a trap")));
    assert!(!counts(&failing).is_empty());
    let map = map();
    let panics = || {
        launch(20).expect("nothing is wrong");
        panic!("as a fuzz target does");
    };
    let ran = catch_unwind(AssertUnwindSafe(|| edges_into(&map, panics)));
    assert!(ran.is_err());
    assert_eq!(bytes(&map), of_limit(20));
}
