//! Power iteration and normalization on several devices: the vector's parts exchanged by NCCL, or by stores into each other's memory
//! from inside the kernels.
//!
//! Each device has a rank ([`ranks`]), a thread of this process or a process of its own, and all ranks call the same functions.

mod collectives;
mod norm;
mod row;
mod scaling;
mod words;

use std::fmt;
use std::ops::ControlFlow;

pub use collectives::{Collective, CollectiveRow, Collectives};
pub use norm::norm_of_rank;
pub use row::{DevicesRow, Kind};
pub use scaling::{Growth, LinkFigures, Measured, Model, Problem, measured_link};
pub(super) use words::{Turn, Words};

use ranks::{Communicator, Rank};

use super::power::{SharedRun, power_shared, step_alone_us};
use super::rounds::rounded;
use super::{PowerPlan, Progress, StudyError};
use crate::driver::{Device, Stream};

/// How devices give each other their parts of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// A collective in the stream: NCCL's, or on emulated devices through the host.
    Gather,
    /// The same, in a graph.
    Graph,
    /// Stores into the memory of all devices, from inside the kernel that has the numbers. All ranks are threads of one process.
    Peer,
}

impl fmt::Display for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Exchange::Gather => "gather",
            Exchange::Graph => "graph",
            Exchange::Peer => "peer",
        })
    }
}

/// A rank, and where the others' devices are.
#[derive(Clone, Copy)]
pub struct Team<'t, 'd> {
    /// This rank.
    pub rank: &'t Rank<'d>,
    /// The devices of all ranks in their order, if they are threads of this process; otherwise none.
    pub devices: &'d [Device],
}

impl<'d> Team<'_, 'd> {
    /// The greatest of the ranks' numbers, on all ranks.
    pub(super) fn longest(&self, own: f64) -> Result<f64, StudyError> {
        let all = self.rank.control().exchange(&own.to_le_bytes())?;
        let numbers = all
            .iter()
            .filter_map(|it| Some(f64::from_le_bytes(it[..].try_into().ok()?)));
        Ok(numbers.fold(own, f64::max))
    }

    /// The collectives of an exchange that has some, between ranks that are connected: NCCL connects them in the first collective, which
    /// takes long, and which no graph can have.
    pub(super) fn communicator(
        &self,
        exchange: Option<Exchange>,
        words: &mut Words,
    ) -> Result<Option<Communicator<'d>>, StudyError> {
        match exchange {
            Some(Exchange::Gather | Exchange::Graph) => {}
            Some(Exchange::Peer) | None => return Ok(None),
        }
        let communicator = self.rank.communicator()?;
        let stream = Stream::new(self.rank.device())?;
        // SAFETY: the words are a multiple of the ranks, and live until the stream has been waited for.
        unsafe { communicator.all_gather_in_place(&stream, words.begin().words, ..) }?;
        communicator.synchronize(&stream)?;
        Ok(Some(communicator))
    }

    /// How long a launch waits for a word.
    pub(super) fn nanoseconds(&self) -> u64 {
        self.rank.control().limits().fault.as_nanos() as u64
    }

    /// Returns the name of the devices: how many, and the first's name.
    fn name(&self) -> String {
        format!(
            "{} x {}",
            self.rank.size(),
            self.rank.device().properties().name
        )
    }
}

/// Power iteration of a rank, as `study::power` does it on one device. Rank 0 writes the checkpoints; if the iteration is
/// resumed, it begins with the newest, whatever number of devices has written it. `on_progress` is told of each look on rank 0, and may
/// end the iteration.
///
/// # Errors
/// As `study::power`. [`StudyError::Rank`]: a rank is lost, or NCCL is missing or refuses; [`StudyError::Silent`]: a device has
/// sent nothing; [`StudyError::Devices`]: too many for [`Exchange::Peer`].
pub fn power_of_rank(
    team: &Team<'_, '_>,
    plan: &PowerPlan,
    exchange: Exchange,
    resume: bool,
    on_progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<DevicesRow, StudyError> {
    let alone_us = step_alone_us(team, plan, exchange)?;
    let run: SharedRun = power_shared(team, plan, exchange, resume, on_progress)?;
    Ok(DevicesRow {
        steps: run.result.step - run.resumed_at,
        residual: Some(run.result.residual),
        total_ms: Some(rounded(run.total_ms)),
        checkpoints: Some(run.checkpoints),
        ..DevicesRow::measured("power", team, exchange, plan.dim, (run.step_us, alone_us))
    })
}
