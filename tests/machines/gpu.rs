//! Tests that only a GPU can pass: its facts, its refusals, and the command line on it.

use crate::support;
use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use gpu_test::{Failed, Trial, on_gpu};
use kernels_gpu::ceilings::chains::{FmaF32, Measured, Operation};
use kernels_gpu::polynomial::{Element, Form};
use ridgepoint::driver::{Counters, Device, DeviceChoice, DriverError, LaunchConfig, Stream};
use ridgepoint::kernels::{bench, embedded_ptx};
use ridgepoint::measure::Monitor;
use ridgepoint::model::{Precision, Roofs};
use ridgepoint::sweep::{Origin, Plan, Selection, Settings, Sweep};
use ridgepoint::workload::{Axis, Case, Point, PointError, Workload};
use serde_json::Value;

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("facts_are_plausible", facts_are_plausible),
        trial(
            "refused_ptx_shows_the_drivers_log",
            refused_ptx_shows_the_log,
        ),
        trial("ptx_for_a_newer_gpu_only_is_refused", newer_ptx_is_refused),
        trial(
            "launches_over_a_limit_are_refused",
            launches_over_a_limit_are_refused,
        ),
        trial("a_gpu_that_is_not_there_is_named", missing_gpu_is_named),
        trial(
            "too_large_a_buffer_is_refused",
            too_large_a_buffer_is_refused,
        ),
        trial(
            "the_command_line_measures_on_the_gpu",
            command_line_measures,
        ),
        trial("work_beside_a_sample_is_flagged", work_beside_is_flagged),
        trial("counters_are_those_of_the_launch", counters_are_the_launchs),
        trial(
            "kernels_of_a_program_are_counted",
            kernels_of_a_program_are_counted,
        ),
        trial("formulas_are_what_is_counted", formulas_are_measured),
        trial(
            "what_a_workload_leaves_out_is_scaled_from_the_emulators_counts",
            what_is_left_out_is_scaled,
        ),
        trial("a_kernel_of_a_file_runs", kernel_of_a_file_runs),
        trial(
            "a_metric_that_is_not_there_is_named",
            missing_metric_is_named,
        ),
    ]
}

fn trial(name: &str, case: fn(&Device) -> Result<(), Failed>) -> Trial {
    on_gpu(format!("gpu::{name}"), embedded_ptx(), case)
}

fn facts_are_plausible(device: &Device) -> Result<(), Failed> {
    let facts = device.properties();
    let gpu = facts.gpu.as_ref().ok_or("a GPU has a GPU's facts")?;
    assert!(facts.compute_capability >= (7, 0), "{facts:?}");
    assert!((1e8..5e9).contains(&gpu.clock_hz), "{facts:?}");
    assert!(facts.memory_bytes > 1 << 30, "{facts:?}");
    assert!(facts.limits.threads_per_block >= 1024, "{facts:?}");
    assert!(facts.limits.blocks_per_multiprocessor >= 16, "{facts:?}");
    assert!(facts.limits.shared_per_block >= 48 << 10, "{facts:?}");
    let roofs = Roofs::of_device(facts, Precision::F32).ok_or("the lanes are known")?;
    assert!(
        roofs.memory.tera() > 0.1 && roofs.fma.tera() > 1.0,
        "{roofs:?}"
    );
    Ok(())
}

