//! What docs/architecture.md says of packages and of the library's modules: which of them know which.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Node};

/// Modules of the library, and what their sources do not name. Whoever adds a name here has found one
/// more arrow that points one way.
const STRANGERS: [(&str, &[&str]); 13] = [
    (
        "model",
        &[
            "crate::driver",
            "ridgepoint_driver",
            "crate::report",
            "crate::sweep",
            "crate::workload",
        ],
    ),
    ("measure", &["crate::report", "crate::compare"]),
    ("ceilings", &["crate::report", "crate::sweep"]),
    (
        "embedded",
        &["crate::report", "crate::sweep", "crate::ceilings"],
    ),
    ("check", &["crate::report", "crate::ceilings"]),
    (
        "workload",
        &["crate::report", "crate::compare", "crate::ceilings"],
    ),
    ("sweep", &["crate::report", "crate::compare"]),
    (
        "study",
        &["crate::report", "crate::compare", "crate::sweep"],
    ),
    (
        "compare",
        &["crate::report", "crate::sweep", "crate::workload"],
    ),
    (
        "kernels",
        &["crate::report", "crate::sweep", "crate::workload"],
    ),
    (
        "standalone",
        &["crate::report", "crate::sweep", "crate::workload"],
    ),
    (
        "profile",
        &["crate::report", "crate::sweep", "crate::workload"],
    ),
    ("trace", &["crate::report", "crate::sweep"]),
];

/// Packages of this workspace, and what none of their dependencies is: of the driver what measures and
/// draws, of the library what a terminal needs.
const WITHOUT: [(&str, &[&str]); 2] = [
    (
        "ridgepoint-driver",
        &[
            "ridgepoint",
            "ridgepoint-harness",
            "clap",
            "comfy-table",
            "crossterm",
            "indicatif",
            "nvtx",
            "plotters",
        ],
    ),
    (
        "ridgepoint-harness",
        &["ridgepoint", "clap", "crossterm", "indicatif"],
    ),
];

/// The packages that one depends on, by whatever way, but for its tests and build scripts.
fn dependencies(metadata: &Metadata, package: &str) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().expect("what depends on what");
    let is_named = |node: &&Node| metadata[&node.id].name.as_str() == package;
    let package = resolve.nodes.iter().find(is_named);
    let mut left = vec![&package.expect("a package of this workspace").id];
    let mut found = BTreeSet::new();
    while let Some(id) = left.pop() {
        for dependency in &resolve[id].deps {
            let mut kinds = dependency.dep_kinds.iter();
            let name = metadata[&dependency.pkg].name.to_string();
            if kinds.any(|it| it.kind == DependencyKind::Normal) && found.insert(name) {
                left.push(&dependency.pkg);
            }
        }
    }
    found
}

#[test]
fn the_driver_and_the_library_know_no_command_line() {
    let metadata = MetadataCommand::new()
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .other_options(["--filter-platform=x86_64-unknown-linux-gnu".to_owned()])
        .exec()
        .expect("cargo describes this workspace");
    let all = dependencies(&metadata, "ridgepoint");
    for (package, absent) in WITHOUT {
        let found = dependencies(&metadata, package);
        let present: Vec<_> = absent.iter().filter(|it| found.contains(**it)).collect();
        assert!(present.is_empty(), "{package} depends on {present:?}");
        assert!(all.contains(package), "{package} is not looked at");
    }
    // Nothing is missed for its name.
    for package in ["clap", "indicatif", "plotters"] {
        assert!(all.contains(package), "{package}");
    }
}

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

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/harness/src")
}

#[test]
fn modules_know_no_others_than_they_should() {
    for (module, strangers) in STRANGERS {
        let sources = sources(&library().join(module));
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

/// The kernels' names in the sources of the library: where a workload is, its kernel is one hop away.
#[test]
fn a_sweep_names_no_kernel() {
    for module in ["sweep", "report", "compare"] {
        for (path, text) in sources(&library().join(module)) {
            assert!(!text.contains("kernels_gpu"), "{}", path.display());
        }
    }
}
