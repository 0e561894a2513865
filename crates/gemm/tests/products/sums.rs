//! Products of odd sizes, orders and factors against sums in `f64`, and what is refused.

use std::collections::HashSet;

use cuda_std::launch::Slice;
use cuda_std::wgmma::{E4m3, Tf32};
use cuda_std::{bf16, f16};
use gemm::{
    Activation, Element, GemmError, Kernel, Matrix, MatrixMut, Order, Plan, Product, Right,
};
use gpu_test::{Device, Failed, Trial, on_both};
use ridgepoint_driver::{ComputeCapability, DeviceChoice, Stream};

use crate::case::{Case, Place, Rows, Sizes, aligned, anywhere, compare};
use crate::number::Number;

const ORDERS: [Order; 2] = [Order::ByColumns, Order::ByRows];

/// Sizes at, below and above those of tiles, and more terms than all stages have.
const EDGES: [Sizes; 9] = [
    [1, 1, 1],
    [128, 256, 64],
    [127, 255, 63],
    [129, 257, 65],
    [64, 128, 200],
    [200, 72, 8],
    [3, 300, 130],
    [300, 8, 70],
    [100, 70, 1100],
];

fn edges<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    for sizes in EDGES {
        for &order in orders {
            let dense = Place {
                start: 1,
                pitch: sizes[1] + 1,
            };
            for c in [aligned::<T::Result>(sizes[1]), dense] {
                compare::<T>(device, &Case::plain::<T>(sizes, order, c))?;
            }
        }
    }
    Ok(())
}

fn finishes<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let factors = [[0.5, 0.0], [1.0, 1.0], [-1.25, 0.75], [0.0, 2.0]];
    let finishes = [
        (false, Activation::None),
        (true, Activation::None),
        (false, Activation::Relu),
        (true, Activation::Gelu),
    ];
    for &order in orders {
        for (factors, (has_bias, activation)) in factors.into_iter().zip(finishes) {
            for pitch in [80, 75] {
                let place = Place { start: 0, pitch };
                let case = Case {
                    factors,
                    has_bias,
                    activation,
                    ..Case::plain::<T>([130, 70, 90], order, place)
                };
                compare::<T>(device, &case)?;
            }
        }
    }
    Ok(())
}

/// Products that are finished in registers, and stored by copies: by tiles of each kind.
fn finished_copies<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let wide: [Sizes; 2] = match device.properties().is_emulated() {
        true => [[256, 504, 130], [300, 120, 200]],
        false => [[2100, 3584, 200], [1900, 2304, 200]],
    };
    // Small ones, of a tile, of two below each other, and of two side by side.
    let small: [Sizes; 3] = [[64, 128, 1024], [100, 120, 300], [40, 200, 300]];
    let finishes = [
        (0.5, false, Activation::None),
        (1.0, true, Activation::None),
        (1.0, false, Activation::Relu),
        (-2.0, true, Activation::Relu),
    ];
    for &order in orders {
        let mut seen = HashSet::new();
        for [m, n, k] in wide.into_iter().chain(small) {
            let plan = Plan::<T>::new(device, [m, n, k], order)?;
            let Kernel::Copied(entry) = plan.kernel() else {
                return Err("a row of C has a multiple of 16 bytes".into());
            };
            seen.insert(entry.name());
            for (alpha, has_bias, activation) in finishes {
                let case = Case {
                    factors: [alpha, 0.0],
                    has_bias,
                    activation,
                    ..Case::plain::<T>([m, n, k], order, Place { start: 0, pitch: n })
                };
                compare::<T>(device, &case)?;
            }
        }
        // Of both widths, and small ones.
        gpu_test::equal(&[seen.len()], &[wide.len() + 1])?;
    }
    Ok(())
}

