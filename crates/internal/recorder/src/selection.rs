//! The part of a program that is recorded, as the environment of its processes says it.

use std::env;
use std::fmt;
use std::io;
use std::time::Duration;

/// The environment variables: what begins a part, nanoseconds after which the recording ends, and launches.
const WITHIN: &str = "RIDGEPOINT_RECORDING_WITHIN";
const DURATION: &str = "RIDGEPOINT_RECORDING_DURATION";
const LAUNCHES: &str = "RIDGEPOINT_RECORDING_LAUNCHES";

/// The part of a program that is recorded. Displayed, it is that part in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Where recording begins, and what it stays within.
    pub within: Within,
    /// The recording ends so long after it has begun.
    pub duration: Option<Duration>,
    /// The recording ends before the launch that follows so many recorded ones.
    pub launches: Option<u64>,
}

/// Where recording begins, and what it stays within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// All of the process.
    #[default]
    All,
    /// The parts between `cudaProfilerStart` and `cudaProfilerStop`.
    Profiler,
    /// Ranges of NVTX of this name.
    Range(String),
    /// The part from so long after the process's first call of CUDA.
    Delay(Duration),
    /// The part behind so many launches.
    Skip(u64),
}

impl Selection {
    /// The environment of a process that is to be recorded so: each variable with its value, or without any.
    pub fn variables(&self) -> [(&'static str, Option<String>); 3] {
        let within = match &self.within {
            Within::All => None,
            Within::Profiler => Some("profiler".to_owned()),
            Within::Range(name) => Some(format!("range={name}")),
            Within::Delay(delay) => Some(format!("delay={}", delay.as_nanos())),
            Within::Skip(launches) => Some(format!("skip={launches}")),
        };
        let duration = self.duration.map(|it| it.as_nanos().to_string());
        let launches = self.launches.map(|it| it.to_string());
        [(WITHIN, within), (DURATION, duration), (LAUNCHES, launches)]
    }

    /// The selection that the environment asks for.
    ///
    /// # Errors
    /// A variable has a value that [`Selection::variables`] never gives.
    pub(crate) fn from_environment() -> io::Result<Selection> {
        Selection::read(|name| env::var(name).ok())
    }

    fn read(value: impl Fn(&str) -> Option<String>) -> io::Result<Selection> {
        let number = |name: &str, text: &str| {
            text.parse::<u64>().map_err(|_| {
                let message = format!("{name}={text}: a whole number was expected");
                io::Error::new(io::ErrorKind::InvalidInput, message)
            })
        };
        let numbered = |name: &str| {
            let text = value(name);
            text.map(|text| number(name, &text)).transpose()
        };
        let text = value(WITHIN).unwrap_or_default();
        let within = match text.split_once('=') {
            None if text.is_empty() => Within::All,
            None if text == "profiler" => Within::Profiler,
            Some(("range", name)) => Within::Range(name.to_owned()),
            Some(("delay", time)) => Within::Delay(Duration::from_nanos(number(WITHIN, time)?)),
            Some(("skip", launches)) => Within::Skip(number(WITHIN, launches)?),
            _ => {
                let message = format!(
                    "{WITHIN}={text}: expected profiler, range=NAME, delay=NANOSECONDS or skip=LAUNCHES"
                );
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
        };
        Ok(Selection {
            within,
            duration: numbered(DURATION)?.map(Duration::from_nanos),
            launches: numbered(LAUNCHES)?,
        })
    }

    /// Whether nothing is left out.
    pub(crate) fn is_all(&self) -> bool {
        *self == Selection::default()
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.within {
            Within::All => formatter.write_str("from the first call"),
            Within::Profiler => formatter.write_str("from cudaProfilerStart to cudaProfilerStop"),
            Within::Range(name) => write!(formatter, "within ranges of NVTX named {name:?}"),
            Within::Delay(delay) => write!(
                formatter,
                "from {} s after the first call",
                delay.as_secs_f64()
            ),
            Within::Skip(launches) => write!(formatter, "from launch {}", launches + 1),
        }?;
        if let Some(duration) = self.duration {
            write!(formatter, ", for {} s", duration.as_secs_f64())?;
        }
        match self.launches {
            None => Ok(()),
            Some(1) => formatter.write_str(", 1 launch at most"),
            Some(launches) => write!(formatter, ", {launches} launches at most"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selections() -> [(Selection, &'static str); 5] {
        let of = |within, duration: Option<u64>, launches| Selection {
            within,
            duration: duration.map(Duration::from_millis),
            launches,
        };
        [
            (of(Within::All, None, None), "from the first call"),
            (
                of(Within::Profiler, None, Some(1)),
                "from cudaProfilerStart to cudaProfilerStop, 1 launch at most",
            ),
            (
                of(Within::Range("a=b \"c\"".to_owned()), Some(1500), None),
                r#"within ranges of NVTX named "a=b \"c\"", for 1.5 s"#,
            ),
            (
                of(
                    Within::Delay(Duration::from_millis(250)),
                    Some(1000),
                    Some(7),
                ),
                "from 0.25 s after the first call, for 1 s, 7 launches at most",
            ),
            (of(Within::Skip(100), None, None), "from launch 101"),
        ]
    }

    #[test]
    fn what_the_environment_is_told_is_what_is_read() {
        for (selection, words) in selections() {
            let variables = selection.variables();
            let value = |name: &str| variables.iter().find(|it| it.0 == name)?.1.clone();
            assert_eq!(Selection::read(value).expect("readable"), selection);
            assert_eq!(selection.to_string(), words);
        }
    }

    #[test]
    fn other_values_are_refused_with_what_was_expected() {
        for (name, value, expected) in [
            (WITHIN, "delay=soon", "a whole number was expected"),
            (WITHIN, "step", "expected profiler, range=NAME"),
            (LAUNCHES, "-1", "a whole number was expected"),
        ] {
            let read = Selection::read(|it| (it == name).then(|| value.to_owned()));
            let error = read.expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
