//! Attention: `O = softmax(scale Q Kᵀ) V` for each head, in `bf16` with sums in `f32`.
//!
//! A block computes tiles of 128 queries, one after the other. Its first warpgroup copies; the two others compute 64 queries
//! each, for which they go through the keys from the last block of 128 to the first:
//!
//! 1. scores `S = Q Kᵀ`, by the tensor cores, into 64 registers per thread;
//! 2. weights `P = exp(scale (S - m))`, where `m` is the greatest score that a query has seen so far. Where it has grown, what was
//!    added up before is scaled down: no second pass over the keys is needed;
//! 3. `O += P V`, by the tensor cores. The registers of `P` are the operand: the layout of an accumulator is that of an operand, so
//!    weights never go through shared memory.
//!
//! Exponentials take about half as long as the products, on other units. Both are busy at the same time because the scores of a
//! block are computed before the weights of the previous one are used, and because the two warpgroups take turns: while
//! one has the tensor cores, the other one computes weights.

#![no_std]

use core::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use cuda_std::ApproxFloat;
use cuda_std::mbarrier::{Barrier, Ring};
use cuda_std::mma::{Plain, store_matrices};
use cuda_std::packed::Bf16x2;
use cuda_std::prelude::*;
use cuda_std::shared::{SharedPtr, dynamic_shared_mem};
use cuda_std::tma::{self, TensorMap};
use cuda_std::unroll;
use cuda_std::warpgroup::{self, NamedBarrier};
use cuda_std::wgmma::{
    Accumulator, InFlight, KMajor, MnMajor, N128, Previous, Swizzle, Swizzle128,
};

/// Elements of a query, a key, a value and a result.
pub const HEAD: u32 = 128;
/// Queries of a tile.
pub const QUERIES: u32 = 128;
/// Queries of a warpgroup: rows of a box of `Q` and `O`.
pub const GROUP_QUERIES: u32 = 64;
/// Keys that are multiplied at once: rows of a box of `K` and `V`.
pub const KEYS: u32 = 128;
/// Columns of every box: half of a head, 128 bytes.
pub const BOX_COLUMNS: u32 = Swizzle128::SPAN / 2;
/// Threads per block: a warpgroup that copies and two that compute.
pub const THREADS: u32 = 3 * warpgroup::THREADS;

/// A query sees all blocks of keys whole but the last that its tile sees.
const _: () = assert!(KEYS.is_multiple_of(QUERIES));

const STAGES: u32 = 2;
/// Bytes of 128 queries, keys, values or results.
const TILE_BYTES: u32 = 128 * HEAD * 2;
/// Bytes of a box of 64 rows.
const GROUP_BOX_BYTES: u32 = GROUP_QUERIES * Swizzle128::SPAN;
const RING_BYTES: u32 = Ring::<1>::BYTES + 2 * Ring::<STAGES>::BYTES;

/// Dynamic shared memory of a block, with room to align it.
pub const SHARED_BYTES: u32 = Swizzle128::ALIGN + (2 + 2 * STAGES) * TILE_BYTES + RING_BYTES;

/// Sizes, and the factor of the scores.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Problem {
    /// Heads, of all batches.
    pub heads: u32,
    /// Queries of a head, and keys.
    pub sequence: u32,
    /// The factor of scores, above 0: usually 1 over the root of [`HEAD`].
    pub scale: f32,
}

/// Which keys a query sees, and which tiles a block computes together.
pub trait Mask {
    /// Units that a head of `tiles` tiles is made of.
    fn units(tiles: u32) -> u32;

    /// The first and the last tile of unit `unit`, which may be the same one.
    fn tiles_of(unit: u32, tiles: u32) -> [u32; 2];

    /// The last key that a query sees.
    fn last_key(query: u32, sequence: u32) -> u32;
}

/// A query sees all keys.
pub enum Everything {}

impl Mask for Everything {
    #[inline(always)]
    fn units(tiles: u32) -> u32 {
        tiles
    }

    #[inline(always)]
    fn tiles_of(unit: u32, _: u32) -> [u32; 2] {
        [unit; 2]
    }

