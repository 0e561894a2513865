//! Fetches from textures, loads and stores of surfaces.

use ptx::Order;

use super::access::{Access, Act, Host, Space, in_space, observe, resolve};
use super::failure::Cause;
use super::image::{BYTES, Geometry, Image, Place, Way};
use super::lanewise::{read, set_lane};
use super::op::{Context, Op};
use super::registers::{LANES, lanes_of};
use crate::memory::{Cached, Lanes};

/// How an access reaches an image.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    /// Slots of words, x first.
    pub(crate) coordinates: Vec<u32>,
    /// A slot of words.
    pub(crate) layer: Option<u32>,
    pub(crate) of: Of,
}

/// Of what.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    Texture {
        geometry: Geometry,
        way: Way,
        /// Whether the coordinates are numbers of elements.
        are_whole: bool,
    },
    Surface {
        dimensions: usize,
        outside: Outside,
    },
}

/// The treatment of accesses outside of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outside {
    /// Ends the launch.
    Trap,
    /// Is of the nearest element.
    Clamp,
    /// Reads zeros, and writes nothing.
    Zero,
}

/// Why a lane is not done.
enum Ended {
    By(Cause),
    /// The checks have told of it.
    Told,
}

/// Executes an access to an image.
///
/// # Safety
/// `aux` is the index of an access that reaches an image; `a` holds handles.
pub(crate) unsafe fn execute(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let access = unsafe { &*context.at.accesses.add(op.aux as usize) };
    let Some(reach) = &access.image else { return };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let handles = unsafe { *context.slot::<u64>(op.a) };
    let handles = handles.map(|it| it.wrapping_add_signed(access.offset));
    let mask = context.mask;
    let mut known: Option<(u64, Image)> = None;
    let mut images = [None; LANES];
    for lane in lanes_of(mask) {
        let handle = handles[lane];
        let image = match known {
            Some((of, image)) if of == handle => Ok(image),
            _ => image_at(context, handle),
        };
        match image {
            Ok(image) => {
                known = Some((handle, image));
                images[lane] = Some(image);
            }
            Err(cause) => return fault(context, op, lane, cause),
        }
    }
    // SAFETY: the operation is the one that this function was given, of a verified program.
    unsafe {
        match reach.of {
            Of::Texture {
                geometry,
                way,
                are_whole,
            } => {
                let part = Part {
                    context,
                    op,
                    access,
                    reach,
                };
                part.texture(&images, (geometry, way), are_whole);
            }
            Of::Surface {
                dimensions,
                outside,
            } => {
                let part = Part {
                    context,
                    op,
                    access,
                    reach,
                };
                part.surface(&images, dimensions, outside);
            }
        }
    }
}

fn fault(context: &mut Context<'_>, op: &Op, lane: usize, cause: Cause) {
    let mask = std::mem::replace(&mut context.mask, 1 << lane);
    context.fault(cause, op.instruction);
    context.mask = mask;
}

/// The image of a handle.
fn image_at(context: &Context<'_>, handle: u64) -> Result<Image, Cause> {
    let none = || Cause::misuse(format!("no texture or surface object is at {handle:#x}"));
    let memory = context.at.launch.memory;
    let mut met = Cached::default();
    if !handle.is_multiple_of(BYTES as u64) {
        return Err(none());
    }
    for part in (0..BYTES).step_by(16) {
        let part = handle.wrapping_add(part as u64);
        memory.look_up(part, 16, &mut met).map_err(|_| none())?;
    }
    let from = std::ptr::with_exposed_provenance::<[u8; BYTES]>(handle as usize);
    // SAFETY: looked up above.
    Image::of(&unsafe { from.read_unaligned() }).ok_or_else(none)
}

/// An access that is under way.
struct Part<'a, 'b> {
    context: &'a mut Context<'b>,
    op: &'a Op,
    access: &'a Access,
    reach: &'a Reach,
}

impl Part<'_, '_> {
    /// # Safety
    /// The reach's slots are of their kinds.
    unsafe fn words(&self, lane: usize) -> [u32; 3] {
        let mut words = [0; 3];
        for (word, &slot) in words.iter_mut().zip(&self.reach.coordinates) {
            // SAFETY: the slot is the program's own, of this kind: `exec::verify`, tables.
            *word = unsafe { self.context.slot::<u32>(slot)[lane] };
        }
        words
    }

    /// # Safety
    /// As for [`Part::words`].
    unsafe fn layer(&self, lane: usize) -> Option<u32> {
        // SAFETY: as above.
        self.reach
            .layer
            .map(|slot| unsafe { self.context.slot::<u32>(slot)[lane] })
    }

