//! Textures and surfaces: what a handle describes, and which elements a fetch is of.
//!
//! A handle is the address of 128 bytes that the driver makes, on the emulator in a layout of its own:
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | address of element 0 |
//! | 8 | 8 | ASCII `RPIMAGES` |
//! | 16 | 2 x 8 | bytes from one row to the next, from one plane or layer to the next |
//! | 32 | 3 x 4 | width, height, depth or layers, in elements; 1 where it has no such dimension |
//! | 44 | 1 | `CUarray_format` of a channel |
//! | 45 | 1 | channels: 1, 2 or 4 |
//! | 46 | 3 x 1 | `CUaddress_mode` of each dimension |
//! | 49 | 1 | `CUfilter_mode`: 0 the nearest element, 1 linear |
//! | 50 | 1 | 1: coordinates are normalized |
//! | 51 | 1 | 1: integers are read as they are, not as 0 to 1 or -1 to 1 |
//! | 52 | 1 | 1: plain memory, of which elements are read by number alone; 0 behind the end |
//! | 53 | 11 | zero |
//! | 64 | 4 x 4 | the colour of the border |
//! | 80 | 48 | zero |
//!
//! How coordinates become elements is that of the CUDA C++ Programming Guide, "Texture Fetching", and its arithmetic that of an H200: [`filter`].

mod channel;
#[cfg(test)]
mod tests;

use super::filter;

pub use channel::Channel;

/// Bytes of a description.
pub const BYTES: usize = 128;

const MARK: &[u8; 8] = b"RPIMAGES";

/// The treatment of coordinates outside of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The image again; where coordinates are not normalized, the edge.
    Wrap,
    /// The edge.
    Clamp,
    /// The image, mirrored; where coordinates are not normalized, the edge.
    Mirror,
    /// The colour of the border.
    Border,
}

impl Beyond {
    /// The `CUaddress_mode` of this number.
    pub fn of(number: u32) -> Option<Beyond> {
        Some(match number {
            0 => Beyond::Wrap,
            1 => Beyond::Clamp,
            2 => Beyond::Mirror,
            3 => Beyond::Border,
            _ => return None,
        })
    }
}

/// An image, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Image {
    /// The address of element 0.
    pub start: u64,
    /// Bytes from one row to the next, and from one plane or layer to the next.
    pub pitches: [u64; 2],
    /// Elements along each dimension.
    pub sizes: [u32; 3],
    /// Of each channel.
    pub channel: Channel,
    /// 1, 2 or 4.
    pub channels: u8,
    /// For each dimension.
    pub beyond: [Beyond; 3],
    /// Whether neighbours are mixed.
    pub is_linear: bool,
    /// Whether coordinates are from 0 to 1.
    pub is_normalized: bool,
    /// Whether integers are read as they are.
    pub has_integers: bool,
    /// Whether it is plain memory.
    pub is_plain: bool,
    /// The colour of the border.
    pub border: [f32; 4],
}

