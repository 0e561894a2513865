//! `power`, `norm` and `collectives` on several devices, as a user meets them: in one process, and in the processes of a launcher.

#[path = "support/checkpoints.rs"]
mod checkpoints;
mod support;

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use checkpoints::{files, newest};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Kills of a rank.
const KILLS: u64 = 50;
/// `--fault-timeout` there, and what the others may take in all.
const FAULT: &str = "2";
const ENDED_WITHIN: Duration = Duration::from_secs(10);

fn command(words: &str) -> Command {
    let mut command = Command::new(support::ridgepoint());
    command.args(words.split_whitespace());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rows(output: &Output) -> Vec<HashMap<String, String>> {
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    let rows: Result<Vec<_>, _> = reader.deserialize().collect();
    rows.expect("a table")
}

fn columns<'a>(rows: &'a [HashMap<String, String>], names: [&str; 3]) -> Vec<[&'a str; 3]> {
    rows.iter()
        .map(|row| names.map(|name| &row[name][..]))
        .collect()
}

#[test]
fn power_is_measured_on_one_two_and_all_devices_and_predicted_for_more() {
    let words = "power --devices cpu:0,cpu:1,cpu:2 --dim 40 --dominance 0.4 --format csv";
    let rows = rows(&command(words).output().expect("it starts"));
    let exchanges = ["gather", "graph", "peer"];
    let mut expected = vec![["alone", "1", "measured"]];
    for devices in ["2", "3"] {
        expected.extend(exchanges.map(|exchange| [exchange, devices, "measured"]));
    }
    for exchange in exchanges {
        expected.extend(["4", "8", "16"].map(|devices| [exchange, devices, "predicted"]));
    }
    assert_eq!(columns(&rows, ["exchange", "devices", "kind"]), expected);
    for row in &rows {
        let is_measured = row["kind"] == "measured";
        assert_eq!(row["checked"] == "true", is_measured, "{row:?}");
        assert_eq!(row["limit"].is_empty(), is_measured, "{row:?}");
        assert!(row["device"].contains("CPU emulator"), "{row:?}");
    }
}

#[test]
fn a_weak_scaling_grows_with_the_devices() {
    let both = [
        // The matrix has as many elements on each device, as far as its side stays a multiple of 8 as 40 is; the vector, of which each
        // number is sent to all, grows with that side. So two devices have 56 * 56 elements where one has 40 * 40.
        (
            "power --dim 40 --dominance 0.4",
            ["40", "56", "80", "112", "160"],
            1.96,
        ),
        (
            "norm --n 1000 --rounds 1",
            ["1000", "2000", "4000", "8000", "16000"],
            2.0,
        ),
    ];
    for (words, sizes, work) in both {
        let words =
            format!("{words} --devices cpu:0,cpu:1 --scaling weak --exchange peer --format csv");
        let rows = rows(&command(&words).output().expect("it starts"));
        let expected = ["alone", "peer", "peer", "peer", "peer"]
            .into_iter()
            .zip(["1", "2", "4", "8", "16"])
            .zip(sizes);
        let expected: Vec<_> = expected
            .map(|((exchange, devices), size)| [exchange, devices, size])
            .collect();
        assert_eq!(columns(&rows, ["exchange", "devices", "size"]), expected);
        let number = |row: usize, column: &str| rows[row][column].parse::<f64>().expect("a number");
        let speedup = work * number(0, "step_us") / number(1, "step_us");
        assert!(
            (number(1, "speedup") - speedup).abs() <= 1e-3 * speedup,
            "{speedup}: {:?}",
            rows[1]
        );
        for row in &rows[2..] {
            assert_eq!(
                (&row["kind"][..], &row["scaling"][..]),
                ("predicted", "weak")
            );
            assert!(
                !row["limit"].is_empty() && !row["speedup"].is_empty(),
                "{row:?}"
            );
        }
    }
}

/// The marks of a chart, filled and hollow, and what is written in it.
fn drawn(path: &Path) -> ([usize; 2], Vec<String>) {
    let svg = fs::read_to_string(path).expect("a chart");
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let is_legend = |it: &roxmltree::Node<'_, '_>| it.attribute("class") == Some("legend");
    let marks = |class: &str| {
        let all = document.descendants();
        let marks = all.filter(|it| it.attribute("class") == Some(class));
        marks
            .filter(|it| !it.ancestors().any(|it| is_legend(&it)))
            .count()
    };
    let counts = [marks("mark"), marks("mark hollow")];
    let texts = document.descendants().filter(|it| it.has_tag_name("text"));
    let texts = texts.filter_map(|it| it.text().map(str::to_owned));
    (counts, texts.collect())
}

