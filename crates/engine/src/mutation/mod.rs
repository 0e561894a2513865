//! Mutations: PTX that is changed in one place, so that tests can be asked whether they notice.
//!
//! [`Mutants::of`] lists the changes of a text, with what of its synchronization dataflow proves superfluous. A process that has
//! the variable [`FILE`] makes the [`Change`] in that file in each module of its text that it loads, and leaves a mark
//! ([`has_been_made`]). Other processes ask once for each module whether the variable is there.

mod change;
mod changes;
mod floats;
mod listing;
mod site;
mod superfluous;
mod zero_bits;

pub(crate) use change::changed;
pub use change::{Change, FILE, has_been_made};
pub use changes::Operator;
pub use listing::{Mutant, Mutants, Place, Superfluous};
