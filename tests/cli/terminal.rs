//! The output for people: text that fits their terminal, colours where they are wanted, and how long it will take.

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs a command line in a folder, on no terminal.
fn piped(folder: &Path, line: &str) -> Output {
    let mut command = Command::new(support::ridgepoint());
    command.args(words(line)).current_dir(folder);
    command.env_remove("COLUMNS").stdin(Stdio::null());
    command.output().expect("the command starts")
}

/// The words of a line: none of them has a space.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ').filter(|word| !word.is_empty())
}

/// Which streams are a terminal's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Terminal {
    /// Standard output alone.
    Output,
    /// Both.
    Both,
}

/// Returns the output of a command line on a terminal that is so many characters wide. `script` makes the terminal.
fn typed(folder: &Path, line: &str, columns: usize, terminal: Terminal) -> String {
    typed_with(folder, line, columns, terminal, &[])
}

fn typed_with(
    folder: &Path,
    line: &str,
    columns: usize,
    terminal: Terminal,
    variables: &[(&str, &str)],
) -> String {
    let errors = match terminal {
        Terminal::Output => "2>/dev/null",
        Terminal::Both => "",
    };
    let program = support::ridgepoint();
    let typed = format!(
        "stty cols {columns} rows 50; '{}' {line} {errors}",
        program.display()
    );
    let mut command = Command::new("script");
    command
        .args(["-q", "-c", &typed, "/dev/null"])
        .current_dir(folder);
    for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command
        .env("TERM", "xterm-256color")
        .envs(variables.iter().copied());
    let output = command.stdin(Stdio::null()).output();
    let output = output.expect("script, of bsdutils or util-linux, makes a terminal");
    String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
}

/// Without escapes.
fn plain(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| {
        let end = part.find(|it: char| it.is_ascii_alphabetic());
        end.map_or("", |end| &part[end + 1..])
    });
    first + &rest.collect::<String>()
}

/// Lines that are wider, unless one word is: nothing can be done about a path.
fn too_wide(text: &str, columns: usize) -> Vec<&str> {
    let is_wide = |line: &&str| line.chars().count() > columns && line.trim().contains(' ');
    text.lines().filter(is_wide).collect()
}

/// A kernel that nvcc compiled, and rows of two runs.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = "k,ai,gflops,kernel,dtype,n,median_ms,rms_percent,samples,bound,percent_measured_roof,flags,device\n\
                1,0.25,100,horner,f32,1024,1.5,1,10,compute,50,,GPU\n";
    fs::write(folder.path().join("before.csv"), rows).expect("writable");
    let slower = rows.replace(",1.5,", ",3.5,");
    fs::write(folder.path().join("after.csv"), slower).expect("writable");
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/benches/nvcc.ptx");
    fs::copy(ptx, folder.path().join("nvcc.ptx")).expect("nvcc's saxpy");
    folder
}

/// A launch of that kernel.
const SAXPY: &str = "nvcc.ptx saxpy --grid 4 --block 256 --arg i32:1024 --arg f32:2.5 \
                     --arg 'f32[1024]=random' --arg 'f32[1024]=ones'";

/// Commands whose text is for programs, or is a single line.
const WITHOUT_TEXT: [&str; 4] = ["chart", "completions", "man", "new"];

#[test]
fn every_command_with_text_is_typed() {
    let lines = lines();
    let typed: Vec<_> = lines
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let untyped =
        |name: &String| !typed.contains(&name.as_str()) && !WITHOUT_TEXT.contains(&name.as_str());
    let untyped: Vec<_> = crate::help::commands()
        .into_iter()
        .filter(untyped)
        .collect();
    assert_eq!(untyped, [""; 0], "`lines` has no line of these");
}

