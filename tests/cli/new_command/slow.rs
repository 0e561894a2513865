//! Tests that build for `cargo bench`: the kernel of a new package and the guide's stencil, measured, checked and compared.

mod properties;

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Output};

use super::{
    as_its_user, cargo, follow, new, read, run_cargo, stderr, stdout_of_success, target, tree,
};
use crate::guides::{command, shows, typed};
use crate::support;
use std::fs;

/// `cargo bench -- ..`, split at spaces.
fn words(line: &str) -> Vec<&str> {
    let own = line.split(' ').filter(|word| !word.is_empty());
    ["bench", "--"].into_iter().chain(own).collect()
}

fn bench(package: &Path, line: &str) -> Output {
    run_cargo(package, &words(line))
}

/// Returns what `cargo bench -- ..` shows in a terminal: both of its streams, as they come, and its exit status.
fn shown(package: &Path, line: &str) -> (String, Option<i32>) {
    let (mut reader, writer) = io::pipe().expect("a pipe");
    let mut command = as_its_user(package, &words(line));
    command
        .stdout(writer.try_clone().expect("the same pipe"))
        .stderr(writer);
    let mut child = command.spawn().expect("cargo starts");
    // With it go the pipe's ends of this process.
    drop(command);
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("text");
    (text, child.wait().expect("it ends").code())
}

/// The emulator takes the place of a GPU, whose times are shown by scripts/gpu/workloads-run.sh.
#[test]
#[ignore = "slow: .ci/full runs it"]
fn the_kernel_of_a_new_package_is_measured_checked_and_compared() {
    let (_only, folder) = (support::only_demo(), support::folder_for_packages());
    let guide = "measuring-your-kernel.md";
    follow(
        folder.path(),
        guide,
        &command("measuring-your-kernel.md", "ridgepoint new"),
    );
    let package = folder.path().join("demo");
    let succeeds = |line: &str| stdout_of_success(&bench(&package, line));

    let listed = succeeds("list");
    assert!(
        listed.contains("scale") && listed.contains("2^20,2^26") && listed.contains("each"),
        "{listed}"
    );
    // With --workspace cargo would look at this tree too.
    let lint = "clippy --all-targets -p demo -p demo-kernels -p demo-benches -- -D warnings";
    cargo(&package, &lint.split(' ').collect::<Vec<_>>());
    the_readme_shows_the_chart_that_its_command_draws(&package);
    // The samples of the page, whose commands these are.
    let shown = |line: &str, status: i32| {
        let (text, ended) = shown(&package, line);
        assert_eq!(ended, Some(status), "{line}: {text}");
        text
    };
    let of_bench = |command: String| command.replace("cargo bench -- ", "");
    let line = of_bench(command(
        "measuring-your-kernel.md",
        "cargo bench -- roofline",
    ));
    let said = shown(&line, 0);
    shows("measuring-your-kernel.md", "f32 roofs of", &said);
    let rows = read(package.join("roofline.csv"));
    let (header, rows) = rows.split_once('\n').expect("a header");
    assert!(header.starts_with("n,ai,gflops,bandwidth,percent_peak,kernel,dtype,each,block,"));
    // Two sizes, and one or four elements per thread.
    assert_eq!(rows.lines().count(), 4);
    for each in [1, 4] {
        let of = format!(",scale,f32,{each},256,");
        assert_eq!(rows.matches(&of).count(), 2, "{each}: {rows}");
    }
    assert!(rows.lines().all(|row| row.contains(",true,")), "{rows}");
    // Under the roofs they are one curve; their predicted times are apart.
    let chart = read(package.join("roofline.svg"));
    assert!(chart.contains("scale f32, each 1") && chart.contains("scale f32, each 4"));

    let line = command(
        "../host/src/cli/new/template/README.md",
        "cargo bench -- occupancy",
    );
    let said = shown(&of_bench(line), 0);
    shows("measuring-your-kernel.md", "scale n = ", &said);
    let rows = read(package.join("occupancy.csv"));
    for block in [64, 128, 256, 512, 1024] {
        assert!(rows.contains(&format!(",{block},0,")), "{block}: {rows}");
    }
    let line = command("speed-against-block-size.md", "cargo bench -- occupancy");
    succeeds(&of_bench(line));
    let speed = read(package.join("speed.svg"));
    assert!(
        speed.contains("against block") && speed.contains("threads per block"),
        "{speed}"
    );
    let line = command(
        "../host/src/cli/new/template/README.md",
        "cargo bench -- kernels",
    );
    let said = succeeds(&of_bench(line));
    shows("measuring-your-kernel.md", "┌────────┬───────┬", &said);
    let missing = bench(&package, "compare --device cpu:sm_90 --baseline no.csv");
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
    let unknown = bench(&package, "roofline --axis m=3");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("the axes are n, each, block, grid, cache"));

    let first = follow(
        &package,
        guide,
        &command("measuring-your-kernel.md", "cargo bench"),
    );
    assert!(first.contains("scale f32, each 4, n 65536"), "{first}");
    shows("measuring-your-kernel.md", "CPU emulator (", &first);
    assert!(succeeds("scale --n 4096").contains("scale f32, each 1, n 4096"));
    succeeds("");
    compares_word_for_word(&package);
    // Another process may keep the cores busy.
    succeeds("compare --tolerance 1000%");
    let source = package.join("kernels/src/lib.rs");
    let good = read(source.clone());
    // Work whose result is used, and no FLOP: compilers leave out the one, and the other is counted.
    let slow = "let rounds = (0..4_000).fold(x.to_bits(), |s, i| (s ^ i).wrapping_mul(747_796_405)); \
        *y = if rounds == 1 { 0.0 } else { a * x };";
    fs::write(&source, good.replace("*y = a * x;", slow)).expect("writable");
    let slower = bench(&package, "compare --tolerance 1000%");
    assert_eq!(slower.status.code(), Some(1), "{}", stderr(&slower));
    assert!(stderr(&slower).contains("4 rows are slower by more than noise and tolerance"));
    the_earlier_commit_is_built_and_the_slow_kernel_found(&package, &source, &good);

    fs::write(&source, &good).expect("writable");
    let line = command("testing-kernels.md", "cargo bench -- check");
    let said = shown(&of_bench(line), 0);
    shows("measuring-your-kernel.md", "Checked demo (", &said);
    let line = command("coverage.md", "cargo bench -- check");
    let said = shown(&of_bench(line), 0);
    assert!(said.contains("Coverage: lcov.info\n"), "{said}");
    let clean = succeeds("check --n 1,33,1000");
    assert!(
        clean.contains("launches of 1 kernel; nothing was found")
            && clean.contains("4 seeds: scale"),
        "{clean}"
    );
    let line = command("profiling-a-kernel.md", "cargo bench -- profile");
    let profile = succeeds(&of_bench(line));
    assert!(
        profile.contains("1,024: multiply f32 1,024") && profile.contains("kernels/src/lib.rs:"),
        "{profile}"
    );
    fs::write(&source, good.replace("*y = a * x;", "*y = a * x + 1.0;")).expect("writable");
    let wrong = bench(&package, "check --n 33");
    assert_eq!(wrong.status.code(), Some(1), "{}", stderr(&wrong));
    let said = String::from_utf8_lossy(&wrong.stdout).into_owned();
    assert!(said.contains("element 0 is 4.75e0"), "{said}");
    let told = stderr(&wrong);
    shows("measuring-your-kernel.md", "error: the check has", &told);
    let said = shown("roofline --n 4096", 3);
    shows("measuring-your-kernel.md", "error: scale each", &said);
}