#[test]
fn scaling_is_drawn_by_the_commands_and_from_their_rows_alike() {
    let folder = tempfile::tempdir().expect("a folder");
    let ridgepoint = |words: &str| {
        let mut command = command(words);
        let output = command.current_dir(folder.path()).output();
        let output = output.expect("it starts");
        assert!(output.status.success(), "{words}: {}", text(&output.stderr));
    };
    let at = |name: &str| folder.path().join(name);
    for (words, title) in [
        (
            "power --dim 40 --dominance 0.4",
            "Strong scaling of power iteration, 40 x 40",
        ),
        (
            "norm --n 1000 --rounds 1 --scaling weak",
            "Weak scaling of normalization, 1,000 elements on 1 device",
        ),
    ] {
        ridgepoint(&format!(
            "{words} --devices cpu:0,cpu:1 --quiet --plot a.svg,a.png --output a.csv,a.json"
        ));
        let (marks, texts) = drawn(&at("a.svg"));
        // One device, and 2 measured and 4, 8 and 16 predicted for each exchange.
        assert_eq!(marks, [4, 9], "{words}");
        let said = texts.join(" ");
        for part in [
            title,
            "ideal scaling",
            "devices",
            "speedup",
            "alone",
            "gather",
            "graph",
            "peer",
            "Hollow, dashed: predicted",
            "not a GPU's times",
        ] {
            assert!(said.contains(part), "{words}: {part:?} is not in {said}");
        }
        assert!(
            fs::read(at("a.png"))
                .expect("written")
                .starts_with(b"\x89PNG")
        );
        for rows in ["a.csv", "a.json"] {
            ridgepoint(&format!("chart {rows} --output b.svg"));
            let [drawn, again] = ["a.svg", "b.svg"].map(|it| fs::read(at(it)).expect("written"));
            assert!(drawn == again, "{words}: {rows} are drawn otherwise");
        }
        ridgepoint("chart a.csv --only exchange=peer --title Peer --output c.svg");
        let (marks, texts) = drawn(&at("c.svg"));
        assert_eq!(marks, [1, 3], "{words}");
        assert!(texts.contains(&"Peer".to_owned()) && !texts.contains(&"gather".to_owned()));
    }
}

#[test]
fn rows_of_several_problems_are_not_drawn_as_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = "study,exchange,devices,kind,scaling,size,speedup,device";
    let row = "power,alone,1,measured,strong,64,1.0,GPU";
    let refused = |rows: &str, more: &str| {
        fs::write(folder.path().join("a.csv"), format!("{header}\n{rows}\n")).expect("written");
        let mut command = command(&format!("chart a.csv --output a.svg {more}"));
        let output = command.current_dir(folder.path()).output();
        let output = output.expect("it starts");
        assert!(!output.status.success(), "{rows}");
        assert!(!folder.path().join("a.svg").exists(), "{rows}");
        text(&output.stderr)
    };
    let both = |other: &str| refused(&format!("{row}\n{other}"), "");
    for (other, why) in [
        (
            "norm,peer,2,measured,strong,64,1.9,2 x GPU",
            "more than one study: power, norm",
        ),
        (
            "power,peer,2,measured,weak,91,1.9,2 x GPU",
            "more than one scaling: strong, weak",
        ),
        (
            "power,peer,2,measured,strong,91,1.9,2 x GPU",
            "more than one size: 64, 91",
        ),
        (
            "power,peer,2,measured,strong,64,1.9,2 x TPU",
            "more than one device: GPU, TPU",
        ),
        (
            "power,peer,2,guessed,strong,64,1.9,2 x GPU",
            "row 2: kind is \"guessed\"",
        ),
        (
            "power,peer,0,measured,strong,64,1.9,2 x GPU",
            "row 2: devices is \"0\"",
        ),
        (
            "power,peer,2,measured,strong,64,-1,2 x GPU",
            "row 2: speedup is \"-1\"",
        ),
    ] {
        let said = both(other);
        assert!(said.contains(why), "{other}: {said}");
    }
    let weak = "power,alone,1,measured,weak,64,1.0,GPU\npower,peer,2,measured,weak,91,1.9,2 x GPU";
    let said = refused(
        &format!("{weak}\npower,peer,2,measured,weak,92,1.9,2 x GPU"),
        "",
    );
    assert!(said.contains("more than one size: 91, 92"), "{said}");
    for option in ["--ceilings x.json", "--links x.json", "--mark size=64"] {
        let said = refused(row, option);
        assert!(said.contains("has no effect"), "{option}: {said}");
    }
}

