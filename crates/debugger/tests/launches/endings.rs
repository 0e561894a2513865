//! Findings, programs that do not end, and fronts that go away.

use std::sync::Arc;

use debugger::protocol::{Location, Reason, Request, Until};
use engine::{LaunchError, Options, Schedule};

use crate::support::{BLOCKS, Front, SUM, THREADS, line_of, sums};

/// The same kernel with another text in place of a part of it.
fn changed(from: &str, to: &str) -> Front {
    assert!(SUM.contains(from));
    let ptx = SUM.replacen(from, to, 1);
    Front::of(&ptx, "sum", [BLOCKS, THREADS], Options::default())
}

#[test]
fn a_race_stops_at_its_access_and_can_be_gone_back_from() {
    // No barrier behind the first stores.
    let mut front = changed("\tbar.sync \t0;\n", "");
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(stop.reason, Reason::Finding);
    assert!(stop.text.contains("race"), "{}", stop.text);
    // The second warp writes what the first has read.
    assert_eq!((line_of(&stop), stop.warp), (3, 1));
    let before = front.back(Until::Instruction, stop.lane);
    assert_eq!(
        (before.position, before.instruction),
        (stop.position, stop.instruction)
    );
    assert_eq!(front.back(Until::Line, stop.lane).reason, Reason::Step);
    // Forwards it is found again.
    let again = front.go(Until::Breakpoint, 0);
    assert_eq!((again.position, again.text), (stop.position, stop.text));
    let error = front.end().expect_err("a race");
    assert!(matches!(error, LaunchError::Found { .. }), "{error}");
}

#[test]
fn what_no_instruction_fails_at_is_shown_at_the_last_one() {
    // The upper half of the threads wait at another barrier than the lower.
    let mut front = changed("@%p1 bra \t$skip;", "@%p1 bar.sync \t1;");
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(stop.reason, Reason::Finding);
    assert!(stop.text.contains("barrier"), "{}", stop.text);
    let before = front.back(Until::Line, stop.lane);
    assert!(before.position < stop.position);
    assert_eq!(front.go(Until::Breakpoint, 0).text, stop.text);
    assert!(front.end().is_err());
}

/// Prints the thread's number twice.
const PRINTS: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);
.global .align 1 .b8 text[4] = {37, 100, 32, 0};
.visible .entry prints(.param .u64 prints_param_0, .param .u64 prints_param_1)
{
    .local .align 8 .b8 values[8];
    .reg .b64 %rd<4>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, values;
    st.local.u32 [%rd2], %r1;
    cvta.local.u64 %rd3, %rd2;
    mov.u64 %rd1, text;
    cvta.global.u64 %rd1, %rd1;
    {
        .param .b64 f;
        .param .b64 v;
        .param .b32 r;
        st.param.b64 [f], %rd1;
        st.param.b64 [v], %rd3;
        call.uni (r), vprintf, (f, v);
        call.uni (r), vprintf, (f, v);
    }
    ret;
}
"#;

#[test]
fn what_is_printed_is_printed_once_however_often_it_is_gone_back() {
    let mut front = Front::of(PRINTS, "prints", [1, 2], Options::default());
    front.set(&[(Location::Function("prints".to_owned()), "", 0)]);
    let first = front.go(Until::Breakpoint, 0);
    let mut stop = first.clone();
    while stop.instruction != "ret;" {
        stop = front.go(Until::Instruction, 0);
        assert_eq!(stop.reason, Reason::Step, "{stop:?}");
    }
    let printed = Arc::clone(&front.printed);
    let text = || printed.lock().expect("no panic").clone();
    assert_eq!(text(), "0 1 0 1 ");
    assert_eq!(front.back(Until::Breakpoint, 0).position, first.position);
    front.end().expect("no finding");
    assert_eq!(text(), "0 1 0 1 ");
}

#[test]
fn a_schedule_is_debugged_as_it_is() {
    let options = Options {
        schedule: Schedule::Seeded(3),
        ..Options::default()
    };
    let mut front = Front::of(SUM, "sum", [BLOCKS, THREADS], options);
    front.set(&[(Location::Line("sum.cu".to_owned(), 7), "", 9)]);
    let stop = front.go(Until::Breakpoint, 0);
    let later = front.go(Until::Breakpoint, 0);
    let back = front.back(Until::Breakpoint, 0);
    assert_eq!(
        (stop.position, stop.block, stop.warp),
        (back.position, back.block, back.warp)
    );
    let again = front.go(Until::Breakpoint, 0);
    assert_eq!((later.position, later.block), (again.position, again.block));
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn a_front_that_goes_away_leaves_the_program_to_itself() {
    let front = Front::of_sum();
    assert_eq!(front.left().expect("no finding")[..4], sums());
    let mut front = Front::of_sum();
    front.set(&[(Location::Function("sum".to_owned()), "", 0)]);
    front.go(Until::Breakpoint, 0);
    front.back(Until::Breakpoint, 0);
    assert_eq!(front.left().expect("no finding")[..4], sums());
}

#[test]
fn a_launch_that_cannot_run_again_says_so_and_goes_on() {
    let mut front = Front::of_one_run("too much memory");
    front.set(&[(Location::Function("sum".to_owned()), "blockIdx.x == 1", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    let back = front.back(Until::Line, 0);
    assert_eq!(
        (back.reason, back.position),
        (Reason::Beginning, stop.position)
    );
    assert_eq!(back.text, "too much memory");
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn a_kernel_that_never_ends_can_be_paused() {
    let mut front = changed("shr.u32 \t%r7, %r7, 1;", "mov.u32 \t%r7, 32;");
    front.moves(Until::Breakpoint, 0, false);
    std::thread::sleep(std::time::Duration::from_millis(100));
    front.say(&Request::Pause);
    let stop = front.stopped();
    assert_eq!(stop.reason, Reason::Pause);
    assert_eq!(front.value(stop.lane, "%r7"), "32");
    let back = front.back(Until::Line, stop.lane);
    assert!(back.position < stop.position);
}
