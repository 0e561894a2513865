//! Ranks with GPUs, as threads and as processes: NCCL's collectives against the host's own computation, in
//! graphs, and when a rank is lost.
//!
//! These cases need two GPUs and NCCL, and some take all that there are: `RIDGEPOINT_REQUIRE_GPU=2` makes them fail where there is less, and
//! `RIDGEPOINT_NCCL` may name NCCL's file. The cases `threads::`, and that of two processes with one GPU, also run, wherever
//! there is a rustc, on a driver (tests/support/fake_driver.rs of the workspace) and an NCCL (fake_nccl.rs) that end the process at the
//! first call from the wrong context.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use gpu_test::{Failed, REQUIRE_GPU, Trial, equal, on_two_gpus};
use nix::sys::signal::{Signal, kill};
use ranks::{Rank, RankError, Reduction, nccl, run_threads};
use ridgepoint_driver::{Device, Stream, gpus};

use crate::collectives::{all_collectives, elements, every_type, limits};
use crate::launch::{Launch, Started};

/// The cases of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        two("threads::collectives_are_those_of_the_host", |_| {
            against_the_host(&all()?)
        }),
        two("threads::every_type_is_summed", types),
        two("graphs::collectives_are_replayed", in_a_graph),
        two("threads::sums_are_the_same_each_time", same_bits),
        two("threads::a_rank_that_fails_is_lost", failing),
        two("threads::many_communicators_one_after_another", repeated),
        two("processes::collectives_are_those_of_the_host", processes),
        two(
            "processes::a_rank_that_is_killed_is_lost_within_the_time",
            killed,
        ),
        two(
            "processes::a_rank_that_falls_silent_is_lost_within_the_time",
            stopped,
        ),
        two("processes::a_rank_without_nccl_is_named", without_nccl),
        two(ONE_GPU, one_gpu),
        without_gpus(),
    ];
    if env::var_os(PLANT).is_some() {
        trials.push(two("planted::a_stream_of_another_device", wrong_stream));
    }
    trials
}

fn two(name: &str, case: fn(&[Device]) -> Result<(), Failed>) -> Trial {
    on_two_gpus(name, &[], move |_, _| {
        let open = |number| Device::with_ptx(number, &[]);
        let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
        println!(
            "NCCL {} on {}",
            nccl::version()?,
            devices[0].properties().name
        );
        case(&devices)
    })
}

/// Every GPU there is.
fn all() -> Result<Vec<Device>, Failed> {
    let open = |number| Device::with_ptx(number as u32, &[]);
    Ok((0..gpus()?.len()).map(open).collect::<Result<_, _>>()?)
}

fn against_the_host(devices: &[Device]) -> Result<(), Failed> {
    for len in [0, 1, 37, 1 << 20] {
        all_collectives(devices, "NCCL 2.", len)?;
    }
    Ok(())
}

fn types(devices: &[Device]) -> Result<(), Failed> {
    every_type(devices);
    Ok(())
}

/// Each replay doubles what both ranks have.
fn in_a_graph(devices: &[Device]) -> Result<(), Failed> {
    let results = run_threads(devices, limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(rank.device())?;
        let mut x = rank.device().buffer_filled(1000, 1.0f64)?;
        let mut all = rank.device().buffer_zeroed(2000)?;
        let mut collectives = || {
            // SAFETY: the buffers live until the last replay has been synchronised, and are not used before.
            unsafe {
                communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..)?;
                communicator.all_gather(&stream, &x, &mut all)
            }
        };
        // NCCL connects the ranks, which no graph can have.
        collectives()?;
        communicator.synchronize(&stream)?;
        let graph = communicator.capture(&stream, collectives)?;
        for _ in 0..5 {
            // SAFETY: as above.
            unsafe { graph.launch(&stream) }?;
        }
        communicator.synchronize(&stream)?;
        Ok::<_, RankError>((x.to_vec()?, all.to_vec()?))
    })?;
    for (x, all) in results {
        equal(&x, &[64.0; 1000])?;
        equal(&all, &[64.0; 2000])?;
    }
    Ok(())
}

fn same_bits(devices: &[Device]) -> Result<(), Failed> {
    let sums = || {
        run_threads(devices, limits(), |rank| {
            let communicator = rank.communicator()?;
            let stream = Stream::new(rank.device())?;
            let own = elements(rank.rank(), 100_003);
            let mut x = rank.device().buffer_from(&own)?;
            for _ in 0..20 {
                // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
                unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) }?;
            }
            communicator.synchronize(&stream)?;
            Ok::<_, RankError>(x.to_vec()?)
        })
    };
    let first = sums()?;
    equal(&first[0], &first[1])?;
    for _ in 0..5 {
        equal(&sums()?[0], &first[0])?;
    }
    Ok(())
}

