//! What the functions become on the GPU: PTX, and that NVIDIA's assembler takes it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use cuda_builder::CudaBuilder;

const HEAD: &str = "
#![no_std]
#![allow(unused, clippy::missing_safety_doc)]
use core::sync::atomic::{AtomicU32, Ordering};
use cuda_std::async_copy::*;
use cuda_std::atomic::{mid::*, *};
use cuda_std::prelude::*;
use cuda_std::ptr::*;
use cuda_std::{ApproxFloat, bf16, misc};
";

static PTX: LazyLock<String> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    build(folder.path())
});

/// The opcodes of each entry, without operands.
static ENTRIES: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut entries = BTreeMap::new();
    for entry in PTX.split(".visible .entry ").skip(1) {
        let (name, _) = entry.split_once('(').expect("parameters");
        let (_, body) = entry.split_once("{\n").expect("a body");
        let (body, _) = body.split_once("\n\n}\n").expect("its end");
        let opcodes = body
            .lines()
            .filter_map(|line| line.trim().strip_suffix(';'))
            .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
            .map(str::to_owned);
        entries.insert(name.to_owned(), opcodes.collect());
    }
    entries
});

/// Builds all kernels at once, since each build costs a while, and assembles them.
fn build(folder: &Path) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = format!(
        "[package]\nname = \"fixture-device\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\ncuda_std = {{ package = \"ptx-std\", path = {:?} }}\n\n[workspace]\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::create_dir(folder.join("src")).expect("writable");
    fs::write(folder.join("Cargo.toml"), manifest).expect("writable");
    let mut source = HEAD.to_owned();
    for kernel in atomics().iter().map(|(kernel, _)| kernel) {
        source += kernel;
    }
    source += &floats();
    source += OTHERS;
    fs::write(folder.join("src/lib.rs"), source).expect("writable");
    let path = folder.join("kernels.ptx");
    CudaBuilder::new(folder)
        .fma_contraction(false)
        .target_dir(workspace.join("target/ptx"))
        .copy_to(&path)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    let mut ptxas = Command::new(tool(&workspace.join(".venv/cuda/bin/ptxas")));
    let output = ptxas
        .args(["-arch=sm_90", "-O0", "-o"])
        .args([&folder.join("kernels.cubin"), &path])
        .output()
        .expect("ptxas starts: ./setup.sh installs NVIDIA's PTX tools");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    fs::read_to_string(path).expect("written")
}

/// The tool in the virtual environment that setup.sh makes, or on the PATH.
fn tool(local: &Path) -> PathBuf {
    if local.is_file() {
        return local.to_path_buf();
    }
    PathBuf::from(local.file_name().expect("a tool"))
}

fn entry(name: &str) -> &'static [String] {
    let entries = &*ENTRIES;
    entries.get(name).unwrap_or_else(|| panic!("no {name}"))
}

/// The opcodes of an entry that begin with one of `stems`.
fn opcodes(name: &str, stems: &[&str]) -> Vec<&'static str> {
    let wanted = |opcode: &&str| stems.iter().any(|stem| opcode.starts_with(stem));
    entry(name)
        .iter()
        .map(String::as_str)
        .filter(wanted)
        .collect()
}

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const SCOPES: [(&str, &str); 3] = [("block", "cta"), ("device", "gpu"), ("system", "sys")];

