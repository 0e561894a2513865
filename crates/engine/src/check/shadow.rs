//! The shadow of one allocation, or of a block's shared memory.

use std::alloc::{Layout, alloc_zeroed};
use std::ptr;

use super::Stop;
use super::line::{ANCIENT, CELLS, Line, NEVER, PENDING, SET};
use super::sets::SetOf;

/// Bytes that a line of words stands for.
pub(super) const LINE: u64 = 128;
/// Bytes that such a line takes.
pub(super) const LINE_BYTES: u64 = size_of::<Line>() as u64;
const WORD: u64 = 4;
const FINE: usize = 4;

/// Lines of words from an address on. A line whose bytes are accessed one by one is replaced by four
/// lines of bytes. Lines that nothing reaches take no memory.
#[derive(Debug)]
pub(super) struct Shadow {
    origin: u64,
    lines: Box<[Line]>,
    /// Per line, the place in `bytes` plus 1. Empty as long as there is none.
    fine: Vec<u32>,
    bytes: Vec<[Line; FINE]>,
}

/// The cells of one lane's access.
pub(super) struct Cells<'a> {
    pub(super) line: &'a mut Line,
    pub(super) first: usize,
    pub(super) count: usize,
}

/// Lines in a row.
pub(super) struct Rows<'a> {
    pub(super) lines: &'a mut [Line],
    /// The address of the first.
    pub(super) start: u64,
    /// Bytes per cell.
    pub(super) cell: u64,
}

impl Rows<'_> {
    /// The cell, from the first line on, at which an address lies, and so many bytes in cells, as a power of 2.
    pub(super) fn place(&self, address: u64, bytes: u64) -> (i32, u32) {
        let cell = address.wrapping_sub(self.start) as i64 / self.cell as i64;
        (cell as i32, (bytes / self.cell).trailing_zeros())
    }
}

/// So many lines that nobody has accessed. The system provides their pages when they are first reached.
fn zeroed(count: u64) -> Result<Box<[Line]>, Box<Stop>> {
    let refused = |bytes| Box::new(Stop::NoMemory { bytes });
    let bytes = count.saturating_mul(LINE_BYTES);
    let layout = Layout::array::<Line>(count as usize).map_err(|_| refused(bytes))?;
    if layout.size() == 0 {
        return Ok(Box::default());
    }
    // SAFETY: the layout's size is not 0 by the test above.
    let start = unsafe { alloc_zeroed(layout) }.cast::<Line>();
    if start.is_null() {
        return Err(refused(bytes));
    }
    let all = ptr::slice_from_raw_parts_mut(start, count as usize);
    // SAFETY: allocated above as a box of so many lines is; a line is integers, for which zero is a value.
    Ok(unsafe { Box::from_raw(all) })
}

