//! Profile of a kernel for people: totals, lines with their counts, and advice.
//!
//! [`Counts`] are the emulator's, exact and one for each instruction of the
//! PTX. Here they are added up by class and by source line, placed under a GPU's roofs, and searched for
//! what costs more than it must. Text, JSON and page show one [`Profile`].

mod advice;
mod cost;
mod formula;
mod lines;
mod page;
mod relief;
mod resources;
pub(crate) mod source;
pub(crate) mod text;
mod totals;
mod verdict;

use serde::{Deserialize, Serialize};

use crate::driver::LaunchConfig;
use crate::driver::count::Counts;
use crate::model::{GpuRoofs, Numbers};
use crate::prediction::{self, Prediction, Predictor};

pub use advice::{Advice, Kind};
pub(crate) use formula::Amounts;
pub use formula::Formula;
pub use lines::{Instruction, Line, Sums};
pub use page::page;
pub use resources::Resources;
pub use text::text;
pub use totals::{BufferRow, ClassRow, SpaceRow, Totals};
pub use verdict::Verdict;
pub(crate) use verdict::{is_work, operations};

/// A profile of a kernel's launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The kernel.
    pub kernel: String,
    /// The launch: `horner f32 n=65536 block=256`, or `64 blocks of 256 threads`.
    pub at: String,
    /// Sums over all instructions.
    pub totals: Totals,
    /// Instructions by class and type, the most frequent first.
    pub classes: Vec<ClassRow>,
    /// Memory by space.
    pub spaces: Vec<SpaceRow>,
    /// The buffers and variables of global memory that were reached.
    pub buffers: Vec<BufferRow>,
    /// The workload's own figures.
    pub formula: Option<Formula>,
    /// The least time that a GPU needs, and what holds it there.
    pub verdict: Verdict,
    /// Registers, spills and occupancy, where `ptxas` has said what they are.
    pub resources: Option<Resources>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_resources: Option<String>,
    /// The predicted time of the launch, or of one with more blocks.
    #[serde(default)]
    pub predicted: Option<Prediction>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<String>,
    /// Advice: what would save most time first, or where no time is predicted, what costs most.
    pub advice: Vec<Advice>,
    /// Lines of the source, the hottest first; of PTX that names no source, its own.
    pub lines: Vec<Line>,
    /// Lines of these files around those that were counted.
    #[serde(skip)]
    context: source::Context,
    /// Whether the PTX is a file's that names no source.
    #[serde(skip)]
    lacks_source: bool,
}

/// The subject of a profile, beside the counts.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// The launch.
    pub at: String,
    /// Name of the file that lines of PTX belong to, for instructions without a source line.
    pub ptx_file: String,
    /// The PTX, where it is a file's.
    pub ptx: Option<&'a str>,
    /// Whose roofs the kernel is placed under.
    pub gpu: &'a GpuRoofs,
    /// Needs of the kernel according to `ptxas`, or why they are not known.
    pub resources: Result<Resources, String>,
    /// The workload's own figures of the launch, where there is one.
    pub formula: Option<Formula>,
    /// How the kernel was launched.
    pub config: LaunchConfig,
    /// Predicts the time of the launch, or says why that is not known.
    pub predictor: Result<&'a Predictor, &'a str>,
    /// With so many times as many blocks.
    pub times: u64,
}

impl Subject<'_> {
    /// Predicts the time of a launch with these counts.
    fn predict(&self, counts: &Counts) -> Result<Prediction, String> {
        self.predictor?.predict(prediction::Subject {
            counts: std::slice::from_ref(counts),
            config: self.config,
            times: self.times as f64,
            is_cold: false,
            held: None,
        })
    }
}

impl Profile {
    /// The profile of counted launches.
    pub fn new(counts: &Counts, subject: Subject<'_>) -> Profile {
        let mut context = source::Context::new(&subject.ptx_file, subject.ptx);
        let lines = lines::lines(counts, &subject.ptx_file, &mut context);
        let predicted = subject.predict(counts);
        let advice = advice::advice(counts, &subject.ptx_file);
        let advice = match &predicted {
            Ok(prediction) => relief::ordered(advice, counts, &subject, prediction.seconds),
            Err(_) => advice,
        };
        let (predicted, not_predicted) = match predicted {
            Ok(prediction) => (Some(prediction), None),
            Err(reason) => (None, Some(reason)),
        };
        let (resources, no_resources) = match subject.resources {
            Ok(resources) => (Some(resources), None),
            Err(reason) => (None, Some(reason)),
        };
        Profile {
            kernel: counts.kernel.clone(),
            at: subject.at,
            totals: Totals::new(counts),
            classes: totals::classes(counts),
            spaces: totals::spaces(counts),
            buffers: totals::buffers(counts),
            formula: subject.formula,
            verdict: Verdict::new(
                counts,
                subject.gpu,
                subject.formula.map_or(Numbers::default(), |it| it.numbers),
            ),
            resources,
            no_resources,
            predicted,
            not_predicted,
            advice,
            lines,
            context,
            lacks_source: subject.ptx.is_some()
                && counts.instructions.iter().all(|it| it.source.is_none()),
        }
    }
}
