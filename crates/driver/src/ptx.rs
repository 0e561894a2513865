//! The PTX that a build script embedded, and the choice among its architectures.

/// The PTX of one architecture, as `CudaBuilder::embed_to` writes it: the architecture (90 for
/// `sm_90`), the text, and as JSON the `cuda_builder::resources::Report` on it, which is not there
/// where `ptxas` was not when it was built, or did not know the architecture.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, Embedded, target_of};
///
/// let ptx: [Embedded; 2] = [
///     (80, ".version 7.0\n.target sm_80\n.address_size 64\n", None),
///     (90, ".version 8.0\n.target sm_90a\n.address_size 64\n", None),
/// ];
/// assert_eq!(target_of(ptx[1].1), Some("sm_90a"));
/// // A device takes the best for it.
/// let device = Device::open(&DeviceChoice::Cpu, &ptx)?;
/// # let _ = device;
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
pub type Embedded<'a> = (u32, &'a str, Option<&'a str>);

/// The newest PTX that runs on compute capability `actual` (times ten), and of two for the same the one
/// with a suffix. PTX runs on its own architecture and on later ones; with the suffix `f` on later ones
/// of its major number, with `a` on none.
///
/// ```
/// use ridgepoint_driver::{Embedded, best_embedded};
///
/// let ptx: [Embedded; 2] = [(80, ".target sm_80", None), (90, ".target sm_90a", None)];
/// assert_eq!(best_embedded(&ptx, 89), Some(ptx[0]));
/// assert_eq!(best_embedded(&ptx, 90), Some(ptx[1]));
/// assert_eq!(best_embedded(&ptx, 75), None);
/// ```
pub fn best_embedded<'a>(ptx: &[Embedded<'a>], actual: u32) -> Option<Embedded<'a>> {
    ptx.iter()
        .map(|&embedded| (suffix_of(embedded.1), embedded))
        .filter(|&(suffix, (arch, ..))| match suffix {
            Some('a') => arch == actual,
            Some('f') => arch <= actual && arch / 10 == actual / 10,
            _ => arch <= actual,
        })
        .max_by_key(|&(suffix, (arch, ..))| (arch, suffix.is_some(), suffix == Some('a')))
        .map(|(_, embedded)| embedded)
}

/// PTX without kernels for compute capability `actual` (times ten): of a device that files are loaded on.
pub(super) fn without_kernels(actual: u32) -> String {
    // What every driver of such a GPU compiles.
    let target = actual.min(75);
    format!(".version 6.3\n.target sm_{target}\n.address_size 64\n")
}

/// The architecture that PTX is for, as its text names it: "sm_90a". `None` where the text names none.
pub fn target_of(ptx: &str) -> Option<&str> {
    let target = ptx.lines().find_map(|line| line.strip_prefix(".target "))?;
    target.split([',', ' ']).next()
}

/// The `a` of `.target sm_90a`.
fn suffix_of(ptx: &str) -> Option<char> {
    target_of(ptx)?
        .chars()
        .last()
        .filter(char::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::best_embedded;

    #[test]
    fn the_newest_ptx_that_runs_is_chosen() {
        let ptx = [(75, "a", None), (80, "b", None), (90, "c", None)];
        assert_eq!(best_embedded(&ptx, 90), Some((90, "c", None)));
        assert_eq!(best_embedded(&ptx, 120), Some((90, "c", None)));
        assert_eq!(best_embedded(&ptx, 89), Some((80, "b", None)));
        assert_eq!(best_embedded(&ptx, 70), None);
    }

    #[test]
    fn ptx_with_a_suffix_is_for_its_own_family_or_for_itself() {
        let [plain, own] = [
            ".version 8.0\n.target sm_90\n",
            ".version 8.0\n.target sm_90a, debug\n",
        ];
        let family = ".target sm_100f";
        let ptx = [(90, plain, None), (90, own, None), (100, family, None)];
        assert_eq!(best_embedded(&ptx, 90), Some((90, own, None)));
        assert_eq!(best_embedded(&ptx, 100), Some((100, family, None)));
        assert_eq!(best_embedded(&ptx, 103), Some((100, family, None)));
        assert_eq!(best_embedded(&ptx, 120), Some((90, plain, None)));
        assert_eq!(best_embedded(&ptx[1..], 120), None);
    }
}
