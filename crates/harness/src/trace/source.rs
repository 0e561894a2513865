//! Sources of the device's times.

use std::fmt;

use crate::driver::DriverError;
use crate::driver::trace::{Recorded, Session, cupti};

/// A way of timing a GPU's work. The emulator's is timed by the host's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceTimes {
    /// CUPTI where it is available, else events
    #[default]
    Auto,
    /// NVIDIA's CUPTI: each kernel and copy by itself, within graphs too
    Cupti,
    /// An event before each launch and copy, and one after
    Events,
}

/// The source of the device's times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// CUPTI's activity records.
    Cupti {
        /// CUPTI's version.
        version: String,
        /// Pieces of work that it has no times of.
        lost: usize,
    },
    /// Events around each piece of work.
    Events {
        /// Why CUPTI did not, if that was not asked for.
        why: Option<String>,
    },
    /// The host's clock: there was no GPU.
    Host,
}

impl DeviceTimes {
    pub(super) fn open(self) -> Result<(Option<Session>, Source), DriverError> {
        let opened = match self {
            DeviceTimes::Events => return Ok((None, Source::Events { why: None })),
            DeviceTimes::Auto | DeviceTimes::Cupti => cupti(),
        };
        match opened {
            Ok(session) => {
                let version = session.version().to_string();
                Ok((Some(session), Source::Cupti { version, lost: 0 }))
            }
            Err(error) if self == DeviceTimes::Auto => {
                let why = Some(error.to_string());
                Ok((None, Source::Events { why }))
            }
            Err(error) => Err(error),
        }
    }
}

impl Source {
    /// The source of what was recorded.
    pub(super) fn of(self, recorded: &Recorded) -> Source {
        match self {
            _ if !recorded.has_gpu => Source::Host,
            Source::Cupti { version, .. } => Source::Cupti {
                version,
                lost: recorded.lost,
            },
            other => other,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Cupti { version, lost: 0 } => write!(formatter, "CUPTI {version}"),
            Source::Cupti { version, lost } => {
                write!(formatter, "CUPTI {version}, without {lost} that it lost")
            }
            Source::Events { why: None } => formatter.write_str("events around each"),
            Source::Events { why: Some(why) } => write!(formatter, "events around each ({why})"),
            Source::Host => formatter.write_str("the host's clock"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_says_what_it_lacks() {
        let cupti = |lost| Source::Cupti {
            version: "13.0".to_owned(),
            lost,
        };
        let recorded = |has_gpu| Recorded {
            lost: 3,
            has_gpu,
            ..Recorded::default()
        };
        let texts = [
            (
                cupti(0).of(&recorded(true)),
                "CUPTI 13.0, without 3 that it lost",
            ),
            (cupti(0), "CUPTI 13.0"),
            (cupti(0).of(&recorded(false)), "the host's clock"),
            (
                Source::Events {
                    why: Some("none".to_owned()),
                },
                "events around each (none)",
            ),
        ];
        for (source, text) in texts {
            assert_eq!(source.to_string(), text);
        }
    }
}
