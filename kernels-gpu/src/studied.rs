//! Kernels over vectors as the occupancy study launches them: for blocks of any size, and with 1 to 8
//! loads of 16 bytes of a thread in flight, which is what changes the registers that a thread takes.
//! The work is that of the kernels that users launch.

use cuda_std::prelude::*;

use crate::ceilings::stream::Vector;
use crate::elementwise::{map_in_blocks, zip_in_blocks};
use crate::functions::{Axpy, Scale};
use crate::norm::norm_in_blocks;

const WIDTH: usize = size_of::<Vector>() / size_of::<f32>();

/// [`elementwise::map`](crate::elementwise::map) of [`Scale`], with `ILP` vectors of a thread in
/// flight.
///
/// # Safety
/// `y` has room for `x.len()` vectors and is apart from `x`; both are aligned to 16 bytes. The grid
/// has one dimension.
#[kernel(instances(scale_ilp1<1>, scale_ilp2<2>, scale_ilp4<4>, scale_ilp8<8>))]
pub unsafe fn scale<const ILP: usize>(x: &[Vector], y: *mut Vector, factor: f32) {
    let block = thread::block_dim_x() as usize;
    let (from, to, len) = (x.as_ptr().cast(), y.cast(), x.len() * WIDTH);
    // SAFETY: the same contract.
    unsafe { map_in_blocks::<f32, WIDTH, _, ILP>(block, Scale { factor }, from, to, len) }
}

/// [`elementwise::zip`](crate::elementwise::zip) of [`Axpy`], with `ILP` vectors of each array of a
/// thread in flight.
///
/// # Safety
/// As for [`scale()`], and `z` is as long as `x` and as aligned.
#[kernel(instances(axpy_ilp1<1>, axpy_ilp2<2>, axpy_ilp4<4>, axpy_ilp8<8>))]
pub unsafe fn axpy<const ILP: usize>(x: &[Vector], z: &[Vector], y: *mut Vector, factor: f32) {
    let block = thread::block_dim_x() as usize;
    let (from, and, len) = (x.as_ptr().cast(), z.as_ptr().cast(), x.len() * WIDTH);
    // SAFETY: the same contract.
    unsafe {
        zip_in_blocks::<f32, WIDTH, _, ILP>(block, Axpy { factor }, from, and, y.cast(), len);
    }
}

/// [`norm::nrm2`](crate::norm::nrm2) with `ILP` vectors of a thread in flight.
///
/// # Safety
/// As for [`norm::nrm2`](crate::norm::nrm2), in blocks of any number of whole warps.
#[kernel(instances(nrm2_ilp1<1>, nrm2_ilp2<2>, nrm2_ilp4<4>, nrm2_ilp8<8>))]
pub unsafe fn nrm2<const ILP: usize>(
    x: &[Vector],
    result: *mut f32,
    partials: *mut [f64; 1],
    ticket: *mut u32,
) {
    let block = thread::block_dim_x() as usize;
    let x = x.as_flattened();
    // SAFETY: the same contract.
    unsafe { norm_in_blocks::<f32, WIDTH, 1, ILP>(block, x, result, partials, ticket) }
}

#[cfg(not(target_arch = "nvptx64"))]
pub use host::{axpys, norms, scales};

/// The host's side: entries to launch the kernels.
#[cfg(not(target_arch = "nvptx64"))]
mod host {
    use cuda_std::launch::Entry;

    use super::*;

    macro_rules! tables {
        ($($(#[$doc:meta])* $name:ident = $first:ident $($ilp:literal $kernel:ident)*;)*) => {$(
            $(#[$doc])*
            pub fn $name(ilp: u32) -> Option<Entry<$first>> {
                Some(match ilp {
                    1 => $first::entry(),
                    $($ilp => $kernel::entry().with_signature(),)*
                    _ => return None,
                })
            }
        )*};
    }

    tables! {
        /// The instance of [`scale()`] with this ILP, if there is one.
        scales = scale_ilp1 2 scale_ilp2 4 scale_ilp4 8 scale_ilp8;
        /// The instance of [`axpy()`] with this ILP, if there is one.
        axpys = axpy_ilp1 2 axpy_ilp2 4 axpy_ilp4 8 axpy_ilp8;
        /// The instance of [`nrm2()`] with this ILP, if there is one.
        norms = nrm2_ilp1 2 nrm2_ilp2 4 nrm2_ilp4 8 nrm2_ilp8;
    }
}
