//! The least time that a GPU needs for what was counted.

use serde::{Deserialize, Serialize};

use crate::driver::count::{Class, Counted, Counts, SECTOR, Type};
use crate::model::{GpuRoofs, Numbers, Operation, Precision, TensorType, Work};

/// Where a kernel is under the roofs of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The GPU.
    pub gpu: String,
    /// Seconds for the least bytes at its memory's bandwidth, of all launches.
    pub memory_seconds: f64,
    /// Seconds for the operations at its arithmetic's rate; none where there are none, or the rate is not
    /// known.
    pub arithmetic_seconds: Option<f64>,
    /// The kind of arithmetic: `fma`, `add+mul`, `special` or `tensor`.
    pub arithmetic: Option<String>,
    /// The longer of both.
    pub least_seconds: f64,
    /// Its name: `memory`, or the kind of arithmetic.
    pub limit: String,
    /// The intensity from which on arithmetic is the limit.
    pub ridge_point: Option<f64>,
    /// The GPU's memory bandwidth, in bytes per second.
    pub bandwidth: f64,
}

impl Verdict {
    pub(super) fn new(counts: &Counts, gpu: &GpuRoofs, numbers: Numbers) -> Verdict {
        let work = work(counts, numbers);
        let of = |precision| gpu.roofs(precision);
        let bandwidth = of(Precision::F32).map_or(f64::INFINITY, |roofs| roofs.memory.0);
        let memory_seconds = work.bytes().unwrap_or(0.0) / bandwidth;
        let arithmetic = work
            .ceiling(of)
            .and_then(|(limit, rate)| Some((work.flops()? / rate.0, limit.name())));
        let (least_seconds, limit) = match arithmetic {
            Some((seconds, name)) if seconds > memory_seconds => (seconds, name),
            _ => (memory_seconds, "memory"),
        };
        let flop = work.flops().unwrap_or(0.0);
        Verdict {
            gpu: gpu.gpu.name.clone(),
            memory_seconds,
            arithmetic_seconds: arithmetic.map(|(seconds, _)| seconds),
            arithmetic: arithmetic.map(|(_, name)| name.to_owned()),
            least_seconds,
            limit: limit.to_owned(),
            ridge_point: arithmetic.map(|(seconds, _)| flop / seconds / bandwidth),
            bandwidth,
        }
    }
}

/// Bytes and operations as the roofs' model has them: each distinct sector once, and what lanes and tensor cores
/// compute.
fn work(counts: &Counts, numbers: Numbers) -> Work {
    let footprint = &counts.footprint;
    let mut work = Work::default();
    if footprint.read > 0 {
        work = work.reads((footprint.read * SECTOR) as f64);
    }
    if footprint.written > 0 {
        work = work.writes((footprint.written * SECTOR) as f64);
    }
    let instructions = counts.instructions.iter();
    let all = instructions.filter_map(|it| operations(it, numbers));
    all.fold(work, |work, (precision, operation, count)| {
        work.operations(precision, operation, count)
    })
}

/// Whether an instruction's operations count as work on such numbers.
pub(crate) fn is_work(counted: &Counted, numbers: Numbers) -> bool {
    /// Of a multiply-add.
    const OPERATIONS: u32 = 2;
    let is_integer = || {
        (counted.class, counted.operations_per_thread) == (Class::Integer, OPERATIONS)
            && matches!(counted.element, Some(Type::S32 | Type::U32))
    };
    counted.is_float() || numbers == Numbers::Integers && is_integer()
}

/// Precision, kind and number of an instruction's operations on such numbers, where the roofs' model has them.
pub(crate) fn operations(
    counted: &Counted,
    numbers: Numbers,
) -> Option<(Precision, Operation, f64)> {
    let operation = match counted.class {
        Class::Integer if is_work(counted, numbers) => Operation::Fma,
        Class::Fma => Operation::Fma,
        Class::Add => Operation::Add,
        Class::Multiply => Operation::Multiply,
        Class::Special => Operation::Special,
        Class::Tensor => Operation::Tensor(TensorType::of_ptx(counted.element?.name())?),
        _ => return None,
    };
    let precision = match counted.element? {
        // What products are added to is another type, which makes no difference to their rate.
        element if counted.class == Class::Tensor => match element {
            Type::F64 => Precision::F64,
            _ => Precision::F32,
        },
        element => Precision::of_ptx(element.name())?,
    };
    let count = counted.operations() as f64 / operation.flops();
    Some((precision, operation, count))
}