/// Each command as people type it, with a table or text of its own.
fn lines() -> Vec<String> {
    let lines = [
        "measure copy --device cpu --axis n=1024 --runs 2",
        "list",
        "roofline --device cpu --n 1024 --k 1,2 --output rows.csv",
        "roofline --device cpu --kernel all --n 1024 --k 1 --vector 1 --ilp 1 --output all.csv",
        "roofline --device cpu --n 1024 --k 1,2 --output rows.csv --plot -",
        "roofline --device cpu --n 1024 --k 1 --output rows.csv --profile",
        "occupancy --arch sm_70,sm_90 --registers 32,255 --shared 0,48KiB",
        "occupancy --device cpu --kernel copy --ilp 1 --n 1024 --block 128 --shared 0 --output occupancy.csv",
        "kernels",
        "check --workload copy --n 100 --ilp 1 --seeds 1",
        "check --workload copy --n 100 --ilp 1 --seeds 1 --coverage lcov.info",
        "profile --workload copy --n 1024 --ilp 1",
        "predict --workload copy --n 1024 --ilp 1 --registers 14",
        "compare before.csv after.csv",
        "norm --device cpu --n 1024 --rounds 1",
        "dispatch --device cpu --rounds 1 --launches 10",
        "power --device cpu --dim 64 --dominance 0.9 --max-steps 20",
        "pipeline --device cpu --size 64 --batches 1 --chunks 1 --slots 1 --rounds 1",
        "ceilings --device cpu --n 1024 --runs 1",
        "links --devices cpu:0,cpu:1 --bytes 4096 --rounds 1",
        "collectives --devices cpu:0,cpu:1 --bytes 8,4096 --rounds 1",
        "power --devices cpu:0,cpu:1 --dim 16 --dominance 0.9 --max-steps 20",
        "norm --devices cpu:0,cpu:1 --n 100 --rounds 1",
        "merge before.csv after.csv --output both.csv",
        "emulate echo the text of a program",
        "debug true",
        "device",
        "doctor",
    ];
    let files = ["run", "profile"].map(|command| format!("{command} {SAXPY}"));
    let program = support::ridgepoint();
    let mutated = format!("mutate {} run {SAXPY}", program.display());
    let more = files.into_iter().chain([mutated]);
    lines.map(str::to_owned).into_iter().chain(more).collect()
}

/// Names of all commands.
fn commands() -> Vec<String> {
    let help = piped(Path::new("."), "help");
    let help = String::from_utf8(help.stdout).expect("text");
    let (_, commands) = help.split_once("Commands:\n").expect("commands");
    let commands = commands.lines().take_while(|line| line.starts_with("  "));
    let names = commands.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_commands_text_fits_60_characters() {
    fits(&[60]);
}

mod slow {
    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn every_commands_text_fits_80_and_120_characters() {
        super::fits(&[80, 120]);
    }
}

/// Fails unless the text of every command is no wider than terminals of these widths.
fn fits(widths: &[usize]) {
    let folder = folder();
    for line in &lines() {
        for &columns in widths {
            let text = typed(folder.path(), line, columns, Terminal::Output);
            assert!(text.lines().count() > 0, "{line} says nothing");
            let text = plain(&text);
            let wide = too_wide(&text, columns);
            assert!(wide.is_empty(), "{line}, {columns}: {wide:#?}");
        }
    }
}

#[test]
fn help_fits_and_a_planted_line_does_not() {
    for name in commands() {
        for columns in [60, 80, 120] {
            let text = typed(
                Path::new("."),
                &format!("{name} --help"),
                columns,
                Terminal::Output,
            );
            let text = plain(&text);
            assert!(text.contains("Usage: "), "{text}");
            let wide = too_wide(&text, columns);
            assert!(wide.is_empty(), "{name} --help, {columns}: {wide:#?}");
        }
    }
    let planted = format!("{} {}\n{}\n", "a".repeat(60), "b", "c".repeat(70));
    assert_eq!(too_wide(&planted, 60).len(), 1);
}

#[test]
fn a_narrow_table_says_what_it_lacks_and_a_pipe_has_all_columns() {
    let folder = folder();
    let narrow = typed(folder.path(), "kernels", 60, Terminal::Output);
    let note = narrow.split("Columns left out at 60 characters:").nth(1);
    let note = note.unwrap_or_else(|| panic!("{narrow}"));
    for column in ["shared B", "stack B", "1024"] {
        assert!(note.contains(column), "{note}");
    }
    let whole = piped(folder.path(), "kernels").stdout;
    let whole = String::from_utf8(whole).expect("text");
    assert!(!whole.contains("left out"), "{whole}");
    assert!(
        too_wide(&whole, 120).len() > 10,
        "a pipe has room for everything"
    );
    let asked = Command::new(support::ridgepoint())
        .arg("list")
        .env("COLUMNS", "70")
        .output();
    let asked = String::from_utf8(asked.expect("it starts").stdout).expect("text");
    assert!(
        too_wide(&asked, 70).is_empty(),
        "COLUMNS is asked of a pipe, too"
    );
}

#[test]
fn colours_are_for_terminals_unless_something_else_is_asked_for() {
    let folder = folder();
    let at = folder.path();
    let chart = "roofline --device cpu --n 1024 --k 1 --output rows.csv --plot - --quiet";
    let wrong = "roofline --k 0";
    let has_escapes = |text: &str| text.contains('\u{1b}');
    for line in [
        chart,
        wrong,
        "help",
        "norm --device cpu --n 1024 --rounds 1 --quiet",
    ] {
        let text = typed(at, line, 80, Terminal::Both);
        assert!(has_escapes(&text), "{line}: {text:?}");
        let variables = [("NO_COLOR", "1")];
        let text = typed_with(at, line, 80, Terminal::Both, &variables);
        assert!(!has_escapes(&text), "{line} with NO_COLOR: {text:?}");
        for variables in [&[("TERM", "dumb")][..], &[("TERM", "dumb"), ("CI", "true")]] {
            let text = typed_with(at, line, 80, Terminal::Both, variables);
            assert!(!has_escapes(&text), "{line}, {variables:?}: {text:?}");
        }
        let text = typed(at, &format!("--color never {line}"), 80, Terminal::Both);
        assert!(!has_escapes(&text), "{line} with --color never: {text:?}");
        for (option, expected) in [
            ("", false),
            ("--color=auto", false),
            ("--color always", true),
        ] {
            let output = piped(
                at,
                &format!("{line} {option}").replace("help --", "--help --"),
            );
            let all = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&all).into_owned();
            assert_eq!(has_escapes(&text), expected, "{line} {option}: {text:?}");
        }
    }
    let refused = piped(at, "list --color sometimes");
    assert_eq!(refused.status.code(), Some(2));
}

