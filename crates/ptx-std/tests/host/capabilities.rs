//! The three lists of compute capabilities agree: what a kernel can be built for (`cuda_builder::NvvmArch`), what it
//! can ask for (`cuda_std::cfg`), and the limits that are known (`occupancy`, which has the only table of them).
//! `cuda_std` is `no_std` and compiled for GPUs, so it cannot take its names from either of the others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cuda_builder::NvvmArch;
use ptx_std::cfg::ComputeCapability;

/// Capabilities that kernels are built for, and for which NVIDIA's tables (`occupancy::Multiprocessor::of` names
/// them) have no limits.
const WITHOUT_LIMITS: [u32; 3] = [88, 101, 110];

/// The first that kernels are built for. Those before it have names for sources written for Rust-CUDA.
const FIRST: u32 = 70;

fn named() -> BTreeSet<u32> {
    let all = ComputeCapability::ALL.iter();
    all.map(|&capability| capability as u32).collect()
}

fn built() -> BTreeSet<u32> {
    NvvmArch::ALL.iter().map(|arch| arch.number()).collect()
}

fn with_limits() -> BTreeSet<u32> {
    let all = occupancy::ComputeCapability::ALL.iter();
    all.map(|it| it.major() * 10 + it.minor()).collect()
}

#[test]
fn kernels_know_by_name_what_they_are_built_for() {
    let from_the_first: BTreeSet<u32> = named().range(FIRST..).copied().collect();
    assert_eq!(from_the_first, built());
    // `cfg(target_feature = "compute_75")` is there for each of them, and for those before.
    let newest = NvvmArch::Compute121.all_target_features();
    let features: BTreeSet<String> = newest.into_iter().collect();
    let expected = named()
        .into_iter()
        .map(|number| format!("compute_{number}"));
    assert_eq!(features, expected.collect());
}

#[test]
fn the_limits_of_what_kernels_are_built_for_are_known() {
    let mut known = with_limits();
    for number in &known {
        let capability = occupancy::ComputeCapability::from_arch(*number);
        assert!(
            occupancy::Multiprocessor::of(capability).is_ok(),
            "{number}"
        );
    }
    for number in WITHOUT_LIMITS {
        let capability = occupancy::ComputeCapability::from_arch(number);
        assert!(
            occupancy::Multiprocessor::of(capability).is_err(),
            "{number}"
        );
        assert!(known.insert(number), "{number} has limits");
    }
    assert_eq!(known, built());
}

/// The numbers behind `sm_` in a text, but for names in quotes: those are of what is refused.
fn architectures(text: &str) -> impl Iterator<Item = u32> {
    let befores = text.split("sm_");
    let rests = text.split("sm_").skip(1);
    let rests = befores
        .zip(rests)
        .filter(|(before, _)| !before.ends_with('"'));
    rests.filter_map(|(_, rest)| {
        let end = rest.find(|it: char| !it.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse().ok()
    })
}

#[test]
fn every_architecture_that_the_guides_name_is_in_all_lists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).expect("the guides");
    let pages = pages.map(|page| page.expect("a page").path());
    let pages = pages.filter(|page| page.extension().is_some_and(|it| it == "md"));
    let texts = pages.chain([root.join("README.md")]);
    let texts = texts.map(|page| fs::read_to_string(page).expect("text"));
    let mentioned: BTreeSet<u32> = texts
        .flat_map(|text| architectures(&text).collect::<Vec<_>>())
        .collect();
    assert!(mentioned.len() >= 5, "{mentioned:?}");
    for (list, known) in [
        ("named", named()),
        ("built", built()),
        ("limits", with_limits()),
    ] {
        let unknown: Vec<_> = mentioned.difference(&known).collect();
        assert!(unknown.is_empty(), "{list}: {unknown:?}");
    }
}

#[test]
fn architectures_are_found_in_any_text() {
    let text = "`sm_90a` and sm_75, sm_NN, (`sm_120`), no \"sm_91\"";
    assert_eq!(architectures(text).collect::<Vec<_>>(), [90, 75, 120]);
}