/// Products of nothing are 0, whichever way they are stored, and results without elements are left alone.
fn nothing<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    for sizes in [[5, 6, 0], [0, 6, 7], [5, 0, 7], [0, 0, 0], [130, 300, 0]] {
        for &order in orders {
            for factors in [[1.0, 0.0], [2.0, 0.0], [2.0, 0.5]] {
                let dense = Place {
                    start: 0,
                    pitch: sizes[1] + 1,
                };
                for c in [dense, aligned::<T::Result>(sizes[1])] {
                    let case = Case {
                        factors,
                        ..Case::plain::<T>(sizes, order, c)
                    };
                    compare::<T>(device, &case)?;
                }
            }
        }
    }
    Ok(())
}

/// Long sums of few tiles, which are small ones.
fn small<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    for [m, n, k] in [
        [64, 128, 1024],
        [128, 128, 200],
        [50, 128, 1100],
        [127, 72, 3001],
        [40, 200, 300],
    ] {
        for &order in orders {
            let plan = Plan::<T>::new(device, [m, n, k], order)?;
            gpu_test::equal(&plan.config().block, &[160, 1, 1])?;
            let case = Case::plain::<T>([m, n, k], order, aligned::<T::Result>(n));
            compare::<T>(device, &case)?;
        }
    }
    Ok(())
}

/// Operands that are copied into rows of their own first: several blocks for each row, and several rows for each block.
fn packed<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let dense = |columns: usize| Place {
        start: 1,
        pitch: columns + 1,
    };
    for &order in orders {
        let wide = [70, 40, 1100];
        let all: &[Sizes] = match order {
            Order::ByColumns => &[wide],
            // B has as many rows as that.
            Order::ByRows => &[wide, [8, 8, 33_000]],
        };
        for &[m, n, k] in all {
            let b = match order {
                Order::ByColumns => k,
                Order::ByRows => n,
            };
            let case = Case {
                places: [dense(k), dense(b), aligned::<T::Result>(n)],
                ..Case::plain::<T>([m, n, k], order, dense(n))
            };
            compare::<T>(device, &case)?;
        }
    }
    Ok(())
}

/// Pairs of blocks that bring tiles of `B` together, of each width of tiles, with a row of tiles that only one of a pair has; stored by
/// copies and by ordinary stores.
fn pairs<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let all: &[Sizes] = match device.properties().is_emulated() {
        true => &[
            [256, 504, 130],
            [300, 120, 200],
            [1100, 256, 70],
            [1200, 303, 90],
        ],
        false => &[[2100, 3584, 200], [1900, 2304, 200], [2100, 3571, 90]],
    };
    for &[m, n, k] in all {
        for &order in orders {
            let plan = Plan::<T>::new(device, [m, n, k], order)?;
            gpu_test::equal(&plan.cluster(), &[2, 1, 1])?;
            for c in [Place { start: 0, pitch: n }, aligned::<T::Result>(n)] {
                compare::<T>(device, &Case::plain::<T>([m, n, k], order, c))?;
            }
        }
    }
    Ok(())
}

/// Tiles that are added up backwards; kernels that store by copies and by ordinary stores do it in the same order.
fn turns(device: &Device) -> Result<(), Failed> {
    // More tiles than the 132 of a turn: 134 x 1, of which few columns are in use, or 36 x 4. The last step of k is a part of one.
    let sizes: Sizes = match device.properties().is_emulated() {
        true => [17_030, 8, 40],
        false => [4400, 1000, 100],
    };
    let [m, n, k] = sizes;
    compare::<Tf32>(
        device,
        &Case::plain::<Tf32>(sizes, ORDERS[0], aligned::<f32>(n)),
    )?;
    let random = &mut fastrand::Rng::with_seed(3);
    let a = Rows::<Tf32>::random(random, [m, k], Place { start: 0, pitch: k });
    let b = Rows::<Tf32>::random(random, [n, k], Place { start: 0, pitch: k });
    let buffers = (
        device.buffer_from(&a.elements)?,
        device.buffer_from(&b.elements)?,
    );
    let stream = Stream::new(device)?;
    let product = |pitch: usize| -> Result<Vec<u32>, Failed> {
        let mut c = device.buffer_filled(m * pitch, f32::NAN)?;
        let result = MatrixMut::new(c.slice_mut(..), m, n).with_pitch(pitch);
        let right = Right::ByColumns(b.of(&buffers.1));
        let product = Product::prepare(device, a.of(&buffers.0), right, result)?;
        // SAFETY: buffers and product live until the stream has been synchronised, and nothing else uses them.
        unsafe { product.launch(&stream) }?;
        stream.synchronize()?;
        drop(product);
        let elements = c.to_vec()?;
        Ok(elements
            .chunks(pitch)
            .flat_map(|row| &row[..n])
            .map(|it| it.to_bits())
            .collect())
    };
    let (copied, stored) = (product(n)?, product(n + 1)?);
    gpu_test::equal(copied.as_slice(), stored.as_slice())
}