/// With one exchange and checkpoints, one device is not measured, and nothing has a speedup.
#[test]
fn without_a_speedup_there_is_no_chart_and_that_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "power --devices cpu:0,cpu:1 --dim 40 --dominance 0.4 --exchange peer --checkpoint steps --plot a.svg";
    let mut command = command(words);
    let output = command.current_dir(folder.path()).output();
    let output = output.expect("it starts");
    let said = text(&output.stderr);
    assert!(
        output.status.success() && said.contains("no chart: no row"),
        "{said}"
    );
    assert!(!folder.path().join("a.svg").exists());
}

#[test]
fn collectives_are_measured_between_emulated_devices() {
    let words = "collectives --devices cpu:0,cpu:1,cpu:2 --bytes 12,1000 --rounds 1 --format csv";
    let rows = rows(&command(words).output().expect("it starts"));
    let expected = ["all-reduce", "all-gather", "reduce-scatter", "broadcast"]
        .map(|it| [[it, "12", "true"], [it, "1008", "true"]]);
    assert_eq!(
        columns(&rows, ["collective", "bytes", "checked"]),
        expected.concat()
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_measured() {
    for (words, why) in [
        ("power --devices cpu:0,cpu:0", "cpu:0 is named twice"),
        ("power --devices", "a value is required"),
        ("power --devices cpu:0 --device cpu", "cannot be used with"),
        ("power --exchange peer", "--devices"),
        ("norm --devices cpu:0", "--devices takes one --n"),
        (
            "power --devices cpu:0,cpu:1 --resume --checkpoint x",
            "name the one --exchange",
        ),
        ("power --devices cpu:0,tpu", "tpu"),
        ("power --devices cpu:0 --mode graph", "cannot be used with"),
        ("power --rendezvous x", "no effect without --devices"),
        (
            "norm --devices cpu:0,cpu:1 --n 64 --rendezvous x",
            "no launcher has started this process",
        ),
        (
            "collectives --rendezvous x",
            "no launcher has started this process",
        ),
        ("power --fault-timeout 5", "no effect without --devices"),
        (
            "norm --device cpu --n 64 --fault-timeout 5",
            "no effect without --devices",
        ),
        (
            "norm --devices cpu:0,cpu:1 --n 64 --device-times events --profile",
            "--device-times has no effect on the emulator",
        ),
        (
            "collectives --devices cpu:0,cpu:1 --device-times events --profile",
            "--device-times has no effect on the emulator",
        ),
        ("collectives --device cpu", "with --devices"),
        ("power --devices cpu:0,cpu:1 --plot a.gif", ".svg or .png"),
        (
            "norm --devices cpu:0,cpu:1 --n 10 --plot a.svg,a",
            ".svg or .png",
        ),
        ("power --plot a.svg", "--devices"),
        (
            "power --devices all --plot a.svg --output a.svg --format csv",
            "name one output",
        ),
    ] {
        let output = command(words).output().expect("it starts");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(why), "{words}: {said}");
    }
}

/// More devices than can store into each other's memory: where nothing is named, the other exchanges are measured.
#[test]
fn the_default_exchanges_are_those_that_the_devices_can() {
    let devices: Vec<String> = (0..33).map(|number| format!("cpu:{number}")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &str| {
        let mut command = command("power --dim 66 --dominance 0.4 --checkpoint steps --format csv");
        command.args(["--devices", &devices.join(",")]);
        command.args(words.split_whitespace());
        command
            .current_dir(folder.path())
            .output()
            .expect("it starts")
    };
    let refused = run("--exchange gather,peer");
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--exchange peer: 33 devices, and at most 32") && refused.stdout.is_empty(),
        "{said}"
    );
    let output = run("");
    let said = text(&output.stderr);
    assert!(
        said.contains("warning: peer is left out: 33 devices"),
        "{said}"
    );
    let expected = [("alone", "1"), ("gather", "33"), ("graph", "33")]
        .map(|(exchange, devices)| [exchange, devices, "true"]);
    assert_eq!(
        columns(&rows(&output), ["exchange", "devices", "checked"]),
        expected
    );
}

/// A rank of two, as torchrun would start it.
fn rank(number: usize, folder: &Path, words: &str) -> Command {
    let mut command = command(words);
    command
        .args(["--devices", "all", "--fault-timeout", FAULT, "--rendezvous"])
        .arg(folder.join("meet"))
        .env("RANK", number.to_string())
        .env("LOCAL_RANK", number.to_string())
        .env("WORLD_SIZE", "2");
    command
}

#[test]
fn each_process_of_a_launcher_is_a_rank_and_the_first_one_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("meet")).expect("a folder");
    let plotted = |words: &str, chart: &str| {
        format!("{words} --plot {}", folder.path().join(chart).display())
    };
    for words in [
        &plotted("power --dim 40 --dominance 0.4 --format csv", "power.svg"),
        &plotted("norm --n 1000 --rounds 1 --format csv", "norm.svg"),
        "collectives --bytes 1000 --rounds 1 --format csv",
    ] {
        let start = |number| {
            let mut command = rank(number, folder.path(), words);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it starts")
        };
        let [first, second] = [start(0), start(1)];
        let second = second.wait_with_output().expect("it ends");
        let first = rows(&first.wait_with_output().expect("it ends"));
        assert!(
            second.status.success() && second.stdout.is_empty(),
            "{}",
            text(&second.stderr)
        );
        assert!(
            first.iter().any(|row| row["devices"] == "2"),
            "{words}: {first:?}"
        );
    }
    for chart in ["power.svg", "norm.svg"] {
        // One device, and two with each of two exchanges.
        let (marks, _) = drawn(&folder.path().join(chart));
        assert_eq!(marks, [3, 0], "{chart}");
    }
}

