//! Copies of operands whose rows no tensor map describes.

use std::marker::PhantomData;

use cuda_std::launch::{Signature, Slice, SliceMut};
use gemm_kernels::pack::{self, COLUMNS, ROWS, Shape, THREADS};
use ridgepoint_driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Prepared, Stream};

use crate::error::Size;
use crate::matrix::Matrix;
use crate::product::Element;

/// Copies of rows begin at multiples of so many bytes: lines of the caches.
const ALIGN: usize = 128;
/// The alignment that tensor maps ask of the beginning of a matrix, and of the distance of its rows, in bytes.
const MAP_ALIGN: usize = 16;
/// Blocks along x: enough to fill a GPU. Each takes several rows.
const MAX_BLOCKS: usize = 4096;

/// The signature of [`pack`](gemm_kernels::pack::pack).
struct Pack<U>(PhantomData<U>);

impl<U: 'static> Signature for Pack<U> {
    type Arguments<'a> = (Slice<'a, U>, SliceMut<'a, U>, Shape);
}

/// An operand that is copied before each product, into memory of the product's own.
pub(crate) struct Packed<'a, T: Element> {
    from: Matrix<'a, T>,
    copy: DeviceBuffer<T>,
    shape: Shape,
    kernel: Kernel<'a>,
}

enum Kernel<'a> {
    Bytes1(Prepared<'a, Pack<u8>>),
    Bytes2(Prepared<'a, Pack<u16>>),
    Bytes4(Prepared<'a, Pack<u32>>),
    Bytes8(Prepared<'a, Pack<u64>>),
}

/// Whether the matrix has elements, and no tensor map describes it.
pub(crate) fn must_be_packed<T>(matrix: &Matrix<'_, T>) -> bool {
    let Size(rows, columns) = matrix.size;
    if rows == 0 || columns == 0 {
        return false;
    }
    let bytes = [matrix.view.as_ptr().addr(), matrix.pitch * size_of::<T>()];
    bytes
        .into_iter()
        .any(|bytes| !bytes.is_multiple_of(MAP_ALIGN))
}

impl<'a, T: Element> Packed<'a, T> {
    /// The operand, and its copy, which is filled by [`Packed::launch`].
    pub(crate) fn new(
        device: &'a Device,
        from: Matrix<'a, T>,
    ) -> Result<(Self, Matrix<'a, T>), DriverError> {
        let Size(rows, columns) = from.size;
        let pitch = columns.next_multiple_of(ALIGN / size_of::<T>());
        let copy = device.buffer_uninitialized(rows * pitch)?;
        // SAFETY: the product keeps the buffer as long as the map that is made of the view.
        let view = unsafe { Slice::from_raw(copy.slice(..).as_ptr(), rows * pitch) };
        let view = match copy.slice(..).home() {
            // SAFETY: it is the memory's own.
            Some(home) => unsafe { view.of(home) },
            None => view,
        };
        let shape = Shape {
            rows: rows as u32,
            columns: columns as u32,
            pitch: from.pitch as u32,
            copy_pitch: pitch as u32,
        };
        let mut config =
            LaunchConfig::blocks(rows.div_ceil(ROWS as usize).min(MAX_BLOCKS) as u64, THREADS);
        config.grid[1] = columns.div_ceil(COLUMNS as usize) as u64;
        let kernel = match size_of::<T>() {
            1 => Kernel::Bytes1(device.prepare(pack::pack_1::entry().with_signature(), config)?),
            2 => Kernel::Bytes2(device.prepare(pack::pack_2::entry().with_signature(), config)?),
            4 => Kernel::Bytes4(device.prepare(pack::pack_4::entry().with_signature(), config)?),
            _ => Kernel::Bytes8(device.prepare(pack::pack_8::entry().with_signature(), config)?),
        };
        let packed = Packed {
            from,
            copy,
            shape,
            kernel,
        };
        Ok((packed, Matrix::new(view, rows, columns).with_pitch(pitch)))
    }

    /// Copies the operand.
    ///
    /// # Safety
    /// As for [`Product::launch`](crate::Product::launch).
    pub(crate) unsafe fn launch(&self, stream: &Stream<'_>) -> Result<(), DriverError> {
        // SAFETY: the caller's contract; the shape is that of both.
        unsafe {
            match &self.kernel {
                Kernel::Bytes1(kernel) => kernel.launch(stream, &self.arguments()),
                Kernel::Bytes2(kernel) => kernel.launch(stream, &self.arguments()),
                Kernel::Bytes4(kernel) => kernel.launch(stream, &self.arguments()),
                Kernel::Bytes8(kernel) => kernel.launch(stream, &self.arguments()),
            }
        }
    }

    /// Both matrices, as elements of the same size.
    fn arguments<U>(&self) -> (Slice<'_, U>, SliceMut<'_, U>, Shape) {
        debug_assert_eq!(size_of::<U>(), size_of::<T>());
        let (from, copy) = (&self.from.view, self.copy.slice(..));
        // SAFETY: the same memory for the time of a launch: that of the operand, which is only read, and that of the copy, which
        // is the product's own. Elements of both types are any bits.
        unsafe {
            let read = Slice::from_raw(from.as_ptr().cast(), from.len());
            let written = SliceMut::from_raw(copy.as_ptr().cast_mut().cast(), copy.len());
            (
                match from.home() {
                    Some(home) => read.of(home),
                    None => read,
                },
                match copy.home() {
                    Some(home) => written.of(home),
                    None => written,
                },
                self.shape,
            )
        }
    }
}
