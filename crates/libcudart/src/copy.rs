//! Copies.

use std::ffi::c_int;

use crate::arguments::In;
use crate::array::bytes_of;
use crate::device::{context, primary};
use crate::driver::{self, Handle};
use crate::launch::waited;
use crate::memory::{Extent, Pitched};
use crate::program::variable;
use crate::status::{Answer, Error};

/// `cudaMemcpyKind`
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// As the addresses say.
    Default,
}

impl Kind {
    fn of(number: u32) -> Answer<Kind> {
        Ok(match number {
            0 => Kind::HostToHost,
            1 => Kind::HostToDevice,
            2 => Kind::DeviceToHost,
            3 => Kind::DeviceToDevice,
            4 => Kind::Default,
            _ => return Err(Error::INVALID_MEMCPY_DIRECTION),
        })
    }

    fn can_end_in_symbol(self) -> bool {
        !matches!(self, Kind::HostToHost | Kind::DeviceToHost)
    }

    fn can_begin_in_symbol(self) -> bool {
        !matches!(self, Kind::HostToHost | Kind::HostToDevice)
    }

    /// Between a source and a destination of these `CUmemorytype`s.
    fn between(from: u32, to: u32) -> Kind {
        match (from, to) {
            (UNIFIED, _) | (_, UNIFIED) => Kind::Default,
            (HOST, HOST) => Kind::HostToHost,
            (HOST, _) => Kind::HostToDevice,
            (_, HOST) => Kind::DeviceToHost,
            _ => Kind::DeviceToDevice,
        }
    }

    /// `CUmemorytype` of source and destination.
    fn sides(self) -> (u32, u32) {
        const DEVICE: u32 = 2;
        match self {
            Kind::HostToHost => (HOST, HOST),
            Kind::HostToDevice => (HOST, DEVICE),
            Kind::DeviceToHost => (DEVICE, HOST),
            Kind::DeviceToDevice => (DEVICE, DEVICE),
            Kind::Default => (UNIFIED, UNIFIED),
        }
    }
}

/// When a copy is done for who asks for it.
#[derive(Clone, Copy)]
enum When {
    Now,
    In(Handle),
}

/// Copies bytes.
fn line(to: u64, from: u64, bytes: usize, kind: u32, when: When) -> Answer {
    let kind = Kind::of(kind)?;
    context()?;
    match (kind, when) {
        _ if bytes == 0 => Ok(()),
        (Kind::HostToDevice, When::Now) => waited(driver::cuMemcpyHtoD_v2(to, from, bytes)),
        (Kind::HostToDevice, When::In(stream)) => {
            driver::cuMemcpyHtoDAsync_v2(to, from, bytes, stream)
        }
        (Kind::DeviceToHost, When::Now) => waited(driver::cuMemcpyDtoH_v2(to, from, bytes)),
        (Kind::DeviceToHost, When::In(stream)) => {
            driver::cuMemcpyDtoHAsync_v2(to, from, bytes, stream)
        }
        (Kind::DeviceToDevice, When::Now) => waited(driver::cuMemcpyDtoD_v2(to, from, bytes)),
        (Kind::DeviceToDevice, When::In(stream)) => {
            driver::cuMemcpyDtoDAsync_v2(to, from, bytes, stream)
        }
        (Kind::HostToHost | Kind::Default, When::Now) => waited(driver::cuMemcpy(to, from, bytes)),
        (Kind::HostToHost | Kind::Default, When::In(stream)) => {
            driver::cuMemcpyAsync(to, from, bytes, stream)
        }
    }
}

/// The part of a variable that a copy is of.
fn part(host: usize, offset: usize, bytes: usize) -> Answer<u64> {
    let (start, size) = variable(host)?;
    match offset.checked_add(bytes) {
        Some(end) if end <= size => Ok(start + offset as u64),
        _ => Err(Error::INVALID_VALUE),
    }
}

fn to_symbol(
    host: usize,
    from: u64,
    (bytes, offset): (usize, usize),
    kind: u32,
    when: When,
) -> Answer {
    match Kind::of(kind)?.can_end_in_symbol() {
        true => line(part(host, offset, bytes)?, from, bytes, kind, when),
        false => Err(Error::INVALID_MEMCPY_DIRECTION),
    }
}

fn from_symbol(
    to: u64,
    host: usize,
    (bytes, offset): (usize, usize),
    kind: u32,
    when: When,
) -> Answer {
    match Kind::of(kind)?.can_begin_in_symbol() {
        true => line(to, part(host, offset, bytes)?, bytes, kind, when),
        false => Err(Error::INVALID_MEMCPY_DIRECTION),
    }
}

