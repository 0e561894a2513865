//! Texture and surface objects: an image and how it is read, in the layout that the engine reads.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use engine::image::{BYTES, Beyond, Channel, Image};

use crate::allocations::{self, Kind, allocate, check};
use crate::array::{Array, array};
use crate::context::current;
use crate::findings::say;
use crate::handles::{Handle, lock};
use crate::status::{Answer, Status};

/// `CUDA_RESOURCE_DESC`: the words that a kind has none of are not read.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: u32,
    /// An array's handle or an address.
    of: u64,
    format: u32,
    channels: u32,
    /// Bytes of plain memory, elements of a row.
    width: usize,
    height: usize,
    pitch: usize,
    rest: [u64; 11],
    flags: u32,
}

/// `CUresourcetype`
const ARRAY: u32 = 0;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

/// `CUDA_TEXTURE_DESC`
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reading {
    beyond: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    filter_of_levels: u32,
    levels: [f32; 3],
    border: [f32; 4],
    reserved: [u32; 12],
}

/// `CU_TRSF_READ_AS_INTEGER`, `CU_TRSF_NORMALIZED_COORDINATES`, `CU_TRSF_SRGB`
const HAS_INTEGERS: u32 = 1;
const IS_NORMALIZED: u32 = 2;
const IS_SRGB: u32 = 0x10;

/// A texture or surface object.
struct Object {
    context: Handle,
    resource: Resource,
    /// Of textures.
    reading: Option<Reading>,
    /// It stays for as long as the object.
    _array: Option<Arc<Array>>,
}

/// Objects by their handles, which are addresses of their descriptions.
static ALL: LazyLock<Mutex<HashMap<u64, Object>>> = LazyLock::new(Mutex::default);

/// `CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT` and `.._PITCH_ALIGNMENT`
const ALIGNMENT: u64 = 512;
const PITCH: usize = 32;

/// Most elements of a texture of plain memory.
const MOST_PLAIN: usize = 1 << 28;

fn image(resource: &Resource) -> Answer<(Image, Option<Arc<Array>>)> {
    let plain = |width: usize, height: usize, pitch: usize| {
        let channel = Channel::of(resource.format).ok_or(Status::INVALID_VALUE)?;
        let is_aligned = resource.of.is_multiple_of(ALIGNMENT) && pitch.is_multiple_of(PITCH);
        if !matches!(resource.channels, 1 | 2 | 4) || resource.of == 0 || !is_aligned {
            return Err(Status::INVALID_VALUE);
        }
        let bytes = match resource.kind {
            LINEAR => width,
            _ => pitch
                .checked_mul(height.saturating_sub(1))
                .and_then(|it| it.checked_add(width))
                .ok_or(Status::INVALID_VALUE)?,
        };
        check("cuTexObjectCreate", (resource.of, bytes as u64), true)?;
        let element = (channel.bytes() * resource.channels) as usize;
        Ok(Image {
            start: resource.of,
            pitches: [pitch as u64, 0],
            sizes: [
                (width / element).min(MOST_PLAIN) as u32,
                height.min(MOST_PLAIN) as u32,
                1,
            ],
            channel,
            channels: resource.channels as u8,
            beyond: [Beyond::Clamp; 3],
            is_linear: false,
            is_normalized: false,
            has_integers: false,
            is_plain: resource.kind == LINEAR,
            border: [0.0; 4],
        })
    };
    match resource.kind {
        ARRAY => {
            let array = array(resource.of as Handle)?;
            let image = Image {
                start: array.start,
                pitches: array.pitches(),
                sizes: array.sizes,
                channel: array.channel,
                channels: array.channels(),
                beyond: [Beyond::Clamp; 3],
                is_linear: false,
                is_normalized: false,
                has_integers: false,
                is_plain: false,
                border: [0.0; 4],
            };
            Ok((image, Some(array)))
        }
        LINEAR => Ok((plain(resource.width, 1, 0)?, None)),
        PITCHED => {
            let channel = Channel::of(resource.format).ok_or(Status::INVALID_VALUE)?;
            let row = resource
                .width
                .checked_mul((channel.bytes() * resource.channels) as usize)
                .ok_or(Status::INVALID_VALUE)?;
            if row > resource.pitch || resource.height == 0 {
                return Err(Status::INVALID_VALUE);
            }
            Ok((plain(row, resource.height, resource.pitch)?, None))
        }
        _ => {
            say("a texture of several levels is not emulated");
            Err(Status::NOT_SUPPORTED)
        }
    }
}

