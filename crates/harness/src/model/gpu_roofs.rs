//! GPUs that need not be present, and what they allow.

use std::collections::BTreeMap;

use ::occupancy::ComputeCapability;

use super::{BytesPerSec, FlopsPerByte, FlopsPerSec, Gpu, Limit, Precision, Roofs, Work};

/// A GPU that need not be present, and its roofs.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuRoofs {
    /// The GPU.
    pub gpu: Gpu,
    /// Its roofs, where they were measured.
    measured: BTreeMap<Precision, Roofs>,
    /// The names and bandwidths of its caches, where they were measured.
    caches: Vec<(&'static str, BytesPerSec)>,
}

/// The rate that roofs allow a launch at most: computed, not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Attainable {
    /// The intensity that it was computed for.
    pub intensity: FlopsPerByte,
    /// The lowest roof there.
    pub limit: Limit,
    /// The rate that it allows.
    pub rate: FlopsPerSec,
    /// The least time of the launch.
    pub seconds: f64,
}

impl GpuRoofs {
    /// A GPU by a short name such as `h200`, with the roofs of its data sheet.
    ///
    /// # Errors
    /// In words: there is no GPU of this name in the table, and the names that there are.
    pub fn named(name: &str) -> Result<GpuRoofs, String> {
        Ok(GpuRoofs {
            gpu: Gpu::named(name)?,
            measured: BTreeMap::new(),
            caches: Vec::new(),
        })
    }

    /// The GPU that an emulator of this capability stands for, with the roofs of its data sheet: an H200 where no board of
    /// the capability is known.
    pub fn of_capability(capability: ComputeCapability) -> GpuRoofs {
        GpuRoofs {
            gpu: Gpu::of_capability(capability),
            measured: BTreeMap::new(),
            caches: Vec::new(),
        }
    }

    /// A GPU that the driver calls `name`, with measured roofs.
    ///
    /// # Errors
    /// In words: there is no GPU of this name in the table, and the names that there are.
    pub fn measured(name: &str, roofs: BTreeMap<Precision, Roofs>) -> Result<GpuRoofs, String> {
        Ok(GpuRoofs {
            gpu: Gpu::of_the_drivers_name(name)?,
            measured: roofs,
            caches: Vec::new(),
        })
    }

