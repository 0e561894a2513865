//! Going back: to lines, instructions, breakpoints and writes.

use debugger::protocol::{Answer, Location, Question, Reason, Seat, Until};

use crate::support::{Front, line, line_of, sums};

#[test]
fn each_step_forwards_has_one_back() {
    let mut front = Front::of_sum();
    front.set(&[(line(4), "threadIdx.x == 40 && blockIdx.x == 2", 0)]);
    let mut stops = vec![front.go(Until::Breakpoint, 0)];
    for _ in 0..12 {
        stops.push(front.go(Until::Line, 8));
    }
    while let Some(last) = stops.pop().filter(|_| !stops.is_empty()) {
        let before = front.back(Until::Line, 8);
        assert_eq!(
            before.position,
            stops.last().expect("one").position,
            "from {last:?}"
        );
        assert_eq!(before.reason, Reason::Step);
    }
    let instruction = front.back(Until::Instruction, 8);
    assert_eq!(instruction.instruction, "st.shared.f32 	[%r6], %f1;");
    // From the middle of a line to its beginning, and no further.
    assert_eq!(
        front.back(Until::Line, 8).instruction,
        "mov.u32 	%r1, %tid.x;"
    );
    let first = front.back(Until::Line, 8);
    assert_eq!(first.reason, Reason::Beginning);
    assert_eq!(first.text, "the thread has been at no such place before");
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn values_are_what_they_were() {
    let mut front = Front::of_sum();
    front.set(&[(line(9), "threadIdx.x == 0", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(front.value(0, "tile[0]"), "2016.0");
    front.set(&[(line(6), "threadIdx.x == 0", 0)]);
    let back = front.back(Until::Breakpoint, 0);
    assert!(back.position < stop.position);
    assert_eq!(
        (front.value(0, "%r7"), front.value(0, "tile[0]")),
        ("1".into(), "992.0".into())
    );
    let back = front.back(Until::Breakpoint, 0);
    assert_eq!(
        (back.block, front.value(0, "tile[0]")),
        ([0, 0, 0], "480.0".into())
    );
    assert_eq!(front.end().expect("no finding")[..4], sums());
}

#[test]
fn the_last_write_of_an_element_is_found() {
    let mut front = Front::of_sum();
    front.set(&[(line(9), "threadIdx.x == 0", 0)]);
    front.go(Until::Breakpoint, 0);
    let Ok(Answer::Place(address, bytes)) =
        front.ask(Question::Place(Seat::default(), "tile[3]".to_owned()))
    else {
        panic!("no place");
    };
    let until = Until::Write(address, bytes);
    let write = front.back(until, 0);
    // The last sum that lane 3 takes part in has a distance of 4.
    assert_eq!((write.reason, write.lane), (Reason::Write, 3));
    assert_eq!(write.instruction, "st.shared.f32 	[%r6], %f4;");
    assert_eq!(front.value(3, "%r7"), "4");
    let before = front.value(3, "tile[3]");
    front.go(Until::Instruction, 3);
    assert_ne!(front.value(3, "tile[3]"), before);
    // Four writes: of 4, 8, 16, 32, and the first value.
    for _ in 0..4 {
        assert_eq!(front.back(until, 0).reason, Reason::Write);
    }
    assert_eq!(
        front.back(until, 0).instruction,
        "st.shared.f32 	[%r6], %f1;"
    );
    let none = front.back(until, 0);
    assert_eq!(none.text, "the launch has not written it before");
    front.end().expect("no finding");
}

#[test]
fn a_watchpoint_stops_both_ways() {
    let mut front = Front::of_sum();
    front.set(&[(Location::Function("sum".to_owned()), "", 0)]);
    front.go(Until::Breakpoint, 0);
    let Ok(Answer::Place(address, bytes)) =
        front.ask(Question::Place(Seat::default(), "arg1.f32[2]".to_owned()))
    else {
        panic!("no place");
    };
    front.set(&[(Location::Write(address, bytes), "", 0)]);
    let write = front.go(Until::Breakpoint, 0);
    assert_eq!(
        (write.reason, write.block, write.lane),
        (Reason::Write, [2, 0, 0], 0)
    );
    assert_eq!((line_of(&write), write.breakpoints.clone()), (9, vec![1]));
    assert_eq!(front.value(0, "arg1.f32[2]"), "0.0");
    front.go(Until::Instruction, 0);
    assert_eq!(front.value(0, "arg1.f32[2]"), "10208.0");
    assert_eq!(front.back(Until::Breakpoint, 0).position, write.position);
    let begin = front.back(Until::Breakpoint, 0);
    assert_eq!((begin.reason, begin.position), (Reason::Beginning, 0));
    assert_eq!(begin.text, "the launch begins here");
    assert_eq!(front.end().expect("no finding")[..4], sums());
}
