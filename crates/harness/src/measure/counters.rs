//! What a GPU's hardware counts of a launch.

use crate::driver::{Counters, Device, DriverError};
use crate::model::Precision;

/// Metrics of the bytes that memory gives and takes.
const BYTES: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];

/// Instructions on `f32` and `f64`, and the operations of each.
const SINGLE_AND_DOUBLE: [(&str, f64); 6] = [
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1.0),
];

/// The same on `f16`, two at once.
const HALF: [(&str, f64); 3] = [
    ("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 4.0),
    ("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 2.0),
];

/// What the hardware has counted of a launch. Operations are those on floating point but for tensor cores: two
/// of a multiply-add, none of an approximation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes that memory gave and took.
    pub dram_bytes: f64,
    /// Operations on `f32` and `f64`.
    pub flop: f64,
    /// Operations on `f16`. There are some in kernels of other types, too: `ptxas` makes constants of them.
    pub half_flop: f64,
}

impl Measured {
    /// The operations of a launch that says it computes with these types; with none, those but for `f16`.
    pub fn flop_of(&self, precisions: &[Precision]) -> f64 {
        match precisions.contains(&Precision::F16x2) {
            true => self.flop + self.half_flop,
            false => self.flop,
        }
    }
}

/// Reads a GPU's counters.
#[derive(Debug)]
pub struct HardwareCounters(Counters);

impl HardwareCounters {
    /// Prepares to read them.
    ///
    /// # Errors
    /// As [`Counters::new`].
    pub fn new(device: &Device) -> Result<HardwareCounters, DriverError> {
        let instructions = SINGLE_AND_DOUBLE.iter().chain(&HALF).map(|(name, _)| *name);
        let metrics: Vec<&str> = BYTES.into_iter().chain(instructions).collect();
        Ok(HardwareCounters(Counters::new(device, &metrics)?))
    }

    /// What is counted while `launch` launches and waits; `prepare` comes before it, each time.
    ///
    /// # Errors
    /// As [`Counters::measure`].
    pub(super) fn measure(
        &mut self,
        prepare: impl FnMut() -> Result<(), DriverError>,
        launch: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<Measured, DriverError> {
        let values = self.0.measure(prepare, launch)?;
        let (bytes, instructions) = values.split_at(BYTES.len());
        let (others, half) = instructions.split_at(SINGLE_AND_DOUBLE.len());
        let flop = |kinds: &[(&str, f64)], counts: &[f64]| -> f64 {
            kinds
                .iter()
                .zip(counts)
                .map(|(kind, count)| kind.1 * count)
                .sum()
        };
        Ok(Measured {
            dram_bytes: bytes.iter().sum(),
            flop: flop(&SINGLE_AND_DOUBLE, others),
            half_flop: flop(&HALF, half),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_made_of_halves_are_no_work_of_another_type() {
        let measured = Measured {
            dram_bytes: 8.0,
            flop: 20.0,
            half_flop: 4.0,
        };
        assert_eq!(measured.flop_of(&[]), 20.0);
        assert_eq!(measured.flop_of(&[Precision::F32, Precision::F64]), 20.0);
        assert_eq!(measured.flop_of(&[Precision::F16x2]), 24.0);
    }
}
