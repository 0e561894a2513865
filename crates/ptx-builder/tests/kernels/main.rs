//! Kernel crates built to PTX: what comes of them, what is refused, and what `ptxas` says of it.
//!
//! Tests run side by side in one process and leave its environment as it is. Those that change it are in
//! `tests/environment`.

mod arches;
mod build;
mod checkouts;
mod hopper;
mod lints;
mod machine_code;
mod moving;
mod options;
mod panics;
mod rewritten;
#[path = "../support/mod.rs"]
mod support;