fn refused_ptx_shows_the_log(_: &Device) -> Result<(), Failed> {
    let (arch, text, _) = embedded_ptx()[0];
    let broken = text.replacen("ld.param.b64", "ld.nonsense.b64", 1);
    match Device::with_ptx(0, &[(arch, &broken, None)]) {
        Err(DriverError::RefusedPtx { log, .. }) if log.contains("nonsense") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn newer_ptx_is_refused(_: &Device) -> Result<(), Failed> {
    match Device::with_ptx(0, &[(999, "", None)]) {
        Err(error @ DriverError::NoPtx { .. }) => {
            assert!(error.to_string().contains("RIDGEPOINT_ARCH=sm_"), "{error}");
            Ok(())
        }
        other => Err(format!("{other:?}").into()),
    }
}

fn launches_over_a_limit_are_refused(device: &Device) -> Result<(), Failed> {
    let refused = |grid, block| {
        let kernel = f32::kernel(Form::Horner, 4, 1).ok_or("there is one")?;
        match device.prepare(kernel, LaunchConfig::blocks(grid, block)) {
            Ok(_) => Err(Failed::from(format!(
                "grid {grid}, block {block} was allowed"
            ))),
            Err(error) => Ok(error.to_string()),
        }
    };
    assert!(refused(1, 2048)?.contains("block of 2048 threads"));
    assert!(refused(1, 0)?.contains("block of 0 threads"));
    assert!(refused(1 << 31, 32)?.contains("grid of 2147483648 blocks"));
    Ok(())
}

fn missing_gpu_is_named(_: &Device) -> Result<(), Failed> {
    match Device::with_ptx(99, embedded_ptx()) {
        Err(DriverError::NoSuchGpu { ordinal: 99, .. }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn too_large_a_buffer_is_refused(device: &Device) -> Result<(), Failed> {
    match device.buffer_filled(1 << 42, 0f32) {
        Err(DriverError::OutOfMemory { .. }) => Ok(()),
        Err(other) => Err(other.to_string().into()),
        Ok(_) => Err("allocated 16 TiB".into()),
    }
}

/// Multiply-adds as the formula has them, to the last; bytes of memory as far as caches keep none.
fn counters_are_the_launchs(device: &Device) -> Result<(), Failed> {
    const N: usize = 1 << 26;
    const K: u32 = 50;
    let x = device.buffer_filled(N, 0.5f32)?;
    let mut y = device.buffer_filled(N, 0f32)?;
    let kernel = f32::kernel(Form::Horner, 4, 1).ok_or("there is one")?;
    let prepared = device.prepare(kernel, LaunchConfig::linear(N as u64 / 4, 256))?;
    let stream = Stream::new(device)?;
    let metrics = [
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "dram__bytes_read.sum",
        "dram__bytes_write.sum",
    ];
    let mut counters = Counters::new(device, &metrics)?;
    for _ in 0..2 {
        let mut launches = 0;
        let launch = || {
            launches += 1;
            // SAFETY: both have `N` elements, and live until the stream is synchronised.
            unsafe { prepared.launch(&stream, &(x.slice(..), y.slice_mut(..), K)) }?;
            stream.synchronize()
        };
        let values = counters.measure(|| Ok::<_, DriverError>(()), launch)?;
        assert_eq!(launches, counters.passes(), "{values:?}");
        assert_eq!(values[0], N as f64 * f64::from(K), "{values:?}");
        // An L2 of 50 MB keeps up to a fifth of each array.
        let bytes = 4.0 * N as f64;
        for moved in &values[1..] {
            assert!((0.75..1.05).contains(&(moved / bytes)), "{values:?}");
        }
    }
    Ok(())
}

/// A program that launches nvcc's saxpy once, recorded and counted: multiply-adds to the last, and bytes as far as caches keep none.
fn kernels_of_a_program_are_counted(device: &Device) -> Result<(), Failed> {
    const N: usize = 1 << 26;
    let folder = tempfile::tempdir()?;
    fs::write(
        folder.path().join("nvcc.ptx"),
        include_str!("../../examples/benches/nvcc.ptx"),
    )?;
    let output = Command::new(support::ridgepoint())
        .args(["profile", "--counters", "--quiet", "--json", "p.json"])
        .args(["--plot", "p.svg", "--on", "gpu", "--"])
        .arg(support::ridgepoint())
        .args(["run", "nvcc.ptx", "saxpy", "--device", "cuda"])
        .args(["--grid", &(N / 256).to_string(), "--block", "256"])
        .args(["--arg", &format!("i32:{N}"), "--arg", "f32:2.5"])
        .args(["--arg", &format!("f32[{N}]=ones")])
        .args(["--arg", &format!("f32[{N}]=ones")])
        .current_dir(folder.path())
        .output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let document: Value = serde_json::from_slice(&fs::read(folder.path().join("p.json"))?)?;
    let roofline = &document["program"]["roofline"];
    assert_eq!(
        roofline["gpu"]["name"],
        device.properties().name,
        "{errors}"
    );
    let kernels = roofline["kernels"].as_array().ok_or("counted kernels")?;
    let [saxpy] = &kernels[..] else {
        return Err(format!("{kernels:?} {errors}").into());
    };
    assert_eq!(
        (&saxpy["name"], &saxpy["launches"]),
        (&"saxpy".into(), &1.into())
    );
    assert_eq!(saxpy["flop"], 2.0 * N as f64, "{saxpy}");
    let bytes = saxpy["bytes"].as_f64().ok_or("bytes")? / (12.0 * N as f64);
    assert!((0.75..1.15).contains(&bytes), "{saxpy}");
    assert_eq!(saxpy["under"]["roof"], "memory", "{saxpy}");
    let chart = fs::read_to_string(folder.path().join("p.svg"))?;
    assert!(chart.contains("saxpy"), "{chart}");
    Ok(())
}

/// nvcc's saxpy, whose PTX no program carries: the same on both machines.
fn kernel_of_a_file_runs(_: &Device) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("nvcc.ptx");
    fs::write(&file, include_str!("../../examples/benches/nvcc.ptx"))?;
    let run = |device: &str| -> Result<Vec<u8>, Failed> {
        let y = folder.path().join("y.bin");
        let output = Command::new(support::ridgepoint())
            .arg("run")
            .arg(&file)
            .args(["saxpy", "--device", device, "--grid", "4", "--block", "256"])
            .args([
                "--arg",
                "i32:1000",
                "--arg",
                "f32:2.5",
                "--arg",
                "f32[1000]=random",
            ])
            .args(["--arg", "f32[1000]=iota", "--out"])
            .arg(format!("3={}", y.display()))
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        Ok(fs::read(y)?)
    };
    let (cuda, cpu) = (run("cuda")?, run("cpu")?);
    assert_eq!((cuda.len(), cuda), (4000, cpu));
    Ok(())
}

fn missing_metric_is_named(device: &Device) -> Result<(), Failed> {
    let error = Counters::new(device, &["dram__bytes_read.sum", "nonsense__bytes.sum"]);
    let error = error.err().ok_or("it was found")?.to_string();
    assert!(
        error.ends_with("no metric \"nonsense__bytes.sum\""),
        "{error}"
    );
    Ok(())
}

/// Of polynomials of each type: the columns of `roofline --counters`.
fn formulas_are_measured(_: &Device) -> Result<(), Failed> {
    let output = Command::new(support::ridgepoint())
        .args([
            "roofline", "--device", "cuda", "--n", "2^24", "--k", "50,200",
        ])
        .args([
            "--kernel",
            "horner",
            "--dtype",
            "f32,f64,f16x2",
            "--vector",
            "2",
        ])
        .args(["--counters", "--quiet", "--output", "-"])
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let mut rows = csv::Reader::from_reader(output.stdout.as_slice());
    let names = rows.headers()?.clone();
    let rows: Vec<_> = rows.records().collect::<Result<_, _>>()?;
    assert_eq!(rows.len(), 2 * 3);
    for row in &rows {
        let cell = |name: &str| -> Result<f64, Failed> {
            let place = names.iter().position(|it| it == name);
            let place = place.ok_or_else(|| format!("no column {name}"))?;
            Ok(row[place].parse()?)
        };
        // GFLOP/s and milliseconds, of two and six decimals.
        let flop = cell("gflops")? * cell("mean_ms")? * 1e6;
        let ratio = cell("measured_flop")? / flop;
        // ptxas makes constants of instructions on f16: two for each thread here.
        assert!((0.999..1.03).contains(&ratio), "{ratio} of {row:?}");
        // Horner's rule has one multiply-add per number and step; an instruction on f16 works on two numbers.
        let dtype = &row[names
            .iter()
            .position(|it| it == "dtype")
            .ok_or("no dtype")?];
        let of_row = |name: &str| cell(&format!("measured_{name}_{dtype}"));
        let each = if dtype == "f16x2" { 2.0 } else { 1.0 };
        let fma = cell("n")? * cell("k")? / each;
        match dtype {
            "f16x2" => assert!((1.0..1.03).contains(&(of_row("fma")? / fma)), "{row:?}"),
            _ => assert_eq!(of_row("fma")?, fma, "{row:?}"),
        }
        let other = if dtype == "f64" { "f32" } else { "f64" };
        for name in ["fma", "add", "multiply"] {
            assert_eq!(cell(&format!("measured_{name}_{other}"))?, 0.0, "{row:?}");
        }
        // Nothing is read twice: multiprocessors ask the L2 cache for each sector, and hand it each, once.
        let ratio = cell("l2_bytes")? / cell("counted_bytes")?;
        assert!((0.95..1.3).contains(&ratio), "{ratio} of {row:?}");
        // Up to the L2 cache's 50 MB of 64 to 256 MB stay there.
        let ratio = cell("measured_ai")? / cell("ai")?;
        assert!((0.9..3.0).contains(&ratio), "{ratio} of {row:?}");
    }
    Ok(())
}

/// Horner's rule of degree [`DEGREE`], of which its author says neither bytes nor operations.
struct Silent;

const DEGREE: u32 = 50;

impl Workload for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("n", [1 << 24, 3_000_000]).on_emulator([1 << 12])]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let n = at.size("n");
        let kernel = f32::kernel(Form::Horner, 4, 1).ok_or("there is one")?;
        let arrays = at.launch(kernel, at.linear(n / 4)).arrays(move |device| {
            Ok((
                device.buffer_filled(n, 0.5f32)?,
                device.buffer_filled(n, 0f32)?,
            ))
        });
        // SAFETY: both have `n` elements, a multiple of 4, and no degree is 0.
        Ok(unsafe { arrays.arguments_unchecked(|(x, y)| (x.slice(..), y.slice_mut(..), DEGREE)) })
    }
}

fn what_is_left_out_is_scaled(_: &Device) -> Result<(), Failed> {
    let bench = bench(&DeviceChoice::Cuda(0), embedded_ptx())?;
    let plan = Plan {
        selected: vec![Selection::defaults(&Silent, false)],
        ..Plan::default()
    };
    let mut sweep = Sweep::new(&bench, &plan, Settings::quick())?;
    for (index, n) in [1 << 24, 3_000_000].into_iter().enumerate() {
        let row = sweep.measure(index, None)?;
        let scaled = Some(Origin::Scaled);
        assert_eq!(
            (row.flop_from, row.bytes_from, row.counted_from),
            (scaled, scaled, scaled),
            "{row:?}"
        );
        assert_eq!(row.counted_flop, Some(2 * u64::from(DEGREE) * n), "{row:?}");
        assert_eq!(row.counted_bytes, Some(8 * n), "{row:?}");
        assert_eq!(row.ai, Some(12.5), "{row:?}");
    }
    Ok(())
}

fn command_line_measures(device: &Device) -> Result<(), Failed> {
    let output = Command::new(support::ridgepoint())
        .args([
            "roofline", "--device", "cuda", "--n", "2^20", "--k", "1,10", "--output", "-",
        ])
        .args([
            "--kernel", "all", "--dtype", "f32,f64", "--vector", "1,2,4", "--quiet",
        ])
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), 2 * 2 * 3 * 2);
    for row in rows {
        assert!(
            row.contains(&device.properties().name) && row.contains(",true,"),
            "{row}"
        );
    }
    Ok(())
}