/// One side of `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PlaneSide {
    x_in_bytes: usize,
    y: usize,
    memory: u32,
    host: u64,
    device: u64,
    array: usize,
    pitch: usize,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Plane {
    from: PlaneSide,
    to: PlaneSide,
    width: usize,
    height: usize,
}

/// Copies rows, each side with its pitch.
fn plane(
    to: (u64, usize),
    from: (u64, usize),
    (width, height): (usize, usize),
    kind: u32,
    when: When,
) -> Answer {
    let (from_memory, to_memory) = Kind::of(kind)?.sides();
    context()?;
    if width > to.1 || width > from.1 {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let side = |(start, pitch), memory| PlaneSide {
        memory,
        host: start,
        device: start,
        pitch,
        ..Default::default()
    };
    let plane = Plane {
        from: side(from, from_memory),
        to: side(to, to_memory),
        width,
        height,
    };
    match when {
        _ if width == 0 || height == 0 => Ok(()),
        When::Now => waited(driver::cuMemcpy2DUnaligned_v2(In::of(&plane))),
        When::In(stream) => driver::cuMemcpy2DAsync_v2(In::of(&plane), stream),
    }
}

/// One side of `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct VolumeSide {
    x_in_bytes: usize,
    y: usize,
    z: usize,
    level: usize,
    memory: u32,
    host: u64,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Volume {
    from: VolumeSide,
    to: VolumeSide,
    width: usize,
    height: usize,
    depth: usize,
}

/// A part of a variable, of which a node of a graph copies bytes.
#[derive(Clone, Copy)]
pub(crate) struct Symbol {
    pub(crate) host: usize,
    pub(crate) offset: usize,
}

impl Volume {
    /// Bytes into a variable.
    pub(crate) fn to_symbol(to: Symbol, from: u64, bytes: usize, kind: u32) -> Answer<Volume> {
        if !Kind::of(kind)?.can_end_in_symbol() {
            return Err(Error::INVALID_MEMCPY_DIRECTION);
        }
        Volume::line(part(to.host, to.offset, bytes)?, from, bytes, kind)
    }

    /// Bytes of a variable.
    pub(crate) fn from_symbol(to: u64, from: Symbol, bytes: usize, kind: u32) -> Answer<Volume> {
        if !Kind::of(kind)?.can_begin_in_symbol() {
            return Err(Error::INVALID_MEMCPY_DIRECTION);
        }
        Volume::line(to, part(from.host, from.offset, bytes)?, bytes, kind)
    }

    /// Bytes side by side.
    pub(crate) fn line(to: u64, from: u64, bytes: usize, kind: u32) -> Answer<Volume> {
        let (from_memory, to_memory) = Kind::of(kind)?.sides();
        let side = |start, memory| VolumeSide {
            memory,
            host: start,
            device: start,
            pitch: bytes,
            height: 1,
            ..Default::default()
        };
        Ok(Volume {
            from: side(from, from_memory),
            to: side(to, to_memory),
            width: bytes,
            height: 1,
            depth: 1,
        })
    }
}

/// `cudaMemcpy3DParms`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Parameters {
    from_array: usize,
    /// In bytes, rows and planes.
    from_at: [usize; 3],
    from: Pitched,
    to_array: usize,
    to_at: [usize; 3],
    to: Pitched,
    extent: Extent,
    kind: c_int,
}

impl Parameters {
    /// As the driver tells it of a node.
    pub(crate) fn of(volume: &Volume) -> Answer<Parameters> {
        let Volume {
            from,
            to,
            width,
            height,
            depth,
        } = *volume;
        let element = match [from.array, to.array].into_iter().find(|&it| it != 0) {
            Some(array) => bytes_of(array)?.0,
            None => 1,
        };
        let at = |side: &VolumeSide| {
            let element = if side.array == 0 { 1 } else { element };
            [side.x_in_bytes / element, side.y, side.z]
        };
        let plain = |side: &VolumeSide| Pitched {
            start: if side.memory == HOST {
                side.host
            } else {
                side.device
            },
            pitch: side.pitch,
            // Bytes that are not copied are not known.
            width: 0,
            height: 0,
        };
        Ok(Parameters {
            from_array: from.array,
            from_at: at(&from),
            from: plain(&from),
            to_array: to.array,
            to_at: at(&to),
            to: plain(&to),
            extent: Extent {
                width: width / element,
                height,
                depth,
            },
            kind: Kind::between(from.memory, to.memory) as c_int,
        })
    }

