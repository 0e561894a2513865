//! The gate's answers for rows of known samples.

use super::*;

/// A row of a launch with these samples.
pub(super) fn row(launch: &str, samples_ms: &[f64]) -> Measured {
    let count = samples_ms.len() as f64;
    let mean_ms = samples_ms.iter().sum::<f64>() / count;
    let squares: f64 = samples_ms.iter().map(|ms| (ms - mean_ms).powi(2)).sum();
    let deviation = (squares / (count - 1.0).max(1.0)).sqrt();
    let mut sorted = samples_ms.to_vec();
    sorted.sort_by(f64::total_cmp);
    Measured {
        launch: launch.to_owned(),
        key: launch.to_owned(),
        device: Some("NVIDIA H100".to_owned()),
        run: Run {
            median_ms: sorted[sorted.len() / 2],
            mean_ms,
            rms_percent: 100.0 * deviation / mean_ms,
            samples: count,
            samples_ms: samples_ms.to_vec(),
            round_samples: Vec::new(),
            clock_mhz: None,
            is_emulated: false,
            counts: None,
        },
        noise_floor_percent: 0.0,
        flags: Vec::new(),
    }
}

fn table(rows: Vec<Measured>) -> Table {
    Table {
        rows,
        ..Table::default()
    }
}

/// Twenty samples around a time, 0.1 % to both sides, without chance.
fn around(ms: f64) -> Vec<f64> {
    let step = |index: i32| f64::from(index * 7 % 20 - 10) * 1e-4;
    (0..20).map(|index| ms * (1.0 + step(index))).collect()
}

fn one(before: &[Measured], after: &[Measured]) -> Change {
    let (before, after) = (table(before.to_vec()), table(after.to_vec()));
    let comparison =
        Comparison::of(&before, &after, &Rules::tolerating(3.0)).expect("rows in common");
    comparison.changes.into_iter().next().expect("a launch")
}

#[test]
fn changes_beyond_the_tolerance_are_told_in_both_directions() {
    let verdict = |after: f64| one(&[row("a", &around(1.0))], &[row("a", &around(after))]).verdict;
    assert_eq!(verdict(1.0), Verdict::Same);
    assert_eq!(verdict(1.02), Verdict::Same);
    assert_eq!(verdict(1.05), Verdict::Slower);
    assert_eq!(verdict(0.95), Verdict::Faster);
}

#[test]
fn an_outlier_hides_no_change() {
    for (slower, outlier) in [(1.1, 3.0), (1.25, 5.0), (1.5, 15.0), (2.0, 60.0)] {
        let mut after = around(slower);
        after[7] = outlier;
        let change = one(&[row("a", &around(1.0))], &[row("a", &after)]);
        assert_eq!(change.verdict, Verdict::Slower, "{change:?}");
    }
}

#[test]
fn rows_without_samples_are_judged_by_their_means_or_not_at_all() {
    let without = |samples: &[f64]| {
        let mut row = row("a", samples);
        row.run.samples_ms.clear();
        row
    };
    let slower = one(&[without(&around(1.0))], &[without(&around(1.5))]);
    assert_eq!(slower.verdict, Verdict::Slower);
    let mut outlier = around(1.5);
    outlier[3] = 60.0;
    let unknown = one(&[without(&around(1.0))], &[without(&outlier)]);
    assert_eq!(
        (unknown.verdict, unknown.reason),
        (Verdict::Unknown, Some(Reason::NoSamples))
    );
}

#[test]
fn noise_and_few_samples_are_unknown_and_say_what_is_missing() {
    let noisy = |shift: i32| -> Vec<f64> {
        (0..10)
            .map(|it| 1.0 + f64::from((it * 7 + shift) % 10) / 20.0)
            .collect()
    };
    let change = one(&[row("a", &noisy(0))], &[row("a", &noisy(3))]);
    let Some(Reason::Noise { samples }) = change.reason else {
        panic!("{change:?}");
    };
    assert!(samples > 10.0);
    let change = one(&[row("a", &[1.0, 1.0])], &[row("a", &around(2.0))]);
    let few = Reason::FewSamples {
        before: 2.0,
        after: 20.0,
    };
    assert_eq!(
        (change.verdict, change.reason),
        (Verdict::Unknown, Some(few))
    );
}

