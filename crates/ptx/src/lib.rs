//! A parser of NVIDIA's PTX, as rustc (LLVM), nvcc and Triton write it for sm_70 to sm_100 (PTX 6.0 to 9.0).
//!
//! [`Module`] is what a text declares: variables with their bytes, and functions whose [`Body`] has
//! registers, labels and [`Instruction`]s. Names are resolved to numbers, constants to bits, `.loc` lines to
//! [`Location`]s. What `ptxas` refuses for its types, modifiers, state spaces, scopes or calls is refused here, too
//! ([`check`]).

mod check;
mod error;
mod instruction;
mod module;
mod names;
mod operand;
mod parse;
mod spans;
mod special;
mod types;
mod version;

pub use check::check;
pub use error::ParseError;
pub use instruction::*;
pub use module::*;
pub use operand::*;
pub use parse::{parse, parse_undeclared, parse_with_spans};
pub use spans::*;
pub use types::*;
