//! Each function of `atomic` is the instructions that its name, scope and ordering say.

use cuda_builder::toolchain;

use crate::opcodes;

/// A kernel that makes one call, and its instructions.
type Case = (String, Vec<String>);

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
const SCOPES: [(&str, &str); 3] = [("block", "cta"), ("device", "gpu"), ("system", "sys")];

/// The type of each operation's instruction, for u32, i32, f32, u64, i64 and f64.
const FETCH: [(&str, [&str; 6]); 10] = [
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
    ("inc", ["inc.u32", "", "", "", "", ""]),
    ("dec", ["dec.u32", "", "", "", "", ""]),
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

/// The kernels of this file.
pub(crate) fn source() -> String {
    let kernels = atomics().into_iter().map(|(kernel, _)| kernel);
    kernels.chain([OTHERS.to_owned()]).collect()
}

/// Every function of `atomic::mid`: a kernel that calls it, and its instructions. The orderings
/// take turns over the functions; `add_u32` and the accesses have all of them.
fn atomics() -> Vec<Case> {
    let mut all = Vec::new();
    for (scope, short) in SCOPES {
        fetches(scope, short, &mut all);
        for (ty, ordering) in TYPES.into_iter().zip(ORDERINGS.into_iter().cycle()) {
            let function = format!("atomic_compare_and_swap_{ty}_{scope}");
            let call = format!("{function}(p, v, *out, Ordering::{ordering})");
            let expected = exchange(ordering, short, &format!("cas.b{}", &ty[1..]));
            all.push((kernel(&function, ty, &call), expected));
        }
        accesses(scope, short, &mut all);
        fences(scope, short, &mut all);
    }
    all
}

fn fetches(scope: &str, short: &str, all: &mut Vec<Case>) {
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
                let kernel = kernel(&format!("{function}_{ordering}"), ty, &call);
                all.push((kernel, exchange(ordering, short, instruction)));
            }
        }
    }
}

fn kernel(name: &str, ty: &str, call: &str) -> String {
    let name = format!("calls_{}", name.to_lowercase());
    format!(
        "#[kernel] pub unsafe fn {name}(p: *mut {ty}, v: {ty}, out: *mut {ty}) \
         {{ unsafe {{ *out = {call}; }} }}\n"
    )
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

fn accesses(scope: &str, short: &str, all: &mut Vec<Case>) {
    let loads = [
        ("Relaxed", "relaxed"),
        ("Acquire", "acquire"),
        ("SeqCst", "acquire"),
    ];
    let stores = [
        ("Relaxed", "relaxed"),
        ("Release", "release"),
        ("SeqCst", "relaxed"),
    ];
    for width in ["32", "64"] {
        let ty = format!("u{width}");
        for (ordering, semantics) in loads {
            let function = format!("atomic_load_{width}_{scope}");
            let call = format!("{function}(p, Ordering::{ordering})");
            let mut expected = fence(ordering, short);
            expected.push(format!("ld.{semantics}.{short}.b{width}"));
            all.push((
                kernel(&format!("{function}_{ordering}"), &ty, &call),
                expected,
            ));
        }
        for (ordering, semantics) in stores {
            let function = format!("atomic_store_{width}_{scope}");
            let call = format!("{{ {function}(p, Ordering::{ordering}, v); v }}");
            let mut expected = fence(ordering, short);
            expected.push(format!("st.{semantics}.{short}.b{width}"));
            all.push((
                kernel(&format!("{function}_{ordering}"), &ty, &call),
                expected,
            ));
        }
    }
}

fn fences(scope: &str, short: &str, all: &mut Vec<Case>) {
    for ordering in &ORDERINGS[1..] {
        let call = format!("{{ {scope}_thread_fence(Ordering::{ordering}); v }}");
        let kernel = kernel(&format!("{scope}_fence_{ordering}"), "u32", &call);
        let opcode = if *ordering == "SeqCst" {
            "sc"
        } else {
            "acq_rel"
        };
        all.push((kernel, vec![format!("fence.{opcode}.{short}")]));
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
    assert_eq!(cases.len(), 3 * (46 + 4 + 6 + 12 + 4));
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
            "atom.relaxed.gpu.global.add.f32",
            "atom.release.cta.global.add.f64",
            "atom.acq_rel.sys.global.xor.b32",
            "ld.acquire.gpu.global.b64",
            "st.release.sys.global.b64",
        ]
    );
}

/// The documentation of `atomic` says since when those that fetch are right.
#[test]
fn core_atomics_keep_their_ordering_and_scope_since_rust_1_99() {
    let compiler = toolchain::installed().expect("it has built the kernels");
    let fetch: &[&str] = match compiler.version >= (1, 99) {
        true => &[
            "atom.acq_rel.sys.global.add.u32",
            "fence.sc.sys",
            "atom.acquire.sys.global.exch.b32",
        ],
        false => &["atom.global.add.u32", "atom.global.exch.b32"],
    };
    let others = [
        "atom.acq_rel.sys.global.cas.b32",
        "ld.acquire.sys.global.b32",
        "st.release.sys.global.b32",
        "fence.sc.sys",
    ];
    assert_eq!(opcodes("core_atomics", &ATOMIC), [fetch, &others].concat());
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
";
