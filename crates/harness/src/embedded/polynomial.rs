//! x + x^2 + .. + x^k of each number: the roofline exercise's kernel.

use std::cell::OnceCell;

use cuda_std::packed::F16x2;
use kernels_gpu::polynomial::{Element, Form, ILPS, Reference, WIDTHS, reference};

use super::values::Output;
use crate::driver::DeviceValue;
use crate::model::{Operation, Precision, Work};
use crate::workload::{Axis, Case, Chunk, Point, PointError, Workload};

/// The polynomial in one of its forms, of 2k operations a number and as many bytes as one is read and one
/// written: k / 4 FLOP/byte in f32, k / 8 in f64 and k / 2 in f16. Horner's comes for integers, too, modulo 2^32: k / 4 op/byte.
#[derive(Clone, Copy, Debug)]
pub struct Polynomial {
    form: Form,
    /// Whether the numbers differ, or are all x.
    is_varied: bool,
}

impl Polynomial {
    /// `result += power; power *= x`: an add and a multiply that cannot fuse.
    pub const POWER_SUM: Polynomial = Polynomial::new(Form::PowerSum);
    /// `result = result * x + x`: one fused multiply-add.
    pub const HORNER: Polynomial = Polynomial::new(Form::Horner);

    const fn new(form: Form) -> Polynomial {
        let is_varied = false;
        Polynomial { form, is_varied }
    }

    /// As [`Polynomial::POWER_SUM`], of numbers that differ.
    pub(super) const VARIED_POWER_SUM: Polynomial = Polynomial::POWER_SUM.varied();
    /// As [`Polynomial::HORNER`], of numbers that differ.
    pub(super) const VARIED_HORNER: Polynomial = Polynomial::HORNER.varied();

    /// The types that there are kernels for: sums of powers of integers take lanes for additions and others for products.
    fn types(self) -> impl Iterator<Item = Precision> {
        const FLOATS: [Precision; 3] = [Precision::F32, Precision::F64, Precision::F16x2];
        let integers = (self.form == Form::Horner).then_some(Precision::I32);
        FLOATS.into_iter().chain(integers)
    }

    const fn varied(self) -> Polynomial {
        let is_varied = true;
        Polynomial { is_varied, ..self }
    }
}

