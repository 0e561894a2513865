//! Asks `ptxas` whether it takes a PTX file, and reads why not.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::Command;

/// The verdict of `ptxas` on a PTX file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has assembled it, and said this of it (with `-v`: what each kernel needs).
    Accepted(String),
    /// It does not know the architecture or the version of PTX, or could not finish: nothing follows for the PTX. Its
    /// words, in one line.
    Undecided(String),
    /// It refuses the PTX, as every driver would: for each of these reasons, of which there is at least one.
    Refused(Vec<Complaint>),
}

/// One thing that `ptxas` refuses a PTX file for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Complaint {
    /// The line of the file, from 1, where it names one.
    pub line: Option<u32>,
    /// The kernel, where it names one instead.
    pub kernel: Option<String>,
    /// Its words.
    pub message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// Assembles the file for the target (`sm_90a`) with these further arguments, and keeps nothing.
///
/// # Errors
/// `ptxas` cannot be run.
pub fn assemble(
    ptxas: &Path,
    target: &str,
    arguments: &[&OsStr],
    ptx: &Path,
) -> io::Result<Verdict> {
    let output = Command::new(ptxas)
        .arg(format!("-arch={target}"))
        .args(arguments)
        .args(["-o", "/dev/null"])
        .arg(ptx)
        .output()?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Ok(match output.status.code() {
        Some(0) => Verdict::Accepted(said),
        Some(_) => verdict(&said),
        // A signal ended it.
        None => Verdict::Undecided(one_line(&said)),
    })
}

/// Complaints of the architecture or the version, and not of the PTX.
const UNKNOWN: [&str; 4] = [
    "is not defined for option 'gpu-name'",
    "Unsupported .version",
    "Unsupported .target",
    "cannot be compiled to architecture",
];

fn verdict(said: &str) -> Verdict {
    let complaints: Vec<Complaint> = said.lines().filter_map(complaint).collect();
    let undecided = complaints.is_empty()
        || complaints
            .iter()
            .any(|it| UNKNOWN.iter().any(|words| it.message.contains(words)));
    match undecided {
        true => Verdict::Undecided(one_line(said)),
        false => Verdict::Refused(complaints),
    }
}

fn one_line(said: &str) -> String {
    said.trim().replace('\n', "; ")
}

/// Reads one of these:
///
/// ```text
/// ptxas kernels.ptx, line 6; error   : Unexpected instruction types specified for 'add'
/// ptxas kernels.ptx, line 4; fatal   : Parsing error near 'x': syntax error
/// ptxas error   : Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)
/// ```
fn complaint(line: &str) -> Option<Complaint> {
    let (before, message) = ["error   : ", "fatal   : "]
        .iter()
        .find_map(|kind| line.split_once(kind))?;
    if message.contains("aborted due to errors") {
        return None;
    }
    let place = before.trim_end().strip_suffix(';');
    let number = place.and_then(|place| place.rsplit_once(", line ")?.1.parse().ok());
    let named = message
        .split_once("Entry function '")
        .or(message.split_once("entry function '"));
    Some(Complaint {
        line: number,
        kernel: named.and_then(|(_, rest)| Some(rest.split_once('\'')?.0.to_owned())),
        message: message.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: Option<u32>, kernel: Option<&str>, message: &str) -> Complaint {
        Complaint {
            line,
            kernel: kernel.map(str::to_owned),
            message: message.to_owned(),
        }
    }

    /// Messages of `ptxas` 13.0.88.
    #[test]
    fn a_refusal_has_its_lines_and_kernels() {
        let said = "ptxas /tmp/a, line 2.ptx, line 48; error   : State space incorrect for instruction 'atom'\n\
             ptxas /tmp/a.ptx, line 9; fatal   : Parsing error near 'x': syntax error\n\
             ptxas error   : Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)\n\
             ptxas fatal   : Ptx assembly aborted due to errors\n";
        let found = [
            of(
                Some(48),
                None,
                "State space incorrect for instruction 'atom'",
            ),
            of(Some(9), None, "Parsing error near 'x': syntax error"),
            of(
                None,
                Some("k"),
                "Entry function 'k' uses too much shared data (0xea60 bytes, 0xc000 max)",
            ),
        ];
        assert_eq!(verdict(said), Verdict::Refused(found.to_vec()));
        assert_eq!(
            found[0].to_string(),
            "line 48: State space incorrect for instruction 'atom'"
        );
    }

    #[test]
    fn what_it_does_not_know_says_nothing_of_the_ptx() {
        for said in [
            "ptxas fatal   : Value 'sm_20' is not defined for option 'gpu-name'",
            "ptxas /tmp/k.ptx, line 5; fatal   : Unsupported .version 9.4; current version is '9.0'\n\
             ptxas fatal   : Ptx assembly aborted due to errors",
            "",
        ] {
            assert_eq!(verdict(said), Verdict::Undecided(said.replace('\n', "; ")));
        }
    }
}
