//! Copies in one to three dimensions, between host and devices.

use std::sync::Arc;

use engine::memory::Direction;

use crate::allocations::{self, Check, check, check_ahead, touch};
use crate::array::array;
use crate::capture;
use crate::context::current;
use crate::device;
use crate::handles::Handle;
use crate::order::Lane;
use crate::queue;
use crate::recorded;
use crate::status::{Answer, Status};
use crate::stream;
use crate::work::{Work, submit};

/// One side of a copy: rows, and planes of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    address: u64,
    /// Bytes from one row to the next, and from one plane to the next.
    pitch: u64,
    plane: u64,
    /// Whether the program says that it is memory of a device; otherwise it may be any.
    is_device: bool,
    /// The part of an array that it is.
    array: Option<Part>,
}

/// Where something begins in an array.
#[derive(Clone, Copy, Debug)]
struct Part {
    array: Handle,
    x: usize,
    y: usize,
    z: usize,
}

/// A copy.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    what: &'static str,
    to: Side,
    from: Side,
    width: u64,
    height: u64,
    depth: u64,
    /// The bytes that it copies, where the program may change its own before it is done.
    _staged: Option<Arc<[u8]>>,
}

impl Side {
    fn line(address: u64, is_device: bool) -> Side {
        Side {
            address,
            pitch: 0,
            plane: 0,
            is_device,
            array: None,
        }
    }

    /// Returns it as a program reads it of a node.
    fn described(&self, is_named: bool) -> Side3 {
        let &Side {
            address,
            pitch,
            plane,
            is_device,
            array,
        } = self;
        let kind = match (is_device, is_named) {
            (true, _) => DEVICE,
            (false, true) => HOST,
            (false, false) => UNIFIED,
        };
        let none = Side3 {
            x: 0,
            y: 0,
            z: 0,
            level: 0,
            kind,
            host: if kind == HOST { address } else { 0 },
            device: if kind == HOST { 0 } else { address },
            array: 0,
            reserved: 0,
            pitch: pitch as usize,
            height: plane.checked_div(pitch).unwrap_or(0) as usize,
        };
        match array {
            None => none,
            Some(Part { array, x, y, z }) => Side3 {
                x,
                y,
                z,
                kind: ARRAY,
                device: 0,
                array,
                pitch: 0,
                height: 0,
                ..none
            },
        }
    }

    fn row(&self, y: u64, z: u64) -> Option<u64> {
        let rows = y.checked_mul(self.pitch)?;
        let planes = z.checked_mul(self.plane)?;
        self.address.checked_add(rows)?.checked_add(planes)
    }

    /// Whether each row begins where the one before has ended.
    fn is_dense(&self, copy: &Copy) -> bool {
        let rows = copy.height == 1 || self.pitch == copy.width;
        let planes = copy.depth == 1 || self.plane == copy.width * copy.height;
        rows && planes
    }
}

impl Copy {
    /// The same copy with as few rows as it can have.
    fn joined(self) -> Copy {
        let bytes = self
            .width
            .checked_mul(self.height)
            .and_then(|it| it.checked_mul(self.depth));
        match bytes {
            Some(width) if self.to.is_dense(&self) && self.from.is_dense(&self) => Copy {
                width,
                height: 1,
                depth: 1,
                ..self
            },
            _ => self,
        }
    }

    /// Returns it with a copy of what it reads of the program's own memory, which the program may change when the call has returned.
    pub(crate) fn staged(self: Arc<Self>) -> Arc<Copy> {
        if self.from.is_device || allocations::holding(self.from.address).is_some() {
            return self;
        }
        let mut bytes = Vec::new();
        let kept = self.each_row(|_, from| {
            let row = std::ptr::with_exposed_provenance::<u8>(from as usize);
            // SAFETY: of memory that only the program knows it vouches for the bytes, by the contract of the driver's function.
            bytes
                .extend_from_slice(unsafe { std::slice::from_raw_parts(row, self.width as usize) });
            Ok(())
        });
        if kept.is_err() {
            return self;
        }
        let staged: Arc<[u8]> = bytes.into();
        let from = Side {
            address: staged.as_ptr().expose_provenance() as u64,
            pitch: self.width,
            plane: self.width * self.height,
            is_device: false,
            array: None,
        };
        Arc::new(Copy {
            from,
            _staged: Some(staged),
            ..*self
        })
    }

    /// Whether it ends in the program's own memory, which no device reaches: then the call returns when it is done.
    fn ends_in_own_memory(&self) -> bool {
        !self.to.is_device && allocations::holding(self.to.address).is_none()
    }

