//! Tensor maps: what copies of boxes of tensors go by (`cuda_std::tma`).

use std::ffi::c_void;

use cuda_std::launch::Slice;
use cuda_std::tma::TensorMap;
use cuda_std::wgmma::{E4m3, E5m2, Tf32};
use cuda_std::{bf16, f16};

use super::error::checked;
use super::{Device, DriverError, home, reachable};

/// How a tensor lies in memory, and the box of it that a copy brings.
///
/// Dimensions are counted from the one whose neighbours lie side by side: a matrix in row-major order has columns
/// first, then rows.
///
/// ```
/// use ridgepoint_driver::{Device, DeviceChoice, Outside, Swizzle, TensorLayout};
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// // 100 rows of 60 numbers, 64 apart, in boxes of 16 rows of 32 numbers: 128 bytes.
/// let matrix = device.buffer_zeroed::<f32>(100 * 64)?;
/// let layout = TensorLayout::dense([60, 100], [32, 16]).with_pitch([1, 64]).with_swizzle(Swizzle::Bytes128);
/// let layout = layout.with_outside(Outside::Nan);
/// assert_eq!(layout.tile_bytes::<f32>(), 16 * 128);
/// let maps = device.buffer_from(&[device.tensor_map(matrix.slice(..), &layout)?])?;
/// # let _ = maps; // A kernel takes it as `&TensorMap`.
///
/// // Rows begin at multiples of 16 bytes.
/// let error = device.tensor_map(matrix.slice(..), &layout.with_pitch([1, 63])).expect_err("252 bytes");
/// assert!(error.to_string().contains("tensor map: 252 bytes from one to the next along dimension 1"));
/// # Ok::<(), ridgepoint_driver::DriverError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorLayout<const D: usize> {
    size: [u64; D],
    pitch: [u64; D],
    tile: [u32; D],
    swizzle: Swizzle,
    outside: Outside,
}

/// How the 16-byte pieces of a box are permuted in shared memory, within so many bytes along the first dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Swizzle {
    /// They are not.
    #[default]
    None,
    /// Within 32 bytes.
    Bytes32,
    /// Within 64 bytes.
    Bytes64,
    /// Within 128 bytes.
    Bytes128,
}

/// The values that a copy brings of the parts of a box outside of the tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// Zeros.
    #[default]
    Zero,
    /// NaN, of floats.
    Nan,
}

impl<const D: usize> TensorLayout<D> {
    /// A tensor of `size` elements along each dimension without gaps, in boxes of `tile` elements.
    pub fn dense(size: [u64; D], tile: [u32; D]) -> TensorLayout<D> {
        let mut pitch = [1; D];
        for axis in 1..D {
            pitch[axis] = u64::saturating_mul(pitch[axis - 1], size[axis - 1]);
        }
        TensorLayout {
            size,
            pitch,
            tile,
            swizzle: Swizzle::default(),
            outside: Outside::default(),
        }
    }

    /// The same with `pitch` elements from one to the next along each dimension, 1 along the first.
    #[must_use]
    pub fn with_pitch(self, pitch: [u64; D]) -> Self {
        TensorLayout { pitch, ..self }
    }

    /// The same, permuted in shared memory.
    #[must_use]
    pub fn with_swizzle(self, swizzle: Swizzle) -> Self {
        TensorLayout { swizzle, ..self }
    }

    /// The same with another value outside.
    #[must_use]
    pub fn with_outside(self, outside: Outside) -> Self {
        TensorLayout { outside, ..self }
    }

    /// Bytes of a box in shared memory.
    pub fn tile_bytes<T>(&self) -> u64 {
        let elements = self.tile.iter().map(|&extent| u64::from(extent));
        elements.product::<u64>() * size_of::<T>() as u64
    }

    /// Why there is no such map of `len` elements of `bytes` bytes at `address`.
    fn refuse(&self, address: usize, len: u64, bytes: u64) -> Option<String> {
        const SIZES: u64 = 1 << 32;
        const STRIDES: u64 = 1 << 40;
        if !(1..=5).contains(&D) {
            return Some(format!("{D} dimensions; 1 to 5 are allowed"));
        }
        if !address.is_multiple_of(16) {
            return Some(format!(
                "the tensor begins at {address:#x}, no multiple of 16 bytes"
            ));
        }
        for axis in 0..D {
            let (size, tile) = (self.size[axis], self.tile[axis]);
            let stride = self.pitch[axis].saturating_mul(bytes);
            if !(1..=SIZES).contains(&size) {
                return Some(format!(
                    "{size} elements along dimension {axis}; 1 to {SIZES} are allowed"
                ));
            }
            if !(1..=256).contains(&tile) {
                return Some(format!(
                    "a box of {tile} elements along dimension {axis}; 1 to 256 are allowed"
                ));
            }
            if axis == 0 && self.pitch[0] != 1 {
                return Some(format!(
                    "a pitch of {} along dimension 0, which is dense: 1",
                    self.pitch[0]
                ));
            }
            if axis > 0 && !(stride.is_multiple_of(16) && (1..STRIDES).contains(&stride)) {
                return Some(format!(
                    "{stride} bytes from one to the next along dimension {axis}; multiples of 16 below {STRIDES} are allowed"
                ));
            }
        }
        self.refuse_row(bytes).or_else(|| self.refuse_end(len))
    }

