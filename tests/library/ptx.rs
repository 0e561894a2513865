//! The shipped PTX, assembled and disassembled with NVIDIA's tools (setup.sh brings them).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use kernels_gpu::ceilings::chains::{
    AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, MadI32, Operation,
};
use ridgepoint::kernels::{embedded_ptx, hopper_ptx};

/// A tool in the virtual environment that setup.sh makes, or on the PATH.
fn tool(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let local = root.join(".venv/cuda/bin").join(name);
    if local.is_file() {
        local
    } else {
        PathBuf::from(name)
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| {
        panic!("{command:?} does not start ({error}): ./setup.sh installs NVIDIA's PTX tools")
    });
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// The output of `ptxas -v` for the PTX, and the machine code of each entry.
struct Assembled {
    report: String,
    entries: BTreeMap<String, Vec<String>>,
}

fn assemble(arch: &str, ptx: &str) -> Assembled {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("kernels.ptx");
    let cubin = folder.path().join("kernels.cubin");
    std::fs::write(&source, ptx).expect("writable");
    let report = run(Command::new(tool("ptxas"))
        .args(["-v", &format!("-arch=sm_{arch}"), "-o"])
        .args([&cubin, &source]));
    let listing = run(Command::new(tool("nvdisasm")).arg("-c").arg(&cubin));
    let mut entries: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut current = None;
    for line in listing.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix(".section") {
            let name = section.trim().split(',').next().unwrap_or_default();
            current = name.strip_prefix(".text.").map(str::to_owned);
        } else if let (Some(name), Some((_, code))) = (&current, line.split_once("*/"))
            && line.starts_with("/*")
        {
            entries
                .entry(name.clone())
                .or_default()
                .push(code.trim().to_owned());
        }
    }
    Assembled { report, entries }
}

fn sm_90() -> Assembled {
    let (arch, ptx, _) = embedded_ptx()
        .iter()
        .find(|(arch, ..)| *arch == 90)
        .expect("sm_90 is built by default");
    assemble(&arch.to_string(), ptx)
}

/// The most instructions between two branches.
fn longest_line(code: &[String]) -> &[String] {
    code.split(|line| line.contains("BRA"))
        .max_by_key(|line| line.len())
        .expect("a kernel has instructions")
}

/// The most instructions of a kind between two branches.
fn longest_run(code: &[String], opcode: &str) -> usize {
    code.split(|line| line.contains("BRA"))
        .map(|straight| {
            straight
                .iter()
                .filter(|line| line.starts_with(opcode))
                .count()
        })
        .max()
        .unwrap_or(0)
}

#[test]
fn no_kernel_spills_has_a_stack_frame_or_calls_anything() {
    let assembled = sm_90();
    let frames = assembled.report.matches("bytes stack frame").count();
    let clean = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads";
    assert_eq!(frames, assembled.entries.len(), "{}", assembled.report);
    assert!(frames > 12, "{}", assembled.report);
    let stripped = assembled.report.replace("    ", " ");
    assert_eq!(
        stripped.matches(&format!(" {clean}")).count(),
        frames,
        "{stripped}"
    );
    for (_, ptx, _) in embedded_ptx() {
        for word in [".extern", "call", "panic"] {
            assert!(!ptx.contains(word), "the PTX contains {word:?}");
        }
    }
}

#[test]
fn horner_is_a_straight_line_of_fused_multiply_adds() {
    let entries = sm_90().entries;
    for (name, opcode) in [
        ("horner_f32", "FFMA"),
        ("horner_f64", "DFMA"),
        ("horner_f16x2", "HFMA2"),
    ] {
        for width in [1, 2, 4] {
            let run = longest_run(&entries[&format!("{name}_v{width}")], opcode);
            assert!(run >= 128, "{name}_v{width}: {run} {opcode} in a row");
        }
    }
}

