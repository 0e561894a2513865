//! Tensor cores: products of operands that stay where they are.

use cuda_std::bf16;
use cuda_std::mma::F64x16;
use kernels_hopper::tensor::{THREADS, WARP_THREADS};

use super::bench::{Bench, clock_of, highest};
use super::{BenchError, Ceiling, Quantity};
use crate::embedded::tensor::{InWarp, Products, RANDOM, WarpProducts, ZEROS};
use crate::workload::{GridSize, Workload};

/// The rates of each type of [`Products`], of random numbers and of zeros.
const PRODUCTS: [(Products, [Quantity; 2]); 6] = [
    (
        Products::Bf16,
        [Quantity::TensorBf16, Quantity::TensorBf16Zeros],
    ),
    (
        Products::F16,
        [Quantity::TensorF16, Quantity::TensorF16Zeros],
    ),
    (
        Products::Tf32,
        [Quantity::TensorTf32, Quantity::TensorTf32Zeros],
    ),
    (
        Products::E4m3,
        [Quantity::TensorE4m3, Quantity::TensorE4m3Zeros],
    ),
    (
        Products::E5m2,
        [Quantity::TensorE5m2, Quantity::TensorE5m2Zeros],
    ),
    (Products::S8, [Quantity::TensorS8, Quantity::TensorS8Zeros]),
];

const DATA: [&str; 2] = [RANDOM, ZEROS];

/// `bench` has the kernels for `sm_90a`.
pub(super) fn measure(bench: &Bench<'_>) -> Result<Vec<Ceiling>, BenchError> {
    let mut found = Vec::new();
    for (products, quantities) in PRODUCTS {
        for (quantity, data) in quantities.into_iter().zip(DATA) {
            let operations = products.operations();
            found.push(rate(
                bench,
                quantity,
                &products,
                (THREADS, data),
                operations,
            )?);
        }
    }
    for (quantity, data) in [Quantity::TensorF64, Quantity::TensorF64Zeros]
        .into_iter()
        .zip(DATA)
    {
        let shapes = [
            in_warps::<f64>(bench, quantity, data)?,
            in_warps::<F64x16>(bench, quantity, data)?,
        ];
        found.extend(highest(shapes));
    }
    for (quantity, data) in [Quantity::MmaBf16, Quantity::MmaBf16Zeros]
        .into_iter()
        .zip(DATA)
    {
        found.push(in_warps::<bf16>(bench, quantity, data)?);
    }
    Ok(found)
}

fn in_warps<T: InWarp>(
    bench: &Bench<'_>,
    quantity: Quantity,
    data: &'static str,
) -> Result<Ceiling, BenchError> {
    let operations = WarpProducts::<T>::operations();
    rate(
        bench,
        quantity,
        &WarpProducts::<T>::NEW,
        (WARP_THREADS, data),
        operations,
    )
}

/// The rate of a block on each multiprocessor, each step of which has so many operations.
fn rate(
    bench: &Bench<'_>,
    quantity: Quantity,
    workload: &dyn Workload,
    (block, data): (u32, &'static str),
    operations: f64,
) -> Result<Ceiling, BenchError> {
    let facts = bench.device.properties();
    // The emulator takes as long for each as a GPU for all.
    let blocks = if facts.is_emulated() {
        1
    } else {
        facts.multiprocessors
    };
    let steps = bench.effort.tensor_steps;
    let values = [
        ("blocks", blocks.into()),
        ("steps", steps.into()),
        ("data", data.into()),
    ];
    let timed = bench.measure(workload, &values, block, GridSize::Full)?;
    let operations = f64::from(blocks) * f64::from(steps) * operations;
    Ok(Ceiling {
        clock_hz: timed.counters.and_then(clock_of),
        ..timed.rate(quantity, operations, bench)
    })
}