    fn refuse_row(&self, bytes: u64) -> Option<String> {
        let row = u64::from(self.tile[0]) * bytes;
        let span = match self.swizzle {
            Swizzle::None => u64::MAX,
            Swizzle::Bytes32 => 32,
            Swizzle::Bytes64 => 64,
            Swizzle::Bytes128 => 128,
        };
        if !row.is_multiple_of(16) {
            return Some(format!(
                "a box with rows of {row} bytes; multiples of 16 are allowed"
            ));
        }
        (row > span).then(|| format!("a box with rows of {row} bytes; {span} are permuted"))
    }

    fn refuse_end(&self, len: u64) -> Option<String> {
        let steps = self.size.iter().zip(&self.pitch);
        let last = steps.fold(0u64, |last, (&size, &pitch)| {
            last.saturating_add((size - 1).saturating_mul(pitch))
        });
        (last >= len).then(|| {
            format!(
                "the tensor ends {} elements into memory of {len}",
                last.saturating_add(1)
            )
        })
    }
}

/// An element that tensor maps know.
///
/// ```
/// use cuda_std::tma::TensorMap;
/// use ridgepoint_driver::{Device, DeviceBuffer, DeviceChoice, DeviceValue, DriverError, TensorElement, TensorLayout};
///
/// /// Of a vector, in boxes of 64 elements.
/// fn map_of<T: DeviceValue + TensorElement>(x: &DeviceBuffer<T>, device: &Device) -> Result<TensorMap, DriverError> {
///     device.tensor_map(x.slice(..), &TensorLayout::dense([x.len() as u64], [64]))
/// }
///
/// let device = Device::open(&DeviceChoice::Cpu, &[])?;
/// assert!(map_of(&device.buffer_zeroed::<f64>(1000)?, &device).is_ok());
/// # Ok::<(), DriverError>(())
/// ```
pub trait TensorElement: sealed::Sealed {
    /// `CUtensorMapDataType`.
    #[doc(hidden)]
    const TYPE: u32;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($ty:ty = $number:literal;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl TensorElement for $ty {
            const TYPE: u32 = $number;
        }
    )*};
}

elements! {
    u8 = 0;
    i8 = 0;
    E4m3 = 0;
    E5m2 = 0;
    u16 = 1;
    u32 = 2;
    i32 = 3;
    u64 = 4;
    i64 = 5;
    f16 = 6;
    f32 = 7;
    f64 = 8;
    bf16 = 9;
    Tf32 = 11;
}

impl Device {
    /// The map of a tensor in `memory`, for kernels on this device. It is good as long as the memory is there.
    ///
    /// # Errors
    /// [`DriverError::TensorMap`]: copies cannot bring boxes of such a tensor, or the device is older than compute capability 9.0.
    /// [`DriverError::OtherDevice`]: the memory is of a device whose memory this one does not reach. On a GPU also: the driver refuses ([`DriverError::Call`]).
    pub fn tensor_map<T: TensorElement, const D: usize>(
        &self,
        memory: Slice<'_, T>,
        layout: &TensorLayout<D>,
    ) -> Result<TensorMap, DriverError> {
        const OPERATION: &str = "make a tensor map";
        if let Some(of) = memory
            .home()
            .filter(|of| !reachable::reaches(self.home, of))
        {
            return Err(home::other(OPERATION, self.home, "the tensor", of));
        }
        let (address, len) = (memory.as_ptr() as usize, memory.len() as u64);
        let (major, minor) = self.properties.compute_capability;
        let refused = match major {
            ..9 => Some(format!(
                "{} has compute capability {major}.{minor}; copies by maps begin with 9.0",
                self.properties.name
            )),
            _ => layout.refuse(address, len, size_of::<T>() as u64),
        };
        if let Some(reason) = refused {
            return Err(DriverError::TensorMap(reason));
        }
        match &self.gpu {
            Some(gpu) => {
                gpu.context.enter()?;
                encode(OPERATION, address, T::TYPE, size_of::<T>() as u64, layout)
            }
            None => Ok(emulated(address, T::TYPE, size_of::<T>() as u64, layout)),
        }
    }
}

