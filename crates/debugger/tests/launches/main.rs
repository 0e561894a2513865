//! The debugger by itself: launches of the engine, and a front that is a test.

mod backwards;
mod endings;
mod frames;
mod looking;
mod slow;
mod stopping;
mod support;
mod variables;
