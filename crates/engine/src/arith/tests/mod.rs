//! Against references that are not of this crate: an H200, LLVM's APFloat, the ISA's own definitions.

mod approximations;
mod definitions;
mod features;
mod hardware;
mod reference;