    #[inline(always)]
    fn last_key(_: u32, sequence: u32) -> u32 {
        sequence - 1
    }
}

/// A query sees the keys up to its own number.
pub enum Causal {}

impl Mask for Causal {
    // The first tile of a head takes least time and the last one most: one of each side make units of equal length.
    #[inline(always)]
    fn units(tiles: u32) -> u32 {
        tiles.div_ceil(2)
    }

    #[inline(always)]
    fn tiles_of(unit: u32, tiles: u32) -> [u32; 2] {
        [tiles - 1 - unit, unit]
    }

    #[inline(always)]
    fn last_key(query: u32, sequence: u32) -> u32 {
        query.min(sequence - 1)
    }
}

/// `O = softmax(scale Q Kᵀ) V`.
///
/// # Safety
/// The maps are of `heads` x `sequence` x [`HEAD`] elements, in boxes of [`BOX_COLUMNS`] columns, swizzled by 128 bytes, and of
/// [`GROUP_QUERIES`] rows of `q` and `o` and [`KEYS`] of `k` and `v`, of one head. The launch gives [`SHARED_BYTES`]; neither
/// `heads` nor `sequence` is 0, and nobody else touches the result.
#[kernel(
    block = [384],
    min_blocks = 1,
    instances(attention_full<Everything>, attention_causal<Causal>)
)]
pub unsafe fn attention<M: Mask>(
    q: &TensorMap,
    k: &TensorMap,
    v: &TensorMap,
    o: &TensorMap,
    problem: Problem,
) {
    // SAFETY: all threads come here.
    let group = unsafe { warpgroup::index() };
    let layout = Layout::of_block();
    if thread::thread_idx_x() == 0 {
        // One thread fills, and one of each warpgroup releases.
        layout.query_ring.init(1, 2);
        layout.key_ring.init(1, 2);
        layout.value_ring.init(1, 2);
    }
    thread::sync_threads();
    let tiles = Tiles::<M>::of_block(problem);
    if group == 0 {
        // SAFETY: the whole warpgroup comes here; the bounds say how many registers it had.
        unsafe { warpgroup::decrease_registers::<24>() };
        if thread::thread_idx_x() == 0 {
            // SAFETY: the kernel's contract; the rings were made before the barrier.
            unsafe { bring(tiles, layout, q, k, v) };
        }
    } else {
        // SAFETY: the whole warpgroup comes here, and the other gives back what these two take.
        unsafe {
            warpgroup::increase_registers::<240>();
            compute(tiles, layout, group - 1, o);
        }
    }
}

/// Where things lie in shared memory.
#[derive(Clone, Copy)]
struct Layout {
    /// Two boxes of each warpgroup.
    queries: SharedPtr<bf16>,
    /// Two boxes of each stage.
    keys: SharedPtr<bf16>,
    values: SharedPtr<bf16>,
    /// Two boxes of each warpgroup.
    results: SharedPtr<bf16>,
    query_ring: Ring<1>,
    key_ring: Ring<STAGES>,
    value_ring: Ring<STAGES>,
}

impl Layout {
    #[inline(always)]
    fn of_block() -> Layout {
        let queries = SharedPtr::new(dynamic_shared_mem::<bf16>()).align_up(Swizzle128::ALIGN);
        let keys = queries.byte_add(TILE_BYTES);
        let values = keys.byte_add(STAGES * TILE_BYTES);
        let results = values.byte_add(STAGES * TILE_BYTES);
        let barriers: SharedPtr<u64> = results.byte_add(TILE_BYTES).cast();
        let key_barriers = barriers.byte_add(Ring::<1>::BYTES);
        let value_barriers = key_barriers.byte_add(Ring::<STAGES>::BYTES);
        // SAFETY: the launch gives `SHARED_BYTES`; the last of them are the barriers', and nothing else's.
        unsafe {
            Layout {
                queries,
                keys,
                values,
                results,
                query_ring: Ring::new(barriers),
                key_ring: Ring::new(key_barriers),
                value_ring: Ring::new(value_barriers),
            }
        }
    }
}

/// A tile of the result.
#[derive(Clone, Copy)]
struct Tile {
    head: u32,
    first_query: u32,
    /// Blocks of keys that its last query sees.
    key_blocks: u32,
}

