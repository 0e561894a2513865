//! Read by the tests, and never compiled.
//!
//! ```
//! use planted::{Exported, Trait, inner, named};
//!
//! named();
//! # unnamed();
//! let one = Exported::new();
//! one.named();
//! one.trait_named();
//! // unnamed() is in a comment, and "Elsewhere" in a text.
//! assert_eq!(inner::get_narrow(), 1, "unnamed, Elsewhere");
//! ```

pub mod inner_late;
mod inner_of_a_folder;
pub mod inner;

macro_rules! late {
    ($name:ident) => {
        pub fn $name() {}
    };
}
use late;

pub use inner::Exported;
pub use inner_of_a_folder::Hidden;
pub use other::Elsewhere;
pub use std::vec::Vec;

/// # Errors
/// [`Exported`]: it is named.
///
/// # Panics
/// Never.
pub fn named() {}

/// ```no_run
/// planted::unnamed();
/// ```
///
/// # Errors
/// The driver's, or there is too little memory.
pub fn unnamed() {}

/// ```
/// # use planted::shown_where_nobody_looks;
/// let declared = 1;
/// ```
pub fn shown_where_nobody_looks() {}

pub(crate) fn of_this_crate() {}

#[doc(hidden)]
pub fn of_macros() {}

#[cfg(target_arch = "nvptx64")]
pub fn on_a_gpu() {}

pub trait Trait {
    fn trait_named(&self);
    fn unnamed(&self);
}

impl Trait for Exported {
    fn trait_named(&self) {}
    fn unnamed(&self) {}
}