/// The type of each operation's instruction, for u32, i32, f32, u64, i64 and f64.
const FETCH: [(&str, [&str; 6]); 8] = [
    (
        "add",
        [
            "add.u32", "add.u32", "add.f32", "add.u64", "add.u64", "add.f64",
        ],
    ),
    (
        "sub",
        [
            "add.u32", "add.u32", "add.f32", "add.u64", "add.u64", "add.f64",
        ],
    ),
    ("min", ["min.u32", "min.s32", "", "min.u64", "min.s64", ""]),
    ("max", ["max.u32", "max.s32", "", "max.u64", "max.s64", ""]),
    (
        "and",
        [
            "and.b32", "and.b32", "and.b32", "and.b64", "and.b64", "and.b64",
        ],
    ),
    (
        "or",
        ["or.b32", "or.b32", "or.b32", "or.b64", "or.b64", "or.b64"],
    ),
    (
        "xor",
        [
            "xor.b32", "xor.b32", "xor.b32", "xor.b64", "xor.b64", "xor.b64",
        ],
    ),
    (
        "exch",
        [
            "exch.b32", "exch.b32", "exch.b32", "exch.b64", "exch.b64", "exch.b64",
        ],
    ),
];
const TYPES: [&str; 6] = ["u32", "i32", "f32", "u64", "i64", "f64"];

fn name_of(kernel: &str) -> &str {
    let (_, rest) = kernel.split_once("fn ").expect("a function");
    rest.split_once('(').expect("parameters").0
}

/// Every function of `atomic::mid`: a kernel that calls it, and its instructions. The orderings
/// take turns over the functions; `add_u32` and the accesses have all of them.
fn atomics() -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (scope, short) in SCOPES {
        for (operation, instructions) in FETCH {
            for (index, (ty, instruction)) in TYPES.into_iter().zip(instructions).enumerate() {
                if instruction.is_empty() {
                    continue;
                }
                let orderings = match (operation, ty) {
                    ("add", "u32") => &ORDERINGS[..],
                    _ => &ORDERINGS[(index + operation.len()) % 5..][..1],
                };
                for ordering in orderings {
                    let function = format!("atomic_fetch_{operation}_{ty}_{scope}");
                    let call = format!("{function}(p, Ordering::{ordering}, v)");
                    all.push(kernel(&format!("{function}_{ordering}"), ty, &call));
                    let expected = exchange(ordering, short, instruction);
                    all.last_mut().expect("pushed").1 = expected;
                }
            }
        }
        for (ty, ordering) in TYPES.into_iter().zip(ORDERINGS.into_iter().cycle()) {
            let function = format!("atomic_compare_and_swap_{ty}_{scope}");
            let call = format!("{function}(p, v, *out, Ordering::{ordering})");
            let mut case = kernel(&function, ty, &call);
            case.1 = exchange(ordering, short, &format!("cas.b{}", &ty[1..]));
            all.push(case);
        }
        accesses(scope, short, &mut all);
    }
    all
}

fn kernel(name: &str, ty: &str, call: &str) -> (String, Vec<String>) {
    let name = format!("calls_{}", name.to_lowercase());
    let text = format!(
        "#[kernel] pub unsafe fn {name}(p: *mut {ty}, v: {ty}, out: *mut {ty}) \
         {{ unsafe {{ *out = {call}; }} }}\n"
    );
    (text, Vec::new())
}

fn exchange(ordering: &str, scope: &str, instruction: &str) -> Vec<String> {
    let semantics = match ordering {
        "Relaxed" => "relaxed",
        "Release" => "release",
        "AcqRel" => "acq_rel",
        _ => "acquire",
    };
    let mut expected = fence(ordering, scope);
    expected.push(format!("atom.{semantics}.{scope}.{instruction}"));
    expected
}

fn fence(ordering: &str, scope: &str) -> Vec<String> {
    let sequential = (ordering == "SeqCst").then(|| format!("fence.sc.{scope}"));
    Vec::from_iter(sequential)
}

