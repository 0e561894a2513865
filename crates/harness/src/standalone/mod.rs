//! A kernel of any PTX file, launched by a description of it alone: no program knows its signature.
//!
//! ```
//! use ridgepoint_harness::driver::{Device, DeviceChoice};
//! use ridgepoint_harness::standalone::{Description, Standalone, Step};
//!
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("fill.ptx");
//! std::fs::write(&file, ".version 8.0\n.target sm_90\n.address_size 64\n
//!     .visible .entry fill(.param .u64 p) {
//!         .reg .b32 %r1; .reg .b64 %rd<4>;
//!         ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;
//!         mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
//!         st.global.u32 [%rd3], %r1; ret;
//!     }")?;
//! let description = Description {
//!     file: Some(file),
//!     launch: Step {
//!         grid: Some("1".parse()?),
//!         block: Some("4".parse()?),
//!         arguments: vec!["u32[4]".parse()?],
//!         ..Step::default()
//!     },
//!     ..Description::default()
//! };
//! let standalone = Standalone::read(description.complete()?)?;
//! let device = Device::open(&DeviceChoice::Cpu, &[])?;
//! let after = standalone.run(&device)?;
//! assert_eq!(after[0].shown(), "0, 1, 2, 3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod argument;
mod assembler;
mod description;
mod element;
mod expected;
mod lock_free;
mod memory;
mod place;
mod run;
mod signature;
mod structure;
mod texture;
mod variable;

use std::io;
use std::path::PathBuf;

pub use argument::Argument;
pub use assembler::Refusal;
pub use description::{Description, Extents, Launch, Output, Step};
pub use element::Element;
pub use expected::{Expected, Unexpected};
pub use memory::{After, Change};
pub use place::Place;
pub use run::Standalone;
pub use variable::Setting;

use crate::driver::DriverError;

/// Why a described launch is not done, or what became of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StandaloneError {
    /// The description is wrong, or is not of the kernel.
    #[error("{0}")]
    Usage(String),
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A file is no PTX.
    #[error("{}: {error}", path.display())]
    Ptx {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        error: ptx::ParseError,
    },
    /// `ptxas` refuses a file.
    #[error("{}: {refusal}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The reason.
        refusal: Refusal,
    },
    /// The driver refuses, or the kernel failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
}
