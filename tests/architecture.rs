//! What docs/architecture.md says of the library's modules: which of them know which.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the library, and what their sources do not name. Whoever adds a name here has found one
/// more arrow that points one way.
const STRANGERS: [(&str, &[&str]); 14] = [
    (
        "model",
        &[
            "crate::cli",
            "crate::driver",
            "ridgepoint_driver",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    (
        "measure",
        &["crate::cli", "crate::report", "crate::compare"],
    ),
    ("ceilings", &["crate::cli", "crate::report", "crate::sweep"]),
    (
        "embedded",
        &[
            "crate::cli",
            "crate::report",
            "crate::sweep",
            "crate::ceilings",
        ],
    ),
    ("check", &["crate::cli", "crate::report", "crate::ceilings"]),
    (
        "workload",
        &[
            "crate::cli",
            "crate::report",
            "crate::compare",
            "crate::ceilings",
        ],
    ),
    ("sweep", &["crate::cli", "crate::report", "crate::compare"]),
    (
        "study",
        &[
            "crate::cli",
            "crate::report",
            "crate::compare",
            "crate::sweep",
        ],
    ),
    (
        "compare",
        &[
            "crate::cli",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    (
        "kernels",
        &[
            "crate::cli",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    ("report", &["crate::cli"]),
    (
        "standalone",
        &[
            "crate::cli",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    (
        "profile",
        &[
            "crate::cli",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    ("trace", &["crate::cli", "crate::report", "crate::sweep"]),
];

/// The sources of a folder, without their unit tests, which may look at anything.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.map(|entry| entry.expect("readable").path()) {
        if entry.is_dir() {
            found.extend(sources(&entry));
        } else if entry.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&entry).expect("text");
            let code = text.split("#[cfg(test)]\nmod tests").next();
            found.push((entry, code.unwrap_or_default().to_owned()));
        }
    }
    found
}

fn host() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("host/src")
}

#[test]
fn modules_know_no_others_than_they_should() {
    for (module, strangers) in STRANGERS {
        let sources = sources(&host().join(module));
        assert!(!sources.is_empty(), "{module}: no sources");
        for (path, text) in sources {
            for stranger in strangers {
                assert!(
                    !text.contains(stranger),
                    "{} names {stranger}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_command_line_alone_knows_clap() {
    let cli = host().join("cli");
    let (of_cli, others): (Vec<_>, Vec<_>) = sources(&host())
        .into_iter()
        .partition(|(path, _)| path.starts_with(&cli));
    assert!(of_cli.iter().any(|(_, text)| text.contains("clap")));
    for (path, text) in others {
        assert!(!text.contains("clap::"), "{}", path.display());
    }
}

/// The kernels' names in the sources of the library: where a workload is, its kernel is one hop away.
#[test]
fn a_sweep_names_no_kernel() {
    for module in ["sweep", "report", "compare"] {
        for (path, text) in sources(&host().join(module)) {
            assert!(!text.contains("kernels_gpu"), "{}", path.display());
        }
    }
}
