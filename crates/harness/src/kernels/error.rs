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
    #[error("there is no embedded kernel {name:?}; similar names: {}", near.join(", "))]
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
        /// The reason.
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
        /// Its message.
        message: String,
    },

    /// A temporary file could not be used.
    #[error("cannot disassemble: {action} {}: {error}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
}

impl KernelsError {
    pub(super) fn unknown(name: &str, known: &[String]) -> KernelsError {
        let likeness = |candidate: &String| strsim::jaro_winkler(name, candidate);
        let shared = |candidate: &String| {
            let letters = name.chars().zip(candidate.chars());
            letters.take_while(|(a, b)| a == b).count()
        };
        let mut nearest: Vec<&String> = known.iter().collect();
        nearest.sort_by(|a, b| {
            let by_beginning = shared(b).cmp(&shared(a));
            let by_beginning = by_beginning.then(likeness(b).total_cmp(&likeness(a)));
            by_beginning.then(a.cmp(b))
        });
        KernelsError::NoKernel {
            name: name.to_owned(),
            near: nearest.into_iter().take(OFFERED).cloned().collect(),
        }
    }
}

fn list(arches: &[u32]) -> String {
    let names: Vec<String> = arches.iter().map(|arch| format!("sm_{arch}")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::KernelsError;

    #[test]
    fn names_that_begin_alike_are_offered_and_of_those_the_most_alike() {
        let known = [
            "copy_u1",
            "horner_f32_v1",
            "horner_f32_v2",
            "power_sum_f32_v1",
            "power_sum_f64_v4",
        ];
        let known = known.map(str::to_owned);
        let first = |name: &str| match KernelsError::unknown(name, &known) {
            KernelsError::NoKernel { near, .. } => near[0].clone(),
            other => panic!("{other}"),
        };
        assert_eq!(first("power_sum"), "power_sum_f32_v1");
        assert_eq!(first("horner_f32_v3"), "horner_f32_v1");
        assert_eq!(first("power_sum_f46_v4"), "power_sum_f64_v4");
        assert_eq!(first("hroner_f32_v2"), "horner_f32_v2");
    }
}
