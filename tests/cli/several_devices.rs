//! Studies that several devices share, on emulated ones: the library's parts of them.

use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use ranks::{Limits, Rank, RankError, RunError, run_threads};
use ridgepoint::driver::{Device, DeviceChoice, Emulation};
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::study::devices::{
    Collective, Collectives, DevicesRow, Exchange, Team, norm_of_rank, power_of_rank,
};
use ridgepoint::study::{Checkpoint, PowerMode, PowerPlan, Rounds, StudyError, newest, power};
use ridgepoint::vector::Real;

const EXCHANGES: [Exchange; 3] = [Exchange::Gather, Exchange::Graph, Exchange::Peer];
const ROUNDS: Rounds = Rounds {
    rounds: 1,
    iterations: 7,
};

fn devices(count: u32) -> Vec<Device> {
    let open = |number| Device::open(&DeviceChoice::CpuNumber(number), embedded_ptx());
    (0..count)
        .map(|number| open(number).expect("an emulated device"))
        .collect()
}

fn plan(dim: usize, folder: &Path) -> PowerPlan {
    PowerPlan {
        dim,
        dominance: 0.3,
        max_steps: 1000,
        check_every: 10,
        tolerance: 1e-10,
        seed: 42,
        checkpoints: Some(folder.to_owned()),
    }
}

/// Returns a team's row of an iteration, and its last checkpoint.
fn shared(
    devices: &[Device],
    plan: &PowerPlan,
    exchange: Exchange,
    resume: bool,
) -> (DevicesRow, Checkpoint) {
    let rows = run_threads(devices, Limits::default(), |rank: Rank<'_>| {
        let team = Team {
            rank: &rank,
            devices,
        };
        let mut go_on = |_| ControlFlow::Continue(());
        power_of_rank(&team, plan, exchange, resume, &mut go_on)
    });
    let row = rows.expect("a result").swap_remove(0);
    (row, newest(plan).expect("a checkpoint"))
}

fn bits(checkpoint: &Checkpoint) -> Vec<u64> {
    let numbers = [checkpoint.eigenvalue, checkpoint.residual];
    let all = numbers.iter().chain(&checkpoint.vector);
    all.map(|it| it.to_bits()).collect()
}

/// One, two, the least that divides nothing evenly, and the most that share a machine: [`slow`] has those between.
const COUNTS: [u32; 4] = [1, 2, 3, 8];

#[test]
fn an_iteration_has_the_same_bits_on_several_numbers_of_devices_and_by_any_exchange() {
    iterations_have_the_same_bits(&COUNTS);
}

/// Fails unless an iteration leaves the same bits on each number of devices, by any exchange.
fn iterations_have_the_same_bits(counts: &[u32]) {
    let folder = tempfile::tempdir().expect("a folder");
    let alone = plan(53, &folder.path().join("alone"));
    let one = &devices(1)[0];
    let mut go_on = |_| ControlFlow::Continue(());
    power(one, &alone, PowerMode::Async, None, &mut go_on).expect("a result");
    let alone = newest(&alone).expect("a checkpoint");
    let mut first: Option<Checkpoint> = None;
    for &count in counts {
        for exchange in EXCHANGES {
            let plan = plan(53, &folder.path().join(format!("{count}-{exchange}")));
            let (row, result) = shared(&devices(count), &plan, exchange, false);
            assert_eq!(
                (row.devices, row.steps),
                (count as usize, alone.step),
                "{row:?}"
            );
            let first = first.get_or_insert_with(|| result.clone());
            assert_eq!(bits(&result), bits(first), "{exchange} on {count}");
        }
    }
    // One device adds up the norm in another order.
    let first = first.expect("results");
    for (shared, alone) in first.vector.iter().zip(&alone.vector) {
        assert!(
            (shared - alone).abs() <= 1e-13,
            "{shared:e} on several, {alone:e} on one"
        );
    }
}

/// A look is inspected in a stream of its own, beside the next steps: the emulator's checks find it if nothing orders the two, or if the
/// next look in its place overwrites what is still inspected.
fn looks_do_not_race() {
    let folder = tempfile::tempdir().expect("a folder");
    let open = |number| {
        let emulation = Emulation {
            is_checked: true,
            ..Emulation::default()
        };
        Device::emulator_number(number, emulation, embedded_ptx()).expect("an emulated device")
    };
    let checked: Vec<Device> = (0..2).map(open).collect();
    for exchange in EXCHANGES {
        let result = |devices: &[Device], name: &str| {
            let plan = PowerPlan {
                max_steps: 4,
                check_every: 2,
                tolerance: 1e-300,
                ..plan(9, &folder.path().join(format!("{exchange}-{name}")))
            };
            shared(devices, &plan, exchange, false).1
        };
        let expected = result(&devices(2), "unchecked");
        assert_eq!(
            bits(&result(&checked, "checked")),
            bits(&expected),
            "{exchange}"
        );
    }
}

