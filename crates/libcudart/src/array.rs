//! Arrays, textures and surfaces.

use crate::api::Row;
use crate::arguments::{In, Out};
use crate::device::context;
use crate::driver::{self, Handle};
use crate::memory::Extent;
use crate::status::{Answer, Error};

/// `cudaChannelFormatDesc`: bits of each channel, and what they are.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Channels {
    bits: [i32; 4],
    kind: u32,
}

/// `cudaChannelFormatKind`
const SIGNED: u32 = 0;
const UNSIGNED: u32 = 1;
const FLOAT: u32 = 2;

impl Channels {
    /// `CUarray_format`, and the number of channels.
    fn format(self) -> Answer<(u32, u32)> {
        let [first, ..] = self.bits;
        let count = self.bits.iter().take_while(|&&bits| bits == first).count();
        let rest = self.bits.iter().skip(count);
        if !matches!(count, 1 | 2 | 4) || rest.into_iter().any(|&bits| bits != 0) {
            return Err(Error::INVALID_CHANNEL_DESCRIPTOR);
        }
        let format = match (self.kind, first) {
            (UNSIGNED, 8) => 0x01,
            (UNSIGNED, 16) => 0x02,
            (UNSIGNED, 32) => 0x03,
            (SIGNED, 8) => 0x08,
            (SIGNED, 16) => 0x09,
            (SIGNED, 32) => 0x0a,
            (FLOAT, 16) => 0x10,
            (FLOAT, 32) => 0x20,
            _ => return Err(Error::INVALID_CHANNEL_DESCRIPTOR),
        };
        Ok((format, count as u32))
    }

    fn of(described: Volume) -> Channels {
        let (kind, bits) = match described.format {
            0x01 => (UNSIGNED, 8),
            0x02 => (UNSIGNED, 16),
            0x03 => (UNSIGNED, 32),
            0x08 => (SIGNED, 8),
            0x09 => (SIGNED, 16),
            0x0a => (SIGNED, 32),
            0x10 => (FLOAT, 16),
            _ => (FLOAT, 32),
        };
        let channel = |at: usize| {
            if at < described.channels as usize {
                bits
            } else {
                0
            }
        };
        Channels {
            bits: std::array::from_fn(channel),
            kind,
        }
    }
}

/// `CUDA_ARRAY3D_DESCRIPTOR`
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Volume {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

fn allocate(to: Out<Handle>, channels: In<Channels>, extent: Extent, flags: u32) -> Answer {
    context()?;
    to.check()?;
    let (format, channels) = channels.get()?.format()?;
    let Extent {
        width,
        height,
        depth,
    } = extent;
    let volume = Volume {
        width,
        height,
        depth,
        format,
        channels,
        flags,
    };
    driver::cuArray3DCreate_v2(to, In::of(&volume))
}

fn described(array: Handle) -> Answer<Volume> {
    context()?;
    let mut volume = Volume::default();
    driver::cuArray3DGetDescriptor_v2(Out::of(&mut volume), array)?;
    Ok(volume)
}

/// Bytes of an element of an array, and of a row.
pub(crate) fn bytes_of(array: Handle) -> Answer<(usize, usize)> {
    let volume = described(array)?;
    let bits = Channels::of(volume).bits[0] as usize;
    let element = bits / 8 * volume.channels as usize;
    Ok((element, element * volume.width))
}

/// `cudaResourceDesc`: plain memory has its bytes where rows have their width.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Resource {
    kind: u32,
    of: u64,
    channels: Channels,
    width: usize,
    height: usize,
    pitch: usize,
}

/// `CUDA_RESOURCE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DriverResource {
    kind: u32,
    of: u64,
    format: u32,
    channels: u32,
    width: usize,
    height: usize,
    pitch: usize,
    rest: [u64; 11],
    flags: u32,
}

/// `cudaResourceTypeLinear` and `..Pitch2D`, which say what their channels are.
const PLAIN: [u32; 2] = [2, 3];

