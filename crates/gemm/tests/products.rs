//! Products of odd sizes, orders and factors against sums in `f64`, and what is refused.

#[path = "support/number.rs"]
mod number;

use cuda_std::wgmma::Tf32;
use cuda_std::{bf16, f16};
use gemm::{Element, GemmError, Matrix, MatrixMut, Order, Plan, Product, Right};
use gpu_test::{Arguments, Device, Failed, Trial, on_both};
use number::{Number, bound};
use ridgepoint_driver::{ComputeCapability, DeviceChoice, Stream};

/// `m`, `n`, `k`.
type Sizes = [usize; 3];

/// A matrix with gaps between its rows, in which stands what must stay.
struct Rows<T> {
    elements: Vec<T>,
    rows: usize,
    columns: usize,
    pitch: usize,
}

const GAP: f64 = 7.0;

impl<T: Number> Rows<T> {
    fn random(random: &mut fastrand::Rng, [rows, columns]: [usize; 2], pitch: usize) -> Rows<T> {
        let mut element = |i: usize| match i % pitch < columns {
            true => T::from_f64(random.f64() * 2.0 - 1.0),
            false => T::from_f64(GAP),
        };
        let elements = (0..rows * pitch).map(&mut element).collect();
        Rows {
            elements,
            rows,
            columns,
            pitch,
        }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.elements[row * self.pitch + column].to_f64()
    }
}

/// Rows of at least `columns` elements, a gap included, that begin at multiples of 16 bytes.
fn aligned<T>(columns: usize) -> usize {
    let unit = 16 / size_of::<T>();
    columns.next_multiple_of(unit) + unit
}

struct Case {
    sizes: Sizes,
    order: Order,
    factors: [f32; 2],
    /// Elements of the result from row to row.
    pitch: usize,
}

/// Computes the product on the device and compares each element.
fn compare<T>(device: &Device, case: &Case) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let [m, n, k] = case.sizes;
    let random = &mut fastrand::Rng::with_seed((m * 1_000_003 + n * 1009 + k) as u64);
    let a = Rows::<T>::random(random, [m, k], aligned::<T>(k));
    let b = match case.order {
        Order::ByColumns => Rows::<T>::random(random, [n, k], aligned::<T>(k)),
        Order::ByRows => Rows::<T>::random(random, [k, n], aligned::<T>(n)),
    };
    let before = Rows::<T::Result>::random(random, [m, n], case.pitch);
    let buffers = (
        device.buffer_from(&a.elements)?,
        device.buffer_from(&b.elements)?,
    );
    let mut result = device.buffer_from(&before.elements)?;
    let right = Matrix::new(buffers.1.slice(..), b.rows, b.columns).with_pitch(b.pitch);
    let right = match case.order {
        Order::ByColumns => Right::ByColumns(right),
        Order::ByRows => Right::ByRows(right),
    };
    let product = Product::prepare_scaled(
        device,
        Matrix::new(buffers.0.slice(..), m, k).with_pitch(a.pitch),
        right,
        MatrixMut::new(result.slice_mut(..), m, n).with_pitch(case.pitch),
        case.factors,
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
    check(case, &a, &b, &before.elements, &after)
}

fn check<T: Number, R: Number>(
    case: &Case,
    a: &Rows<T>,
    b: &Rows<T>,
    before: &[R],
    after: &Rows<R>,
) -> Result<(), Failed> {
    let [alpha, beta] = case.factors.map(f64::from);
    for (index, &element) in after.elements.iter().enumerate() {
        let (row, column) = (index / after.pitch, index % after.pitch);
        let former = before[index].to_f64();
        let (expected, bound) = if column >= after.columns {
            (former, 0.0)
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
            let scaled = alpha * sum + if beta == 0.0 { 0.0 } else { beta * former };
            let size = alpha.abs() * size + (beta * former).abs();
            (scaled, bound::<R>(scaled, size))
        };
        let off = (element.to_f64() - expected).abs();
        if off.is_nan() || off > bound {
            return Err(format!(
                "{:?} {:?} {:?}: row {row}, column {column}: {} instead of {expected}, bound {bound:e}",
                case.sizes,
                case.order,
                case.factors,
                element.to_f64()
            )
            .into());
        }
    }
    Ok(())
}