/// A plan's kernel that is launched without its cluster computes the same.
fn without_clusters(device: &Device) -> Result<(), Failed> {
    const SIZES: Sizes = [300, 120, 72];
    let [m, n, k] = SIZES;
    let plan = Plan::<bf16>::new(device, SIZES, Order::ByColumns)?;
    let a = device.buffer_filled(m * k, bf16::from_f32(0.5))?;
    let b = device.buffer_filled(n * k, bf16::from_f32(2.0))?;
    let mut c = device.buffer_filled(m * n, bf16::NAN)?;
    let maps = plan.maps(device, &a, &b, &mut c)?;
    let Kernel::Copied(entry) = plan.kernel() else {
        return Err("a row of C has a multiple of 16 bytes".into());
    };
    let prepared = device.prepare(entry, plan.config())?;
    let map = |number: usize| maps.slice(number..=number);
    let stream = Stream::new(device)?;
    // SAFETY: the maps are of the plan's matrices, which live until the stream has been synchronised.
    unsafe {
        prepared.launch(
            &stream,
            &(map(0), map(1), map(2), Slice::empty(), plan.problem()),
        )
    }?;
    stream.synchronize()?;
    gpu_test::equal(
        c.to_vec()?.as_slice(),
        vec![bf16::from_f32(72.0); m * n].as_slice(),
    )
}

/// Sums of `f64` of which several blocks add up a part, of all tiles and of those that are left over.
fn shared(device: &Device, orders: &[Order]) -> Result<(), Failed> {
    let is_emulated = device.properties().is_emulated();
    let mut seen = Vec::new();
    for [m, n, k] in [
        [128, 128, 1024],
        [200, 300, 521],
        [1500, 250, if is_emulated { 100 } else { 300 }],
        [300, 100, 300],
    ] {
        seen.push(Plan::<f64>::new(device, [m, n, k], Order::ByRows)?.cluster()[0]);
        for &order in orders {
            let case = Case::plain::<f64>([m, n, k], order, aligned::<f64>(n));
            compare::<f64>(device, &case)?;
        }
    }
    if is_emulated {
        gpu_test::equal(seen.as_slice(), [8, 2, 2, 4].as_slice())?;
    }
    Ok(())
}

/// Factors that `f32` does not have.
fn f64_factors(device: &Device) -> Result<(), Failed> {
    let [a, b] = [0.1, 0.7].map(|value| device.buffer_filled(36, value));
    let (a, b) = (a?, b?);
    let mut c = device.buffer_filled(36, 0.3)?;
    let product = Product::prepare_scaled(
        device,
        Matrix::new(a.slice(..), 6, 6),
        Right::ByColumns(Matrix::new(b.slice(..), 6, 6)),
        MatrixMut::new(c.slice_mut(..), 6, 6),
        [0.2, -0.6],
    )?;
    let stream = Stream::new(device)?;
    // SAFETY: as in `compare`.
    unsafe { product.launch(&stream) }?;
    stream.synchronize()?;
    drop(product);
    let expected: f64 = 0.2 * (6.0 * 0.1 * 0.7) - 0.6 * 0.3;
    let off = c
        .to_vec()?
        .into_iter()
        .map(|value| (value - expected).abs());
    match off.fold(0.0, f64::max) {
        off if off <= 1e-16 => Ok(()),
        off => Err(format!("{off:e} from {expected}").into()),
    }
}