/// All processes have the same command line, and so the same file.
#[test]
fn of_the_processes_of_a_launcher_the_first_one_records() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("meet")).expect("a folder");
    let trace = folder.path().join("t.json");
    for words in [
        "norm --n 64 --rounds 1",
        "collectives --bytes 64 --rounds 1",
    ] {
        let start = |number| {
            let mut command = rank(number, folder.path(), words);
            command.arg("--profile").arg("--trace").arg(&trace);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it starts")
        };
        let ranks = [start(0), start(1)].map(|it| it.wait_with_output().expect("it ends"));
        let [first, second] = ranks.map(|it| {
            assert!(it.status.success(), "{words}: {}", text(&it.stderr));
            text(&it.stderr)
        });
        assert!(first.contains("Traced for"), "{words}: no profile: {first}");
        assert!(second.is_empty(), "{words}: {second}");
        let written = fs::read(&trace).expect("a timeline");
        let events: serde_json::Value = serde_json::from_slice(&written).expect("JSON");
        let events = events["traceEvents"].as_array().expect("a list");
        assert!(!events.is_empty(), "{words}");
        fs::remove_file(&trace).expect("removed");
    }
}

/// `mpirun -n 1`, which a script makes of `-n $N`.
#[test]
fn the_only_process_of_a_launcher_is_a_rank_with_one_device_where_it_is_to_meet_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let devices = |more: &[&Path]| {
        let words = "norm --devices cpu:0,cpu:1 --n 64 --rounds 1 --exchange gather --format csv";
        let mut command = command(words);
        command.env("RANK", "0").env("WORLD_SIZE", "1").args(more);
        let rows = rows(&command.output().expect("it starts"));
        let measured = rows.iter().filter(|row| row["kind"] == "measured");
        let devices = measured.map(|row| row["devices"].clone());
        devices.collect::<Vec<_>>()
    };
    // One device alone, and as a rank of one.
    let rendezvous = [Path::new("--rendezvous"), folder.path()];
    assert_eq!(devices(&rendezvous), ["1", "1"]);
    assert_eq!(devices(&[]), ["1", "2"]);
}

#[test]
fn peer_stores_between_processes_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = rank(0, folder.path(), "power --exchange peer")
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("do not reach each other's memory"));
}

