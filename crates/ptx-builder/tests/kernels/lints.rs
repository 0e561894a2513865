//! Code that the builder refuses in the PTX of real kernels, each with a twin that it does not.

use ptx_builder::{CudaBuilder, CudaBuilderError, Finding, Level, Lint, NvvmArch, Severity};

use crate::support::{build, builder, kernel_crate};

/// Denies the lint alone.
fn only(builder: CudaBuilder, lint: Lint) -> CudaBuilder {
    let quiet = Lint::ALL
        .iter()
        .fold(builder, |builder, &other| builder.lint(other, Level::Allow));
    quiet.lint(lint, Level::Deny)
}

/// Returns the lint's findings in the kernels, which begin in line 3.
fn findings(name: &str, lint: Lint, kernels: &str) -> Vec<Finding> {
    let folder = kernel_crate(name, kernels);
    match only(build(&folder), lint).build() {
        Ok(_) => Vec::new(),
        Err(CudaBuilderError::Lints { findings, .. }) => findings,
        Err(other) => panic!("{other}"),
    }
}

/// Asserts one finding in the kernel `faulty` at the line, and so none in the twin, which is built beside it.
fn assert_found(lint: Lint, line: u32, faulty: &str, clean: &str) {
    let both =
        format!("mod faulty {{ use super::*; {faulty}\n}}\nmod clean {{ use super::*; {clean}\n}}");
    let found = findings(&format!("fixture-{lint}"), lint, &both);
    let [finding] = &found[..] else {
        panic!("one finding, not {found:#?}");
    };
    let place = finding.place.as_ref().expect("a line");
    assert_eq!(finding.kernel, "faulty", "{finding}");
    assert!(place.file.ends_with("src/lib.rs"), "{finding}");
    assert_eq!(place.line, line, "{finding}");
    assert_eq!(finding.severity, Severity::Error);
}

#[test]
fn a_function_that_nothing_defines() {
    assert_found(
        Lint::UnresolvedExternal,
        4,
        "unsafe extern \"C\" { fn missing(x: f32) -> f32; }
#[kernel] pub unsafe fn faulty(y: *mut f32) { unsafe { *y = missing(*y) } }",
        "#[inline(never)] fn present(x: f32) -> f32 { x * 2.0 }
#[kernel] pub unsafe fn clean(y: *mut f32) { unsafe { *y = present(*y) } }",
    );
}

const TILE: &str = r#"
#[inline(always)] fn tile() -> *mut f32 { let p: *mut f32; unsafe { core::arch::asm!(
"mov.u64 {p}, __shared_fixture__4_256; cvta.shared.u64 {p}, {p};", p = out(reg64) p,
options(pure, nomem, nostack)) }; p }"#;

#[test]
fn an_access_to_shared_memory_or_to_another() {
    assert_found(
        Lint::GenericSharedAccess,
        9,
        &format!(
            "{TILE}
#[kernel] pub unsafe fn faulty(x: *mut f32, n: usize) {{
    let either = if n > 3 {{ tile() }} else {{ x }};
    unsafe {{ *either = 1.0 }};
}}"
        ),
        &format!(
            "{TILE}
#[kernel] pub unsafe fn clean(x: *mut f32, n: usize) {{
    unsafe {{ if n > 3 {{ *tile() = *x }} else {{ *x += 1.0 }} }};
}}"
        ),
    );
}

#[test]
fn an_array_indexed_by_what_only_the_run_tells() {
    assert_found(
        Lint::LocalMemory,
        4,
        "#[kernel] pub unsafe fn faulty(y: *mut u32, n: usize, m: usize) {
    let mut all = [1_u32, 2, 3, 4, 5];
    all[n % 5] = 7;
    unsafe { *y = all[m % 5] };
}",
        "#[kernel] pub unsafe fn clean(y: *mut u32, n: u32) {
    let mut all = [1_u32, 2, 3, 4, 5];
    for one in &mut all { *one *= n }
    unsafe { *y = all.iter().sum() };
}",
    );
}

#[test]
fn an_index_checked_in_a_loop() {
    assert_found(
        Lint::PanicInLoop,
        5,
        "#[kernel] pub unsafe fn faulty(x: &[f32], y: *mut f32, n: usize) {
    let mut sum = 0.0;
    for i in 0..n { sum += x[i * 3] }
    unsafe { *y = sum };
}",
        "#[kernel] pub unsafe fn clean(x: &[f32], y: *mut f32, n: usize) {
    let mut sum = 0.0;
    for v in x[..n].iter().step_by(3) { sum += v }
    unsafe { *y = sum };
}",
    );
}

