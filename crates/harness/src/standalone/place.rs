//! Places of arguments, and of parts of structures among them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The number of an argument, from 0, and those of the parts within it: `2`, or `2.1` for the second part of a structure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(Vec<usize>);

impl Place {
    /// An argument.
    pub fn argument(number: usize) -> Place {
        Place(vec![number])
    }

    /// A part of what is here.
    pub(super) fn part(&self, number: usize) -> Place {
        Place(self.0.iter().copied().chain([number]).collect())
    }

    /// A number of its own for each place: of an argument, the argument's.
    pub(super) fn seed(&self) -> u64 {
        let numbers = self.0.iter().map(|it| *it as u64);
        numbers.fold(0_u64, |seed, number| (seed << 12).wrapping_add(number))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&numbers.join("."))
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let numbers: Result<Vec<usize>, _> = text.split('.').map(str::parse).collect();
        numbers.map(Place).map_err(|_| {
            format!("{text:?}: expected the number of an argument, from 0, or of a part such as 2.1, or NUMBER=FILE")
        })
    }
}

/// A number for an argument, and text for a part.
impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0[..] {
            [number] => serializer.serialize_u64(number as u64),
            _ => serializer.collect_str(self),
        }
    }
}
