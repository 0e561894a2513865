//! The kernels that measure a device's ceilings do what they say, on the emulator and on a GPU.

use cuda_std::launch::{Entry, Signature};
use gpu_test::{Arguments, Device, Failed, equal, on_both};
use kernels_gpu::ceilings::stream::*;
use ridgepoint::ceilings::{BenchError, Ceilings, Effort, Quantity, load, save};
use ridgepoint::driver::{Buffer, Shape, Stream, embedded_ptx};
use ridgepoint::measure::Runs;

/// Vectors: around a block, a tile, and a multiple of neither.
const SIZES: [usize; 8] = [1, 31, 256, 257, 512, 1000, 2048, 4099];
/// Threads a block, and blocks in the grid.
const LAUNCHES: [(u32, u64); 4] = [(32, 1), (64, 3), (256, 2), (256, 40)];
/// Vectors behind the output that no kernel may touch.
const GUARD: usize = 3;
const FACTOR: f32 = 0.75;

type Case = (&'static str, fn(&Device) -> Result<(), Failed>);

fn main() {
    let arguments = Arguments::from_args();
    let cases: [Case; 3] = [
        ("streams_write_every_element", streams_write_every_element),
        ("every_ceiling_is_measured", every_ceiling_is_measured),
        ("too_little_work_is_refused", too_little_work_is_refused),
    ];
    let trials = cases
        .into_iter()
        .flat_map(|(name, case)| on_both(name, embedded_ptx(), case));
    gpu_test::run(&arguments, trials.collect()).exit();
}

fn streams_write_every_element(device: &Device) -> Result<(), Failed> {
    for n in SIZES {
        let x: Vec<Vector> = (0..n).map(pattern_vector).collect();
        let z: Vec<Vector> = (n..2 * n).map(pattern_vector).collect();
        let scaled = |i: usize| x[i].map(|x| FACTOR * x);
        let combined = |i: usize| {
            let of = |lane: usize| FACTOR.mul_add(z[i][lane], x[i][lane]);
            [of(0), of(1), of(2), of(3)]
        };
        let mut arrays = Arrays {
            n,
            x: device.buffer_from(&x)?,
            z: device.buffer_from(&z)?,
            y: device.buffer_filled(n + GUARD, [0.0f32; 4])?,
        };
        macro_rules! each {
            ($($kernel:ident)*: $arguments:expr, $expected:expr) => {$({
                let expected: Vec<Vector> = (0..n).map($expected).collect();
                output_is(device, $kernel::entry(), &mut arrays, $arguments, &expected)?;
            })*};
        }
        each!(write_u1 write_u2 write_u4 write_u8: |it| (it.y.first_mut(it.n), it.n as u64),
            pattern_vector);
        each!(copy_u1 copy_u2 copy_u4 copy_u8: |it| (it.x.slice(), it.y.first_mut(it.n)),
            |i| x[i]);
        each!(scale_u1 scale_u2 scale_u4 scale_u8:
            |it| (it.x.slice(), it.y.first_mut(it.n), FACTOR), scaled);
        each!(triad_u1 triad_u2 triad_u4 triad_u8:
            |it| (it.x.slice(), it.z.slice(), it.y.first_mut(it.n), FACTOR), combined);
    }
    Ok(())
}

struct Arrays {
    n: usize,
    x: Buffer<Vector>,
    z: Buffer<Vector>,
    y: Buffer<Vector>,
}

/// Launches the kernel in all shapes: `y` is `expected`, and nothing behind it is written.
fn output_is<S: Signature>(
    device: &Device,
    entry: Entry<S>,
    arrays: &mut Arrays,
    arguments: fn(&mut Arrays) -> S::Arguments<'_>,
    expected: &[Vector],
) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    for (block, grid) in LAUNCHES {
        // A thread of these takes one vector at most.
        let grid = match entry.name.ends_with("_u1") {
            true => Shape::linear(arrays.n as u64, block).grid[0].max(grid),
            false => grid,
        };
        arrays.y.poison()?;
        let prepared = device.prepare(entry, Shape::blocks(grid, block))?;
        // SAFETY: the arrays have n vectors, are apart, and live until the stream is synchronised.
        unsafe { prepared.launch(&stream, &arguments(arrays)) }?;
        stream.synchronize()?;
        let bits = |vectors: &[Vector]| -> Vec<[u32; 4]> {
            vectors
                .iter()
                .map(|vector| vector.map(f32::to_bits))
                .collect()
        };
        let expected = [bits(expected), vec![[u32::MAX; 4]; GUARD]].concat();
        equal(&bits(&arrays.y.to_vec()?), &expected).map_err(|error| {
            format!(
                "{}, n = {}, {grid} x {block}: {error:?}",
                entry.name, arrays.n
            )
        })?;
    }
    Ok(())
}

/// `measure` compares every kernel's output with its reference.
fn every_ceiling_is_measured(device: &Device) -> Result<(), Failed> {
    let effort = Effort {
        elements: 100_004,
        lines: 3,
        ..Effort::of(device)
    };
    let effort = Effort {
        runs: Runs {
            warmup: 0,
            timed: 2,
        },
        ..effort
    };
    let mut steps = Vec::new();
    let ceilings = Ceilings::measure(device, &effort, |step| steps.push(step.to_owned()))?;
    equal(
        &steps,
        &[
            "memory",
            "caches and shared memory",
            "arithmetic",
            "latencies",
            "launches",
        ]
        .map(str::to_owned),
    )?;
    for quantity in Quantity::ALL {
        let found = ceilings
            .get(quantity)
            .ok_or_else(|| format!("no {quantity:?}"))?;
        assert!(found.value.is_finite() && found.value > 0.0, "{found:?}");
        assert!(
            !found.variant.is_empty() && found.median_ms > 0.0,
            "{found:?}"
        );
        assert_eq!(found.percent().is_some(), found.datasheet.is_some());
    }
    assert_eq!(ceilings.ceilings.len(), Quantity::ALL.len());
    assert!(ceilings.working_sets.len() >= 4);
    assert_eq!(ceilings.emulated, device.facts().is_emulated());

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("deep").join("ceilings.json");
    save(&ceilings, &path)?;
    assert_eq!(load(&path, device.facts())?, ceilings);
    let mut other = device.facts().clone();
    other.name = "another".to_owned();
    let error = load(&path, &other).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("another")));
    std::fs::write(&path, "{}")?;
    assert!(load(&path, device.facts()).is_err());
    Ok(())
}

fn too_little_work_is_refused(device: &Device) -> Result<(), Failed> {
    let effort = Effort {
        elements: 3,
        ..Effort::of(device)
    };
    match Ceilings::measure(device, &effort, |_| ()) {
        Err(BenchError::TooLittle {
            actual: 3,
            least: 4,
            ..
        }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