/// The tiles of a block in turn, unit by unit. Neighbouring blocks have neighbouring units, which read the same keys from the L2
/// cache.
struct Tiles<M> {
    problem: Problem,
    unit: u32,
    is_second: bool,
    mask: PhantomData<M>,
}

impl<M: Mask> Tiles<M> {
    #[inline(always)]
    fn of_block(problem: Problem) -> Self {
        Tiles {
            problem,
            unit: thread::block_idx_x(),
            is_second: false,
            mask: PhantomData,
        }
    }

    #[inline(always)]
    fn next(&mut self) -> Option<Tile> {
        let Problem {
            heads, sequence, ..
        } = self.problem;
        let tiles = sequence.div_ceil(QUERIES);
        // No sequence has none: a division that does not panic.
        let units = M::units(tiles).max(1);
        if self.unit >= units * heads {
            return None;
        }
        let [first, last] = M::tiles_of(self.unit % units, tiles);
        let (head, tile) = (self.unit / units, if self.is_second { last } else { first });
        if tile == last {
            self.unit += thread::grid_dim_x();
        }
        self.is_second = tile != last;
        let first_query = tile * QUERIES;
        Some(Tile {
            head,
            first_query,
            key_blocks: M::last_key(first_query + QUERIES - 1, sequence) / KEYS + 1,
        })
    }
}

/// Brings queries, keys and values of all tiles.
#[inline(always)]
unsafe fn bring<M: Mask>(
    mut tiles: Tiles<M>,
    layout: Layout,
    q: &TensorMap,
    k: &TensorMap,
    v: &TensorMap,
) {
    let mut queries = layout.query_ring.producer();
    let mut keys = layout.key_ring.producer();
    let mut values = layout.value_ring.producer();
    while let Some(Tile {
        head,
        first_query,
        key_blocks,
    }) = tiles.next()
    {
        let full = queries.acquire().expect(TILE_BYTES);
        for group in 0..2 {
            let row = first_query + group * GROUP_QUERIES;
            let place = layout.queries.byte_add(group * TILE_BYTES / 2);
            // SAFETY: the place is free, has room for the boxes, and their bytes have been announced; so below.
            unsafe { load::<GROUP_QUERIES>(q, [row, head], place, full) };
        }
        for block in (0..key_blocks).rev() {
            let row = block * KEYS;
            let free = keys.acquire();
            let place = layout.keys.byte_add(free.stage() * TILE_BYTES);
            // SAFETY: as above.
            unsafe { load::<KEYS>(k, [row, head], place, free.expect(TILE_BYTES)) };
            let free = values.acquire();
            let place = layout.values.byte_add(free.stage() * TILE_BYTES);
            // SAFETY: as above.
            unsafe { load::<KEYS>(v, [row, head], place, free.expect(TILE_BYTES)) };
        }
    }
}

/// Starts to copy `ROWS` rows of a head: the box of its first half, and behind it that of its second.
#[inline(always)]
unsafe fn load<const ROWS: u32>(
    map: &TensorMap,
    [row, head]: [u32; 2],
    to: SharedPtr<bf16>,
    full: Barrier,
) {
    let second = to.byte_add(ROWS * Swizzle128::SPAN);
    // SAFETY: the caller has room for both boxes.
    unsafe {
        map.load([0, row as i32, head as i32], to, full);
        map.load([BOX_COLUMNS as i32, row as i32, head as i32], second, full);
    }
}

type Keys = KMajor<bf16, Swizzle128>;
type Values = MnMajor<bf16, Swizzle128, KEYS>;