/// Rank 0 waits in a collective that rank 1 never calls.
fn failing(devices: &[Device]) -> Result<(), Failed> {
    let begin = Instant::now();
    let result = run_threads(devices, limits(), |rank| {
        let communicator = rank.communicator().map_err(|it| it.to_string())?;
        if rank.rank() == 1 {
            thread::sleep(Duration::from_millis(200));
            return Err("planted".to_owned());
        }
        let stream = Stream::new(rank.device()).map_err(|it| it.to_string())?;
        let x = rank.device().buffer_filled(1000, 1.0f64);
        let mut x = x.map_err(|it| it.to_string())?;
        // SAFETY: the buffer lives until NCCL has been given up, and is not used before.
        let put = unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) };
        let error = put.and_then(|()| communicator.synchronize(&stream));
        let error = error.expect_err("rank 1 fails");
        assert!(matches!(error, RankError::Lost { rank: 1, .. }), "{error}");
        // The device is still good.
        let other = Stream::new(rank.device()).map_err(|it| it.to_string())?;
        other.synchronize().map_err(|it| it.to_string())?;
        Err::<(), _>(error.to_string())
    });
    let error = result.expect_err("rank 1 fails").to_string();
    within(begin.elapsed(), 15, &error)?;
    equal(&[error], &["rank 1: planted".to_owned()])
}

fn repeated(devices: &[Device]) -> Result<(), Failed> {
    let results = run_threads(devices, limits(), |rank| {
        let stream = Stream::new(rank.device())?;
        let mut x = rank.device().buffer_filled(10, 1u64)?;
        for _ in 0..3 {
            let communicator = rank.communicator()?;
            // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
            unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) }?;
            communicator.synchronize(&stream)?;
        }
        Ok::<_, RankError>(x.to_vec()?)
    })?;
    equal(&results.concat(), &[8; 20])
}

/// The programs that ranks that are processes are started for.
pub(crate) const PROGRAMS: [&str; 3] = ["meet", "some", "forever"];

/// Runs the program of a rank that is a process.
pub(crate) fn run(program: &str, rank: &Rank<'_>) -> Result<String, RankError> {
    if program == "meet" {
        return Ok(format!("rank {} has come", rank.rank()));
    }
    let communicator = rank.communicator()?;
    let stream = Stream::new(rank.device())?;
    let mut x = rank.device().buffer_filled(1 << 20, 1.0f32)?;
    let steps = match program {
        "some" => 10,
        _ => usize::MAX,
    };
    for step in 0..steps {
        // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
        unsafe { communicator.all_reduce_in_place(&stream, Reduction::Max, &mut x, ..) }?;
        communicator.synchronize(&stream)?;
        if step == 0 {
            println!("ready");
        }
    }
    let all_are_one = x.to_vec()?.iter().all(|it| *it == 1.0);
    Ok(format!("rank {} is done: {all_are_one}", rank.rank()))
}

fn launch<'a>(program: &'a str, folder: &'a tempfile::TempDir) -> Launch<'a> {
    Launch {
        program,
        folder: Some(folder.path()),
        fault: Duration::from_secs(10),
        device: "cuda",
        variables: &[],
    }
}

fn processes(_: &[Device]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let ranks = launch("some", &folder).start_all(gpus()?.len());
    for (rank, ended) in ranks.into_iter().map(Started::end).enumerate() {
        let expected = format!("rank {rank} is done: true");
        if !ended.is_success || ended.said != expected {
            return Err(format!("{ended:?}").into());
        }
    }
    Ok(())
}

fn killed(_: &[Device]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut random = fastrand::Rng::with_seed(21);
    for round in 0..6 {
        let victim = round % 2;
        lost(&folder, victim, Signal::SIGKILL, random.u64(..20_000))?;
    }
    Ok(())
}

fn stopped(_: &[Device]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    lost(&folder, 1, Signal::SIGSTOP, 1000)
}

/// Sends a signal to one of two ranks in the midst of collectives: the other says so, and ends.
fn lost(
    folder: &tempfile::TempDir,
    victim: usize,
    signal: Signal,
    microseconds: u64,
) -> Result<(), Failed> {
    let mut ranks = launch("forever", folder).start_all(2);
    ranks.iter_mut().for_each(Started::wait_until_ready);
    thread::sleep(Duration::from_micros(microseconds));
    let gone = ranks.remove(victim);
    kill(gone.id(), signal)?;
    let ended = ranks.remove(0).end();
    println!("rank {victim} by {signal}: {ended:?}");
    let said = format!("rank {victim} was lost: ");
    if ended.is_success || !ended.said.contains(&said) {
        return Err(format!("{ended:?}, not {said:?}").into());
    }
    // 10 s of silence for one that is stopped, and what NCCL takes to give up.
    let most = if signal == Signal::SIGKILL { 10 } else { 20 };
    within(ended.waited, most, &ended.said)
}

