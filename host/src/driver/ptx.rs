//! The PTX that build.rs made, and the choice among its architectures.

use std::sync::LazyLock;

/// Architecture (90 for `sm_90`), text, and the JSON of its resource report, ascending.
static EMBEDDED: &[(u32, &str, Option<&str>)] = &include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// The PTX that the binary carries: architecture (90 for `sm_90`) and text, ascending.
pub fn embedded_ptx() -> &'static [(u32, &'static str)] {
    static PTX: LazyLock<Vec<(u32, &str)>> =
        LazyLock::new(|| EMBEDDED.iter().map(|&(arch, ptx, _)| (arch, ptx)).collect());
    &PTX
}

/// The resource report of each architecture's PTX, a [`cuda_builder::resources::Report`] as JSON.
/// `None` where `ptxas` was not there when the binary was built, or did not know the architecture.
pub fn embedded_resources() -> impl Iterator<Item = (u32, Option<&'static str>)> {
    EMBEDDED.iter().map(|&(arch, _, report)| (arch, report))
}

/// The newest PTX that runs on compute capability `actual` (times ten): PTX runs on its own
/// architecture and on later ones.
pub(super) fn best<'a>(ptx: &[(u32, &'a str)], actual: u32) -> Option<(u32, &'a str)> {
    ptx.iter()
        .copied()
        .filter(|(arch, _)| *arch <= actual)
        .max()
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn the_newest_ptx_that_runs_is_chosen() {
        let ptx = [(75, "a"), (80, "b"), (90, "c")];
        assert_eq!(best(&ptx, 90), Some((90, "c")));
        assert_eq!(best(&ptx, 120), Some((90, "c")));
        assert_eq!(best(&ptx, 89), Some((80, "b")));
        assert_eq!(best(&ptx, 70), None);
    }
}