/// 50 products of random sizes, orders and places: on an emulator of a tile and a bit at most, on a GPU of several.
fn many<T>(device: &Device, orders: &[Order]) -> Result<(), Failed>
where
    T: Element + Number,
    T::Result: Number,
{
    let tiles = if device.properties().is_emulated() {
        1
    } else {
        5
    };
    // Each type has others.
    let mut random = fastrand::Rng::with_seed(T::NAME.bytes().map(u64::from).sum());
    for number in 0..50 {
        let most = [150 * tiles, 260 * tiles, 140 * tiles];
        let mut sizes = most.map(|most| random.usize(1..most));
        if number % 10 == 0 {
            sizes[number / 10 % 3] = 0;
        }
        let [_, n, k] = sizes;
        let order = orders[random.usize(0..orders.len())];
        let b = match order {
            Order::ByColumns => k,
            Order::ByRows => n,
        };
        let case = Case {
            sizes,
            order,
            factors: [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0]][random.usize(0..3)],
            has_bias: random.bool(),
            activation: [Activation::None, Activation::Relu, Activation::Gelu][random.usize(0..3)],
            places: [k, b, n].map(|columns| anywhere(&mut random, columns)),
        };
        compare::<T>(device, &case)?;
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

/// Products that are refused before anything is launched, with sizes in the message.
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
type CheckOfOrders = fn(&Device, &[Order]) -> Result<(), Failed>;

/// Cases of one type, so that those that execute a kernel are few.
fn of_orders(name: &str, orders: &'static [Order], checks: &[(&str, CheckOfOrders)]) -> Vec<Trial> {
    let all = checks.iter().flat_map(|&(check, run)| {
        let name = format!("{name}_{check}");
        on_both(&name, gemm::ptx(), move |device| run(device, orders))
    });
    all.collect()
}

/// The cases of a type that is multiplied by warpgroups.
fn by_warpgroups<T>(name: &str, orders: &'static [Order]) -> Vec<Trial>
where
    T: Element + Number,
    T::Result: Number,
{
    let checks: [(&str, CheckOfOrders); 8] = [
        ("nothing", nothing::<T>),
        ("edges", edges::<T>),
        ("finishes", finishes::<T>),
        ("finished_copies", finished_copies::<T>),
        ("small", small::<T>),
        ("packed", packed::<T>),
        ("pairs", pairs::<T>),
        ("many", many::<T>),
    ];
    of_orders(name, orders, &checks)
}

/// The cases of this module, each on the emulator and on a GPU.
pub(crate) fn trials() -> Vec<Trial> {
    let by_columns = &ORDERS[..1];
    let of_f64: [(&str, CheckOfOrders); 6] = [
        ("nothing", nothing::<f64>),
        ("edges", edges::<f64>),
        ("finishes", finishes::<f64>),
        ("shared", shared),
        ("packed", packed::<f64>),
        ("many", many::<f64>),
    ];
    let others: [(&str, Check); 4] = [
        ("f64_factors", f64_factors),
        ("turns", turns),
        ("without_clusters", without_clusters),
        ("special", special),
    ];
    let mut trials = by_warpgroups::<bf16>("bf16", &ORDERS);
    trials.extend(by_warpgroups::<f16>("f16", &ORDERS));
    trials.extend(by_warpgroups::<Tf32>("tf32", by_columns));
    trials.extend(by_warpgroups::<E4m3>("e4m3", by_columns));
    trials.extend(of_orders("f64", &ORDERS, &of_f64));
    trials.extend(
        others
            .into_iter()
            .flat_map(|(name, case)| on_both(name, gemm::ptx(), case)),
    );
    trials.push(Trial::test("emulator::refused", refused));
    trials
}
