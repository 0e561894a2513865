//! `ridgepoint doctor`

use doctor::Part;

use super::{Failure, streams};
use crate::trace::SHOWS_RANGES_TO_PROFILERS;

pub(super) fn run() -> Result<(), Failure> {
    let mut missing = Vec::new();
    for part in Part::ALL {
        match part.look().found {
            Ok(found) => row(part.name(), "found", &found),
            Err(reason) => {
                row(
                    part.name(),
                    "missing",
                    &format!("needed to {}", part.purpose()),
                );
                reason
                    .lines()
                    .for_each(|line| streams::say(&format!("{:28}{line}", "")));
                missing.push(part);
            }
        }
    }
    match SHOWS_RANGES_TO_PROFILERS {
        true => row("nvtx", "built in", "profilers see Ridgepoint's ranges"),
        false => row(
            "nvtx",
            "left out",
            "profilers see no ranges: build with --features nvtx",
        ),
    }
    match missing.iter().find(|part| part.is_required()) {
        Some(part) => Err(Failure::Found(format!(
            "{} is missing: it is needed to {}",
            part.name(),
            part.purpose()
        ))),
        None => Ok(()),
    }
}

fn row(name: &str, state: &str, text: &str) {
    streams::say(&format!("{name:<17} {state:<9} {text}"));
}
