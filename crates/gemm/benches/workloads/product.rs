//! `C = A B` as a workload: what it launches, moves and multiplies, and what should come out.

#[path = "../../tests/support/number.rs"]
mod number;

use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{E4m3, Tf32};
use cuda_std::{bf16, f16};
use gemm::{Element, GemmError, Kernel, Order, Plan};
use number::{Number, bound};
use ridgepoint::driver::{Device, DeviceBuffer, DriverError};
use ridgepoint::model::{TensorType, Work};
use ridgepoint::prelude::*;

/// `C = A B` of `m` x `k` and `k` x `n`.
pub(crate) struct Gemm;

impl Workload for Gemm {
    fn name(&self) -> &str {
        "gemm"
    }

    fn axes(&self) -> Vec<Axis> {
        let size = |name, on_gpu: &[u64], on_emulator: &[u64]| {
            let axis = Axis::whole(name, on_gpu.iter().copied()).within(1..=1 << 16);
            axis.on_emulator(on_emulator.iter().copied())
        };
        let types = ["bf16", "f16", "tf32", "e4m3"];
        vec![
            size("k", &[64, 256, 1024, 4096, 8192], &[64, 256]).help("columns of A, and rows of B"),
            size("m", &[8192], &[128]).help("rows of A"),
            size("n", &[8192], &[256]).help("columns of B"),
            Axis::one_of("dtype", types, types).help("element types"),
            Axis::one_of("b", ["columns", "rows"], ["columns"]).help("what of B is dense"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        match at.text("dtype") {
            "bf16" => case::<bf16>(at, TensorType::Bf16),
            "f16" => case::<f16>(at, TensorType::F16),
            "e4m3" => case::<E4m3>(at, TensorType::F8),
            _ => case::<Tf32>(at, TensorType::Tf32),
        }
    }
}

fn case<'d, T>(at: &Point<'d>, of: TensorType) -> Result<Case<'d>, PointError>
where
    T: Element + Number,
    T::Result: Number,
{
    let [m, n, k] = ["m", "n", "k"].map(|axis| at.size(axis));
    let order = match at.text("b") {
        "rows" => Order::ByRows,
        _ => Order::ByColumns,
    };
    let plan = Plan::<T>::new(at.device(), [m, n, k], order).map_err(|error| error.to_string())?;
    let given = move || Given::<T>::new([m, n, k]);
    let allocate = move |device: &'d Device| Matrices::new(device, &plan, &given(), order);
    let check = move |it: &Matrices<T>| given().check(&it.c);
    let (config, problem) = (plan.config(), plan.problem());
    let products = |sizes: [usize; 3]| 2.0 * sizes.map(|size| size as f64).iter().product::<f64>();
    let padding = products(plan.padded()) - products([m, n, k]);
    let beside = Work::default().operations(Precision::F32, Operation::Tensor(of), padding);
    let case = match plan.kernel() {
        Kernel::Copied(entry) => {
            let launch = at.launch(entry, config);
            let arrays = launch.arrays(allocate).check(check);
            // SAFETY: the maps are of the plan's matrices, which the arrays are.
            unsafe {
                arrays.arguments_unchecked(move |it| (it.map(0), it.map(1), it.map(2), problem))
            }
            .overhead(beside)
        }
        Kernel::Fused(entry) => {
            let arrays = at.launch(entry, config).arrays(allocate).check(check);
            // SAFETY: as above; C has n elements from row to row.
            let case = unsafe {
                arrays.arguments_unchecked(move |it| {
                    let (a, b) = (it.maps.slice(0..1), it.maps.slice(1..2));
                    let none = it.none.slice(..);
                    (a, b, it.c.slice_mut(..), none, problem)
                })
            };
            // By alpha.
            let scaled = (m * n) as f64;
            case.overhead(beside.operations(Precision::F32, Operation::Multiply, scaled))
        }
    };
    Ok(case
        .reads::<T>((m + n) * k)
        .writes::<T::Result>(m * n)
        .operations(Precision::F32, Operation::Tensor(of), 2 * m * n * k))
}

/// `A`, `B` and `C` on the device, and their maps.
struct Matrices<T: Element> {
    /// `A` and `B`, which the maps are of.
    _operands: [DeviceBuffer<T>; 2],
    c: DeviceBuffer<T::Result>,
    maps: DeviceBuffer<TensorMap>,
    /// No bias.
    none: DeviceBuffer<T::Result>,
}

impl<T: Element + Number> Matrices<T> {
    fn new(
        device: &Device,
        plan: &Plan<T>,
        given: &Given<T>,
        order: Order,
    ) -> Result<Self, DriverError> {
        let [a, b] = [given.a(), given.b(order)];
        let operands = [device.buffer_from(&a)?, device.buffer_from(&b)?];
        let [m, n, _] = given.sizes;
        let mut c = device.buffer_uninitialized(m * n)?;
        let maps = plan.maps(device, &operands[0], &operands[1], &mut c);
        Ok(Matrices {
            maps: maps.map_err(|error| match error {
                GemmError::Driver(error) => error,
                other => unreachable!("the plan's own sizes: {other}"),
            })?,
            none: device.buffer_uninitialized(0)?,
            c,
            _operands: operands,
        })
    }

