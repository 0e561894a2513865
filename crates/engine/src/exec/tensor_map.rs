//! Tensor maps: 128 bytes that the driver makes, on the emulator in a layout of its own.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 8 | address of element 0 |
//! | 8 | 8 | ASCII `RPTENSOR` |
//! | 16 | 4 x 8 | stride in bytes of dimensions 1 to 4; 0 beyond the rank |
//! | 48 | 5 x 4 | size of dimensions 0 to 4; 0 is 2^32 |
//! | 68 | 5 x 2 | box: elements of a dimension, 1 to 256 |
//! | 78 | 5 x 1 | element strides, 1 to 8 |
//! | 83 | 1 | rank less one, 0 to 4 |
//! | 84 | 1 | `CUtensorMapDataType` |
//! | 85 | 1 | `CUtensorMapSwizzle`: 0 none, 1, 2, 3: 32, 64, 128 bytes |
//! | 86 | 1 | outside of the tensor: 0 zeros, 1 NaN |
//! | 87 | 41 | zero |
//!
//! CUTLASS and Triton clear bit 21 of the second word of small tensors' maps, which drivers up to 13.1 set wrongly: in this layout
//! it is clear, and no part of an address.

use ptx::Type;

use crate::check::Part;

/// Most dimensions.
pub const RANK: usize = 5;

/// Bytes of a tensor map.
pub const BYTES: usize = 128;

pub(crate) const MARK: &[u8; 8] = b"RPTENSOR";

// Where the fields are.
pub(crate) const ADDRESS: u32 = 0;
pub(crate) const STRIDES: u32 = 16;
pub(crate) const SIZES: u32 = 48;
pub(crate) const BOX: u32 = 68;
pub(crate) const STEPS: u32 = 78;
pub(crate) const LAST_DIMENSION: u32 = 83;
pub(crate) const ELEMENT: u32 = 84;
pub(crate) const SWIZZLE: u32 = 85;
pub(crate) const OUTSIDE: u32 = 86;

/// A map as a driver is told of it: all of these are within the driver's limits.
#[derive(Clone, Copy, Debug)]
pub struct Described<'a> {
    /// The address of element 0.
    pub address: u64,
    /// Bytes from one to the next along each dimension but the first, which is dense.
    pub strides: &'a [u64],
    /// Elements along each dimension.
    pub sizes: &'a [u64],
    /// Elements of a box along each dimension.
    pub tile: &'a [u32],
    /// Element strides along each dimension.
    pub steps: &'a [u32],
    /// `CUtensorMapDataType`.
    pub element: u8,
    /// `CUtensorMapSwizzle`.
    pub swizzle: u8,
    /// The elements outside of the tensor: 0 zeros, 1 NaN.
    pub outside: u8,
}

impl Described<'_> {
    /// Returns the map that kernels read.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut raw = [0u8; BYTES];
        let mut put =
            |at: u32, value: &[u8]| raw[at as usize..][..value.len()].copy_from_slice(value);
        put(ADDRESS, &self.address.to_le_bytes());
        put(ADDRESS + 8, MARK);
        for (index, stride) in (0..RANK as u32 - 1).zip(self.strides) {
            put(STRIDES + 8 * index, &stride.to_le_bytes());
        }
        let each = self.sizes.iter().zip(self.tile).zip(self.steps);
        for (index, ((size, tile), step)) in (0..RANK as u32).zip(each) {
            put(SIZES + 4 * index, &(*size as u32).to_le_bytes());
            put(BOX + 2 * index, &(*tile as u16).to_le_bytes());
            put(STEPS + index, &[*step as u8]);
        }
        let last = self.sizes.len().saturating_sub(1) as u8;
        put(
            LAST_DIMENSION,
            &[last, self.element, self.swizzle, self.outside],
        );
        raw
    }
}

/// A tensor in global memory, and the box that copies move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TensorMap {
    start: u64,
    strides: [u64; RANK],
    sizes: [u64; RANK],
    counts: [u64; RANK],
    steps: [u64; RANK],
    pub(crate) rank: usize,
    pub(crate) ty: Type,
    swizzle: Swizzle,
    fills_nan: bool,
}

/// How 16 bytes in shared memory change places: some bits of their address are combined with higher ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swizzle {
    None,
    /// Within 32, 64, 128 bytes.
    By32,
    By64,
    By128,
}

