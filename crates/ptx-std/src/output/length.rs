//! An output's length as a launch passes it: its two top bits say what the host knows of the grid, so that no thread has
//! to ask for it.

/// The grid and its blocks have one dimension, and fewer than 2^32 threads in all.
const LINE: usize = 1 << 62;

/// Besides, there is a thread for each element of each output.
const SINGLE: usize = 1 << 63;

/// How many elements any memory has at most. Of elements without bytes there may be more, and those beyond are nobody's.
#[cfg(not(target_arch = "nvptx64"))]
const MOST: usize = 1 << 61;

/// The length that a launch of this grid passes for an [`Output`](crate::prelude::Output) of `len` elements, where the longest of
/// its outputs has `longest`.
///
/// A kernel takes the plain length as well, and then finds out by itself what its grid is, in about 15 instructions per
/// thread. A launch by another driver passes that.
///
/// ```
/// use cuda_std::launch::output_length;
///
/// let launched = |len, grid| output_length(len, len, grid, [256, 1, 1]);
/// assert_eq!(launched(1000, [4, 1, 1]), 1000 | 0b11 << 62); // A thread for each element,
/// assert_eq!(launched(1025, [4, 1, 1]), 1025 | 0b01 << 62); // or only one dimension.
/// assert_eq!(output_length(1000, 1025, [4, 1, 1], [256, 1, 1]), 1000 | 0b01 << 62); // not of another output.
/// assert_eq!(launched(1000, [2, 2, 1]), 1000);
/// assert_eq!(launched(1000, [1 << 24, 1, 1]), 1000); // 2^32 threads.
/// ```
#[cfg(not(target_arch = "nvptx64"))]
pub fn output_length(len: usize, longest: usize, grid: [u32; 3], block: [u32; 3]) -> usize {
    let len = len.min(MOST);
    let threads = grid[0] as usize * block[0] as usize;
    match (grid, block) {
        ([_, 1, 1], [_, 1, 1]) if threads < 1 << 32 => {
            let single = if longest <= threads { SINGLE } else { 0 };
            len | LINE | single
        }
        _ => len,
    }
}

/// An output's length as a launch passes it.
#[derive(Clone, Copy)]
pub(crate) struct Length(pub(crate) usize);

impl Length {
    /// Elements of all threads together.
    #[inline(always)]
    pub(crate) fn elements(self) -> usize {
        self.0 & (LINE - 1)
    }

    /// Whether a thread's index, in 32 bits, is that along x.
    #[inline(always)]
    pub(crate) fn is_line(self) -> bool {
        self.0 >= LINE
    }

    /// Whether no thread has a second element.
    #[inline(always)]
    pub(crate) fn is_single(self) -> bool {
        self.0 >= SINGLE
    }
}