    /// # Safety
    /// As for [`execute`].
    unsafe fn texture(
        mut self,
        images: &[Option<Image>; LANES],
        how: (Geometry, Way),
        are_whole: bool,
    ) {
        for lane in lanes_of(self.context.mask) {
            let Some(image) = images[lane] else { continue };
            // SAFETY: the slots are those of a verified program, of their kinds.
            let (words, layer) = unsafe { (self.words(lane), self.layer(lane)) };
            let place = match are_whole {
                true => Place::Whole(words.map(u32::cast_signed)),
                false => Place::Real(words.map(f32::from_bits)),
            };
            let part = element_of(self.access, &image, how.1);
            // SAFETY: as above.
            let got = image.fetch(how, (layer.unwrap_or(0), place), |address| unsafe {
                self.element(&part, lane, address)
            });
            match got {
                Ok(all) => {
                    for (data, value) in self.access.data.iter().zip(all) {
                        // SAFETY: as above.
                        unsafe { set_lane(self.context, *data, lane, value.into()) };
                    }
                }
                Err(Ended::By(cause)) => return fault(self.context, self.op, lane, cause),
                Err(Ended::Told) => return,
            }
        }
    }

    /// Reads an element for a lane.
    ///
    /// # Safety
    /// As for [`execute`].
    unsafe fn element(&mut self, part: &Access, lane: usize, address: u64) -> Result<u128, Ended> {
        let mut addresses = [0; LANES];
        addresses[lane] = address;
        let lanes = Lanes::new(&addresses, 1 << lane, part.bytes());
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe {
            let resolved = resolve(self.context, self.op, part, Space::Global, &lanes);
            resolved.map_err(|fault| Ended::By(Cause::Fault(fault)))?;
            if self.context.at.is_observed()
                && !observe(self.context, self.op, part, Space::Global, &lanes)
            {
                return Err(Ended::Told);
            }
        }
        let host = Host::of(self.context, Space::Global, &addresses);
        // SAFETY: the lane's address has been resolved to so many bytes.
        Ok(unsafe { read(host.at(lane), part.bytes(), Order::Weak) })
    }

    /// # Safety
    /// As for [`execute`].
    unsafe fn surface(self, images: &[Option<Image>; LANES], dimensions: usize, outside: Outside) {
        let mask = self.context.mask;
        let bytes = self.access.bytes();
        let (mut addresses, mut inside) = ([0; LANES], 0);
        for lane in lanes_of(mask) {
            let Some(image) = images[lane] else { continue };
            // SAFETY: the slots are those of a verified program, of their kinds.
            let (words, layer) = unsafe { (self.words(lane), self.layer(lane)) };
            let at = words.map(u32::cast_signed);
            let found = image.surface(dimensions, layer, at, bytes);
            let found = match outside {
                Outside::Clamp => found.or_else(|| {
                    let layer = layer.map(|it| it.min(image.sizes[2].saturating_sub(1)));
                    image.surface(dimensions, layer, image.nearest(at, bytes), bytes)
                }),
                Outside::Trap | Outside::Zero => found,
            };
            match found {
                Some(address) => {
                    addresses[lane] = address;
                    inside |= 1 << lane;
                }
                None if outside == Outside::Trap => {
                    let [width, height, depth] = image.sizes;
                    let text = format!(
                        "a surface access of {bytes} bytes at {:?}, outside of {width} by {height} by {depth} elements of {} bytes",
                        &at[..dimensions],
                        image.element()
                    );
                    return fault(self.context, self.op, lane, Cause::misuse(text));
                }
                None => {
                    if matches!(self.access.act, Act::Load { .. }) {
                        for data in &self.access.data {
                            // SAFETY: as above.
                            unsafe { set_lane(self.context, *data, lane, 0) };
                        }
                    }
                }
            }
        }
        if inside == 0 {
            return;
        }
        let mut part = self.access.clone();
        (part.image, part.root) = (None, None);
        // SAFETY: the operation is the one that this function was given, of a verified program; the part has the access's slots.
        unsafe {
            in_space(
                self.context,
                self.op,
                &part,
                Space::Global,
                &addresses,
                inside,
                bytes,
            )
        };
    }
}

/// The read of one element, which no thread of the launch may write: what is undefined of a channel is so in its register.
fn element_of(access: &Access, image: &Image, way: Way) -> Access {
    let registers = match way {
        Way::Channels { .. } => usize::from(image.channels),
        // Of four elements one channel each.
        Way::Gather { .. } => 1,
    };
    let data: Vec<_> = access.data.iter().take(registers).copied().collect();
    Access {
        act: Act::Load {
            signed: false,
            is_read_only: true,
        },
        element: image.element() / data.len() as u32,
        data,
        offset: 0,
        root: None,
        image: None,
        ..access.clone()
    }
}
