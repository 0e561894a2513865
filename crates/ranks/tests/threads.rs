//! Ranks as threads of this process, with emulated devices.

#[path = "support/collectives.rs"]
mod collectives;

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use collectives::{all_collectives, elements, every_type, limits};
use ranks::{Limits, RankError, Reduction, RunError, run_threads};
use ridgepoint_driver::{Device, DeviceChoice, DriverError, Stream};

fn devices(count: u32) -> Vec<Device> {
    let open = |number| {
        let choice = match number {
            0 => DeviceChoice::Cpu,
            number => DeviceChoice::CpuNumber(number),
        };
        Device::open(&choice, &[]).expect("an emulated device")
    };
    (0..count).map(open).collect()
}

#[test]
fn collectives_of_one_to_eight_ranks_are_those_of_the_host() {
    for count in 1..=8 {
        for len in [0, 1, 37] {
            let done = all_collectives(&devices(count), "the host", len);
            done.unwrap_or_else(|error| panic!("{count} ranks: {error}"));
        }
    }
}

#[test]
fn every_type_is_summed() {
    every_type(&devices(2));
}

#[test]
fn results_are_the_same_whatever_the_timing() {
    let run = |seed: u64| {
        run_threads(&devices(5), limits(), |rank| {
            let mut random = fastrand::Rng::with_seed(seed + rank.rank() as u64);
            let communicator = rank.communicator()?;
            let stream = Stream::new(rank.device())?;
            let mut x = rank.device().buffer_from(&elements(rank.rank(), 100))?;
            for _ in 0..10 {
                thread::sleep(Duration::from_micros(random.u64(..300)));
                // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
                unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..) }?;
            }
            communicator.synchronize(&stream)?;
            Ok::<_, RankError>(x.to_vec()?)
        })
        .expect("sums")
    };
    let first = run(0);
    assert!(first.iter().all(|it| *it == first[0]));
    for seed in 1..20 {
        assert_eq!(run(seed), first);
    }
}

#[test]
fn lengths_are_checked_before_anything_runs() {
    let errors = run_threads(&devices(2), limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(rank.device())?;
        let x = rank.device().buffer_zeroed::<f32>(10)?;
        let mut y = rank.device().buffer_zeroed::<f32>(9)?;
        // SAFETY: nothing is put into the stream.
        let errors = unsafe {
            [
                communicator.all_reduce(&stream, Reduction::Sum, &x, &mut y),
                communicator.all_gather(&stream, &x, &mut y),
                communicator.reduce_scatter(&stream, Reduction::Sum, &x, &mut y),
                communicator.all_gather_in_place(&stream, &mut y, ..),
                communicator.broadcast(&stream, 2, &mut y),
            ]
        };
        // Nobody waits for the others.
        rank.control().barrier()?;
        Ok::<_, RankError>(errors.map(|it| it.expect_err("refused").to_string()))
    });
    let expected = [
        "all_reduce: what is written has 9 elements; 10 are needed",
        "all_gather: what is written has 9 elements; 20 are needed",
        "reduce_scatter: what is read has 10 elements; 18 are needed",
        "all_gather: the part of all ranks has 9 elements; 8 are needed",
        "broadcast: rank 2 is the root; the ranks are 0 to 1",
    ];
    assert_eq!(errors.expect("errors of both"), [expected, expected]);
}

#[test]
fn other_devices_and_other_calls_are_refused() {
    let devices = devices(2);
    let result = run_threads(&devices, limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(rank.device())?;
        let mut theirs = devices[1 - rank.rank()].buffer_zeroed::<u8>(4)?;
        // SAFETY: nothing is put into the stream.
        let other =
            unsafe { communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut theirs, ..) };
        let other = other.expect_err("of another device");
        assert!(
            matches!(&other, RankError::Driver(it) if matches!(**it, DriverError::OtherDevice { .. })),
            "{other}"
        );
        let mut x = rank.device().buffer_zeroed::<f32>(4)?;
        // SAFETY: as above.
        let mismatch = unsafe {
            match rank.rank() {
                0 => communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..),
                _ => communicator.all_reduce_in_place(&stream, Reduction::Max, &mut x, 1..),
            }
        };
        Ok::<_, RankError>(mismatch.expect_err("they differ").to_string())
    });
    let [first, second] = &result.expect("errors of both")[..] else {
        panic!("two ranks");
    };
    let differ = "this rank called all_reduce sum of 4 f32, and rank 1 all_reduce max of 3 f32";
    assert!(first.starts_with(differ), "{first}");
    assert!(
        second.contains("max of 3 f32, and rank 0 all_reduce sum"),
        "{second}"
    );
}

