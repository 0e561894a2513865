//! Every architecture that can be built for: its PTX, and NVIDIA's assembler where it knows it.

use std::fs;
use std::process::Command;

use ptx_builder::nvidia::Tool;
use ptx_builder::{NvvmArch, Ptx};

use crate::support::{builder, kernel_crate, workspace};

/// A kernel of all that differs between architectures: joint actions of the warp, atomics, and the driver's functions
/// for the heap and for panics.
const KERNEL: &str = "
use cuda_std::atomic::{Ordering, mid::*};
use cuda_std::warp::*;

/// # Safety
/// `y` and `bits` have one element per thread.
#[kernel]
pub unsafe fn all(x: &[f32], y: *mut f32, bits: *mut u32) {
    let turned = shared_array![f32; 64];
    let i = thread::index_1d() as usize;
    let mask = activemask();
    unsafe {
        *turned.add(i % 64) = *x.as_ptr().add(i);
        thread::sync_threads();
        let (other, _) = warp_shuffle_xor(mask, *turned.add(63 - i % 64), 1, 32);
        let any = warp_vote_any(mask, other > 0.0);
        let equal = warp_match_any(mask, other);
        let sum = warp_reduce(mask, i as u32, WarpReductionOp::Add);
        *bits.add(i) = sum + equal + u32::from(any);
        atomic_fetch_dec_u32_device(bits, Ordering::AcqRel, 9);
        atomic_fetch_add_f32_system(y, Ordering::Relaxed, 1.0);
        *y.add(i) = (f16::from_f32(other).to_f32() / 3.0).sqrt();
    }
}
";

#[test]
fn the_oldest_a_plain_one_one_of_its_own_and_the_newest_are_built_and_assembled() {
    let newest = NvvmArch::ALL[NvvmArch::ALL.len() - 1];
    let some = [
        NvvmArch::ALL[0],
        NvvmArch::Compute80,
        NvvmArch::Compute90a,
        newest,
    ];
    built_and_assembled_where_the_assembler_knows_it("fixture-some-arches", &some);
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "slow: .ci/full runs it"]
    fn every_architecture_is_built_and_assembled_where_the_assembler_knows_it() {
        built_and_assembled_where_the_assembler_knows_it("fixture-arches", NvvmArch::ALL);
    }
}

fn built_and_assembled_where_the_assembler_knows_it(name: &str, arches: &[NvvmArch]) {
    let ptxas = Tool::Ptxas
        .find(&workspace())
        .expect("./setup.sh brings it");
    let known = Command::new(ptxas).arg("--help").output().expect("it runs");
    let known = String::from_utf8_lossy(&known.stdout).into_owned();
    let folder = kernel_crate(name, KERNEL);
    let built = builder(&folder)
        .arches(arches.iter().copied())
        .copy_to(folder.path().join("kernels.ptx"))
        .build_all()
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.len(), arches.len());
    let is_known = |ptx: &&Ptx| known.contains(&format!("'{}'", ptx.arch));
    for ptx in &built {
        let text = fs::read_to_string(&ptx.path).expect("written");
        let target = format!("\n.target {}\n", ptx.arch);
        assert!(
            text.contains(&target),
            "{} has another target",
            ptx.path.display()
        );
        // Version 6 lacks `activemask` at first, and the mark of functions that panic.
        assert!(!text.contains("\n.version 6."), "{}", ptx.path.display());
        let reduces = text.contains("redux.sync.add");
        assert_eq!(reduces, ptx.arch >= NvvmArch::Compute80, "{}", ptx.arch);
        assert_eq!(ptx.resources.is_some(), is_known(&ptx), "{}", ptx.arch);
    }
    assert!(
        built.iter().any(|ptx| is_known(&ptx)),
        "ptxas knows none:\n{known}"
    );
}

#[test]
fn suffixes_are_part_of_the_name_and_not_of_the_number() {
    let arch: NvvmArch = "sm_90a".parse().expect("known");
    assert_eq!((arch, arch.number()), (NvvmArch::Compute90a, 90));
    assert_eq!(arch.to_string(), "sm_90a");
    assert_eq!(arch.base_architecture(), NvvmArch::Compute90);
    for arch in NvvmArch::ALL {
        assert_eq!(
            arch.to_string().parse::<NvvmArch>().expect("its own name"),
            *arch
        );
    }
    assert!(NvvmArch::ALL.is_sorted());
}

#[test]
fn a_kernel_has_the_features_of_plain_architectures_before_its_own_and_of_its_family() {
    let has = |arch: NvvmArch, name: &str| arch.all_target_features().iter().any(|it| it == name);
    let plain = NvvmArch::Compute103;
    assert!(has(plain, "compute_61") && has(plain, "compute_100") && has(plain, "compute_103"));
    assert!(
        !has(plain, "compute_103a") && !has(plain, "compute_100f") && !has(plain, "compute_120")
    );
    let family = NvvmArch::Compute103f;
    assert!(
        has(family, "compute_103f") && has(family, "compute_103") && !has(family, "compute_100f")
    );
    let own = NvvmArch::Compute103a;
    assert!(has(own, "compute_103a") && has(own, "compute_103f") && has(own, "compute_100f"));
    assert!(!has(own, "compute_100a") && !has(own, "compute_90a"));
}
