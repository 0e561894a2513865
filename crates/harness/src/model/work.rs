//! Bytes and operations of a launch, and the rate that roofs allow it.

use itertools::Itertools;

use super::{FlopsPerByte, FlopsPerSec, Limit, Precision, Roofs, TensorType};

/// A kind of instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A multiply and an add, rounded once: two operations.
    Fma,
    /// An add or a subtraction that is not fused with a multiply.
    Add,
    /// A multiply that is not fused with an add.
    Multiply,
    /// An approximate reciprocal, root, power, logarithm, sine or cosine.
    Special,
    /// A product of matrices of this type on tensor cores, added to numbers of the precision that stands beside
    /// it. One is counted for each operation: 2 m n k of a product of m x k and k x n.
    Tensor(TensorType),
}

impl Operation {
    /// Floating-point operations that it counts as.
    pub fn flops(self) -> f64 {
        match self {
            Operation::Fma => 2.0,
            _ => 1.0,
        }
    }
}

/// The numbers whose operations count as a launch's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbers {
    /// Those of floating point: integers make addresses and count turns.
    #[default]
    Floats,
    /// Multiply-adds of 32-bit integers, too, since the workload says that they are what it computes.
    Integers,
}

impl Numbers {
    /// The name of their operations.
    pub fn operations(self) -> &'static str {
        match self {
            Numbers::Floats => "FLOP",
            Numbers::Integers => "operations",
        }
    }
}

/// Bytes and operations of a launch. What is not known is left out.
///
/// ```
/// use ridgepoint_harness::model::{FlopsPerByte, Operation, Precision, Work};
///
/// // y = a x, of a million f32.
/// let scale = Work::default()
///     .reads(4e6)
///     .writes(4e6)
///     .operations(Precision::F32, Operation::Multiply, 1e6);
/// assert_eq!(scale.intensity(), Some(FlopsPerByte(0.125)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    read: Option<f64>,
    written: Option<f64>,
    operations: Vec<(Precision, Operation, f64)>,
}

impl Work {
    /// Bytes read from memory: each once, whatever caches do.
    #[must_use]
    pub fn reads(self, bytes: f64) -> Work {
        Work {
            read: Some(self.read.unwrap_or(0.0) + bytes),
            ..self
        }
    }

    /// Bytes written to memory.
    #[must_use]
    pub fn writes(self, bytes: f64) -> Work {
        Work {
            written: Some(self.written.unwrap_or(0.0) + bytes),
            ..self
        }
    }

    /// So many instructions of a kind on numbers of a type. One on a pair of f16 counts twice.
    #[must_use]
    pub fn operations(mut self, precision: Precision, operation: Operation, count: f64) -> Work {
        if count > 0.0 {
            self.operations.push((precision, operation, count));
        }
        self
    }

    /// Both, one after the other.
    #[must_use]
    pub fn and(mut self, other: Work) -> Work {
        let both = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        self.read = both(self.read, other.read);
        self.written = both(self.written, other.written);
        self.operations.extend(other.operations);
        self
    }

    /// So many times the same.
    #[must_use]
    pub fn times(mut self, count: f64) -> Work {
        self.read = self.read.map(|it| count * it);
        self.written = self.written.map(|it| count * it);
        for (.., operations) in &mut self.operations {
            *operations *= count;
        }
        self
    }

    /// Bytes read, where they are known.
    pub fn bytes_read(&self) -> Option<f64> {
        self.read
    }

    /// Bytes written, where they are known.
    pub fn bytes_written(&self) -> Option<f64> {
        self.written
    }

    /// Bytes moved.
    pub fn bytes(&self) -> Option<f64> {
        let all = self.read.unwrap_or(0.0) + self.written.unwrap_or(0.0);
        (all > 0.0).then_some(all)
    }

    /// The same with what another knows of bytes, or of operations, where this one knows nothing.
    #[must_use]
    pub fn or(self, other: Work) -> Work {
        let (read, written) = match self.bytes() {
            None => (other.read, other.written),
            Some(_) => (self.read, self.written),
        };
        let operations = match self.operations.is_empty() {
            true => other.operations,
            false => self.operations,
        };
        Work {
            read,
            written,
            operations,
        }
    }

    /// Bytes of an array, where each is read or written as a whole.
    pub fn array_bytes(&self) -> f64 {
        match (self.read.unwrap_or(0.0), self.written.unwrap_or(0.0)) {
            (read, written) if read > 0.0 && written > 0.0 => read.min(written),
            (read, written) => read.max(written),
        }
    }

    /// The numbers whose operations it says.
    pub fn numbers(&self) -> Numbers {
        match self.precisions().contains(&Precision::I32) {
            true => Numbers::Integers,
            false => Numbers::Floats,
        }
    }

    /// Operations: of floating point, and of integers where the work says them.
    pub fn flops(&self) -> Option<f64> {
        let each = self.operations.iter();
        let flops = each.map(|(_, operation, count)| operation.flops() * count);
        (!self.operations.is_empty()).then(|| flops.sum())
    }

