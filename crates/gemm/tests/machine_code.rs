//! What `ptxas` makes of the kernels: tensor cores, nothing in local memory, registers as `setmaxnreg` deals them out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cuda_builder::nvidia::Tool;
use cuda_builder::resources::Report;

/// What a block of 384 threads begins with: 65,536 registers, in eights.
const REGISTERS: u32 = 168;

/// Those that copy operands, and multiply nothing.
const COPIES: [&str; 3] = ["pack_1", "pack_2", "pack_4"];

/// Each other kernel, and the instruction that multiplies in it.
const KERNELS: [(&str, &str); 24] = [
    ("fused_bf16_by_columns", "HGMMA.64x256x16.F32.BF16"),
    ("fused_bf16_by_rows", "HGMMA.64x256x16.F32.BF16"),
    ("fused_e4m3_by_columns", "QGMMA.64x256x32.F32.E4M3.E4M3"),
    ("fused_f16_by_columns", "HGMMA.64x256x16.F32 "),
    ("fused_f16_by_rows", "HGMMA.64x256x16.F32 "),
    ("fused_tf32_by_columns", "HGMMA.64x256x8.F32.TF32"),
    ("gemm_bf16_by_columns_128", "HGMMA.64x128x16.F32.BF16"),
    ("gemm_bf16_by_columns_256", "HGMMA.64x256x16.F32.BF16"),
    ("gemm_bf16_by_rows_128", "HGMMA.64x128x16.F32.BF16"),
    ("gemm_bf16_by_rows_256", "HGMMA.64x256x16.F32.BF16"),
    ("gemm_e4m3_by_columns_128", "QGMMA.64x128x32.F32.E4M3.E4M3"),
    ("gemm_e4m3_by_columns_256", "QGMMA.64x256x32.F32.E4M3.E4M3"),
    ("gemm_f16_by_columns_128", "HGMMA.64x128x16.F32 "),
    ("gemm_f16_by_columns_256", "HGMMA.64x256x16.F32 "),
    ("gemm_f16_by_rows_128", "HGMMA.64x128x16.F32 "),
    ("gemm_f16_by_rows_256", "HGMMA.64x256x16.F32 "),
    ("gemm_tf32_by_columns_128", "HGMMA.64x128x8.F32.TF32"),
    ("gemm_tf32_by_columns_256", "HGMMA.64x256x8.F32.TF32"),
    ("small_bf16_by_columns", "HGMMA.64x128x16.F32.BF16"),
    ("small_bf16_by_rows", "HGMMA.64x128x16.F32.BF16"),
    ("small_e4m3_by_columns", "QGMMA.64x128x32.F32.E4M3.E4M3"),
    ("small_f16_by_columns", "HGMMA.64x128x16.F32 "),
    ("small_f16_by_rows", "HGMMA.64x128x16.F32 "),
    ("small_tf32_by_columns", "HGMMA.64x128x8.F32.TF32"),
];

fn run(tool: Tool, arguments: &[&str]) -> String {
    let start = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tool = tool.find(start).unwrap_or_else(|error| panic!("{error}"));
    let output = Command::new(&tool).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", tool.display()));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {error}", tool.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The machine code of each kernel.
fn disassembled() -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (ptx, cubin) = (path("kernels.ptx"), path("kernels.cubin"));
    fs::write(&ptx, gemm::ptx()[0].1).expect("writable");
    run(Tool::Ptxas, &["-arch=sm_90a", "-o", &cubin, &ptx]);
    let listing = run(Tool::Nvdisasm, &["-c", &cubin]);
    let sections = listing.split(".section").filter_map(|section| {
        let (name, code) = section.trim_start().split_once(',')?;
        Some((name.strip_prefix(".text.")?.to_owned(), code.to_owned()))
    });
    sections.collect()
}

#[test]
fn every_kernel_multiplies_on_tensor_cores_and_keeps_its_sums_in_registers() {
    let code = disassembled();
    let names: Vec<&str> = code.keys().map(String::as_str).collect();
    let mut expected: Vec<&str> = KERNELS
        .iter()
        .map(|(name, _)| *name)
        .chain(COPIES)
        .collect();
    expected.sort_unstable();
    assert_eq!(names, expected);
    for (name, instruction) in KERNELS {
        let code = &code[name];
        let count = code.matches(instruction).count();
        assert!(count >= 4, "{name}: {count} of {instruction}");
        for local in ["LDL", "STL"] {
            assert!(!code.contains(local), "{name} has local memory ({local})");
        }
        for needed in ["UTMALDG.2D", "SYNCS.PHASECHK", "WARPGROUP.DEPBAR"] {
            assert!(code.contains(needed), "{name} has no {needed}");
        }
        // A small block has registers enough for all of its threads.
        assert_eq!(
            code.contains("USETMAXREG"),
            !name.starts_with("small"),
            "{name}"
        );
        // Only products that stay as they are are stored by copies.
        assert_eq!(
            code.contains("UTMASTG.2D"),
            !name.starts_with("fused"),
            "{name}"
        );
    }
}

#[test]
fn the_report_says_what_ptxas_said() {
    let (arch, _, report) = gemm::ptx()[0];
    assert_eq!(arch, 90);
    let report = report.expect("./setup.sh installs NVIDIA's PTX tools");
    let report = Report::from_json(report).expect("a report");
    assert_eq!(report.kernels.len(), KERNELS.len() + COPIES.len());
    for kernel in &report.kernels {
        let name = &kernel.name;
        assert_eq!(kernel.spill_store_bytes + kernel.stack_bytes, 0, "{name}");
        assert_eq!(kernel.losses, [""; 0], "{name}");
        if COPIES.contains(&name.as_str()) {
            assert!(kernel.registers <= 64, "{name}: {}", kernel.registers);
            continue;
        }
        if name.starts_with("small") {
            assert!(kernel.registers <= 128, "{name}: {}", kernel.registers);
            assert_eq!(kernel.max_threads, Some(160), "{name}");
            continue;
        }
        assert_eq!(kernel.registers, REGISTERS, "{name}");
        assert_eq!(kernel.max_threads, Some(384), "{name}");
    }
}
