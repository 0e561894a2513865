//! A product, and what should come of it.

use cuda_std::FloatExt;
use gemm::{Activation, Element, Finish, Matrix, MatrixMut, Order, Product, Right};
use gpu_test::{Device, Failed};
use ridgepoint_driver::{DeviceBuffer, DeviceValue, Stream};

use crate::number::{Number, bound};

/// `m`, `n`, `k`.
pub(crate) type Sizes = [usize; 3];

/// A matrix that begins somewhere in its memory, with gaps between its rows, in which stands what must stay.
pub(crate) struct Rows<T> {
    pub(crate) elements: Vec<T>,
    rows: usize,
    columns: usize,
    place: Place,
}

/// Where a matrix begins in its memory, and how far its rows are apart, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) pitch: usize,
}

const GAP: f64 = 7.0;

impl<T: Number> Rows<T> {
    pub(crate) fn random(
        random: &mut fastrand::Rng,
        [rows, columns]: [usize; 2],
        place: Place,
    ) -> Rows<T> {
        let mut matrix = Rows {
            elements: vec![T::from_f64(GAP); place.start + rows * place.pitch],
            rows,
            columns,
            place,
        };
        for row in 0..rows {
            for element in &mut matrix.elements[place.start + row * place.pitch..][..columns] {
                *element = T::from_f64(random.f64() * 2.0 - 1.0);
            }
        }
        matrix
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.elements[self.place.start + row * self.place.pitch + column].to_f64()
    }

    /// The matrix in a buffer that has its elements.
    pub(crate) fn of<'a>(&self, buffer: &'a DeviceBuffer<T>) -> Matrix<'a, T>
    where
        T: DeviceValue,
    {
        let view = buffer.slice(self.place.start..);
        Matrix::new(view, self.rows, self.columns).with_pitch(self.place.pitch)
    }
}

/// Rows that begin at multiples of 16 bytes, a gap between them included.
pub(crate) fn aligned<T>(columns: usize) -> Place {
    let unit = 16 / size_of::<T>();
    let pitch = columns.next_multiple_of(unit) + unit;
    Place { start: unit, pitch }
}

/// Rows of any distance, from any element on.
pub(crate) fn anywhere(random: &mut fastrand::Rng, columns: usize) -> Place {
    Place {
        start: random.usize(0..4),
        pitch: columns + random.usize(0..9),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) sizes: Sizes,
    pub(crate) order: Order,
    pub(crate) factors: [f32; 2],
    pub(crate) has_bias: bool,
    pub(crate) activation: Activation,
    /// Of `A`, `B` and `C`.
    pub(crate) places: [Place; 3],
}

impl Case {
    /// A product as it is, with `A` and `B` where tensor maps describe them.
    pub(crate) fn plain<T: Element>(sizes: Sizes, order: Order, c: Place) -> Case {
        let [_, n, k] = sizes;
        let b = match order {
            Order::ByColumns => k,
            Order::ByRows => n,
        };
        Case {
            sizes,
            order,
            factors: [1.0, 0.0],
            has_bias: false,
            activation: Activation::None,
            places: [aligned::<T>(k), aligned::<T>(b), c],
        }
    }

    /// Returns the element that a sum becomes.
    fn finished(&self, sum: f64, former: f64, bias: f64) -> f64 {
        let [alpha, beta] = self.factors.map(f64::from);
        let former = if beta == 0.0 { 0.0 } else { beta * former };
        let x = alpha * sum + former + bias;
        match self.activation {
            Activation::None => x,
            Activation::Relu if x < 0.0 => 0.0,
            Activation::Relu => x,
            Activation::Gelu => 0.5 * x * (1.0 + (x / 2.0_f64.sqrt()).error_function()),
        }
    }
}

/// Computes the product on the device and compares elements.
pub(crate) fn compare<T>(device: &Device, case: &Case) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let [m, n, k] = case.sizes;
    let random = &mut fastrand::Rng::with_seed((m * 1_000_003 + n * 1009 + k) as u64);
    let a = Rows::<T>::random(random, [m, k], case.places[0]);
    let b = match case.order {
        Order::ByColumns => Rows::<T>::random(random, [n, k], case.places[1]),
        Order::ByRows => Rows::<T>::random(random, [k, n], case.places[1]),
    };
    let before = Rows::<T::Result>::random(random, [m, n], case.places[2]);
    let bias = Rows::<T::Result>::random(random, [1, n], Place { start: 0, pitch: n });
    let buffers = (
        device.buffer_from(&a.elements)?,
        device.buffer_from(&b.elements)?,
        device.buffer_from(&bias.elements)?,
    );
    let mut result = device.buffer_from(&before.elements)?;
    let right = match case.order {
        Order::ByColumns => Right::ByColumns(b.of(&buffers.1)),
        Order::ByRows => Right::ByRows(b.of(&buffers.1)),
    };
    let Place { start, pitch } = case.places[2];
    let product = Product::prepare_finished(
        device,
        a.of(&buffers.0),
        right,
        MatrixMut::new(result.slice_mut(start..), m, n).with_pitch(pitch),
        Finish {
            alpha: case.factors[0].into(),
            beta: case.factors[1].into(),
            bias: case.has_bias.then(|| buffers.2.slice(..)),
            activation: case.activation,
        },
    )?;
    let stream = Stream::new(device)?;
    // SAFETY: buffers and product live until the stream has been synchronised, and nothing else uses them.
    unsafe { product.launch(&stream) }?;
    stream.synchronize()?;
    drop(product);
    let after = Rows {
        elements: result.to_vec()?,
        ..before
    };
    check(case, &a, &b, &bias, &before.elements, &after)
}

/// All elements of the first and the last rows, and of some between them; and all gaps.
fn check<T: Number, R: Number>(
    case: &Case,
    a: &Rows<T>,
    b: &Rows<T>,
    bias: &Rows<R>,
    before: &[R],
    after: &Rows<R>,
) -> Result<(), Failed> {
    let [alpha, beta] = case.factors.map(f64::from);
    let Place { start, pitch } = after.place;
    // Few enough that large products are compared in time, and all of small ones.
    let stride = (after.rows * after.columns * a.columns)
        .div_ceil(8_000_000)
        .max(1);
    for (index, &element) in after.elements.iter().enumerate() {
        let place = index.checked_sub(start);
        let (row, column) = place.map_or((0, usize::MAX), |place| (place / pitch, place % pitch));
        let former = before[index].to_f64();
        let (expected, bound) = if column >= after.columns {
            (former, 0.0)
        } else if row % stride != 0 && row + 1 != after.rows {
            continue;
        } else {
            let products = (0..a.columns).map(|i| {
                let b = match case.order {
                    Order::ByColumns => b.at(column, i),
                    Order::ByRows => b.at(i, column),
                };
                a.at(row, i) * b
            });
            let (sum, size) = products.fold((0.0, 0.0), |(sum, size), product| {
                (sum + product, size + product.abs())
            });
            let bias = if case.has_bias {
                bias.at(0, column)
            } else {
                0.0
            };
            let size = alpha.abs() * size + (beta * former).abs() + bias.abs();
            let value = case.finished(sum, former, bias);
            // No activation is steeper than 1.13.
            (value, 1.13 * bound::<T, R>(value, size, a.columns))
        };
        let off = (element.to_f64() - expected).abs();
        if off.is_nan() || off > bound {
            return Err(format!(
                "{case:?}: row {row}, column {column}: {} instead of {expected}, bound {bound:e}",
                element.to_f64()
            )
            .into());
        }
    }
    Ok(())
}
