//! Tells dependents' build scripts where this crate is, so that they build its PTX: as
//! `DEP_RIDGEPOINT_KERNELS_FOLDER`.

fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    println!("cargo::metadata=folder={folder}");
    println!("cargo::rerun-if-changed=build.rs");
    // Another checkout may share the target folder.
    println!("cargo::rerun-if-env-changed=RIDGEPOINT_WORKSPACE");
}
