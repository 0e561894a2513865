//! The machine code that `ptxas` makes of the steps: which tensor cores, which copies, and nothing in local memory.

use ladder::Step;
use ridgepoint::kernels::machine_code;

/// Returns the instructions of a step's machine code, and those that only later steps have.
fn instructions(step: Step) -> (&'static [&'static str], &'static [&'static str]) {
    match step {
        Step::MmaSync => (
            &[
                "HMMA.16816.F32.BF16",
                "LDSM.16.M88.4",
                "LDGSTS.E.BYPASS.128",
            ],
            &["HGMMA", "UTMALDG"],
        ),
        Step::Wgmma64 => (
            &["HGMMA.64x64x16.F32.BF16", "UTMALDG.2D"],
            &["HMMA", "USETMAXREG"],
        ),
        Step::Wgmma128 => (&["HGMMA.64x128x16.F32.BF16", "UTMALDG.2D"], &["USETMAXREG"]),
        Step::Producer128 => (&["HGMMA.64x128x16.F32.BF16", "USETMAXREG"], &["MULTICAST"]),
        Step::Producer256 | Step::Persistent | Step::Pingpong => (
            &["HGMMA.64x256x16.F32.BF16", "USETMAXREG"],
            &["MULTICAST", "UTMASTG"],
        ),
        Step::Multicast => (
            &[
                "HGMMA.64x256x16.F32.BF16",
                "UTMALDG.2D.MULTICAST",
                "UCGABAR_ARV",
            ],
            &["UTMASTG"],
        ),
        // `crates/gemm/tests/products/machine_code.rs` looks at it.
        Step::Gemm => (&[], &[]),
    }
}

fn each_step_has_its_instructions_and_nothing_in_local_memory() {
    for step in Step::ALL.into_iter().filter(|step| *step != Step::Gemm) {
        let name = step.name();
        let code =
            machine_code(ladder::ptx(), None, name).unwrap_or_else(|error| panic!("{error}"));
        let (has, lacks) = instructions(step);
        for instruction in has {
            assert!(code.contains(instruction), "{name} has no {instruction}");
        }
        for instruction in lacks.iter().chain(&["LDL", "STL"]) {
            assert!(!code.contains(instruction), "{name} has {instruction}");
        }
    }
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![each_step_has_its_instructions_and_nothing_in_local_memory,].into()
}