/// Computes the 64 queries of warpgroup `group` of every tile, and stores the results.
#[inline(always)]
unsafe fn compute<M: Mask>(mut tiles: Tiles<M>, layout: Layout, group: u32, o: &TensorMap) {
    let mut query_stages = layout.query_ring.consumer();
    let mut key_stages = layout.key_ring.consumer();
    let mut value_stages = layout.value_ring.consumer();
    let queries = Keys::new(layout.queries).tile::<{ 2 * GROUP_QUERIES }>(group);
    let keys = Keys::new(layout.keys);
    let values = Values::new(layout.values);
    let scale = tiles.problem.scale * core::f32::consts::LOG2_E;
    let sequence = tiles.problem.sequence;
    let mut scores = Accumulator::<N128>::zeroed();
    let turns = Turns::of(group);
    // SAFETY: both warpgroups compute the same number of blocks, and each stays together everywhere below.
    unsafe { turns.begin() };
    while let Some(tile) = tiles.next() {
        let view = View::<M>::of(tile.first_query + group * GROUP_QUERIES, sequence);
        let mut sums = Accumulator::<N128>::zeroed();
        let mut softmax = Softmax::new(scale);
        let full_queries = query_stages.wait();
        let full_keys = key_stages.wait();
        // SAFETY: queries and keys stay until they are released.
        unsafe {
            let mut in_flight = scores.begin();
            multiply_keys(
                &mut in_flight,
                queries,
                keys.tile::<{ 2 * KEYS }>(full_keys.stage()),
            );
            in_flight.finish();
        }
        full_keys.release_by_warpgroup();
        view.hide(scores.values_mut(), tile.key_blocks - 1);
        softmax.weigh(scores.values_mut());
        let mut weights = packed(scores.values());
        let mut block = tile.key_blocks - 1;
        let mut next_keys = (block > 0).then(|| key_stages.wait());
        while let Some(full_keys) = next_keys {
            block -= 1;
            // SAFETY: stages stay until they are released. The latest group adds to `sums`, not to `scores`.
            unsafe {
                turns.take();
                let mut scoring = scores.begin();
                multiply_keys(
                    &mut scoring,
                    queries,
                    keys.tile::<{ 2 * KEYS }>(full_keys.stage()),
                );
                let full_values = value_stages.wait();
                let mut adding = sums.begin();
                multiply_values(
                    &mut adding,
                    &weights,
                    values.tile::<HEAD>(full_values.stage()),
                );
                turns.pass();
                scoring.finish_before::<1>();
                full_keys.release_by_warpgroup();
                // Nothing to hide: a query sees all blocks of keys but the last whole.
                let shrunk = softmax.weigh(scores.values_mut());
                // In front of the wait for the sums: `ptxas` would move that to the maxima, had it no other wait between them.
                next_keys = (block > 0).then(|| key_stages.wait());
                adding.finish();
                full_values.release_by_warpgroup();
                unroll!(I in 0..64 => { sums.values_mut()[I] *= shrunk[I % 4 / 2]; });
            }
            weights = packed(scores.values());
        }
        full_queries.release_by_warpgroup();
        let full_values = value_stages.wait();
        // SAFETY: as above.
        unsafe {
            let mut adding = sums.begin();
            multiply_values(
                &mut adding,
                &weights,
                values.tile::<HEAD>(full_values.stage()),
            );
            adding.finish();
        }
        full_values.release_by_warpgroup();
        // SAFETY: the rows are this warpgroup's, and so are its buffers.
        unsafe {
            store(
                &sums,
                softmax.shares(),
                [view.first_query, tile.head],
                layout,
                group,
                o,
            )
        };
    }
    // SAFETY: as above.
    unsafe { turns.end() };
    if thread::thread_idx_x().is_multiple_of(warpgroup::THREADS) {
        tma::wait_group::<0>();
    }
}

/// Starts `S = Q Kᵀ`: eight products, each of 16 elements of the head.
#[inline(always)]
unsafe fn multiply_keys(scores: &mut InFlight<'_, N128, f32>, queries: Keys, keys: Keys) {
    scores.open_group();
    unroll!(STEP in 0..8 => {
        const HALF: u32 = STEP as u32 / 4;
        const WITHIN: u32 = STEP as u32 % 4;
        let queries = queries.tile::<GROUP_QUERIES>(HALF).step::<WITHIN>();
        let keys = keys.tile::<KEYS>(HALF).step::<WITHIN>();
        // SAFETY: the caller's stages are full.
        unsafe { scores.multiply(Previous::of_step(STEP as u32), queries, keys) };
    });
    scores.commit();
}