/// `source` has the slow kernel.
fn the_earlier_commit_is_built_and_the_slow_kernel_found(
    package: &Path,
    source: &Path,
    good: &str,
) {
    let commit = |message: &str| {
        for words in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "--quiet",
                "--message",
                message,
            ],
        ] {
            let git = Command::new("git")
                .args(words)
                .current_dir(package)
                .status();
            assert!(git.expect("git").success(), "{words:?}");
        }
    };
    let slow = read(source.to_owned());
    fs::write(source, good).expect("writable");
    commit("A kernel");
    fs::write(source, slow).expect("writable");
    commit("A slow kernel");
    let against = |commit: &str| {
        let line = format!("compare --against {commit} --turns 1 -- roofline --n 4096 --each 1");
        let output = bench(package, &line);
        (stdout(&output), output.status.code(), stderr(&output))
    };
    let (said, status, errors) = against("HEAD~1");
    assert_eq!(status, Some(1), "{said}{errors}");
    assert!(
        said.contains("1 row: 0 as fast as before, 0 faster, 1 slower"),
        "{said}"
    );
    assert!(said.contains("instructions"), "{said}");
    let (said, status, errors) = against("HEAD");
    assert_eq!(status, Some(0), "{said}{errors}");
    assert!(said.contains("1 row: 1 as fast as before"), "{said}");
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `cargo bench -- compare`, whose status is what the host's noise makes it: 0, or 1 where a row is slower or none can be judged. The sentence
/// about the rows, and the table of those that changed, agree with it.
fn compares_word_for_word(package: &Path) {
    let line = command(
        "../host/src/cli/new/template/README.md",
        "cargo bench -- compare",
    );
    let mut shell = typed(&support::ridgepoint(), package, &line);
    let output = shell.env("CARGO_TARGET_DIR", target()).output();
    let output = output.expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary = said.lines().find(|it| it.starts_with("4 rows: "));
    let summary = summary.unwrap_or_else(|| panic!("{said}{}", stderr(&output)));
    let counts = summary.split([' ', ',']).filter_map(|it| it.parse().ok());
    let counts: Vec<usize> = counts.collect();
    let [4, same, faster, slower, ref unknown @ ..] = counts[..] else {
        panic!("{summary}");
    };
    let unknown: usize = unknown.iter().sum();
    assert_eq!(same + faster + slower + unknown, 4, "{summary}");
    assert_eq!(said.matches(" slower ").count(), slower, "{said}");
    let status = i32::from(slower > 0 || unknown == 4);
    assert_eq!(output.status.code(), Some(status), "{said}");
}

