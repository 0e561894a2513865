//! Programmatic dependent launch: a grid that begins before the one in front of it in the stream has ended.
//! It needs `sm_90`, and a launch that allows it (`ridgepoint_driver::Prepared::overlapping`); in others both functions do nothing.
//!
//! ```
//! use cuda_std::grid_dependency;
//! use cuda_std::prelude::*;
//!
//! /// One of several launches, each of which reads what the one before wrote.
//! #[kernel]
//! pub fn double_behind(x: &[f32], mut y: Output<f32>) {
//!     // What does not depend on the launch before goes here.
//!     grid_dependency::wait();
//!     for (x, y) in y.own_with(x) {
//!         *y = 2.0 * x;
//!     }
//!     grid_dependency::launch_dependents();
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(double_behind::PARAMETERS.len(), 2);
//! ```

use ptx_std_macros::gpu_only;

/// Says that the next grid of the stream may begin. It does so when every block has said it or ended.
#[gpu_only]
#[inline(always)]
pub fn launch_dependents() {
    crate::arch::tensor::launch_dependents();
}

/// Waits until the grids that this one depends on have ended and what they wrote is visible.
#[gpu_only]
#[inline(always)]
pub fn wait() {
    crate::arch::tensor::grid_dependency_wait();
}