impl Workload for Polynomial {
    fn name(&self) -> &str {
        match self.form {
            Form::PowerSum => "power-sum",
            Form::Horner => "horner",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("k", [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
                .within(1..=1 << 20)
                .in_occupancy([100])
                .help("degrees of the polynomial: 2k FLOP per element"),
            Axis::types(self.types()).visits([Precision::F32])
                .help("element types: f32, f64, f16x2 (two f16 values in one register, counted as one element), and of horner i32"),
            Axis::one_of("vector", WIDTHS, [1])
                .in_occupancy([1, 4])
                .help("elements per load: 1, 2, 4"),
            Axis::one_of("ilp", ILPS, [1]).in_occupancy([1, 2, 4]).help(
                "vectors that a thread works on at once: 1, 2, 4. It has vector x ilp independent chains",
            ),
            Axis::whole("n", [1 << 26])
                .on_emulator([1 << 16])
                .help("number of elements, such as 2^26"),
            Axis::setting("x").help(
                "value of every input element [default: 1.01; f16x2: 0.9, because 1.01^630 is \
                 too large for an f16; i32: 3]",
            ),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        match at.dtype() {
            Precision::F32 => case::<f32>(*self, at, Precision::F32),
            Precision::F64 => case::<f64>(*self, at, Precision::F64),
            Precision::F16x2 => case::<F16x2>(*self, at, Precision::F16x2),
            Precision::I32 => case::<i32>(*self, at, Precision::I32),
            other => Err(format!("there is no polynomial of {}", other.name()).into()),
        }
    }

    fn chunk<'d>(&self, at: &Point<'d>, input: &[f32]) -> Result<Chunk<'d>, PointError> {
        let [k, vector, ilp] = ["k", "vector", "ilp"].map(|axis| at.whole(axis) as u32);
        let entry = f32::kernel(self.form, vector, ilp).ok_or("there is no such kernel")?;
        let config = at.linear(at.size("n").div_ceil((vector * ilp) as usize));
        let prepared = at.device().prepare(entry, config)?;
        let expected = OnceCell::new();
        let input = input.to_vec();
        let check = move |first: usize, y: &[f32]| {
            let all = || {
                input
                    .iter()
                    .map(|&x| reference::<f32>(x.into(), k))
                    .collect()
            };
            let expected: &Vec<_> = expected.get_or_init(all);
            let mut expected = (0..).zip(expected.iter().cycle().skip(first));
            compare(y.iter().copied(), &mut expected)
        };
        // SAFETY: as in `case`; the arrays are a chunk long each.
        Ok(unsafe {
            Chunk::new(
                move |stream, x, y| prepared.launch(stream, &(x, y, k)),
                check,
            )
        })
    }
}

fn case<'d, T: Element + DeviceValue>(
    Polynomial { form, is_varied }: Polynomial,
    at: &Point<'d>,
    precision: Precision,
) -> Result<Case<'d>, PointError> {
    let [k, vector, ilp] = ["k", "vector", "ilp"].map(|axis| at.whole(axis) as u32);
    let n = at.size("n");
    if !n.is_multiple_of(precision.numbers() as usize) {
        let dtype = precision.name();
        return Err(format!("n = {n} is odd: {dtype} takes numbers in pairs").into());
    }
    let elements = n / precision.numbers() as usize;
    let x = at.setting("x").unwrap_or(T::X);
    let (element, _) = input::<T>(x, k)?;
    let numbers: Vec<f64> = match is_varied {
        true => (0..PERIOD).map(|i| number(x, i)).collect(),
        false => vec![x],
    };
    let entry = T::kernel(form, vector, ilp).ok_or_else(|| {
        format!(
            "vector = {vector}: polynomials of {} are computed without vectors",
            T::NAME
        )
    })?;
    let there = numbers.clone();
    let config = at.linear(elements.div_ceil((vector * ilp) as usize));
    let arrays = at
        .launch(entry, config)
        .arrays(move |device| {
            let x = match is_varied {
                true => device.buffer_from(&varied::<T>(&there, elements))?,
                false => device.buffer_filled(elements, element)?,
            };
            Ok((x, Output::<T>::new(device, elements)?))
        })
        .check(move |(_, y)| matches_reference(y, &numbers, k));
    // SAFETY: x and y have as many elements, are apart and aligned as device allocations are; the grid
    // is one-dimensional, and no k is 0 (`axes`).
    let case = unsafe { arrays.arguments_unchecked(move |(x, y)| (x.slice(..), y.view(), k)) };
    let steps = n * k as usize;
    let threads = (config.grid[0] * config.block_threads()) as usize;
    let padding = padding(elements, [vector, ilp], threads) * precision.numbers() as usize;
    let case = case.overhead(overhead(form, precision, k, [n, padding]));
    let case = match form {
        Form::Horner => case.operations(precision, Operation::Fma, steps),
        Form::PowerSum => case
            .operations(precision, Operation::Add, steps)
            .operations(precision, Operation::Multiply, steps),
    };
    Ok(case
        .reads::<T>(elements)
        .writes::<T>(elements)
        .loads(vector * size_of::<T>() as u32, ilp)
        // The add and the multiply of a step do not wait for each other.
        .chains(match form {
            Form::Horner => vector * ilp,
            Form::PowerSum => 2 * vector * ilp,
        }))
}

/// Elements that are not there, and which threads with vectors that are compute beside: in the last turn of the grid
/// a thread has `ilp` vectors of which only the first may be there.
fn padding(elements: usize, [vector, ilp]: [u32; 2], threads: usize) -> usize {
    let vectors = elements / vector as usize;
    let last = vectors % (ilp as usize * threads).max(1);
    (last.min(threads) * ilp as usize - last) * vector as usize
}

/// Returns a launch's overhead: of numbers that are padding all but the last multiply-add or addition, which is that of
/// the store, and the additions of 0 in the multiply-adds that are the power sum's multiplications of f16x2.
fn overhead(form: Form, precision: Precision, k: u32, [n, padding]: [usize; 2]) -> Work {
    let steps = |numbers: usize, count: u32| numbers as f64 * f64::from(count);
    match form {
        Form::Horner => {
            Work::default().operations(precision, Operation::Fma, steps(padding, k - 1))
        }
        Form::PowerSum => {
            let of_powers = match precision {
                Precision::F16x2 => steps(n + padding, k - 1),
                _ => 0.0,
            };
            Work::default()
                .operations(precision, Operation::Add, steps(padding, k))
                .operations(precision, Operation::Multiply, steps(padding, k - 1))
                .operations(precision, Operation::Add, of_powers)
        }
    }
}

/// An element whose numbers are all `x`, and what they are in its type.
fn input<T: Element>(x: f64, k: u32) -> Result<(T, f64), PointError> {
    let element = T::from_f64(x);
    let number = element.numbers().next().expect("an element has a number");
    let is_rounded = T::ROUNDOFF == 0.0 && number != x;
    if number.is_infinite() || (number == 0.0 && x != 0.0) || is_rounded {
        return Err(format!("x = {x:e} is {number} in {}", T::NAME).into());
    }
    let result = sum_of_powers(number.abs(), k);
    if result.is_nan() || result > T::GREATEST {
        let dtype = T::NAME;
        let about = match result.is_finite() {
            true => format!(", about {result:e},"),
            false => String::new(),
        };
        return Err(format!(
            "--x {x}, --k {k}: the result{about} is more than the {:e} that {dtype} holds; choose --x nearer to 1, or a \
             smaller --k",
            T::GREATEST
        )
        .into());
    }
    Ok((element, number))
}