    /// The same bytes without as many operations of each kind as another has.
    #[must_use]
    pub fn without(self, other: &Work) -> Work {
        let mut work = Work {
            operations: Vec::new(),
            ..self
        };
        let mut less = other.operations.clone();
        for (precision, kind, mut count) in self.operations {
            let same = less
                .iter_mut()
                .filter(|it| (it.0, it.1) == (precision, kind));
            for (.., left) in same {
                let taken = left.min(count);
                count -= taken;
                *left -= taken;
            }
            work = work.operations(precision, kind, count);
        }
        work
    }

    /// Operations per byte.
    pub fn intensity(&self) -> Option<FlopsPerByte> {
        Some(FlopsPerByte(self.flops()? / self.bytes()?))
    }

    /// The share of the bytes that is read; 0 where none are known.
    pub fn read_share(&self) -> f64 {
        match self.bytes() {
            Some(bytes) if bytes > 0.0 => self.read.unwrap_or(0.0) / bytes,
            _ => 0.0,
        }
    }

    /// Operations that an instruction counts as, on average: 2 of multiply-adds alone.
    pub fn flops_per_instruction(&self) -> f64 {
        let instructions: f64 = self.operations.iter().map(|(.., count)| count).sum();
        self.flops().unwrap_or(0.0) / instructions
    }

    /// The types that are computed with.
    pub fn precisions(&self) -> Vec<Precision> {
        let mut all: Vec<_> = self.operations.iter().map(|(it, ..)| *it).collect();
        all.sort();
        all.dedup();
        all
    }

    /// The types whose matrices tensor cores multiply.
    pub fn tensor_types(&self) -> Vec<TensorType> {
        let types = self.operations.iter().filter_map(|it| match it.1 {
            Operation::Tensor(element) => Some(element),
            _ => None,
        });
        types.sorted().dedup().collect()
    }

    /// The type that most operations are of.
    pub fn precision(&self) -> Option<Precision> {
        let flops = |wanted: Precision| {
            let each = self.operations.iter().filter(|(it, ..)| *it == wanted);
            each.map(|(_, operation, count)| operation.flops() * count)
                .sum::<f64>()
        };
        let all = self.precisions().into_iter();
        all.max_by(|a, b| flops(*a).total_cmp(&flops(*b)))
    }