#[test]
fn repeated_launches_are_pooled_in_any_order() {
    let (fast, slow, other) = (
        row("a", &around(1.0)),
        row("a", &around(1.1)),
        row("b", &around(3.0)),
    );
    let before = table(vec![fast.clone(), other.clone(), slow.clone()]);
    let after = table(vec![slow.clone(), fast.clone(), other]);
    let comparison =
        Comparison::of(&before, &after, &Rules::tolerating(3.0)).expect("rows in common");
    assert_eq!(comparison.changes.len(), 2);
    assert_eq!(
        comparison
            .with(Verdict::Slower)
            .chain(comparison.with(Verdict::Faster))
            .count(),
        0
    );
    // Runs that differ by 10 % say that 10 % is no change.
    let change = one(&[fast.clone(), slow.clone()], &[slow.clone(), slow]);
    assert_eq!(change.verdict, Verdict::Unknown);
    let twice = row("a", &around(2.0));
    let change = one(&[fast.clone(), fast], &[twice.clone(), twice]);
    assert_eq!(change.verdict, Verdict::Slower);
}

/// A row of four rounds.
fn in_rounds(rounds: [f64; 4]) -> Measured {
    let samples: Vec<f64> = rounds.iter().flat_map(|&ms| around(ms)).collect();
    let mut row = row("a", &samples);
    row.run.round_samples = vec![20; 4];
    row
}

/// The device was slow for a while, or the arrays lay badly: the samples of a round agree, and the rounds do not.
#[test]
fn what_rounds_differ_by_is_no_change() {
    let steady = in_rounds([1.0, 1.001, 0.999, 1.0]);
    let verdict = |rounds| {
        let change = one(std::slice::from_ref(&steady), &[in_rounds(rounds)]);
        (change.verdict, change.reason)
    };
    assert_eq!(verdict([1.001, 1.0, 1.0, 0.999]), (Verdict::Same, None));
    assert_eq!(verdict([1.05, 1.051, 1.049, 1.05]), (Verdict::Slower, None));
    assert_eq!(verdict([0.95, 0.951, 0.949, 0.95]), (Verdict::Faster, None));
    let unknown = (Verdict::Unknown, Some(Reason::OneRun));
    assert_eq!(verdict([2.0, 2.0, 2.0, 1.0]), unknown);
    // Outside of the interval at 95 %, and inside of that at 99 %.
    assert_eq!(verdict([1.04, 1.055, 1.075, 1.09]), unknown);
    // The same samples, as if they were of one round.
    let at_once = |rounds| {
        let mut row = in_rounds(rounds);
        row.run.round_samples.clear();
        row
    };
    let change = one(
        &[at_once([1.0, 1.001, 0.999, 1.0])],
        &[at_once([2.0, 2.0, 2.0, 1.0])],
    );
    assert_eq!(change.verdict, Verdict::Slower);
}

/// Processes differ by a fraction of a microsecond per launch, which shows in no round of one.
#[test]
fn one_run_of_each_says_nothing_of_a_fraction_of_a_microsecond() {
    let verdict = |before_ms: f64, after_ms: f64, runs: usize| {
        let (before, after) = (row("a", &around(before_ms)), row("a", &around(after_ms)));
        let change = one(&vec![before; runs], &vec![after; runs]);
        (change.verdict, change.reason)
    };
    let unknown = (Verdict::Unknown, Some(Reason::OneRun));
    assert_eq!(verdict(0.0041, 0.0043, 1), unknown);
    assert_eq!(verdict(0.0043, 0.0041, 1), unknown);
    assert_eq!(verdict(0.0041, 0.0044, 10), (Verdict::Slower, None));
    let few = (Verdict::Unknown, Some(Reason::RunsDiffer));
    assert_eq!(verdict(0.0041, 0.00435, 3), few);
    assert_eq!(verdict(0.0041, 0.0049, 1), (Verdict::Slower, None));
    assert_eq!(verdict(0.0041, 0.0041, 1), (Verdict::Same, None));
    assert_eq!(verdict(0.041, 0.043, 1), (Verdict::Slower, None));
}

#[test]
fn a_change_that_the_clock_explains_is_unknown() {
    let at = |ms: f64, clock_mhz: f64| {
        let mut row = row("a", &around(ms));
        row.run.clock_mhz = Some(clock_mhz);
        row
    };
    let change = one(&[at(1.0, 1980.0)], &[at(1.1, 1800.0)]);
    let clock = Reason::Clock {
        before: 1980.0,
        after: 1800.0,
    };
    assert_eq!(
        (change.verdict, change.reason),
        (Verdict::Unknown, Some(clock))
    );
    assert_eq!(
        one(&[at(1.0, 1980.0)], &[at(1.3, 1800.0)]).verdict,
        Verdict::Slower
    );
}

#[test]
fn other_devices_are_refused_and_nothing_in_common_names_the_column() {
    let own = row("kernel\tcopy\nn\t1024", &around(1.0));
    let other = Measured {
        device: Some("NVIDIA A100".to_owned()),
        ..own.clone()
    };
    let (before, after) = (table(vec![own.clone()]), table(vec![other]));
    let rules = Rules::tolerating(3.0);
    let refused = Comparison::of(&before, &after, &rules).expect_err("two devices");
    assert!(
        matches!(refused, NotComparable::Devices { .. }),
        "{refused}"
    );
    let rules = Rules {
        devices: Devices::Any,
        ..Rules::tolerating(3.0)
    };
    assert!(Comparison::of(&before, &after, &rules).is_ok());
    let longer = table(vec![row("kernel\tcopy\nn\t2048", &around(1.0))]);
    let refused = Comparison::of(&before, &longer, &rules).expect_err("another n");
    assert!(
        refused.to_string().contains("the nearest after has n 2048"),
        "{refused}"
    );
}

