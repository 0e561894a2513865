//! Going back in a long launch. `cargo test -p ridgepoint-debugger --test launches -- --ignored slow::` shows the figures.

use std::time::Instant;

use debugger::protocol::{Location, Reason, Until};
use engine::Options;

use crate::support::Front;

/// Each thread adds numbers from 0 on: 4 instructions a turn, 2^10 turns.
const ADDS: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.file 1 "adds.cu"
.visible .entry adds(.param .u64 adds_param_0, .param .u64 adds_param_1)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<5>;
    .loc 1 2 3
    mov.u32 %r1, 0;
    mov.u32 %r2, 0;
$loop:
    .loc 1 3 3
    add.u32 %r1, %r1, %r2;
    add.u32 %r2, %r2, 1;
    .loc 1 4 3
    setp.lt.u32 %p1, %r2, 1024;
    @%p1 bra $loop;
    .loc 1 5 3
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mad.lo.u32 %r3, %r4, 256, %r3;
    ld.param.u64 %rd1, [adds_param_1];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r3, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
"#;

#[test]
#[ignore = "slow"]
fn a_step_back_in_a_launch_of_100_million_instructions_of_lanes_takes_less_than_two_seconds() {
    const LIMIT: f64 = 2.0;
    // 100 blocks of 256 threads, and 4107 instructions each: 1.05e8.
    let mut front = Front::of(ADDS, "adds", [100, 256], Options::default());
    front.set(&[(
        Location::Line("adds.cu".to_owned(), 5),
        "blockIdx.x == 99 && threadIdx.x == 255",
        0,
    )]);
    let begin = Instant::now();
    let stop = front.go(Until::Breakpoint, 0);
    let forwards = begin.elapsed().as_secs_f64();
    assert_eq!((stop.reason, stop.lane), (Reason::Breakpoint, 31));
    let instructions = 32 * stop.position;
    assert!(instructions > 100_000_000, "{instructions}");
    let mut told = format!("{instructions} instructions of lanes; forwards {forwards:.2} s");
    for (name, until) in [("line", Until::Line), ("instruction", Until::Instruction)] {
        let begin = Instant::now();
        let back = front.back(until, 31);
        let took = begin.elapsed().as_secs_f64();
        assert_eq!(back.reason, Reason::Step);
        told.push_str(&format!("; back by a {name} {took:.2} s"));
        assert!(took < LIMIT, "{told}; at most {LIMIT} s");
    }
    front.set(&[]);
    let begin = Instant::now();
    front.back(Until::Breakpoint, 31);
    let took = begin.elapsed().as_secs_f64();
    println!(
        "{told}; to the beginning {took:.2} s; {} KiB at most",
        most_kib()
    );
    assert!(took < LIMIT, "{took} s; at most {LIMIT} s");
    front.end().expect("no finding");
}

/// The most memory that the process has held.
fn most_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next()?.parse().ok());
    kib.expect("it is told")
}
