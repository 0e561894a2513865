//! `--plot` and `--against`: what a study draws against one of its axes, on the emulator and from files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support;

fn ridgepoint(folder: &Path, line: &str) -> Output {
    Command::new(support::ridgepoint())
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("CUDA_VISIBLE_DEVICES", "")
        .output()
        .expect("the command starts")
}

#[track_caller]
fn succeeds(folder: &Path, line: &str) -> String {
    let output = ridgepoint(folder, line);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{line}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// A picture's texts, and the classes of its marks; nothing of it is outside its view box.
#[track_caller]
fn drawn(path: &Path) -> (Vec<String>, Vec<String>) {
    let svg = fs::read_to_string(path).expect("a chart");
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let root = document.root_element();
    let view: Vec<f64> = numbers(root.attribute("viewBox").expect("a view box"));
    let inside = |x: f64, y: f64| (0.0..=view[2]).contains(&x) && (0.0..=view[3]).contains(&y);
    let mut texts = Vec::new();
    let mut marks = Vec::new();
    for node in document.descendants() {
        let at = |name: &str| node.attribute(name).map(|it| numbers(it)[0]);
        if let Some(points) = node.attribute("points") {
            for place in numbers(points).chunks(2) {
                assert!(inside(place[0], place[1]), "{points}");
            }
        }
        let place = at("cx").zip(at("cy")).or(at("x").zip(at("y")));
        if let Some((x, y)) = place {
            assert!(inside(x, y), "{node:?}");
        }
        match (node.tag_name().name(), node.attribute("class")) {
            ("text", _) => texts.push(node.text().unwrap_or_default().to_owned()),
            (_, Some(class)) if class.starts_with("mark") => marks.push(class.to_owned()),
            _ => {}
        }
    }
    (texts, marks)
}

fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split([' ', ',']);
    parts.map(|it| it.parse().expect("a number")).collect()
}

#[track_caller]
fn has(texts: &[String], wanted: &[&str]) {
    let all = texts.join(" ");
    for text in wanted {
        assert!(all.contains(text), "{text:?} is not in {all}");
    }
}

#[test]
fn speed_and_occupancy_against_block_size_are_one_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let line = "occupancy --kernel copy --ilp 1 --n 4096 --device cpu --runs 1 --against block --plot out.svg,out.png,- --report out.html";
    let said = succeeds(folder.path(), line);
    let title = "Speed, occupancy and time against block: NVIDIA H200, predicted";
    assert!(said.contains(title), "{said}");
    let (texts, marks) = drawn(&at("out.svg"));
    has(
        &texts,
        &[
            title,
            "threads per block",
            "predicted, with the interval of 90 % of the cases",
            "theoretical occupancy, %",
            "W warps, B blocks.",
            "WB",
            // Of its ten sizes.
            "32",
            "1024",
        ],
    );
    // Ten blocks in three plots, and the legend.
    assert_eq!(marks.len(), 31);
    assert!(marks.iter().all(|it| it == "mark hollow"), "{marks:?}");
    assert!(fs::read(at("out.png")).expect("a picture").len() > 10_000);
    assert!(
        fs::read_to_string(at("out.html"))
            .expect("a page")
            .contains(title)
    );
    // Of the rows that it has written the same is drawn, to the last byte.
    succeeds(
        folder.path(),
        "chart occupancy.csv --against block -o again.svg",
    );
    let [first, again] = ["out.svg", "again.svg"].map(|it| fs::read(at(it)).expect("a chart"));
    assert!(
        first == again,
        "the rows of a file are drawn in another way"
    );
}

#[test]
fn theory_alone_is_drawn_for_an_architecture() {
    let folder = tempfile::tempdir().expect("a folder");
    let plot = folder.path().join("theory.svg");
    succeeds(
        folder.path(),
        "occupancy --arch sm_90 --registers 32,64,128 --plot theory.svg",
    );
    let (texts, marks) = drawn(&plot);
    has(
        &texts,
        &[
            "Occupancy against block",
            "nothing was measured",
            "registers 64",
            "registers 128",
            "R registers",
        ],
    );
    assert_eq!(marks.len(), 33);
    assert!(marks.iter().all(|it| it == "mark hollow"), "{marks:?}");
    // Another axis, and several architectures.
    succeeds(
        folder.path(),
        "occupancy --arch sm_80,sm_90 --registers 32,64,96,128 --against registers --plot theory.svg",
    );
    let (texts, marks) = drawn(&plot);
    has(
        &texts,
        &["registers per thread", "arch sm_80", "arch sm_90"],
    );
    assert_eq!(marks.len(), 10);
}