impl Image {
    /// Returns the description that kernels read.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut raw = [0u8; BYTES];
        let mut put = |at: usize, value: &[u8]| raw[at..at + value.len()].copy_from_slice(value);
        put(0, &self.start.to_le_bytes());
        put(8, MARK);
        for (index, pitch) in self.pitches.iter().enumerate() {
            put(16 + 8 * index, &pitch.to_le_bytes());
        }
        for (index, size) in self.sizes.iter().enumerate() {
            put(32 + 4 * index, &size.to_le_bytes());
        }
        put(44, &[self.channel.number(), self.channels]);
        put(46, &self.beyond.map(|it| it as u8));
        let flags = [
            self.is_linear,
            self.is_normalized,
            self.has_integers,
            self.is_plain,
        ];
        put(49, &flags.map(u8::from));
        for (index, value) in self.border.iter().enumerate() {
            put(64 + 4 * index, &value.to_bits().to_le_bytes());
        }
        raw
    }

    /// Reads one; none where the bytes are no image's.
    pub(crate) fn of(bytes: &[u8; BYTES]) -> Option<Image> {
        let number = |at: usize, count: usize| {
            let all = bytes[at..at + count].iter().rev();
            all.fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if &bytes[8..16] != MARK || !matches!(number(45, 1), 1 | 2 | 4) {
            return None;
        }
        let beyond = |at: usize| Beyond::of(number(46 + at, 1) as u32);
        let flag = |at| number(at, 1) == 1;
        Some(Image {
            start: number(0, 8),
            pitches: [16, 24].map(|at| number(at, 8)),
            sizes: [32, 36, 40].map(|at| number(at, 4) as u32),
            channel: Channel::of(number(44, 1) as u32)?,
            channels: number(45, 1) as u8,
            beyond: [beyond(0)?, beyond(1)?, beyond(2)?],
            is_linear: flag(49),
            is_normalized: flag(50),
            has_integers: flag(51),
            is_plain: flag(52),
            border: [64, 68, 72, 76].map(|at| f32::from_bits(number(at, 4) as u32)),
        })
    }

    /// Bytes of an element: 1 to 16.
    pub(crate) fn element(&self) -> u32 {
        self.channel.bytes() * u32::from(self.channels)
    }

    /// The channels of an element.
    fn parts(&self, bits: u128) -> [Option<u32>; 4] {
        let width = self.channel.bytes() * 8;
        std::array::from_fn(|at| {
            let is_there = at < usize::from(self.channels);
            is_there.then(|| (bits >> (at as u32 * width)) as u32 & (u32::MAX >> (32 - width)))
        })
    }

    /// An element of the border's colour.
    fn edge(&self) -> u128 {
        let width = self.channel.bytes() * 8;
        let has_integers = self.has_integers && self.channel.is_integer();
        let parts = self.border.iter().take(self.channels.into()).rev();
        parts.fold(0, |all, &colour| {
            let bits = match has_integers {
                true => colour.to_bits() & (u32::MAX >> (32 - width)),
                false => self.channel.nearest(colour),
            };
            all << width | u128::from(bits)
        })
    }

    /// The channels of an element as numbers; those that it has not are 0, and the last 1.
    fn floats(&self, bits: u128) -> [f32; 4] {
        let parts = self.parts(bits);
        let has_integers = self.has_integers && self.channel.is_integer();
        std::array::from_fn(|at| match parts[at] {
            Some(part) if has_integers => f32::from_bits(self.channel.integer(part)),
            // The filter stands before, and leaves what it is given.
            Some(part) if self.is_linear => self.channel.of_wide(self.channel.wide(part)),
            Some(part) => self.channel.float(part),
            None if at == 3 => 1.0,
            None => 0.0,
        })
    }

    /// The channels of an element as integers.
    fn integers(&self, bits: u128) -> [u32; 4] {
        let parts = self.parts(bits);
        std::array::from_fn(|at| match parts[at] {
            Some(part) => self.channel.integer(part),
            None => u32::from(at == 3),
        })
    }

    /// The index of a place along a dimension; none where it is beyond the border.
    fn index(&self, dimension: usize, at: i64) -> Option<u32> {
        let size = i64::from(self.sizes[dimension]);
        let inside = match self.beyond[dimension] {
            Beyond::Wrap if self.is_normalized => at.rem_euclid(size.max(1)),
            Beyond::Mirror if self.is_normalized => {
                let at = at.rem_euclid(2 * size.max(1));
                at.min(2 * size - 1 - at)
            }
            Beyond::Border if !(0..size).contains(&at) => return None,
            _ => at.clamp(0, (size - 1).max(0)),
        };
        Some(inside as u32)
    }

    /// The address of an element.
    fn address(&self, [x, y, z]: [u32; 3]) -> u64 {
        let x = u64::from(x) * u64::from(self.element());
        let y = u64::from(y).wrapping_mul(self.pitches[0]);
        let z = u64::from(z).wrapping_mul(self.pitches[1]);
        self.start.wrapping_add(x).wrapping_add(y).wrapping_add(z)
    }

    /// Whether there is more of the image beyond its end.
    fn repeats(&self, dimension: usize) -> bool {
        self.is_normalized && matches!(self.beyond[dimension], Beyond::Wrap | Beyond::Mirror)
    }

    /// A coordinate, in steps of the filter's.
    fn steps(&self, dimension: usize, coordinate: f32) -> i64 {
        let size = self.sizes[dimension];
        let size = self.is_normalized.then_some(size);
        filter::steps(coordinate, self.beyond[dimension], size)
    }
}

