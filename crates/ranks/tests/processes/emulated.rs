//! Ranks as processes of this host, with emulated devices: launchers, rendezvous, and ranks that are killed.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use gpu_test::{Failed, Trial};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{Backlog, listen};
use ranks::{Rank, RankError, Reduction, nccl};
use ridgepoint_driver::Stream;

use crate::launch::{Ended, Launch, PROGRAM, Started};

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let trials = [
        ("ranks_meet_by_a_file", by_file as fn()),
        ("ranks_meet_by_an_address_and_a_secret", by_address),
        (
            "nobody_is_taken_in_at_an_address_without_the_secret",
            by_address_without_secret,
        ),
        ("what_is_no_file_of_ones_own_is_no_rendezvous", no_file),
        (
            "ranks_without_a_place_to_meet_are_told_how_to_name_one",
            without_place,
        ),
        ("a_rank_that_is_killed_is_lost_within_the_time", killed),
        ("a_rank_that_falls_silent_is_lost_within_the_time", stopped),
        ("a_rank_that_fails_says_why", failing),
        ("ranks_that_differ_in_their_number_are_told", wrong_size),
        ("two_processes_of_one_rank_are_told", duplicates),
        ("two_processes_of_rank_0_are_told", two_hubs),
        ("a_rank_that_never_comes_is_named", absent),
        ("rank_0_that_never_comes_is_named", absent_hub),
        ("files_of_earlier_runs_are_not_believed", stale),
        ("a_host_of_an_earlier_run_that_is_off_does_not_matter", off),
        ("others_at_the_door_do_not_matter", garbage),
        ("a_library_that_is_not_there_is_named", without_nccl),
    ];
    let trials = trials.map(|(name, test)| {
        Trial::test(format!("emulated::{name}"), move || {
            test();
            Ok::<(), Failed>(())
        })
    });
    trials.into()
}

/// Runs a rank's program.
pub(crate) fn run(program: &str, rank: &Rank<'_>) -> Result<String, RankError> {
    let control = rank.control();
    match program {
        "exchange" => {
            for step in 0..20u8 {
                let all = control.exchange(&vec![step; rank.rank()])?;
                let expected: Vec<Vec<u8>> = (0..rank.size()).map(|it| vec![step; it]).collect();
                assert_eq!(all, expected);
            }
            control.barrier()?;
            Ok(format!("rank {} of {} is done", rank.rank(), rank.size()))
        }
        "collective" => {
            say_ready(rank)?;
            let communicator = rank.communicator()?;
            let stream = Stream::new(rank.device())?;
            let mut x = rank.device().buffer_filled(1000, 1.0f32)?;
            loop {
                // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
                unsafe { communicator.all_reduce_in_place(&stream, Reduction::Max, &mut x, ..) }?;
                communicator.synchronize(&stream)?;
            }
        }
        // Waits where nobody comes.
        "wait" => {
            say_ready(rank)?;
            if rank.rank() == 1 {
                thread::sleep(Duration::from_secs(60));
            }
            control.barrier().map(|()| String::new())
        }
        "fail" if rank.rank() == 1 => Err(RankError::Disagreeing("the disk is full".to_owned())),
        "fail" => control.barrier().map(|()| String::new()),
        other => panic!("no program {other}"),
    }
}

fn say_ready(rank: &Rank<'_>) -> Result<(), RankError> {
    rank.control().barrier()?;
    println!("ready");
    Ok(())
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn launch<'a>(program: &'a str, folder: &'a Path) -> Launch<'a> {
    Launch {
        program,
        folder: Some(folder),
        fault: Duration::from_secs(3),
        device: "cpu",
        variables: &[],
    }
}

fn ends(ranks: Vec<Started>) -> Vec<Ended> {
    ranks.into_iter().map(Started::end).collect()
}

fn all_done(ended: &[Ended]) {
    for (rank, it) in ended.iter().enumerate() {
        let expected = format!("rank {rank} of {} is done", ended.len());
        assert!(it.is_success && it.said == expected, "{it:?}");
    }
}

/// All have failed in time, and say so.
fn all_failed(ended: &[Ended], most: Duration, said: &str) {
    assert!(!ended.is_empty());
    for it in ended {
        assert!(
            !it.is_success && it.said.contains(said),
            "{it:?}, not {said:?}"
        );
        assert!(it.waited < most, "{it:?}");
    }
}

fn by_file() {
    let folder = folder();
    for size in 1..=4 {
        all_done(&ends(launch("exchange", folder.path()).start_all(size)));
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "files are left");
    }
}

fn by_address() {
    let port = free_port();
    // Another address of this host, so that it shows which one rank 0 listens at.
    let variables = [
        ("MASTER_ADDR", "127.0.0.2"),
        ("MASTER_PORT", &*port),
        SECRET,
    ];
    let launch = Launch {
        folder: None,
        variables: &variables,
        ..launch("exchange", Path::new(""))
    };
    all_done(&ends(launch.start_all(3)));
    let first = launch.start(0, 2);
    wait_for_door(("127.0.0.2", port.parse().expect("a port")));
    let other = TcpStream::connect(("127.0.0.1", port.parse().expect("a port")));
    assert!(other.is_err(), "rank 0 listens at every address");
    all_done(&ends(vec![first, launch.start(1, 2)]));
}

