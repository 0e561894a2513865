//! The machine code that `ptxas` makes of the kernels: tensor cores, nothing in local memory, registers as `setmaxnreg` deals them out.

use cuda_builder::resources::Report;
use ridgepoint::kernels::{machine_code, names};

/// The registers that each thread of a block of 384 begins with: of 65,536, in eights.
const REGISTERS: u32 = 168;

/// Those that copy operands, and multiply nothing.
const COPIES: [&str; 4] = ["pack_1", "pack_2", "pack_4", "pack_8"];

/// Each other kernel, and the instruction that multiplies in it.
const KERNELS: [(&str, &str); 32] = [
    ("finished_small_bf16_by_columns", "HGMMA.64x128x16.F32.BF16"),
    ("finished_small_bf16_by_rows", "HGMMA.64x128x16.F32.BF16"),
    (
        "finished_small_e4m3_by_columns",
        "QGMMA.64x128x32.F32.E4M3.E4M3",
    ),
    ("finished_small_f16_by_columns", "HGMMA.64x128x16.F32 "),
    ("finished_small_f16_by_rows", "HGMMA.64x128x16.F32 "),
    ("finished_small_tf32_by_columns", "HGMMA.64x128x8.F32.TF32"),
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
    ("gemm_f64_by_columns", "DMMA.16x8x16"),
    ("gemm_f64_by_rows", "DMMA.16x8x16"),
    ("gemm_tf32_by_columns_128", "HGMMA.64x128x8.F32.TF32"),
    ("gemm_tf32_by_columns_256", "HGMMA.64x256x8.F32.TF32"),
    ("small_bf16_by_columns", "HGMMA.64x128x16.F32.BF16"),
    ("small_bf16_by_rows", "HGMMA.64x128x16.F32.BF16"),
    ("small_e4m3_by_columns", "QGMMA.64x128x32.F32.E4M3.E4M3"),
    ("small_f16_by_columns", "HGMMA.64x128x16.F32 "),
    ("small_f16_by_rows", "HGMMA.64x128x16.F32 "),
    ("small_tf32_by_columns", "HGMMA.64x128x8.F32.TF32"),
];

/// One of each way of multiplying and of storing: all of them take `ptxas` a minute.
const ONE_OF_EACH: [&str; 6] = [
    "finished_small_e4m3_by_columns",
    "fused_tf32_by_columns",
    "gemm_bf16_by_rows_256",
    "gemm_e4m3_by_columns_128",
    "gemm_f64_by_rows",
    "small_f16_by_columns",
];

fn one_of_each_multiplies_on_tensor_cores_and_keeps_its_sums_in_registers() {
    let all = KERNELS.into_iter();
    let some: Vec<_> = all.filter(|it| ONE_OF_EACH.contains(&it.0)).collect();
    assert_eq!(some.len(), ONE_OF_EACH.len());
    multiply_on_tensor_cores_and_keep_their_sums_in_registers(&some);
}

fn multiply_on_tensor_cores_and_keep_their_sums_in_registers(kernels: &[(&str, &str)]) {
    let mut expected: Vec<&str> = KERNELS
        .iter()
        .map(|(name, _)| *name)
        .chain(COPIES)
        .collect();
    expected.sort_unstable();
    assert_eq!(names(gemm::ptx()), expected);
    for &(name, instruction) in kernels {
        let code = machine_code(gemm::ptx(), None, name).unwrap_or_else(|error| panic!("{error}"));
        let count = code.matches(instruction).count();
        assert!(count >= 4, "{name}: {count} of {instruction}");
        for local in ["LDL", "STL"] {
            assert!(!code.contains(local), "{name} has local memory ({local})");
        }
        for needed in ["UTMALDG.2D", "SYNCS.PHASECHK"] {
            assert!(code.contains(needed), "{name} has no {needed}");
        }
        // Blocks of a pair bring halves of B's tiles to both.
        assert_eq!(
            code.contains("UTMALDG.2D.MULTICAST"),
            !name.contains("small") && !name.contains("f64"),
            "{name}"
        );
        // Warps wait for what they multiply themselves.
        let is_by_warps = name.contains("f64");
        assert_eq!(code.contains("WARPGROUP.DEPBAR"), !is_by_warps, "{name}");
        // A small block has registers enough for all of its threads.
        assert_eq!(
            code.contains("USETMAXREG"),
            !name.contains("small"),
            "{name}"
        );
        // Ordinary stores are for what `beta` or GELU needs, and for products by warps.
        assert_eq!(
            code.contains("UTMASTG.2D"),
            !name.starts_with("fused") && !is_by_warps,
            "{name}"
        );
    }
}

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
        if name.contains("small") {
            assert!(kernel.registers <= 128, "{name}: {}", kernel.registers);
            assert_eq!(kernel.max_threads, Some(160), "{name}");
            continue;
        }
        assert_eq!(kernel.registers, REGISTERS, "{name}");
        assert_eq!(kernel.max_threads, Some(384), "{name}");
    }
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    let quick = gpu_test::trials![
        one_of_each_multiplies_on_tensor_cores_and_keeps_its_sums_in_registers,
        the_report_says_what_ptxas_said,
    ];
    let all = gpu_test::slow(
        "machine_code::every_kernel_multiplies_on_tensor_cores",
        || {
            multiply_on_tensor_cores_and_keep_their_sums_in_registers(&KERNELS);
            Ok(())
        },
    );
    quick.into_iter().chain([all]).collect()
}
