//! The machine code of the kernels: tensor cores, nothing in local memory, and weights that are computed while products are.

use cuda_builder::resources::Report;
use ridgepoint::kernels::{machine_code, names};

const KERNELS: [&str; 2] = ["attention_causal", "attention_full"];

/// The machine code of each kernel.
fn disassembled() -> [(&'static str, String); 2] {
    KERNELS.map(|name| {
        let code = machine_code(attention::ptx(), None, name);
        (name, code.unwrap_or_else(|error| panic!("{error}")))
    })
}

/// Exponentials between the wait for the scores, which leaves the sums' group under way, and the wait for that.
fn exponentials_between_waits(code: &str) -> usize {
    let (_, behind) = code
        .split_once("WARPGROUP.DEPBAR.LE gsb0, 0x1")
        .expect("a wait for the scores");
    let (between, _) = behind
        .split_once("WARPGROUP.DEPBAR.LE gsb0, 0x0")
        .expect("a wait for the sums");
    between.matches("MUFU.EX2").count()
}

fn products_are_on_tensor_cores_and_what_is_summed_stays_in_registers() {
    assert_eq!(names(attention::ptx()), KERNELS);
    for (name, code) in &disassembled() {
        // Scores of the first block and of the others, sums of the others and of the last: eight steps each.
        assert_eq!(
            code.matches("HGMMA.64x128x16.F32.BF16").count(),
            32,
            "{name}"
        );
        assert_eq!(
            code.matches("tnspB").count(),
            16,
            "{name}: sums from registers and values"
        );
        for local in ["LDL", "STL"] {
            assert!(!code.contains(local), "{name} has local memory ({local})");
        }
        for needed in ["UTMALDG.3D", "UTMASTG.3D", "USETMAXREG", "MUFU.EX2", "STSM"] {
            assert!(code.contains(needed), "{name} has no {needed}");
        }
    }
}

fn weights_are_computed_while_the_previous_ones_are_multiplied() {
    for (name, code) in disassembled() {
        // 64 weights, and a factor for each of two rows.
        assert_eq!(exponentials_between_waits(&code), 66, "{name}");
    }
    let moved = "WARPGROUP.DEPBAR.LE gsb0, 0x1 ; WARPGROUP.DEPBAR.LE gsb0, 0x0 ; MUFU.EX2 R1, R1 ;";
    assert_eq!(exponentials_between_waits(moved), 0);
}

fn the_report_says_what_ptxas_said() {
    let (arch, _, report) = attention::ptx()[0];
    assert_eq!(arch, 90);
    let report = report.expect("./setup.sh installs NVIDIA's PTX tools");
    let report = Report::from_json(report).expect("a report");
    let names: Vec<&str> = report.kernels.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, KERNELS);
    for kernel in &report.kernels {
        let name = &kernel.name;
        // 65,536 registers for 384 threads, in eights.
        assert_eq!(kernel.registers, 168, "{name}");
        assert_eq!(kernel.spill_store_bytes + kernel.stack_bytes, 0, "{name}");
        assert_eq!(kernel.losses, [""; 0], "{name}");
    }
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![
        products_are_on_tensor_cores_and_what_is_summed_stays_in_registers,
        weights_are_computed_while_the_previous_ones_are_multiplied,
        the_report_says_what_ptxas_said,
    ]
    .into()
}
