//! The coverage of a process: exact counts of a kernel that has one of everything.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::thread;

use engine::coverage::{self, Coverage};
use engine::memory::Memory;
use engine::{Module, Options, Shape};

use crate::support::launch_checked;
use crate::support::process::alone;

const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.func helper() {
    .loc 1 30 0
    ret;
}
.visible .entry k() {
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .loc 1 1 0
    mov.u32 %r1, %tid.x;
    .loc 1 2 3
    and.b32 %r2, %r1, 3;
    setp.lt.u32 %p1, %r1, 40;
    .loc 1 3 5
    @%p1 add.u32 %r3, %r1, 1;
    .loc 1 4 7
    .loc 1 20 3, function_name $name, inlined_at 1 4 7
    add.u32 %r4, %r1, 2;
    .loc 1 5 7
    .loc 1 20 3, function_name $name, inlined_at 1 5 7
    add.u32 %r4, %r4, 3;
    .loc 1 6 1
    .loc 2 99 1, function_name $name, inlined_at 1 6 1
    add.u32 %r4, %r4, 4;
    .loc 1 7 1
ts: .branchtargets A, B, A, C;
    brx.idx %r2, ts;
A:
    .loc 1 8 1
    mov.u32 %r5, 1;
    bra.uni END;
B:
    .loc 1 9 1
    call.uni helper, ();
    bra.uni END;
C:
    .loc 1 10 1
    setp.gt.u32 %p2, %r1, 1000;
    @%p2 bra PANIC;
END:
    .loc 1 11 1
    mov.pred %p3, 1;
    @%p3 add.u32 %r6, %r1, 1;
    ret;
PANIC:
    .loc 1 12 1
    trap;
}
.visible .entry idle() {
    .loc 1 40 0
    ret;
}
.file 1 \"a.cu\"
.file 2 \"/usr/local/cuda/include/b.h\"
";

const SHAPE: Shape = Shape {
    grid: [2, 1, 1],
    block: [64, 1, 1],
    dynamic_shared: 0,
};

/// Launches the kernel of a module that is loaded once more.
fn launch(is_checked: bool) {
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(PTX, &memory).expect("PTX");
    let kernel = module.kernel("k").expect("the kernel");
    let ran = match is_checked {
        true => launch_checked(&kernel, SHAPE, Options::default(), &[]),
        false => kernel.launch(SHAPE, Options::default(), &[], &|_| {}, None),
    };
    ran.expect("nothing is wrong");
}

/// The coverage of the process after four launches of 128 threads, by four threads, checked and unchecked.
fn of_four_launches() -> Coverage {
    let folder = std::env::temp_dir().join(format!("coverage-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder");
    coverage::keep_in(&folder).expect("nothing has been loaded");
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || launch(number % 2 == 0));
        }
    });
    coverage::write().expect("writable");
    let coverage = Coverage::all_in(&folder);
    std::fs::remove_dir_all(&folder).expect("its own");
    coverage.expect("a record")
}

#[test]
fn lines_branches_and_functions_have_their_exact_counts() {
    let own = "coverage::lines_branches_and_functions_have_their_exact_counts";
    alone(own, || {
        let coverage = of_four_launches();
        let kernel = &coverage.kernels["k"];
        assert_eq!(kernel.launches, 4);
        let [(name, file)] = kernel.files.iter().collect::<Vec<_>>()[..] else {
            panic!("one file is the author's: {:?}", kernel.files.keys());
        };
        assert_eq!(name, "a.cu");
        let (begun, called) = (&file.functions["k"], &file.functions["helper"]);
        assert_eq!((begun.line, begun.threads), (1, 512));
        assert_eq!((called.line, called.threads), (30, 128));
        let lines: Vec<(u32, u64)> = file.lines.iter().map(|(&a, &b)| (a, b)).collect();
        let expected = [
            (1, 512),
            (2, 512),
            // By a guard.
            (3, 320),
            // Where line 20 was inlined, and code of a library.
            (4, 512),
            (5, 512),
            (6, 512),
            (7, 512),
            (8, 256),
            (9, 128),
            (10, 128),
            (11, 512),
            (12, 0),
            // In two places.
            (20, 1024),
            (30, 128),
        ];
        assert_eq!(lines, expected);
        // Neither the check that panics nor the guard that is a constant.
        let [(guard, guarded), (switch, switched)] = file.branches.iter().collect::<Vec<_>>()[..]
        else {
            panic!("two branches are expected: {:?}", file.branches);
        };
        assert_eq!((guard.line, switch.line), (3, 7));
        assert_eq!(guarded.outcomes, [320, 192]);
        assert_eq!(guarded.divergent, 8);
        let mut to = switched.outcomes.clone();
        to.sort_unstable();
        assert_eq!((to, switched.divergent), (vec![128, 128, 256], 16));
        let idle = &coverage.kernels["idle"];
        assert_eq!(idle.launches, 0);
        assert_eq!(idle.files["a.cu"].lines, [(40, 0)].into());
    });
}
