//! Fills of lines and rows with values of 1, 2 or 4 bytes.

use engine::memory::Direction;

use crate::allocations::{Check, check, check_ahead, touch};
use crate::capture;
use crate::context::current;
use crate::device;
use crate::handles::Handle;
use crate::order::Lane;
use crate::status::{Answer, Status};
use crate::stream;
use crate::work::{Work, submit};

/// A fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill {
    what: &'static str,
    to: u64,
    /// The value, of which the first bytes count.
    value: u32,
    /// Bytes of an element: 1, 2 or 4.
    element: u64,
    /// Elements of a row.
    width: u64,
    height: u64,
    /// Bytes from one row to the next.
    pitch: u64,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Described {
    to: u64,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

impl Fill {
    fn bytes(&self) -> Option<u64> {
        self.width.checked_mul(self.element)
    }

    fn is_empty(&self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// The same fill as one row, where each begins at the end of the one before.
    fn joined(self) -> Fill {
        let elements = self.width.checked_mul(self.height);
        match elements.filter(|_| self.bytes() == Some(self.pitch)) {
            Some(width) => Fill {
                width,
                height: 1,
                ..self
            },
            None => self,
        }
    }

    fn each_row(&self, mut row: impl FnMut(u64, u64) -> Answer) -> Answer {
        let bytes = self.bytes().ok_or(Status::INVALID_VALUE)?;
        if bytes == 0 {
            return Ok(());
        }
        for y in 0..self.height {
            let offset = y.checked_mul(self.pitch);
            let start = offset.and_then(|it| self.to.checked_add(it));
            row(start.ok_or(Status::INVALID_VALUE)?, bytes)?;
        }
        Ok(())
    }

    /// As a recording has it.
    pub(crate) fn recorded(&self) -> recording::Work {
        recording::Work::Fill {
            bytes: self.width * self.element * self.height,
        }
    }

    /// Refuses what lies outside of an allocation or between elements.
    fn check_by(&self, check: Check) -> Answer {
        let is_whole =
            self.to.is_multiple_of(self.element) && self.pitch.is_multiple_of(self.element);
        if !is_whole || self.height > 1 && self.bytes().is_none_or(|bytes| self.pitch < bytes) {
            return Err(Status::INVALID_VALUE);
        }
        self.each_row(|start, bytes| check(self.what, (start, bytes), true))
    }

    /// Returns it as a program reads it of a node.
    pub(crate) fn described(&self) -> Described {
        Described {
            to: self.to,
            pitch: self.pitch as usize,
            value: self.value,
            element: self.element as u32,
            width: self.width as usize,
            height: self.height as usize,
        }
    }

    /// Does it.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        // Memory that another thread frees meanwhile stays with the process.
        let _running = device::space().running();
        self.check_by(check)?;
        self.each_row(|start, bytes| {
            touch(self.what, lane, (start, bytes), Direction::Write)?;
            let to = std::ptr::with_exposed_provenance_mut::<u8>(start as usize);
            // SAFETY: `check` has found the bytes in an allocation, which stays while `_running` is held, and the
            // start at a multiple of an element.
            unsafe {
                match self.element {
                    1 => to.write_bytes(self.value as u8, bytes as usize),
                    2 => (0..self.width as usize)
                        .for_each(|it| to.cast::<u16>().add(it).write(self.value as u16)),
                    _ => (0..self.width as usize)
                        .for_each(|it| to.cast::<u32>().add(it).write(self.value)),
                }
            };
            Ok(())
        })
    }
}

impl Described {
    /// The fill that a program describes.
    pub(crate) fn fill(&self) -> Answer<Fill> {
        if ![1, 2, 4].contains(&self.element) {
            return Err(Status::INVALID_VALUE);
        }
        let fill = Fill {
            what: "a memset node",
            to: self.to,
            value: self.value,
            element: self.element.into(),
            width: self.width as u64,
            height: self.height as u64,
            pitch: self.pitch as u64,
        };
        let fill = fill.joined();
        fill.check_by(check_ahead)?;
        Ok(fill)
    }
}

/// Puts a fill into a stream; the others, too, return before they are done.
fn fill(fill: Fill, stream: Option<Handle>) -> Answer {
    current()?;
    if fill.is_empty() {
        return Ok(());
    }
    let fill = fill.joined();
    let into = stream::of(stream.unwrap_or(0))?;
    capture::noted(&into, fill.check_by(check_ahead))?;
    submit(&into, Work::Fill(fill))
}

/// A fill of so many elements.
fn line(what: &'static str, to: u64, (value, element): (u32, u64), count: usize) -> Fill {
    Fill {
        what,
        to,
        value,
        element,
        width: count as u64,
        height: 1,
        pitch: 0,
    }
}

/// A fill of rows.
fn rows(
    what: &'static str,
    (to, pitch): (u64, usize),
    (value, element): (u32, u64),
    (width, height): (usize, usize),
) -> Fill {
    Fill {
        what,
        to,
        value,
        element,
        width: width as u64,
        height: height as u64,
        pitch: pitch as u64,
    }
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuMemsetD8_v2 | cuMemsetD8_v2_ptds(to: u64, value: u8, count: usize) { fill(line("cuMemsetD8", to, (value.into(), 1), count), None) }
        fn cuMemsetD16_v2 | cuMemsetD16_v2_ptds(to: u64, value: u16, count: usize) { fill(line("cuMemsetD16", to, (value.into(), 2), count), None) }
        fn cuMemsetD32_v2 | cuMemsetD32_v2_ptds(to: u64, value: u32, count: usize) { fill(line("cuMemsetD32", to, (value, 4), count), None) }
        fn cuMemsetD8Async | cuMemsetD8Async_ptsz(to: u64, value: u8, count: usize, stream: Handle) {
            fill(line("cuMemsetD8Async", to, (value.into(), 1), count), Some(stream))
        }
        fn cuMemsetD16Async | cuMemsetD16Async_ptsz(to: u64, value: u16, count: usize, stream: Handle) {
            fill(line("cuMemsetD16Async", to, (value.into(), 2), count), Some(stream))
        }
        fn cuMemsetD32Async | cuMemsetD32Async_ptsz(to: u64, value: u32, count: usize, stream: Handle) {
            fill(line("cuMemsetD32Async", to, (value, 4), count), Some(stream))
        }
        fn cuMemsetD2D8_v2 | cuMemsetD2D8_v2_ptds(to: u64, pitch: usize, value: u8, width: usize, height: usize) {
            fill(rows("cuMemsetD2D8", (to, pitch), (value.into(), 1), (width, height)), None)
        }
        fn cuMemsetD2D16_v2 | cuMemsetD2D16_v2_ptds(to: u64, pitch: usize, value: u16, width: usize, height: usize) {
            fill(rows("cuMemsetD2D16", (to, pitch), (value.into(), 2), (width, height)), None)
        }
        fn cuMemsetD2D32_v2 | cuMemsetD2D32_v2_ptds(to: u64, pitch: usize, value: u32, width: usize, height: usize) {
            fill(rows("cuMemsetD2D32", (to, pitch), (value, 4), (width, height)), None)
        }
        fn cuMemsetD2D8Async | cuMemsetD2D8Async_ptsz(to: u64, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
            fill(rows("cuMemsetD2D8Async", (to, pitch), (value.into(), 1), (width, height)), Some(stream))
        }
        fn cuMemsetD2D16Async | cuMemsetD2D16Async_ptsz(to: u64, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) {
            fill(rows("cuMemsetD2D16Async", (to, pitch), (value.into(), 2), (width, height)), Some(stream))
        }
        fn cuMemsetD2D32Async | cuMemsetD2D32Async_ptsz(to: u64, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
            fill(rows("cuMemsetD2D32Async", (to, pitch), (value, 4), (width, height)), Some(stream))
        }
    }
}
