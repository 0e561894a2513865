//! An access that cannot be made.

use super::place::Place;
use crate::finding_kind::FindingKind;

/// An access that cannot be made: the first of its warp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {bytes} bytes at {place}", .kind.name())]
pub struct Fault {
    /// The kind.
    pub kind: FindingKind,
    /// The lane whose address it is.
    pub lane: u32,
    /// Bytes of the access.
    pub bytes: u32,
    /// Where.
    pub place: Box<Place>,
}
