//! The part of a program that is recorded: what begins it, and what ends it.

use std::time::Duration;

use clap::{Args, ValueEnum};
use recorder::{Selection, Within};

use crate::cli::option_values::{real, whole};

/// Seconds that can be asked for: a year.
const MAX_SECONDS: f64 = 31_536_000.0;

/// Options that leave something of a program out.
#[derive(Args)]
pub(super) struct Selected {
    /// Which part of the program is recorded: all, or what is between cudaProfilerStart and cudaProfilerStop
    #[arg(long, value_name = "PART", value_enum, default_value_t = Part::All)]
    part: Part,

    /// Range of NVTX to record, by its name: what happens while no such range goes on is left out
    #[arg(long, value_name = "NAME", conflicts_with = "part")]
    range: Option<String>,

    /// Seconds after the program's first call of CUDA at which recording begins
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["part", "range"], value_parser = seconds())]
    delay: Option<f64>,

    /// Launches after which recording begins
    #[arg(long, value_name = "COUNT", conflicts_with_all = ["part", "range", "delay"], value_parser = whole::<u64>(1..=u64::MAX))]
    skip: Option<u64>,

    /// Seconds after which recording ends, once it has begun
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    duration: Option<f64>,

    /// Launches to record; recording ends before the next
    #[arg(long, value_name = "COUNT", value_parser = whole::<u64>(1..=u64::MAX))]
    launches: Option<u64>,
}

/// The part of a program that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    All,
    Profiler,
}

fn seconds() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    real("a number of seconds above 0, such as 2.5", |it| {
        it > 0.0 && it <= MAX_SECONDS
    })
}

impl Selected {
    /// The selection, as the program's processes are told it.
    pub(super) fn selection(&self) -> Selection {
        let within = match (&self.range, self.delay, self.skip, self.part) {
            (Some(name), ..) => Within::Range(name.clone()),
            (_, Some(delay), ..) => Within::Delay(Duration::from_secs_f64(delay)),
            (_, _, Some(launches), _) => Within::Skip(launches),
            (.., Part::Profiler) => Within::Profiler,
            (.., Part::All) => Within::All,
        };
        Selection {
            within,
            duration: self.duration.map(Duration::from_secs_f64),
            launches: self.launches,
        }
    }

    /// Its options, and which are given.
    pub(super) fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("--part", self.part != Part::All),
            ("--range", self.range.is_some()),
            ("--delay", self.delay.is_some()),
            ("--skip", self.skip.is_some()),
            ("--duration", self.duration.is_some()),
            ("--launches", self.launches.is_some()),
        ]
    }
}
