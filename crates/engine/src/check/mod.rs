//! Checks.

mod access;
mod finding;
mod streams;

pub use access::{Access, BlockId, LaunchId, Order, Scope, Strength, What, Who};
pub use finding::{Agent, Class, Finding, Side, Space, Why};
pub use streams::{Event, Operation, Stream, Streams};
