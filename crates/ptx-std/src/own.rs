//! Which elements are a thread's own: its index among all of the grid's threads, and from there in steps
//! of all of them.
//!
//! A kernel that does little to each element takes as long as the instructions around it, so what nearly
//! every launch needs comes first and is short: a grid of one dimension with a thread for each element, of which
//! the launch says so in the output's length. All else is behind branches that all threads take alike.
//!
//! A grid has at most 2^32 - 1 threads where a kernel has outputs, so an index has 32 bits, and what a kernel computes of it,
//! too: a driver refuses others, and whoever launches by another driver keeps to it.

use crate::arch::{self, opaque};
use crate::output::Length;
use crate::thread::{
    block_dim_x, block_dim_y, block_dim_z, block_idx_x, block_idx_y, block_idx_z, grid_dim_x,
    grid_dim_y, grid_dim_z, index_1d, thread_idx_x, thread_idx_y, thread_idx_z,
};

/// More than any memory has elements, in two factors.
const BEYOND: [u32; 2] = [u32::MAX, 1 << 30];

/// Which elements of its outputs are a thread's own.
#[derive(Clone, Copy)]
pub struct Own {
    first: usize,
    /// The threads of the grid, in two factors, see [`place`].
    step: [u32; 2],
    /// Whether a thread may be known to have no second element.
    may_have_one: bool,
    has_one: bool,
}

impl Own {
    /// Those of a launch that passes `length` for its only output. The first index is known to have 32 bits.
    #[inline(always)]
    pub fn of(length: usize) -> Self {
        let (mut first, mut step) = (index_1d(), [grid_dim_x(), block_dim_x()]);
        if !Length(length).is_line() {
            core::hint::cold_path();
            (first, step) = narrow_place();
        }
        Own {
            first: first as usize,
            step,
            may_have_one: true,
            has_one: Length(length).is_single(),
        }
    }

    /// Those of a launch that passes `length` for one of its outputs. LLVM writes the body of a loop twice where the first
    /// element may be the only one, and for bodies with several outputs that costs more registers than the search
    /// for a second element takes time. So does an index that is known to have 32 bits.
    #[inline(always)]
    pub fn of_several(length: usize) -> Self {
        let mut own = Own {
            first: index_1d() as usize,
            step: [grid_dim_x(), block_dim_x()],
            may_have_one: false,
            has_one: false,
        };
        if !Length(length).is_line() {
            core::hint::cold_path();
            (own.first, own.step) = place();
        }
        own
    }

    /// The first of the thread's own indices, if it is below `len`.
    #[inline(always)]
    pub(crate) fn first(self, len: usize) -> Option<usize> {
        (self.first < len).then_some(self.first)
    }

    /// The thread's own indices below `len`, which is at most 2^61.
    #[inline(always)]
    pub(crate) fn indices(self, len: usize) -> impl Iterator<Item = usize> {
        let (mut next, [a, b]) = (self.first, self.step);
        let mut is_first = true;
        core::iter::from_fn(move || {
            if !self.may_have_one {
                let index = next;
                next = arch::multiply_add_wide(a, b, index);
                return (index < len).then_some(index);
            }
            if is_first {
                is_first = false;
                // Apart from the first index, which has 32 bits, and which the compiler would keep otherwise.
                next = opaque(self.first as u32) as usize;
                return self.first(len);
            }
            if self.has_one {
                return None;
            }
            next = arch::multiply_add_wide(a, b, next);
            (next < len).then_some(next)
        })
    }
}

/// The index of the thread in its grid, and how many threads that has, in two factors: so they take no
/// more than two registers, and often none, until a second element asks for their product.
#[inline(always)]
fn place() -> (usize, [u32; 2]) {
    // Asked for in front of the branch, because these two take longest to come.
    let (block_x, thread_x) = (block_idx_x(), thread_idx_x());
    let others = block_dim_y() | block_dim_z() | grid_dim_y() | grid_dim_z();
    // None is 0, so it is enough that nothing is above the lowest bit, which one instruction sees if the
    // mask is not written as a comparison.
    if others & opaque(!1) == 0 {
        return (
            arch::multiply_add_wide(block_x, block_dim_x(), thread_x as usize),
            [grid_dim_x(), block_dim_x()],
        );
    }
    core::hint::cold_path();
    // Opaque, because the compiler would keep what both branches read for both, and in wide registers.
    let grid = [grid_dim_x(), grid_dim_y(), grid_dim_z()].map(opaque);
    let [x, y, z] = [block_dim_x(), block_dim_y(), block_dim_z()].map(opaque);
    let block = (u64::from(block_idx_z()) * u64::from(grid[1]) + u64::from(block_idx_y()))
        * u64::from(grid[0])
        + u64::from(opaque(block_x));
    let thread = (thread_idx_z() * y + thread_idx_y()) * x + opaque(thread_x);
    (index(block, x * y * z, thread), threads(grid, x * y * z))
}

/// [`place`] in 32 bits.
#[inline(always)]
fn narrow_place() -> (u32, [u32; 2]) {
    // Opaque, because the compiler would keep what both branches read for both.
    let grid = [grid_dim_x(), grid_dim_y(), grid_dim_z()].map(opaque);
    let [x, y, z] = [block_dim_x(), block_dim_y(), block_dim_z()].map(opaque);
    let line = block_idx_z() * grid[1] + block_idx_y();
    let block = line * grid[0] + opaque(block_idx_x());
    let thread = (thread_idx_z() * y + thread_idx_y()) * x + opaque(thread_idx_x());
    let threads = x * y * z;
    (
        block * threads + thread,
        [grid[0] * grid[1] * grid[2], threads],
    )
}