/// Commands that take more than two seconds on some device.
#[test]
fn what_takes_long_has_a_bar_with_an_estimate() {
    let folder = folder();
    let saxpy = format!("run {SAXPY} --seeds 8");
    for line in [
        "measure copy --device cpu --axis n=1024,2048 --runs 2",
        "roofline --device cpu --kernel copy --n 1024 --ilp 1,2 --output rows.csv",
        "compare --device cpu --kernel copy --n 1024 --ilp 1 --runs 2 --baseline rows.csv",
        "occupancy --device cpu --kernel copy --ilp 1 --n 1024 --block 64,128 --shared 0 --output o.csv",
        "check --workload copy --n 100 --ilp 1 --seeds 3",
        "profile --workload copy --n 1024 --ilp 1,2",
        "norm --device cpu --n 1024 --rounds 1",
        "dispatch --device cpu --rounds 1",
        "power --device cpu --dominance 0.5 --max-steps 50",
        "pipeline --device cpu --size 64 --batches 1 --chunks 1 --slots 1 --rounds 1",
        "ceilings --device cpu --n 1024 --runs 1",
        "links --devices cpu:0,cpu:1 --bytes 4096 --rounds 1",
        "collectives --devices cpu:0,cpu:1 --bytes 8,4096 --rounds 1",
        "power --devices cpu:0,cpu:1 --dim 16 --dominance 0.9 --max-steps 20",
        "norm --devices cpu:0,cpu:1 --n 100 --rounds 1",
        &saxpy,
    ] {
        let text = typed(folder.path(), line, 100, Terminal::Both);
        assert!(
            text.contains(", about ") && text.contains(" left: "),
            "{line}: {text:?}"
        );
        let quiet = typed(
            folder.path(),
            &format!("{line} --quiet --format csv"),
            100,
            Terminal::Both,
        );
        assert!(!quiet.contains(" left: "), "{line}, quiet: {quiet:?}");
    }
}

/// All embedded kernels take minutes: the first seconds have the bar.
#[test]
fn the_check_of_all_embedded_kernels_has_a_bar() {
    let folder = folder();
    let line = "check --seeds 0 & sleep 6; kill $!; wait";
    let text = typed(folder.path(), &format!("{line} #"), 60, Terminal::Both);
    assert!(
        text.contains(", about ") && text.contains(" left: "),
        "{text:?}"
    );
}

/// Lines that print rows, and a column of each.
const PRINTED: [(&str, &str); 14] = [
    ("measure copy --device cpu --axis n=1024 --runs 2", "kernel"),
    ("list", "workload"),
    ("occupancy --arch sm_90", "arch"),
    ("kernels horner", "kernel"),
    ("check --workload copy --n 100 --ilp 1 --seeds 1", "kernel"),
    ("profile --workload copy --n 1024 --ilp 1", "kernel"),
    (
        "predict --workload copy --n 1024 --ilp 1 --registers 14",
        "kernel",
    ),
    ("compare after.csv before.csv", "launch"),
    ("norm --device cpu --n 1024 --rounds 1", "mode"),
    ("dispatch --device cpu --rounds 1 --launches 10", "dispatch"),
    (
        "power --device cpu --dim 64 --dominance 0.9 --max-steps 20",
        "mode",
    ),
    ("ceilings --device cpu --n 1024 --runs 1", "quantity"),
    ("device", "device"),
    ("doctor", "part"),
];