/// The command word for word; `new` writes no chart, because nothing is measured by then.
fn the_readme_shows_the_chart_that_its_command_draws(package: &Path) {
    let readme = read(package.join("README.md"));
    let (_, image) = readme.split_once("](").expect("an image");
    let (image, _) = image.split_once(')').expect("an image's path");
    assert!(
        readme.contains("![") && !package.join(image).exists(),
        "{readme}"
    );
    let mut lines = readme.lines();
    let command = lines.find_map(|line| line.strip_prefix("cargo bench -- roofline "));
    let command = command.expect("it names the command");
    stdout_of_success(&bench(package, &format!("roofline {command}")));
    assert!(read(package.join(image)).starts_with("<svg"), "{image}");
}

/// The lines between ```` ```rust,ignore ```` and its end, of each such block of a guide.
fn rust_blocks(guide: &str) -> Vec<String> {
    let blocks = guide.split("```rust,ignore\n").skip(1);
    let ends = blocks.map(|block| block.split_once("```\n").expect("an end").0.to_owned());
    ends.collect()
}

/// `cargo bench -- ..` of the headings of a guide, each what stands behind the `--`.
fn commands(guide: &str) -> Vec<&str> {
    let headings = guide
        .lines()
        .filter_map(|line| line.strip_prefix("### `cargo bench -- "));
    headings
        .map(|heading| heading.trim_end_matches('`'))
        .collect()
}