/// Rows that cannot be divided leave the last ranks without one: they hold the others back all the same, for hundreds of steps without
/// an exchange of the hosts.
#[test]
fn devices_without_rows_keep_step_with_the_others() {
    keep_step(&[(5, 4)]);
}

/// Fails unless so many rows on so many devices have the same bits by kernels that wait for each other as by the hosts' exchange.
fn keep_step(cases: &[(usize, u32)]) {
    let folder = tempfile::tempdir().expect("a folder");
    for &(dim, count) in cases {
        let devices = devices(count);
        let result = |exchange: Exchange| {
            let plan = PowerPlan {
                max_steps: 500,
                check_every: 250,
                tolerance: 1e-300,
                ..plan(dim, &folder.path().join(format!("{dim}-{exchange}")))
            };
            shared(&devices, &plan, exchange, false).1
        };
        let (peer, gather) = (result(Exchange::Peer), result(Exchange::Gather));
        assert_eq!(bits(&peer), bits(&gather), "{dim} rows on {count}");
        let error = (peer.eigenvalue - 1.0).abs();
        assert!(error <= 1e-12, "{dim} rows on {count}: off by {error:e}");
    }
}

#[test]
fn an_iteration_goes_on_with_any_number_of_devices() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = plan(40, &folder.path().join("whole"));
    let (_, whole) = shared(&devices(2), &whole, Exchange::Peer, false);
    let parts = plan(40, &folder.path().join("parts"));
    let until = |max_steps| PowerPlan {
        max_steps,
        ..parts.clone()
    };
    let (_, at_20) = shared(&devices(2), &until(20), Exchange::Gather, false);
    assert_eq!(at_20.step, 20);
    let (_, at_40) = shared(&devices(5), &until(40), Exchange::Peer, true);
    assert_eq!(at_40.step, 40);
    let (row, end) = shared(&devices(3), &until(1000), Exchange::Graph, true);
    assert_eq!(row.steps, whole.step - 40, "only the rest was done");
    assert_eq!(bits(&end), bits(&whole));
    // One device alone goes on, too.
    let (_, again) = shared(&devices(1), &until(1000), Exchange::Gather, true);
    assert_eq!(again.step, end.step);
}

/// Returns each rank's row.
fn normalized<T: Real>(count: u32, n: usize, exchange: Exchange) -> Vec<DevicesRow> {
    let devices = devices(count);
    let rows = run_threads(&devices, Limits::default(), |rank: Rank<'_>| {
        let team = Team {
            rank: &rank,
            devices: &devices,
        };
        norm_of_rank::<T>(&team, n, exchange, ROUNDS)
    });
    rows.expect("a result")
}

/// Fails unless all devices have the same norm to the last bit, by any exchange.
fn have_one_norm<T: Real>(count: u32, n: usize) {
    let mut first = None;
    for exchange in EXCHANGES {
        for row in normalized::<T>(count, n, exchange) {
            let bits = row.norm.expect("a norm").to_bits();
            assert!(row.checked, "{row:?}");
            assert_eq!(bits, *first.get_or_insert(bits), "{row:?}");
        }
    }
}

/// The check is the study's own: every element, and the norm.
#[test]
fn vectors_are_normalized_on_several_numbers_of_devices_with_the_same_bits_by_any_exchange() {
    // Fewer elements than devices, and a rest.
    have_one_norm::<f32>(8, 5);
    for count in COUNTS {
        have_one_norm::<f32>(count, 4099);
    }
    have_one_norm::<f64>(3, 1003);
}

#[test]
fn collectives_are_the_hosts_on_1_to_8_devices() {
    for count in 1..=8 {
        let devices = devices(count);
        let rows = run_threads(&devices, Limits::default(), |rank: Rank<'_>| {
            let team = Team {
                rank: &rank,
                devices: &devices,
            };
            let collectives = Collectives::new(team)?;
            let of = |collective| collectives.measure(collective, 1000, ROUNDS);
            Collective::ALL
                .into_iter()
                .map(of)
                .collect::<Result<Vec<_>, StudyError>>()
        });
        for row in rows.expect("results").swap_remove(0) {
            assert!(
                row.checked && row.bytes.is_multiple_of(4 * u64::from(count)),
                "{row:?}"
            );
            assert!(row.bytes >= 1000 && row.engine == "the host", "{row:?}");
        }
    }
}