    /// Goes through its rows: where each goes, and where it is from.
    fn each_row(&self, mut row: impl FnMut(u64, u64) -> Answer) -> Answer {
        if self.width == 0 {
            return Ok(());
        }
        for z in 0..self.depth {
            for y in 0..self.height {
                let both = self.to.row(y, z).zip(self.from.row(y, z));
                let (to, from) = both.ok_or(Status::INVALID_VALUE)?;
                row(to, from)?;
            }
        }
        Ok(())
    }

    /// As a recording has it.
    pub(crate) fn recorded(&self) -> recording::Work {
        recording::Work::Copy {
            from: recorded::memory_at(self.from.address),
            to: recorded::memory_at(self.to.address),
            bytes: self.width * self.height * self.depth,
            peer: None,
        }
    }

    /// Refuses what lies outside of its memory, before it is put into a stream.
    fn check_ahead(&self) -> Answer {
        self.check_by(check_ahead)
    }

    fn check_by(&self, check: Check) -> Answer {
        self.each_row(|to, from| {
            check(self.what, (from, self.width), self.from.is_device)?;
            check(self.what, (to, self.width), self.to.is_device)
        })
    }

    /// Returns it as a program reads it of a node.
    pub(crate) fn described(&self) -> Planes {
        // Where a program has left it to the addresses, it has done so for both sides.
        let is_named = self.from.is_device || self.to.is_device;
        Planes {
            from: self.from.described(is_named),
            to: self.to.described(is_named),
            width: self.width as usize,
            height: self.height as usize,
            depth: self.depth as usize,
        }
    }

    /// Does it.
    pub(crate) fn run(&self, lane: &Lane) -> Answer {
        // Memory that another thread frees meanwhile stays with the process.
        let _running = device::space().running();
        self.check_by(check)?;
        self.each_row(|to, from| {
            touch(self.what, lane, (from, self.width), Direction::Read)?;
            touch(self.what, lane, (to, self.width), Direction::Write)?;
            let source = std::ptr::with_exposed_provenance::<u8>(from as usize);
            let target = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
            // SAFETY: `check` has found the bytes in memory that stays while `_running` is held; of memory that only
            // the program knows it vouches for them, by the contract of the driver's function.
            unsafe { std::ptr::copy(source, target, self.width as usize) };
            Ok(())
        })
    }
}

/// Puts a copy into a stream, or has it done before the call returns.
fn copy(copy: Copy, stream: Option<Handle>) -> Answer {
    current()?;
    if copy.width == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    let copy = copy.joined();
    let into = stream::of(stream.unwrap_or(0))?;
    capture::noted(&into, copy.check_ahead())?;
    let is_waited_for = copy.ends_in_own_memory() && !into.is_capturing();
    submit(&into, Work::Copy(copy.into()))?;
    match stream {
        Some(_) if is_waited_for => {
            queue::wait_for_stream(&into);
            Ok(())
        }
        Some(_) => Ok(()),
        None => into.synchronise(),
    }
}

/// A copy of so many bytes.
fn line(
    what: &'static str,
    (to, is_to_device): (u64, bool),
    (from, is_from_device): (u64, bool),
    bytes: usize,
) -> Copy {
    Copy {
        what,
        to: Side::line(to, is_to_device),
        from: Side::line(from, is_from_device),
        width: bytes as u64,
        height: 1,
        depth: 1,
        _staged: None,
    }
}

/// Bytes of an array of one row, from an offset on.
fn part_of_array(what: &str, handle: Handle, offset: usize, bytes: usize) -> Answer<(u64, bool)> {
    let array = array(handle)?;
    array.check(what, [(offset, bytes), (0, 1), (0, 1)])?;
    Ok((array.start + offset as u64, true))
}

/// A copy of so many bytes into an array of one row.
fn into_array(
    what: &'static str,
    (to, offset): (Handle, usize),
    from: (u64, bool),
    bytes: usize,
) -> Answer<Copy> {
    let to = part_of_array(what, to, offset, bytes)?;
    Ok(line(what, to, from, bytes))
}

/// A copy of so many bytes out of an array of one row.
fn out_of_array(
    what: &'static str,
    to: (u64, bool),
    (from, offset): (Handle, usize),
    bytes: usize,
) -> Answer<Copy> {
    let from = part_of_array(what, from, offset, bytes)?;
    Ok(line(what, to, from, bytes))
}

/// One side of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, core::marker::Copy)]
pub(crate) struct Side2 {
    x: usize,
    y: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: Handle,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, core::marker::Copy)]
pub struct Rows {
    from: Side2,
    to: Side2,
    width: usize,
    height: usize,
}

/// One side of `CUDA_MEMCPY3D`; its reserved word is the context in `CUDA_MEMCPY3D_PEER`, which an address tells here.
#[repr(C)]
#[derive(Clone, core::marker::Copy)]
pub(crate) struct Side3 {
    x: usize,
    y: usize,
    z: usize,
    level: usize,
    kind: u32,
    host: u64,
    device: u64,
    array: Handle,
    reserved: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, core::marker::Copy)]
