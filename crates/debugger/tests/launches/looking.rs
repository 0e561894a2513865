//! A stopped launch, looked at.

use debugger::protocol::{Answer, Question, Seat, Until};
use engine::{Options, Schedule};

use crate::support::{BLOCKS, Front, SUM, THREADS, line, sums};

#[test]
fn values_are_those_of_a_lane_and_of_all() {
    let mut front = Front::of_sum();
    front.set(&[(line(6), "blockIdx.x == 1", 2)]);
    front.go(Until::Breakpoint, 0);
    for (text, value) in [
        ("%r7", "16"),
        ("%f1", "69.0"),
        ("%f1.u32", "1116340224"),
        ("threadIdx.x + blockIdx.x * blockDim.x", "69"),
        ("%ctaid.x", "1"),
        ("gridDim.x", "4"),
        ("lane", "5"),
        // 64 + 5, and the first sum with 96 + 5.
        ("tile[threadIdx.x]", "170.0"),
        ("tile[32..35]", "[96.0, 97.0, 98.0]"),
        ("arg0.f32[%r3]", "69.0"),
        ("arg1.f32[0]", "2016.0"),
        ("sum_param_0.f32[1]", "1.0"),
        ("%rd4.f32[0]", "69.0"),
        ("arg0.f32[256]", "4 bytes at"),
        ("nothing", "nothing is called `nothing` here"),
    ] {
        let found = front.value(5, text);
        assert!(found.starts_with(value), "{text}: {found}");
    }
    let lanes = front.ask(Question::Lanes(0, "%r3".to_owned()));
    let expected = (64..96).map(|it| Some(it.to_string())).collect();
    assert_eq!(lanes, Ok(Answer::Lanes(expected)));
    front.end().expect("no finding");
}

#[test]
fn who_waits_for_whom_is_shown() {
    let mut front = Front::of_sum();
    front.set(&[(line(4), "threadIdx.x == 40", 0)]);
    front.go(Until::Breakpoint, 0);
    let Ok(Answer::Warps(warps)) = front.ask(Question::Warps) else {
        panic!("no warps");
    };
    let rows = warps
        .iter()
        .map(|it| (it.warp, it.lanes, it.place.as_str(), it.waits.as_str()));
    let waits = "for all threads of the block at barrier 0";
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            (0, u32::MAX, "sum.cu:4", waits),
            (1, u32::MAX, "sum.cu:4", "")
        ]
    );
    front.end().expect("no finding");
}

#[test]
fn scopes_have_registers_parameters_and_memory() {
    let mut front = Front::of_sum();
    front.set(&[(line(6), "", 0)]);
    front.go(Until::Breakpoint, 0);
    let Ok(Answer::Scopes(scopes)) = front.ask(Question::Scopes(Seat { lane: 3, frame: 0 })) else {
        panic!("no scopes");
    };
    let names: Vec<&str> = scopes.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["Locals", "Registers", "Parameters", "Memory", "Thread"]
    );
    let find = |scope: usize, name: &str| {
        let mut all = scopes[scope].variables.iter();
        all.find(|it| it.name == name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(find(1, "%r1").value.text, "3");
    assert!(
        find(2, "arg1")
            .value
            .text
            .ends_with(", 1024 bytes of memory")
    );
    assert_eq!(
        (find(3, "tile").elements, find(3, "tile").value.ty.as_str()),
        (64, "[f32; 64]")
    );
    assert_eq!(find(4, "threadIdx.x").value.text, "3");
    // Each of them is an expression.
    assert_eq!(front.value(3, "%r1"), "3");
    front.end().expect("no finding");
}

#[test]
fn arrays_without_names_have_numbers_and_variables_that_nobody_names_are_not_shown() {
    let ptx = SUM.replace("tile", "__shared_15_16").replace(
        ".visible .entry",
        ".global .align 4 .b32 other[2];\n.visible .entry",
    );
    let mut front = Front::of(&ptx, "sum", [BLOCKS, THREADS], Options::default());
    front.set(&[(line(6), "", 0)]);
    front.go(Until::Breakpoint, 0);
    assert_eq!(front.value(7, "shared0[threadIdx.x]"), "7.0");
    let Ok(Answer::Scopes(scopes)) = front.ask(Question::Scopes(Seat::default())) else {
        panic!("no scopes");
    };
    let names: Vec<&str> = scopes[3]
        .variables
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["shared0"]);
    front.end().expect("no finding");
}

#[test]
fn of_registers_of_the_same_name_the_first_is_meant() {
    let within = "{ .reg .b32 %r7; mov.u32 %r7, 7; }\n$loop:";
    let ptx = SUM.replacen("$loop:", within, 1);
    assert_ne!(ptx, SUM);
    let mut front = Front::of(&ptx, "sum", [BLOCKS, THREADS], Options::default());
    front.set(&[(line(6), "", 0)]);
    front.go(Until::Breakpoint, 0);
    assert_eq!(front.value(0, "%r7"), "32");
    front.end().expect("no finding");
}

#[test]
fn a_register_that_a_lane_has_not_written_has_no_value() {
    for schedule in [Schedule::default(), Schedule::Seeded(3)] {
        let options = Options {
            schedule,
            ..Options::default()
        };
        let mut front = Front::of(SUM, "sum", [BLOCKS, THREADS], options);
        // The block begins in registers of one before, which has written all of them.
        front.set(&[(line(3), "threadIdx.x == 0", 3)]);
        let stop = front.go(Until::Breakpoint, 0);
        let unwritten = |name: &str| format!("`{name}` is not written yet");
        for name in ["%r1", "%f5.u32", "%rd4.f32[0]"] {
            let register = name.split_once('.').map_or(name, |it| it.0);
            assert_eq!(front.value(0, name), unwritten(register));
        }
        let lanes = front.ask(Question::Lanes(0, "%r1".to_owned()));
        assert_eq!(lanes, Err(unwritten("%r1")));
        let scopes = front.ask(Question::Scopes(Seat::default()));
        let Ok(Answer::Scopes(scopes)) = scopes else {
            panic!("no scopes");
        };
        let registers = scopes[1].variables.iter();
        let all = registers.map(|it| it.value.text.as_str());
        assert!(all.clone().count() > 20);
        assert_eq!(all.filter(|it| *it != "<not written yet>").count(), 0);

        front.go(Until::Instruction, 0);
        assert_eq!(front.value(0, "%r1"), "0");
        assert_eq!(front.value(0, "%r2"), unwritten("%r2"));
        // Written by the first thread alone, before all meet.
        let block = stop.block[0];
        front.set(&[(
            line(10),
            &format!("threadIdx.x == 0 && blockIdx.x == {block}"),
            0,
        )]);
        front.go(Until::Breakpoint, 0);
        let lanes = front.ask(Question::Lanes(0, "%f5".to_owned()));
        let mut expected = vec![None; 32];
        expected[0] = Some(format!("{:?}", sums()[block as usize]));
        assert_eq!(lanes, Ok(Answer::Lanes(expected)));
        front.end().expect("no finding");
    }
}

#[test]
fn a_condition_of_a_register_that_a_lane_has_not_written_says_so() {
    let mut front = Front::of_sum();
    front.set(&[(line(10), "%f5 < 0", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!((stop.block, stop.warp, stop.lane), ([0, 0, 0], 0, 1));
    assert_eq!(
        stop.text,
        "its condition has no value: `%f5` is not written yet"
    );
    front.end().expect("no finding");
}
