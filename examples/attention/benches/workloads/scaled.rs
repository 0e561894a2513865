//! `O = softmax(Q Kᵀ / √128) V` as a workload: what it launches, moves and multiplies, and what should come out.

#[path = "../../tests/support/reference.rs"]
pub(crate) mod reference;

use attention::{Attention, HEAD, KEYS, Mask, QUERIES, Shape};
use half::bf16;
use reference::{Rows, bound, score, weighted};
use ridgepoint::model::{TensorType, Work};
use ridgepoint::prelude::*;

/// Attention of `heads` x `sequence` x 128.
pub(crate) struct ScaledAttention;

impl Workload for ScaledAttention {
    fn name(&self) -> &str {
        "attention"
    }

    fn axes(&self) -> Vec<Axis> {
        let size = |name, on_gpu: &[u64], on_emulator: &[u64]| {
            let axis = Axis::whole(name, on_gpu.iter().copied()).within(1..=1 << 20);
            axis.on_emulator(on_emulator.iter().copied())
        };
        let masks = ["full", "causal"];
        vec![
            size("sequence", &[512, 1024, 2048, 4096, 8192], &[128, 256])
                .help("queries of a head, and keys"),
            size("heads", &[32], &[1]).help("heads of all batches"),
            Axis::one_of("mask", masks, masks).help("which keys a query sees"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [sequence, heads] = ["sequence", "heads"].map(|axis| at.size(axis) as u32);
        let mask = match at.text("mask") {
            "causal" => Mask::Causal,
            _ => Mask::Full,
        };
        let shape = Shape {
            heads,
            sequence,
            mask,
        };
        let config = shape.config(at.device());
        let launch = at.launch(shape.entry(), config);
        let arrays = launch
            .arrays(move |device| {
                let given = Given::new(shape);
                let [q, k, v] = given.inputs();
                Attention::new(device, shape, [&q, &k, &v])
            })
            .check(move |it: &Attention| Given::new(shape).check(&it.result()?));
        // SAFETY: the maps are of the arrays' own matrices.
        let case = unsafe { arrays.arguments_unchecked(|it| it.arguments()) };
        let elements = shape.elements();
        let tensor = Operation::Tensor(TensorType::Bf16);
        let products = 4 * HEAD as usize * shape.pairs() as usize;
        Ok(case
            .reads::<bf16>(3 * elements)
            .writes::<bf16>(elements)
            .operations(Precision::F32, tensor, products)
            .overhead(overhead(shape)))
    }
}

/// Returns the work beside the products of queries and keys that they see: products of whole blocks, and softmax.
pub(crate) fn overhead(shape: Shape) -> Work {
    let (heads, sequence) = (f64::from(shape.heads), f64::from(shape.sequence));
    let tiles = (sequence / f64::from(QUERIES)).ceil();
    // Of 128 queries and as many keys each.
    let blocks = heads
        * match shape.mask {
            Mask::Full => tiles * tiles,
            Mask::Causal => tiles * (tiles + 1.0) / 2.0,
        };
    let scores = blocks * f64::from(QUERIES * KEYS);
    // Four threads share a row: what each of them does once for it and a block, and for it alone.
    let rows = 4.0 * blocks * f64::from(QUERIES);
    let ends = 4.0 * heads * tiles * f64::from(QUERIES);
    // The factor of the exponents: what each of 256 threads of a block does once for all its tiles. A block computes a tile, or two
    // of a mask; where there are more tiles than the GPU computes at once, it computes more.
    let blocks_at_once = heads
        * match shape.mask {
            Mask::Full => tiles,
            Mask::Causal => (tiles / 2.0).ceil(),
        };
    let products = 4.0 * f64::from(HEAD) * (scores - shape.pairs() as f64);
    let of = |work: Work, operation, count| work.operations(Precision::F32, operation, count);
    let work = of(
        Work::default(),
        Operation::Tensor(TensorType::Bf16),
        products,
    );
    let work = of(work, Operation::Fma, scores);
    let work = of(work, Operation::Special, scores + rows + ends);
    let work = of(work, Operation::Add, scores + rows + 2.0 * ends);
    // Sums, of as many elements as a block has scores, shrink in front of each block but the first, and are divided at the end.
    let multiplications = scores + 3.0 * rows + 256.0 * blocks_at_once;
    of(work, Operation::Multiply, multiplications)
}

/// After so many rows `Q` begins again, and `K` and `V` after so many: so the host knows all of `O` from a few. Neither divides a tile.
const PERIODS: [usize; 2] = [53, 61];

/// By how many rows the next head begins later.
const SHIFTS: [usize; 2] = [7, 5];

/// Random numbers: the queries that there are, the keys and the values.
pub(crate) struct Given {
    shape: Shape,
    queries: Vec<bf16>,
    keys: Vec<bf16>,
    values: Vec<bf16>,
}

impl Given {
    pub(crate) fn new(shape: Shape) -> Given {
        let mut random = fastrand::Rng::with_seed(u64::from(shape.sequence));
        let mut numbers = |rows: usize, most: f64| -> Vec<bf16> {
            let count = rows * HEAD as usize;
            let each = (0..count).map(|_| bf16::from_f64((random.f64() * 2.0 - 1.0) * most));
            each.collect()
        };
        let [queries, keys] = PERIODS;
        Given {
            shape,
            queries: numbers(queries, 2.0),
            keys: numbers(keys, 2.0),
            values: numbers(keys, 1.0),
        }
    }

    /// `Q`, `K` and `V`.
    fn inputs(&self) -> [Vec<bf16>; 3] {
        let [shift, key_shift] = SHIFTS;
        let repeated = |rows: &[bf16], shift: usize| -> Vec<bf16> {
            let of_head = self.shape.sequence as usize * HEAD as usize;
            let heads = 0..self.shape.heads as usize;
            let head = |head: usize| {
                let from = head * shift * HEAD as usize % rows.len();
                rows.iter().copied().cycle().skip(from).take(of_head)
            };
            heads.flat_map(head).collect()
        };
        [
            repeated(&self.queries, shift),
            repeated(&self.keys, key_shift),
            repeated(&self.values, key_shift),
        ]
    }

    /// Calls `with` for each query of each head, in order, with its row of `O` and the sums of its terms' sizes.
    pub(crate) fn expected(
        &self,
        mut with: impl FnMut(&[(f64, f64)]) -> Result<(), PointError>,
    ) -> Result<(), PointError> {
        let [query_period, key_period] = PERIODS;
        let (queries, keys) = (Rows::new(&self.queries), Rows::new(&self.keys));
        let values = Rows::new(&self.values);
        let row = |query| {
            (0..key_period)
                .map(|key| score(queries.row(query), keys.row(key)))
                .collect()
        };
        let scores: Vec<Vec<f64>> = (0..query_period).map(row).collect();
        for head in 0..self.shape.heads as usize {
            let first_key = head * SHIFTS[1];
            // How many of the first keys of the head are this one.
            let count = |key: usize, seen: usize| {
                let first = (key + key_period - first_key % key_period) % key_period;
                seen.saturating_sub(first).div_ceil(key_period) as f64
            };
            let of = |query: usize, seen: usize| {
                weighted(&scores[query], &values, |key| count(key, seen))
            };
            let sequence = self.shape.sequence as usize;
            let all_see_all = self.shape.mask == Mask::Full;
            let known: Vec<_> = (0..query_period)
                .filter(|_| all_see_all)
                .map(|query| of(query, sequence))
                .collect();
            for query in 0..sequence {
                let number = (query + head * SHIFTS[0]) % query_period;
                match known.get(number) {
                    Some(row) => with(row)?,
                    None => with(&of(number, query + 1))?,
                }
            }
        }
        Ok(())
    }

    /// Compares every element.
    pub(crate) fn check(&self, result: &[bf16]) -> Result<(), PointError> {
        let mut rows = result.chunks(HEAD as usize).enumerate();
        self.expected(|expected| {
            let (number, row) = rows.next().ok_or("the result has too few rows")?;
            for (column, (element, &(value, size))) in row.iter().zip(expected).enumerate() {
                let (actual, bound) = (element.to_f64(), bound(value, size));
                let off = (actual - value).abs();
                if off.is_nan() || off > bound {
                    let (head, query) = (number / self.shape.sequence as usize, number % self.shape.sequence as usize);
                    return Err(format!(
                        "head {head}, query {query}, column {column} is {actual:e}, and the reference {value:e}: the \
                         difference may be {bound:e}"
                    )
                    .into());
                }
            }
            Ok(())
        })
    }
}
