//! The errors between ranks.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ridgepoint_driver::DriverError;
use serde::{Deserialize, Serialize};

use crate::nccl::NcclError;
use crate::world::WorldError;

/// Why an operation of several ranks failed.
///
/// ```
/// use ranks::RankError;
///
/// let error = RankError::Lost { rank: 2, reason: "its connection ended".to_owned() };
/// assert_eq!(error.to_string(), "rank 2 was lost: its connection ended");
/// ```
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// A rank ended, or has not been heard of for the time allowed: every operation of the others fails.
    #[error("rank {rank} was lost: {reason}")]
    Lost {
        /// Which one, counted from 0.
        rank: usize,
        /// The reason: what was noticed of it, or the error that it ended with.
        reason: String,
    },

    /// Ranks live, but have not come to an exchange that others wait in.
    #[error("{} not come to an exchange within {} s of the first rank", have(.ranks), seconds(.waited))]
    Late {
        /// Those that have not come.
        ranks: Vec<usize>,
        /// How long they were waited for.
        waited: Duration,
    },

    /// Ranks did not connect when the program began.
    #[error(
        "of {size} ranks {} not connected within {} s: check that the launcher started all of them, \
         with the same rendezvous",
        have(.ranks), seconds(.waited)
    )]
    Missing {
        /// Those that have not connected.
        ranks: Vec<usize>,
        /// How many ranks there should be.
        size: usize,
        /// How long they were waited for.
        waited: Duration,
    },

    /// The ranks do not agree on what they are: two have one number, or they differ in how many they are.
    #[error("the launcher's ranks do not fit together: {0}")]
    Disagreeing(String),

    /// Two processes have taken one GPU.
    #[error(
        "ranks {} and {} have the same GPU, {gpu}: start no more processes per host than it has GPUs, each with a GPU of its own",
        .ranks[0], .ranks[1]
    )]
    SharedGpu {
        /// The ranks that have it.
        ranks: [usize; 2],
        /// Where it is on the PCI bus, and of which host.
        gpu: String,
    },

    /// The launcher's variables of this rank contradict each other, or make no sense.
    #[error(transparent)]
    World(#[from] WorldError),

    /// The ranks cannot find each other.
    #[error("cannot meet the other ranks by {place}: {reason}", place = .place.display())]
    Rendezvous {
        /// The file or the address.
        place: PathBuf,
        /// The fault.
        reason: String,
    },

    /// Ranks called different operations at the same time.
    #[error(
        "this rank called {own}, and rank {rank} {other}: all ranks must call the same operations in the same order"
    )]
    Mismatch {
        /// A rank that called something else.
        rank: usize,
        /// The call of this rank.
        own: String,
        /// The call of that rank.
        other: String,
    },

    /// A part of a buffer has a length that the operation does not allow.
    #[error("{operation}: {what} has {actual} elements; {expected} are needed")]
    Length {
        /// The operation.
        operation: &'static str,
        /// Which part.
        what: &'static str,
        /// Its elements.
        actual: usize,
        /// How many it should have.
        expected: usize,
    },

    /// The root of a broadcast is no rank.
    #[error("{operation}: rank {root} is the root; the ranks are 0 to {}", .size - 1)]
    NoSuchRank {
        /// The operation.
        operation: &'static str,
        /// The rank that was named.
        root: usize,
        /// How many ranks there are.
        size: usize,
    },

    /// A message of one rank is too long for the connection.
    #[error("a message of {actual} bytes; the connection between ranks takes {limit} at most")]
    TooLong {
        /// Its bytes.
        actual: usize,
        /// The most that are allowed.
        limit: usize,
    },

    /// Some ranks have GPUs and others emulated devices.
    #[error(
        "collectives need ranks of one kind: rank {gpu} has a GPU, and rank {emulated} an emulated device"
    )]
    MixedDevices {
        /// A rank with a GPU.
        gpu: usize,
        /// A rank without.
        emulated: usize,
    },

    /// The system refuses a thread or a socket.
    #[error("{operation}: {reason}")]
    System {
        /// The operation that was asked for.
        operation: &'static str,
        /// The system's reason.
        reason: String,
    },

    /// The device's driver.
    #[error(transparent)]
    Driver(Arc<DriverError>),

    /// NCCL.
    #[error(transparent)]
    Nccl(#[from] NcclError),
}

impl From<DriverError> for RankError {
    fn from(error: DriverError) -> RankError {
        match error {
            // What a collective of emulated devices says, by way of the stream.
            DriverError::HostWork(inner) => match inner.downcast::<RankError>() {
                Ok(error) => *error,
                Err(other) => RankError::Driver(Arc::new(DriverError::HostWork(other))),
            },
            error => RankError::Driver(Arc::new(error)),
        }
    }
}

/// A fault that one rank tells the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fault {
    Lost {
        rank: usize,
        reason: String,
    },
    Late {
        ranks: Vec<usize>,
        waited: Duration,
    },
    Missing {
        ranks: Vec<usize>,
        size: usize,
        waited: Duration,
    },
    Disagreeing(String),
}

impl From<Fault> for RankError {
    fn from(fault: Fault) -> RankError {
        match fault {
            Fault::Lost { rank, reason } => RankError::Lost { rank, reason },
            Fault::Late { ranks, waited } => RankError::Late { ranks, waited },
            Fault::Missing {
                ranks,
                size,
                waited,
            } => RankError::Missing {
                ranks,
                size,
                waited,
            },
            Fault::Disagreeing(reason) => RankError::Disagreeing(reason),
        }
    }
}

/// An error of the system.
pub(crate) fn system(operation: &'static str) -> impl Fn(std::io::Error) -> RankError {
    move |error| RankError::System {
        operation,
        reason: error.to_string(),
    }
}

/// "rank 3 has", "ranks 1, 2 have".
fn have(ranks: &[usize]) -> String {
    let names: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    match ranks.len() {
        1 => format!("rank {} has", names[0]),
        _ => format!("ranks {} have", names.join(", ")),
    }
}

fn seconds(waited: &Duration) -> String {
    let seconds = waited.as_secs_f64();
    match seconds >= 10.0 {
        true => format!("{seconds:.0}"),
        false => format!("{seconds:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rank_has_and_two_have() {
        let late = |ranks: &[usize], millis| RankError::Late {
            ranks: ranks.to_vec(),
            waited: Duration::from_millis(millis),
        };
        assert_eq!(
            late(&[3], 1500).to_string(),
            "rank 3 has not come to an exchange within 1.5 s of the first rank"
        );
        let two = late(&[1, 2], 60_000).to_string();
        assert!(two.starts_with("ranks 1, 2 have not come"), "{two}");
        assert!(two.contains("within 60 s"), "{two}");
    }
}