#[test]
fn a_remainder_of_floats_by_the_operator() {
    assert_found(
        Lint::InexactRemainder,
        4,
        "#[kernel] pub unsafe fn faulty(x: &[f32; 2], y: *mut f32) {
    unsafe { *y = x[0] % x[1] };
}",
        "#[kernel] pub unsafe fn clean(x: &[f32; 2], y: *mut f32) {
    unsafe { *y = x[0].rem_euclid(x[1]) };
}",
    );
}

#[test]
fn the_address_of_what_stands_in_for_shared_memory() {
    let kernel = "#[address_space(shared)] static mut TILE: [f32; 64] = [0.0; 64];
#[kernel] pub unsafe fn NAME(y: *mut f32) {
    let i = thread::thread_idx_x() as usize;
    let tile = unsafe { ADDRESS }.cast::<f32>();
    unsafe { *tile.add(i) = *y.add(i) };
    thread::sync_threads();
    unsafe { *y.add(i) = *tile.add(63 - i) };
}";
    let with = |name: &str, address: &str| kernel.replace("NAME", name).replace("ADDRESS", address);
    let faulty = with("faulty", "&raw mut TILE");
    let found = findings("fixture-faulty-stand-in", Lint::StandInAddress, &faulty);
    assert!(!found.is_empty(), "it is found");
    for finding in found {
        let place = finding.place.as_ref().expect("a line");
        assert!((6..=9).contains(&place.line), "{finding}");
        assert!(finding.message.contains("`&raw mut *TILE`"), "{finding}");
    }
    let clean = with("clean", "&raw mut *TILE");
    assert_eq!(
        findings("fixture-clean-stand-in", Lint::StandInAddress, &clean),
        []
    );
}

fn description(parameters: &str) -> String {
    format!(
        "core::arch::global_asm!(\"// ptx-std kernel NAME file=src/lib.rs line=5 \
         params={parameters} max_threads=256 min_blocks=4 block=0,0,0 allow=\");
#[kernel] pub unsafe fn NAME(x: &[f32], y: *mut f32) {{ unsafe {{ *y = x.len() as f32 }} }}"
    )
}

#[test]
fn parameters_other_than_described() {
    assert_found(
        Lint::EntryParameters,
        5,
        &description("8,8").replace("NAME", "faulty"),
        &description("8,8,8").replace("NAME", "clean"),
    );
}

#[test]
fn each_barrier_of_the_source_occurs_once() {
    let kernels = "
#[inline(never)] fn meet(x: f32) -> f32 { thread::sync_threads(); x + 1.0 }
#[kernel] pub unsafe fn after_a_branch(y: *mut f32, n: usize) {
    let t = thread::thread_idx_x() as usize;
    unsafe { if t < n { *y.add(t) = 1.0 } else { *y.add(2 * t) = 2.0 } };
    thread::sync_threads();
    unsafe { if t < n { *y.add(3 * t) = *y } };
}
#[kernel] pub unsafe fn in_a_helper(y: *mut f32, n: usize) {
    let t = thread::thread_idx_x() as usize;
    let x = if t < n { 1.0 } else { 2.0 };
    unsafe { *y.add(t) = meet(x) };
}
#[kernel] pub unsafe fn in_a_loop(y: *mut f32, n: usize) {
    let t = thread::thread_idx_x() as usize;
    for i in 0..n {
        unsafe { if t < i { *y.add(t) += 1.0 } };
        thread::sync_threads();
        unsafe { *y.add(t + i) += *y };
    }
}";
    let folder = kernel_crate("fixture-barriers", kernels);
    let path = only(build(&folder), Lint::DuplicatedBarrier)
        .build()
        .expect("nothing is found");
    let ptx = std::fs::read_to_string(path).expect("written");
    let barriers = |of: &str| {
        let (_, body) = ptx.split_once(of).expect("there");
        let end = body.find("\n}").expect("its end");
        body[..end].matches("bar.sync").count()
    };
    assert_eq!(barriers("4meet("), 1, "{ptx}");
    assert_eq!(barriers(".entry after_a_branch("), 1, "{ptx}");
    assert_eq!(barriers(".entry in_a_helper("), 0, "{ptx}");
    // An unrolled loop has one for each of its turns: four, and the one that turns left over meet at.
    assert!([1, 5].contains(&barriers(".entry in_a_loop(")), "{ptx}");
}

