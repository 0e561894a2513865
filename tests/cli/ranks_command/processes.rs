//! The processes of a launcher: who writes, who is waited for, and what becomes of the others when one is killed.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::checkpoints::{files, newest};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::charts::drawn;
use super::{command, rows, text};

/// `--fault-timeout` there, within which a process also starts on a busy machine, and what the others may take in all.
const FAULT: &str = "8";
const ENDED_WITHIN: Duration = Duration::from_secs(16);

/// A rank of two, as torchrun would start it.
fn rank(number: usize, folder: &Path, words: &str) -> Command {
    rank_of((number, 2), folder, words)
}

/// A rank of so many, as torchrun would start it.
fn rank_of((number, size): (usize, usize), folder: &Path, words: &str) -> Command {
    let mut command = command(words);
    command
        .args(["--devices", "all", "--fault-timeout", FAULT, "--rendezvous"])
        .arg(folder.join("meet"))
        .env("RANK", number.to_string())
        .env("LOCAL_RANK", number.to_string())
        .env("WORLD_SIZE", size.to_string());
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

#[test]
fn four_and_eight_processes_share_what_two_do() {
    for size in [4, 8] {
        for words in [
            "power --dim 40 --dominance 0.4 --format csv",
            "norm --n 1003 --rounds 1 --format csv",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            fs::create_dir(folder.path().join("meet")).expect("a folder");
            let start = |number| {
                let mut command = rank_of((number, size), folder.path(), words);
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().expect("it starts")
            };
            let ranks: Vec<Child> = (0..size).map(start).collect();
            let ended = ranks
                .into_iter()
                .map(|it| it.wait_with_output().expect("it ends"));
            let ended: Vec<_> = ended.collect();
            for other in &ended[1..] {
                assert!(other.status.success(), "{words}: {}", text(&other.stderr));
            }
            let devices = size.to_string();
            let found = super::columns(&rows(&ended[0]), ["exchange", "devices", "checked"])
                .iter()
                .map(|row| row.join(" "))
                .collect::<Vec<_>>();
            let expected = ["gather", "graph"].map(|it| format!("{it} {devices} true"));
            assert_eq!(found[0], "alone 1 true");
            assert_eq!(found[1..], expected, "{words} of {size}");
        }
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
    assert_eq!(devices(&[]), ["1", "1", "2"]);
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
fn killed_ranks_tear_no_checkpoint_and_the_others_end_in_time() {
    kill_ranks(8);
}

mod slow {
    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn fifty_killed_ranks_tear_no_checkpoint_and_the_others_end_in_time() {
        super::kill_ranks(50);
    }
}

/// Kills one of two ranks so many times, and fails unless checkpoints are whole and the other rank ends.
fn kill_ranks(kills: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("meet")).expect("a folder");
    let steps = folder.path().join("steps");
    let mut random = fastrand::Rng::with_seed(1);
    let mut reached = 0;
    for kill in 0..kills {
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