/// On the emulator the times are the host's, and its counts decide.
#[test]
fn emulated_launches_are_judged_by_their_counts() {
    let counted = |ms: f64, [instructions, sectors, conflicts]: [f64; 3]| {
        let mut row = row("a", &around(ms));
        row.run.is_emulated = true;
        row.run.counts = Some(table::Counts {
            instructions,
            sectors,
            conflicts,
        });
        row
    };
    let before = counted(1.0, [1000.0, 100.0, 0.0]);
    let verdict = |after| {
        let change = one(std::slice::from_ref(&before), &[after]);
        (change.verdict, change.reason.map(|it| it.to_string()))
    };
    // Ten times as long, and nothing else was done.
    assert_eq!(
        verdict(counted(10.0, [1000.0, 100.0, 0.0])),
        (Verdict::Same, None)
    );
    assert_eq!(
        verdict(counted(1.0, [1020.0, 102.0, 20.0])).0,
        Verdict::Same
    );
    assert_eq!(
        verdict(counted(1.0, [1050.0, 100.0, 0.0])),
        (
            Verdict::Slower,
            Some("1000 to 1050 instructions".to_owned())
        )
    );
    assert_eq!(
        verdict(counted(1.0, [1000.0, 400.0, 500.0])),
        (
            Verdict::Slower,
            Some("100 to 400 sectors, 0 to 500 bank conflicts".to_owned())
        )
    );
    assert_eq!(
        verdict(counted(1.0, [500.0, 100.0, 0.0])).0,
        Verdict::Faster
    );
    // Runs whose counts differ say that a difference is no change.
    let varying = [before.clone(), counted(1.0, [1500.0, 100.0, 0.0])];
    assert_eq!(one(&varying, &varying).reason, Some(Reason::CountsVary));
    // Rows that were not counted, as those of an occupancy study, have their host's times, which say nothing.
    let uncounted = |ms: f64| {
        let mut row = counted(ms, [1.0; 3]);
        row.run.counts = None;
        row
    };
    for after in [counted(2.0, [1.0; 3]), uncounted(2.0), uncounted(1.0)] {
        let change = one(&[uncounted(1.0)], &[after]);
        assert_eq!(
            (change.verdict, change.reason),
            (Verdict::Unknown, Some(Reason::HostTime))
        );
    }
}

#[test]
fn notes_are_no_part_of_a_launch() {
    let named = |key: &str| Measured {
        key: key.to_owned(),
        ..row(key, &around(1.0))
    };
    let before = table(vec![
        named("k\t1\nkernel\tcopy"),
        named("k\t2\nkernel\tcopy"),
    ]);
    let noted = table(vec![
        named("host\tb\nk\t1\nkernel\tcopy"),
        named("host\tc\nk\t2\nkernel\tcopy"),
    ]);
    let rules = Rules::tolerating(3.0);
    let comparison = Comparison::of(&before, &noted, &rules).expect("rows in common");
    assert_eq!(comparison.changes.len(), 2);
    assert_eq!(
        comparison.notes,
        ["only after: host, which no launches differ in"]
    );
    // An axis that tells launches apart is none, and neither is a column that this program writes.
    let axis = table(vec![
        named("k\t1\nkernel\tcopy\nwide\t1"),
        named("k\t1\nkernel\tcopy\nwide\t2"),
    ]);
    assert!(Comparison::of(&before, &axis, &rules).is_err());
    let limited = table(vec![named("k\t1\nkernel\tcopy\nmax_registers\t32")]);
    assert!(Comparison::of(&before, &limited, &rules).is_err());
    // Where both have notes, they are named.
    let other = table(vec![named("host\ta\nk\t1\nkernel\tcopy")]);
    assert!(Comparison::of(&other, &noted, &rules).is_err());
    let ignoring = |name: &str| Rules {
        ignored: vec![name.to_owned()],
        ..rules.clone()
    };
    let comparison = Comparison::of(&other, &noted, &ignoring("host")).expect("rows in common");
    assert_eq!(comparison.changes.len(), 1);
    for name in ["kernel", "gflops", "nothing"] {
        let refused = Comparison::of(&other, &noted, &ignoring(name)).expect_err("no such column");
        assert!(
            matches!(refused, NotComparable::Ignored { .. }),
            "{refused}"
        );
    }
}
