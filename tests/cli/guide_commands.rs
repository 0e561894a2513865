//! Commands of the guides that need no project, as a reader types them: in a folder of their own.

use crate::{guides, support};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::guides::{command, typed};

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs a command of a guide without a GPU, and returns what it printed.
#[track_caller]
fn succeeds(folder: &Path, command: &str) -> String {
    let mut shell = typed(&support::ridgepoint(), folder, command);
    // Ceilings are kept here, and none of the user's are found.
    shell.env("XDG_CACHE_HOME", folder.join("cache"));
    shell.env("CUDA_VISIBLE_DEVICES", "");
    let output = shell.output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {text}{errors}");
    text
}

#[test]
fn the_studies_of_asynchrony_run_and_say_what_they_found() {
    let folder = tempfile::tempdir().expect("a folder");
    for (command, found) in [
        (command("asynchrony.md", "ridgepoint dispatch"), "launch"),
        (command("asynchrony.md", "ridgepoint norm"), "fused"),
        (command("asynchrony.md", "ridgepoint pipeline"), "streamed"),
        (command("asynchrony.md", "ridgepoint power"), "checkpoint"),
    ] {
        let said = succeeds(folder.path(), &command);
        let is_told = said.contains("CPU emulator") && said.contains(found);
        assert!(is_told, "{command}: {said}");
    }
}

#[test]
fn links_are_measured_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = succeeds(folder.path(), &command("measuring.md", "ridgepoint links"));
    assert!(
        said.contains("kernel reads, GB/s") && said.contains("not a GPU's"),
        "{said}"
    );
    assert!(folder.path().join("links.svg").is_file());
}

#[test]
fn what_several_devices_exchange_is_measured() {
    let folder = tempfile::tempdir().expect("a folder");
    for (command, found) in [
        (command("multiple-gpus.md", "ridgepoint links"), "cpu:1"),
        (
            command("multiple-gpus.md", "ridgepoint collectives"),
            "reduce-scatter",
        ),
    ] {
        let said = succeeds(folder.path(), &command);
        assert!(said.contains(found), "{command}: {said}");
    }
}

/// Open MPI, which `setup.sh --tests` installs, starts a process for each of two emulated devices.
#[test]
fn each_process_of_mpirun_is_a_rank() {
    let folder = tempfile::tempdir().expect("a folder");
    succeeds(folder.path(), &command("multiple-gpus.md", "mkdir"));
    let line = command("multiple-gpus.md", "mpirun");
    let mut shell = typed(&support::ridgepoint(), folder.path(), &line);
    shell.env("CUDA_VISIBLE_DEVICES", "");
    // CI is root on a machine of two cores.
    shell.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    shell.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    shell.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{line}: {output:?}");
    let rows = fs::read_to_string(folder.path().join("power.csv")).expect("rows");
    assert!(rows.contains("power,gather,2,measured,strong"), "{rows}");
}

/// A Slurm of this machine alone, which `setup.sh --tests` installs, gives eight tasks a GPU each that CUDA does not find.
#[test]
fn each_task_of_srun_is_a_rank() {
    let folder = tempfile::tempdir().expect("a folder");
    succeeds(folder.path(), &command("multiple-gpus.md", "mkdir"));
    let line = command("multiple-gpus.md", "srun");
    let slurm = tree().join("scripts/gpu/slurm.sh");
    succeeds(folder.path(), &format!("{} {line}", slurm.display()));
    let rows = fs::read_to_string(folder.path().join("power.csv")).expect("rows");
    assert!(rows.contains("power,gather,8,measured,strong"), "{rows}");
}

/// On the emulator the same bytes and operations as `f32` has, predicted under roofs of their own.
#[test]
fn integers_have_a_roofline() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = command(
        "reading-a-roofline.md",
        "ridgepoint roofline --kernel horner",
    );
    let said = succeeds(folder.path(), &line);
    assert!(
        said.contains(
            "i32 roofs of NVIDIA H200, data sheet: memory 4.80 TB/s, multiply-add 33.45 Top/s"
        ),
        "{said}"
    );
    assert!(
        said.contains("op/byte under the multiply-add roof"),
        "{said}"
    );
    assert!(said.contains("Gop/s, limited by integer"), "{said}");
    let rows = fs::File::open(folder.path().join("roofline.csv")).expect("rows");
    let mut rows = csv::Reader::from_reader(rows);
    let rows: Vec<HashMap<String, String>> =
        rows.deserialize().map(|it| it.expect("a row")).collect();
    let of = |dtype: &str, column: &str| {
        let mine = rows.iter().filter(|it| it["dtype"] == dtype);
        mine.map(|it| it[column].clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        of("i32", "ai"),
        ["0.250000", "2.500000", "25.000000", "250.000000"]
    );
    assert_eq!(of("i32", "ai"), of("f32", "ai"));
    assert_eq!(of("i32", "checked"), ["true"; 4]);
    assert_eq!(
        of("i32", "predicted_limit"),
        ["memory", "memory", "integer", "integer"]
    );
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let [integers, floats] = ["i32", "f32"].map(|it| number(&of(it, "predicted_gflops")[3]));
    assert!(
        (1.9..2.1).contains(&(floats / integers)),
        "{floats}, {integers}"
    );
    assert_eq!(of("i32", "counted_flop")[3], (2000 * 65_536).to_string());
    let chart = fs::read_to_string(folder.path().join("integers.svg")).expect("a chart");
    for part in [
        "i32 multiply-add",
        "GFLOP/s or Gop/s",
        "horner i32",
        "op/byte",
    ] {
        assert!(chart.contains(part), "{part}");
    }
}

