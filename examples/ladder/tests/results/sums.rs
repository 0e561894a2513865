//! Each step against sums in `f64`: sizes at, below and above those of tiles, and none.

use std::sync::LazyLock;

use gpu_test::{Device, Failed, Trial, equal, on_both};
use half::bf16;
use ladder::{Product, Sizes, Step};
use ridgepoint_driver::{DeviceChoice, Stream};

const SIZES: [[u32; 3]; 13] = [
    [1, 8, 8],
    [64, 64, 64],
    [65, 72, 72],
    [127, 128, 32],
    [128, 136, 104],
    [129, 256, 136],
    [200, 264, 200],
    [0, 8, 64],
    [257, 264, 328],
    [3, 8, 0],
    // More steps than stages, twice.
    [64, 64, 776],
    // More rows of tiles, and of pairs, than are taken together; and more columns than where others are.
    [2100, 264, 8],
    [130, 4360, 8],
];

/// A product, and what should come of it.
struct Case {
    sizes: [u32; 3],
    a: Vec<bf16>,
    b: Vec<bf16>,
    /// By rows, the sum that is an element of the result, and that of its products' absolute values.
    sums: Vec<(f64, f64)>,
}

/// One for each of the sizes.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| SIZES.map(Case::of).into());

impl Case {
    fn of(sizes: [u32; 3]) -> Case {
        let [m, n, k] = sizes.map(|it| it as usize);
        let [a, b] = [(1, m), (2, n)].map(|(seed, rows)| random(seed, rows * k));
        let exact = |all: &[bf16]| -> Vec<f64> { all.iter().map(|it| it.to_f64()).collect() };
        let (of_a, of_b) = (exact(&a), exact(&b));
        let sum = |row: &[f64], column: &[f64]| {
            let products = row.iter().zip(column).map(|(a, b)| a * b);
            products.fold((0.0, 0.0), |(sum, size), it| (sum + it, size + it.abs()))
        };
        let of = |all: &[f64], row: usize| all[row * k..][..k].to_vec();
        let columns: Vec<Vec<f64>> = (0..n).map(|column| of(&of_b, column)).collect();
        let sums = (0..m).flat_map(|row| {
            let row = of(&of_a, row);
            let all = columns.iter().map(|column| sum(&row, column));
            all.collect::<Vec<_>>()
        });
        let sums = sums.collect();
        Case { sizes, a, b, sums }
    }
}

fn random(seed: u64, count: usize) -> Vec<bf16> {
    let mut random = fastrand::Rng::with_seed(seed);
    let each = (0..count).map(|_| bf16::from_f64(random.f64() * 2.0 - 1.0));
    each.collect()
}

/// Each case, by the blocks that the device has room for or by so many.
fn compare(device: &Device, step: Step, blocks: Option<u64>) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    for case in &*CASES {
        let [m, n, k] = case.sizes;
        let mut plan = step.plan(device, Sizes { m, n, k })?;
        if let (Some(blocks), true) = (blocks, plan.config.grid[0] > 0) {
            plan.config.grid[0] = blocks;
        }
        let mut product = Product::planned(device, plan, [&case.a, &case.b])?;
        product.launch(&stream, device)?;
        let result = product.result()?;
        equal(&[result.len()], &[case.sums.len()])?;
        for (i, (element, (sum, size))) in result.into_iter().zip(&case.sums).enumerate() {
            // Rounding to bf16, and at each step of the sum to 24 bits or few less.
            let (off, bound) = (
                (element.to_f64() - sum).abs(),
                sum.abs() / 256.0 + size / 524_288.0,
            );
            if off.is_nan() || off > bound {
                let (row, column) = (i / n as usize, i % n as usize);
                let place = format!("{m} x {n} x {k}: row {row}, column {column}");
                return Err(format!("{place}: {element} instead of {sum}, bound {bound:e}").into());
            }
        }
    }
    Ok(())
}

/// Rows that no tensor map describes, and a GPU without `wgmma`.
fn refused() -> Result<(), Failed> {
    let device = Device::open(&DeviceChoice::Cpu, ladder::ptx())?;
    let said = |device: &Device, n, k| {
        let plan = Step::MmaSync.plan(device, Sizes { m: 8, n, k });
        plan.err().map(|error| error.to_string())
    };
    let rows = |axis, matrix| {
        Some(format!(
            "{axis}: rows of {matrix} have a multiple of 8 elements, which are 16 bytes"
        ))
    };
    let all = [
        said(&device, 12, 8),
        said(&device, 8, 7),
        said(&device, 8, 8),
    ];
    equal(
        &all,
        &[rows("n is 12", "C"), rows("k is 7", "A and B"), None],
    )?;
    let older = Device::open(&"cpu:sm_80".parse()?, ladder::ptx());
    match older.map(|device| said(&device, 8, 8)) {
        Err(_) => Ok(()),
        Ok(Some(said)) if said.contains("wgmma") => Ok(()),
        Ok(said) => Err(format!("{said:?}").into()),
    }
}

/// The cases of this module, each on the emulator and on a GPU.
pub(crate) fn trials() -> Vec<Trial> {
    let each = Step::ALL.into_iter();
    let each = each.flat_map(|step| {
        on_both(step.name(), ladder::ptx(), move |device| {
            compare(device, step, None)
        })
    });
    // Several tiles each; and more blocks than tiles.
    let blocks = [
        (Step::Persistent, [1, 300]),
        (Step::Pingpong, [1, 300]),
        (Step::Multicast, [2, 300]),
    ];
    let blocks = blocks
        .into_iter()
        .flat_map(|(step, all)| all.map(|it| (step, it)));
    let blocks = blocks.flat_map(|(step, blocks)| {
        let name = format!("{} by {blocks}", step.name());
        on_both(&name, ladder::ptx(), move |device| {
            compare(device, step, Some(blocks))
        })
    });
    each.chain(blocks)
        .chain([Trial::test("refused", refused)])
        .collect()
}
