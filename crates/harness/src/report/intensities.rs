//! The arithmetic intensities of a row: by its workload's formula, by what was counted and by what was measured.

use crate::sweep::Record;

/// Whose figures an intensity is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The workload's author says both bytes and operations.
    Formula,
    /// The emulator has counted them, of the launch or of smaller ones.
    Counted,
    /// The GPU's hardware has.
    Measured,
}

impl Source {
    /// Its name in texts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Source::Formula => "formula",
            Source::Counted => "counted",
            Source::Measured => "measured",
        }
    }
}

/// Where a row lies on a chart by the figures of one source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Intensity {
    pub(super) source: Source,
    pub(super) flop_per_byte: f64,
    /// The rate of the same operations.
    pub(super) gflops: f64,
}

/// Those that are known: by formula, counted, measured. Which of them a row is shown at, `ai` says.
pub(super) fn intensities(record: &Record) -> Vec<Intensity> {
    // Of a predicted row the host's time is no time of the GPU.
    let own = (record.gflops, record.mean_ms);
    let (useful, ms) = match (record.is_emulated, record.predicted_speed()) {
        (true, Some((gflops, ms))) => (Some(gflops), ms),
        (true, None) => (own.0, record.predicted_ms.unwrap_or(own.1)),
        (false, _) => own,
    };
    let rate = |flop: f64| flop / ms / 1e6;
    let formula = (record.formula_ai, useful);
    let counted = (
        record.counted_ai,
        record.counted_flop.map(|flop| rate(flop as f64)),
    );
    let measured = (record.measured_ai, record.measured_flop.map(rate));
    let all = [
        (Source::Formula, formula),
        (Source::Counted, counted),
        (Source::Measured, measured),
    ];
    let known = all.into_iter().filter_map(|(source, of)| {
        let (flop_per_byte, gflops) = (of.0?, of.1?);
        // A logarithmic axis has no 0.
        (flop_per_byte > 0.0 && gflops > 0.0).then_some(Intensity {
            source,
            flop_per_byte,
            gflops,
        })
    });
    known.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Emulation;
    use crate::embedded::Polynomial;
    use crate::sweep::{Origin, Plan, Selection, Settings, Sweep};
    use crate::workload::Bench;

    fn record() -> Record {
        let bench = Bench::emulator(Emulation::default(), &[]).expect("the emulator");
        let mut selection = Selection::defaults(&Polynomial::HORNER, true);
        for (name, values) in &mut selection.values {
            match *name {
                "k" => *values = vec![10u64.into()],
                "n" => *values = vec![64u64.into()],
                _ => {}
            }
        }
        let plan = Plan {
            selected: vec![selection],
            ..Plan::default()
        };
        let mut sweep = Sweep::new(&bench, &plan, Settings::quick()).expect("small");
        sweep.measure(0, None).expect("it runs")
    }

    #[test]
    fn each_source_has_the_rate_of_its_own_operations() {
        // Without PTX nothing is counted, and nothing measured.
        let row = record();
        let [formula] = intensities(&row)[..] else {
            panic!("{:?}", intensities(&row));
        };
        assert_eq!(
            (formula.source, formula.flop_per_byte),
            (Source::Formula, 2.5)
        );
        let row = Record {
            mean_ms: 2.0,
            counted_flop: Some(4_000_000),
            counted_ai: Some(4.0),
            measured_flop: Some(6e6),
            measured_ai: Some(3.0),
            bytes_from: Some(Origin::Scaled),
            formula_ai: None,
            ..row
        };
        let [counted, measured] = intensities(&row)[..] else {
            panic!("{:?}", intensities(&row));
        };
        assert_eq!((counted.source, counted.gflops), (Source::Counted, 2.0));
        assert_eq!((measured.source, measured.gflops), (Source::Measured, 3.0));
    }

    #[test]
    fn what_moves_no_bytes_has_no_place() {
        let row = Record {
            counted_flop: Some(0),
            counted_ai: Some(0.0),
            measured_flop: Some(0.0),
            measured_ai: Some(0.0),
            ..record()
        };
        assert_eq!(intensities(&row).len(), 1);
    }
}
