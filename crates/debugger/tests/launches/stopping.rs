//! Breakpoints, steps and what they count.

use debugger::protocol::{Location, Message, Reason, Request, Until};
use engine::Options;

use crate::support::{BLOCKS, Front, SUM, THREADS, line, line_of, sums};

#[test]
fn a_breakpoint_stops_the_thread_of_its_condition() {
    let mut front = Front::of_sum();
    front.set(&[(line(6), "threadIdx.x == 17 && blockIdx.x == 3", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(stop.reason, Reason::Breakpoint);
    assert_eq!((stop.block, stop.warp, stop.lane), ([3, 0, 0], 0, 17));
    assert_eq!((line_of(&stop), stop.breakpoints), (6, vec![1]));
    assert_eq!(stop.instruction, "setp.ge.u32 	%p1, %r1, %r7;");
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn where_breakpoints_are_is_said_when_the_kernel_is_known() {
    let mut front = Front::of_sum();
    front.set(&[
        (Location::Line("elsewhere.cu".to_owned(), 4), "", 0),
        (Location::Function("sum".to_owned()), "", 0),
        (line(8), "", 0),
        (line(11), "", 0),
    ]);
    front.moves(Until::Breakpoint, 0, false);
    let Message::Resolved(resolved) = front.hear() else {
        panic!("no places");
    };
    let lines = resolved
        .iter()
        .map(|it| it.place.as_ref().map(|it| it.line));
    // The first file is another one, and line 8 has no instruction.
    assert_eq!(lines.collect::<Vec<_>>(), [None, Some(3), Some(9), None]);
    let stop = front.stopped();
    assert_eq!((stop.position, stop.breakpoints), (0, vec![2]));
    front.end().expect("no finding");
}

#[test]
fn steps_are_those_of_a_lane() {
    let mut front = Front::of_sum();
    front.set(&[(line(4), "threadIdx.x == 40", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!((stop.warp, stop.lane), (1, 8));
    let mut lines = Vec::new();
    for _ in 0..6 {
        lines.push(line_of(&front.go(Until::Line, 8)));
    }
    // The other warp's steps between are none of its.
    assert_eq!(lines, [5, 6, 7, 5, 6, 7]);
    let stop = front.go(Until::Instruction, 8);
    assert_eq!(
        (stop.instruction.as_str(), stop.lane),
        ("shr.u32 	%r7, %r7, 1;", 8)
    );
    let stop = front.go(Until::Barrier, 8);
    assert_eq!((stop.reason, line_of(&stop)), (Reason::Step, 7));
    front.end().expect("no finding");
}

#[test]
fn a_breakpoint_may_be_passed_some_times() {
    let mut front = Front::of_sum();
    front.set(&[(line(6), "threadIdx.x == 0", 4)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(
        (front.value(0, "%r7").as_str(), stop.block),
        ("2", [0, 0, 0])
    );
    // Going back and on again counts nothing twice.
    front.back(Until::Line, 0);
    let again = front.go(Until::Breakpoint, 0);
    assert_eq!(again.position, stop.position);
    front.end().expect("no finding");
}

#[test]
fn breakpoints_come_and_go_while_a_launch_is_stopped() {
    let mut front = Front::of_sum();
    front.set(&[(line(3), "", 0)]);
    front.go(Until::Breakpoint, 0);
    front.set(&[(line(9), "x > 1", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(
        stop.text,
        "its condition has no value: nothing is called `x` here"
    );
    front.say(&Request::Set(Vec::new()));
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn a_kernel_is_called_as_the_program_calls_it() {
    let ptx = SUM.replace("entry sum(", "entry sum_mangled(");
    let mut front = Front::of(&ptx, "sum_mangled", [BLOCKS, THREADS], Options::default());
    front.set(&[(Location::Function("sum".to_owned()), "", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(
        (stop.kernel.as_str(), stop.frames[0].function.as_str()),
        ("sum", "sum")
    );
    front.set(&[(
        Location::Function("sum_mangled".to_owned()),
        "blockIdx.x == 1",
        0,
    )]);
    assert_eq!(front.go(Until::Breakpoint, 0).block, [1, 0, 0]);
    front.end().expect("no finding");
}

#[test]
fn a_pause_before_the_launch_stops_it_where_it_begins() {
    let mut front = Front::of_sum();
    front.say(&Request::Pause);
    front.moves(Until::Breakpoint, 0, false);
    let stop = front.stopped();
    assert_eq!((stop.reason, stop.position), (Reason::Pause, 0));
    assert_eq!(front.end().expect("no finding")[..4], sums());
}