pub struct Planes {
    from: Side3,
    to: Side3,
    width: usize,
    height: usize,
    depth: usize,
}

/// `CUmemorytype`
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// Where a side begins that lies in this kind of memory.
fn start(kind: u32, host: u64, device: u64) -> Answer<(u64, bool)> {
    match kind {
        HOST => Ok((host, false)),
        DEVICE => Ok((device, true)),
        UNIFIED => Ok((device, false)),
        _ => Err(Status::INVALID_VALUE),
    }
}

impl Side3 {
    /// A part of an array, which has its own pitches.
    fn of_array(&self, what: &str, copy: &Planes) -> Answer<Side> {
        let array = array(self.array)?;
        let [pitch, plane] = array.pitches();
        let parts = [
            (self.x, copy.width),
            (self.y, copy.height),
            (self.z, copy.depth),
        ];
        array.check(what, parts)?;
        let before = self.z as u64 * plane + self.y as u64 * pitch + self.x as u64;
        Ok(Side {
            address: array.start + before,
            pitch,
            plane,
            is_device: true,
            array: Some(Part {
                array: self.array,
                x: self.x,
                y: self.y,
                z: self.z,
            }),
        })
    }

    fn side(&self, what: &str, copy: &Planes) -> Answer<Side> {
        if self.kind == ARRAY {
            return self.of_array(what, copy);
        }
        let (address, is_device) = start(self.kind, self.host, self.device)?;
        let pitch = match (self.pitch, copy.height) {
            (pitch, 0 | 1) => pitch,
            (pitch, _) if pitch < copy.width => return Err(Status::INVALID_VALUE),
            (pitch, _) => pitch,
        } as u64;
        // Rows that lie in each other could be any number.
        if copy.depth > 1 && (self.height < copy.height || (pitch as usize) < copy.width) {
            return Err(Status::INVALID_VALUE);
        }
        let plane = pitch
            .checked_mul(self.height as u64)
            .ok_or(Status::INVALID_VALUE)?;
        let side = Side {
            address,
            pitch,
            plane,
            is_device,
            array: None,
        };
        let row = side.row(self.y as u64, self.z as u64);
        let address = row.and_then(|row| row.checked_add(self.x as u64));
        Ok(Side {
            address: address.ok_or(Status::INVALID_VALUE)?,
            ..side
        })
    }
}

impl Side2 {
    fn in_space(self) -> Side3 {
        let Side2 {
            x,
            y,
            kind,
            host,
            device,
            array,
            pitch,
        } = self;
        Side3 {
            x,
            y,
            z: 0,
            level: 0,
            kind,
            host,
            device,
            array,
            reserved: 0,
            pitch,
            height: 0,
        }
    }
}

/// A copy of rows, as one of a single plane.
impl From<Rows> for Planes {
    fn from(rows: Rows) -> Planes {
        let (from, to) = (rows.from.in_space(), rows.to.in_space());
        Planes {
            from,
            to,
            width: rows.width,
            height: rows.height,
            depth: 1,
        }
    }
}

impl Planes {
    /// The copy that a program describes.
    pub(crate) fn copy(&self, what: &'static str) -> Answer<Copy> {
        let (to, from) = (self.to.side(what, self)?, self.from.side(what, self)?);
        let [width, height, depth] = [self.width, self.height, self.depth].map(|it| it as u64);
        Ok(Copy {
            what,
            to,
            from,
            width,
            height,
            depth,
            _staged: None,
        })
    }
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::In;