    /// As the driver takes it. Places and sizes in an array count its elements; where none takes part, bytes.
    pub(crate) fn volume(self) -> Answer<Volume> {
        let (from_memory, to_memory) = Kind::of(self.kind as u32)?.sides();
        let element = match [self.from_array, self.to_array]
            .into_iter()
            .find(|&it| it != 0)
        {
            Some(array) => bytes_of(array)?.0,
            None => 1,
        };
        let side = |memory, array, [x, y, z]: [usize; 3], of: Pitched| VolumeSide {
            x_in_bytes: if array == 0 { x } else { x * element },
            y,
            z,
            memory: if array == 0 { memory } else { ARRAY },
            host: of.start,
            device: of.start,
            array,
            pitch: of.pitch,
            height: of.height,
            ..Default::default()
        };
        Ok(Volume {
            from: side(from_memory, self.from_array, self.from_at, self.from),
            to: side(to_memory, self.to_array, self.to_at, self.to),
            width: self
                .extent
                .width
                .checked_mul(element)
                .ok_or(Error::INVALID_VALUE)?,
            height: self.extent.height,
            depth: self.extent.depth,
        })
    }
}

/// `CUmemorytype`
const HOST: u32 = 1;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

/// A place in an array, and how rows of plain memory follow.
struct Rows {
    array: Handle,
    x: usize,
    y: usize,
    start: u64,
    pitch: usize,
}

/// Copies rows from or to an array.
fn rows(
    of: Rows,
    (width, height): (usize, usize),
    (to_array, kind): (bool, u32),
    when: When,
) -> Answer {
    let (from_memory, to_memory) = Kind::of(kind)?.sides();
    context()?;
    let Rows {
        array,
        x,
        y,
        start,
        pitch,
    } = of;
    if width > pitch {
        return Err(Error::INVALID_PITCH_VALUE);
    }
    let image = PlaneSide {
        x_in_bytes: x,
        y,
        memory: ARRAY,
        array,
        ..Default::default()
    };
    let memory = if to_array { from_memory } else { to_memory };
    let plain = PlaneSide {
        memory,
        host: start,
        device: start,
        pitch,
        ..Default::default()
    };
    let (from, to) = if to_array {
        (plain, image)
    } else {
        (image, plain)
    };
    let plane = Plane {
        from,
        to,
        width,
        height,
    };
    match when {
        _ if width == 0 || height == 0 => Ok(()),
        When::Now => waited(driver::cuMemcpy2DUnaligned_v2(In::of(&plane))),
        When::In(stream) => driver::cuMemcpy2DAsync_v2(In::of(&plane), stream),
    }
}

/// Copies bytes that fill one row of an array after another.
fn row_by_row(
    array: (Handle, usize, usize),
    start: u64,
    bytes: usize,
    how: (bool, u32),
    when: When,
) -> Answer {
    let (array, mut x, mut y) = array;
    let (_, row) = bytes_of(array)?;
    let mut done = 0;
    while done < bytes {
        let width = row
            .checked_sub(x)
            .filter(|&it| it > 0)
            .ok_or(Error::INVALID_VALUE)?;
        let width = width.min(bytes - done);
        let of = Rows {
            array,
            x,
            y,
            start: start + done as u64,
            pitch: width,
        };
        rows(of, (width, 1), how, when)?;
        (x, y, done) = (0, y + 1, done + width);
    }
    Ok(())
}

fn volume(parameters: In<Parameters>, when: When) -> Answer {
    let volume = parameters.get()?.volume()?;
    context()?;
    match when {
        _ if volume.width == 0 || volume.height == 0 || volume.depth == 0 => Ok(()),
        When::Now => waited(driver::cuMemcpy3D_v2(In::of(&volume))),
        When::In(stream) => driver::cuMemcpy3DAsync_v2(In::of(&volume), stream),
    }
}