impl Resource {
    fn of_driver(self) -> Answer<DriverResource> {
        let Resource {
            kind,
            of,
            width,
            height,
            pitch,
            ..
        } = self;
        let (format, channels) = match PLAIN.contains(&kind) {
            true => self.channels.format()?,
            false => (0, 0),
        };
        Ok(DriverResource {
            kind,
            of,
            format,
            channels,
            width,
            height,
            pitch,
            rest: [0; 11],
            flags: 0,
        })
    }
}

/// `cudaTextureDesc`, as far as it is looked at.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    beyond: [u32; 3],
    filter: u32,
    /// 0: elements as they are.
    mode: u32,
    is_srgb: i32,
    border: [f32; 4],
    is_normalized: i32,
}

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DriverReading {
    beyond: [u32; 3],
    filter: u32,
    flags: u32,
    levels: [u32; 5],
    border: [f32; 4],
    reserved: [u32; 12],
}

impl Reading {
    fn of_driver(self) -> DriverReading {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let flags = flag(self.mode == 0, 1)
            | flag(self.is_normalized != 0, 2)
            | flag(self.is_srgb != 0, 0x10);
        DriverReading {
            beyond: self.beyond,
            filter: self.filter,
            flags,
            levels: [0; 5],
            border: self.border,
            reserved: [0; 12],
        }
    }
}

runtime! {
    fn cudaMallocArray(to: Out<Handle>, channels: In<Channels>, width: usize, height: usize, flags: u32) {
        allocate(to, channels, Extent { width, height, depth: 0 }, flags)
    }
    fn cudaMalloc3DArray(to: Out<Handle>, channels: In<Channels>, extent: Extent, flags: u32) {
        allocate(to, channels, extent, flags)
    }
    fn cudaFreeArray(array: Handle) {
        context()?;
        match array {
            0 => Ok(()),
            _ => driver::cuArrayDestroy(array),
        }
    }
    fn cudaArrayGetInfo(channels: Out<Channels>, extent: Out<Extent>, flags: Out<u32>, array: Handle) {
        let volume = described(array)?;
        let Volume { width, height, depth, .. } = volume;
        channels.put_if_asked(Channels::of(volume));
        extent.put_if_asked(Extent { width, height, depth });
        flags.put_if_asked(volume.flags);
        Ok(())
    }
    fn cudaGetChannelDesc(to: Out<Channels>, array: Handle) { to.check()?; to.put(Channels::of(described(array)?)) }
    fn cudaCreateTextureObject(to: Out<u64>, resource: In<Resource>, reading: In<Reading>, view: In<u32>) {
        context()?;
        let (resource, reading) = (resource.get()?.of_driver()?, reading.get()?.of_driver());
        driver::cuTexObjectCreate(to, In::of(&resource), In::of(&reading), view)
    }
    fn cudaCreateTextureObject_v2(to: Out<u64>, resource: In<Resource>, reading: In<Reading>, view: In<u32>) {
        context()?;
        let (resource, reading) = (resource.get()?.of_driver()?, reading.get()?.of_driver());
        driver::cuTexObjectCreate(to, In::of(&resource), In::of(&reading), view)
    }
    fn cudaDestroyTextureObject(texture: u64) [cuTexObjectDestroy]
    fn cudaCreateSurfaceObject(to: Out<u64>, resource: In<Resource>) {
        context()?;
        let resource = resource.get()?.of_driver()?;
        driver::cuSurfObjectCreate(to, In::of(&resource))
    }
    fn cudaDestroySurfaceObject(surface: u64) [cuSurfObjectDestroy]
}

/// The function that returns a structure.
pub(crate) const PLAIN_ROWS: &[Row] = &[Row {
    name: "cudaCreateChannelDesc",
    address: || cudaCreateChannelDesc as *const () as usize,
}];

/// Describes channels by their bits.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the runtime's interface")]
pub(crate) extern "C" fn cudaCreateChannelDesc(
    x: i32,
    y: i32,
    z: i32,
    w: i32,
    kind: u32,
) -> Channels {
    Channels {
        bits: [x, y, z, w],
        kind,
    }
}