#[test]
fn chains_are_straight_lines_of_their_operation() {
    let entries = sm_90().entries;
    for (name, opcode, line) in [
        ("fma_f32_c1", "FFMA", FmaF32::LINE),
        ("fma_f32_c2", "FFMA", FmaF32::LINE),
        ("fma_f32_c4", "FFMA", FmaF32::LINE),
        ("fma_f32_c8", "FFMA", FmaF32::LINE),
        ("fma_f64_c1", "DFMA", FmaF64::LINE),
        ("fma_f64_c8", "DFMA", FmaF64::LINE),
        ("fma_f16x2_c1", "HFMA2", FmaF16x2::LINE),
        ("fma_f16x2_c8", "HFMA2", FmaF16x2::LINE),
        ("fma_bf16x2_c8", "HFMA2", FmaBf16x2::LINE),
        ("add_mul_f32_c8", "FMUL", AddMulF32::LINE),
        ("add_mul_f32_c8", "FADD", AddMulF32::LINE),
        ("mad_i32_c8", "IMAD", MadI32::LINE),
        ("exp2_f32_c8", "MUFU.EX2", Exp2F32::LINE),
    ] {
        let run = longest_run(&entries[name], opcode);
        assert!(run >= line as usize, "{name}: {run} {opcode} in a row");
    }
    assert_eq!(longest_run(&entries["add_mul_f32_c8"], "FFMA"), 0);
    let of_bf16 = entries["fma_bf16x2_c8"]
        .iter()
        .filter(|line| line.contains("BF16_V2"));
    assert!(of_bf16.count() >= 256);
}

#[test]
fn streams_have_all_loads_in_flight_before_they_store() {
    let entries = sm_90().entries;
    for kernel in ["copy", "scale"] {
        for loads in [2, 4, 8] {
            let name = format!("{kernel}_u{loads}");
            let together = entries[&name]
                .split(|line| line.contains("STG") || line.contains("BRA"))
                .map(|before| {
                    before
                        .iter()
                        .filter(|line| line.contains("LDG.E.128"))
                        .count()
                })
                .max();
            assert_eq!(together, Some(loads), "{name}");
        }
    }
}

#[test]
fn the_power_sum_stays_unfused() {
    let entries = sm_90().entries;
    for width in [1, 2, 4] {
        let code = &entries[&format!("power_sum_f32_v{width}")];
        assert!(longest_run(code, "FADD") >= 64 && longest_run(code, "FMUL") >= 64);
        assert_eq!(
            longest_run(code, "FFMA"),
            0,
            "as on the emulator, each operation rounds"
        );
    }
}

#[test]
fn vectors_move_in_16_bytes() {
    let entries = sm_90().entries;
    let count = |name: &str, opcode: &str| {
        entries[name]
            .iter()
            .filter(|line| line.contains(opcode))
            .count()
    };
    // Each vector is loaded in two places: the first ones, and the next ones while others are at work.
    for form in ["power_sum", "horner"] {
        for (kernel, bits, vectors) in [
            ("f32_v2", 64, 1),
            ("f32_v4", 128, 1),
            ("f32_v4_ilp4", 128, 4),
            ("f64_v2", 128, 1),
            ("f64_v4", 128, 2),
            ("f16x2_v4", 128, 1),
            ("f16x2_v4_ilp2", 128, 2),
        ] {
            let name = format!("{form}_{kernel}");
            let moves = ["LDG", "STG"].map(|op| count(&name, &format!("{op}.E.{bits}")));
            assert_eq!(moves, [2 * vectors, vectors], "{name}");
        }
    }
}

/// A multiprocessor's registers are in two banks, and an instruction whose operands are in one of
/// them takes a cycle more.
#[test]
fn no_step_of_the_default_widths_has_its_operands_in_one_bank() {
    let entries = sm_90().entries;
    for form in ["power_sum", "horner"] {
        // Of two vectors per thread one instruction in a line of 256 may, where a loop's last step hands
        // over to its first: 0.4 %.
        for (kernel, most) in [
            ("f32_v1", 0),
            ("f32_v1_ilp2", 1),
            ("f32_v4", 0),
            ("f32_v4_ilp2", 1),
        ] {
            let name = format!("{form}_{kernel}");
            let line = longest_line(&entries[&name]);
            let conflicts = line.iter().filter(|code| operands_are_in_one_bank(code));
            let count = conflicts.count();
            assert!(count <= most, "{name}: {count} of {}", line.len());
        }
    }
    assert!(operands_are_in_one_bank("FADD R1, R2, R4 ;"));
    assert!(operands_are_in_one_bank("FFMA R8, R8, R4.reuse, R4 ;"));
    assert!(!operands_are_in_one_bank("FMUL R2, R2, R3 ;"));
}