    driver! {
        fn cuMemcpyHtoD_v2 | cuMemcpyHtoD_v2_ptds(to: u64, from: u64, bytes: usize) {
            copy(line("cuMemcpyHtoD", (to, true), (from, false), bytes), None)
        }
        fn cuMemcpyDtoH_v2 | cuMemcpyDtoH_v2_ptds(to: u64, from: u64, bytes: usize) {
            copy(line("cuMemcpyDtoH", (to, false), (from, true), bytes), None)
        }
        fn cuMemcpyDtoD_v2 | cuMemcpyDtoD_v2_ptds(to: u64, from: u64, bytes: usize) {
            copy(line("cuMemcpyDtoD", (to, true), (from, true), bytes), None)
        }
        fn cuMemcpy | cuMemcpy_ptds(to: u64, from: u64, bytes: usize) {
            copy(line("cuMemcpy", (to, false), (from, false), bytes), None)
        }
        fn cuMemcpyPeer | cuMemcpyPeer_ptds(to: u64, _to_context: Handle, from: u64, _from_context: Handle, bytes: usize) {
            copy(line("cuMemcpyPeer", (to, true), (from, true), bytes), None)
        }
        fn cuMemcpyHtoDAsync_v2 | cuMemcpyHtoDAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle) {
            copy(line("cuMemcpyHtoDAsync", (to, true), (from, false), bytes), Some(stream))
        }
        fn cuMemcpyDtoHAsync_v2 | cuMemcpyDtoHAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle) {
            copy(line("cuMemcpyDtoHAsync", (to, false), (from, true), bytes), Some(stream))
        }
        fn cuMemcpyDtoDAsync_v2 | cuMemcpyDtoDAsync_v2_ptsz(to: u64, from: u64, bytes: usize, stream: Handle) {
            copy(line("cuMemcpyDtoDAsync", (to, true), (from, true), bytes), Some(stream))
        }
        fn cuMemcpyAsync | cuMemcpyAsync_ptsz(to: u64, from: u64, bytes: usize, stream: Handle) {
            copy(line("cuMemcpyAsync", (to, false), (from, false), bytes), Some(stream))
        }
        fn cuMemcpyPeerAsync | cuMemcpyPeerAsync_ptsz(
            to: u64, _to_context: Handle, from: u64, _from_context: Handle, bytes: usize, stream: Handle,
        ) {
            copy(line("cuMemcpyPeerAsync", (to, true), (from, true), bytes), Some(stream))
        }
        fn cuMemcpyHtoA_v2 | cuMemcpyHtoA_v2_ptds(to: Handle, offset: usize, from: u64, bytes: usize) {
            copy(into_array("cuMemcpyHtoA", (to, offset), (from, false), bytes)?, None)
        }
        fn cuMemcpyAtoH_v2 | cuMemcpyAtoH_v2_ptds(to: u64, from: Handle, offset: usize, bytes: usize) {
            copy(out_of_array("cuMemcpyAtoH", (to, false), (from, offset), bytes)?, None)
        }
        fn cuMemcpyDtoA_v2 | cuMemcpyDtoA_v2_ptds(to: Handle, offset: usize, from: u64, bytes: usize) {
            copy(into_array("cuMemcpyDtoA", (to, offset), (from, true), bytes)?, None)
        }
        fn cuMemcpyAtoD_v2 | cuMemcpyAtoD_v2_ptds(to: u64, from: Handle, offset: usize, bytes: usize) {
            copy(out_of_array("cuMemcpyAtoD", (to, true), (from, offset), bytes)?, None)
        }
        fn cuMemcpyHtoAAsync_v2 | cuMemcpyHtoAAsync_v2_ptsz(
            to: Handle, offset: usize, from: u64, bytes: usize, stream: Handle,
        ) {
            copy(into_array("cuMemcpyHtoAAsync", (to, offset), (from, false), bytes)?, Some(stream))
        }
        fn cuMemcpyAtoHAsync_v2 | cuMemcpyAtoHAsync_v2_ptsz(
            to: u64, from: Handle, offset: usize, bytes: usize, stream: Handle,
        ) {
            copy(out_of_array("cuMemcpyAtoHAsync", (to, false), (from, offset), bytes)?, Some(stream))
        }
        fn cuMemcpy2D_v2 | cuMemcpy2D_v2_ptds(rows: In<Rows>) { copy(Planes::from(rows.get()?).copy("cuMemcpy2D")?, None) }
        fn cuMemcpy2DUnaligned_v2 | cuMemcpy2DUnaligned_v2_ptds(rows: In<Rows>) {
            copy(Planes::from(rows.get()?).copy("cuMemcpy2DUnaligned")?, None)
        }
        fn cuMemcpy2DAsync_v2 | cuMemcpy2DAsync_v2_ptsz(rows: In<Rows>, stream: Handle) {
            copy(Planes::from(rows.get()?).copy("cuMemcpy2DAsync")?, Some(stream))
        }
        fn cuMemcpy3D_v2 | cuMemcpy3D_v2_ptds(planes: In<Planes>) { copy(planes.get()?.copy("cuMemcpy3D")?, None) }
        fn cuMemcpy3DAsync_v2 | cuMemcpy3DAsync_v2_ptsz(planes: In<Planes>, stream: Handle) {
            copy(planes.get()?.copy("cuMemcpy3DAsync")?, Some(stream))
        }
        fn cuMemcpy3DPeer | cuMemcpy3DPeer_ptds(planes: In<Planes>) { copy(planes.get()?.copy("cuMemcpy3DPeer")?, None) }
        fn cuMemcpy3DPeerAsync | cuMemcpy3DPeerAsync_ptsz(planes: In<Planes>, stream: Handle) {
            copy(planes.get()?.copy("cuMemcpy3DPeerAsync")?, Some(stream))
        }
    }
}
