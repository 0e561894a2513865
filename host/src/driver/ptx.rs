//! The PTX that build.rs made, and the choice among its architectures.

/// The PTX of one architecture, as `CudaBuilder::embed_to` writes it: the architecture (90 for
/// `sm_90`), the text, and as JSON the `cuda_builder::resources::Report` on it, which is not there
/// where `ptxas` was not when it was built, or did not know the architecture.
pub type Embedded<'a> = (u32, &'a str, Option<&'a str>);

/// The PTX of the command line's own kernels, ascending by architecture.
#[cfg(feature = "cli")]
// Megabytes, of which each place that it is inlined in would have a copy.
#[inline(never)]
pub fn embedded_ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// The newest PTX that runs on compute capability `actual` (times ten): PTX runs on its own
/// architecture and on later ones.
pub(super) fn best<'a>(ptx: &[Embedded<'a>], actual: u32) -> Option<(u32, &'a str)> {
    ptx.iter()
        .map(|&(arch, text, _)| (arch, text))
        .filter(|(arch, _)| *arch <= actual)
        .max()
}

#[cfg(test)]
mod tests {
    use super::best;

    #[test]
    fn the_newest_ptx_that_runs_is_chosen() {
        let ptx = [(75, "a", None), (80, "b", None), (90, "c", None)];
        assert_eq!(best(&ptx, 90), Some((90, "c")));
        assert_eq!(best(&ptx, 120), Some((90, "c")));
        assert_eq!(best(&ptx, 89), Some((80, "b")));
        assert_eq!(best(&ptx, 70), None);
    }
}