impl Swizzle {
    /// Where what would lie at an address of shared memory lies.
    #[inline(always)]
    pub(crate) fn of(self, address: u64) -> u64 {
        let bits = match self {
            Swizzle::None => 0,
            Swizzle::By32 => 1,
            Swizzle::By64 => 3,
            Swizzle::By128 => 7,
        };
        address ^ (address >> 7 & bits) << 4
    }
}

impl TensorMap {
    /// Reads one.
    ///
    /// # Errors
    /// The bytes are no tensor map that the emulator reads: the reason, in words.
    pub(crate) fn of(bytes: &[u8; BYTES]) -> Result<TensorMap, String> {
        let number = |at: u32, count: usize| {
            let all = bytes[at as usize..][..count].iter().rev();
            all.fold(0u64, |sum, &byte| sum << 8 | u64::from(byte))
        };
        if &bytes[8..16] != MARK {
            return Err("no tensor map of the emulator's driver is at its address".to_owned());
        }
        let rank = number(LAST_DIMENSION, 1) as usize + 1;
        if !(1..=RANK).contains(&rank) {
            return Err(format!("a tensor map of {rank} dimensions"));
        }
        let ty = match number(ELEMENT, 1) {
            0 => Type::U8,
            1 => Type::U16,
            2 => Type::U32,
            3 => Type::S32,
            4 => Type::U64,
            5 => Type::S64,
            6 => Type::F16,
            7 | 10 | 11 | 12 => Type::F32,
            8 => Type::F64,
            9 => Type::Bf16,
            other => return Err(format!("a tensor map of the data type {other}")),
        };
        let swizzle = match number(SWIZZLE, 1) {
            0 => Swizzle::None,
            1 => Swizzle::By32,
            2 => Swizzle::By64,
            3 => Swizzle::By128,
            other => return Err(format!("a tensor map of the swizzle {other}")),
        };
        // A driver makes no others, but kernels may; within these limits no product below wraps around.
        let (start, row) = (number(ADDRESS, 8), number(BOX, 2) * u64::from(ty.bytes()));
        if !start.is_multiple_of(16) {
            return Err(format!(
                "a tensor map of a tensor at {start:#x}, no multiple of 16"
            ));
        }
        for dimension in 1..rank as u32 {
            let stride = number(STRIDES + 8 * (dimension - 1), 8);
            if !stride.is_multiple_of(16) {
                return Err(format!(
                    "a tensor map whose dimension {dimension} has a stride of {stride} bytes, no multiple of 16"
                ));
            }
        }
        for dimension in 0..rank as u32 {
            let (elements, step) = (number(BOX + 2 * dimension, 2), number(STEPS + dimension, 1));
            if !(1..=256).contains(&elements) || !(1..=8).contains(&step) {
                return Err(format!(
                    "a tensor map whose box has {elements} elements in dimension {dimension}, with a \
                     stride of {step}; 1 to 256 and 1 to 8 are allowed"
                ));
            }
        }
        if !row.is_multiple_of(16) {
            return Err(format!(
                "a tensor map whose box has rows of {row} bytes, no multiple of 16"
            ));
        }
        let each = |of: &dyn Fn(u32) -> u64| {
            std::array::from_fn(|it| if it < rank { of(it as u32) } else { 1 })
        };
        Ok(TensorMap {
            start,
            strides: each(&|it| match it {
                0 => u64::from(ty.bytes()),
                _ => number(STRIDES + 8 * (it - 1), 8),
            }),
            sizes: each(&|it| match number(SIZES + 4 * it, 4) {
                0 => 1 << 32,
                size => size,
            }),
            steps: each(&|it| number(STEPS + it, 1)),
            counts: each(&|it| number(BOX + 2 * it, 2).div_ceil(number(STEPS + it, 1))),
            rank,
            ty,
            swizzle,
            fills_nan: number(OUTSIDE, 1) == 1,
        })
    }

    /// Bytes of the box in shared memory.
    pub(crate) fn box_bytes(&self) -> u64 {
        self.counts.iter().product::<u64>() * u64::from(self.ty.bytes())
    }

    /// The required alignment in shared memory.
    pub(crate) fn alignment(&self) -> u64 {
        match self.swizzle {
            Swizzle::None => 16,
            _ => 128,
        }
    }

