//! `mbarrier.inval` after accesses to the mbarrier by lanes that have met at a vote, which orders no memory.

use std::sync::Arc;

use engine::memory::Memory;
use engine::{Module, Options, Shape};

use crate::support::launch_checked;

/// The finding of a warp whose first lane invalidates an mbarrier after all lanes have executed `before`.
fn found(before: &str) -> Option<String> {
    let text = format!(
        ".version 8.0
.target sm_90
.address_size 64
.visible .entry kernel()
{{
.reg .pred %p<4>;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
.shared .align 8 .b64 word;
mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared.b64 [word], 64;
bar.sync 0;
{before}
vote.sync.all.pred %p2, %p1, 0xffffffff;
@%p1 mbarrier.inval.shared.b64 [word];
ret;
}}
"
    );
    let memory: Arc<Memory> = Arc::default();
    let kernel = Module::load(&text, &memory).expect("PTX").kernel("kernel");
    let shape = Shape {
        grid: [1; 3],
        block: [32, 1, 1],
        dynamic_shared: 0,
    };
    let kernel = kernel.expect("it is there");
    let ran = launch_checked(&kernel, shape, Options::default(), &[]);
    ran.err().map(|error| error.to_string())
}

#[test]
fn arrivals_have_counted_by_then() {
    for arrival in [
        "mbarrier.arrive.shared.b64 %rd1, [word];",
        "mbarrier.arrive.shared.b64 _, [word], 2;",
        "mbarrier.arrive_drop.shared.b64 %rd1, [word];",
    ] {
        let said = found(arrival).expect("nothing orders them");
        assert!(
            said.contains("arrival before `mbarrier.inval` on element 0"),
            "{said}"
        );
        let ordered = format!("{arrival} bar.warp.sync 0xffffffff;");
        assert_eq!(found(&ordered), None);
    }
}

#[test]
fn other_accesses_race() {
    for access in [
        "atom.shared.add.u64 %rd1, [word], 0;",
        "mbarrier.arrive.shared.b64 %rd1, [word]; atom.shared.add.u64 %rd1, [word], 0;",
        "cp.async.mbarrier.arrive.shared.b64 [word];",
        "ld.shared.u64 %rd1, [word];",
    ] {
        let said = found(access).expect("nothing orders them");
        assert!(said.contains("race on element 0"), "{access}: {said}");
    }
}
