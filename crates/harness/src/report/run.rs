//! Facts that are needed to repeat a run.

use serde::Serialize;
use serde_json::Value;

use crate::driver::DeviceProperties;

/// A run, described.
#[derive(Clone, Debug, Serialize)]
pub struct RunFacts {
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Ridgepoint's version.
    pub version: &'static str,
    /// The commit that the binary was built from, where the build was told
    /// (`RIDGEPOINT_COMMIT`).
    pub commit: Option<&'static str>,
    /// When the run began, RFC 3339.
    pub began: String,
    /// The device.
    pub device: DeviceProperties,
    /// Settings that are the same for every row, in the object beside the fields above.
    #[serde(flatten)]
    pub settings: Value,
}

impl RunFacts {
    /// A run that begins now. `settings` is an object of what was the same for every row.
    pub fn now(command: Vec<String>, device: DeviceProperties, settings: Value) -> RunFacts {
        RunFacts {
            command,
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("RIDGEPOINT_COMMIT"),
            began: format!("{:.0}", jiff::Timestamp::now()),
            device,
            settings,
        }
    }
}