    /// The rate at which a device does these operations and nothing else, and what holds it there.
    /// `roofs` knows those of each type. Adds, multiplies and multiply-adds of a type share its lanes;
    /// special functions, tensor cores and the other types have their own, and work meanwhile. `None` without
    /// operations, or where the roofs of one of their types are not known.
    pub fn ceiling(
        &self,
        roofs: impl Fn(Precision) -> Option<Roofs>,
    ) -> Option<(Limit, FlopsPerSec)> {
        let flops = self.flops()?;
        let mut slowest = (Limit::Fma, 0.0);
        let (mut special, mut tensor) = (0.0, 0.0);
        for precision in self.precisions() {
            let roofs = roofs(precision)?;
            let seconds = |kinds: &[Operation], rate: FlopsPerSec| {
                let each = self.operations.iter();
                let mine = each.filter(|(it, kind, _)| *it == precision && kinds.contains(kind));
                mine.map(|(_, kind, count)| kind.flops() * count)
                    .sum::<f64>()
                    / rate.0
            };
            let fused = seconds(&[Operation::Fma], roofs.fma);
            let single = seconds(&[Operation::Add, Operation::Multiply], roofs.add_mul);
            let limit = match precision {
                Precision::I32 => Limit::Integer,
                _ if fused < single => Limit::AddMul,
                _ => Limit::Fma,
            };
            if self.operations.iter().any(|it| it.1 == Operation::Special) {
                special += seconds(&[Operation::Special], roofs.special?);
            }
            for element in self.tensor_types() {
                let kind = [Operation::Tensor(element)];
                if self
                    .operations
                    .iter()
                    .any(|it| (it.0, it.1) == (precision, kind[0]))
                {
                    tensor += seconds(&kind, roofs.tensor.get(element)?);
                }
            }
            if fused + single > slowest.1 {
                slowest = (limit, fused + single);
            }
        }
        if special > slowest.1 {
            slowest = (Limit::Special, special);
        }
        if tensor > slowest.1 {
            slowest = (Limit::Tensor, tensor);
        }
        Some((slowest.0, FlopsPerSec(flops / slowest.1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Board, BytesPerSec, TensorRoofs};

    const ROOFS: Roofs = Roofs {
        memory: BytesPerSec(4e12),
        fma: FlopsPerSec(64e12),
        add_mul: FlopsPerSec(32e12),
        special: Some(FlopsPerSec(4e12)),
        tensor: TensorRoofs::NONE,
        peak: FlopsPerSec(64e12),
    };

    fn ceiling(operations: &[(Operation, f64)]) -> (Limit, f64) {
        let add = |work: Work, &(kind, count): &_| work.operations(Precision::F32, kind, count);
        let work = operations.iter().fold(Work::default(), add);
        let (limit, rate) = work.ceiling(|_| Some(ROOFS)).expect("operations");
        (limit, rate.0)
    }

    #[test]
    fn what_shares_lanes_adds_up_and_what_does_not_overlaps() {
        use Operation::{Add, Fma, Multiply, Special};
        assert_eq!(ceiling(&[(Fma, 8.0)]), (Limit::Fma, 64e12));
        assert_eq!(
            ceiling(&[(Add, 4.0), (Multiply, 4.0)]),
            (Limit::AddMul, 32e12)
        );
        // Three operations in two slots.
        assert_eq!(ceiling(&[(Fma, 1.0), (Add, 1.0)]).1, 48e12);
        assert_eq!(ceiling(&[(Special, 1.0)]), (Limit::Special, 4e12));
        let (limit, rate) = ceiling(&[(Fma, 16.0), (Special, 1.0)]);
        assert_eq!((limit, rate), (Limit::Fma, 66e12));
    }

    #[test]
    fn tensor_cores_work_beside_the_lanes() {
        let roofs = Roofs {
            tensor: Board::named("h200").expect("a row").tensor_roofs(),
            ..ROOFS
        };
        let product = |element, flops| {
            Work::default().operations(Precision::F32, Operation::Tensor(element), flops)
        };
        let of = |work: &Work| work.ceiling(|_| Some(roofs)).map(|it| (it.0, it.1.tera()));
        let bf16 = product(TensorType::Bf16, 989.4e12);
        assert_eq!(bf16.tensor_types(), [TensorType::Bf16]);
        assert_eq!(of(&bf16), Some((Limit::Tensor, 989.4)));
        // Half of the time in each type.
        let both = bf16.clone().and(product(TensorType::F8, 1978.9e12));
        assert_eq!(of(&both), Some((Limit::Tensor, (989.4 + 1978.9) / 2.0)));
        // The epilogue's multiply-adds overlap, until they take longer.
        let fma = |count| {
            bf16.clone()
                .operations(Precision::F32, Operation::Fma, count)
        };
        assert_eq!(of(&fma(16e12)).map(|it| it.0), Some(Limit::Tensor));
        assert_eq!(of(&fma(33e12)).map(|it| it.0), Some(Limit::Fma));
        // A device whose tensor cores nobody knows.
        assert_eq!(bf16.ceiling(|_| Some(ROOFS)), None);
    }

    #[test]
    fn integers_have_lanes_and_a_roof_of_their_own() {
        let hash = Work::default().operations(Precision::I32, Operation::Fma, 8.0);
        let (limit, rate) = hash.ceiling(|_| Some(ROOFS)).expect("operations");
        assert_eq!((limit, rate), (Limit::Integer, FlopsPerSec(64e12)));
        assert_eq!(hash.numbers(), Numbers::Integers);
        let both = hash.operations(Precision::F32, Operation::Fma, 4.0);
        let (limit, rate) = both.ceiling(|_| Some(ROOFS)).expect("operations");
        assert_eq!((limit, rate), (Limit::Integer, FlopsPerSec(96e12)));
        assert_eq!(Work::default().numbers(), Numbers::Floats);
    }

    #[test]
    fn what_is_left_out_is_not_known() {
        let nothing = Work::default();
        assert_eq!((nothing.bytes(), nothing.flops()), (None, None));
        assert_eq!(nothing.ceiling(|_| Some(ROOFS)), None);
        let bytes = nothing.writes(8.0);
        assert_eq!((bytes.bytes(), bytes.intensity()), (Some(8.0), None));
        let both = bytes.operations(Precision::F64, Operation::Fma, 2.0);
        assert_eq!(both.intensity(), Some(FlopsPerByte(0.5)));
        assert_eq!(both.ceiling(|_| None), None);
    }

    #[test]
    fn what_is_left_out_comes_from_another() {
        let counted = Work::default().reads(8.0).writes(8.0);
        let counted = counted.operations(Precision::F32, Operation::Fma, 6.0);
        assert_eq!(Work::default().or(counted.clone()), counted);
        let bytes = Work::default().writes(4.0).or(counted.clone());
        assert_eq!((bytes.bytes(), bytes.flops()), (Some(4.0), Some(12.0)));
        let flops = Work::default().operations(Precision::F64, Operation::Add, 1.0);
        let flops = flops.or(counted);
        assert_eq!((flops.bytes(), flops.flops()), (Some(16.0), Some(1.0)));
    }

    #[test]
    fn works_add_up() {
        let first = Work::default().reads(8.0);
        let second = Work::default().writes(4.0);
        let second = second.operations(Precision::F32, Operation::Fma, 6.0);
        let both = first.and(second);
        assert_eq!((both.bytes(), both.flops()), (Some(12.0), Some(12.0)));
        let thrice = both.times(3.0);
        assert_eq!((thrice.bytes(), thrice.flops()), (Some(36.0), Some(36.0)));
        assert_eq!(Work::default().times(3.0), Work::default());
    }
}
