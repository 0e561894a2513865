//! Answers as the terminal shows them.

use std::fs;

use debugger::protocol::{Frame, Reason, Scope, Stop, Warp};

/// Where a program has stopped, and why; with the instruction where it is that which counts.
pub(super) fn stop(stop: &Stop, is_at_instruction: bool) -> String {
    let numbers: Vec<String> = stop.breakpoints.iter().map(u32::to_string).collect();
    let numbers = numbers.join(", ");
    let why = match stop.reason {
        Reason::Breakpoint => format!("Breakpoint {numbers}: "),
        Reason::Write if numbers.is_empty() => "About to be written: ".to_owned(),
        Reason::Write => format!("Watchpoint {numbers}, about to be written: "),
        Reason::Finding => format!("{}\n", stop.text),
        Reason::Beginning => format!("No further back: {}.\n", stop.text),
        Reason::Pause => "Stopped: ".to_owned(),
        Reason::Step => String::new(),
    };
    let note = match stop.reason {
        Reason::Breakpoint if !stop.text.is_empty() => format!("{}\n", stop.text),
        _ => String::new(),
    };
    let counts = is_at_instruction || matches!(stop.reason, Reason::Write | Reason::Finding);
    let instruction = match counts {
        true => format!("\n=>\t{}", spaced(&stop.instruction)),
        false => String::new(),
    };
    format!(
        "{note}{why}{}{instruction}",
        place(stop, stop.frames.first())
    )
}

/// Who stands where, with the line of the source.
fn place(stop: &Stop, frame: Option<&Frame>) -> String {
    let thread = stop.threads[stop.lane as usize];
    let who = format!("block {:?}, thread {thread:?}", stop.block);
    let Some(frame) = frame else {
        return who;
    };
    let line = source(frame, 0).unwrap_or_else(|| format!("\t{}", spaced(&stop.instruction)));
    format!("{who}, in {} at {}\n{line}", frame.function, frame.place)
}

/// The lines of the source around a frame's, as many on both sides; none where there is no such file.
pub(super) fn source(frame: &Frame, around: u32) -> Option<String> {
    let text = fs::read_to_string(frame.file.as_ref()?).ok()?;
    lines(&text, frame.line, around)
}

/// Lines of a text around one.
pub(super) fn lines(text: &str, line: u32, around: u32) -> Option<String> {
    let shown = |it: &(u32, &str)| it.0.abs_diff(line) <= around;
    let all = (1..).zip(text.lines()).filter(shown);
    let all: Vec<String> = all
        .map(|(number, text)| format!("{number}\t{text}"))
        .collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// An instruction's text with single spaces.
pub(super) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The functions that a lane is in.
pub(super) fn frames(all: &[Frame]) -> String {
    let line = |(index, it): (usize, &Frame)| format!("#{index} {} at {}", it.function, it.place);
    let lines: Vec<String> = all.iter().enumerate().map(line).collect();
    lines.join("\n")
}

/// One of them, with its line.
pub(super) fn frame(index: usize, of: &Frame) -> String {
    let line = source(of, 0).map_or_else(String::new, |it| format!("\n{it}"));
    format!("#{index} {} at {}{line}", of.function, of.place)
}

/// Values of all lanes, eight in a row.
pub(super) fn lanes(values: &[Option<String>]) -> String {
    const IN_A_ROW: usize = 8;
    let texts: Vec<&str> = values
        .iter()
        .map(|it| it.as_deref().unwrap_or("-"))
        .collect();
    let width = texts.iter().map(|it| it.len()).max().unwrap_or(0);
    let rows = texts.chunks(IN_A_ROW).enumerate().map(|(row, texts)| {
        let (first, last) = (IN_A_ROW * row, IN_A_ROW * row + texts.len() - 1);
        let cells: Vec<String> = texts.iter().map(|it| format!("{it:>width$}")).collect();
        format!("lanes {first:>2}-{last:<2}  {}", cells.join(" "))
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// The warps of a block.
pub(super) fn warps(all: &[Warp]) -> String {
    let line = |it: &Warp| {
        let waits = match it.waits.as_str() {
            "" => "goes on".to_owned(),
            waits => format!("waits {waits}"),
        };
        format!(
            "warp {}, lanes {}: at {}, {waits}",
            it.warp,
            debugger::ranges(it.lanes),
            it.place
        )
    };
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The variables of a scope.
pub(super) fn scope(all: &[Scope], name: &str) -> String {
    let found = all.iter().find(|it| it.name == name);
    let variables = found.map_or(&[][..], |it| &it.variables);
    if variables.is_empty() {
        return "none".to_owned();
    }
    let line = |it: &debugger::protocol::Variable| {
        format!("{}: {} = {}", it.name, it.value.ty, it.value.text)
    };
    variables.iter().map(line).collect::<Vec<_>>().join("\n")
}
