//! The compiler that the environment names: one test, in a process of its own.

use std::path::Path;

use ptx_builder::toolchain;

#[test]
fn the_named_compiler_is_used_or_refused_and_no_other_is_looked_for() {
    // SAFETY: this is the only test of its process, and nothing else reads the environment yet.
    unsafe { std::env::set_var("PTX_BUILDER_RUSTC", "/nonexistent/rustc") };
    let error = toolchain::find(Path::new("."))
        .expect_err("not there")
        .to_string();
    for part in [
        "/nonexistent/rustc: it does not run",
        "version 1.96 or newer",
        "rustup toolchain install 1.96.0",
        "apt-get install rustc-web",
    ] {
        assert!(error.contains(part), "{part:?} is not in:\n{error}");
    }
    assert_eq!(error.matches("rustc: ").count(), 1, "{error}");
}
