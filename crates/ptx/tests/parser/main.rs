//! PTX as text parsed to typed instructions, and errors that say where a text is wrong.

mod common;
mod corpus;
mod errors;
mod families;
mod module;
mod page;
mod robust;
mod spans;
