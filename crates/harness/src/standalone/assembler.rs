//! Refusals of a file by `ptxas`, where it is found.

use std::fmt;
use std::path::Path;

use cuda_builder::assembler::{Complaint, LIMIT, Verdict, assemble};
use cuda_builder::nvidia::Tool;

use crate::driver::target_of;

/// Why no GPU loads a file of PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The line of the file, from 1, where `ptxas` names one.
    pub line: Option<u32>,
    /// Its words.
    pub message: String,
    /// The text of that line.
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
/// does not know the file's target or version, or takes too long.
pub(super) fn refusal(path: &Path, text: &str, kernel: &str) -> Option<Refusal> {
    let target = target_of(text)?;
    let ptxas = Tool::Ptxas.find_here().ok()?;
    // Code is made for this kernel alone; the rest of the file is read.
    let only = ["-e".as_ref(), kernel.as_ref()];
    let verdict = assemble(&ptxas, target, &only, path, LIMIT).ok()?;
    let Verdict::Refused(complaints) = verdict else {
        return None;
    };
    // What calls a function that nothing defines says so itself when it is launched.
    let is_refused = |it: &&Complaint| !it.message.starts_with("Unresolved extern");
    let refused: Vec<&Complaint> = complaints.iter().filter(is_refused).collect();
    let first = refused.first()?;
    let line = first
        .line
        .and_then(|line| text.lines().nth(line.checked_sub(1)? as usize));
    Some(Refusal {
        line: first.line,
        message: first.message.clone(),
        text: line.unwrap_or_default().trim().to_owned(),
        more: refused.len() - 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = ".version 8.8
.target sm_90
.address_size 64
.visible .entry k() { .reg .b32 %r<3>; redux.sync.min.f32 %r1, %r2, -1;
redux.sync.min.f32 %r1, %r2, -1; ret; }
.visible .entry other() { ret; }
";

    fn of(text: &str) -> Option<Refusal> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kernels.ptx");
        std::fs::write(&path, text).expect("writable");
        refusal(&path, text, "other")
    }

    /// Whichever kernel is launched: the file is loaded as one.
    #[test]
    #[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
    fn a_file_is_refused_with_its_line_where_ptxas_is_found() {
        if Tool::Ptxas.find_here().is_err() {
            eprintln!("skipped: no ptxas; ./setup.sh installs it in .venv/cuda/bin");
            return;
        }
        let refusal = of(FILE).expect("the architecture lacks it");
        assert_eq!((refusal.line, refusal.more), (Some(4), 1));
        let told = refusal.to_string();
        let start = "ptxas refuses it, and so does each GPU's driver: PTX line 4: Instruction 'redux.f32' not supported on \
                     .target 'sm_90': .visible .entry k()";
        assert!(
            told.starts_with(start) && told.ends_with("(and 1 more)"),
            "{told}"
        );
        assert_eq!(
            of(&FILE.replace("redux.sync.min.f32", "redux.sync.min.s32")),
            None
        );
    }

    #[test]
    fn a_target_or_version_that_ptxas_does_not_know_says_nothing() {
        assert_eq!(of(&FILE.replace("sm_90", "sm_20")), None);
        assert_eq!(of(&FILE.replace("8.8", "99.9")), None);
    }
}