#[test]
fn every_study_is_drawn_against_its_axes() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, wanted) in [
        (
            "roofline --kernel horner --k 10 --n 1024,4096 --runs 1 --device cpu --axis block=32,64 --against block",
            &[
                "predicted, with the interval of 90 % of the cases",
                "n 1024",
                "n 4096",
                "threads per block",
            ][..],
        ),
        (
            "roofline --kernel horner --k 1,10,100 --n 1024 --runs 1 --device cpu --against k",
            &["against k", "time, ms", "predicted"],
        ),
        (
            "norm --n 1024,2048 --rounds 1 --device cpu",
            &["against n", "fused", "graph", "not a GPU's times"],
        ),
        (
            "norm --n 1024,2048 --rounds 1 --device cpu --against mode",
            &["against mode", "n 2048"],
        ),
        (
            "pipeline --rounds 1 --batches 2 --kernel matmul --device cpu",
            &["against mode", "time of all batches"],
        ),
        (
            "dispatch --launches 20 --rounds 1 --device cpu",
            &["against dispatch", "4: a graph"],
        ),
        (
            "collectives --devices cpu:0,cpu:1 --bytes 64,4096 --rounds 1 --collective all-reduce",
            &[
                "against bytes",
                "speed per device, GB/s",
                "measured on this host",
                "not a GPU's times",
            ],
        ),
    ] {
        succeeds(folder.path(), &format!("{line} --plot study.svg"));
        let (texts, marks) = drawn(&folder.path().join("study.svg"));
        has(&texts, wanted);
        assert!(marks.len() >= 4, "{line}: {marks:?}");
    }
}

#[test]
fn an_axis_that_is_none_is_refused_before_anything_is_measured_with_those_that_are() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, wanted) in [
        (
            "occupancy --device cpu --kernel copy --plot x.svg --against tile",
            "--against tile: expected an axis of the study, one of ilp, n, kernel, block, shared, max-registers",
        ),
        (
            "occupancy --device cpu --kernel copy --against block",
            "--against has no effect without --plot or --report",
        ),
        (
            "occupancy --arch sm_90 --plot x.svg --against ilp",
            "one of arch, registers, shared, block",
        ),
        (
            "occupancy --arch sm_90 --plot x.svg --block 64",
            "--against block: the axis has one value, and a chart needs two; give it a list",
        ),
        (
            "roofline --device cpu --kernel horner --plot x.svg --against block",
            "--against block: the axis has one value",
        ),
        (
            "norm --device cpu --plot x.svg --against k",
            "one of n, dtype, mode",
        ),
        (
            "pipeline --device cpu --against mode",
            "--against has no effect without --plot or --report",
        ),
        (
            "power --device cpu --dim 4 --plot x.svg",
            "--plot has no effect without --devices",
        ),
    ] {
        let output = ridgepoint(folder.path(), line);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(wanted), "{line}: {said}");
        assert!(!folder.path().join("x.svg").exists(), "{line}");
    }
}

#[test]
fn a_hierarchical_roofline_has_the_roofs_and_the_points_of_the_caches() {
    let folder = tempfile::tempdir().expect("a folder");
    let ceilings = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/results/h200-ceilings/ceilings.json"
    );
    let line = format!(
        "roofline --kernel matmul,horner --size 128 --k 10 --n 4096 --runs 1 --device cpu --roofs {ceilings} --levels --plot levels.svg"
    );
    succeeds(folder.path(), &line);
    let (texts, marks) = drawn(&folder.path().join("levels.svg"));
    has(
        &texts,
        &[
            "L1 read, measured",
            "L2 read, measured",
            "at the bytes that L2 gives and takes",
            "at the bytes that go through L1",
        ],
    );
    assert!(marks.iter().all(|it| it == "mark hollow"), "{marks:?}");
    // A product's tiles are read from L2 once for each block that needs them.
    let mut reader = csv::Reader::from_path(folder.path().join("roofline.csv")).expect("rows");
    let rows = reader.deserialize::<std::collections::HashMap<String, String>>();
    for row in rows.map(|it| it.expect("a row")) {
        let bytes = |name: &str| -> u64 { row[name].parse().expect("a number") };
        let [memory, l2, l1] = ["counted_bytes", "counted_l2_bytes", "counted_l1_bytes"].map(bytes);
        assert!(memory <= l2 && l2 <= l1, "{row:?}");
        match row["kernel"].as_str() {
            "matmul" => assert!(l2 > memory, "{row:?}"),
            _ => assert_eq!(memory, l1, "{row:?}"),
        }
        // The same intensity everywhere, and the three in columns of their names.
        assert_eq!(row["ai"], row["formula_ai"]);
        assert!(!row["counted_ai"].is_empty() && row["measured_ai"].is_empty());
    }
    let refused = ridgepoint(
        folder.path(),
        "roofline --device cpu --kernel horner --levels",
    );
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("--levels has no effect without --plot or --report"),
        "{said}"
    );
}
