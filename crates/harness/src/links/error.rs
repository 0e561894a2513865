//! Why there are no figures of links.

use std::io;
use std::path::PathBuf;

use crate::driver::DriverError;

/// Why a link was not measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// There is nothing to measure.
    #[error("no devices: links are those of at least one device")]
    NoDevices,
    /// A device has no link with itself.
    #[error("{0} is named twice: each device has links with others")]
    Twice(String),
    /// An amount that cannot be measured.
    #[error("{what}: {actual} given; expected {expected}")]
    Amount {
        /// Of what.
        what: &'static str,
        /// How much was asked for.
        actual: u64,
        /// The possible amounts.
        expected: &'static str,
    },
    /// The host has too little memory for what is copied.
    #[error("the arrays take {needed} bytes of host memory; {free} are free: choose fewer bytes")]
    HostMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// Something else came there than was sent.
    #[error("{what}: {reason}")]
    Wrong {
        /// The row.
        what: String,
        /// The difference between what came and what was sent.
        reason: String,
    },
    /// The driver's error.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl LinkError {
    /// Returns the error of wrong data, of a row that is named later.
    pub(super) fn wrong(reason: String) -> LinkError {
        let what = String::new();
        LinkError::Wrong { what, reason }
    }

    /// With the name of the row that was measured.
    pub(super) fn during(self, what: &str) -> LinkError {
        match self {
            LinkError::Wrong { reason, .. } => LinkError::Wrong {
                what: what.to_owned(),
                reason,
            },
            other => other,
        }
    }
}

/// Why a file gives no roof of a link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinksFileError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file holds something else.
    #[error("{} holds no rows of `ridgepoint links --output FILE.json`: {error}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: String,
    },
    /// No row is a roof of the device.
    #[error("{} has no measured link to {device}: it has those of {}", path.display(), found.join(", "))]
    OtherDevice {
        /// The file.
        path: PathBuf,
        /// The device whose roof is drawn.
        device: String,
        /// The devices of the file.
        found: Vec<String>,
    },
}
