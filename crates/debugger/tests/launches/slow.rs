//! Going back in a long launch. `cargo test -p ridgepoint-debugger --test launches -- --ignored slow::` shows the figures.

use std::time::Instant;

use debugger::protocol::{Location, Reason, Until};
use engine::Options;

use crate::support::{Front, SUM};

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

/// Seconds that a step back may take.
const LIMIT: f64 = 2.0;

/// Goes to the end of a launch of at least 10^8 instructions of lanes, and back by a line, an instruction and to the beginning.
fn goes_back_in_time(name: &str, mut front: Front, last: Location, condition: &str) {
    front.set(&[(last, condition, 0)]);
    let begin = Instant::now();
    let stop = front.go(Until::Breakpoint, 0);
    let forwards = begin.elapsed().as_secs_f64();
    assert_eq!(stop.reason, Reason::Breakpoint);
    let instructions = 32 * stop.position;
    assert!(instructions > 100_000_000, "{instructions}");
    let mut told =
        format!("{name}: {instructions} instructions of lanes; forwards {forwards:.2} s");
    for (name, until) in [("line", Until::Line), ("instruction", Until::Instruction)] {
        let begin = Instant::now();
        let back = front.back(until, stop.lane);
        let took = begin.elapsed().as_secs_f64();
        assert_eq!(back.reason, Reason::Step);
        told.push_str(&format!("; back by {name} {took:.2} s"));
        assert!(took < LIMIT, "{told}; at most {LIMIT} s");
    }
    front.set(&[]);
    let begin = Instant::now();
    front.back(Until::Breakpoint, stop.lane);
    let took = begin.elapsed().as_secs_f64();
    let kib = most_kib();
    println!("{told}; to the beginning {took:.2} s; at most {kib} KiB");
    assert!(took < LIMIT, "{took} s; at most {LIMIT} s");
    assert!(kib < 1 << 20, "{kib} KiB; at most 1 GiB");
    front.end().expect("no finding");
}

#[test]
#[ignore = "slow"]
fn steps_back_in_launches_of_100_million_instructions_of_lanes_take_less_than_two_seconds() {
    // 100 blocks of 256 threads, and 4107 instructions each.
    let front = Front::of(ADDS, "adds", [100, 256], Options::default());
    let condition = "blockIdx.x == 99 && threadIdx.x == 255";
    let last = |file: &str, line| Location::Line(file.to_owned(), line);
    goes_back_in_time("arithmetic", front, last("adds.cu", 5), condition);
    // Shared memory, barriers and lanes that go separate ways, all of it checked.
    let front = Front::of(SUM, "sum", [24_000, 64], Options::default());
    let condition = "blockIdx.x == 23999 && threadIdx.x == 0";
    goes_back_in_time("sums", front, last("sum.cu", 9), condition);
}

/// The most memory that the process has held.
fn most_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = line.and_then(|it| it.split_whitespace().next()?.parse().ok());
    kib.expect("it is told")
}
