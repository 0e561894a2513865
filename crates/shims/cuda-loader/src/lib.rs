//! The CUDA driver's entry points, forwarded to `libcuda.so.1` opened at run time.
//!
//! `cust` links against the driver's library, so a program that uses it neither links where there
//! is no CUDA nor starts where there is no driver. This crate defines the functions that `cust`
//! needs; each opens the driver on first use. One binary then builds and starts everywhere, and
//! where there is no driver the first call answers "no device".
//!
//! All calls pass one gate, where [`record`] counts and times them.
//!
//! A module that is loaded while this is there can say where a kernel panicked: [`panic()`].
//!
//! A program needs only to depend on this crate and to call [`driver`] once, to say why there is
//! no driver.

mod context;
mod entry;
mod forward;
mod gate;
pub mod newer;
mod record;
mod result;

pub use context::make_current;
pub use entry::{DriverError, driver};
pub use gate::{Call, pass, record, unrecorded};
pub use record::{Panic, PanicRecord, panic};