/// A row that is measured while this process launches now and then, and the same without.
fn work_beside_is_flagged(device: &Device) -> Result<(), Failed> {
    let quiet = flags_of_a_row(|| Ok(()))?;
    assert!(!quiet.contains("noisy"), "{quiet:?}");

    let mut bursts = 0;
    let stream = Stream::new(device)?;
    let disturbed = flags_of_a_row(|| {
        bursts += 1;
        burst(device, &stream)
    })?;
    println!("{bursts} bursts: {disturbed:?}");
    assert!(
        disturbed.contains("noisy") || disturbed.contains("outliers"),
        "{bursts} bursts, flags {disturbed:?}"
    );
    // Where processes can be seen at all, this one is seen beside the one that measures.
    if Monitor::new(device.properties()).now().processes.is_some() {
        assert!(disturbed.contains("shared"), "{disturbed:?}");
    }
    Ok(())
}

/// The flags of a row of 300 samples. `beside` is called again and again until it is there.
fn flags_of_a_row(
    mut beside: impl FnMut() -> Result<(), Failed>,
) -> Result<BTreeSet<String>, Failed> {
    const PAUSE: Duration = Duration::from_millis(15);
    let mut measuring = Command::new(support::ridgepoint())
        .args([
            "roofline", "--device", "cuda", "--kernel", "horner", "--vector", "4",
        ])
        .args([
            "--n", "2^22", "--k", "2000", "--runs", "300", "--quiet", "--output", "-",
        ])
        .stdout(Stdio::piped())
        .spawn()?;
    while measuring.try_wait()?.is_none() {
        beside()?;
        thread::sleep(PAUSE);
    }
    let output = measuring.wait_with_output()?;
    assert!(output.status.success());
    let mut reader = csv::Reader::from_reader(&output.stdout[..]);
    let column = reader.headers()?.iter().position(|name| name == "flags");
    let row = reader.records().next().ok_or("a row")??;
    let flags = row.get(column.ok_or("flags")?).unwrap_or_default();
    Ok(flags.split_whitespace().map(str::to_owned).collect())
}

/// Some milliseconds of arithmetic on all multiprocessors.
fn burst(device: &Device, stream: &Stream<'_>) -> Result<(), Failed> {
    const BLOCK: u32 = 256;
    const LINES: u32 = 750;
    let blocks = 8 * u64::from(device.properties().multiprocessors);
    let variant = FmaF32::VARIANTS.last().ok_or("a kernel")?;
    let prepared = device.prepare(variant.entry, LaunchConfig::blocks(blocks, BLOCK))?;
    let mut sums = device.buffer_filled(blocks as usize * BLOCK as usize, 0.0)?;
    let mut clocks = device.buffer_filled(blocks as usize, [0u64; 2])?;
    let c = device.buffer_from(&[FmaF32::C])?;
    let arguments = (LINES, c.slice(..), sums.slice_mut(..), clocks.slice_mut(..));
    // SAFETY: there are a c, a sum for each thread and a clock for each block, which live until the
    // stream is synchronised.
    unsafe { prepared.launch(stream, &arguments) }?;
    Ok(stream.synchronize()?)
}