impl Reading {
    /// Has an image read so.
    fn apply(&self, image: &mut Image) -> Answer {
        if self.flags & IS_SRGB != 0 {
            say("a texture of sRGB is not emulated");
            return Err(Status::NOT_SUPPORTED);
        }
        for (beyond, &mode) in image.beyond.iter_mut().zip(&self.beyond) {
            *beyond = Beyond::of(mode).ok_or(Status::INVALID_VALUE)?;
        }
        image.is_linear = match self.filter {
            0 => false,
            // Elements that are read by number are not mixed.
            1 => !image.is_plain,
            _ => return Err(Status::INVALID_VALUE),
        };
        image.is_normalized = self.flags & IS_NORMALIZED != 0;
        image.has_integers = self.flags & HAS_INTEGERS != 0;
        image.border = self.border;
        let is_whole = !matches!(image.channel, Channel::Half | Channel::Float);
        let is_wide = image.channel.bytes() == 4;
        if image.is_linear && is_whole && (image.has_integers || is_wide) {
            return Err(Status::INVALID_VALUE);
        }
        Ok(())
    }
}

fn create(resource: Resource, reading: Option<Reading>) -> Answer<u64> {
    let context = current()?;
    let (mut image, array) = image(&resource)?;
    match &reading {
        Some(reading) => reading.apply(&mut image)?,
        None if array.as_ref().is_some_and(|it| it.is_for_surfaces()) => {}
        None => return Err(Status::INVALID_VALUE),
    }
    let handle = allocate(&context, BYTES as u64, Kind::Device)?;
    let to = std::ptr::with_exposed_provenance_mut::<[u8; BYTES]>(handle as usize);
    // SAFETY: it was allocated with so many bytes, and nobody else knows it yet.
    unsafe { to.write_unaligned(image.encode()) };
    let object = Object {
        context: context.handle,
        resource,
        reading,
        _array: array,
    };
    lock(&ALL).insert(handle, object);
    Ok(handle)
}

fn destroy(handle: u64, is_texture: bool) -> Answer {
    current()?;
    let mut all = lock(&ALL);
    match all.get(&handle) {
        Some(object) if object.reading.is_some() == is_texture => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    let gone = all.remove(&handle);
    drop(all);
    drop(gone);
    allocations::free(handle, |it| it == Kind::Device)
}

/// Ends all objects of a context, and gives back what they hold.
pub(crate) fn end_all_of(context: Handle) {
    let gone: Vec<(u64, Object)> = lock(&ALL)
        .extract_if(|_, it| it.context == context)
        .collect();
    for (handle, object) in gone {
        drop(object);
        let _ = allocations::free(handle, |it| it == Kind::Device);
    }
}

fn object<T>(handle: u64, of: impl FnOnce(&Object) -> Option<T>) -> Answer<T> {
    current()?;
    lock(&ALL)
        .get(&handle)
        .and_then(of)
        .ok_or(Status::INVALID_VALUE)
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out};

    driver! {
        fn cuTexObjectCreate(to: Out<u64>, resource: In<Resource>, reading: In<Reading>, view: In<u32>) {
            to.check()?;
            if !view.is_null() && view.get()? != 0 {
                say("cuTexObjectCreate: a view of another format is not emulated");
                return Err(Status::NOT_SUPPORTED);
            }
            to.put(create(resource.get()?, Some(reading.get()?))?)
        }
        fn cuTexObjectDestroy(handle: u64) { destroy(handle, true) }
        fn cuTexObjectGetResourceDesc(to: Out<Resource>, handle: u64) {
            to.put(object(handle, |it| it.reading.map(|_| it.resource))?)
        }
        fn cuTexObjectGetTextureDesc(to: Out<Reading>, handle: u64) { to.put(object(handle, |it| it.reading)?) }
        fn cuSurfObjectCreate(to: Out<u64>, resource: In<Resource>) { to.check()?; to.put(create(resource.get()?, None)?) }
        fn cuSurfObjectDestroy(handle: u64) { destroy(handle, false) }
        fn cuSurfObjectGetResourceDesc(to: Out<Resource>, handle: u64) {
            to.put(object(handle, |it| it.reading.is_none().then_some(it.resource))?)
        }
    }
}