const ORDERS: [Order; 2] = [Order::ByColumns, Order::ByRows];

/// Sizes at, below and above those of tiles.
const EDGES: [Sizes; 8] = [
    [1, 1, 1],
    [128, 256, 64],
    [127, 255, 63],
    [129, 257, 65],
    [64, 128, 200],
    [200, 72, 8],
    [3, 300, 130],
    [300, 8, 70],
];

fn edges<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    for sizes in EDGES {
        for &order in orders {
            for pitch in [aligned::<T::Result>(sizes[1]), sizes[1] + 1] {
                let factors = [1.0, 0.0];
                compare::<T>(
                    device,
                    &Case {
                        sizes,
                        order,
                        factors,
                        pitch,
                    },
                )?;
            }
        }
    }
    Ok(())
}

fn factors<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    for factors in [[0.5, 0.0], [1.0, 1.0], [-1.25, 0.75], [0.0, 2.0]] {
        for &order in orders {
            let (sizes, pitch) = ([130, 70, 90], 80);
            compare::<T>(
                device,
                &Case {
                    sizes,
                    order,
                    factors,
                    pitch,
                },
            )?;
        }
    }
    Ok(())
}

/// Products of nothing are 0, and results without elements are left alone.
fn nothing(device: &Device) -> Result<(), Failed> {
    for sizes in [[5, 6, 0], [0, 6, 7], [5, 0, 7], [0, 0, 0]] {
        for order in ORDERS {
            for factors in [[1.0, 0.0], [2.0, 0.5]] {
                let pitch = sizes[1] + 1;
                compare::<bf16>(
                    device,
                    &Case {
                        sizes,
                        order,
                        factors,
                        pitch,
                    },
                )?;
            }
        }
    }
    Ok(())
}

/// Two hundred products of random sizes, a tile and a bit at most.
fn many(device: &Device) -> Result<(), Failed> {
    let mut random = fastrand::Rng::with_seed(1);
    for _ in 0..200 {
        let sizes = [1..180, 1..300, 1..150].map(|range| random.usize(range));
        let pitch = sizes[1] + random.usize(0..9);
        let order = ORDERS[random.usize(0..2)];
        let factors = [[1.0, 0.0], [0.5, 1.0]][random.usize(0..2)];
        compare::<bf16>(
            device,
            &Case {
                sizes,
                order,
                factors,
                pitch,
            },
        )?;
    }
    Ok(())
}

/// NaN and infinities stay in their rows.
fn special(device: &Device) -> Result<(), Failed> {
    const N: usize = 40;
    let mut a = vec![bf16::ONE; N * N];
    a[3 * N + 5] = bf16::NAN;
    a[7 * N] = bf16::INFINITY;
    let buffers = (
        device.buffer_from(&a)?,
        device.buffer_filled(N * N, bf16::ONE)?,
    );
    let mut c = device.buffer_filled(N * N, bf16::ZERO)?;
    let product = Product::prepare(
        device,
        Matrix::new(buffers.0.slice(..), N, N),
        Right::ByRows(Matrix::new(buffers.1.slice(..), N, N)),
        MatrixMut::new(c.slice_mut(..), N, N),
    )?;
    let stream = Stream::new(device)?;
    // SAFETY: as in `compare`.
    unsafe { product.launch(&stream) }?;
    stream.synchronize()?;
    drop(product);
    for (index, value) in c.to_vec()?.into_iter().enumerate() {
        let good = match index / N {
            3 => value.is_nan(),
            7 => value == bf16::INFINITY,
            _ => value.to_f64() == N as f64,
        };
        if !good {
            return Err(format!("element {index} is {value}").into());
        }
    }
    Ok(())
}