impl Shadow {
    /// The shadow of so many bytes from an address on: nobody has accessed them.
    ///
    /// # Errors
    /// The system has no memory for it.
    pub(super) fn new(start: u64, bytes: u64) -> Result<Shadow, Box<Stop>> {
        let origin = start & !(LINE - 1);
        let lines = (start + bytes).div_ceil(LINE) - origin / LINE;
        Ok(Shadow {
            origin,
            lines: zeroed(lines)?,
            fine: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// The shadow of a block's shared memory, of which there are at most 227 KiB.
    pub(super) fn of_block(bytes: u64) -> Shadow {
        let lines = bytes.div_ceil(LINE) as usize;
        Shadow {
            origin: 0,
            // SAFETY: a line is integers, for which zero is a value.
            lines: unsafe { Box::new_zeroed_slice(lines).assume_init() },
            fine: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Whether it was made for so many bytes from 0 on.
    pub(super) fn is_for(&self, bytes: u64) -> bool {
        self.origin == 0 && self.lines.len() as u64 == bytes.div_ceil(LINE)
    }

    /// Whether accesses of so many bytes meet lines of words alone.
    #[inline]
    pub(super) fn is_coarse(&self, bytes: u64) -> bool {
        self.fine.is_empty() && bytes >= WORD
    }

    /// The lines that hold `first..=last`, all of words.
    #[inline]
    pub(super) fn coarse(&mut self, first: u64, last: u64) -> Rows<'_> {
        let from = (first - self.origin) / LINE;
        let to = (last - self.origin) / LINE;
        Rows {
            lines: &mut self.lines[from as usize..=to as usize],
            start: self.origin + from * LINE,
            cell: WORD,
        }
    }

    /// The lines that stand for the 128 bytes of an address, for accesses of so many bytes.
    pub(super) fn rows(&mut self, address: u64, bytes: u64) -> Rows<'_> {
        let index = ((address - self.origin) / LINE) as usize;
        let start = self.origin + index as u64 * LINE;
        if bytes < WORD {
            self.split(index);
        }
        match self.fine_of(index) {
            Some(fine) => Rows {
                lines: &mut self.bytes[fine][..],
                start,
                cell: 1,
            },
            None => Rows {
                lines: std::slice::from_mut(&mut self.lines[index]),
                start,
                cell: WORD,
            },
        }
    }

    /// The cells of an aligned access of at most 16 bytes.
    #[inline]
    pub(super) fn cells(&mut self, address: u64, bytes: u64) -> Cells<'_> {
        let rows = self.rows(address, bytes);
        let cell = ((address - rows.start) / rows.cell) as usize;
        Cells {
            line: &mut rows.lines[cell / CELLS],
            first: cell % CELLS,
            count: (bytes / rows.cell) as usize,
        }
    }

    /// Which of at most 16 bytes nobody has written since a time, a bit each.
    pub(super) fn unwritten(&mut self, address: u64, bytes: u32, since: u32) -> u16 {
        (0..u64::from(bytes)).fold(0, |missing, byte| {
            let at = address + byte;
            let rows = self.rows(at & !(WORD - 1), WORD);
            let cell = ((at - rows.start) / rows.cell) as usize;
            let written = rows.lines[cell / CELLS].we[cell % CELLS];
            let is_missing = written < since && written != PENDING;
            missing | u16::from(is_missing) << byte
        })
    }

    /// Lines of words.
    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// The sets of its cells.
    pub(super) fn sets(&mut self) -> impl Iterator<Item = SetOf<'_>> {
        let fine = self.bytes.iter_mut().flat_map(|lines| lines.iter_mut());
        let lines = self.lines.iter_mut().chain(fine);
        let lines = lines.filter(|line| line.rt.iter().fold(0, |all, who| all | who) & SET != 0);
        lines.flat_map(|line| {
            let cells = line.re.iter().zip(&line.rt).zip(&mut line.rm);
            let sets = cells.filter(|((_, who), _)| **who & SET != 0);
            sets.map(|((epoch, _), set)| SetOf { epoch: *epoch, set })
        })
    }

    /// Everything that has been is before all that will be.
    pub(super) fn age(&mut self) {
        let fine = self.bytes.iter_mut().flat_map(|lines| lines.iter_mut());
        for line in self.lines.iter_mut().chain(fine) {
            line.we
                .iter_mut()
                .for_each(|epoch| *epoch = ANCIENT.min(*epoch));
            line.re.fill(NEVER);
        }
    }

    fn fine_of(&self, line: usize) -> Option<usize> {
        match self.fine.get(line) {
            None | Some(0) => None,
            Some(fine) => Some(*fine as usize - 1),
        }
    }

    fn split(&mut self, line: usize) {
        if self.fine.is_empty() {
            self.fine = vec![0; self.lines.len()];
        }
        if self.fine[line] > 0 {
            return;
        }
        let coarse = &self.lines[line];
        let spread = |from: &[u32; CELLS], part: usize| {
            std::array::from_fn(|cell| from[part * CELLS / FINE + cell / FINE])
        };
        let fine = std::array::from_fn(|part| Line {
            we: spread(&coarse.we, part),
            wt: spread(&coarse.wt, part),
            re: spread(&coarse.re, part),
            rt: spread(&coarse.rt, part),
            rm: spread(&coarse.rm, part),
        });
        self.bytes.push(fine);
        self.fine[line] = self.bytes.len() as u32;
    }
}