/// Starts `O += P V`: eight products, each of 16 keys.
#[inline(always)]
unsafe fn multiply_values(sums: &mut InFlight<'_, N128, f32>, weights: &[u32; 32], values: Values) {
    sums.open_group();
    unroll!(STEP in 0..8 => {
        const FIRST: usize = 4 * STEP;
        let weights = [weights[FIRST], weights[FIRST + 1], weights[FIRST + 2], weights[FIRST + 3]];
        let values = values.step::<{ STEP as u32 }>();
        // SAFETY: the caller's stage is full.
        unsafe { sums.multiply_registers::<bf16, _>(Previous::Keep, weights, values) };
    });
    sums.commit();
}

/// Weights as an operand: neighbours of a row in one register.
#[inline(always)]
fn packed(weights: &[f32; 64]) -> [u32; 32] {
    let mut packed = [0; 32];
    unroll!(PAIR in 0..32 => {
        packed[PAIR] = Bf16x2::from_f32(weights[2 * PAIR], weights[2 * PAIR + 1]).to_bits();
    });
    packed
}

/// The keys that a thread's two rows of scores see.
struct View<M> {
    /// The first query of the warpgroup.
    first_query: u32,
    sequence: u32,
    mask: PhantomData<M>,
}

impl<M: Mask> View<M> {
    #[inline(always)]
    fn of(first_query: u32, sequence: u32) -> Self {
        View {
            first_query,
            sequence,
            mask: PhantomData,
        }
    }

    /// Sets the scores of keys that are not seen to minus infinity. Each row sees the first key of each block: its weights are numbers.
    #[inline(always)]
    fn hide(&self, scores: &mut [f32; 64], block: u32) {
        if M::last_key(self.first_query, self.sequence) >= block * KEYS + (KEYS - 1) {
            return;
        }
        let within = thread::thread_idx_x() % warpgroup::THREADS;
        let row = self.first_query + within / 32 * 16 + within % 32 / 4;
        let first_key = (block * KEYS + 2 * (within % 4)) as i32;
        let seen = [row, row + 8].map(|row| M::last_key(row, self.sequence) as i32 - first_key);
        unroll!(I in 0..64 => {
            const KEY: i32 = (I / 4 * 8 + I % 2) as i32;
            if KEY > seen[I % 4 / 2] {
                scores[I] = f32::NEG_INFINITY;
            }
        });
    }
}

/// Two rows per thread, each of which four threads share.
struct Softmax {
    /// The factor of scores, as exponents of 2.
    scale: f32,
    /// The greatest scores so far.
    greatest: [f32; 2],
    /// The sums of this thread's weights.
    total: [f32; 2],
}

impl Softmax {
    #[inline(always)]
    fn new(scale: f32) -> Self {
        Softmax {
            scale,
            greatest: [f32::NEG_INFINITY; 2],
            total: [0.0; 2],
        }
    }

    /// Makes weights of scores, and says by what earlier ones are to be multiplied.
    #[inline(always)]
    fn weigh(&mut self, scores: &mut [f32; 64]) -> [f32; 2] {
        // Two chains of each row: each operation waits for the one before.
        let mut greatest = self.greatest.map(|it| [it; 2]);
        unroll!(I in 0..64 => {
            const ROW: usize = I % 4 / 2;
            greatest[ROW][I % 2] = greatest[ROW][I % 2].max(scores[I]);
        });
        let greatest = greatest.map(|[a, b]| of_row(a.max(b), f32::max));
        let [a, b] =
            [0, 1].map(|row| ((self.greatest[row] - greatest[row]) * self.scale).fast_exp2_ftz());
        let shrunk = [a, b];
        let subtracted = greatest.map(|it| -it * self.scale);
        self.greatest = greatest;
        self.total = [self.total[0] * a, self.total[1] * b];
        unroll!(I in 0..64 => {
            const ROW: usize = I % 4 / 2;
            scores[I] = scores[I].mul_add(self.scale, subtracted[ROW]).fast_exp2_ftz();
            self.total[ROW] += scores[I];
        });
        shrunk
    }

