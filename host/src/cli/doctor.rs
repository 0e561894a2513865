//! `ridgepoint doctor`

use clap::Args;
use doctor::Part;
use serde::Serialize;

use super::{Failure, row_format};
use crate::trace::SHOWS_RANGES_TO_PROFILERS;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    printed: row_format::Arguments,
}

/// A tool or a library.
#[derive(Serialize)]
struct Row {
    part: &'static str,
    state: &'static str,
    needed_to: String,
    is_required: bool,
    /// Where it was found, or why it was not and what to do.
    detail: String,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let printed = &arguments.printed;
    let console = printed.console(Part::ALL.len() as u64);
    let mut rows: Vec<Row> = Vec::new();
    for part in Part::ALL {
        console.begin(part.name().to_owned());
        rows.push(looked_for(part));
        console.step();
    }
    console.finish();
    rows.push(nvtx());
    printed.show(&rows, &console, |_| {
        rows.iter().map(Row::text).collect::<Vec<_>>().join("\n")
    })?;
    match rows
        .iter()
        .find(|row| row.is_required && row.state == MISSING)
    {
        Some(row) => Err(Failure::Found(format!(
            "{} is missing: it is needed to {}",
            row.part, row.needed_to
        ))),
        None => Ok(()),
    }
}

const MISSING: &str = "missing";

fn looked_for(part: Part) -> Row {
    let found = part.look().found;
    Row {
        part: part.name(),
        state: if found.is_ok() { "found" } else { MISSING },
        needed_to: part.purpose().to_string(),
        is_required: part.is_required(),
        detail: found.unwrap_or_else(|reason| reason.to_string()),
    }
}

/// Returns whether this program was built to show ranges to profilers.
fn nvtx() -> Row {
    let (state, detail) = match SHOWS_RANGES_TO_PROFILERS {
        true => ("built in", "profilers see Ridgepoint's ranges"),
        false => (
            "left out",
            "profilers see no ranges: build with --features nvtx",
        ),
    };
    Row {
        part: "nvtx",
        state,
        needed_to: "show ranges to profilers".to_owned(),
        is_required: false,
        detail: detail.to_owned(),
    }
}

impl Row {
    /// A line, and more where something is missing.
    fn text(&self) -> String {
        let first = |text: &str| format!("{:<17} {:<9} {text}", self.part, self.state);
        if self.state != MISSING {
            return first(&self.detail);
        }
        let lines = self.detail.lines().map(|line| format!("\n{:28}{line}", ""));
        format!(
            "{}{}",
            first(&format!("needed to {}", self.needed_to)),
            lines.collect::<String>()
        )
    }
}