/// A rank that iterates for ever, with checkpoints.
fn iterate(number: usize, folder: &Path, resume: bool) -> Child {
    let words =
        "power --dim 64 --dominance 0.00001 --max-steps 10000000 --exchange gather --check-every 5";
    let mut command = rank(number, folder, words);
    command.arg("--checkpoint").arg(folder.join("steps"));
    if resume {
        command.arg("--resume");
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// How a process ends, within the time, and its last words.
fn end(mut child: Child, deadline: Instant) -> String {
    while child.try_wait().expect("a status").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("killed");
            panic!("it did not end within {ENDED_WITHIN:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("ended");
    format!("{}: {}", output.status, text(&output.stderr))
}

/// Waits for the first step of the first rank, and reads on in the background, so that it is never kept waiting.
fn first_step(child: &mut Child) {
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let step = lines
        .by_ref()
        .find(|line| line.as_ref().is_ok_and(|it| it.contains("step ")));
    if step.is_none() {
        let mut said = String::new();
        let mut errors = child.stderr.take().expect("piped");
        errors.read_to_string(&mut said).expect("text");
        panic!("it has ended before its first step: {said}");
    }
    std::thread::spawn(move || lines.map_while(Result::ok).count());
}

/// A study that one device alone would be at for hours.
const ENDLESS: [&str; 2] = [
    "power --dim 64 --dominance 0.00001 --tolerance 1e-300 --max-steps 10000000 --exchange gather",
    "norm --n 2^14 --rounds 1000 --exchange gather",
];

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().try_into().expect("a process id"));
    kill(pid, signal).expect("it runs");
}

/// Waits, no longer than a minute.
fn wait_until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "it is not so");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Two ranks that have met, of which the first measures one device.
fn alone_of_two(folder: &Path, words: &str) -> [Child; 2] {
    let meet = folder.join("meet");
    fs::create_dir_all(&meet).expect("a folder");
    let is_empty = || fs::read_dir(&meet).expect("a folder").next().is_none();
    let start = |number| {
        let mut command = rank(number, folder, words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("it starts")
    };
    // The first rank's file is there until both have met.
    let first = start(0);
    wait_until(|| !is_empty());
    let second = start(1);
    wait_until(is_empty);
    std::thread::sleep(Duration::from_millis(500));
    [first, second]
}

#[test]
fn losses_and_signals_are_heeded_while_one_device_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    let within = || Instant::now() + ENDED_WITHIN;
    for words in ENDLESS {
        let [first, mut second] = alone_of_two(folder.path(), words);
        second.kill().expect("killed");
        second.wait().expect("ended");
        let said = end(first, within());
        assert!(said.contains("rank 1 was lost"), "{words}: {said}");
        for signalled in 0..2 {
            let ranks = alone_of_two(folder.path(), words);
            send(&ranks[signalled], Signal::SIGTERM);
            let said = ranks.map(|it| end(it, within()));
            let [ended, other] = [&said[signalled], &said[1 - signalled]];
            assert!(ended.contains("exit status: 143"), "{words}: {ended}");
            let why = format!("rank {signalled} was lost: ended by a signal");
            assert!(other.contains(&why), "{words}: {other}");
        }
        // As threads of one process.
        let mut one = command(words);
        one.args(["--devices", "cpu:0,cpu:1", "--output", "rows.csv"]);
        one.current_dir(folder.path());
        let one = one.stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let one = one.expect("it starts");
        wait_until(|| folder.path().join("rows.csv.partial").exists());
        std::thread::sleep(Duration::from_millis(500));
        send(&one, Signal::SIGTERM);
        let said = end(one, within());
        assert!(said.contains("exit status: 143"), "{words}: {said}");
    }
}

#[test]
fn fifty_killed_ranks_tear_no_checkpoint_and_the_others_end_in_time() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("meet")).expect("a folder");
    let steps = folder.path().join("steps");
    let mut random = fastrand::Rng::with_seed(1);
    let mut reached = 0;
    for kill in 0..KILLS {
        let mut ranks = [0, 1].map(|number| iterate(number, folder.path(), kill > 0));
        first_step(&mut ranks[0]);
        std::thread::sleep(Duration::from_millis(random.u64(0..150)));
        let [first, second] = ranks;
        let killed = random.usize(0..2);
        let (mut victim, survivor) = match killed {
            0 => (first, second),
            _ => (second, first),
        };
        victim.kill().expect("killed");
        victim.wait().expect("ended");
        let said = end(survivor, Instant::now() + ENDED_WITHIN);
        if killed == 1 {
            assert!(said.contains("rank 1 was lost"), "kill {kill}: {said}");
        } else {
            assert!(said.contains("rank 0 was lost"), "kill {kill}: {said}");
        }
        // The newest file of each form is whole, and nothing that was written is gone.
        let step = newest(&steps).expect("the first step's, at least").step;
        assert!(step >= reached, "kill {kill}: step {step} after {reached}");
        reached = step;
        let is_newest = |path: &Path| path.to_string_lossy().contains(&format!("-{step:08}."));
        for older in files(&steps).into_iter().filter(|it| !is_newest(it)) {
            fs::remove_file(older).expect("removed");
        }
    }
    assert!(reached > 0, "no run went on");
}