/// A rank that fails while all iterate, which would go on for hours: the others end, and say which it was.
#[test]
fn the_others_end_when_a_rank_fails() {
    let limits = Limits::of(Duration::from_secs(2));
    for exchange in EXCHANGES {
        let devices = devices(3);
        let plan = PowerPlan {
            max_steps: 10_000_000,
            tolerance: 1e-300,
            checkpoints: None,
            ..plan(50, Path::new(""))
        };
        let began = Instant::now();
        let ended = run_threads(&devices, limits, |rank: Rank<'_>| {
            let team = Team {
                rank: &rank,
                devices: &devices,
            };
            thread::scope(|scope| {
                if rank.rank() == 1 {
                    let control = rank.control().clone();
                    scope.spawn(move || {
                        thread::sleep(Duration::from_millis(300));
                        control.fail("planted");
                    });
                }
                let mut go_on = |_| ControlFlow::Continue(());
                power_of_rank(&team, &plan, exchange, false, &mut go_on)
            })
        });
        let waited = began.elapsed();
        let Err(RunError::Failed { error, .. }) = ended else {
            panic!("{exchange}: {ended:?}");
        };
        assert!(
            error.to_string().contains("rank 1 was lost: planted"),
            "{exchange}: {error}"
        );
        assert!(waited < Duration::from_secs(20), "{exchange}: {waited:?}");
    }
}

/// A rank that does not come, and fails later: it is the one that is named. No kernel has waited by then.
#[test]
fn a_rank_that_does_something_else_is_named() {
    let devices = devices(2);
    let limits = Limits::of(Duration::from_secs(1));
    let began = Instant::now();
    let ended = run_threads(&devices, limits, |rank: Rank<'_>| {
        let team = Team {
            rank: &rank,
            devices: &devices,
        };
        if rank.rank() == 1 {
            thread::sleep(Duration::from_secs(2));
            return Err(StudyError::Refused("it did something else".to_owned()));
        }
        norm_of_rank::<f32>(&team, 1000, Exchange::Peer, ROUNDS)
    });
    let Err(RunError::Failed { rank: 1, error }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(error.to_string(), "it did something else");
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// The work of a silent device's hosts together with the others: its kernels are never launched.
type Hosts = fn(&Rank<'_>, &[u8]) -> Result<(), RankError>;

/// Fails unless the first of two devices gives the second up, whose host comes to everything.
fn is_given_up(study: Study, hosts: Hosts) {
    let devices = devices(2);
    let limits = Limits::of(Duration::from_secs(1));
    let sets = [0; 3].map(|_| devices[1].buffer_zeroed::<u64>(1000).expect("words"));
    let addresses = sets
        .each_ref()
        .map(|set| set.slice(..).as_ptr().expose_provenance() as u64);
    let began = Instant::now();
    let ended = run_threads(&devices, limits, |rank: Rank<'_>| {
        let team = Team {
            rank: &rank,
            devices: &devices,
        };
        match rank.rank() {
            0 => study(&team).map(|_| ()),
            _ => Ok(hosts(&rank, bytemuck::bytes_of(&addresses))?),
        }
    });
    let Err(RunError::Failed { rank: 0, error }) = ended else {
        panic!("{ended:?}");
    };
    assert!(
        matches!(error, StudyError::Silent { seconds: 1.0 }),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(20));
}

/// A study that the first device runs.
type Study = fn(&Team<'_, '_>) -> Result<DevicesRow, StudyError>;

/// A time, for all to know the longest.
const NO_TIME: [u8; 8] = [0; 8];

#[test]
fn an_iteration_gives_up_a_device_that_sends_nothing() {
    let study: Study = |team| {
        let plan = PowerPlan {
            checkpoints: None,
            ..plan(50, Path::new(""))
        };
        let mut go_on = |_| ControlFlow::Continue(());
        power_of_rank(team, &plan, Exchange::Peer, false, &mut go_on)
    };
    is_given_up(study, |rank, addresses| {
        rank.control().exchange(&NO_TIME)?;
        rank.control().exchange(addresses)?;
        // All words are empty, and the steps begin.
        rank.control().barrier()?;
        rank.control().barrier()?;
        // Whether to go on after the first look.
        rank.control().exchange(&[0]).map(|_| ())
    });
}

#[test]
fn a_norm_gives_up_a_device_that_sends_nothing() {
    let study: Study = |team| norm_of_rank::<f32>(team, 1000, Exchange::Peer, ROUNDS);
    is_given_up(study, |rank, addresses| {
        // Without an exchange, and then with one.
        rank.control().barrier()?;
        rank.control().exchange(&NO_TIME)?;
        rank.control().exchange(addresses)?;
        rank.control().barrier()?;
        rank.control().barrier()?;
        rank.control().exchange(&NO_TIME)?;
        // Nobody sends any more.
        rank.control().barrier()
    });
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn looks_do_not_race_with_the_steps_beside_them() {
        looks_do_not_race();
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn an_iteration_has_the_same_bits_on_1_to_8_devices_and_by_any_exchange() {
        iterations_have_the_same_bits(&[1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn more_devices_without_rows_keep_step_with_the_others() {
        keep_step(&[(10, 7), (2, 8)]);
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn vectors_of_every_length_are_normalized_on_1_to_8_devices_with_the_same_bits_by_any_exchange()
    {
        for count in 1..=8 {
            for n in [1, 5, 1000, 4099] {
                have_one_norm::<f32>(count, n);
            }
            have_one_norm::<f64>(count, 1003);
        }
    }
}
