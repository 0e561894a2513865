//! Tensor maps, in the layout that the engine reads.

use engine::tensor_map::{BYTES, Described, RANK};

use crate::arguments::{In, Out};
use crate::findings::say;
use crate::status::{Answer, Status};

/// Bytes of an element by `CUtensorMapDataType`: those that the engine copies.
const ELEMENT_BYTES: [u64; 13] = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4];

/// A map as `cuTensorMapEncodeTiled` describes it.
struct Tiled {
    element: u32,
    address: u64,
    sizes: Vec<u64>,
    strides: Vec<u64>,
    tile: Vec<u32>,
    steps: Vec<u32>,
    interleave: u32,
    swizzle: u32,
    outside: u32,
}

impl Tiled {
    /// Why the driver refuses it.
    fn refuse(&self) -> Option<&'static str> {
        let Some(&bytes) = ELEMENT_BYTES.get(self.element as usize) else {
            return Some("an element of a type that the emulator does not copy");
        };
        let row = u64::from(self.tile[0]) * bytes;
        let span = match self.swizzle {
            0 => u64::MAX,
            1 => 32,
            2 => 64,
            3 => 128,
            _ => return Some("a swizzle that the emulator does not know"),
        };
        let is_size = |&it: &u64| (1..=1 << 32).contains(&it);
        let is_stride = |&it: &u64| it.is_multiple_of(16) && it < 1 << 40;
        let wrong = [
            (
                self.interleave != 0,
                "an interleaved layout, which the emulator does not copy",
            ),
            (
                !self.address.is_multiple_of(16) || self.address == 0,
                "an address that is no multiple of 16",
            ),
            (
                !self.sizes.iter().all(is_size),
                "a size that is not 1 to 2^32",
            ),
            (
                !self.strides.iter().all(is_stride),
                "a stride that is no multiple of 16 below 2^40",
            ),
            (
                !self.tile.iter().all(|it| (1..=256).contains(it)),
                "a box of more than 256 elements, or of none",
            ),
            (
                !self.steps.iter().all(|it| (1..=8).contains(it)),
                "an element stride that is not 1 to 8",
            ),
            (
                !row.is_multiple_of(16),
                "a box whose rows are no multiples of 16 bytes",
            ),
            (
                row > span,
                "a box whose rows are longer than what is permuted",
            ),
            (
                self.outside > 1,
                "a value outside that is neither zero nor NaN",
            ),
        ];
        wrong.into_iter().find(|it| it.0).map(|it| it.1)
    }

    fn encode(&self) -> Answer<[u8; BYTES]> {
        if let Some(reason) = self.refuse() {
            say(&format!("cuTensorMapEncodeTiled: {reason}"));
            return Err(Status::INVALID_VALUE);
        }
        Ok(Described {
            address: self.address,
            strides: &self.strides,
            sizes: &self.sizes,
            tile: &self.tile,
            steps: &self.steps,
            element: self.element as u8,
            swizzle: self.swizzle as u8,
            outside: self.outside as u8,
        }
        .encode())
    }
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuTensorMapEncodeTiled(
            to: Out<[u8; BYTES]>, element: u32, rank: u32, address: u64, sizes: In<u64>, strides: In<u64>, tile: In<u32>,
            steps: In<u32>, interleave: u32, swizzle: u32, _promotion: u32, outside: u32,
        ) {
            to.check()?;
            let rank = rank as usize;
            if !(1..=RANK).contains(&rank) { return Err(Status::INVALID_VALUE) }
            let (sizes, strides) = (sizes.all(rank)?, strides.all(rank - 1)?);
            let (tile, steps) = (tile.all(rank)?, steps.all(rank)?);
            to.put(Tiled { element, address, sizes, strides, tile, steps, interleave, swizzle, outside }.encode()?)
        }
        fn cuTensorMapReplaceAddress(map: Out<[u8; BYTES]>, address: u64) {
            if address == 0 || !address.is_multiple_of(16) { return Err(Status::INVALID_VALUE) }
            let mut bytes = map.get()?;
            bytes[..8].copy_from_slice(&address.to_le_bytes());
            map.put(bytes)
        }
    }
}