/// Each replay doubles what both ranks have, until one of them fails.
#[test]
fn graphs_have_collectives_and_fail_with_them() {
    let result = run_threads(&devices(2), limits(), |rank| {
        let communicator = rank.communicator()?;
        let stream = Stream::new(rank.device())?;
        let mut x = rank.device().buffer_filled(5, 1.0f64)?;
        let mut all = rank.device().buffer_zeroed(10)?;
        let graph = communicator.capture(&stream, || {
            // SAFETY: the buffers live until the last replay has been synchronised, and are not used before.
            unsafe {
                communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..)?;
                communicator.all_gather(&stream, &x, &mut all)
            }
        })?;
        assert_eq!((graph.launches(), x.to_vec()?[0]), (0, 1.0));
        for _ in 0..5 {
            // SAFETY: as above.
            unsafe { graph.launch(&stream) }?;
        }
        communicator.synchronize(&stream)?;
        assert_eq!(
            (x.to_vec()?, all.to_vec()?),
            (vec![32.0; 5], vec![32.0; 10])
        );
        if rank.rank() == 1 {
            return Err(RankError::Disagreeing("planted".to_owned()));
        }
        // SAFETY: as above.
        let error = RankError::from(unsafe { graph.launch(&stream) }.expect_err("rank 1 fails"));
        assert!(matches!(error, RankError::Lost { rank: 1, .. }), "{error}");
        Err::<(), _>(error)
    });
    let error = result.expect_err("planted").to_string();
    assert!(
        error.starts_with("rank 1: ") && error.contains("planted"),
        "{error}"
    );
}

#[test]
fn a_rank_that_fails_is_lost_to_all_others_and_is_the_one_that_is_told() {
    let begin = Instant::now();
    let seen = std::sync::Mutex::new(Vec::new());
    let result = run_threads(&devices(4), limits(), |rank| {
        if rank.rank() == 2 {
            rank.control().barrier().map_err(|it| it.to_string())?;
            return Err("no disk".to_owned());
        }
        let (noticed, notices) = mpsc::channel();
        let _watch = rank.control().on_loss(move |error| {
            let _ = noticed.send(error.to_string());
        });
        rank.control().barrier().map_err(|it| it.to_string())?;
        let error = rank
            .control()
            .exchange(&[1])
            .expect_err("rank 2 does not come");
        let notice = notices.recv().expect("a notice");
        assert_eq!(notice, error.to_string());
        assert!(matches!(error, RankError::Lost { rank: 2, .. }), "{error}");
        assert!(rank.control().check().is_err() && rank.control().barrier().is_err());
        seen.lock().expect("no panic").push(notice);
        Err::<(), _>(error.to_string())
    });
    let error = result.expect_err("rank 2 fails");
    assert_eq!(error.to_string(), "rank 2: no disk");
    let seen = seen.into_inner().expect("no panic");
    assert_eq!(seen, ["rank 2 was lost: no disk"; 3]);
    assert!(
        begin.elapsed() < Duration::from_secs(3),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_rank_that_panics_is_lost_too() {
    let result = run_threads(&devices(3), limits(), |rank| {
        assert_ne!(rank.rank(), 1, "of all ranks");
        rank.control().barrier()
    });
    let error = result.expect_err("rank 1 panics").to_string();
    assert!(error.starts_with("rank 1 panicked: "), "{error}");
    assert!(error.contains("of all ranks"), "{error}");
}

#[test]
fn a_rank_that_has_ended_is_not_waited_for() {
    let result = run_threads(&devices(3), limits(), |rank| match rank.rank() {
        1 => Ok(()),
        _ => rank.control().barrier(),
    });
    let error = result.expect_err("rank 1 has left").to_string();
    assert_eq!(
        error,
        "rank 0: rank 1 was lost: it has ended, and others wait for it"
    );
}

#[test]
fn patience_with_a_rank_that_lives_has_an_end() {
    let limits = Limits {
        patience: Duration::from_millis(300),
        ..limits()
    };
    let result = run_threads(&devices(3), limits, |rank| {
        if rank.rank() == 1 {
            while rank.control().check().is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
            return rank.control().check();
        }
        rank.control().barrier()
    });
    let error = result.expect_err("rank 1 does not come").to_string();
    assert!(
        error.starts_with("rank 0: rank 1 has not come to an exchange within 0."),
        "{error}"
    );
}

#[test]
fn a_watch_that_is_dropped_calls_nothing() {
    let result = run_threads(&devices(2), limits(), |rank| {
        if rank.rank() == 1 {
            rank.control().barrier()?;
            return Err(RankError::Disagreeing("planted".to_owned()));
        }
        let watch = rank.control().on_loss(|_| panic!("nobody watches"));
        drop(watch);
        rank.control().barrier()?;
        rank.control().barrier()
    });
    let error = result.expect_err("planted").to_string();
    assert!(error.starts_with("rank 1: "), "{error}");
}

#[test]
fn no_devices_are_no_ranks() {
    let result = run_threads::<(), RankError>(&[] as &[Device], limits(), |_| Ok(()));
    assert!(matches!(result, Err(RunError::Meeting(_))));
}
