//! Which kernels a workload launches.

use std::collections::BTreeSet;

use itertools::Itertools;

use super::{Bench, Point, Value, Workload};

/// The names of the kernels that a workload launches: of every choice of its axes of names and of listed
/// numbers, and of the first value of its other axes. Nothing is launched; points that are refused are left out.
///
/// ```
/// use ridgepoint_harness::driver::Emulation;
/// use ridgepoint_harness::embedded::Stream;
/// use ridgepoint_harness::workload::{Bench, kernels_of};
///
/// let bench = Bench::emulator(Emulation::default(), &[])?;
/// let kernels = kernels_of(&bench, &Stream::COPY);
/// assert_eq!(Vec::from_iter(kernels), ["copy_u1", "copy_u2", "copy_u4", "copy_u8"]);
/// # Ok::<(), ridgepoint_harness::driver::DriverError>(())
/// ```
pub fn kernels_of(bench: &Bench, workload: &dyn Workload) -> BTreeSet<&'static str> {
    let axes = workload.axes().into_iter().filter(|it| !it.is_setting());
    let values = axes.map(|axis| {
        let name = axis.name();
        let named = |value: &Value| (name, value.clone());
        axis.choices().iter().map(named).collect_vec()
    });
    let points = match values.collect_vec() {
        none if none.is_empty() => vec![Vec::new()],
        values => values.into_iter().multi_cartesian_product().collect(),
    };
    let kernels = points.into_iter().filter_map(|values| {
        let point = Point::new(bench.device(), &bench.loaded, workload, values);
        Some(workload.case(&point).ok()?.kernel)
    });
    kernels.collect()
}
