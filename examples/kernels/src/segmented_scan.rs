//! The sums up to each element of its segment, over a whole grid in one launch: a block for each row of elements.

use cuda_std::group::{self, Workspace};
use cuda_std::prelude::*;

/// Whether a segment begins, and the sum since.
type Part = (u32, f32);

/// Two neighbouring parts as one.
fn join(left: Part, right: Part) -> Part {
    let sum = if right.0 == 0 {
        left.1 + right.1
    } else {
        right.1
    };
    (left.0 | right.0, sum)
}

/// Writes to each element of `y` the sum of `x` from the last element up to it whose `heads` is not 0. The launch is
/// cooperative and has a block for each row of `y`, which lie one behind the other.
#[kernel(max_threads = 256)]
pub fn segmented_scan(heads: &[u32], x: &[f32], workspace: Workspace, mut y: BlockOutput<f32>) {
    let (block, columns) = (group::block(), y.columns());
    let Some(mut row) = y.own_rows().next() else {
        return;
    };
    let start = row.row() * columns;
    let (rank, step) = (block.rank() as usize, block.len() as usize);
    let part = |first: usize| match (heads.get(start + first + rank), x.get(start + first + rank)) {
        (Some(head), Some(x)) if first + rank < columns => (*head, *x),
        _ => (0, 0.0),
    };
    let mut total = (0, 0.0);
    let mut first = 0;
    while first < columns {
        total = join(total, block.reduce(part(first), join));
        first += step;
    }
    let mut before = workspace.scan_blocks(total, join).unwrap_or((0, 0.0));
    let mut own = row.own();
    let mut first = 0;
    while first < columns {
        let scan = block.scan(part(first), join);
        if let Some((_, y)) = own.next() {
            *y = join(before, scan.through).1;
        }
        before = join(before, scan.total);
        first += step;
    }
}

/// Calls `each` with the sums in float64, one after the other.
pub fn reference(heads: &[u32], x: &[f32], mut each: impl FnMut(f64)) {
    let mut sum = 0.0;
    for (head, x) in heads.iter().zip(x) {
        sum = if *head == 0 { sum } else { 0.0 } + f64::from(*x);
        each(sum);
    }
}