/// docs/adding-a-workload.md, word for word: its stencil in a new package, in at most 30 lines, and its commands.
#[test]
#[ignore = "slow: .ci/full runs it"]
fn the_stencil_of_the_guide_is_added_in_thirty_lines_measured_and_checked() {
    let guide = read(tree().join("docs/adding-a-workload.md"));
    let [kernel, workload]: [String; 2] = rust_blocks(&guide).try_into().expect("two blocks");
    let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines(&workload) <= 30, "{} lines", lines(&workload));
    // From a function's first line to its last.
    let length = |file: &str, first: &str, last: &str| {
        let text = read(tree().join(file));
        let (_, text) = text.split_once(first).expect("the function");
        lines(text.split_once(last).expect("its end").0) + 1
    };
    let from_fn = "crates/harness/src/workload/from_fn.rs";
    let template = "host/src/cli/new/template/benches/kernels.rs";
    let one = length(from_fn, "/// fn negated()", "/// }\n");
    let two = length(template, "fn scaling()", "\n}\n");
    let said = format!("has {one}, and `scale` of a new package, with two axes, {two}.");
    assert!(guide.contains(&said), "{said}");
    let (_, own) = workload
        .split_once("\n\n")
        .expect("what it uses comes first");
    assert!(read(tree().join("examples/benches/workloads.rs")).contains(own));
    assert!(read(tree().join("examples/kernels/src/stencil.rs")).ends_with(&kernel));

    let folder = support::folder_for_packages();
    stdout_of_success(&new(folder.path(), &["stencil-demo"]));
    let package = folder.path().join("stencil-demo");
    let kernels = package.join("kernels/src/lib.rs");
    let with_module = read(kernels.clone()).replace(
        "use cuda_std::prelude::*;\n",
        "use cuda_std::prelude::*;\n\npub mod stencil;\n",
    );
    fs::write(kernels, with_module).expect("writable");
    let source = package.join("kernels/src/stencil.rs");
    fs::write(&source, &kernel).expect("writable");
    let benches = package.join("benches/kernels.rs");
    let main = "ridgepoint::main!(stencil_demo::ptx(); scaling());";
    let with_stencil = main.replace("scaling()", "scaling(), stencil()");
    let with_stencil = format!("{workload}\n{with_stencil}");
    let with_stencil = read(benches.clone()).replace(main, &with_stencil);
    fs::write(benches, with_stencil).expect("writable");
    cargo(
        &package,
        &[
            "fmt",
            "--check",
            "-p",
            "stencil-demo",
            "-p",
            "stencil-demo-kernels",
        ],
    );

    let commands = commands(&guide);
    let [roofline, occupancy, check]: [&str; 3] = commands.try_into().expect("three commands");
    let drawn = stdout_of_success(&bench(&package, roofline));
    assert!(
        drawn.contains("AI =    0.625 FLOP/byte  stencil f32, tile 8")
            && drawn.contains("FLOP/byte: counted 0.606"),
        "{drawn}"
    );
    let rows = read(package.join("stencil.csv"));
    assert_eq!(rows.matches(",stencil,f32,").count(), 2, "{rows}");
    assert_eq!(rows.matches(",stencil,f64,").count(), 2, "{rows}");
    assert!(
        rows.lines().skip(1).all(|row| row.contains(",true,")),
        "{rows}"
    );
    let chart = read(package.join("stencil.svg"));
    assert!(chart.contains("stencil f64, tile 8") && chart.contains("stencil f64, tile 16"));
    // Whatever the host's memory and arithmetic do meanwhile.
    let studied = stdout_of_success(&bench(&package, occupancy));
    assert!(
        studied.contains("GB/s") && !studied.contains("GFLOP/s"),
        "{studied}"
    );
    let rows = read(package.join("stencil-occ.csv"));
    for block in [64, 256, 1024] {
        assert!(rows.contains(&format!(",{block},0,")), "{block}: {rows}");
    }
    let clean = stdout_of_success(&bench(&package, check));
    assert!(
        clean.contains("3 launches of 1 kernel; nothing was found"),
        "{clean}"
    );
    nvccs_kernels_are_measured_and_checked_beside_rusts(&package);
    // One row too many, as the guide has it.
    fs::write(&source, kernel.replace("row + 1 >= n", "row + 1 > n")).expect("writable");
    let wrong = bench(&package, check);
    assert_eq!(wrong.status.code(), Some(1), "{}", stderr(&wrong));
    let said = String::from_utf8_lossy(&wrong.stdout).into_owned();
    let place = "reads element 10001 of `x` (of 10000) at kernels/src/stencil.rs:";
    assert!(
        said.contains("stencil_f32: out of bounds: ") && said.contains(place),
        "{said}"
    );
}

/// docs/porting-a-cuda-kernel.md: its bench, examples/benches/workloads.rs, in a package with its kernels.
fn nvccs_kernels_are_measured_and_checked_beside_rusts(package: &Path) {
    let examples = tree().join("examples");
    let kernels = package.join("kernels/src/lib.rs");
    let modules = "pub mod horner;\npub mod saxpy;\npub mod stencil;\n";
    let all = read(kernels.clone()).replace("pub mod stencil;\n", modules);
    fs::write(kernels, all).expect("writable");
    for file in [
        "kernels/src/horner.rs",
        "kernels/src/saxpy.rs",
        "benches/nvcc.ptx",
    ] {
        fs::copy(examples.join(file), package.join(file)).expect("copied");
    }
    let benches = read(examples.join("benches/workloads.rs"));
    let benches = benches.replace("example_kernels::", "kernels::");
    let benches = benches.replace("examples::ptx()", "stencil_demo::ptx()");
    fs::write(package.join("benches/kernels.rs"), benches).expect("writable");
    let guide = "porting-a-cuda-kernel.md";
    let line = command("porting-a-cuda-kernel.md", "cargo bench -- roofline");
    follow(package, guide, &line);
    let rows = read(package.join("horner.csv"));
    for kernel in [",horner,f32,", ",nvcc-horner,f32,"] {
        assert!(rows.contains(kernel), "{kernel}: {rows}");
    }
    assert!(read(package.join("horner.svg")).contains("nvcc-horner"));
    let line = command("porting-a-cuda-kernel.md", "cargo bench -- check");
    let said = follow(package, guide, &line);
    assert!(said.contains("nothing was found"), "{said}");
}
