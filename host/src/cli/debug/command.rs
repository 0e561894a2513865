//! The commands of the terminal.

use debugger::protocol::{Location, Until};

/// A command: its names, what follows them, and what it does.
type Row = (&'static [&'static str], &'static str, &'static str);

/// All commands, as `help` lists them.
const ROWS: [Row; 26] = [
    (
        &["break", "b"],
        "FILE:LINE|LINE|KERNEL [if EXPR]",
        "stop there, in threads in which EXPR is true",
    ),
    (
        &["watch"],
        "ELEMENT",
        "stop before a write to an element of memory",
    ),
    (
        &["delete", "d"],
        "NUMBER",
        "forget a breakpoint or a watchpoint",
    ),
    (&["run", "r"], "", "start the program"),
    (&["continue", "c"], "", "go on to a breakpoint"),
    (&["step", "s"], "", "go on to another line of the thread"),
    (
        &["next", "n"],
        "",
        "the same, over functions that are called",
    ),
    (
        &["finish"],
        "",
        "go on to the function that has called this one",
    ),
    (
        &["stepi", "si"],
        "",
        "go on to the next instruction of the thread",
    ),
    (&["barrier"], "", "go on to the next barrier of the block"),
    (
        &["reverse-continue", "rc"],
        "",
        "go back to a breakpoint, or to the launch's beginning",
    ),
    (&["reverse-step", "rs"], "", "go back to the line before"),
    (
        &["reverse-next", "rn"],
        "",
        "the same, over functions that were called",
    ),
    (
        &["reverse-finish"],
        "",
        "go back to the call of this function",
    ),
    (
        &["reverse-stepi", "rsi"],
        "",
        "go back to the instruction before",
    ),
    (
        &["last-write"],
        "ELEMENT",
        "go back to the last write to an element of memory",
    ),
    (
        &["print", "p"],
        "EXPR",
        "show a value, such as n, y[i], %r1, arg0.f32[17], tile[0..8] or threadIdx.x",
    ),
    (
        &["lanes"],
        "EXPR",
        "show its values in all lanes of the warp",
    ),
    (&["lane"], "NUMBER", "look at another lane of the warp"),
    (
        &["frame", "f"],
        "NUMBER",
        "look at another function of the backtrace",
    ),
    (
        &["info"],
        "WHAT",
        "show breakpoints, warps, locals, registers, parameters, memory or thread",
    ),
    (
        &["backtrace", "bt"],
        "",
        "show the functions that the lane is in",
    ),
    (&["list", "l"], "", "show the source around the line"),
    (&["kill", "k"], "", "end the program"),
    (&["help", "h"], "", "show this list"),
    (&["quit", "q"], "", "end the program and the debugger"),
];

/// A command as it is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Break(Location, Option<String>),
    Watch(String),
    Delete(u32),
    Run,
    Move { until: Until, is_back: bool },
    LastWrite(String),
    Print(String),
    Lanes(String),
    Lane(u32),
    Frame(u32),
    Info(Info),
    Backtrace,
    List,
    Kill,
    Help,
    Quit,
}

/// The topics of `info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Info {
    Breakpoints,
    Warps,
    /// Of a lane, by its name in the protocol.
    Scope(&'static str),
}