runtime! {
    fn cudaMemcpy | cudaMemcpy_ptds(to: u64, from: u64, bytes: usize, kind: u32) { line(to, from, bytes, kind, When::Now) }
    fn cudaMemcpyAsync | cudaMemcpyAsync_ptsz(to: u64, from: u64, bytes: usize, kind: u32, stream: Handle) {
        line(to, from, bytes, kind, When::In(stream))
    }
    fn cudaMemcpyPeer(to: u64, to_device: c_int, from: u64, from_device: c_int, bytes: usize) {
        context()?;
        driver::cuMemcpyPeer(to, primary(to_device)?, from, primary(from_device)?, bytes)
    }
    fn cudaMemcpyPeerAsync(to: u64, to_device: c_int, from: u64, from_device: c_int, bytes: usize, stream: Handle) {
        context()?;
        driver::cuMemcpyPeerAsync(to, primary(to_device)?, from, primary(from_device)?, bytes, stream)
    }
    fn cudaMemcpyToSymbol | cudaMemcpyToSymbol_ptds(host: usize, from: u64, bytes: usize, offset: usize, kind: u32) {
        to_symbol(host, from, (bytes, offset), kind, When::Now)
    }
    fn cudaMemcpyToSymbolAsync | cudaMemcpyToSymbolAsync_ptsz(
        host: usize, from: u64, bytes: usize, offset: usize, kind: u32, stream: Handle,
    ) {
        to_symbol(host, from, (bytes, offset), kind, When::In(stream))
    }
    fn cudaMemcpyFromSymbol | cudaMemcpyFromSymbol_ptds(to: u64, host: usize, bytes: usize, offset: usize, kind: u32) {
        from_symbol(to, host, (bytes, offset), kind, When::Now)
    }
    fn cudaMemcpyFromSymbolAsync | cudaMemcpyFromSymbolAsync_ptsz(
        to: u64, host: usize, bytes: usize, offset: usize, kind: u32, stream: Handle,
    ) {
        from_symbol(to, host, (bytes, offset), kind, When::In(stream))
    }
    fn cudaMemcpy2D | cudaMemcpy2D_ptds(
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32,
    ) {
        plane((to, to_pitch), (from, from_pitch), (width, height), kind, When::Now)
    }
    fn cudaMemcpy2DAsync | cudaMemcpy2DAsync_ptsz(
        to: u64, to_pitch: usize, from: u64, from_pitch: usize, width: usize, height: usize, kind: u32, stream: Handle,
    ) {
        plane((to, to_pitch), (from, from_pitch), (width, height), kind, When::In(stream))
    }
    fn cudaMemcpy3D | cudaMemcpy3D_ptds(parameters: In<Parameters>) { volume(parameters, When::Now) }
    fn cudaMemcpy3DAsync | cudaMemcpy3DAsync_ptsz(parameters: In<Parameters>, stream: Handle) {
        volume(parameters, When::In(stream))
    }
    fn cudaMemcpy2DToArray | cudaMemcpy2DToArray_ptds(
        array: Handle, x: usize, y: usize, start: u64, pitch: usize, width: usize, height: usize, kind: u32,
    ) {
        rows(Rows { array, x, y, start, pitch }, (width, height), (true, kind), When::Now)
    }
    fn cudaMemcpy2DToArrayAsync | cudaMemcpy2DToArrayAsync_ptsz(
        array: Handle, x: usize, y: usize, start: u64, pitch: usize, width: usize, height: usize, kind: u32, stream: Handle,
    ) {
        rows(Rows { array, x, y, start, pitch }, (width, height), (true, kind), When::In(stream))
    }
    fn cudaMemcpy2DFromArray | cudaMemcpy2DFromArray_ptds(
        start: u64, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, kind: u32,
    ) {
        rows(Rows { array, x, y, start, pitch }, (width, height), (false, kind), When::Now)
    }
    fn cudaMemcpy2DFromArrayAsync | cudaMemcpy2DFromArrayAsync_ptsz(
        start: u64, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, kind: u32, stream: Handle,
    ) {
        rows(Rows { array, x, y, start, pitch }, (width, height), (false, kind), When::In(stream))
    }
    fn cudaMemcpyToArray | cudaMemcpyToArray_ptds(
        array: Handle, x: usize, y: usize, start: u64, bytes: usize, kind: u32,
    ) {
        row_by_row((array, x, y), start, bytes, (true, kind), When::Now)
    }
    fn cudaMemcpyToArrayAsync | cudaMemcpyToArrayAsync_ptsz(
        array: Handle, x: usize, y: usize, start: u64, bytes: usize, kind: u32, stream: Handle,
    ) {
        row_by_row((array, x, y), start, bytes, (true, kind), When::In(stream))
    }
    fn cudaMemcpyFromArray | cudaMemcpyFromArray_ptds(
        start: u64, array: Handle, x: usize, y: usize, bytes: usize, kind: u32,
    ) {
        row_by_row((array, x, y), start, bytes, (false, kind), When::Now)
    }
    fn cudaMemcpyFromArrayAsync | cudaMemcpyFromArrayAsync_ptsz(
        start: u64, array: Handle, x: usize, y: usize, bytes: usize, kind: u32, stream: Handle,
    ) {
        row_by_row((array, x, y), start, bytes, (false, kind), When::In(stream))
    }
}