    /// The same with bandwidths of its caches, by name.
    #[must_use]
    pub fn with_caches(self, caches: Vec<(&'static str, BytesPerSec)>) -> GpuRoofs {
        GpuRoofs { caches, ..self }
    }

    /// The names and bandwidths of its caches, where they were measured.
    pub fn caches(&self) -> &[(&'static str, BytesPerSec)] {
        &self.caches
    }

    /// The roofs of a precision: as measured, or else as the data sheet has them. `None` where the GPU's
    /// arithmetic lanes are not known.
    pub fn roofs(&self, precision: Precision) -> Option<Roofs> {
        let measured = self.measured.get(&precision).copied();
        measured.or_else(|| Roofs::of(&self.gpu, precision))
    }

    /// `data sheet` or `measured`: where the roofs come from.
    pub fn source(&self) -> &'static str {
        match self.measured.is_empty() {
            true => "data sheet",
            false => "measured",
        }
    }

    /// Returns what the GPU allows a launch that does all of `done`, and `useful` among it: its time is that of
    /// everything, and its rate that of the useful operations alone. `None` where it moves or computes nothing useful.
    pub fn attainable(&self, done: &Work, useful: &Work) -> Option<Attainable> {
        let [bytes, flops] = [done.bytes()?, useful.flops().filter(|it| *it > 0.0)?];
        let times = [self.time(done)?, self.time(useful)?];
        let (limit, seconds) = match times[1].1 > times[0].1 {
            true => times[1],
            false => times[0],
        };
        Some(Attainable {
            intensity: FlopsPerByte(flops / bytes),
            limit,
            rate: FlopsPerSec(flops / seconds),
            seconds,
        })
    }

    /// How fast the GPU moves the bytes of such work, and what it waits for. `None` where none are known.
    pub fn bandwidth(&self, work: &Work) -> Option<(Limit, BytesPerSec)> {
        let (limit, seconds) = self.time(work)?;
        Some((limit, BytesPerSec(work.bytes()? / seconds)))
    }

    /// Whether its memory takes at least as long as its arithmetic for such work. What has no operations is.
    pub fn is_bound_by_memory(&self, work: &Work) -> bool {
        self.time(work)
            .is_none_or(|(limit, _)| limit == Limit::Memory)
    }

    /// The least time of such work, seconds, and what takes it. `None` where the roofs of a type are not known.
    fn time(&self, work: &Work) -> Option<(Limit, f64)> {
        let precision = work.precision().unwrap_or(Precision::F32);
        let moving = work.bytes().unwrap_or(0.0) / self.roofs(precision)?.memory.0;
        let Some(flops) = work.flops() else {
            return Some((Limit::Memory, moving));
        };
        let (limit, rate) = work.ceiling(|precision| self.roofs(precision))?;
        Some(match moving > flops / rate.0 {
            true => (Limit::Memory, moving),
            false => (limit, flops / rate.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Operation;

    #[test]
    fn what_is_attainable_lies_on_the_lowest_roof() {
        let h200 = GpuRoofs::named("h200").expect("known");
        let of = |fma: f64| {
            let work = Work::default().reads(4.0).writes(4.0);
            let work = work.operations(Precision::F32, Operation::Fma, fma);
            h200.attainable(&work, &work)
                .expect("it moves and computes")
        };
        let low = of(1.0);
        assert_eq!(
            (low.limit, low.rate),
            (Limit::Memory, FlopsPerSec(4.8e12 / 4.0))
        );
        let high = of(1000.0);
        assert_eq!(high.limit, Limit::Fma);
        assert!((high.rate.tera() - 66.9).abs() < 0.01);
        let bytes = Work::default().reads(4.0);
        assert_eq!(h200.attainable(&bytes, &bytes), None);
    }

    #[test]
    fn an_architecture_has_a_gpu() {
        let of = |major, minor| {
            let gpu = GpuRoofs::of_capability(ComputeCapability::new(major, minor));
            gpu.gpu.name
        };
        assert_eq!(of(9, 0), "NVIDIA H200");
        assert_eq!(of(8, 9), "NVIDIA L40S");
        assert_eq!(of(7, 0), "NVIDIA H200");
        let gpu = GpuRoofs::named("h200").expect("known");
        let bytes = Work::default().reads(4.0);
        assert!(gpu.is_bound_by_memory(&bytes));
        let busy = bytes.operations(Precision::F32, Operation::Fma, 1e3);
        assert!(!gpu.is_bound_by_memory(&busy));
    }

    #[test]
    fn a_type_of_users_alone_has_its_roof_where_it_is_known() {
        let of = |gpu| {
            GpuRoofs::named(gpu)
                .expect("known")
                .roofs(Precision::Bf16x2)
        };
        let h200 = of("h200").expect("known").ceiling(Limit::Fma).tera();
        // 132 multiprocessors, 256 results of a clock, 2 operations, 1.98 GHz.
        assert!((h200 - 133.8).abs() < 0.1, "{h200}");
        assert_eq!(of("l40s"), None);
    }

    #[test]
    fn overhead_takes_time_and_is_no_result() {
        let h200 = GpuRoofs::named("h200").expect("known");
        let add = |work: Work, count| work.operations(Precision::F32, Operation::Add, count);
        let useful = add(Work::default().reads(8.0), 4.0);
        // Other lanes, which work meanwhile, and then the same ones.
        let beside = useful
            .clone()
            .operations(Precision::F16x2, Operation::Add, 4.0);
        let of = |done: &Work| h200.attainable(done, &useful).expect("it computes");
        assert_eq!(of(&beside).intensity, FlopsPerByte(0.5));
        assert_eq!(
            (of(&beside).limit, of(&beside).rate.tera()),
            (Limit::Memory, 2.4)
        );
        let after = of(&add(useful.clone(), 996.0));
        let ceiling = h200.roofs(Precision::F32).expect("known").add_mul;
        assert_eq!(
            (after.limit, after.intensity),
            (Limit::AddMul, FlopsPerByte(0.5))
        );
        assert!((after.rate.0 / (ceiling.0 * 4.0 / 1000.0) - 1.0).abs() < 1e-9);
        // What says less than it does is held to what it says.
        assert_eq!(
            h200.attainable(&add(Work::default().reads(1.0), 1.0), &useful)
                .map(|it| it.rate.tera()),
            Some(2.4)
        );
    }

    #[test]
    fn measured_roofs_take_the_data_sheets_place() {
        let half = Roofs {
            memory: BytesPerSec(2.4e12),
            ..GpuRoofs::named("h200")
                .expect("known")
                .roofs(Precision::F32)
                .expect("known")
        };
        let measured = BTreeMap::from([(Precision::F32, half)]);
        let gpu = GpuRoofs::measured("NVIDIA H200", measured).expect("known");
        assert_eq!(gpu.roofs(Precision::F32), Some(half));
        assert_eq!(
            gpu.roofs(Precision::F64).map(|it| it.memory),
            Some(BytesPerSec(4.8e12))
        );
        assert_eq!(
            (
                gpu.source(),
                GpuRoofs::named("h100").expect("known").source()
            ),
            ("measured", "data sheet")
        );
        let unknown = GpuRoofs::measured("CPU emulator (2 cores)", BTreeMap::new());
        assert!(unknown.expect_err("no GPU").contains("h200"));
    }
}