/// How a fetch names its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Geometry {
    /// So many coordinates, behind a layer or not.
    Flat { dimensions: usize, is_layered: bool },
    /// A direction from the middle of a cube, behind a layer or not.
    Cube { is_layered: bool },
}

/// The result of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The four channels, as numbers where it is so declared.
    Channels { are_floats: bool },
    /// One channel of the four elements around.
    Gather { channel: usize, are_floats: bool },
}

/// Coordinates of a lane: the bits of registers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// Numbers of elements.
    Whole([i32; 3]),
    /// As the image takes them.
    Real([f32; 3]),
}

impl Image {
    /// Fetches at a place, from elements that `read` returns, all of them inside of the image.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn fetch<E>(
        &self,
        (geometry, way): (Geometry, Way),
        (layer, place): (u32, Place),
        mut read: impl FnMut(u64) -> Result<u128, E>,
    ) -> Result<[u32; 4], E> {
        let (dimensions, layer, place) = self.flat(geometry, layer, place);
        let last = self.sizes[2].saturating_sub(1);
        let mut element = |[x, y, z]: [Option<u32>; 3]| -> Result<u128, E> {
            let z = match layer {
                Some(layer) => Some(layer.min(last)),
                None => z,
            };
            match (x, y, z) {
                (Some(x), Some(y), Some(z)) => read(self.address([x, y, z])),
                _ => Ok(self.edge()),
            }
        };
        let place = match place {
            Place::Whole([x, ..]) if self.is_plain => {
                let is_inside = (0..i64::from(self.sizes[0])).contains(&x.into());
                return match is_inside {
                    true => Ok(self.one(way, element([Some(x as u32), Some(0), Some(0)])?)),
                    false => Ok([0; 4]),
                };
            }
            Place::Whole(at) => {
                let index = |dimension: usize| match dimension < dimensions {
                    true => self.index(dimension, at[dimension].into()),
                    false => Some(0),
                };
                return Ok(self.one(way, element([index(0), index(1), index(2)])?));
            }
            Place::Real(place) => place,
        };
        // A line is the plane of height 1 at y = 0, half of which is beyond its border.
        let dimensions = match (dimensions, layer) {
            (1, None) => 2,
            _ => dimensions,
        };
        let is_gather = matches!(way, Way::Gather { .. });
        let mixes =
            is_gather || self.is_linear && !matches!(way, Way::Channels { are_floats: false });
        // The two elements along each dimension, and the second's share.
        let along: [([Option<u32>; 2], u32); 3] = std::array::from_fn(|it| {
            if it >= dimensions {
                return ([Some(0); 2], 0);
            }
            let steps = self.steps(it, place[it]);
            let (first, share) = match mixes {
                true => filter::between(steps),
                false => (filter::nearest(steps), 0),
            };
            let both = [first, first + 1].map(|at| self.index(it, at));
            // Clamped, they are one element.
            let is_one = both[0] == both[1] && !self.repeats(it);
            (both, if is_one { 0 } else { share })
        });
        let mut corner =
            |[x, y, z]: [usize; 3]| element([along[0].0[x], along[1].0[y], along[2].0[z]]);
        if let Way::Gather {
            channel,
            are_floats,
        } = way
        {
            // From the lower left on, counter-clockwise.
            const CORNERS: [[usize; 3]; 4] = [[0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]];
            let mut all = [0; 4];
            for (to, at) in all.iter_mut().zip(CORNERS) {
                *to = self.one(Way::Channels { are_floats }, corner(at)?)[channel];
            }
            return Ok(all);
        }
        if !mixes {
            return Ok(self.one(way, corner([0; 3])?));
        }
        let mut sum = [0f64; 4];
        let weights = filter::weights(along.map(|it| it.1));
        for (index, weight) in weights.into_iter().enumerate() {
            if weight == 0 {
                continue;
            }
            let parts = self.parts(corner([index & 1, index >> 1 & 1, index >> 2])?);
            for (sum, part) in sum.iter_mut().zip(parts) {
                let part = part.map_or(0.0, |bits| self.channel.wide(bits));
                *sum += f64::from(weight) / 256.0 * part;
            }
        }
        Ok(std::array::from_fn(|at| match at < self.channels.into() {
            true => self.channel.of_wide(sum[at]).to_bits(),
            false if at == 3 => 1f32.to_bits(),
            false => 0,
        }))
    }

    /// An element as a kernel gets it.
    fn one(&self, way: Way, bits: u128) -> [u32; 4] {
        let are_floats = match way {
            Way::Channels { are_floats } | Way::Gather { are_floats, .. } => are_floats,
        };
        match are_floats {
            true => self.floats(bits).map(f32::to_bits),
            false => self.integers(bits),
        }
    }

    /// The place on a plane of what may be a direction: how many coordinates count, and the layer.
    fn flat(&self, geometry: Geometry, layer: u32, place: Place) -> (usize, Option<u32>, Place) {
        let (is_layered, place) = match (geometry, place) {
            (
                Geometry::Flat {
                    dimensions,
                    is_layered,
                },
                place,
            ) => {
                return (dimensions, is_layered.then_some(layer), place);
            }
            (Geometry::Cube { is_layered }, Place::Real(direction)) => (is_layered, direction),
            (Geometry::Cube { is_layered }, Place::Whole(at)) => {
                (is_layered, at.map(|it| it as f32))
            }
        };
        let (face, at) = face(place);
        // The nearest cube, of six planes each.
        let last = (self.sizes[2] / 6).saturating_sub(1);
        let first = if is_layered { layer.min(last) * 6 } else { 0 };
        let scale = |dimension: usize| match self.is_normalized {
            true => 1.0,
            false => self.sizes[dimension] as f32,
        };
        let at = [at[0] * scale(0), at[1] * scale(1), 0.0];
        (2, Some(first.saturating_add(face)), Place::Real(at))
    }

    /// The address of bytes of a surface at a place whose first coordinate counts bytes; none where they are not in it.
    pub(crate) fn surface(
        &self,
        dimensions: usize,
        layer: Option<u32>,
        at: [i32; 3],
        bytes: u32,
    ) -> Option<u64> {
        let row = i64::from(self.sizes[0]) * i64::from(self.element());
        let first = i64::from(at[0]);
        let mut is_inside = first >= 0 && first + i64::from(bytes) <= row;
        for (dimension, &at) in at.iter().enumerate().take(dimensions).skip(1) {
            is_inside &= (0..i64::from(self.sizes[dimension])).contains(&at.into());
        }
        let z = match layer {
            Some(layer) => {
                is_inside &= layer < self.sizes[2];
                layer
            }
            None if dimensions == 3 => at[2] as u32,
            None => 0,
        };
        let y = if dimensions >= 2 { at[1] as u32 } else { 0 };
        is_inside.then(|| self.address([0, y, z]).wrapping_add(first as u64))
    }

    /// The nearest place in a surface, of so many bytes.
    pub(crate) fn nearest(&self, at: [i32; 3], bytes: u32) -> [i32; 3] {
        let row = i64::from(self.sizes[0]) * i64::from(self.element());
        let last = |dimension: usize| i64::from(self.sizes[dimension]) - 1;
        let clamp = |at: i32, last: i64| i64::from(at).clamp(0, last.max(0)) as i32;
        [
            clamp(at[0], row - i64::from(bytes)),
            clamp(at[1], last(1)),
            clamp(at[2], last(2)),
        ]
    }
}

/// The face of a cube that a direction meets, and where on it, from 0 to 1. Edges are z's, then y's.
fn face([x, y, z]: [f32; 3]) -> (u32, [f32; 2]) {
    let (of_x, of_y, of_z) = (x.abs(), y.abs(), z.abs());
    let (face, far, across, down) = if of_z >= of_x && of_z >= of_y {
        if z >= 0.0 {
            (4, of_z, x, -y)
        } else {
            (5, of_z, -x, -y)
        }
    } else if of_y >= of_x {
        if y >= 0.0 {
            (2, of_y, x, z)
        } else {
            (3, of_y, x, -z)
        }
    } else if x >= 0.0 {
        (0, of_x, -z, -y)
    } else {
        (1, of_x, z, -y)
    };
    let at = |along: f32| match far == 0.0 {
        true => 0.5,
        false => along * (0.5 / far) + 0.5,
    };
    (face, [at(across), at(down)])
}