    /// One over the sum of all weights of each row.
    #[inline(always)]
    fn shares(&self) -> [f32; 2] {
        self.total.map(|total| 1.0 / of_row(total, |a, b| a + b))
    }
}

/// Combines the values of the four threads that share a row.
#[inline(always)]
fn of_row(value: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    // SAFETY: warps stay together.
    let other =
        |value, lanes| unsafe { warp::warp_shuffle_xor(warp::FULL_MASK, value, lanes, 32) }.0;
    let value = combine(value, other(value, 1));
    combine(value, other(value, 2))
}

/// Stores the sums of 64 queries, each row multiplied by its share: through shared memory, by copies that leave out what is outside.
#[inline(always)]
unsafe fn store(
    sums: &Accumulator<N128>,
    shares: [f32; 2],
    [row, head]: [u32; 2],
    layout: Layout,
    group: u32,
    o: &TensorMap,
) {
    let barrier = NamedBarrier::new(3 + group, warpgroup::THREADS);
    let within = thread::thread_idx_x() % warpgroup::THREADS;
    let buffers = layout.results.byte_add(group * TILE_BYTES / 2);
    // Lane l gives row l % 8 of matrix l / 8: two matrices below each other, then the two beside them.
    let own_row = within / 32 * 16 + within % 16;
    let piece = within % 32 / 16;
    if within == 0 {
        // The copies of the previous tile have read the buffers.
        tma::wait_group_read::<0>();
    }
    // SAFETY: the warpgroup's own barrier, which all its threads reach.
    unsafe { barrier.sync() };
    let values = sums.values();
    let pair = |first: usize, row: usize| {
        Bf16x2::from_f32(values[first] * shares[row], values[first + 1] * shares[row]).to_bits()
    };
    unroll!(PAIR in 0..8 => {
        const FIRST: usize = 8 * PAIR;
        const HALF: u32 = PAIR as u32 / 4;
        // Pieces of 16 bytes are permuted as the map says.
        let at = (2 * (PAIR as u32 % 4) + piece) ^ (own_row % 8);
        let at = buffers.byte_add(HALF * GROUP_BOX_BYTES + own_row * Swizzle128::SPAN + (at << 4));
        let matrices = [pair(FIRST, 0), pair(FIRST + 2, 1), pair(FIRST + 4, 0), pair(FIRST + 6, 1)];
        // SAFETY: the row is in the buffer, and no other lane's.
        unsafe { store_matrices::<_, Plain, _>(at, matrices) };
    });
    tma::fence_shared();
    // SAFETY: as above.
    unsafe { barrier.sync() };
    if within == 0 {
        let (row, head) = (row as i32, head as i32);
        // SAFETY: the buffers are written and visible; they are written again after a wait.
        unsafe {
            o.store([0, row, head], buffers);
            o.store(
                [BOX_COLUMNS as i32, row, head],
                buffers.byte_add(GROUP_BOX_BYTES),
            );
        }
        tma::commit_group();
    }
}

/// The two warpgroups take turns in starting products: one has the tensor cores while the other one computes weights.
struct Turns {
    group: u32,
    own: NamedBarrier,
    other: NamedBarrier,
}

impl Turns {
    #[inline(always)]
    fn of(group: u32) -> Turns {
        let of = |group| NamedBarrier::new(1 + group, 2 * warpgroup::THREADS);
        Turns {
            group,
            own: of(group),
            other: of(1 - group),
        }
    }

    /// # Safety
    /// All threads of both warpgroups come here once, then as often as the others to the other functions, and to `end`.
    #[inline(always)]
    unsafe fn begin(&self) {
        if self.group == 1 {
            // SAFETY: the caller's contract; so below.
            unsafe { self.other.arrive() };
        }
    }

    #[inline(always)]
    unsafe fn take(&self) {
        // SAFETY: as above.
        unsafe { self.own.sync() };
    }

    #[inline(always)]
    unsafe fn pass(&self) {
        // SAFETY: as above.
        unsafe { self.other.arrive() };
    }

    #[inline(always)]
    unsafe fn end(&self) {
        if self.group == 0 {
            // SAFETY: as above: the last turn that was passed.
            unsafe { self.own.sync() };
        }
    }
}