/// The index of the block in its grid, counted over all dimensions.
#[inline(always)]
pub(crate) fn block_index() -> usize {
    let line = u64::from(block_idx_z()) * u64::from(grid_dim_y()) + u64::from(block_idx_y());
    (line * u64::from(grid_dim_x()) + u64::from(block_idx_x())) as usize
}

/// The blocks of the grid, over all dimensions.
#[inline(always)]
pub(crate) fn blocks() -> usize {
    let planes = u64::from(grid_dim_y()) * u64::from(grid_dim_z());
    planes.saturating_mul(grid_dim_x().into()) as usize
}

/// The thread's index along the axes x, y and z of its grid.
#[inline(always)]
pub(crate) fn place_3d() -> [u32; 3] {
    [
        block_idx_x() * block_dim_x() + thread_idx_x(),
        block_idx_y() * block_dim_y() + thread_idx_y(),
        block_idx_z() * block_dim_z() + thread_idx_z(),
    ]
}

/// The grid's threads along the axes x, y and z.
#[inline(always)]
pub(crate) fn threads_3d() -> [u32; 3] {
    [
        grid_dim_x() * block_dim_x(),
        grid_dim_y() * block_dim_y(),
        grid_dim_z() * block_dim_z(),
    ]
}

/// The thread's index along x, and along y where each plane of z lies behind the one before it. Wide, because
/// kernels in two dimensions took longer with indices of 32 bits.
#[inline(always)]
pub(crate) fn place_2d() -> [usize; 2] {
    let x = arch::multiply_add_wide(block_idx_x(), block_dim_x(), thread_idx_x() as usize);
    let y = arch::multiply_add_wide(block_idx_y(), block_dim_y(), thread_idx_y() as usize);
    if !has_depth() {
        return [x, y];
    }
    core::hint::cold_path();
    let ([_, _, z], [_, height, _]) = (place_3d(), threads_3d());
    [x, arch::multiply_add_wide(z, height, y)]
}

/// The grid's threads along x, and along y as [`place_2d`] counts them.
#[inline(always)]
pub(crate) fn threads_2d() -> [usize; 2] {
    let [x, y, z] = threads_3d();
    [x as usize, arch::multiply_add_wide(y, z, 0)]
}

/// Whether a grid has more than one thread along z.
#[inline(always)]
fn has_depth() -> bool {
    // As in `place`.
    (block_dim_z() | grid_dim_z()) & opaque(!1) != 0
}

/// The index of a thread in its grid, from those of the block in the grid and of the thread in the block.
/// A launch may ask for more threads than there are indices: those beyond have no elements.
fn index(block: u64, block_threads: u32, thread: u32) -> usize {
    let before = block.saturating_mul(block_threads.into());
    before.saturating_add(thread.into()) as usize
}

/// All of a grid's threads in two factors, or [`BEYOND`], where that is less.
fn threads([x, y, z]: [u32; 3], block_threads: u32) -> [u32; 2] {
    let planes = y * z;
    let with_block = |blocks: u32| u32::try_from(u64::from(blocks) * u64::from(block_threads));
    let factors = match (with_block(x), with_block(planes)) {
        (Ok(line), _) => [line, planes],
        (_, Ok(planes)) => [x, planes],
        // A block has at most 2^10 threads, so x and the planes have at least 2^22 blocks each.
        _ => BEYOND,
    };
    let product = |[a, b]: [u32; 2]| u64::from(a) * u64::from(b);
    if product(factors) < product(BEYOND) {
        factors
    } else {
        BEYOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest grid that a launch may ask for.
    const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

    #[test]
    fn no_thread_beyond_the_last_index_has_an_element() {
        let blocks: u64 = GRID.iter().map(|&extent| u64::from(extent)).product();
        assert_eq!(index(3, 40, 7), 127);
        assert_eq!(index(blocks - 1, 1, 0) as u64, blocks - 1);
        assert_eq!(index(blocks - 1, 1024, 1023), usize::MAX);
        assert_eq!(index(1 << 54, 1024, 0), usize::MAX);
    }

    #[test]
    fn a_step_is_the_whole_grid_or_beyond_all_elements() {
        let [x, y, z] = GRID;
        for (grid, block, expected) in [
            ([5, 3, 2], 24, [120, 6]),
            ([x, 1, 1], 1024, [x, 1024]),
            ([x, y, 1], 1024, [x, y * 1024]),
            ([1, y, z], 1024, [1024, y * z]),
            ([1 << 22, y, z], 1024, BEYOND),
            ([x, y, z], 1, BEYOND),
            ([x, y, z], 1024, BEYOND),
        ] {
            assert_eq!(threads(grid, block), expected, "{grid:?} of {block}");
        }
    }

    #[test]
    fn an_index_and_a_step_have_a_sum() {
        let [a, b] = BEYOND;
        let after = |index| arch::multiply_add_wide(a, b, index);
        assert!(after(0) >= 1 << 61);
        assert!(after((1 << 61) - 1) > after(0));
    }
}
