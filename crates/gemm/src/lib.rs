//! Matrix products on Hopper's tensor cores: `C = activation(alpha A B + beta C + bias)`, of `bf16`, `f16`, `tf32` and `e4m3`, with
//! sums in `f32`, and of `f64`.
//!
//! ```no_run
//! use cuda_std::bf16;
//! use gemm::{Matrix, MatrixMut, Product, Right};
//! use ridgepoint_driver::{Device, DeviceChoice, Stream};
//!
//! # fn main() -> Result<(), gemm::GemmError> {
//! let device = Device::open(&DeviceChoice::Cuda(0), gemm::ptx())?;
//! let (m, n, k) = (1000, 520, 1048);
//! let a = device.buffer_filled(m * k, bf16::from_f32(0.5))?;
//! let b = device.buffer_filled(n * k, bf16::from_f32(2.0))?;
//! let mut c = device.buffer_filled(m * n, bf16::NAN)?;
//!
//! let product = Product::prepare(
//!     &device,
//!     Matrix::new(a.slice(..), m, k),
//!     Right::ByColumns(Matrix::new(b.slice(..), n, k)),
//!     MatrixMut::new(c.slice_mut(..), m, n),
//! )?;
//! let stream = Stream::new(&device)?;
//! // SAFETY: the buffers live until the stream has been synchronised, and nothing else uses them.
//! unsafe { product.launch(&stream) }?;
//! stream.synchronize()?;
//! drop(product);
//! assert_eq!(c.to_vec()?, vec![bf16::from_f32(1048.0); m * n]);
//! # Ok(())
//! # }
//! ```
//!
//! `gemm-kernels` has the kernels, and `docs/tensor-cores.md` how they came to be.

mod error;
mod finish;
mod maps;
mod matrix;
mod packed;
mod plan;
mod product;
mod sharing;
mod tiling;

pub use error::{GemmError, Size};
pub use finish::{Activation, Factor, Finish, ResultElement};
pub use matrix::{Matrix, MatrixMut, Order, Right};
pub use plan::{Copied, Fused, Kernel, Plan};
pub use product::{Element, Product};
use ridgepoint_driver::Embedded;

/// The PTX of the kernels, for `sm_90a`: what a device is opened with that multiplies.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}