impl Command {
    /// Reads a line. A line number alone is of `file`.
    ///
    /// # Errors
    /// It is no command: says what was expected.
    pub(super) fn parse(line: &str, file: Option<&str>) -> Result<Command, String> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let row = ROWS.iter().find(|row| row.0.contains(&name));
        let Some((names, arguments, _)) = row else {
            return Err(format!("`{name}` is no command; `help` lists them"));
        };
        match (arguments.is_empty(), rest.is_empty()) {
            (true, false) => return Err(format!("`{name}` takes nothing, found `{rest}`")),
            (false, true) => return Err(format!("expected {name} {arguments}")),
            _ => {}
        }
        let moves = |until| {
            Ok(Command::Move {
                until,
                is_back: false,
            })
        };
        let backs = |until| {
            Ok(Command::Move {
                until,
                is_back: true,
            })
        };
        let text = rest.to_owned();
        match names[0] {
            "break" => breakpoint(rest, file),
            "watch" => Ok(Command::Watch(text)),
            "delete" => number(rest).map(Command::Delete),
            "run" => Ok(Command::Run),
            "continue" => moves(Until::Breakpoint),
            "step" => moves(Until::Line),
            "next" => moves(Until::LineOver),
            "finish" => moves(Until::Caller),
            "stepi" => moves(Until::Instruction),
            "barrier" => moves(Until::Barrier),
            "reverse-continue" => backs(Until::Breakpoint),
            "reverse-step" => backs(Until::Line),
            "reverse-next" => backs(Until::LineOver),
            "reverse-finish" => backs(Until::Caller),
            "reverse-stepi" => backs(Until::Instruction),
            "last-write" => Ok(Command::LastWrite(text)),
            "print" => Ok(Command::Print(text)),
            "lanes" => Ok(Command::Lanes(text)),
            "lane" => match number(rest)? {
                lane @ 0..32 => Ok(Command::Lane(lane)),
                other => Err(format!("lane {other}; a warp has lanes 0 to 31")),
            },
            "frame" => number(rest).map(Command::Frame),
            "info" => info(rest).map(Command::Info),
            "backtrace" => Ok(Command::Backtrace),
            "list" => Ok(Command::List),
            "kill" => Ok(Command::Kill),
            "help" => Ok(Command::Help),
            _ => Ok(Command::Quit),
        }
    }

    /// The list of all commands.
    pub(super) fn help() -> String {
        let head = |row: &Row| format!("{} {}", row.0.join(", "), row.1);
        let width = ROWS.iter().map(|row| head(row).len()).max().unwrap_or(0);
        let line = |row: &Row| format!("{:width$}  {}", head(row), row.2);
        ROWS.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn breakpoint(text: &str, file: Option<&str>) -> Result<Command, String> {
    let (place, condition) = match text.split_once(" if ") {
        Some((place, condition)) => (place.trim(), Some(condition.trim().to_owned())),
        None => (text, None),
    };
    let at = match (place.parse(), place.rsplit_once(':')) {
        (Ok(line), _) => {
            let file = file.ok_or("no file is known yet: say FILE:LINE")?;
            Location::Line(file.to_owned(), line)
        }
        (_, Some((file, line))) => Location::Line(file.to_owned(), number(line)?),
        _ => Location::Function(place.to_owned()),
    };
    Ok(Command::Break(at, condition))
}

fn info(what: &str) -> Result<Info, String> {
    match what {
        "breakpoints" | "b" => Ok(Info::Breakpoints),
        "warps" => Ok(Info::Warps),
        "locals" => Ok(Info::Scope("Locals")),
        "registers" => Ok(Info::Scope("Registers")),
        "parameters" => Ok(Info::Scope("Parameters")),
        "memory" => Ok(Info::Scope("Memory")),
        "thread" => Ok(Info::Scope("Thread")),
        _ => Err(format!(
            "expected breakpoints, warps, locals, registers, parameters, memory or thread, found `{what}`"
        )),
    }
}

fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| format!("expected a number, found `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_the_list_is_read() {
        for (names, arguments, _) in ROWS {
            let argument = match arguments {
                "" => "",
                "NUMBER" => "7",
                "WHAT" => "warps",
                _ => "x",
            };
            let all = names.iter().map(|name| format!("{name} {argument}"));
            let read: Vec<Command> = all
                .map(|line| {
                    Command::parse(line.trim(), None).unwrap_or_else(|it| panic!("{line}: {it}"))
                })
                .collect();
            assert!(read.iter().all(|it| *it == read[0]), "{names:?}");
        }
    }

    #[test]
    fn breakpoints_have_lines_functions_and_conditions() {
        let line = |file: &str, line| Location::Line(file.to_owned(), line);
        for (text, at, condition) in [
            ("b a.cu:3", line("a.cu", 3), None),
            ("b 7", line("here.cu", 7), None),
            (
                "break saxpy if blockIdx.x == 3",
                Location::Function("saxpy".to_owned()),
                Some("blockIdx.x == 3"),
            ),
        ] {
            let condition = condition.map(str::to_owned);
            assert_eq!(
                Command::parse(text, Some("here.cu")),
                Ok(Command::Break(at, condition))
            );
        }
        for (text, error) in [
            ("b 7", "no file is known yet: say FILE:LINE"),
            ("b a.cu:x", "expected a number, found `x`"),
            ("jump", "`jump` is no command; `help` lists them"),
            ("lane 32", "lane 32; a warp has lanes 0 to 31"),
            ("step 3", "`step` takes nothing, found `3`"),
            ("print", "expected print EXPR"),
        ] {
            assert_eq!(Command::parse(text, None), Err(error.to_owned()));
        }
    }
}