fn accesses(scope: &str, short: &str, all: &mut Vec<(String, Vec<String>)>) {
    for width in ["32", "64"] {
        let ty = format!("u{width}");
        for (ordering, semantics) in [
            ("Relaxed", "relaxed"),
            ("Acquire", "acquire"),
            ("SeqCst", "acquire"),
        ] {
            let function = format!("atomic_load_{width}_{scope}");
            let call = format!("{function}(p, Ordering::{ordering})");
            let mut case = kernel(&format!("{function}_{ordering}"), &ty, &call);
            case.1 = fence(ordering, short);
            case.1.push(format!("ld.{semantics}.{short}.b{width}"));
            all.push(case);
        }
        for (ordering, semantics) in [
            ("Relaxed", "relaxed"),
            ("Release", "release"),
            ("SeqCst", "relaxed"),
        ] {
            let function = format!("atomic_store_{width}_{scope}");
            let call = format!("{{ {function}(p, Ordering::{ordering}, v); v }}");
            let mut case = kernel(&format!("{function}_{ordering}"), &ty, &call);
            case.1 = fence(ordering, short);
            case.1.push(format!("st.{semantics}.{short}.b{width}"));
            all.push(case);
        }
    }
    for (ordering, opcode) in [
        ("Acquire", "acq_rel"),
        ("Release", "acq_rel"),
        ("AcqRel", "acq_rel"),
        ("SeqCst", "sc"),
    ] {
        let call = format!("{{ {scope}_thread_fence(Ordering::{ordering}); v }}");
        let mut case = kernel(&format!("{scope}_fence_{ordering}"), "u32", &call);
        case.1.push(format!("fence.{opcode}.{short}"));
        all.push(case);
    }
}

const ATOMIC: [&str; 12] = [
    "atom",
    "red",
    "fence",
    "membar",
    "ld.relaxed",
    "ld.acquire",
    "ld.volatile",
    "st.relaxed",
    "st.release",
    "st.volatile",
    "bra",
    "trap",
];