/// Whether two different registers that an arithmetic instruction of f32 reads are all even or all
/// odd.
fn operands_are_in_one_bank(code: &str) -> bool {
    let is_arithmetic = ["FADD", "FMUL", "FFMA"]
        .iter()
        .any(|op| code.starts_with(op));
    let mut registers: Vec<u32> = code
        .split([',', ' ', '.'])
        .filter_map(|word| word.strip_prefix('R')?.parse().ok())
        .skip(1)
        .collect();
    registers.sort_unstable();
    registers.dedup();
    let banks = registers.iter().map(|register| register % 2);
    is_arithmetic && registers.len() > 1 && banks.clone().max() == banks.min()
}

/// Arithmetic of f16x2 has two pipes, each of half the rate; the opcode says which does it.
#[test]
fn the_power_sum_of_f16x2_keeps_both_pipes_busy() {
    let entries = sm_90().entries;
    for kernel in ["v1", "v1_ilp2", "v2", "v2_ilp2", "v4", "v4_ilp2"] {
        let name = format!("power_sum_f16x2_{kernel}");
        let line = longest_line(&entries[&name]).iter();
        let halves = line.filter(|code| code.starts_with('H'));
        let (first, second): (Vec<_>, Vec<_>) =
            halves.partition(|code| code.starts_with("HFMA2.MMA"));
        assert!(first.len() >= 50, "{name}");
        let (first, second) = (first.len(), second.len());
        assert!(first.abs_diff(second) <= 4, "{name}: {first} and {second}");
    }
}

#[test]
fn vectors_of_reductions_and_maps_move_in_16_bytes() {
    let entries = sm_90().entries;
    let has = |name: &str, opcode: &str| {
        entries[name]
            .iter()
            .filter(|line| line.contains(opcode))
            .count()
    };
    for float in ["f32", "f64"] {
        // Eight in flight, of what is left up to seven, or one; four that are kept, and twice the rest.
        for (kernel, loads) in [("nrm2", 16), ("normalize", 12)] {
            let name = format!("{kernel}_{float}");
            assert_eq!(has(&name, "LDG.E.128"), loads, "{name}");
        }
        for kernel in [
            "scale",
            "scale_by",
            "divide_by",
            "relu",
            "sqrt",
            "add",
            "mul",
            "axpy",
        ] {
            let name = format!("{kernel}_{float}");
            assert!(
                has(&name, "LDG.E.128") >= 1 && has(&name, "STG.E.128") >= 1,
                "{name}"
            );
        }
        // At least four at once of a row, and as many of x.
        let gemv = format!("gemv_{float}");
        assert!(has(&gemv, "LDG.E.128") >= 8, "{gemv}");
    }
}

/// The kernels that measure tensor cores: the instruction that multiplies, and how often it stands in a step.
const PRODUCTS: [(&str, &str, usize); 9] = [
    ("mma_bf16", "HMMA.16816.F32.BF16", 32),
    ("mma_f64", "DMMA.8x8x4", 32),
    ("mma_f64_k16", "DMMA.16x8x16", 8),
    ("wgmma_bf16", "HGMMA.64x256x16.F32.BF16", 4),
    ("wgmma_e4m3", "QGMMA.64x256x32.F32.E4M3.E4M3", 4),
    ("wgmma_e5m2", "QGMMA.64x256x32.F32.E5M2.E5M2", 4),
    ("wgmma_f16", "HGMMA.64x256x16.F32", 4),
    ("wgmma_s8", "IGMMA.64x256x32.S8.S8", 4),
    ("wgmma_tf32", "HGMMA.64x256x8.F32.TF32", 4),
];

/// Finds an error in a loop over products: it has other instructions that multiply, or memory accesses, or waits more
/// than once in a step.
fn wrong_in_products(code: &[String], instruction: &str, in_step: usize) -> Option<String> {
    let has = |line: &[String], text: &str| line.iter().filter(|it| it.contains(text)).count();
    let mut steps = code.split(|line| line.contains("BRA"));
    let step = steps.find(|line| has(line, "MMA.") > 0)?;
    let waits = usize::from(instruction.contains("GMMA"));
    let expected = [
        (instruction, in_step),
        ("MMA.", in_step),
        ("WARPGROUP.DEPBAR", waits),
        ("WARPGROUP.ARRIVE", waits),
        ("LD", 0),
        ("ST", 0),
    ];
    let wrong = expected
        .into_iter()
        .find(|(text, count)| has(step, text) != *count);
    wrong.map(|(text, count)| format!("{} of {text}, not {count}: {step:#?}", has(step, text)))
}

