//! What is needed to repeat a run.

use serde::Serialize;

use crate::driver::Facts;
use crate::sweep::Settings;

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
    pub device: Facts,
    /// Launches before the timed ones.
    pub warmup: u32,
    /// Timed launches a row.
    pub runs: u32,
    /// The value of every input element.
    pub x: f64,
}

impl RunFacts {
    /// A run that begins now.
    pub fn now(command: Vec<String>, device: Facts, settings: Settings) -> RunFacts {
        RunFacts {
            command,
            version: env!("CARGO_PKG_VERSION"),
            commit: option_env!("RIDGEPOINT_COMMIT"),
            began: jiff::Timestamp::now().to_string(),
            device,
            warmup: settings.runs.warmup,
            runs: settings.runs.timed,
            x: settings.x,
        }
    }
}
