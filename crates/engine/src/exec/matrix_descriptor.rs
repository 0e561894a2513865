//! Matrices in shared memory that a descriptor tells of: `wgmma`'s and `tcgen05`'s.

use super::failure::Cause;
use super::op::Context;
use super::tensor_map::Swizzle;
use crate::arith::tensor::Element;
use crate::finding_kind::FindingKind;
use crate::memory::Fault;

/// Where a matrix lies in shared memory, by its descriptor.
#[derive(Debug)]
pub(super) struct Layout {
    start: u64,
    leading: u64,
    stride: u64,
    swizzle: Swizzle,
    /// Bytes of a swizzled row; 16 where there is none.
    row: u64,
}

impl Layout {
    /// By a descriptor of either.
    ///
    /// # Errors
    /// It is of a layout that is not read.
    pub(super) fn of(descriptor: u64) -> Result<Layout, String> {
        let part = |from: u32| (descriptor >> from & 0x3fff) << 4;
        let (swizzle, row) = match descriptor >> 62 {
            0 => (Swizzle::None, 16),
            1 => (Swizzle::By128, 128),
            2 => (Swizzle::By64, 64),
            _ => (Swizzle::By32, 32),
        };
        match (swizzle, descriptor >> 49 & 7) {
            (Swizzle::None, _) | (_, 0) => Ok(Layout {
                start: part(0),
                leading: part(16),
                stride: part(32),
                swizzle,
                row,
            }),
            (_, base) => Err(format!(
                "a matrix descriptor with the base offset {base}: matrices begin at multiples of 8 rows here"
            )),
        }
    }

    /// By a descriptor of `tcgen05`, which is marked as one.
    ///
    /// # Errors
    /// As for [`Layout::of`].
    pub(super) fn of_tcgen05(descriptor: u64) -> Result<Layout, String> {
        if descriptor >> 52 & 1 == 1 {
            let text = "a matrix descriptor with an absolute leading dimension is not emulated";
            return Err(text.to_owned());
        }
        match (descriptor >> 46 & 7, descriptor >> 61) {
            (1, 0 | 2 | 4 | 6) => Layout::of(descriptor),
            (1, mode) => Err(format!(
                "a matrix descriptor with the swizzling mode {mode}: 0, 2, 4 and 6 are emulated"
            )),
            (mark, _) => Err(format!(
                "a matrix descriptor {descriptor:#x} whose bits 46 to 48 are {mark}, and not 1"
            )),
        }
    }

    /// Where 16 bytes begin: those of the element at `across` (along m or n) and `k`, and of what follows it.
    /// `each` elements are 16 bytes.
    fn chunk(&self, is_along_k: bool, across: u64, k: u64, each: u64) -> u64 {
        let wide = self.row / 16 * each;
        let offset = match (is_along_k, self.swizzle) {
            (true, Swizzle::None) => {
                across % 8 * 16 + across / 8 * self.stride + k / each * self.leading
            }
            (true, _) => across % 8 * self.row + across / 8 * self.stride + k / each * 16,
            (false, Swizzle::None) => {
                across / each * self.stride + k % 8 * 16 + k / 8 * self.leading
            }
            (false, _) => {
                across % wide / each * 16
                    + across / wide * self.leading
                    + k % 8 * self.row
                    + k / 8 * self.stride
            }
        };
        self.swizzle.of(self.start + offset)
    }

    /// The elements of a matrix, `count` from `first` on along m or n, by `(across, k)`; and where they lie, 16 bytes at
    /// a time.
    ///
    /// # Errors
    /// Some lie outside of the block's shared memory.
    pub(super) fn each(
        &self,
        context: &Context<'_>,
        (of, is_along_k): (Element, bool),
        (first, count): (usize, usize),
        k: usize,
        mut visit: impl FnMut(usize, usize, f64),
    ) -> Result<Vec<u64>, Cause> {
        let bits = of.bits();
        // Elements of 6 bits, and of 4 that are not packed, have as much room as bytes.
        let each = 128 / of.room_bits() as usize;
        let (outer, inner) = match is_along_k {
            true => (count, k),
            false => (k, count),
        };
        let mut chunks = Vec::with_capacity(outer * inner / each);
        for outer in 0..outer {
            for begin in (0..inner).step_by(each) {
                let (across, depth) = match is_along_k {
                    true => (outer, begin),
                    false => (begin, outer),
                };
                let at = self.chunk(
                    is_along_k,
                    (first + across) as u64,
                    depth as u64,
                    each as u64,
                );
                let packed = read(context, at)?;
                for element in 0..each.min(inner - begin) {
                    let number = of.number((packed >> (element as u32 * bits)) as u64);
                    match is_along_k {
                        true => visit(across, depth + element, number),
                        false => visit(across + element, depth, number),
                    }
                }
                chunks.push(at);
            }
        }
        Ok(chunks)
    }

    /// 16 bytes of each of some rows, of which 8 follow each other, at a place along them; and where they lie.
    ///
    /// # Errors
    /// As for [`Layout::each`].
    pub(super) fn rows(
        &self,
        context: &Context<'_>,
        rows: usize,
        place: usize,
    ) -> Result<Vec<(u64, u128)>, Cause> {
        let row = |row: usize| {
            let at = self.chunk(true, row as u64, place as u64, 1);
            Ok((at, read(context, at)?))
        };
        (0..rows).map(row).collect()
    }
}

/// 16 bytes of the block's shared memory.
fn read(context: &Context<'_>, at: u64) -> Result<u128, Cause> {
    if !context.at.layout.holds(at, at + 15) {
        return Err(Cause::Fault(Fault {
            kind: FindingKind::OutOfBounds,
            lane: 0,
            bytes: 16,
            place: Box::new(context.at.layout.place(at)),
        }));
    }
    let from = context.at.shared.wrapping_add(at as usize).cast::<u128>();
    // SAFETY: in bounds, as seen above; one host thread executes the block.
    Ok(unsafe { from.read_unaligned() })
}
