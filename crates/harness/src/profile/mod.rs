//! What a kernel did, told to people: totals, lines with their counts, and advice.
//!
//! [`Counts`] are the emulator's, exact and one for each instruction of the
//! PTX. Here they are added up by class and by source line, placed under a GPU's roofs, and searched for
//! what costs more than it must. Text, JSON and page show one [`Profile`].

mod advice;
mod cost;
mod formula;
mod lines;
mod page;
mod resources;
mod source;
mod text;
mod totals;
mod verdict;

use serde::{Deserialize, Serialize};

use crate::driver::count::Counts;
use crate::model::GpuRoofs;

pub use advice::{Advice, Kind};
pub(crate) use formula::Amounts;
pub use formula::Formula;
pub use lines::{Instruction, Line, Sums};
pub use page::page;
pub use resources::Resources;
pub use text::text;
pub use totals::{BufferRow, ClassRow, SpaceRow, Totals};
pub use verdict::Verdict;
pub(crate) use verdict::operations;

/// What launches of a kernel did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The kernel.
    pub kernel: String,
    /// What was launched: `horner f32 n=65536 block=256`, or `64 blocks of 256 threads`.
    pub at: String,
    /// Sums over all instructions.
    pub totals: Totals,
    /// Instructions by class and type, the most frequent first.
    pub classes: Vec<ClassRow>,
    /// Memory by space.
    pub spaces: Vec<SpaceRow>,
    /// The buffers and variables of global memory that were reached.
    pub buffers: Vec<BufferRow>,
    /// What the workload says of itself.
    pub formula: Option<Formula>,
    /// The least time that a GPU needs, and what holds it there.
    pub verdict: Verdict,
    /// Registers, spills and occupancy, where `ptxas` has said what they are.
    pub resources: Option<Resources>,
    /// Why there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_resources: Option<String>,
    /// What to change, the most expensive first.
    pub advice: Vec<Advice>,
    /// Lines of the source, the hottest first; of PTX that names no source, its own.
    pub lines: Vec<Line>,
    /// Lines of these files around those that were counted.
    #[serde(skip)]
    context: source::Context,
}

/// What a profile is of, beside the counts.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// What was launched.
    pub at: String,
    /// What lines of PTX belong to, for instructions without a source line: a file's name.
    pub ptx_file: String,
    /// The PTX, where it is a file's.
    pub ptx: Option<&'a str>,
    /// Whose roofs the kernel is placed under.
    pub gpu: &'a GpuRoofs,
    /// What `ptxas` says of the kernel, or why it says nothing.
    pub resources: Result<Resources, String>,
    /// What the workload says of the launch, where there is one.
    pub formula: Option<Formula>,
}

impl Profile {
    /// The profile of counted launches.
    pub fn new(counts: &Counts, subject: Subject<'_>) -> Profile {
        let mut context = source::Context::new(&subject.ptx_file, subject.ptx);
        let lines = lines::lines(counts, &subject.ptx_file, &mut context);
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
            verdict: Verdict::new(counts, subject.gpu),
            resources,
            no_resources,
            advice: advice::advice(counts, &subject.ptx_file),
            lines,
            context,
        }
    }
}