#[test]
fn speed_and_occupancy_are_drawn_against_block_size_as_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let ceilings = "docs/results/h200-ceilings/ceilings.json";
    let copy = folder.path().join(ceilings);
    fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
    fs::copy(tree().join(ceilings), copy).expect("copied");
    for (command, chart, found) in [
        (
            command(
                "speed-against-block-size.md",
                "ridgepoint occupancy --kernel",
            ),
            "out.svg",
            "against block: NVIDIA H200, predicted",
        ),
        (
            command("speed-against-block-size.md", "ridgepoint occupancy --arch"),
            "theory.svg",
            "registers 128",
        ),
        (
            command("speed-against-block-size.md", "ridgepoint roofline"),
            "levels.svg",
            "L1 read, measured",
        ),
    ] {
        succeeds(folder.path(), &command);
        let drawn = fs::read_to_string(folder.path().join(chart)).expect("a chart");
        // A title may go on in a second line.
        let is_there = found.split(' ').all(|word| drawn.contains(word));
        assert!(is_there, "{command}: {drawn}");
    }
}

/// Runs a page's command on files of `docs/results`, in a folder with nothing else: it draws the chart that the page shows.
fn draws(page: &str, command: &str, from: &[&str], chart: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    for file in from.iter().chain([&chart]) {
        let copy = folder.path().join(file);
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder");
        if *file != chart {
            fs::copy(tree().join(file), copy).expect("copied");
        }
    }
    succeeds(folder.path(), command);
    let drawn = fs::read_to_string(folder.path().join(chart)).expect("a chart");
    let shown = fs::read_to_string(tree().join(chart)).expect("a chart");
    assert!(
        drawn == shown,
        "run the command of docs/{page}: the page shows another chart"
    );
}

#[test]
fn the_charts_of_the_pages_are_those_that_their_commands_draw() {
    draws(
        "gallery.md",
        &command("gallery.md", "ridgepoint chart"),
        &[
            "docs/results/h200-roofline/roofline.csv",
            "docs/results/h200-ceilings/ceilings.json",
        ],
        "docs/results/h200-roofline/roofline.svg",
    );
    draws(
        "speed-against-block-size.md",
        &command("speed-against-block-size.md", "ridgepoint chart"),
        &["docs/results/h200-little/occupancy.csv"],
        "docs/results/h200-little/block.svg",
    );
    draws(
        "multiple-gpus.md",
        &command("multiple-gpus.md", "ridgepoint chart"),
        &["docs/results/h100-x2/power-8192-1.csv"],
        "docs/results/h100-x2/scaling.svg",
    );
}

#[test]
fn the_charts_of_the_lesson_are_those_that_its_script_draws() {
    let folder = tempfile::tempdir().expect("a folder");
    let from = "docs/results/h200-roofline/roofline.csv docs/results/h200-ceilings/ceilings.json";
    let script = format!(
        "scripts/figures/lesson.sh {from} {}",
        folder.path().display()
    );
    let mut shell = typed(&support::ridgepoint(), tree(), &script);
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let drawn = fs::read_dir(folder.path()).expect("charts");
    let drawn: Vec<_> = drawn.map(|it| it.expect("an entry").path()).collect();
    assert_eq!(drawn.len(), 5);
    for chart in drawn {
        let name = chart.file_name().expect("a name");
        let shown = fs::read(tree().join("docs/lesson").join(name)).expect("a chart");
        let is_shown = fs::read(&chart).expect("a chart") == shown;
        assert!(
            is_shown,
            "run {script:?} with docs/lesson: {name:?} is another"
        );
    }
}

