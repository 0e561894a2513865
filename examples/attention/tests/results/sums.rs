//! Attention of odd sizes against sums in `f64`, and what is special about numbers.

use attention::{Attention, HEAD, Mask, Shape};
use gpu_test::{Device, Failed, Trial, on_both, on_gpu};
use half::bf16;
use ridgepoint_driver::{LaunchConfig, Stream};

use crate::scaled::reference::{Rows, bound, score, weighted};

const MASKS: [Mask; 2] = [Mask::Full, Mask::Causal];

/// Lengths at, below and above those of tiles, of one warpgroup's queries and of 8 rows; heads.
const SIZES: [[u32; 2]; 8] = [
    [1, 1],
    [7, 3],
    [64, 1],
    [65, 1],
    [127, 1],
    [128, 2],
    [129, 1],
    [300, 1],
];

fn random(seed: u64, count: usize, most: f64) -> Vec<bf16> {
    let mut random = fastrand::Rng::with_seed(seed);
    let each = (0..count).map(|_| bf16::from_f64((random.f64() * 2.0 - 1.0) * most));
    each.collect()
}

/// Attention by so many blocks; without a number by those that the shape asks for.
fn computed(
    device: &Device,
    shape: Shape,
    inputs: [&[bf16]; 3],
    blocks: Option<u64>,
) -> Result<Vec<bf16>, Failed> {
    let mut attention = Attention::new(device, shape, inputs)?;
    let stream = Stream::new(device)?;
    match blocks {
        None => attention.launch(&stream, device)?,
        Some(blocks) => {
            let config = LaunchConfig {
                grid: [blocks, 1, 1],
                ..shape.config(device)
            };
            let prepared = device.prepare(shape.entry(), config)?;
            // SAFETY: the arguments are this kernel's, and nothing else touches the matrices.
            unsafe { prepared.launch(&stream, &attention.arguments()) }?;
            stream.synchronize()?;
        }
    }
    Ok(attention.result()?)
}

/// Random inputs; scores of up to about `most`² times 4.
fn compare(device: &Device, shape: Shape, most: f64) -> Result<(), Failed> {
    compare_by(device, shape, most, None)
}

fn compare_by(device: &Device, shape: Shape, most: f64, blocks: Option<u64>) -> Result<(), Failed> {
    let count = shape.elements();
    let [q, k, v] = [(1, most), (2, most), (3, 1.0)].map(|(seed, most)| random(seed, count, most));
    let result = computed(device, shape, [&q, &k, &v], blocks)?;
    let of_head = shape.sequence as usize * HEAD as usize;
    for (head, result) in result.chunks(of_head).enumerate() {
        let part = |all: &[bf16]| Rows::new(&all[head * of_head..][..of_head]);
        let (q, k, v) = (part(&q), part(&k), part(&v));
        for (query, row) in result.chunks(HEAD as usize).enumerate() {
            let seen = match shape.mask {
                Mask::Full => shape.sequence as usize,
                Mask::Causal => query + 1,
            };
            let expected = {
                let scores: Vec<f64> = (0..seen)
                    .map(|key| score(q.row(query), k.row(key)))
                    .collect();
                weighted(&scores, &v, |_| 1.0)
            };
            for (column, (&element, &(value, size))) in row.iter().zip(&expected).enumerate() {
                let off = (element.to_f64() - value).abs();
                if off.is_nan() || off > bound(value, size) {
                    return Err(format!(
                        "{shape:?}: head {head}, query {query}, column {column}: {element} instead of {value}, bound {:e}",
                        bound(value, size)
                    )
                    .into());
                }
            }
        }
    }
    Ok(())
}

fn sizes(device: &Device, mask: Mask) -> Result<(), Failed> {
    for [sequence, heads] in SIZES {
        compare(
            device,
            Shape {
                heads,
                sequence,
                mask,
            },
            1.0,
        )?;
    }
    Ok(())
}

/// Scores far apart: the greatest one changes from block to block, and most weights are 0.
fn far_apart(device: &Device) -> Result<(), Failed> {
    for mask in MASKS {
        compare(
            device,
            Shape {
                heads: 1,
                sequence: 400,
                mask,
            },
            8.0,
        )?;
    }
    Ok(())
}

/// More tiles than blocks, so that a block computes several; and more blocks than tiles, of which some have none.
fn other_grids(device: &Device) -> Result<(), Failed> {
    for mask in MASKS {
        for (sequence, heads, blocks) in [(130, 5, 2), (300, 2, 1), (300, 1, 5), (64, 2, 3)] {
            let shape = Shape {
                heads,
                sequence,
                mask,
            };
            compare_by(device, shape, 1.0, Some(blocks))?;
        }
    }
    Ok(())
}

/// Several blocks of keys in each stage's place, an odd length.
fn long(device: &Device) -> Result<(), Failed> {
    for mask in MASKS {
        compare(
            device,
            Shape {
                heads: 3,
                sequence: 2047,
                mask,
            },
            1.0,
        )?;
    }
    Ok(())
}

/// A NaN in a key is seen by those queries alone that see the key, and an infinite value in its column alone: of a query that does
/// not see it 0 times infinity is added.
fn special(device: &Device) -> Result<(), Failed> {
    let shape = Shape {
        heads: 2,
        sequence: 140,
        mask: Mask::Causal,
    };
    let ones = vec![bf16::ONE; shape.elements()];
    let (mut keys, mut values) = (ones.clone(), ones.clone());
    let at = |head: usize, row: usize, column: usize| (head * 140 + row) * HEAD as usize + column;
    keys[at(0, 131, 5)] = bf16::NAN;
    values[at(1, 7, 9)] = bf16::INFINITY;
    let result = computed(device, shape, [&ones, &keys, &values], None)?;
    for (index, value) in result.into_iter().enumerate() {
        let (row, column) = (index / HEAD as usize, index % HEAD as usize);
        let good = match (row / 140, row % 140, column) {
            (0, 131.., _) => value.is_nan(),
            (1, 0..7, 9) => value.is_nan(),
            (1, 7.., 9) => value == bf16::INFINITY,
            _ => value == bf16::ONE,
        };
        if !good {
            return Err(format!(
                "head {}, query {}, column {column} is {value}",
                row / 140,
                row % 140
            )
            .into());
        }
    }
    Ok(())
}

type Check = fn(&Device) -> Result<(), Failed>;

const CASES: [(&str, Check); 5] = [
    ("full", |device| sizes(device, Mask::Full)),
    ("causal", |device| sizes(device, Mask::Causal)),
    ("far_apart", far_apart),
    ("other_grids", other_grids),
    ("special", special),
];

/// The cases of this module, each on the emulator and on a GPU.
pub(crate) fn trials() -> Vec<Trial> {
    let ptx = attention::ptx();
    let cases = CASES.into_iter();
    let mut trials: Vec<Trial> = cases
        .flat_map(|(name, case)| on_both(name, ptx, case))
        .collect();
    trials.push(on_gpu("long", ptx, long));
    trials
}