    fn map(&self, number: usize) -> Slice<'_, TensorMap> {
        self.maps.slice(number..=number)
    }
}

/// After so many rows `A` begins again, and `B` after so many columns: so the host knows all elements of `C` from
/// a few, each a sum of `k` products of random numbers. Neither divides a tile.
const PERIODS: [usize; 2] = [61, 53];

/// Random numbers from -1 to 1: the rows of `A` that there are, and the columns of `B`.
pub(crate) struct Given<T> {
    sizes: [usize; 3],
    rows: Vec<T>,
    columns: Vec<T>,
}

impl<T: Number> Given<T> {
    pub(crate) fn new(sizes: [usize; 3]) -> Given<T> {
        let mut random = fastrand::Rng::with_seed(sizes[2] as u64);
        let mut numbers = |count: usize| {
            let each = (0..count * sizes[2]).map(|_| T::from_f64(random.f64() * 2.0 - 1.0));
            each.collect()
        };
        let [rows, columns] = PERIODS.map(&mut numbers);
        Given {
            sizes,
            rows,
            columns,
        }
    }

    fn a(&self) -> Vec<T> {
        let [m, _, k] = self.sizes;
        self.rows.iter().copied().cycle().take(m * k).collect()
    }

    fn b(&self, order: Order) -> Vec<T> {
        let [_, n, k] = self.sizes;
        match order {
            Order::ByColumns => self.columns.iter().copied().cycle().take(n * k).collect(),
            Order::ByRows => (0..k * n)
                .map(|i| self.columns[i % n % PERIODS[1] * k + i / n])
                .collect(),
        }
    }

    /// Each element of `C`, and the sum of its terms' sizes.
    pub(crate) fn expected(&self) -> impl Iterator<Item = (f64, f64)> {
        let [m, n, k] = self.sizes;
        let (rows, columns) = (self.rows.chunks(k), self.columns.chunks(k));
        let all = rows.flat_map(|row| columns.clone().map(|column| sum(row, column)));
        let all: Vec<(f64, f64)> = all.collect();
        (0..m * n).map(move |i| all[i / n % PERIODS[0] * PERIODS[1] + i % n % PERIODS[1]])
    }

    /// Compares every element.
    pub(crate) fn check<R>(&self, c: &DeviceBuffer<R>) -> Result<(), PointError>
    where
        R: Number + DeviceValue,
    {
        let n = self.sizes[1];
        let all = c.to_vec()?.into_iter().zip(self.expected());
        for (i, (element, (value, size))) in all.enumerate() {
            let (row, column) = (i / n, i % n);
            let (actual, bound) = (element.to_f64(), bound::<T, R>(value, size));
            let off = (actual - value).abs();
            if off.is_nan() || off > bound {
                return Err(format!(
                    "row {row}, column {column} is {actual:e}, and the reference {value:e}: the difference may be \
                     {bound:e}"
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The sum of products, and of their sizes.
fn sum<T: Number>(row: &[T], column: &[T]) -> (f64, f64) {
    let products = row.iter().zip(column).map(|(a, b)| a.to_f64() * b.to_f64());
    products.fold((0.0, 0.0), |(sum, size), it| (sum + it, size + it.abs()))
}
