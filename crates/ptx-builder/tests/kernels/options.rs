//! Each setter that changes the PTX, and the PTX that comes of it.

use std::fs;
use std::path::Path;

use ptx_builder::{CudaBuilder, DebugInfo, Panics};

use crate::support::{builder, kernel_crate};

const KERNEL: &str = r#"
/// # Safety
/// y has room for 9 elements.
#[kernel]
pub unsafe fn arithmetic(x: &[f32], y: *mut f32, n: u32) {
    unsafe {
        *y = x[0] / x[1];
        *y.add(1) = core::intrinsics::sqrtf32(x[2]);
        *y.add(2) = x[3] * x[4] + x[5];
        *y.add(3) = (n + 1) as f32;
        *y.add(4) = if cfg!(feature = "extra") { 41.0 } else { 42.0 };
        *y.add(5) = if const { env!("CUDA_ARCH").as_bytes()[0] == b'9' } { 51.0 } else { 52.0 };
        *y.add(6) = if cfg!(all(target_feature = "compute_90", target_feature = "compute_61")) { 61.0 } else { 62.0 };
        *y.add(7) = if cfg!(target_feature = "compute_100") { 71.0 } else { 72.0 };
        for i in 0..x.len() {
            *y.add(8) += *x.get_unchecked(i);
        }
    }
}
"#;

/// The PTX of [`KERNEL`], in a crate of its own name, so that tests do not take each other's files.
fn ptx(name: &str, set: impl FnOnce(CudaBuilder) -> CudaBuilder) -> String {
    let folder = kernel_crate(name, KERNEL);
    let path = set(builder(&folder)).build().expect("it builds");
    fs::read_to_string(path).expect("written")
}

fn stores(ptx: &str, value: f32) -> bool {
    let bits = value.to_bits();
    ptx.contains(&format!("0f{bits:08X}")) || ptx.contains(&format!(", {bits};"))
}

#[track_caller]
fn check(ptx: &str, present: &[&str], absent: &[&str]) {
    for word in present {
        assert!(ptx.contains(word), "{word} is not in\n{ptx}");
    }
    for word in absent {
        assert!(!ptx.contains(word), "{word} is in\n{ptx}");
    }
}

#[test]
fn by_default_arithmetic_is_exact_fused_and_says_its_lines() {
    let ptx = ptx("fixture-default", |builder| builder);
    check(
        &ptx,
        &[
            "div.rn.f32",
            "sqrt.rn.f32",
            "fma.rn.f32",
            ".loc\t",
            "st.volatile",
        ],
        &["approx", "ptxstd_kind, 8", ", debug"],
    );
}

#[test]
fn the_architecture_is_a_variable_and_cfgs() {
    let ptx = ptx("fixture-arch", |builder| builder);
    for value in [51.0, 61.0, 72.0] {
        assert!(stores(&ptx, value), "{value} is not in\n{ptx}");
    }
    for value in [52.0, 62.0, 71.0] {
        assert!(!stores(&ptx, value), "{value} is in\n{ptx}");
    }
}

#[test]
fn fast_math_approximates_and_its_parts_do_their_part() {
    let all = ptx("fixture-fast-math", |builder| builder.fast_math(true));
    check(
        &all,
        &["div.approx.f32", "sqrt.approx.f32", "fma.rn.f32"],
        &["ftz"],
    );
    let div = ptx("fixture-fast-div", |builder| builder.fast_div(true));
    check(&div, &["div.approx.f32", "sqrt.rn.f32"], &[]);
    let sqrt = ptx("fixture-fast-sqrt", |builder| builder.fast_sqrt(true));
    check(&sqrt, &["div.rn.f32", "sqrt.approx.f32"], &[]);
    let apart = ptx("fixture-apart", |builder| builder.fma_contraction(false));
    check(&apart, &["mul.rn.f32", "add.rn.f32"], &["fma.rn"]);
}

