//! A recorded process run again, as it was or with a change: what would a change save?
//!
//! The host's threads are sequences of steps, each some time of its own and a call. Work of devices takes as long as it
//! took, in the order of its stream, after the events that its stream waits for; one copy of each direction runs at a time,
//! and one kernel unless the recording has several at once. A call that waited does so again, for the same work, whenever
//! that ends.

mod change;
mod plan;
mod run;

pub(super) use change::{Change, is_large};
pub(super) use plan::Plan;
