//! Functions, called and inlined, and instructions under a guard.

use debugger::protocol::{Answer, Location, Question, Reason, Seat, Stop, Until};
use engine::Options;

use crate::support::Front;

/// Calls `twice` at line 3, and has `plus` inlined at line 4.
const CALLS: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.file 1 "calls.cu"
.func (.param .b32 r) twice(.param .b32 a)
{
    .reg .b32 %r<3>;
    .loc 1 20 3
    ld.param.b32 %r1, [a];
    .loc 1 21 3
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}
.visible .entry calls(.param .u64 calls_param_0, .param .u64 calls_param_1)
{
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<4>;
    .loc 1 2 3
    mov.u32 %r1, %tid.x;
    .loc 1 3 3
    {
        .param .b32 a;
        .param .b32 r;
        st.param.b32 [a], %r1;
        call.uni (r), twice, (a);
        ld.param.b32 %r2, [r];
    }
    .loc 1 4 3
    mov.u32 %r3, 1;
    .loc 1 30 5, function_name $L__info_string0, inlined_at 1 4 3
    add.u32 %r3, %r3, %r2;
    .loc 1 31 5, function_name $L__info_string0, inlined_at 1 4 3
    add.u32 %r3, %r3, 100;
    .loc 1 5 3
    setp.lt.u32 %p1, %r1, 2;
    @%p1 add.u32 %r3, %r3, 1000;
    .loc 1 6 3
    ld.param.u64 %rd1, [calls_param_1];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    cvt.rn.f32.u32 %r4, %r3;
    st.global.b32 [%rd3], %r4;
    ret;
}
.section .debug_str
{
$L__info_string0:
.b8 112
.b8 108
.b8 117
.b8 115
.b8 0
}
"#;

fn front() -> Front {
    let mut front = Front::of(CALLS, "calls", [1, 4], Options::default());
    front.set(&[(Location::Function("calls".to_owned()), "", 0)]);
    front.go(Until::Breakpoint, 0);
    front
}

/// The functions and lines at which it has stopped, the innermost first.
fn frames(stop: &Stop) -> Vec<(&str, u32)> {
    let frames = stop.frames.iter();
    frames.map(|it| (it.function.as_str(), it.line)).collect()
}

#[test]
fn steps_go_into_functions_and_over_them_and_back() {
    let mut front = front();
    let line_3 = front.go(Until::Line, 3);
    assert_eq!(frames(&line_3), [("calls", 3)]);
    let called = front.go(Until::Line, 3);
    assert_eq!(frames(&called), [("twice", 20), ("calls", 3)]);
    // The function's own is not written yet, and its caller's is another.
    assert_eq!(front.value(3, "%r1"), "`%r1` is not written yet");
    let seat = Seat { lane: 3, frame: 1 };
    let value = |front: &mut Front, name: &str| {
        let answer = front.ask(Question::Value(seat, name.to_owned()))?;
        match answer {
            Answer::Value(value) => Ok(value.text),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(value(&mut front, "%r1").as_deref(), Ok("3"));
    let unwritten = Err("`%r2` is not written yet".to_owned());
    assert_eq!(value(&mut front, "%r2"), unwritten);
    assert_eq!(
        frames(&front.go(Until::Line, 3)),
        [("twice", 21), ("calls", 3)]
    );
    assert_eq!(front.value(3, "%r1"), "3");
    let returned = front.go(Until::Caller, 3);
    assert_eq!(frames(&returned), [("calls", 3)]);
    assert!(
        returned.instruction.starts_with("ld.param.b32"),
        "{returned:?}"
    );
    let line_4 = front.go(Until::LineOver, 3);
    assert_eq!(frames(&line_4), [("calls", 4)]);
    assert_eq!(front.value(3, "%r2"), "6");
    let inlined = front.go(Until::Line, 3);
    assert_eq!(frames(&inlined), [("plus", 30), ("calls", 4)]);
    assert_eq!(
        frames(&front.go(Until::LineOver, 3)),
        [("plus", 31), ("calls", 4)]
    );
    assert_eq!(frames(&front.go(Until::Caller, 3)), [("calls", 5)]);
    // Over both functions, back to where they were called.
    assert_eq!(front.back(Until::LineOver, 3).position, line_4.position);
    assert_eq!(front.back(Until::LineOver, 3).position, line_3.position);
    assert_eq!(frames(&front.go(Until::LineOver, 3)), [("calls", 4)]);
    assert_eq!(frames(&front.go(Until::LineOver, 3)), [("calls", 5)]);
    front.back(Until::Line, 3);
    assert_eq!(frames(&front.back(Until::Caller, 3)), [("calls", 4)]);
    let sums = front.end().expect("no finding");
    assert_eq!(sums, [1101.0, 1103.0, 105.0, 107.0]);
}

#[test]
fn a_breakpoint_is_in_inlined_code_too() {
    let mut front = front();
    front.set(&[
        (Location::Line("calls.cu".to_owned(), 31), "", 0),
        (
            Location::Function("twice".to_owned()),
            "threadIdx.x == 2",
            0,
        ),
    ]);
    let called = front.go(Until::Breakpoint, 0);
    assert_eq!((called.lane, called.breakpoints.as_slice()), (2, &[2][..]));
    let inlined = front.go(Until::Breakpoint, 0);
    assert_eq!(inlined.breakpoints, [1]);
    assert_eq!(frames(&inlined)[0], ("plus", 31));
    front.end().expect("no finding");
}

#[test]
fn an_instruction_under_a_guard_is_a_step_of_the_lanes_that_execute_it() {
    let mut front = front();
    front.set(&[(Location::Line("calls.cu".to_owned(), 5), "", 0)]);
    front.go(Until::Breakpoint, 0);
    let guarded = front.go(Until::Instruction, 1);
    assert!(guarded.instruction.starts_with("@%p1 add"), "{guarded:?}");
    assert_eq!((guarded.running, guarded.reason), (0b11, Reason::Step));
    let back = front.back(Until::Instruction, 1);
    assert!(back.instruction.starts_with("setp"), "{back:?}");
    let others = front.go(Until::Instruction, 3);
    assert!(others.instruction.starts_with("ld.param.u64"), "{others:?}");
    front.end().expect("no finding");
}