    /// The bytes of what lies outside, repeated.
    pub(crate) fn filling(&self) -> u128 {
        let nan: u128 = match self.ty {
            Type::F16 => 0x7fff,
            Type::Bf16 => 0x7fff,
            Type::F32 => 0x7fff_ffff,
            Type::F64 => 0x7fff_ffff_ffff_ffff,
            _ => 0,
        };
        let bits = self.ty.bits();
        let all = (0..128 / bits).fold(0, |all, at| all | nan << (at * bits));
        if self.fills_nan { all } else { 0 }
    }

    /// Returns the pieces that a copy of the box at these coordinates moves, between the tensor and shared memory from
    /// an offset on.
    pub(crate) fn pieces(&self, coordinates: &[i64], shared: u64) -> Vec<Part> {
        let element = u64::from(self.ty.bytes());
        let row_bytes = self.counts[0] * element;
        let rows: u64 = self.counts[1..].iter().product();
        let mut pieces = Vec::with_capacity((rows * row_bytes).div_ceil(16) as usize);
        for row in 0..rows {
            let mut rest = row;
            let mut is_inside = true;
            let mut address = self.start;
            for (dimension, &first) in coordinates.iter().enumerate().take(self.rank).skip(1) {
                let index = rest % self.counts[dimension];
                rest /= self.counts[dimension];
                let at = first + (index * self.steps[dimension]) as i64;
                is_inside &= (0..self.sizes[dimension] as i64).contains(&at);
                address = address.wrapping_add((at as u64).wrapping_mul(self.strides[dimension]));
            }
            let mut at = 0;
            while at < row_bytes {
                let linear = shared + row * row_bytes + at;
                let column = coordinates[0] + (at / element * self.steps[0]) as i64;
                let from = address.wrapping_add((column as u64).wrapping_mul(element));
                let inside = |last: i64| is_inside && column >= 0 && last < self.sizes[0] as i64;
                let whole = 16 / element as i64;
                // 16 bytes at once where all lie on one side.
                let outside = !is_inside || column + whole <= 0 || column >= self.sizes[0] as i64;
                let is_dense = self.steps[0] == 1 && at % 16 == 0 && row_bytes - at >= 16;
                let bytes = match is_dense {
                    true if outside => 16,
                    true if from % 16 == 0 && inside(column + whole - 1) => 16,
                    _ => element,
                };
                pieces.push(Part {
                    global: (bytes == element || !outside)
                        .then_some(from)
                        .filter(|_| inside(column)),
                    shared: self.swizzle.of(linear),
                    bytes: bytes as u32,
                });
                at += bytes;
            }
        }
        pieces
    }

    /// Adds the bytes that a store moves besides, as a GPU does: 16 bytes that are partly inside of a row are written
    /// whole, with zeros behind its end. Names those bytes in the pieces, and gives where they are in global memory.
    pub(crate) fn behind(&self, coordinates: &[i64], pieces: &mut [Part]) -> Vec<(u64, u32)> {
        let element = u64::from(self.ty.bytes());
        let (mut behind, size) = (Vec::new(), self.sizes[0] as i64);
        if self.steps[0] != 1 {
            return behind;
        }
        // The end of what the last piece has written, and how many bytes are left of its 16.
        let (mut end, mut rest, mut row) = (0, 0, 0);
        let row_bytes = self.counts[0] * element;
        for piece in pieces {
            let (column, bytes) = (row, u64::from(piece.bytes));
            row = (row + bytes) % row_bytes;
            match piece.global {
                Some(from) => {
                    let is_last = coordinates[0] + ((column + bytes) / element) as i64 == size;
                    (end, rest) = (from.wrapping_add(bytes), 0);
                    if is_last && row != 0 && self.start.is_multiple_of(16) {
                        rest = end.wrapping_neg() % 16;
                    }
                }
                None if rest >= bytes && column != 0 => {
                    piece.global = Some(end);
                    behind.push((end, piece.bytes));
                    (end, rest) = (end.wrapping_add(bytes), rest - bytes);
                }
                None => rest = 0,
            }
        }
        behind
    }
}

/// Returns the pieces that a copy of adjacent bytes moves. All are multiples of 16.
pub(crate) fn adjacent(global: u64, shared: u64, bytes: u64) -> Vec<Part> {
    let piece = |at: u64| Part {
        global: Some(global.wrapping_add(at)),
        shared: shared + at,
        bytes: 16,
    };
    (0..bytes).step_by(16).map(piece).collect()
}