/// What is refused before anything is launched, with sizes in the message.
fn refused() -> Result<(), Failed> {
    let device = Device::open(&DeviceChoice::Cpu, gemm::ptx())?;
    let x = device.buffer_filled(64 * 64, bf16::ONE)?;
    let y = device.buffer_filled(64 * 64, Tf32(1.0))?;
    let message = |a: Matrix<'_, bf16>, b: Right<'_, bf16>, rows: usize| {
        let mut c = device.buffer_filled(64 * 64, bf16::ONE).expect("memory");
        let c = MatrixMut::new(c.slice_mut(..), rows, 64);
        match Product::prepare(&device, a, b, c) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let square = || Matrix::new(x.slice(..), 64, 64);
    let narrow = || Matrix::new(x.slice(..), 64, 63);
    let cases = [
        (message(square(), Right::ByRows(square()), 64), ""),
        (
            message(square(), Right::ByColumns(narrow()), 64),
            "product of 64 x 64, 63 x 64 and 64 x 64: A has as many columns",
        ),
        (
            message(square(), Right::ByRows(square()), 60),
            "C has as many rows as A",
        ),
        (
            message(square(), Right::ByRows(narrow()), 64),
            "C has as many columns as B",
        ),
        (
            message(square().with_pitch(65), Right::ByRows(square()), 64),
            "A, 64 x 64 with 65 elements from row to row: it ends 4159",
        ),
        (
            message(narrow(), Right::ByColumns(narrow()), 64),
            "tensor map: 126 bytes from one to the next along dimension 1",
        ),
    ];
    for (message, part) in cases {
        if !message.contains(part) || message.is_empty() != part.is_empty() {
            return Err(format!("{message:?} has no {part:?}").into());
        }
    }
    let mut c = device.buffer_filled(64 * 64, 1.0f32)?;
    let by_rows = Product::prepare(
        &device,
        Matrix::new(y.slice(..), 64, 64),
        Right::ByRows(Matrix::new(y.slice(..), 64, 64)),
        MatrixMut::new(c.slice_mut(..), 64, 64),
    );
    match by_rows {
        Err(GemmError::ByRows("tf32")) => {}
        _ => return Err("tf32 by rows has no kernel".into()),
    }
    let older = Device::open(
        &DeviceChoice::CpuAs(ComputeCapability::new(8, 0)),
        gemm::ptx(),
    )?;
    let error = Plan::<bf16>::new(&older, [64; 3], Order::ByRows).err();
    match error.map(|error| error.to_string()) {
        Some(error) if error.contains("is sm_80: products are made of wgmma") => Ok(()),
        other => Err(format!("{other:?} does not say what is missing").into()),
    }
}

type Check = fn(&Device) -> Result<(), Failed>;

const CASES: [(&str, Check); 9] = [
    ("bf16_edges", |device| edges::<bf16>(device, &ORDERS)),
    ("f16_edges", |device| edges::<f16>(device, &ORDERS)),
    ("tf32_edges", |device| edges::<Tf32>(device, &ORDERS[..1])),
    ("bf16_factors", |device| factors::<bf16>(device, &ORDERS)),
    ("f16_factors", |device| factors::<f16>(device, &ORDERS)),
    ("tf32_factors", |device| {
        factors::<Tf32>(device, &ORDERS[..1])
    }),
    ("nothing", nothing),
    ("many", many),
    ("special", special),
];

fn main() {
    let ptx = gemm::ptx();
    let cases = CASES.into_iter();
    let mut trials: Vec<Trial> = cases
        .flat_map(|(name, case)| on_both(name, ptx, case))
        .collect();
    trials.push(Trial::test("emulator::refused", refused));
    gpu_test::run(&Arguments::from_args(), trials).exit();
}
