//! A GPU's hardware counts of a launch.

use crate::driver::{Counters, Device, DriverError};
use crate::model::Precision;

/// Metrics of the bytes that memory gives and takes.
const DRAM_BYTES: [&str; 2] = ["dram__bytes_read.sum", "dram__bytes_write.sum"];

/// Sectors that multiprocessors ask the level 2 cache for or give it. `lts__t_bytes.sum` has what the two halves of
/// that cache send each other, too, and so counts some of them twice.
const L2_SECTORS: &str = "lts__t_sectors_srcunit_tex.sum";

const SECTOR_BYTES: f64 = 32.0;

/// Arithmetic instructions of one kind and type.
struct Kind {
    metric: &'static str,
    /// Of the table.
    column: &'static str,
    precision: Precision,
    /// Operations of each instruction of a thread: those on `f16` work on two numbers.
    flop: f64,
}

const fn kind(metric: &'static str, column: &'static str, precision: Precision, flop: f64) -> Kind {
    Kind {
        metric,
        column,
        precision,
        flop,
    }
}

const F16: Precision = Precision::F16x2;
const F32: Precision = Precision::F32;
const F64: Precision = Precision::F64;

#[rustfmt::skip] // A table.
const KINDS: [Kind; 9] = [
    kind("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "measured_fma_f32", F32, 2.0),
    kind("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "measured_add_f32", F32, 1.0),
    kind("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "measured_multiply_f32", F32, 1.0),
    kind("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "measured_fma_f64", F64, 2.0),
    kind("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "measured_add_f64", F64, 1.0),
    kind("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "measured_multiply_f64", F64, 1.0),
    kind("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "measured_fma_f16x2", F16, 4.0),
    kind("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "measured_add_f16x2", F16, 2.0),
    kind("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "measured_multiply_f16x2", F16, 2.0),
];

/// The hardware's counts of a launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Bytes that memory gave and took.
    pub dram_bytes: f64,
    /// Bytes of the sectors that multiprocessors asked the level 2 cache for or gave it.
    pub l2_bytes: f64,
    /// Arithmetic.
    pub instructions: Instructions,
}

/// Multiply-adds, additions and multiplications of each type, as threads execute them. Those of tensor cores and the
/// approximations of special functions are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Instructions(pub(crate) [f64; KINDS.len()]);

impl Instructions {
    /// The count of a column of a roofline, such as `measured_fma_f32`: instructions of one kind and type, of which a pair of
    /// `f16` is one.
    pub fn of_column(&self, column: &str) -> Option<f64> {
        let index = KINDS.iter().position(|kind| kind.column == column)?;
        Some(self.0[index])
    }

    /// The operations of a launch that says it computes with these types: two of a multiply-add, and twice as many of
    /// a pair of `f16`. Those on `f16` count only where `precisions` has them: `ptxas` makes constants of them in
    /// kernels of other types.
    pub fn flop(&self, precisions: &[Precision]) -> f64 {
        let of_halves = precisions.contains(&F16);
        KINDS
            .iter()
            .zip(self.0)
            .filter(|(kind, _)| of_halves || kind.precision != F16)
            .map(|(kind, count)| kind.flop * count)
            .sum()
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
        Ok(HardwareCounters(Counters::new(device, &metrics())?))
    }

    /// Counts while `launch` launches and waits; `prepare` comes before it, each time.
    ///
    /// # Errors
    /// As [`Counters::measure`].
    pub(super) fn measure(
        &mut self,
        prepare: impl FnMut() -> Result<(), DriverError>,
        launch: impl FnMut() -> Result<(), DriverError>,
    ) -> Result<Measured, DriverError> {
        Ok(measured(&self.0.measure(prepare, launch)?))
    }
}

/// Returns the metrics to ask for. [`measured`] takes the values in this order.
fn metrics() -> Vec<&'static str> {
    let kinds = KINDS.iter().map(|kind| kind.metric);
    DRAM_BYTES
        .into_iter()
        .chain([L2_SECTORS])
        .chain(kinds)
        .collect()
}

fn measured(values: &[f64]) -> Measured {
    let (dram_bytes, others) = values.split_at(DRAM_BYTES.len());
    let mut instructions = Instructions::default();
    instructions.0.copy_from_slice(&others[1..]);
    Measured {
        dram_bytes: dram_bytes.iter().sum(),
        l2_bytes: SECTOR_BYTES * others[0],
        instructions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each metric's value is its place in the list, from 1.
    #[test]
    fn each_value_goes_to_its_column() {
        let values: Vec<f64> = (1..=metrics().len()).map(|it| it as f64).collect();
        let measured = measured(&values);
        assert_eq!(measured.dram_bytes, 1.0 + 2.0);
        assert_eq!(measured.l2_bytes, 3.0 * 32.0);
        let of = |column| measured.instructions.of_column(column);
        assert_eq!(of("measured_fma_f32"), Some(4.0));
        assert_eq!(of("measured_multiply_f64"), Some(9.0));
        assert_eq!(of("measured_multiply_f16x2"), Some(12.0));
        for kind in KINDS {
            assert!(crate::table::is_outcome(kind.column), "{}", kind.column);
        }
    }

    #[test]
    fn constants_made_of_halves_are_no_work_of_another_type() {
        // FMA, addition and multiplication of f32, f64 and pairs of f16.
        let instructions = Instructions([10.0, 2.0, 1.0, 20.0, 4.0, 3.0, 100.0, 10.0, 5.0]);
        let others = 23.0 + 47.0;
        assert_eq!(instructions.flop(&[]), others);
        assert_eq!(instructions.flop(&[F32, F64]), others);
        assert_eq!(instructions.flop(&[F16]), others + 430.0);
    }
}