const SECRET: (&str, &str) = ("RIDGEPOINT_SECRET", "0123456789abcdef");

fn free_port() -> String {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    free.local_addr().expect("a port").port().to_string()
}

/// Waits until somebody listens there.
fn wait_for_door(address: (&str, u16)) {
    let begin = Instant::now();
    while TcpStream::connect(address).is_err() {
        assert!(begin.elapsed() < Duration::from_secs(3), "nobody listens");
        thread::sleep(Duration::from_millis(2));
    }
}

fn by_address_without_secret() {
    let port = free_port();
    let address = [("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", &*port)];
    let with = |secret: &[(&'static str, &'static str)]| [&address[..], secret].concat();
    let (none, right) = (with(&[]), with(&[SECRET]));
    let wrong = with(&[("RIDGEPOINT_SECRET", "fedcba9876543210")]);
    let launch = |variables| Launch {
        folder: None,
        variables,
        ..launch("exchange", Path::new(""))
    };
    let said = "a secret is needed, by which rank 0 knows the ranks of this run";
    all_failed(
        &ends(launch(&none).start_all(2)),
        Duration::from_secs(3),
        said,
    );
    // A stranger who is wrong ends nothing, and is told nothing but that.
    let first = launch(&right).start(0, 2);
    let stranger = launch(&wrong).start(1, 2);
    thread::sleep(Duration::from_millis(200));
    let second = launch(&right).start(1, 2);
    all_done(&ends(vec![first, second]));
    all_failed(
        &ends(vec![stranger]),
        Duration::from_secs(8),
        "no rank 0 within 3 s",
    );
}

fn no_file() {
    let folder = folder();
    let path = folder.path().join("ridgepoint.rendezvous");
    let refused = |said: &str| {
        let ranks = vec![launch("exchange", folder.path()).start(1, 2)];
        all_failed(&ends(ranks), Duration::from_secs(6), said);
        fs::remove_file(&path).expect("it is there");
    };
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo").success());
    refused("it is a pipe, not a regular file");
    std::os::unix::fs::symlink("/dev/zero", &path).expect("a link");
    refused("it is a link, not a regular file");
    fs::write(&path, "{}").expect("a file that others may read");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("ours");
    refused("its mode is 0644, and others must have no access: 0600");
    write_own(&path, &" ".repeat(5000));
    refused("it has 5000 bytes, and at most 4096 are read");
}

/// Writes a file as rank 0 does.
fn write_own(path: &Path, text: &str) {
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .expect("written");
}

fn without_place() {
    let launch = Launch {
        folder: None,
        ..launch("exchange", Path::new(""))
    };
    let said = "MASTER_ADDR and MASTER_PORT: they are not both set: name a folder";
    all_failed(&ends(launch.start_all(2)), Duration::from_secs(3), said);
}

/// 50 times, at random moments, one of three ranks.
fn killed() {
    let folder = folder();
    let mut random = fastrand::Rng::with_seed(21);
    for round in 0..50 {
        let mut ranks = launch("collective", folder.path()).start_all(3);
        ranks.iter_mut().for_each(Started::wait_until_ready);
        let victim = random.usize(..3);
        thread::sleep(Duration::from_micros(random.u64(..20_000)));
        let victim_process = ranks.remove(victim);
        kill(victim_process.id(), Signal::SIGKILL).expect("it lives");
        let said = format!("rank {victim} was lost: its connection ended");
        all_failed(&ends(ranks), Duration::from_secs(3), &said);
        assert!(!victim_process.end().is_success, "round {round}");
    }
}

fn stopped() {
    let folder = folder();
    let launch = Launch {
        fault: Duration::from_millis(1500),
        ..launch("collective", folder.path())
    };
    for victim in [0, 2] {
        let mut ranks = launch.start_all(3);
        ranks.iter_mut().for_each(Started::wait_until_ready);
        let silent = ranks.remove(victim);
        kill(silent.id(), Signal::SIGSTOP).expect("it lives");
        let said = format!("rank {victim} was lost: it was silent for 1.5 s");
        // Those who end say goodbye for a second, which the silent one does not answer.
        all_failed(&ends(ranks), Duration::from_secs(5), &said);
    }
}

fn failing() {
    let folder = folder();
    let ended = ends(launch("fail", folder.path()).start_all(3));
    all_failed(&ended, Duration::from_secs(3), "the disk is full");
    for rank in [0, 2] {
        assert!(ended[rank].said.contains("rank 1 was lost: "), "{ended:?}");
    }
}

fn wrong_size() {
    let folder = folder();
    let launch = launch("exchange", folder.path());
    let ranks = vec![launch.start(0, 2), launch.start(1, 3)];
    let said = "rank 1 was told that there are 3 ranks, and rank 0 that there are 2";
    all_failed(&ends(ranks), Duration::from_secs(3), said);
}