#[test]
fn each_atomic_is_one_instruction_of_its_semantics_scope_operation_and_type() {
    let cases = atomics();
    assert_eq!(cases.len(), 3 * (44 + 4 + 6 + 12 + 4));
    for (kernel, expected) in cases {
        let name = name_of(&kernel);
        // The builder may have found out in which memory the value lies.
        let found = opcodes(name, &ATOMIC);
        let found: Vec<_> = found
            .iter()
            .map(|opcode| opcode.replace(".global", ""))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn the_typed_atomics_have_their_scopes() {
    assert_eq!(
        opcodes("typed", &ATOMIC),
        [
            "atom.relaxed.gpu.add.f32",
            "atom.release.cta.add.f64",
            "atom.acq_rel.sys.xor.b32",
            "ld.acquire.gpu.b64",
            "st.release.sys.b64",
        ]
    );
}

/// The documentation of `atomic` warns of this. When a compiler does better, it fails, and the
/// warning can go.
#[test]
fn the_compiler_drops_ordering_and_scope_of_core_atomics_that_fetch() {
    assert_eq!(
        opcodes("core_atomics", &ATOMIC),
        [
            "atom.global.add.u32",
            "atom.global.exch.b32",
            "atom.acq_rel.sys.global.cas.b32",
            "ld.acquire.sys.global.b32",
            "st.release.sys.global.b32",
            "fence.sc.sys",
        ]
    );
}

const EXACT: [(&str, [&str; 2]); 10] = [
    ("floor", ["cvt.rmi.f32.f32", "cvt.rmi.f64.f64"]),
    ("ceil", ["cvt.rpi.f32.f32", "cvt.rpi.f64.f64"]),
    ("trunc", ["cvt.rzi.f32.f32", "cvt.rzi.f64.f64"]),
    ("round_ties_even", ["cvt.rni.f32.f32", "cvt.rni.f64.f64"]),
    ("sqrt", ["sqrt.rn.f32", "sqrt.rn.f64"]),
    ("abs", ["abs.f32", "abs.f64"]),
    ("mul_add", ["fma.rn.f32", "fma.rn.f64"]),
    ("copysign", ["copysign.f32", "copysign.f64"]),
    ("min", ["min.f32", "min.f64"]),
    ("max", ["max.f32", "max.f64"]),
];

const APPROXIMATE: [(&str, &str); 9] = [
    ("sin", "sin"),
    ("cos", "cos"),
    ("exp2", "ex2"),
    ("log2", "lg2"),
    ("tanh", "tanh"),
    ("rcp", "rcp"),
    ("sqrt", "sqrt"),
    ("rsqrt", "rsqrt"),
    ("div", "div"),
];

/// Functions of one argument that are computed, not looked up in the instruction set.
const COMPUTED: &str = "round fract signum exp exp2 ln log2 log10 cbrt sin cos tan asin acos atan \
    exp_m1 ln_1p sinh cosh tanh asinh acosh atanh sinpi cospi error_function \
    complementary_error_function inv_error_function inv_complementary_error_function \
    scaled_complementary_error_function norm_cdf inv_norm_cdf gamma log_gamma j0 j1 y0 y1 \
    cyl_bessel_i0 cyl_bessel_i1 log1p exp10 rcbrt rsqrt saturate";

/// Expressions of the others.
const COMPUTED_WITH: &str = "x.div_euclid(y); x.rem_euclid(y); x.powi(n); x.powf(y); x.log(y); \
    x.hypot(y); x.atan2(y); x.sin_cos().0; x.sincospi().1; x.jn(n); x.yn(n); x.frexp().0; \
    x.ldexp(n); x.scale_by_n(n); x.norm3d(y, y); x.rhypot(y)";

fn floats() -> String {
    let mut source = String::new();
    for ty in ["f32", "f64"] {
        for (function, _) in EXACT {
            let arguments = match function {
                "mul_add" => "*p.add(1), *p.add(2)",
                "copysign" | "min" | "max" => "*p.add(1)",
                _ => "",
            };
            writeln!(
                source,
                "#[kernel] pub unsafe fn exact_{function}_{ty}(p: *mut {ty}) \
                 {{ unsafe {{ *p = (*p).{function}({arguments}); }} }}"
            )
            .expect("a string");
        }
        let unary = COMPUTED
            .split_whitespace()
            .map(|name| format!("x.{name}()"));
        let others = COMPUTED_WITH.split(';').map(|call| call.trim().to_owned());
        for (index, call) in unary.chain(others).enumerate() {
            writeln!(
                source,
                "#[kernel] pub unsafe fn computed_{index}_{ty}(p: *mut {ty}, y: {ty}, n: i32) \
                 {{ unsafe {{ let x = *p; *p = {call}; }} }}"
            )
            .expect("a string");
        }
    }
    for (function, _) in APPROXIMATE {
        let argument = if function == "div" { "*p.add(1)" } else { "" };
        writeln!(
            source,
            "#[kernel] pub unsafe fn fast_{function}(p: *mut f32) \
             {{ unsafe {{ *p = (*p).fast_{function}({argument}); }} }}"
        )
        .expect("a string");
    }
    source
}

/// What a kernel does besides reading its parameters and memory.
fn arithmetic(name: &str) -> Vec<&'static str> {
    let moves = ["ld.", "st.", "mov", "cvta", "ret", ".reg"];
    let is_move = |opcode: &&str| moves.iter().any(|stem| opcode.starts_with(stem));
    let opcodes = entry(name).iter().map(String::as_str);
    opcodes.filter(|opcode| !is_move(opcode)).collect()
}

#[test]
fn what_has_an_instruction_is_that_instruction() {
    for (function, expected) in EXACT {
        for (ty, expected) in ["f32", "f64"].into_iter().zip(expected) {
            let name = format!("exact_{function}_{ty}");
            assert_eq!(arithmetic(&name), [expected], "{name}");
        }
    }
    for (function, instruction) in APPROXIMATE {
        let expected = format!("{instruction}.approx.f32");
        assert_eq!(
            arithmetic(&format!("fast_{function}")),
            [expected],
            "{function}"
        );
    }
}

#[test]
fn everything_else_is_computed_without_panics_or_externals() {
    for word in [".extern", "panic", "trap;"] {
        let line = PTX.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "the PTX contains {word:?}");
    }
    assert_eq!(
        arithmetic("computed_0_f32"),
        ["copysign.f32", "add.rn.f32", "cvt.rzi.f32.f32"],
        "round"
    );
}

