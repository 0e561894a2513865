//! Every architecture that the guides name is one that kernels are built for, can ask for, and have limits of:
//! `occupancy`'s table has a row of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cuda_builder::NvvmArch;
use ptx_std::cfg::ComputeCapability;

/// Capabilities that kernels are built for, and for which NVIDIA's tables have no limits.
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

/// A row may be of sources for Rust-CUDA alone, or have no limits: not by an oversight.
#[test]
fn rows_have_architectures_and_limits() {
    let from_the_first: BTreeSet<u32> = named().range(FIRST..).copied().collect();
    assert_eq!(from_the_first, built());
    let without: BTreeSet<u32> = built().difference(&with_limits()).copied().collect();
    assert_eq!(without, WITHOUT_LIMITS.into());
    // `cfg(target_feature = "compute_75")` is there for each of them, and for those before.
    let features = NvvmArch::Compute121.all_target_features();
    let expected = named()
        .into_iter()
        .map(|number| format!("compute_{number}"));
    assert_eq!(
        features.into_iter().collect::<BTreeSet<String>>(),
        expected.collect()
    );
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
