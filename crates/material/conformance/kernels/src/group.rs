//! `cuda_std::group`, and the outputs of warps, of blocks and of several dimensions: no `unsafe`.

use cuda_std::group::{self, Number, Scan, Workspace};
use cuda_std::prelude::*;

/// Writes the results of each thread's warp, and of its block: sum, least, greatest, least and greatest with their places,
/// and the sums up to it and before it.
#[kernel(instances(
    of_groups_u32<u32>, of_groups_i32<i32>, of_groups_u64<u64>, of_groups_i64<i64>, of_groups_f32<f32>,
    of_groups_f64<f64>
))]
pub fn of_groups<T: Number + Send>(
    x: &[T],
    mut out: Output<[T; 14]>,
    mut places: Output<[u32; 4]>,
) {
    let (warp, block) = (group::warp(), group::block());
    let Some(&value) = x.get(thread::linear_index()) else {
        return;
    };
    let of_warp = [
        warp.arg_min(value, warp.rank()),
        warp.arg_max(value, warp.rank()),
    ];
    let of_block = [
        block.arg_min(value, block.rank()),
        block.arg_max(value, block.rank()),
    ];
    let told = [
        warp.sum(value),
        warp.min(value),
        warp.max(value),
        of_warp[0].0,
        of_warp[1].0,
        warp.inclusive_sum(value),
        warp.exclusive_sum(value),
        block.sum(value),
        block.min(value),
        block.max(value),
        of_block[0].0,
        of_block[1].0,
        block.inclusive_sum(value),
        block.exclusive_sum(value),
    ];
    for (_, out) in out.own() {
        *out = told;
    }
    for (_, places) in places.own() {
        *places = [of_warp[0].1, of_warp[1].1, of_block[0].1, of_block[1].1];
    }
}

/// Combines what must not change places: of two numbers the first remains, and the second is counted.
pub fn in_order(a: (u32, u64), b: (u32, u64)) -> (u32, u64) {
    (a.0, a.1.wrapping_mul(31).wrapping_add(b.1))
}

/// Scans and reductions of pairs, in a warp and in a block, and what a warp and a block say of themselves.
#[kernel]
pub fn of_pairs(x: &[u32], mut out: Output<[u64; 13]>) {
    let (warp, block) = (group::warp(), group::block());
    let own = thread::linear_index();
    let pair = (x[own], u64::from(x[own]) + 1);
    let first = |a: (u32, u64), _| a;
    let words =
        |Scan {
             before,
             through,
             total,
         }: Scan<(u32, u64)>| { [before.map_or(7, |before| before.1), through.1, total.1] };
    let [a, b, c] = words(warp.scan(pair, in_order));
    let [d, e, f] = words(block.scan(pair, in_order));
    let reduced = [warp.reduce(pair, first), block.reduce(pair, first)];
    warp.sync();
    block.sync();
    let told = [
        a,
        b,
        c,
        d,
        e,
        f,
        reduced[0].0.into(),
        reduced[1].1,
        warp.broadcast(u64::from(x[own]), 3),
        u64::from(warp.ballot(x[own].is_multiple_of(3))) << 2
            | u64::from(warp.any(x[own].is_multiple_of(64))) << 1
            | u64::from(warp.all(!x[own].is_multiple_of(97))),
        warp.mask().into(),
        u64::from(warp.rank()) << 32 | u64::from(warp.len()),
        u64::from(block.rank()) << 32 | u64::from(block.len()),
    ];
    for (_, out) in out.own() {
        *out = told;
    }
}

/// Writes the results of the grid, which the block that comes last has, in a row for each block.
#[kernel(instances(of_grid_u32<u32>, of_grid_f64<f64>))]
pub fn of_grid<T: Number + Send>(
    x: &[T],
    of_sum: Workspace,
    of_min: Workspace,
    of_max: Workspace,
    of_places: Workspace,
    mut out: BlockOutput<T>,
    mut places: BlockOutput<u64>,
) {
    let own = thread::linear_index();
    let value = x[own];
    let told = [of_sum.sum(value), of_min.min(value), of_max.max(value)];
    let place = of_places.arg_max(value, own);
    for mut row in out.own_rows() {
        for (column, out) in row.own() {
            let told = match column {
                0 => told[0],
                1 => told[1],
                _ => told[2],
            };
            *out = told.unwrap_or(*out);
        }
    }
    for mut row in places.own_rows() {
        if let (Some((_, out)), Some((_, place))) = (row.own_element(), place) {
            *out = place as u64;
        }
    }
}

