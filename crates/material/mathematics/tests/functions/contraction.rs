//! The functions' bits do not depend on whether the compiler fuses products with sums, as `CudaBuilder`
//! lets it by default.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cuda_builder::{CudaBuilder, NvvmArch};
use mathematics::ptx;

/// In these the function ends with a product, which the loop's own sum takes up, or has an exact one, by a
/// power of 2.
const TAKEN_UP: &[&str] = &[
    "cosh_bits",
    "cosh_f32",
    "erf_inv_f32",
    "erfc_inv_f32",
    "exp10_f32",
    "exp_f32",
    "ldexp_f32",
    "ldexp_f64",
    "norm_cdf_inv_f32",
];

fn a_compiler_that_may_fuse_finds_nothing_to_fuse() {
    let (arch, apart, _) = ptx()[0];
    let (apart, fused) = (fused_operations(apart), fused_operations(&contracted(arch)));
    assert!(apart.len() > 100, "{} kernels", apart.len());
    let differ = |name: &&String| apart[*name] != fused[*name];
    let differing: Vec<&String> = apart.keys().filter(differ).collect();
    assert_eq!(differing, TAKEN_UP);
}

/// The PTX of the kernels for the architecture of this number, as a compiler makes it that may fuse. The package has that of
/// one that may not: `build.rs` says so.
fn contracted(arch: u32) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let arch: NvvmArch = arch
        .to_string()
        .parse()
        .expect("what the PTX was built for");
    let ptx = CudaBuilder::new(folder.join("kernels"))
        .target_dir(folder.join("../../../target/ptx"))
        .arch(arch)
        .fma_contraction(true)
        .build()
        .unwrap_or_else(|error| panic!("{error}"));
    fs::read_to_string(ptx).expect("it was built")
}

/// Of each kernel, how many fused operations it has.
fn fused_operations(text: &str) -> BTreeMap<String, usize> {
    let entries = text.split(".visible .entry ").skip(1);
    let count = |entry: &str| {
        let (name, rest) = entry.split_once('(').expect("parameters");
        let (body, _) = rest.split_once("\n}").expect("an end");
        (name.to_owned(), body.matches("\tfma.rn").count())
    };
    entries.map(count).collect()
}

/// The cases of this module.
pub(crate) fn trials() -> Vec<gpu_test::Trial> {
    gpu_test::trials![a_compiler_that_may_fuse_finds_nothing_to_fuse,].into()
}
