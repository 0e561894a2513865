//! Arrays: images of one to three dimensions, or in layers, in the device's memory. A program knows none of their addresses; on the emulator
//! rows lie one behind the other.

use std::sync::Arc;

use engine::image::Channel;

use crate::allocations::{self, Kind, allocate};
use crate::capture;
use crate::context::current;
use crate::findings::{Cause, found};
use crate::handles::{Handle, keep, look};
use crate::queue;
use crate::status::{Answer, Status};

/// `CUDA_ARRAY3D_LAYERED`, `_SURFACE_LDST`, `_CUBEMAP`, `_TEXTURE_GATHER`
const LAYERED: u32 = 1;
const FOR_SURFACES: u32 = 2;
const CUBEMAP: u32 = 4;
const KNOWN: u32 = 1 | 2 | 4 | 8;

/// `CUDA_ARRAY_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plane {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Volume {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

impl From<Plane> for Volume {
    fn from(plane: Plane) -> Volume {
        let Plane {
            width,
            height,
            format,
            channels,
        } = plane;
        Volume {
            width,
            height,
            depth: 0,
            format,
            channels,
            flags: 0,
        }
    }
}

/// An array.
pub(crate) struct Array {
    pub(crate) context: Handle,
    described: Volume,
    pub(crate) start: u64,
    pub(crate) channel: Channel,
    /// Elements along each dimension, or layers; 1 where it has no such dimension.
    pub(crate) sizes: [u32; 3],
}

impl Array {
    fn new(described: Volume) -> Answer<Array> {
        let Volume {
            width,
            height,
            depth,
            format,
            channels,
            flags,
        } = described;
        let channel = Channel::of(format).ok_or(Status::INVALID_VALUE)?;
        let is_cube = flags & CUBEMAP != 0;
        let faces = |count: usize| match flags & LAYERED {
            0 => count == 6,
            _ => count > 0 && count.is_multiple_of(6),
        };
        // The largest of any device's.
        const MOST: [usize; 3] = [131_072, 65_536, 16_384];
        let sizes = [width, height, depth];
        let is_large = sizes.iter().zip(MOST).any(|(size, most)| *size > most);
        let is_wrong = width == 0
            || is_large
            || flags & !KNOWN != 0
            || !matches!(channels, 1 | 2 | 4)
            || is_cube && (width != height || !faces(depth))
            || flags & LAYERED != 0 && depth == 0
            || flags & LAYERED == 0 && depth != 0 && height == 0;
        if is_wrong {
            return Err(Status::INVALID_VALUE);
        }
        let sizes = sizes.map(|size| size.max(1) as u32);
        let context = current()?;
        let mut array = Array {
            context: context.handle,
            described,
            start: 0,
            channel,
            sizes,
        };
        let bytes = array.pitches()[1] * u64::from(sizes[2]);
        array.start = allocate(&context, bytes, Kind::Device)?;
        Ok(array)
    }

    /// Whether surfaces may be made of it.
    pub(crate) fn is_for_surfaces(&self) -> bool {
        self.described.flags & FOR_SURFACES != 0
    }

    /// Channels of an element.
    pub(crate) fn channels(&self) -> u8 {
        self.described.channels as u8
    }

    /// Bytes from one row to the next, and from one plane or layer to the next.
    pub(crate) fn pitches(&self) -> [u64; 2] {
        let element = u64::from(self.channel.bytes() * self.described.channels);
        let row = u64::from(self.sizes[0]) * element;
        [row, row * u64::from(self.sizes[1])]
    }

    /// Refuses bytes, rows and planes, each from one on and so many, that run beyond an array: that is a finding.
    pub(crate) fn check(&self, what: &str, parts: [(usize, usize); 3]) -> Answer {
        let [_, height, depth] = self.sizes.map(u64::from);
        let sizes = [self.pitches()[0], height, depth];
        let fits = |((from, count), all): (&(usize, usize), u64)| {
            let end = from.checked_add(*count);
            end.is_some_and(|end| end as u64 <= all)
        };
        if parts.iter().zip(sizes).all(fits) {
            return Ok(());
        }
        let [(x, width), (y, rows), (z, planes)] = parts;
        let [bytes, height, depth] = sizes;
        let brief = format!(
            "{what}: {width} by {rows} by {planes} from byte {x}, row {y}, plane {z} of an array of {bytes} bytes by {height} by {depth} on"
        );
        let text = format!("{brief}, which begins at {:#x}", self.start);
        found(&text, None, Cause::Outside(&brief));
        Err(Status::INVALID_VALUE)
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // One that was refused has none.
        if self.start != 0 {
            let _ = allocations::free(self.start, |it| it == Kind::Device);
        }
    }
}

fn create(described: Volume) -> Answer<Handle> {
    Ok(keep(Array::new(described)?))
}

fn described(array: Handle) -> Answer<Volume> {
    current()?;
    Ok(look::<Array>(array)?.described)
}

/// Returns an array of the current context's devices.
pub(crate) fn array(handle: Handle) -> Answer<Arc<Array>> {
    look(handle)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out};
    use crate::handles::end;

    driver! {
        fn cuArrayCreate_v2(to: Out<Handle>, plane: In<Plane>) { to.check()?; capture::admit_unsafe()?; to.put(create(plane.get()?.into())?) }
        fn cuArray3DCreate_v2(to: Out<Handle>, volume: In<Volume>) { to.check()?; capture::admit_unsafe()?; to.put(create(volume.get()?)?) }
        fn cuArrayDestroy(array: Handle) { current()?; capture::admit_unsafe()?; queue::wait_for_all(); end::<Array>(array).map(drop) }
        fn cuArrayGetDescriptor_v2(to: Out<Plane>, array: Handle) {
            let Volume { width, height, format, channels, .. } = described(array)?;
            to.put(Plane { width, height, format, channels })
        }
        fn cuArray3DGetDescriptor_v2(to: Out<Volume>, array: Handle) { to.put(described(array)?) }
    }
}