#[test]
fn a_barrier_that_the_compiler_copied() {
    // Inline assembly is not convergent, so the compiler takes the barrier into both arms, to
    // test the condition once.
    let kernel = "#[inline(always)] fn meet() {
    BARRIER
}
#[kernel] pub unsafe fn NAME(y: *mut f32, n: u32) {
    let few = thread::thread_idx_x() < n;
    if few { unsafe { *y = 1.0 } }
    meet();
    if few { unsafe { *y.add(1) = 2.0 } }
}";
    let with = |name: &str, barrier: &str| kernel.replace("NAME", name).replace("BARRIER", barrier);
    assert_found(
        Lint::DuplicatedBarrier,
        4,
        &with("faulty", "unsafe { core::arch::asm!(\"bar.sync 0;\") }"),
        &with("clean", "thread::sync_threads()"),
    );
}

#[test]
fn findings_are_listed_one_a_line_with_what_to_do() {
    let kernels = "#[kernel] pub unsafe fn looks_up(y: *mut u32, n: usize, m: usize) {
    let mut all = [1_u32, 2, 3, 4, 5];
    all[n % 5] = 7;
    unsafe { *y = all[m % 5] };
}";
    let folder = kernel_crate("fixture-listed", kernels);
    let denied = |builder: CudaBuilder| builder.lint(Lint::LocalMemory, Level::Deny);
    let error = denied(build(&folder))
        .build()
        .expect_err("it is denied")
        .to_string();
    for part in [
        "sm_90",
        "\n  kernel looks_up, src/lib.rs:4: local-memory: ",
        "20 bytes",
        "index arrays",
    ] {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
    build(&folder).build().expect("a warning is no error");
    let error = denied(builder(&folder))
        .generate_line_info(false)
        .build()
        .expect_err("it is denied without lines too")
        .to_string();
    assert!(
        error.contains("\n  kernel looks_up, src/lib.rs:3: local-memory: "),
        "the kernel's own line: {error}"
    );
}

/// A warpgroup that multiplies, `LAST` of whose sums are written.
const WARPGROUP: &str = "
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::wgmma::{Accumulator, KMajor, N64, Previous, Swizzle128};
#[inline(INLINED)] unsafe fn add(sums: &mut Accumulator<N64>, tile: KMajor<bf16, Swizzle128>) { unsafe {
let mut in_flight = sums.begin(); in_flight.open_group();
in_flight.multiply(Previous::Keep, tile.step::<0>(), tile.step::<1>()); in_flight.commit(); } }
#[kernel(block = [128], min_blocks = 1)] pub unsafe fn KERNEL(y: *mut f32, n: u32) { unsafe {
let tile = KMajor::new(SharedPtr::new(dynamic_shared_mem::<bf16>()).align_up(1024));
let mut sums = Accumulator::<N64>::zeroed();
for _ in 0..n { add(&mut sums, tile) }
*y = sums.values()[LAST]; } }";

#[test]
fn tensor_cores_that_wait() {
    let found = |name: &str, kernels: &str| {
        let folder = kernel_crate(name, kernels);
        let builder = only(build(&folder), Lint::TensorCoreLoss).arch(NvvmArch::Compute90a);
        match builder.build() {
            Ok(_) => String::new(),
            Err(CudaBuilderError::Lints { findings, .. }) => findings
                .iter()
                .map(|finding| format!("{finding}\n"))
                .collect(),
            Err(other) => panic!("{other}"),
        }
    };
    let warpgroup = |inlined: &str, kernel: &str, last: &str| {
        let text = WARPGROUP.replace("INLINED", inlined);
        text.replace("KERNEL", kernel).replace("LAST", last)
    };
    let clean = warpgroup("always", "clean", "5");
    assert_eq!(found("fixture-clean-wgmma", &clean), "");

    let called = found("fixture-called-wgmma", &warpgroup("never", "called", "5"));
    assert!(called.starts_with("kernel called, "), "{called}");
    assert!(
        called.contains("src/lib.rs:9: tensor-core-loss: "),
        "{called}"
    );
    assert!(called.contains("C7510"), "{called}");

    let indexed = warpgroup("always", "indexed", "n as usize % 32");
    let indexed = found("fixture-indexed-wgmma", &indexed);
    assert!(
        indexed.contains("kernel indexed") && indexed.contains("local memory"),
        "{indexed}"
    );

    let registers = |bounds: &str| {
        format!(
            "#[kernel({bounds})] pub unsafe fn registers() {{ \
             unsafe {{ cuda_std::warpgroup::increase_registers::<232>() }} }}"
        )
    };
    let unbound = found("fixture-unbound-registers", &registers(""));
    assert!(unbound.contains("C7508"), "{unbound}");
    let bound = registers("max_threads = 256, min_blocks = 1");
    assert_eq!(found("fixture-bound-registers", &bound), "");
}

