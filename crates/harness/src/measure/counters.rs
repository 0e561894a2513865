//! A GPU's hardware counts of a launch.

use crate::driver::{Counters, Device, DriverError};
use crate::model::{Operation, Precision, TensorType, Work};

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
    operation: Operation,
}

impl Kind {
    /// Numbers that each instruction of a thread works on: two of `f16`.
    fn numbers(&self) -> f64 {
        f64::from(self.precision.numbers())
    }
}

const fn kind(
    metric: &'static str,
    column: &'static str,
    precision: Precision,
    operation: Operation,
) -> Kind {
    Kind {
        metric,
        column,
        precision,
        operation,
    }
}

const F16: Precision = Precision::F16x2;
const F32: Precision = Precision::F32;
const F64: Precision = Precision::F64;

#[rustfmt::skip] // A table.
const KINDS: [Kind; 9] = [
    kind("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "measured_fma_f32", F32, Operation::Fma),
    kind("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "measured_add_f32", F32, Operation::Add),
    kind("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "measured_multiply_f32", F32, Operation::Multiply),
    kind("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "measured_fma_f64", F64, Operation::Fma),
    kind("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "measured_add_f64", F64, Operation::Add),
    kind("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "measured_multiply_f64", F64, Operation::Multiply),
    kind("smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "measured_fma_f16x2", F16, Operation::Fma),
    kind("smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "measured_add_f16x2", F16, Operation::Add),
    kind("smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "measured_multiply_f16x2", F16, Operation::Multiply),
];

/// Operations of tensor cores, by the type of the matrices that they multiply, and the type beside which their roof stands.
#[rustfmt::skip] // A table.
const TENSOR: [(&str, TensorType, Precision); 6] = [
    ("sm__ops_path_tensor_src_fp16.sum", TensorType::F16, F32),
    ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", TensorType::Bf16, F32),
    ("sm__ops_path_tensor_src_tf32_dst_fp32.sum", TensorType::Tf32, F32),
    ("sm__ops_path_tensor_src_fp64.sum", TensorType::F64, F64),
    ("sm__ops_path_tensor_src_fp8.sum", TensorType::F8, F32),
    ("sm__ops_path_tensor_src_int8.sum", TensorType::I8, F32),
];

/// Metrics of a launch of which nothing else is known. A GPU may lack some; [`counted_work`] takes it that they are 0.
pub fn launch_metrics() -> Vec<&'static str> {
    let tensor = TENSOR.iter().map(|it| it.0);
    metrics().into_iter().chain(tensor).collect()
}

/// Bytes of memory and operations of a launch of so many threads, by its metrics. `None` where its bytes were not counted.
///
/// `ptxas` makes constants by multiply-adds of `f16`, and conversions by its additions, in kernels of any type. So operations of `f16`
/// count where there are multiplications among them, or, without operations of another type, more than four multiply-adds of each
/// thread.
pub fn counted_work(metric: impl Fn(&str) -> Option<f64>, threads: f64) -> Option<Work> {
    const CONSTANTS: f64 = 4.0;
    let [read, written] = DRAM_BYTES.map(&metric);
    let work = Work::default().reads(read?).writes(written?);
    let count = |kind: &Kind| metric(kind.metric).unwrap_or(0.0);
    let has_others = KINDS
        .iter()
        .any(|it| it.precision != F16 && count(it) > 0.0);
    let mut of_halves = KINDS.iter().filter(|it| it.precision == F16);
    let has_halves = of_halves.any(|it| match it.operation {
        Operation::Multiply => count(it) > 0.0,
        Operation::Fma => !has_others && count(it) > CONSTANTS * threads,
        _ => false,
    });
    let kinds = KINDS.iter();
    let kinds = kinds.filter(|it| it.precision != F16 || has_halves);
    let work = kinds.fold(work, |work, it| {
        work.operations(it.precision, it.operation, it.numbers() * count(it))
    });
    let tensor = TENSOR.iter();
    Some(tensor.fold(work, |work, &(name, element, precision)| {
        let count = metric(name).unwrap_or(0.0);
        work.operations(precision, Operation::Tensor(element), count)
    }))
}

/// Bytes that multiprocessors asked the level 2 cache for or gave it, by a launch's metrics.
pub fn counted_l2_bytes(metric: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    Some(SECTOR_BYTES * metric(L2_SECTORS)?)
}

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
            .map(|(kind, count)| kind.operation.flops() * kind.numbers() * count)
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

    fn work(counts: &[(&str, f64)], threads: f64) -> Work {
        let all = |name: &str| {
            let count = counts.iter().find(|(of, _)| name.contains(of));
            Some(count.map_or(0.0, |(_, count)| *count))
        };
        counted_work(all, threads).expect("bytes")
    }

    #[test]
    fn a_launch_of_which_nothing_is_known_has_the_operations_of_its_metrics() {
        let counted = work(
            &[
                ("bytes_read", 96.0),
                ("bytes_write", 32.0),
                ("op_ffma", 64.0),
                ("fp16.sum", 512.0),
            ],
            32.0,
        );
        assert_eq!(counted.bytes(), Some(128.0));
        assert_eq!(counted.flops(), Some(2.0 * 64.0 + 512.0));
        assert_eq!(counted.tensor_types(), [TensorType::F16]);
        // Constants and conversions of ptxas, and kernels of f16.
        assert_eq!(
            work(&[("bytes_read", 1.0), ("op_hfma", 128.0)], 32.0).flops(),
            None
        );
        let halves = work(&[("bytes_read", 1.0), ("op_hfma", 129.0)], 32.0);
        assert_eq!(halves.flops(), Some(4.0 * 129.0));
        let halves = [
            ("bytes_read", 1.0),
            ("op_hfma", 1.0),
            ("op_hadd", 1.0),
            ("op_hmul", 1.0),
        ];
        assert_eq!(work(&halves, 32.0).flops(), Some(8.0));
        let conversions = [("bytes_read", 1.0), ("op_hadd", 64.0)];
        assert_eq!(work(&conversions, 32.0).flops(), None);
        let of_f32 = [("bytes_read", 1.0), ("op_hfma", 1000.0), ("op_fmul", 5.0)];
        assert_eq!(work(&of_f32, 32.0).flops(), Some(5.0));
        assert_eq!(counted_work(|_| None, 32.0), None);
        assert_eq!(counted_l2_bytes(|_| Some(2.0)), Some(64.0));
    }

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
