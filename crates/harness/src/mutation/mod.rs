//! Mutation testing: which changes of kernels their tests notice.
//!
//! A [`Mutant`] is a change; the answer of the tests to one is an [`Answer`]. A [`Journal`] keeps answers for the next time,
//! [`Accepted`] has the survivors that no test need notice, and a [`Report`] tells all by line.

mod accepted;
mod journal;
mod plan;
mod report;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use crate::driver::mutation::{
    Change, FILE, Mutant, Mutants, Operator, Place, Superfluous, has_been_made,
};
pub use accepted::{Accepted, Stale};
pub use journal::Journal;
pub use plan::in_turns;
pub use report::{Report, Row, Share};

/// The answer of tests to a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// A test has failed.
    Killed {
        /// Which one.
        test: String,
        /// By what.
        by: Killer,
    },
    /// None has.
    Survived,
    /// It is no PTX, and says nothing about the tests.
    Refused,
    /// It was never made, because the tests no longer load a module of this text.
    NotMade,
}

/// The reason for which a test fails.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Killer {
    /// It has found a wrong result itself.
    Test,
    /// The checks have, one of this kind.
    Check(String),
    /// A launch has failed: by a panic, or its limit of steps.
    Launch,
    /// The test took far longer than without the change.
    Limit,
}

impl fmt::Display for Killer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Killer::Test => formatter.write_str("the test's own comparison"),
            Killer::Check(kind) => write!(formatter, "the check for {kind}"),
            Killer::Launch => formatter.write_str("a launch that failed"),
            Killer::Limit => formatter.write_str("a limit of time"),
        }
    }
}