fn duplicates() {
    let folder = folder();
    let launch = launch("exchange", folder.path());
    let ranks = [0, 1, 1].map(|rank| launch.start(rank, 3)).into();
    let said = "two processes are rank 1 of 3";
    all_failed(&ends(ranks), Duration::from_secs(3), said);
}

fn two_hubs() {
    let folder = folder();
    let launch = launch("exchange", folder.path());
    let first = launch.start(0, 2);
    wait_for_file(folder.path());
    let second = launch.start(0, 2);
    let first = first.end();
    assert!(first.said.contains("two processes are rank 0"), "{first:?}");
    let second = second.end();
    assert!(
        second.said.contains("of 2 ranks rank 1 has not connected"),
        "{second:?}"
    );
}

fn absent() {
    let folder = folder();
    let launch = launch("exchange", folder.path());
    let ranks = vec![launch.start(0, 4), launch.start(2, 4)];
    let said = "of 4 ranks ranks 1, 3 have not connected within 3.0 s";
    all_failed(&ends(ranks), Duration::from_secs(5), said);
}

fn absent_hub() {
    let folder = folder();
    let ranks = vec![launch("exchange", folder.path()).start(1, 2)];
    all_failed(&ends(ranks), Duration::from_secs(5), "no rank 0 within 3 s");
}

fn stale() {
    let folder = folder();
    let path = folder.path().join("ridgepoint.rendezvous");
    // Somebody else has the port by now, who says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("a port").port();
    let notice = |port| format!(r#"{{"host":"127.0.0.1","port":{port},"token":"0"}}"#);
    for stale in [notice(1), notice(port), "half a".to_owned()] {
        write_own(&path, &stale);
        let launch = launch("exchange", folder.path());
        let second = launch.start(1, 2);
        thread::sleep(Duration::from_millis(200));
        all_done(&ends(vec![launch.start(0, 2), second]));
    }
}

/// A host that is off answers no connection, as a listener whose queue is full.
fn off() {
    let folder = folder();
    let full = TcpListener::bind("127.0.0.1:0").expect("a port");
    listen(&full, Backlog::new(0).expect("small")).expect("a shorter queue");
    let address = full.local_addr().expect("a port");
    let knock = || TcpStream::connect_timeout(&address, Duration::from_millis(100));
    let _queue: Vec<TcpStream> = std::iter::from_fn(|| knock().ok()).take(10).collect();
    assert!(knock().is_err(), "the queue is not full");
    let notice = format!(
        r#"{{"host":"127.0.0.1","port":{},"token":"0"}}"#,
        address.port()
    );
    write_own(&folder.path().join("ridgepoint.rendezvous"), &notice);
    let launch = launch("exchange", folder.path());
    let second = launch.start(1, 2);
    thread::sleep(Duration::from_millis(200));
    all_done(&ends(vec![launch.start(0, 2), second]));
}

fn garbage() {
    let folder = folder();
    let launch = launch("exchange", folder.path());
    let first = launch.start(0, 2);
    let notice = wait_for_file(folder.path());
    let port = notice.split("\"port\":").nth(1).expect("a port");
    let port = port.split(',').next().and_then(|it| it.parse().ok());
    let port: u16 = port.expect("a number");
    let knock = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("open");
        stream.write_all(bytes).expect("written");
        stream
    };
    let other_token = r#"{"protocol":1,"token":"0","rank":1,"size":2}"#;
    let mut hello = b"ridgrank".to_vec();
    hello.extend((other_token.len() as u32 + 1).to_le_bytes());
    hello.push(1);
    hello.extend_from_slice(other_token.as_bytes());
    let _others = [
        knock(b""),
        knock(b"GET / HTTP/1.1\r\n\r\n"),
        knock(&hello[..20]),
        knock(&hello),
        knock(&[b"ridgrank".as_slice(), &[255; 100]].concat()),
    ];
    all_done(&ends(vec![first, launch.start(1, 2)]));
}

/// Returns what rank 0 has written for the others.
fn wait_for_file(folder: &Path) -> String {
    let begin = Instant::now();
    loop {
        if let Ok(text) = fs::read_to_string(folder.join("ridgepoint.rendezvous")) {
            return text;
        }
        assert!(begin.elapsed() < Duration::from_secs(3), "no file");
        thread::sleep(Duration::from_millis(2));
    }
}

fn without_nccl() {
    let itself = env::current_exe().expect("this program's file");
    let mut command = Command::new(itself);
    command.env(PROGRAM, "nccl");
    let named = command.env(nccl::LIBRARY, "/nowhere/libnccl.so.2").output();
    let said = String::from_utf8(named.expect("it ends").stdout).expect("text");
    let expected = "RIDGEPOINT_NCCL: /nowhere/libnccl.so.2: cannot open shared object file";
    assert!(said.starts_with(expected), "{said}");
}