const OTHERS: &str = "
#[kernel]
pub unsafe fn typed(a: *const AtomicF32, b: *const BlockAtomicF64, c: *const SystemAtomicF32,
    d: *const AtomicF64, e: *const SystemAtomicF64) {
    unsafe {
        (*a).fetch_add(1.0, Ordering::Relaxed);
        (*b).fetch_sub(1.0, Ordering::Release);
        (*c).fetch_xor(1.0, Ordering::AcqRel);
        (*e).store((*d).load(Ordering::Acquire), Ordering::Release);
    }
}

#[kernel]
pub unsafe fn core_atomics(p: *mut u32, v: u32, out: *mut u32) {
    unsafe {
        let atomic = AtomicU32::from_ptr(p);
        *out = atomic.fetch_add(v, Ordering::AcqRel);
        *out.add(1) = atomic.swap(v, Ordering::SeqCst);
        *out.add(2) = atomic
            .compare_exchange(v, 3, Ordering::AcqRel, Ordering::Acquire)
            .unwrap_or_else(|other| other);
        *out.add(3) = atomic.load(Ordering::Acquire);
        atomic.store(v, Ordering::Release);
        core::sync::atomic::fence(Ordering::SeqCst);
    }
}

#[kernel]
pub unsafe fn copies(shared: *mut [f32; 4], global: *const [f32; 4], out: *mut f32) {
    unsafe {
        cp_async_cg(shared, global);
        cp_async_ca(shared.add(1).cast::<f64>(), global.add(1).cast::<f64>());
        cp_async_commit_group();
        cp_async_ca(shared.add(2).cast::<f32>(), global.add(2).cast::<f32>());
        cp_async_commit_group();
        cp_async_wait_group::<1>();
        *out = (*shared)[3];
        cp_async_wait_all();
        *out.add(1) = (*shared)[3];
    }
}

#[kernel]
pub unsafe fn misc_and_spaces(p: *mut u64) {
    unsafe {
        *p = misc::clock();
        *p.add(1) = misc::globaltimer();
        misc::profiler_counter(5);
        misc::breakpoint();
        *p.add(2) = is_in_address_space(p, AddressSpace::Shared).into();
        let own = convert_generic_to_specific_address_space(p, AddressSpace::Constant);
        *p.add(3) = own.addr() as u64;
        let generic = convert_specific_address_space_to_generic(p, AddressSpace::Local);
        *p.add(4) = generic.addr() as u64;
    }
}

#[kernel]
pub unsafe fn halves(p: *mut u16, q: *mut f32) {
    unsafe {
        *q = f16::from_bits(*p).to_f32() + bf16::from_bits(*p.add(1)).to_f32();
        *p = f16::from_f32(*q.add(1)).to_bits();
        *p.add(1) = bf16::from_f32(*q.add(1)).to_bits();
    }
}
";

#[test]
fn copies_groups_and_waits_keep_their_order_with_the_loads() {
    let stems = ["cp.async", "ld.global", "ld.b32", "ld.f32"];
    let order = opcodes("copies", &stems);
    assert_eq!(
        order
            .iter()
            .map(|opcode| opcode.replace(".b32", ""))
            .collect::<Vec<_>>(),
        [
            "cp.async.cg.shared.global",
            "cp.async.ca.shared.global",
            "cp.async.commit_group",
            "cp.async.ca.shared.global",
            "cp.async.commit_group",
            "cp.async.wait_group",
            "ld.global",
            "cp.async.wait_all",
            "ld.global",
        ]
    );
}

#[test]
fn clocks_events_and_address_spaces_are_their_instructions() {
    let stems = [
        "pmevent",
        "brkpt",
        "isspacep",
        "cvta.to.const",
        "cvta.local",
    ];
    assert_eq!(
        opcodes("misc_and_spaces", &stems),
        [
            "pmevent",
            "brkpt",
            "isspacep.shared",
            "cvta.to.const.u64",
            "cvta.local.u64"
        ]
    );
    assert!(!entry("halves").is_empty());
}
