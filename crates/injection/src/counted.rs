//! Launches that are counted: the first few of each kernel in each shape.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use cupti::{CountedLaunch, Counts, Error};
use recorder::Recorder;
use recording::Record;

/// So many launches of a kernel in a shape are counted: each costs milliseconds, and alike launches count alike.
const LAUNCHES: u32 = 3;

/// A kernel in a shape, on a device.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Shape {
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
    device: u32,
}

/// How many launches were taken so far.
#[derive(Debug, Default)]
pub(crate) struct Counted(Mutex<HashMap<Shape, u32>>);

impl Counted {
    /// Whether a launch is to be counted.
    pub(crate) fn takes(&self, launch: &CountedLaunch) -> bool {
        let shape = Shape {
            name: launch.name.clone(),
            grid: launch.grid,
            block: launch.block,
            device: launch.device,
        };
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(shape).or_default();
        let takes = *count < LAUNCHES;
        *count += u32::from(takes);
        takes
    }

    /// Writes what was counted, or why it could not be.
    pub(crate) fn tell(
        &self,
        recorder: &Recorder,
        launch: &CountedLaunch,
        counts: Result<Counts, Error>,
    ) {
        let (counts, problem) = match counts {
            Ok(counts) => (counts, 0),
            Err(error) => (Counts::new(), recorder.text(&error.to_string())),
        };
        // Counters of events and bytes are whole. A value that is none, CUPTI could not make of what was counted.
        let counts = counts.into_iter().filter(|(_, value)| value.is_finite());
        let counts = counts.map(|(metric, value)| (recorder.text(&metric), value.round() as u64));
        let counts = counts.collect();
        recorder.write(&Record::Counted(recording::Counted {
            kernel: recorder.text(&launch.name),
            grid: launch.grid,
            block: launch.block,
            device: launch.device,
            correlation: launch.correlation,
            counts,
            problem,
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_launches_of_each_shape_are_counted() {
        let counted = Counted::default();
        let launch = |grid| CountedLaunch {
            name: "scale".to_owned(),
            grid: [grid, 1, 1],
            block: [256, 1, 1],
            device: 0,
            correlation: 1,
        };
        let takes = [1, 1, 2, 1, 1, 2].map(|grid| counted.takes(&launch(grid)));
        assert_eq!(takes, [true, true, true, true, false, true]);
    }
}
