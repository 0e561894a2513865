//! What a GPU that need not be present would allow a sweep's launches.

use cuda_builder::resources::Report;

use crate::model::GpuRoofs;

/// The GPU that rows of an emulated sweep are placed under.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The GPU and its roofs.
    pub roofs: GpuRoofs,
    /// What `ptxas` says of the kernels, where there is a report.
    pub report: Option<Report>,
}
