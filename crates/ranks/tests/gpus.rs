//! Ranks with GPUs, as threads and as processes: NCCL's collectives against the host's own computation, in
//! graphs, and when a rank is lost.
//!
//! All cases need two GPUs and NCCL: `RIDGEPOINT_REQUIRE_GPU=2` makes them fail where there is less, and
//! `RIDGEPOINT_NCCL` may name NCCL's file.

mod support;

#[path = "support/collectives.rs"]
mod collectives;

use std::env;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use collectives::{all_collectives, elements, every_type, limits};
use gpu_test::{Arguments, Failed, Trial, equal, on_two_gpus};
use nix::sys::signal::{Signal, kill};
use ranks::{Rank, RankError, Reduction, nccl, run_threads};
use ridgepoint_driver::{Device, Stream};
use support::{Launch, PROGRAM, Started};

fn main() -> ExitCode {
    if env::var_os(PROGRAM).is_some() {
        return support::rank(|program, rank| run(program, &rank).map_err(|it| it.to_string()));
    }
    let trials = vec![
        two(
            "threads::collectives_are_those_of_the_host",
            against_the_host,
        ),
        two("threads::every_type_is_summed", types),
        two("threads::collectives_in_a_graph_are_replayed", in_a_graph),
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
    ];
    gpu_test::run(&Arguments::from_args(), trials).exit_code()
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
        let graph = communicator.capture(&stream, || {
            // SAFETY: the buffers live until the last replay has been synchronised, and are not used before.
            unsafe {
                communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..)?;
                communicator.all_gather(&stream, &x, &mut all)
            }
        })?;
        for _ in 0..5 {
            // SAFETY: as above.
            unsafe { graph.launch(&stream) }?;
        }
        communicator.synchronize(&stream)?;
        Ok::<_, RankError>((x.to_vec()?, all.to_vec()?))
    })?;
    for (x, all) in results {
        equal(&x, &[32.0; 1000])?;
        equal(&all, &[32.0; 2000])?;
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
        unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) }
            .map_err(|it| it.to_string())?;
        let error = communicator.synchronize(&stream).expect_err("rank 1 fails");
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

/// What a rank that is a process does.
fn run(program: &str, rank: &Rank<'_>) -> Result<String, RankError> {
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
    let ranks = launch("some", &folder).start_all(2);
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

fn within(waited: Duration, seconds: u64, what: &str) -> Result<(), Failed> {
    match waited < Duration::from_secs(seconds) {
        true => Ok(()),
        false => Err(format!("{what}: after {waited:?}, not within {seconds} s").into()),
    }
}
