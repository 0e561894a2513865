//! The prediction of a sweep's launches for a GPU that need not be present.

use cuda_builder::resources::Report;

use crate::model::GpuRoofs;

/// The GPU that rows of an emulated sweep are placed under.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The GPU and its roofs.
    pub roofs: GpuRoofs,
    /// The report of `ptxas` on the kernels, where there is one.
    pub report: Option<Report>,
}
