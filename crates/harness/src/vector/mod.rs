//! Vectors on a device: norms, scaling and products, prepared once, whose results stay there.

mod norm;
mod product;
mod scale;

pub use norm::{Norm, Normalize};
pub use product::Product;
pub use scale::{Divide, Scaled};

use kernels_gpu::vector::Element;

use crate::driver::DeviceValue;

/// An element type that there are kernels for, in buffers.
pub trait Real: Element<Sums: DeviceValue> + DeviceValue {}
impl<T: Element<Sums: DeviceValue> + DeviceValue> Real for T {}
