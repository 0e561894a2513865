//! `--coverage` and `--fail-under`: the files that they write of programs whose lines, branches and processes are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::emulate_command::{folder, run};
use crate::guides::command;
use crate::support;

/// A kernel that no program launches, in the file of the one that is launched.
const IDLE: &str = "
.visible .entry idle()
{
	.loc	1 7 0
	ret;
}
";

/// A file of a tracefile, as its records have it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Traced {
    functions: BTreeMap<String, (u32, u64)>,
    lines: BTreeMap<u32, u64>,
    /// By line, branch and outcome.
    branches: BTreeMap<(u32, u32, u32), Option<u64>>,
}

/// Reads a tracefile of lcov: each record in its place, each sum right, and nothing else.
fn read(text: &str) -> BTreeMap<String, Traced> {
    let mut files = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while lines.peek().is_some() {
        assert_eq!(lines.next(), Some("TN:"), "{text}");
        let name = lines.next().and_then(|it| it.strip_prefix("SF:"));
        let mut file = Traced::default();
        let mut sums = BTreeMap::new();
        for line in lines.by_ref().take_while(|it| *it != "end_of_record") {
            let (key, value) = line.split_once(':').expect("a record");
            let words: Vec<&str> = value.split(',').collect();
            let number = |at: usize| words[at].parse::<u64>().expect("a number");
            match (key, words.len()) {
                ("FN", 2) => {
                    let begun = (number(0) as u32, u64::MAX);
                    let before = file.functions.insert(words[1].to_owned(), begun);
                    assert_eq!(before, None, "{line}");
                }
                ("FNDA", 2) => file.functions.get_mut(words[1]).expect("named").1 = number(0),
                ("DA", 2) => {
                    let before = file.lines.insert(number(0) as u32, number(1));
                    assert_eq!(before, None, "{line}");
                }
                ("BRDA", 4) => {
                    let id = [0, 1, 2].map(|at| number(at) as u32).into();
                    let taken = (words[3] != "-").then(|| number(3));
                    assert_eq!(file.branches.insert(id, taken), None, "{line}");
                }
                ("FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH", 1) => {
                    sums.insert(key.to_owned(), number(0));
                }
                _ => panic!("no record of lcov's: {line}"),
            }
        }
        let hit = |counts: Vec<u64>| counts.into_iter().filter(|&it| it > 0).count() as u64;
        let counts = file.functions.values().map(|it| it.1).collect();
        let (functions, branches) = (file.functions.len(), file.branches.len());
        let taken = file.branches.values().flatten().copied().collect();
        let expected = [
            ("FNF", functions as u64),
            ("FNH", hit(counts)),
            ("BRF", branches as u64),
            ("BRH", hit(taken)),
            ("LF", file.lines.len() as u64),
            ("LH", hit(file.lines.values().copied().collect())),
        ];
        let expected = expected.map(|(key, sum)| (key.to_owned(), sum));
        assert_eq!(sums, expected.into(), "{text}");
        let before = files.insert(name.expect("a file").to_owned(), file);
        assert_eq!(before, None, "{text}");
    }
    files
}

/// 4 blocks of 256 threads, of which `if (i < n)` keeps 1000: the last warp of these parts.
#[test]
fn each_line_branch_and_function_of_a_known_kernel_has_its_exact_count() {
    let folder = folder();
    let line = "ridgepoint emulate --coverage c.info,c.json,c.html,c.xml ./saxpy 1000";
    let (output, errors) = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let said = "Coverage: c.info, c.json, c.html, c.xml
  lines     100.0 % (4 of 4)
  branches  100.0 % (2 of 2)
  functions 100.0 % (1 of 1)
";
    assert!(errors.contains(said), "{errors}");
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    let expected = Traced {
        functions: [("saxpy".to_owned(), (1, 1024))].into(),
        lines: [(1, 1024), (2, 1024), (3, 1024), (4, 1024)].into(),
        branches: [((3, 0, 0), Some(24)), ((3, 0, 1), Some(1000))].into(),
    };
    let traced = read(&text("c.info"));
    assert_eq!(traced, [("saxpy.cu".to_owned(), expected)].into());
    let json: serde_json::Value = serde_json::from_str(&text("c.json")).expect("JSON");
    let kernel = &json["kernels"]["saxpy"];
    assert_eq!(kernel["launches"], 1);
    let branch = &kernel["files"]["saxpy.cu"]["branches"][0];
    assert_eq!(branch["outcomes"], serde_json::json!([24, 1000]));
    assert_eq!(branch["divergent"], 1);
    assert!(text("c.html").contains("taken 24, not taken 1,000; 1 warp parted"));
    let xml = text("c.xml");
    let line =
        "<line number=\"3\" hits=\"1024\" branch=\"true\" condition-coverage=\"100% (2/2)\"/>";
    assert!(xml.contains(line), "{xml}");
}

#[test]
fn processes_seeds_and_threads_without_checks_add_up() {
    let folder = folder();
    let processes = "sh -c './saxpy 1000 && ./saxpy'";
    for (options, times) in [("", 1), ("--seeds 2", 3), ("--no-check", 1)] {
        let line = format!("ridgepoint emulate {options} --coverage c.info {processes}");
        let (output, errors) = run(folder.path(), &line);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let text = fs::read_to_string(folder.path().join("c.info")).expect("written");
        let traced = &read(&text)["saxpy.cu"];
        assert_eq!(traced.lines[&3], times * 2048, "{options}");
        assert_eq!(traced.branches[&(3, 0, 0)], Some(times * 24), "{options}");
        assert_eq!(traced.branches[&(3, 0, 1)], Some(times * 2024), "{options}");
    }
}

