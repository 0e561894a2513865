//! `ridgepoint kernels` as a user meets it, on a machine that needs no GPU.

use crate::support;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};

use occupancy::{ComputeCapability, Multiprocessor, Occupancy, OccupancyError};
use ridgepoint::kernels::{KernelRecord, embedded_ptx, inventory, names};

fn kernels(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command starts")
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(support::ridgepoint());
    command.arg("kernels").args(arguments);
    command
}

#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let output = kernels(arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The names of the polynomial kernels, as their families name them.
fn polynomials() -> Vec<String> {
    let mut names = Vec::new();
    for form in ["horner", "power_sum"] {
        for real in ["f32", "f64", "f16x2"] {
            for ilp in ["", "_ilp2", "_ilp4"] {
                names.extend([1, 2, 4].map(|width| format!("{form}_{real}_v{width}{ilp}")));
            }
        }
    }
    names
}

fn records() -> Vec<KernelRecord> {
    let found = inventory(embedded_ptx(), &[], "", &BTreeSet::new())
        .expect("ptxas was there when this was built (./setup.sh)");
    found.records
}

fn computed(record: &KernelRecord, block_threads: u32) -> Result<Occupancy, OccupancyError> {
    let multiprocessor =
        Multiprocessor::of(ComputeCapability::from_arch(record.arch)).expect("known");
    multiprocessor.occupancy(&record.resources.needs(), block_threads)
}

#[test]
fn every_polynomial_kernel_is_listed_without_spills_and_with_its_registers() {
    let records = records();
    let table = stdout(&[]);
    for name in polynomials() {
        let record = records
            .iter()
            .find(|record| record.resources.name == name)
            .unwrap_or_else(|| panic!("{name} is not in {records:?}"));
        let kernel = &record.resources;
        assert_eq!((kernel.spill_store_bytes, kernel.spill_load_bytes), (0, 0));
        assert_eq!((kernel.stack_bytes, kernel.static_shared_bytes), (0, 0));
        assert!((10..=168).contains(&kernel.registers), "{kernel:?}");
        let row = table
            .lines()
            .find(|line| line.contains(&name))
            .expect("a row");
        let cells: Vec<&str> = row.split(['│', '┆']).map(str::trim).collect();
        let expected = [
            name.clone(),
            format!("sm_{}", record.arch),
            kernel.registers.to_string(),
            "0".to_owned(),
            "0".to_owned(),
            "0".to_owned(),
        ];
        assert_eq!(cells[1..7], expected);
        let at_256 = computed(record, 256).expect("such a block runs");
        let percent = format!("{:.0} % ", 100.0 * at_256.fraction());
        assert!(cells[9].starts_with(&percent), "{row}: {at_256:?}");
    }
}

#[test]
fn the_csv_has_a_row_a_block_with_the_occupancy_that_follows_from_the_registers() {
    let records = records();
    let text = stdout(&["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| header.iter().position(|it| it == name).expect("a column");
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert_eq!(rows.len(), 10 * records.len());
    for row in &rows {
        let record = records
            .iter()
            .find(|it| {
                it.resources.name == row[column("kernel")]
                    && row[column("arch")] == format!("sm_{}", it.arch)
            })
            .expect("the row of a kernel");
        let block: u32 = row[column("block")].parse().expect("a number");
        let occupancy = match computed(record, block) {
            Ok(occupancy) => occupancy,
            Err(refused) => {
                assert_eq!(row[column("refused")], refused.to_string());
                assert_eq!(&row[column("active_warps")], "0");
                continue;
            }
        };
        assert_eq!(&row[column("refused")], "");
        let limits: Vec<&str> = occupancy.limited_by.iter().map(|it| it.name()).collect();
        assert_eq!(
            row[column("blocks_per_multiprocessor")],
            occupancy.blocks.to_string()
        );
        assert_eq!(
            row[column("active_warps")],
            occupancy.active_warps.to_string()
        );
        assert_eq!(
            row[column("occupancy_percent")],
            format!("{:.2}", 100.0 * occupancy.fraction())
        );
        assert_eq!(row[column("limited_by")], limits.join(" "));
    }
}

#[test]
fn json_and_markdown_hold_the_same_kernels_and_a_filter_takes_some() {
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&["--format", "json"])).expect("JSON");
    let listed = json.as_array().expect("an array");
    assert_eq!(listed.len(), records().len());
    assert!(
        listed[0]["registers"]
            .as_u64()
            .is_some_and(|registers| registers > 0)
    );
    assert_eq!(listed[0]["occupancy"].as_array().map(Vec::len), Some(10));

    let some = stdout(&["f64_v2_ilp2", "--format", "md", "--arch", "sm_90"]);
    let rows: Vec<&str> = some.lines().skip(2).collect();
    assert_eq!(rows.len(), 2 * 10, "{some}");
    assert!(
        rows.iter().all(|row| row.contains("f64_v2_ilp2 | sm_90")),
        "{some}"
    );
}