/// The kernels of Hopper's other instructions, what each measures, and how often it stands between two branches.
const OF_HOPPER: [(&str, &str, usize); 6] = [
    ("arrive_and_wait", "SYNCS.ARRIVE", 1),
    ("chase_neighbour", "LD.E R", 4),
    ("chase_rows", "UTMALDG.2D", 1),
    ("load_boxes", "UTMALDG.2D", 1),
    ("read_neighbour", "LD.E.128", 8),
    ("store_boxes", "UTMASTG.2D", 1),
];

fn sm_90a() -> (&'static str, Assembled) {
    let [(90, ptx, _)] = hopper_ptx() else {
        panic!("the kernels are for sm_90a alone");
    };
    (ptx, assemble("90a", ptx))
}

#[test]
fn kernels_that_measure_an_instruction_have_it_in_their_loop() {
    let (_, hopper) = sm_90a();
    for (name, instruction, least) in OF_HOPPER {
        let run = longest_run(&hopper.entries[name], instruction);
        assert!(run >= least, "{name}: {run} {instruction} in a row");
    }
    let entries = sm_90().entries;
    for (name, instruction, least) in [
        ("read_banks", "LDS R", 8),
        // A global address, and no result.
        ("add_to_counters", "REDG.E.ADD", 8),
        ("add_in_shared", "ATOMS.ADD", 8),
        ("chase_by_atomics", "ATOMG.E.ADD", 8),
        ("chase_by_atomics_in_shared", "ATOMS.ADD", 8),
        ("shuffle", "SHFL.IDX", 128),
        ("vote", "VOTE.ALL", 128),
        ("wait_for_block", "BAR.SYNC", 8),
        ("time_lines", "LDG.E.STRONG.GPU", 8),
        ("chase_while_read", "LDG.E.128", 8),
    ] {
        let run = longest_run(&entries[name], instruction);
        assert!(run >= least, "{name}: {run} {instruction} in a row");
    }
    // The hardware adds up what lanes add to one counter, and no code does before it.
    for name in ["add_to_counters", "add_in_shared"] {
        for opcode in ["POPC", "UPOPC", "VOTE", "REDUX"] {
            assert_eq!(longest_run(&entries[name], opcode), 0, "{name}: {opcode}");
        }
    }
}

#[test]
fn a_step_of_resident_operands_has_nothing_but_products() {
    let (ptx, assembled) = sm_90a();
    let names: BTreeSet<&str> = assembled.entries.keys().map(String::as_str).collect();
    let listed = PRODUCTS.iter().chain(&OF_HOPPER).map(|(name, ..)| *name);
    assert_eq!(names, listed.collect());
    let clean = assembled.report.matches("0 bytes spill stores").count();
    assert_eq!(clean, names.len(), "{}", assembled.report);
    for loss in ["C7508", "C7510", "C7511", "C7513"] {
        assert!(!assembled.report.contains(loss), "{}", assembled.report);
    }
    for (name, instruction, in_step) in PRODUCTS {
        let code = &assembled.entries[name];
        assert!(code.iter().any(|line| line.contains(instruction)), "{name}");
        assert_eq!(
            wrong_in_products(code, instruction, in_step),
            None,
            "{name}"
        );
    }
    // A wait before each instruction would be seen.
    let waits = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    let planted = ptx.replace("wgmma.mma_async", &format!("{waits}wgmma.mma_async"));
    let slow = &assemble("90a", &planted).entries["wgmma_bf16"];
    let wrong = wrong_in_products(slow, "HGMMA.64x256x16.F32.BF16", 4);
    assert!(wrong.is_some_and(|it| it.contains("DEPBAR")));
}

#[test]
fn a_stack_frame_would_be_seen() {
    let planted = "\
.version 7.8
.target sm_90
.address_size 64
.visible .entry planted(.param .u64 out, .param .u32 index) {
    .local .align 4 .b8 depot[64];
    .reg .b64 %rd<5>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [index];
    mov.u64 %rd2, depot;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd4, %rd2, %rd3;
    st.local.u32 [%rd4], %r1;
    ld.local.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
    ret;
}
";
    let report = assemble("90", planted).report;
    assert!(report.contains("64 bytes stack frame"), "{report}");
}