/// The code that a launch has executed until its finding counts.
#[test]
fn a_launch_that_fails_and_a_branch_that_is_never_taken_are_seen() {
    let folder = folder();
    let (output, errors) = run(
        folder.path(),
        "ridgepoint emulate --coverage c.info ./saxpy 1280",
    );
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let text = fs::read_to_string(folder.path().join("c.info")).expect("written");
    let traced = &read(&text)["saxpy.cu"];
    assert_eq!(traced.branches[&(3, 0, 0)], Some(0));
    assert!(traced.lines[&3] >= 1024, "{text}");
}

#[test]
fn too_little_coverage_is_status_1_with_the_figure_and_what_is_missing() {
    let folder = folder();
    let ptx = folder.path().join("saxpy.ptx");
    let text = fs::read_to_string(&ptx).expect("nvcc's kernel");
    let (before, files) = text.split_at(text.find("\t.file").expect("a file"));
    fs::write(&ptx, format!("{before}{IDLE}{files}")).expect("writable");
    for (least, status) in [("80", 0), ("80.1", 1), ("100", 1)] {
        let line = format!("ridgepoint emulate --coverage c.info --fail-under {least} ./saxpy");
        let (output, errors) = run(folder.path(), &line);
        assert_eq!(output.status.code(), Some(status), "{errors}");
        assert!(errors.contains("lines      80.0 % (4 of 5)"), "{errors}");
        assert!(errors.contains("  not launched: idle\n"), "{errors}");
        let why = format!(
            "80.0 % of the lines of kernels were executed (4 of 5), and --fail-under asks for {least} %; not executed: \
             saxpy.cu:7"
        );
        assert_eq!(errors.contains(&why), status == 1, "{errors}");
    }
    let text = fs::read_to_string(folder.path().join("c.info")).expect("written");
    let traced = &read(&text)["saxpy.cu"];
    assert_eq!(traced.functions["idle"], (7, 0));
    assert_eq!(traced.lines[&7], 0);
}

#[test]
fn coverage_of_nothing_is_an_error_and_no_file() {
    let folder = folder();
    for line in [
        "ridgepoint emulate --coverage c.info true",
        "ridgepoint emulate --program-status --coverage c.info true",
    ] {
        let (output, errors) = run(folder.path(), line);
        assert_eq!(output.status.code(), Some(3), "{errors}");
    }
    let ptx = folder.path().join("saxpy.ptx");
    let text = fs::read_to_string(&ptx).expect("nvcc's kernel");
    let library = text.replace("saxpy.cu", "/usr/local/cuda/include/saxpy.h");
    fs::write(&ptx, library).expect("writable");
    let line = "ridgepoint emulate --coverage c.info --fail-under 80 ./saxpy";
    let (output, errors) = run(folder.path(), line);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    assert!(errors.contains("are a library's"), "{errors}");
    assert!(!folder.path().join("c.info").exists());
    for wrong in [
        "--coverage c.txt true",
        "--coverage - true",
        "--fail-under 80 true",
        "--coverage c.info --fail-under 101 true",
        "--coverage c.info,c.info true",
    ] {
        let (output, errors) = run(folder.path(), &format!("ridgepoint emulate {wrong}"));
        assert_eq!(output.status.code(), Some(2), "{wrong}: {errors}");
    }
}

/// A kernel that names no source has the lines of its PTX, which lies beside the file that refers to it.
#[test]
fn a_kernel_without_lines_has_those_of_its_ptx() {
    let folder = folder();
    let ptx = folder.path().join("saxpy.ptx");
    let text = fs::read_to_string(&ptx).expect("nvcc's kernel");
    let without: Vec<&str> = text.lines().filter(|it| !it.contains(".loc")).collect();
    fs::write(&ptx, without.join("\n")).expect("writable");
    let (output, errors) = run(
        folder.path(),
        "ridgepoint emulate --coverage c.info ./saxpy 1000",
    );
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let traced = fs::read_to_string(folder.path().join("c.info")).expect("written");
    let traced = read(&traced);
    let (name, traced) = traced.first_key_value().expect("a file");
    let own = fs::read_to_string(folder.path().join(name)).expect("the PTX is beside it");
    assert_eq!(own, without.join("\n"));
    let line = |number: u32| own.lines().nth(number as usize - 1).unwrap_or_default();
    for (&number, &times) in &traced.lines {
        // Behind the branch are those of the threads that stay.
        let is_behind = line(number).contains("global");
        assert_eq!(
            times,
            if is_behind { 1000 } else { times },
            "{}",
            line(number)
        );
    }
    let branch = traced.branches.keys().next().expect("a branch");
    assert!(line(branch.0).contains("@%p1 bra"), "{}", line(branch.0));
}

#[test]
fn the_commands_of_the_page_write_coverage_of_embedded_kernels_and_of_programs() {
    let folder = folder();
    let (output, errors) = run(folder.path(), &command("coverage.md", "ridgepoint emulate"));
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert!(folder.path().join("coverage.xml").exists());
    let tree = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workload = folder.path().join("workload.info");
    let output = Command::new(support::ridgepoint())
        .args([
            "check",
            "--workload",
            "dot_f32",
            "--n",
            "1000",
            "--seeds",
            "1",
        ])
        .arg("--coverage")
        .arg(&workload)
        .current_dir(tree)
        .output()
        .expect("the command is there");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("Coverage: "), "{said}");
    let traced = read(&fs::read_to_string(&workload).expect("written"));
    let is_launched = |it: &Traced| it.functions.get("dot_f32").is_some_and(|it| it.1 > 0);
    assert!(traced.values().any(is_launched), "{said}");
}
