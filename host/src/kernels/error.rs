//! Why there is nothing to show of a kernel.

use std::path::PathBuf;

use cuda_builder::nvidia::NoTool;

/// How many names are offered in place of one that is unknown.
const OFFERED: usize = 3;

/// Why there is nothing to show of a kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KernelsError {
    /// The binary carries no PTX for the architecture.
    #[error(
        "no PTX for sm_{arch} is embedded: there is {}; build with RIDGEPOINT_ARCH=sm_{arch}",
        list(embedded)
    )]
    NotEmbedded {
        /// The architecture asked for.
        arch: u32,
        /// The embedded ones.
        embedded: Vec<u32>,
    },

    /// No report is embedded, and none can be made.
    #[error(
        "no registers or spills are known of the kernels for {}: this ridgepoint was built without \
         ptxas, and there is none here that knows the architecture. `ridgepoint doctor` says how to \
         get one; --ptx needs none",
        list(arches)
    )]
    NoReport {
        /// The architectures without a report.
        arches: Vec<u32>,
    },

    /// No kernel has the name, or a name that contains it.
    #[error("no kernel {name:?} is embedded. Near it: {}", near.join(", "))]
    NoKernel {
        /// The name asked for.
        name: String,
        /// The nearest ones.
        near: Vec<String>,
    },

    /// The embedded report cannot be read.
    #[error("cannot read the embedded resource report for sm_{arch}: {error}")]
    Report {
        /// The architecture.
        arch: u32,
        /// What is wrong with it.
        error: String,
    },

    /// A tool is not installed here.
    #[error("{0}")]
    NoTool(#[from] NoTool),

    /// A tool failed.
    #[error("cannot disassemble: {} says: {message}", tool.display())]
    Tool {
        /// The program.
        tool: PathBuf,
        /// What it said.
        message: String,
    },

    /// A temporary file could not be used.
    #[error("cannot disassemble: {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl KernelsError {
    pub(super) fn unknown(name: &str, known: &[String]) -> KernelsError {
        let mut by_distance: Vec<(usize, &String)> = known
            .iter()
            .map(|candidate| (distance(name, candidate), candidate))
            .collect();
        by_distance.sort();
        KernelsError::NoKernel {
            name: name.to_owned(),
            near: by_distance
                .into_iter()
                .take(OFFERED)
                .map(|(_, candidate)| candidate.clone())
                .collect(),
        }
    }
}

fn list(arches: &[u32]) -> String {
    let names: Vec<String> = arches.iter().map(|arch| format!("sm_{arch}")).collect();
    names.join(", ")
}

/// Levenshtein's distance: how many bytes to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, right) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_count_insertions_deletions_and_replacements() {
        assert_eq!(distance("", ""), 0);
        assert_eq!(distance("horner", ""), 6);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("horner_f32_v1", "horner_f23_v1"), 2);
    }
}