#[test]
fn the_ptx_of_one_kernel_is_that_kernel_alone() {
    let ptx = stdout(&["--ptx", "horner_f32_v1"]);
    assert!(
        ptx.contains(".version ") && ptx.contains(".visible .entry horner_f32_v1("),
        "{ptx}"
    );
    assert!(ptx.contains("fma.rn.f32"), "{ptx}");
    assert_eq!(ptx.matches(".entry").count(), 1);
    // It names no variable and calls no function.
    assert!(
        !ptx.contains(".global .align") && !ptx.contains(".func"),
        "{ptx}"
    );
}

#[test]
fn the_machine_code_of_one_kernel_is_that_kernel_alone() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = command(&["--sass", "horner_f64_v1", "--arch", "sm_90"])
        .current_dir(root)
        .output()
        .expect("the command starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let code = String::from_utf8(output.stdout).expect("text");
    assert!(code.contains("DFMA") && code.contains("EXIT"), "{code}");
    assert_eq!(code.matches(".text.").count(), 1, "{code}");
}

#[test]
fn without_the_tools_machine_code_is_refused_with_where_to_get_them() {
    let output = command(&["--sass", "horner_f64_v1"])
        .env("PTX_BUILDER_PTXAS", "/nonexistent/ptxas")
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(3));
    let error = stderr(&output);
    for part in ["ptxas not found", "./setup.sh", "/nonexistent/ptxas"] {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

/// Checks that a workload's name means what it means elsewhere: the kernels that it launches, whatever they are called.
#[test]
fn a_workloads_name_lists_the_kernels_that_it_launches() {
    for (name, kernel, count) in [
        ("power-sum", "power_sum_f16x2_v4_ilp2", 27),
        ("polynomial", "horner_i32_v1", 30),
        ("elementwise", "axpy_ilp8", 4),
        ("chase_shared", "chase_shared", 1),
    ] {
        let listed = stdout(&[name, "--arch", "sm_90", "--format", "csv"]);
        let mut rows = listed
            .lines()
            .skip(1)
            .filter_map(|row| row.split(',').next());
        let names: BTreeSet<&str> = rows.by_ref().collect();
        assert!(
            names.iter().any(|it| it.contains(kernel)) && names.len() == count,
            "{name}: {names:?}"
        );
    }
}

#[test]
fn an_unknown_name_is_answered_with_near_ones() {
    for arguments in [["--ptx", "hornr_f32_v2"], ["--sass", "hornr_f32_v2"]] {
        let output = kernels(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let error = stderr(&output);
        assert!(
            error.contains("\"hornr_f32_v2\"") && error.contains("horner_f32_v2"),
            "{error}"
        );
    }
    assert_eq!(kernels(&["no_such_thing"]).status.code(), Some(2));
    let output = kernels(&["--arch", "sm_75"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("RIDGEPOINT_ARCH=sm_75"),
        "{}",
        stderr(&output)
    );
    assert!(names(embedded_ptx()).len() >= polynomials().len());
}
