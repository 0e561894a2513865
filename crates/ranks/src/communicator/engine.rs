//! The engines that carry collectives out.

use std::ffi::c_void;

use ridgepoint_driver::Stream;

use crate::error::RankError;
use crate::nccl::group::Group;

/// The engine that carries collectives out.
pub(super) enum Engine {
    /// Messages of the ranks' connection: emulated devices.
    Host,
    Nccl(Group),
}

/// A collective's arguments as NCCL takes them.
pub(crate) struct Arguments {
    pub(crate) from: *const c_void,
    pub(crate) to: *mut c_void,
    /// Elements: of one rank, where a collective gathers or scatters.
    pub(crate) count: usize,
    /// NCCL's number of their type.
    pub(crate) element: i32,
}

impl Engine {
    pub(super) fn name(&self) -> String {
        match self {
            Engine::Host => "the host".to_owned(),
            Engine::Nccl(group) => format!("NCCL {}", group.version()),
        }
    }

    pub(super) fn synchronize(&self, stream: &Stream<'_>) -> Result<(), RankError> {
        match self {
            Engine::Host => Ok(stream.synchronize()?),
            Engine::Nccl(group) => group.synchronize(stream),
        }
    }
}
