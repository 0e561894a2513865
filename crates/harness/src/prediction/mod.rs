//! Time of a launch, predicted without the GPU.
//!
//! [`Counts`] are exact and a [`Board`] was measured; what joins them is a model that has no constant of any kernel
//! (docs/prediction.md has its sources, its errors, and what it leaves out):
//!
//! 1. each instruction of the PTX costs slots of the schedulers and cycles of a pipe (`cost`);
//! 2. of memory each warp takes passes through L1, bytes of L2 and bytes of the device's memory (`demand`);
//! 3. a warp by itself takes as long as its chains of dependent instructions (`path`);
//! 4. a multiprocessor finishes as many warps as its busiest part allows, or by Little's law as are there, each for as long as it
//!    takes under that load (`solve`).

mod board;
mod cause;
mod cost;
mod curve;
mod demand;
mod flow;
mod interval;
mod path;
mod predictor;
mod solve;
mod text;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::driver::{
    self,
    count::{Counted, Counts},
};

pub use board::Board;
pub use cause::Cause;
use cost::Cost;
use demand::Demand;
pub use demand::Resource;
pub use interval::COVERAGE;
use path::Path;
pub use predictor::{Held, Predictor, Predictors, Subject};
pub use solve::Launch;
use solve::Situation;
pub use text::text;

/// The predicted time of a launch, and its causes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Prediction {
    /// The GPU.
    pub gpu: String,
    /// Where what is known of it comes from: `measured` or `data sheet`.
    pub source: String,
    /// Blocks of the launch.
    pub blocks: u64,
    /// Seconds from the launch to its end.
    pub seconds: f64,
    /// The shortest time of the interval that holds the measured one in [`COVERAGE`] of the cases.
    pub low: f64,
    /// The longest.
    pub high: f64,
    /// The resource that is busy all the time; `latency` where warps wait and none is.
    pub limit: String,
    /// Shares of the time that resources are busy, the busiest first.
    pub busy: Vec<(String, f64)>,
    /// The causes of a warp's time, the longest first.
    pub causes: Vec<Cause>,
    /// Seconds by the roofline's model alone.
    pub roof_seconds: f64,
    /// Seconds by Little's law, if it is more than those of the roofline's model.
    pub little_seconds: f64,
}

impl Prediction {
    /// That of two launches, one behind the other: the sums of their times, and the causes of the longer one.
    fn and(self, other: Prediction) -> Prediction {
        let (longer, shorter) = match self.seconds >= other.seconds {
            true => (self, other),
            false => (other, self),
        };
        Prediction {
            seconds: longer.seconds + shorter.seconds,
            low: longer.low + shorter.low,
            high: longer.high + shorter.high,
            roof_seconds: longer.roof_seconds + shorter.roof_seconds,
            little_seconds: longer.little_seconds + shorter.little_seconds,
            ..longer
        }
    }
}

/// The code of kernels: a module of PTX.
#[derive(Debug)]
pub struct Code(Arc<ptx::Module>);

impl Code {
    /// Reads PTX.
    ///
    /// # Errors
    /// In words: the text is no PTX, and where.
    pub fn read(ptx: &str) -> Result<Code, String> {
        driver::parse(ptx)
            .map(Code)
            .map_err(|error| error.to_string())
    }

    fn operation(&self, counted: &Counted) -> Option<&ptx::Operation> {
        let mut functions = self.0.functions.iter();
        let function = functions.find(|it| it.name == counted.function)?;
        let instructions = &function.body.as_ref()?.instructions;
        Some(&instructions.get(counted.instruction as usize)?.operation)
    }
}

/// A kernel that was counted, for predictions of launches.
pub struct Kernel<'a> {
    counts: &'a Counts,
    costs: Vec<Cost>,
    code: &'a Code,
    registers: u32,
    /// The file that lines of PTX belong to.
    file: &'a str,
}

impl<'a> Kernel<'a> {
    /// A kernel by the counts of a launch, its code, and the registers of its threads. Lines without a source are those of `file`.
    ///
    /// # Errors
    /// In words: the code is not that which was counted.
    pub fn new(
        (counts, code): (&'a Counts, &'a Code),
        registers: u32,
        board: &Board,
        file: &'a str,
    ) -> Result<Kernel<'a>, String> {
        let cost = |counted: &Counted| {
            let (function, number) = (&counted.function, counted.instruction);
            let operation = code.operation(counted);
            let operation = operation
                .ok_or_else(|| format!("the PTX has no instruction {number} of {function}"))?;
            let operations = f64::from(counted.operations_per_thread);
            Ok(Cost::of(operation, board, operations))
        };
        let costs = counts.instructions.iter().map(cost);
        Ok(Kernel {
            costs: costs.collect::<Result<_, String>>()?,
            counts,
            code,
            registers,
            file,
        })
    }

    /// Predicts the time of a launch whose warps do on average what those did that were counted.
    pub fn predict(&self, launch: Launch, board: &Board) -> Prediction {
        let demand = Demand::new(self.counts, &self.costs, board);
        let path = Path::new(self.counts, &self.code.0, &self.costs, self.registers);
        let situation = Situation {
            board,
            demand: &demand,
            path: &path,
            launch,
        };
        let solved = situation.solve();
        let (low, high) = interval::around(solved.seconds, board.is_measured);
        Prediction {
            gpu: board.gpu.name.clone(),
            source: board.source().to_owned(),
            blocks: launch.blocks,
            seconds: solved.seconds,
            low,
            high,
            limit: solved.limit.map_or("latency", Resource::name).to_owned(),
            busy: solved
                .busy
                .iter()
                .map(|it| (it.0.name().to_owned(), it.1))
                .collect(),
            causes: solved
                .parts
                .causes(self.counts, &demand, solved.limit, self.file),
            roof_seconds: situation.roof(),
            little_seconds: situation.little(),
        }
    }
}
