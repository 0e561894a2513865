//! Names for a file of workloads: `use ridgepoint::prelude::*;`

pub use crate::driver::{Device, DeviceValue, LaunchConfig};
pub use crate::launch::{Entry, Kernel, Signature, Slice, SliceMut};
pub use crate::model::{Operation, Precision};
pub use crate::workload::{Axis, Case, Point, PointError, Workload, close, from_fn};