#[test]
fn an_option_taken_back_gives_the_first_ptx_again() {
    let folder = kernel_crate("fixture-back", KERNEL);
    let ptx = |fast| {
        let path = builder(&folder).fast_div(fast).build().expect("it builds");
        fs::read_to_string(path).expect("written")
    };
    let first = ptx(false);
    assert_ne!(first, ptx(true));
    assert_eq!(first, ptx(false));
}

#[test]
fn line_directives_are_left_out_on_demand() {
    let without = ptx("fixture-no-lines", |builder| {
        builder.generate_line_info(false)
    });
    check(&without, &["div.rn.f32"], &[".loc\t"]);
    let with = ptx("fixture-lines", |builder| {
        builder
            .generate_line_info(false)
            .debug(DebugInfo::LineTables)
    });
    check(&with, &[".loc\t"], &[", debug"]);
}

#[test]
fn variables_are_told_on_demand() {
    let ptx = ptx("fixture-variables", |builder| {
        builder.debug(DebugInfo::Full)
    });
    check(
        &ptx,
        &[".loc\t", ", debug", ".debug_info", ".debug_loc"],
        &["aranges"],
    );
    let module = ptx::parse(&ptx).expect("what ptxas takes");
    assert!(
        module
            .section(".debug_info")
            .is_some_and(|it| !it.addresses.is_empty())
    );
}

#[test]
fn a_panic_with_its_message_calls_the_driver() {
    let ptx = ptx("fixture-message", |builder| builder.panics(Panics::Message));
    let called = ["__assertfail", "panic_bounds_check"];
    check(&ptx, &called, &["__ptx_std_panic"]);
}

#[test]
fn a_panic_as_a_trap_leaves_no_panic_machinery() {
    let ptx = ptx("fixture-trap", |builder| builder.panics(Panics::Trap));
    check(&ptx, &["trap;"], &["panic_bounds_check", ".func", "call"]);
}

#[test]
fn without_release_arithmetic_is_checked_and_loops_stay_rolled() {
    let folder = kernel_crate("fixture-debug", KERNEL);
    let build = |set: fn(CudaBuilder) -> CudaBuilder| {
        let builder = builder(&folder).panics(Panics::Message);
        let path = set(builder).build().expect("it builds");
        fs::read_to_string(path).expect("written")
    };
    let loads = |ptx: &str| ptx.matches("ld.global.b32").count();
    let checked = build(|builder| builder.release(false).nvvm_opts(true));
    check(&checked, &["panic_const_add_overflow"], &[]);
    let unoptimized = build(|builder| builder.release(false));
    check(&unoptimized, &["panic_const_add_overflow"], &[]);
    assert!(loads(&unoptimized) < loads(&checked), "{unoptimized}");
}

#[test]
fn arguments_reach_cargo() {
    let ptx = ptx("fixture-arguments", |builder| {
        builder.build_args(&["--features", "extra"])
    });
    assert!(stores(&ptx, 41.0) && !stores(&ptx, 42.0), "{ptx}");
}

#[test]
fn llvms_text_and_bitcode_lie_beside_the_ptx_and_where_they_were_asked_for() {
    let folder = kernel_crate("fixture-emit", KERNEL);
    let at = |name: &str| folder.path().join(name);
    builder(&folder)
        .copy_to(at("kernels.ptx"))
        .emit_llvm_ir(true)
        .emit_llvm_bitcode(true)
        .final_module_path(at("module.ll"))
        .build()
        .expect("it builds");
    let text = |path: &Path| fs::read_to_string(path).expect("written");
    for path in [at("kernels.ll"), at("module.ll")] {
        assert!(
            text(&path).contains("ptx_kernel void @arithmetic("),
            "{}",
            path.display()
        );
    }
    let bitcode = fs::read(at("kernels.bc")).expect("written");
    assert!(bitcode.starts_with(b"BC\xC0\xDE"));
}