/// Findings of the lint, as a build shows them.
fn refusals(name: &str, kernels: &str) -> Vec<String> {
    let found = findings(name, Lint::PtxasRefuses, kernels);
    assert!(found.iter().all(|it| it.severity == Severity::Error));
    found.iter().map(ToString::to_string).collect()
}

/// The kernels of building.md's finding are safe Rust: LLVM keeps the atomic where it keeps the array.
#[test]
fn a_compare_exchange_in_the_threads_own_memory_is_refused_with_advice() {
    let kernels = "use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
fn count(n: u32, bins: &[AtomicU32; 10]) {
    let _ = bins[(n % 10) as usize].fetch_update(Relaxed, Relaxed, |v| v.checked_add(1));
}
#[kernel] pub fn faulty(x: &[u32], mut y: Output<u32>) {
    for (x, y) in y.own_with(x) {
        let bins = [const { AtomicU32::new(0) }; 10];
        count(*x, &bins);
        *y = bins[(*x % 7) as usize].load(Relaxed);
    }
}";
    let found = refusals("fixture-local-atomic", kernels);
    assert!(!found.is_empty(), "it is refused");
    for finding in found {
        assert!(
            finding.starts_with("kernel faulty, src/lib.rs:"),
            "{finding}"
        );
        assert!(
            finding.contains(": ptxas-refuses: no GPU loads this PTX"),
            "{finding}"
        );
        assert!(
            finding.contains("`atom.relaxed.sys.local.cas.b32`"),
            "{finding}"
        );
        assert!(
            finding.contains("use a plain variable or `Cell`"),
            "{finding}"
        );
    }
}

#[test]
fn more_shared_memory_than_a_block_has_is_refused() {
    let kernel = |elements: u32| {
        format!(
            "#[kernel(block = [64])] pub unsafe fn faulty(y: *mut u32) {{
    let s = shared_array![u32; {elements}];
    let t = thread::thread_idx_x() as usize;
    unsafe {{ *s.add({elements} - 64 + t) = t as u32 }};
    thread::sync_threads();
    unsafe {{ *y.add(t) = *s.add({elements} - 1 - t) }};
}}"
        )
    };
    let found = refusals("fixture-big-shared", &kernel(15_000));
    let [finding] = &found[..] else {
        panic!("one finding, not {found:#?}");
    };
    assert!(
        finding.starts_with("kernel faulty, src/lib.rs:3: ptxas-refuses: "),
        "{finding}"
    );
    assert!(
        finding.contains("60000 bytes of static shared memory; a block has 49152"),
        "{finding}"
    );
    assert_eq!(refusals("fixture-all-shared", &kernel(12_288)), [""; 0]);
}

/// Inline assembly that this crate's parser takes as `ptxas` does not: of a feature that its architecture lacks.
#[test]
fn what_only_ptxas_refuses_is_refused_where_it_is_found() {
    let kernels = "#[kernel] pub unsafe fn faulty(y: *mut u32) {
    let x: u32;
    unsafe { core::arch::asm!(\"redux.sync.min.f32 {0}, {0}, -1;\", out(reg32) x) };
    unsafe { *y = x };
}";
    let found = refusals("fixture-redux", kernels);
    let [finding] = &found[..] else {
        panic!("one finding, not {found:#?}");
    };
    assert!(
        finding.starts_with("kernel faulty, src/lib.rs:5: ptxas-refuses: "),
        "{finding}"
    );
    assert!(
        finding.contains("ptxas: ") && finding.contains("redux"),
        "{finding}"
    );
    let folder = kernel_crate("fixture-redux-allowed", kernels);
    let allowed = build(&folder)
        .lint(Lint::PtxasRefuses, Level::Allow)
        .build_all();
    let allowed = allowed.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(allowed[0].resources, None, "there is nothing to report");
}
