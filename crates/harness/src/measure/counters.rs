//! What a GPU's hardware counts of a launch.

use crate::driver::{Counters, Device, DriverError};

/// Metrics, and what an instruction of each is in operations on floating point; 0 where it is bytes. An
/// instruction on `f16` works on two.
const METRICS: [(&str, f64); 11] = [
    ("dram__bytes_read.sum", 0.0),
    ("dram__bytes_write.sum", 0.0),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 1.0),
    ("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 4.0),
    ("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 2.0),
    ("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 2.0),
];

/// What the hardware has counted of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes that memory gave and took.
    pub dram_bytes: f64,
    /// Operations on floating point but for those of tensor cores: two of a multiply-add, none of an
    /// approximation.
    pub flop: f64,
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
        let counters = Counters::new(device, &METRICS.map(|(name, _)| name))?;
        Ok(HardwareCounters(counters))
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
        let flop = METRICS.iter().zip(&values);
        Ok(Measured {
            dram_bytes: values[0] + values[1],
            flop: flop
                .map(|((_, operations), count)| operations * count)
                .sum(),
        })
    }
}
