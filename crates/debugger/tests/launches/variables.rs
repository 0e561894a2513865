//! Variables of the source, by the debugging information of compilers.

use debugger::protocol::{Answer, Location, Question, Scope, Seat, Stop, Until};
use engine::Options;

use crate::support::{BLOCKS, Front, THREADS};

/// Made of `pairs/pairs.cu` by `nvcc -G -ptx -arch=compute_90`, of CUDA 13.0.
const CUDA: &str = include_str!("pairs/cuda.ptx");

/// Made of `pairs/pairs.rs` by rustc 1.99.1 for `nvptx64-nvidia-cuda`, optimised: `-Copt-level=3 -Cdebuginfo=2`.
const RUST: &str = include_str!("pairs/rust.ptx");

/// The same without optimisation, with `i & 1` for `i % 2` and `i >> 1` for `i / 2`, which do not panic.
const PLAIN_RUST: &str = include_str!("pairs/plain_rust.ptx");

/// Stops at a line in thread 4 of block 1, which has `i` = 68.
fn at(ptx: &str, file: &str, line: u32) -> (Front, Stop) {
    let mut front = Front::of(ptx, "pairs", [BLOCKS, THREADS], Options::default());
    front.set(&[(Location::Line(file.to_owned(), line), "i == 68", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!(stop.text, "");
    assert_eq!((stop.block[0], stop.lane), (1, 4));
    (front, stop)
}

fn are(front: &mut Front, lane: u32, expected: &[(&str, &str)]) {
    for (text, value) in expected {
        assert_eq!(front.value(lane, text), *value, "{text}");
    }
}

fn scopes(front: &mut Front, seat: Seat) -> Vec<Scope> {
    match front.ask(Question::Scopes(seat)) {
        Ok(Answer::Scopes(scopes)) => scopes,
        other => panic!("{other:?}"),
    }
}

/// The variables of the source as `name: type = value`.
fn locals(front: &mut Front, lane: u32, frame: u32) -> Vec<String> {
    let scopes = scopes(front, Seat { lane, frame });
    let variables = scopes[0].variables.iter();
    let variables = variables.map(|it| format!("{}: {} = {}", it.name, it.value.ty, it.value.text));
    variables.collect()
}

#[test]
fn variables_of_cuda_are_known_by_their_names() {
    let (mut front, _) = at(CUDA, "pairs.cu", 15);
    are(
        &mut front,
        4,
        &[
            ("i", "68"),
            ("i % 32 == lane", "true"),
            ("pair", "{x: 68.0, n: [1, 2, 68]}"),
            ("pair.n[1]", "2"),
            ("pair.n", "[1, 2, 68]"),
            ("pair.n[3]", "element 3 of `pair.n`, which has 3"),
            ("pair.y", "`pair` has no member `y`"),
            ("pair + 1", "`pair` is no number: name a member"),
            ("tile[3]", "67.0"),
            ("in[i]", "68.0"),
            ("in[2..5]", "[2.0, 3.0, 4.0]"),
            ("*in", "0.0"),
            // Block 0 has been here: 3 * 2 + 2 + 0 + 0.
            ("out[2]", "8.0"),
            ("in.u32[i]", "1116209152"),
            ("nothing", "nothing is called `nothing` here"),
        ],
    );
    let lanes = front.ask(Question::Lanes(0, "i".to_owned()));
    let Ok(Answer::Lanes(lanes)) = lanes else {
        panic!("{lanes:?}");
    };
    for lane in (0..32).step_by(2) {
        assert_eq!(lanes[lane], Some((64 + lane).to_string()));
    }
    front.end().expect("no finding");
}

#[test]
fn members_and_elements_are_variables_of_their_own() {
    let (mut front, _) = at(CUDA, "pairs.cu", 15);
    let seat = Seat { lane: 4, frame: 0 };
    let parts = |front: &mut Front, text: &str| {
        let asked = Question::Parts(seat, text.to_owned(), 0, 1024);
        match front.ask(asked) {
            Ok(Answer::Parts(parts)) => parts,
            other => panic!("{other:?}"),
        }
    };
    let members = parts(&mut front, "pair");
    let shown = members
        .iter()
        .map(|it| (it.name.as_str(), it.value.text.as_str(), it.elements));
    let shown: Vec<_> = shown.collect();
    assert_eq!(shown, [("x", "68.0", 0), ("n", "[1, 2, 68]", 3)]);
    for member in &members {
        assert_eq!(front.value(4, &member.expression), member.value.text);
    }
    let elements = parts(&mut front, &members[1].expression);
    assert_eq!(elements[2].expression, "pair.n[2]");
    assert_eq!(elements[2].value.text, "68");

    let place = |text: &str| Question::Place(seat, text.to_owned());
    let watched = front.ask(place("out[i]"));
    assert!(matches!(watched, Ok(Answer::Place(_, 4))), "{watched:?}");
    let own = front.ask(place("pair.x"));
    let why = "`pair.x` is in a thread's own memory, which is not watched";
    assert_eq!(own, Err(why.to_owned()));
    front.end().expect("no finding");
}

#[test]
fn a_function_that_is_called_has_variables_of_its_own() {
    let mut front = Front::of(CUDA, "pairs", [BLOCKS, THREADS], Options::default());
    let scale = Location::Line("pairs.cu".to_owned(), 5);
    front.set(&[(scale, "pair.n[2] == 68", 0)]);
    let stop = front.go(Until::Breakpoint, 0);
    assert_eq!((stop.text.as_str(), stop.lane), ("", 4));
    let names: Vec<&str> = stop.frames.iter().map(|it| it.function.as_str()).collect();
    assert_eq!(names, ["scale", "pairs"]);
    are(
        &mut front,
        4,
        &[
            ("by", "3.0"),
            ("scaled", "204.0"),
            ("middle", "2"),
            ("i", "nothing is called `i` here"),
        ],
    );
    let of_caller = locals(&mut front, 4, 1);
    assert!(
        of_caller.contains(&"i: int = 68".to_owned()),
        "{of_caller:?}"
    );
    let tile = "tile: float[64] = [64.0, 65.0, ";
    assert!(
        of_caller.iter().any(|it| it.starts_with(tile)),
        "{of_caller:?}"
    );
    front.end().expect("no finding");
}

#[test]
fn variables_of_optimised_rust_are_known_where_they_are() {
    let (mut front, stop) = at(RUST, "pairs.rs", 33);
    let names: Vec<&str> = stop.frames.iter().map(|it| it.function.as_str()).collect();
    assert_eq!(names, ["pairs"]);
    are(
        &mut front,
        4,
        &[
            ("i", "68"),
            // One member in a register, one known to the compiler, one in another register.
            ("pair", "{x: 68.0, n: [1, 2, 68]}"),
            ("pair.n[2] + 1", "69"),
            ("scaled", "206.0"),
            ("input[3]", "3.0"),
            ("half", "`half` is optimized out at this instruction"),
        ],
    );
    let all = locals(&mut front, 4, 0);
    for shown in ["i: i32 = 68", "half: i32 = <optimized out>"] {
        assert!(all.contains(&shown.to_owned()), "{shown}: {all:?}");
    }
    front.end().expect("no finding");
}

#[test]
fn inlined_functions_have_variables_of_their_own() {
    let (mut front, stop) = at(RUST, "pairs.rs", 23);
    let frames = stop.frames.iter();
    let frames: Vec<(&str, u32)> = frames.map(|it| (it.function.as_str(), it.line)).collect();
    assert_eq!(frames, [("half", 23), ("pairs", 30)]);
    assert_eq!(locals(&mut front, 4, 0), ["i: i32 = 68"]);
    let outer = locals(&mut front, 4, 1);
    assert!(outer.len() > 1, "{outer:?}");
    assert!(outer.contains(&"i: i32 = 68".to_owned()), "{outer:?}");
    front.end().expect("no finding");
}

#[test]
fn a_variant_of_an_enumeration_is_the_one_that_it_is() {
    let (mut front, _) = at(PLAIN_RUST, "pairs.rs", 31);
    are(
        &mut front,
        4,
        &[
            ("halved", "{Some: {__0: 34}}"),
            ("halved.Some.__0", "34"),
            ("halved.None", "`halved` has no member `None`"),
        ],
    );
    let odd = Seat { lane: 5, frame: 0 };
    let odd = front.ask(Question::Value(odd, "halved".to_owned()));
    let Ok(Answer::Value(odd)) = odd else {
        panic!("{odd:?}");
    };
    assert_eq!(
        (odd.text.as_str(), odd.ty.as_str()),
        ("{None: {}}", "Option<i32>")
    );
    front.end().expect("no finding");
}
