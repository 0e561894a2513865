//! `C = A B` as a workload: what it launches, moves and multiplies, and what should come out.

#[path = "../../tests/support/given.rs"]
pub(crate) mod given;
#[path = "../../tests/support/number.rs"]
pub(crate) mod number;

use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{E4m3, Tf32};
use cuda_std::{bf16, f16};
use gemm::{Element, GemmError, Kernel, Order, Plan};
use given::Given;
use number::Number;
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
        let types = ["bf16", "f16", "tf32", "e4m3", "f64"];
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
            "f64" => case::<f64>(at, TensorType::F64),
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
    let precision = match of {
        TensorType::F64 => Precision::F64,
        _ => Precision::F32,
    };
    let beside = Work::default().operations(precision, Operation::Tensor(of), padding);
    let case = match plan.kernel() {
        Kernel::Copied(entry) => {
            let launch = at.launch(entry, config).cluster(plan.cluster());
            let arrays = launch.arrays(allocate).check(check);
            // SAFETY: the maps are of the plan's matrices, which the arrays are.
            unsafe {
                arrays.arguments_unchecked(move |it| {
                    (it.map(0), it.map(1), it.map(2), Slice::empty(), problem)
                })
            }
            .overhead(beside)
        }
        Kernel::Fused(entry) => {
            let launch = at.launch(entry, config).cluster(plan.cluster());
            let arrays = launch.arrays(allocate).check(check);
            // SAFETY: as above; C has n elements from row to row.
            let case = unsafe {
                arrays.arguments_unchecked(move |it| {
                    let (a, b) = (it.maps.slice(0..1), it.maps.slice(1..2));
                    (a, b, it.c.slice_mut(..), Slice::empty(), problem)
                })
            };
            let overhead = match of {
                // By alpha, with beta and a bias of 0, where rows are there; and sums of blocks that share a tile.
                TensorType::F64 => {
                    let finished = (m * plan.padded()[1]) as f64;
                    let added = finished + plan.exchanged() as f64;
                    let beside = beside.operations(precision, Operation::Multiply, finished);
                    let beside = beside.operations(precision, Operation::Fma, finished);
                    beside.operations(precision, Operation::Add, added)
                }
                // By alpha.
                _ => beside.operations(precision, Operation::Multiply, (m * n) as f64),
            };
            case.overhead(overhead)
        }
    };
    Ok(case
        .reads::<T>((m + n) * k)
        .writes::<T::Result>(m * n)
        .operations(precision, Operation::Tensor(of), 2 * m * n * k))
}

/// `A`, `B` and `C` on the device, and their maps.
struct Matrices<T: Element> {
    /// `A` and `B`, which the maps are of.
    _operands: [DeviceBuffer<T>; 2],
    c: DeviceBuffer<T::Result>,
    maps: DeviceBuffer<TensorMap>,
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
            c,
            _operands: operands,
        })
    }

    fn map(&self, number: usize) -> Slice<'_, TensorMap> {
        self.maps.slice(number..=number)
    }
}
