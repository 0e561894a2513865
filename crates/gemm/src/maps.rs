//! Tensor maps of the matrices.

use cuda_std::tma::TensorMap;
use gemm_kernels::pipeline::WARPGROUP_ROWS;
use ridgepoint_driver::{Device, DeviceBuffer, Swizzle, TensorElement, TensorLayout};

use crate::error::{GemmError, Size};
use crate::matrix::{Matrix, MatrixMut, same};
use crate::product::Element;

/// The maps of `A` and of `B`, in boxes of so many rows, and of `C` if it is stored by copies, in boxes as the kernels
/// have them; of a matrix that has no elements, or is not there, one that nothing uses.
pub(crate) fn maps<T: Element>(
    device: &Device,
    (a, a_rows): (&Matrix<'_, T>, u32),
    (b, b_rows): (&Matrix<'_, T>, u32),
    c: Option<&MatrixMut<'_, T::Result>>,
) -> Result<DeviceBuffer<TensorMap>, GemmError> {
    let all = [
        map(device, a, a_rows)?,
        map(device, b, b_rows)?,
        match c {
            Some(c) => map(device, &c.as_read(), WARPGROUP_ROWS)?,
            None => TensorMap::from_bits([0; 16]),
        },
    ];
    Ok(device.buffer_from(&all)?)
}

fn map<T: TensorElement>(
    device: &Device,
    matrix: &Matrix<'_, T>,
    rows: u32,
) -> Result<TensorMap, GemmError> {
    const ROW_BYTES: u32 = 128;
    let Size(all_rows, columns) = matrix.size;
    if all_rows == 0 || columns == 0 {
        return Ok(TensorMap::from_bits([0; 16]));
    }
    let tile = [ROW_BYTES / size_of::<T>() as u32, rows];
    let layout = TensorLayout::dense([columns as u64, all_rows as u64], tile)
        .with_pitch([1, matrix.pitch as u64])
        .with_swizzle(Swizzle::Bytes128);
    Ok(device.tensor_map(same(&matrix.view), &layout)?)
}
