//! The embedded kernels as workloads, all in one list: [`list`].

pub(crate) mod arrivals;
pub(crate) mod atomics;
pub(crate) mod banks;
pub(crate) mod boxes;
pub(crate) mod busy;
pub(crate) mod caches;
pub(crate) mod chains;
mod checked;
pub(crate) mod clusters;
mod distributed;
mod elementwise;
pub(crate) mod exchange;
pub(crate) mod far_chase;
mod gemv;
pub(crate) mod latency;
mod matmul;
mod norm;
mod numbers;
pub(crate) mod partitions;
pub(crate) mod pattern;
pub(crate) mod peer;
mod polynomial;
mod power;
mod registry;
pub(crate) mod stream;
pub(crate) mod tensor;
mod values;

pub use chains::Fma;
pub(crate) use checked::Checked;
#[cfg(test)]
pub(crate) use checked::OfSize;
pub use gemv::Gemv;
pub use matmul::Matmul;
pub use polynomial::Polynomial;
pub(crate) use registry::checked;
pub use registry::{Listed, Use, all, list};
pub use stream::Stream;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check;
    use crate::driver::{Device, Emulation};
    use crate::workload::{Loaded, Point, Value, Workload};

    /// At the first of its values for the emulator.
    fn point<'d>(device: &'d Device, loaded: &'d Loaded, workload: &dyn Workload) -> Point<'d> {
        let axes = workload
            .axes()
            .into_iter()
            .filter(|axis| !axis.is_setting());
        let mut values: Vec<(&'static str, Value)> = axes
            .map(|axis| (axis.name(), axis.defaults(true)[0].clone()))
            .collect();
        // Of a chunk.
        values.push(("n", 4096.into()));
        Point::new(device, loaded, workload, values)
    }

    #[test]
    fn a_name_is_of_one_workload_and_says_what_it_is_in_every_command() {
        let names = list().iter().map(|it| it.workload.name());
        let aliases = list().iter().filter_map(|it| it.alias);
        let all: Vec<&str> = names.chain(aliases).collect();
        let unique: BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), unique.len(), "{all:?}");
        for name in ["copy", "triad", "fma_f32", "chase", "dot_f32", "polynomial"] {
            assert!(unique.contains(name), "no {name} in {all:?}");
        }
    }

    /// So whatever is launched by a name is compared with a reference under every schedule, too.
    #[test]
    fn every_workload_launches_kernels_that_are_checked() {
        let device = Device::emulator(Emulation::default());
        let loaded = Loaded::default();
        let checked: BTreeSet<&str> = check::cases().iter().map(|case| case.kernel).collect();
        for listed in list() {
            let point = point(&device, &loaded, listed.workload);
            let case = listed.workload.case(&point);
            let case = case.unwrap_or_else(|error| panic!("{point}: {error}"));
            assert!(checked.contains(case.kernel), "{point}: {}", case.kernel);
        }
    }

    #[test]
    fn those_that_take_chunks_are_listed_so() {
        let device = Device::emulator(Emulation::default());
        let loaded = Loaded::default();
        for listed in list() {
            let mut point = point(&device, &loaded, listed.workload);
            point
                .values
                .retain(|(name, value)| *name != "n" || *value == 4096.into());
            let chunk = listed.workload.chunk(&point, &[0.5]);
            assert_eq!(chunk.is_ok(), listed.is_for(Use::Chunks), "{point}");
        }
    }
}