/// x + x^2 + .. + x^k in a time that does not grow with k.
fn sum_of_powers(x: f64, k: u32) -> f64 {
    let k = f64::from(k);
    if x == 1.0 {
        return k;
    }
    x * (k * x.ln()).exp_m1() / (x - 1.0)
}

/// Numbers after which varied ones begin again.
const PERIOD: u32 = 201;

/// A number of those that differ. Every other is 1, whose result is the degree: a step too many or too few shows.
fn number(x: f64, i: u32) -> f64 {
    match i.is_multiple_of(2) {
        true => 1.0,
        false => x * (f64::from(i) / 100.0 - 1.0),
    }
}

/// So many elements of these numbers, again and again.
fn varied<T: Element>(numbers: &[f64], elements: usize) -> Vec<T> {
    let mut all = numbers.iter().cycle();
    let mut next = || *all.next().expect("there is one at least");
    (0..elements).map(|_| T::from_numbers(&mut next)).collect()
}

/// Compares the numbers of `y`, in order, with the polynomial of degree `k` at the numbers of `x`, again and
/// again.
fn matches_reference<T: Element + DeviceValue>(
    y: &Output<T>,
    x: &[f64],
    k: u32,
) -> Result<(), PointError> {
    const CHUNK: usize = 1 << 22;
    let nearest = |&x: &f64| T::from_f64(x).numbers().next().unwrap_or(x);
    let expected: Vec<_> = x.iter().map(|x| reference::<T>(nearest(x), k)).collect();
    let mut pairs = (0u64..).zip(expected.iter().cycle());
    for first in (0..y.len()).step_by(CHUNK) {
        let mut values = vec![T::zeroed(); CHUNK.min(y.len() - first)];
        y.read(first, &mut values)?;
        compare(values.into_iter(), &mut pairs)?;
    }
    y.check_guard()
}

/// Compares the numbers of `values`, in order, with the next of those expected, which have no end.
fn compare<'e, T: Element>(
    values: impl Iterator<Item = T>,
    expected: &mut impl Iterator<Item = (u64, &'e Reference)>,
) -> Result<(), PointError> {
    for actual in values.flat_map(T::numbers) {
        let (index, expected) = expected.next().expect("there is no end");
        let error = (actual - expected.value).abs();
        if error.is_nan() || error > expected.error {
            return Err(format!(
                "number {index} is {actual:e}, the float64 reference says {:e}, and the error is \
                 {error:e} where {:e} is allowed",
                expected.value, expected.error
            )
            .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Device;
    use crate::workload::Loaded;

    #[test]
    fn the_sum_of_powers_is_that_of_the_reference() {
        for x in [0.0, 1e-3, 0.5, 0.9, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.01, 3.0] {
            for k in [1, 2, 3, 10, 100, 500] {
                let (found, expected) = (sum_of_powers(x, k), reference::<f64>(x, k).scale);
                let error = (found - expected).abs();
                assert!(error <= 1e-6 * expected, "{x}, {k}: {found}, {expected}");
            }
        }
        assert_eq!(sum_of_powers(1.01, u32::MAX), f64::INFINITY);
    }

    #[test]
    fn the_first_wrong_element_is_named() {
        let device = Device::emulator(Default::default());
        let right = reference::<f32>(0.5, 3).value as f32;
        let mut values = vec![right; 1000];
        let check = |values: &[f32]| {
            let mut output = Output::new(&device, values.len()).expect("memory");
            output.write(values).expect("as long");
            matches_reference(&output, &[0.5], 3).map_err(|error| error.to_string())
        };
        assert_eq!(check(&values), Ok(()));
        values[998] = f32::NAN;
        let error = check(&values).expect_err("a NaN");
        assert!(error.contains("number 998 is NaN"), "{error}");
        values[7] += 1e-5;
        let error = check(&values).expect_err("an error");
        assert!(error.contains("number 7 is"), "{error}");
    }

    #[test]
    fn a_chunk_is_compared_with_the_numbers_that_it_begins_with() {
        let device = Device::emulator(Default::default());
        let loaded = Loaded::default();
        let values = [("n", 3), ("k", 3), ("vector", 1), ("ilp", 1)];
        let values = values.map(|(axis, value)| (axis, value.into()));
        let point = Point::new(&device, &loaded, &Polynomial::HORNER, values.into());
        let chunk = Polynomial::HORNER.chunk(&point, &[0.0, 0.5]).expect("f32");
        assert!(chunk.check(0, &[0.0, 0.875, 0.0]).is_ok());
        assert!(chunk.check(3, &[0.875, 0.0]).is_ok());
        let error = chunk
            .check(1, &[0.875, 0.875])
            .expect_err("the second is 0");
        assert!(error.to_string().contains("number 1 is"), "{error}");
    }
}
