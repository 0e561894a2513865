//! GPUs that need not be present, and what they allow.

use std::collections::BTreeMap;

use super::{FlopsPerByte, FlopsPerSec, Gpu, Limit, Precision, Roofs, Work};

/// A GPU that need not be present, and its roofs.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuRoofs {
    /// The GPU.
    pub gpu: Gpu,
    /// Its roofs, where they were measured.
    measured: BTreeMap<Precision, Roofs>,
}

/// What roofs allow a launch at most. It was computed, and nothing of it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attainable {
    /// The intensity that it was computed for.
    pub intensity: FlopsPerByte,
    /// The lowest roof there.
    pub limit: Limit,
    /// What it allows.
    pub rate: FlopsPerSec,
}

impl GpuRoofs {
    /// A GPU by a short name such as `h200`, with the roofs of its data sheet.
    ///
    /// # Errors
    /// It is not known; the message says which are.
    pub fn named(name: &str) -> Result<GpuRoofs, String> {
        Ok(GpuRoofs {
            gpu: Gpu::named(name)?,
            measured: BTreeMap::new(),
        })
    }

    /// A GPU that the driver calls `name`, with measured roofs.
    ///
    /// # Errors
    /// It is not known; the message says which are.
    pub fn measured(name: &str, roofs: BTreeMap<Precision, Roofs>) -> Result<GpuRoofs, String> {
        Ok(GpuRoofs {
            gpu: Gpu::of_the_drivers_name(name)?,
            measured: roofs,
        })
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

    /// What the GPU allows a launch of such work. `None` where it moves or computes nothing.
    pub fn attainable(&self, work: &Work) -> Option<Attainable> {
        let intensity = work.intensity()?;
        let ceiling = work.ceiling(|precision| self.roofs(precision))?;
        let roof = self.roofs(work.precision()?)?.limiting(intensity, ceiling);
        Some(Attainable {
            intensity,
            limit: roof.limit,
            rate: roof.value,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BytesPerSec, Operation};

    #[test]
    fn what_is_attainable_lies_on_the_lowest_roof() {
        let h200 = GpuRoofs::named("h200").expect("known");
        let of = |fma: f64| {
            let work = Work::default().reads(4.0).writes(4.0);
            let work = work.operations(Precision::F32, Operation::Fma, fma);
            h200.attainable(&work).expect("it moves and computes")
        };
        let low = of(1.0);
        assert_eq!(
            (low.limit, low.rate),
            (Limit::Memory, FlopsPerSec(4.8e12 / 4.0))
        );
        let high = of(1000.0);
        assert_eq!(high.limit, Limit::Fma);
        assert!((high.rate.tera() - 66.9).abs() < 0.01);
        assert_eq!(h200.attainable(&Work::default().reads(4.0)), None);
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