/// The script of the guide's array job, as Slurm's jobs run it. Without a GPU its command is refused word for word, and
/// the emulator takes the GPU's place.
#[test]
fn rows_of_several_jobs_are_merged() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = command("measuring.md", "ridgepoint roofline --device cuda");
    let blocks = guides::blocks("measuring.md", "sh");
    let script = blocks.iter().find(|it| it.starts_with("#!/bin/bash\n"));
    let script = script.expect("a script for Slurm");
    assert!(script.contains("\n#SBATCH --array=0-7 "), "{script}");
    assert!(script.ends_with(&format!("\n{sweep}\n")), "{script}");
    let job = |number: &str, script: &str| {
        let mut shell = typed(&support::ridgepoint(), folder.path(), script);
        shell.env("SLURM_ARRAY_TASK_ID", number);
        shell.env("XDG_CACHE_HOME", folder.path().join("cache"));
        shell.env("CUDA_VISIBLE_DEVICES", "");
        shell.output().expect("a shell")
    };
    let refused = job("0", script);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    for number in ["0", "1"] {
        let output = job(number, &script.replace("--device cuda", "--device cpu"));
        assert!(output.status.success(), "{output:?}");
    }
    succeeds(folder.path(), &command("measuring.md", "ridgepoint merge"));
    let rows = |file: &str| {
        let rows = fs::read_to_string(folder.path().join(file)).expect("rows");
        rows.lines().skip(1).count()
    };
    assert!(rows("rows-0.csv") > 1);
    assert_eq!(rows("rows.csv"), rows("rows-0.csv") + rows("rows-1.csv"));
}

/// nvcc without a CUDA toolkit: `setup.sh --tests` has its parts from PyPI.
#[test]
fn nvcc_makes_the_ptx_that_is_in_the_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = tree().join("examples/benches");
    let copied = fs::copy(examples.join("nvcc.cu"), folder.path().join("nvcc.cu"));
    copied.expect("copied");
    let nvcc = tree().join(".venv/cuda/bin/nvcc");
    assert!(
        nvcc.is_file(),
        "nvcc in .venv: ./setup.sh --tests brings it"
    );
    let line = command("porting-a-cuda-kernel.md", "nvcc");
    let mut shell = typed(&nvcc, folder.path(), &line);
    let output = shell.output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let [made, kept] =
        [folder.path(), &examples].map(|it| fs::read_to_string(it.join("nvcc.ptx")).expect("PTX"));
    assert!(made == kept, "{line}: the tree has other PTX:\n{made}");
}

#[test]
fn embedded_kernels_are_checked_and_tools_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = succeeds(
        folder.path(),
        &command("testing-kernels.md", "ridgepoint check --workload"),
    );
    assert!(said.contains("nothing was found"), "{said}");
    let said = succeeds(
        folder.path(),
        &command("installing.md", "ridgepoint doctor"),
    );
    assert!(said.contains("ptxas"), "{said}");
}

mod slow {
    use super::*;

    /// Tasks that see one GPU, steps of one job, scripts without srun, mpirun in a job, a killed task.
    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn ranks_are_well_under_slurm() {
        let folder = tempfile::tempdir().expect("a folder");
        let checks = tree().join("scripts/gpu/slurm-run.sh");
        let said = succeeds(folder.path(), &format!("{} results", checks.display()));
        assert!(said.ends_with("25 checks, 0 failed\n"), "{said}");
    }

    /// Sizes of a GPU: half a minute of the emulator's time.
    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn several_devices_are_compared_with_one() {
        let folder = tempfile::tempdir().expect("a folder");
        for (command, chart) in [
            (
                command("multiple-gpus.md", "ridgepoint power --devices"),
                "power.svg",
            ),
            (
                command("multiple-gpus.md", "ridgepoint norm --devices"),
                "norm.svg",
            ),
        ] {
            let said = succeeds(folder.path(), &command);
            assert!(said.contains("peer"), "{command}: {said}");
            let chart = fs::read_to_string(folder.path().join(chart)).expect("a chart");
            assert!(chart.contains("ideal scaling"), "{chart}");
        }
    }

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn the_lesson_is_measured_and_drawn() {
        let folder = tempfile::tempdir().expect("a folder");
        succeeds(
            folder.path(),
            &command("reading-a-roofline.md", "ridgepoint ceilings"),
        );
        succeeds(
            folder.path(),
            &command("reading-a-roofline.md", "ridgepoint roofline --kernel all"),
        );
        fs::create_dir_all(folder.path().join("scripts/figures")).expect("a folder");
        fs::copy(
            tree().join("scripts/figures/lesson.sh"),
            folder.path().join("scripts/figures/lesson.sh"),
        )
        .expect("copied");
        succeeds(
            folder.path(),
            &command("reading-a-roofline.md", "scripts/figures/lesson.sh"),
        );
        let charts = fs::read_dir(folder.path().join("docs/lesson")).expect("charts");
        let charts: Vec<String> = charts
            .map(|it| fs::read_to_string(it.expect("an entry").path()).expect("a chart"))
            .collect();
        assert_eq!(charts.len(), 5);
        assert!(charts.iter().all(|it| it.starts_with("<svg")));
    }
}
