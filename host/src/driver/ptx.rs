//! The PTX that build.rs made, and the choice among its architectures.

/// The PTX that the binary carries: architecture (90 for `sm_90`) and text, ascending.
pub fn embedded_ptx() -> &'static [(u32, &'static str)] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
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