/// The driver's own map.
fn encode<const D: usize>(
    operation: &'static str,
    address: usize,
    element: u32,
    bytes: u64,
    layout: &TensorLayout<D>,
) -> Result<TensorMap, DriverError> {
    /// Whole lines of 128 bytes come to the L2 cache as pairs.
    const L2_256_BYTES: u32 = 3;
    let mut map = TensorMap::from_bits([0; 16]);
    let strides: Vec<u64> = layout.pitch[1..]
        .iter()
        .map(|pitch| pitch * bytes)
        .collect();
    // SAFETY: the map is 128 bytes, aligned to 64; the arrays have an entry for each dimension, strides but for the first.
    let result = unsafe {
        cuda_loader::newer::encode_tensor_map(
            (&raw mut map).cast(),
            element,
            D as u32,
            address as *mut c_void,
            layout.size.as_ptr(),
            strides.as_ptr(),
            layout.tile.as_ptr(),
            [1; D].as_ptr(),
            0,
            layout.swizzle as u32,
            L2_256_BYTES,
            layout.outside as u32,
        )
    };
    checked(operation, result)?;
    Ok(map)
}

/// The map that the emulator reads.
fn emulated<const D: usize>(
    address: usize,
    element: u32,
    bytes: u64,
    layout: &TensorLayout<D>,
) -> TensorMap {
    let strides: Vec<u64> = layout.pitch[1..]
        .iter()
        .map(|pitch| pitch * bytes)
        .collect();
    let map = engine::tensor_map::Described {
        address: address as u64,
        strides: &strides,
        sizes: &layout.size,
        tile: &layout.tile,
        steps: &[1; D],
        element: element as u8,
        swizzle: layout.swizzle as u8,
        outside: layout.outside as u8,
    };
    TensorMap::from_bits(bytemuck::cast(map.encode()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<const D: usize>(layout: TensorLayout<D>) -> String {
        layout.refuse(0x1000, 6400, 4).unwrap_or_default()
    }

    #[test]
    fn what_no_copy_brings_is_refused_with_its_number() {
        let good = TensorLayout::dense([64, 100], [32, 16]).with_swizzle(Swizzle::Bytes128);
        assert_eq!(refusal(good), "");
        let cases = [
            (
                good.with_pitch([1, 66]),
                "264 bytes from one to the next along dimension 1; multiples of 16",
            ),
            (good.with_pitch([2, 64]), "a pitch of 2 along dimension 0"),
            (
                good.with_pitch([1, 68]),
                "the tensor ends 6796 elements into memory of 6400",
            ),
            (
                TensorLayout::dense([64, 0], [32, 16]),
                "0 elements along dimension 1",
            ),
            (
                TensorLayout::dense([64, 100], [32, 257]),
                "a box of 257 elements along dimension 1",
            ),
            (
                TensorLayout::dense([64, 100], [3, 16]),
                "a box with rows of 12 bytes; multiples of 16",
            ),
            (
                TensorLayout {
                    tile: [64, 16],
                    ..good
                },
                "a box with rows of 256 bytes; 128 are permuted",
            ),
        ];
        for (layout, start) in cases {
            assert!(
                refusal(layout).starts_with(start),
                "{} is not {start}",
                refusal(layout)
            );
        }
        let odd = good.refuse(0x1008, 6400, 4).unwrap_or_default();
        assert!(odd.contains("begins at 0x1008"), "{odd}");
    }

    #[test]
    fn the_emulators_map_has_everything_in_its_place() {
        let layout = TensorLayout::dense([60, 100, 7], [32, 16, 1])
            .with_pitch([1, 64, 6400])
            .with_swizzle(Swizzle::Bytes64)
            .with_outside(Outside::Nan);
        let raw: [u8; 128] = bytemuck::cast(emulated(0x1234_5670, 9, 2, &layout).to_bits());
        let word = |at: usize| u64::from_le_bytes(raw[at..at + 8].try_into().expect("8 bytes"));
        assert_eq!(&raw[8..16], b"RPTENSOR");
        // CUTLASS and Triton clear this bit.
        assert_eq!(word(8) & 1 << 21, 0);
        assert_eq!([0, 16, 24, 32].map(word), [0x1234_5670, 128, 12800, 0]);
        assert_eq!(raw[48..60], [60, 0, 0, 0, 100, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(raw[68..74], [32, 0, 16, 0, 1, 0]);
        assert_eq!(raw[78..87], [1, 1, 1, 0, 0, 2, 9, 2, 1]);
        assert_eq!(raw[87..], [0; 41]);
    }

    #[test]
    fn a_dense_tensor_has_no_gaps() {
        let layout = TensorLayout::dense([10, 20, 30], [1, 1, 1]);
        assert_eq!(layout.pitch, [1, 10, 200]);
        assert_eq!(layout.tile_bytes::<f64>(), 8);
    }
}