/// The sums up to each thread of the grid and before it, and the least place of the least value. The launch is
/// cooperative.
#[kernel]
pub fn scan_of_grid(
    x: &[f32],
    inclusive: Workspace,
    exclusive: Workspace,
    least: Workspace,
    blocks: Workspace,
    mut out: Output<[f32; 3]>,
    mut place: BlockOutput<u32>,
) {
    let own = thread::linear_index();
    let sums = [
        inclusive.inclusive_sum(x[own]),
        exclusive.exclusive_sum(x[own]),
    ];
    let total = group::block().sum(1.0_f32);
    let threads_before = blocks.scan_blocks(total, |a, b| a + b).unwrap_or(0.0);
    let found = least.arg_min(x[own], own as u32);
    for (_, out) in out.own() {
        *out = [sums[0], sums[1], threads_before];
    }
    for mut row in place.own_rows() {
        if let (Some((_, out)), Some((_, place))) = (row.own_element(), found) {
            *out = place;
        }
    }
}

/// Wrong: half of the warp's lanes do not come to the sum.
#[kernel]
pub fn half_a_sum(mut out: Output<f32>) {
    if thread::thread_idx_x() < 16 {
        let sum = group::warp().sum(1.0);
        out.own().for_each(|(_, out)| *out = sum);
    } else {
        thread::sync_threads();
    }
}

/// Writes to each element who wrote it: the thread of the grid.
#[kernel]
pub fn who_wrote(
    mut plane: Output2<u32>,
    mut tiles: Output2<u32, 3, 2>,
    mut volume: Output3<u32>,
    mut of_warps: WarpOutput<u32>,
    mut of_blocks: BlockOutput<u32>,
) {
    let own = thread::linear_index() as u32;
    for (_, element) in plane.own() {
        *element = own;
    }
    for mut tile in tiles.own_tiles() {
        tile.set([[own; 2]; 3]);
    }
    for (_, element) in volume.own() {
        *element = own;
    }
    for mut row in of_warps.own_rows() {
        row.own().for_each(|(_, element)| *element = own);
    }
    for mut row in of_blocks.own_rows() {
        row.own().for_each(|(_, element)| *element = own);
    }
}

/// Each block's elements, turned around, and the sums of neighbours, by way of shared memory.
#[kernel(allow(panic_in_loop))]
pub fn shared_tiles(
    x: &[f64],
    words: &[f32],
    mut turned: BlockOutput<f64>,
    mut sums: BlockOutput<f32>,
) {
    let mut doubles = shared_tile![f64; 40];
    let mut singles = shared_tile![f32; 40];
    let sums = &mut sums.own_rows();
    for mut row in turned.own_rows() {
        let first = row.row() * 40;
        doubles.fill(|i| x.get(first + i).copied().unwrap_or(0.0));
        singles.fill(|i| words.get(first + i).copied().unwrap_or(0.0));
        for (column, out) in row.own() {
            let from = 39 - column;
            let ([a, b], [c, d, e, f]) = (doubles.pair(from / 2), doubles.quad(from / 4));
            *out = match (column < 20, from % 4) {
                (true, 0 | 2) => a,
                (true, _) => b,
                (false, 0) => c,
                (false, 1) => d,
                (false, 2) => e,
                (false, _) => f,
            };
        }
        if let Some(mut row) = sums.next() {
            for (column, out) in row.own() {
                let [a, b] = singles.pair(column / 2);
                let four = singles.quad(column / 4);
                *out = a + b + singles.get(column) + four.iter().sum::<f32>();
            }
        }
    }
}