#[test]
fn every_command_prints_its_rows_in_each_format_and_nothing_between_them() {
    let folder = folder();
    for (line, column) in PRINTED {
        let printed = |format: &str| {
            let output = piped(folder.path(), &format!("{line} {format}"));
            let code = output.status.code();
            assert!(code == Some(0), "{line} {format}: {output:?}");
            String::from_utf8(output.stdout).expect("text")
        };
        let csv = printed("--format csv");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().expect("a header").clone();
        assert!(header.iter().any(|it| it == column), "{line}: {header:?}");
        let rows = reader
            .records()
            .map(|row| row.expect("as many cells as columns"));
        assert!(rows.count() > 0, "{line}: no rows");
        let json = printed("-f json -q");
        let json: serde_json::Value =
            serde_json::from_str(&json).unwrap_or_else(|error| panic!("{line}: {error}\n{json}"));
        assert!(json.is_array() || json.is_object(), "{line}");
        let markdown = printed("--format=md");
        let is_row = |row: &str| row.starts_with('|') && row.ends_with('|');
        assert!(markdown.lines().all(is_row), "{line}: {markdown}");
    }
    let run = piped(
        folder.path(),
        &format!("run {SAXPY} --format csv").replace('\'', ""),
    );
    let text = String::from_utf8(run.stdout).expect("text");
    assert!(
        text.starts_with("argument,shape,change,values,crc32\n3,f32[1024],changed"),
        "{text}"
    );
}

#[test]
fn quiet_leaves_the_exit_status_or_is_refused() {
    let folder = folder();
    for (line, code, error) in [
        ("compare before.csv after.csv -q", 1, "1 row is slower"),
        ("compare after.csv before.csv -q", 0, ""),
        (
            "check --workload copy --n 100 --ilp 1 --seeds 1 --quiet",
            0,
            "",
        ),
        ("doctor --quiet", 0, ""),
        ("measure copy -d cpu --axis n=1024 --runs 2 -q", 0, ""),
        ("merge before.csv after.csv -o both.csv -q", 0, ""),
        ("list -q", 2, "add --format"),
        ("device -q", 2, "add --format"),
        ("kernels -q", 2, "add --format"),
        (
            "profile --workload copy --n 1024 --ilp 1 -q",
            2,
            "add --format",
        ),
        (
            "predict --workload copy --n 1024 --ilp 1 -q",
            2,
            "add --format",
        ),
    ] {
        let output = piped(folder.path(), line);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        assert!(output.stdout.is_empty(), "{line}: {output:?}");
        assert!(
            said.contains(error) && (error.is_empty() == said.is_empty()),
            "{line}: {said}"
        );
    }
}

#[test]
fn control_characters_of_files_are_shown_and_not_obeyed() {
    let folder = folder();
    let escape = "\u{1b}]0;owned\u{7}\u{1b}[2J";
    let ptx = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() {{ {escape} foo; ret; }}\n"
    );
    fs::write(folder.path().join("escape.ptx"), ptx).expect("written");
    let rows = fs::read_to_string(folder.path().join("before.csv")).expect("rows");
    let rows = rows.replace(",horner,", &format!(",{escape},"));
    fs::write(folder.path().join("escape.csv"), &rows).expect("written");
    let json = format!("{{\"rows\": [{{\"{escape}\": 1}}]}}");
    fs::write(folder.path().join("escape.json"), json).expect("written");
    for line in [
        "run escape.ptx k --grid 1 --block 1",
        "profile escape.ptx k --grid 1 --block 1",
        "merge escape.csv --output -",
        "merge escape.json --output -",
        "chart escape.csv --output -",
        "compare escape.csv escape.csv",
    ] {
        let said = typed(folder.path(), line, 200, Terminal::Both);
        assert!(!said.is_empty(), "{line} says nothing");
        for part in ["\u{1b}]", "\u{7}", "\u{1b}[2J"] {
            assert!(!said.contains(part), "{line}: {said:?}");
        }
    }
    let said = typed(
        folder.path(),
        "merge escape.csv --output -",
        200,
        Terminal::Both,
    );
    assert!(said.contains(r"\u{1b}]0;owned\u{7}\u{1b}[2J"), "{said:?}");
    // Another program is given what is in the file.
    let merged = piped(folder.path(), "merge escape.csv --output -");
    assert!(String::from_utf8_lossy(&merged.stdout).contains(escape));
}
