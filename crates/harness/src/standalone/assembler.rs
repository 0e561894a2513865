//! What `ptxas` refuses of a file, where it is found.

use std::fmt;
use std::path::Path;

use cuda_builder::assembler::{Complaint, Verdict, assemble};
use cuda_builder::nvidia::Tool;

use crate::driver::target_of;

/// Why no GPU loads a file of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line of the file, from 1, where `ptxas` names one.
    pub line: Option<u32>,
    /// Its words.
    pub message: String,
    /// What stands in that line.
    pub text: String,
    /// How many more there are.
    pub more: usize,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ptxas refuses it, and so does each GPU's driver: ")?;
        if let Some(line) = self.line {
            write!(formatter, "PTX line {line}: ")?;
        }
        formatter.write_str(&self.message)?;
        if !self.text.is_empty() {
            write!(formatter, ": {}", self.text)?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(formatter, " (and {more} more)"),
        }
    }
}

/// Asks `ptxas` for the kernel and all that the file has around it. None: it takes the file, it is not installed, or it
/// does not know the file's target or version.
pub(super) fn refusal(path: &Path, text: &str, kernel: &str) -> Option<Refusal> {
    let target = target_of(text)?;
    let ptxas = Tool::Ptxas.find_here().ok()?;
    // Code is made for this kernel alone; the rest of the file is read.
    let only = ["-e".as_ref(), kernel.as_ref()];
    let verdict = assemble(&ptxas, target, &only, path).ok()?;
    let Verdict::Refused(complaints) = verdict else {
        return None;
    };
    // What calls a function that nothing defines says so itself when it is launched.
    let is_refused = |it: &&Complaint| !it.message.starts_with("Unresolved extern");
    let refused: Vec<&Complaint> = complaints.iter().filter(is_refused).collect();
    let first = refused.first()?;
    let line = first.line.and_then(|line| text.lines().nth(line.checked_sub(1)? as usize));
    Some(Refusal {
        line: first.line,
        message: first.message.clone(),
        text: line.unwrap_or_default().trim().to_owned(),
        more: refused.len() - 1,
    })
}