fn without_nccl(_: &[Device]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let launch = launch("some", &folder);
    let variables = [(nccl::LIBRARY, "/nowhere/libnccl.so.2")];
    let without = Launch {
        variables: &variables,
        ..launch
    };
    let ranks = [launch.start(0, 2), without.start(1, 2)].map(Started::end);
    for ended in &ranks {
        if ended.is_success || !ended.said.contains("/nowhere/libnccl.so.2: cannot open") {
            return Err(format!("{ended:?}").into());
        }
    }
    let of_rank = ranks[0].said.contains("rank 1: RIDGEPOINT_NCCL");
    match of_rank {
        true => Ok(()),
        false => Err(format!("{:?}", ranks[0]).into()),
    }
}

const ONE_GPU: &str = "processes::two_with_one_gpu_are_told";

/// Ranks that their launcher has given one GPU.
fn one_gpu(_: &[Device]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let launch = launch("meet", &folder);
    for (rank, ended) in launch
        .start_all(2)
        .into_iter()
        .map(Started::end)
        .enumerate()
    {
        let expected = format!("rank {rank} has come");
        if !ended.is_success || ended.said != expected {
            return Err(format!("{ended:?}").into());
        }
    }
    let shared = Launch {
        variables: &[("MPI_LOCALRANKID", "0")],
        ..launch
    };
    for ended in shared.start_all(2).into_iter().map(Started::end) {
        if ended.is_success || !ended.said.starts_with("ranks 0 and 1 have the same GPU, ") {
            return Err(format!("{ended:?}").into());
        }
    }
    Ok(())
}

/// The cases that need no NCCL between processes, without GPUs, in a process of its own.
fn without_gpus() -> Trial {
    let rustc = || Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let trial = Trial::test("the_fake_driver_and_nccl_run_the_cases", move || {
        let folder = tempfile::tempdir()?;
        let driver = include_str!("../../../../tests/support/fake_driver.rs");
        let nccl = include_str!("fake_nccl.rs");
        for (name, text) in [("libcuda.so.1", driver), ("libnccl.so.2", nccl)] {
            let source = folder.path().join("fake.rs");
            fs::write(&source, text)?;
            let mut compiler = rustc();
            compiler.args(["--edition", "2024", "--crate-type", "cdylib", "-O", "-o"]);
            let compiled = compiler
                .args([&folder.path().join(name), &source])
                .output()?;
            if !compiled.status.success() {
                return Err(String::from_utf8_lossy(&compiled.stderr).into());
            }
        }
        let output = with_fakes(folder.path(), "threads::")?;
        let text = String::from_utf8(output.stdout)?;
        if !output.status.success()
            || !text.contains(&format!(" {CASES} passed; 0 failed; 0 ignored"))
        {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("not {CASES} cases passed:\n{text}{error}").into());
        }
        let shared = with_fakes(folder.path(), ONE_GPU)?;
        let text = String::from_utf8(shared.stdout)?;
        if !shared.status.success() || !text.contains(" 1 passed; 0 failed; 0 ignored") {
            let error = String::from_utf8_lossy(&shared.stderr);
            return Err(format!("{ONE_GPU} did not pass:\n{text}{error}").into());
        }
        let planted = with_fakes(folder.path(), "planted::")?;
        let error = String::from_utf8_lossy(&planted.stderr);
        match !planted.status.success() && error.contains(WRONG_STREAM) {
            true => Ok(()),
            false => Err(format!("not {WRONG_STREAM:?}:\n{error}").into()),
        }
    });
    match rustc().arg("--version").output() {
        Ok(_) => trial,
        Err(error) => trial
            .with_kind(format!("skipped: rustc: {error}"))
            .with_ignored_flag(true),
    }
}

/// How many cases are called `threads::`.
const CASES: usize = 5;

/// Runs these cases of this program on the driver and the NCCL in `folder`.
fn with_fakes(folder: &Path, cases: &str) -> std::io::Result<Output> {
    Command::new(env::current_exe()?)
        .args([cases, "--test-threads=1"])
        .env("LD_LIBRARY_PATH", folder)
        .env_remove(nccl::LIBRARY)
        .env(REQUIRE_GPU, "2")
        .env(PLANT, "1")
        .output()
}

/// Where this is set there is a case `planted::` that must fail.
const PLANT: &str = "RIDGEPOINT_PLANT_WRONG_STREAM";

/// The fake driver's text for it.
const WRONG_STREAM: &str = "cuStreamSynchronize in context 1 with a stream of context 2";

/// Rank 0 uses a stream of rank 1's device.
fn wrong_stream(devices: &[Device]) -> Result<(), Failed> {
    run_threads(devices, limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(&devices[1])?;
        let mut x = rank.device().buffer_zeroed::<f32>(1)?;
        // SAFETY: none: the fake driver ends the process.
        unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) }
    })?;
    Ok(())
}

fn within(waited: Duration, seconds: u64, what: &str) -> Result<(), Failed> {
    match waited < Duration::from_secs(seconds) {
        true => Ok(()),
        false => Err(format!("{what}: after {waited:?}, not within {seconds} s").into()),
    }
}
