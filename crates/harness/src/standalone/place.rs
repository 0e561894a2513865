//! Places of arguments, and of parts of structures among them.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The number of an argument, from 0, and those of the parts within it: `2`, or `2.1` for the second part of a structure; of a
/// later launch behind its number, `1:2`. Or the name of a buffer or of a variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Of an argument.
    Argument {
        /// The launch, from 0.
        launch: usize,
        /// The argument, and the parts in it.
        path: Vec<usize>,
    },
    /// The name of a buffer, or of a variable.
    Named(String),
}

impl Place {
    /// An argument of the first launch.
    pub fn argument(number: usize) -> Place {
        Place::of_launch(0, number)
    }

    /// An argument of a launch.
    pub(super) fn of_launch(launch: usize, number: usize) -> Place {
        let path = vec![number];
        Place::Argument { launch, path }
    }

    /// A part of what is here.
    pub(super) fn part(&self, number: usize) -> Place {
        match self {
            Place::Argument { launch, path } => Place::Argument {
                launch: *launch,
                path: path.iter().copied().chain([number]).collect(),
            },
            Place::Named(name) => Place::Named(format!("{name}.{number}")),
        }
    }

    /// A number for the random values of each place: of an argument of the first launch, the argument's.
    pub(super) fn seed(&self) -> u64 {
        match self {
            Place::Argument { launch: 0, path } => {
                let numbers = path.iter().map(|it| *it as u64);
                numbers.fold(0, |seed: u64, number| (seed << 12).wrapping_add(number))
            }
            _ => u64::from(crc32fast::hash(self.to_string().as_bytes())) << 32,
        }
    }

    /// In a sentence: `argument 3`, or a name.
    pub fn title(&self) -> String {
        match self {
            Place::Argument { .. } => format!("argument {self}"),
            Place::Named(name) => name.clone(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Argument { launch, path } => {
                let numbers: Vec<String> = path.iter().map(ToString::to_string).collect();
                let numbers = numbers.join(".");
                match launch {
                    0 => formatter.write_str(&numbers),
                    launch => write!(formatter, "{launch}:{numbers}"),
                }
            }
            Place::Named(name) => formatter.write_str(name),
        }
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        let (launch, rest) = text.split_once(':').unwrap_or(("0", text));
        let numbers: Result<Vec<usize>, _> = rest.split('.').map(str::parse).collect();
        match (launch.parse(), numbers) {
            (Ok(launch), Ok(path)) => Ok(Place::Argument { launch, path }),
            _ if is_path(text) => Ok(Place::Named(text.to_owned())),
            _ => Err(format!(
                "{text:?}: expected the number of an argument, from 0, or of a part such as 2.1, or a name, or one of these \
                 with =FILE"
            )),
        }
    }
}

/// Whether it may be the name of a buffer.
pub(super) fn is_name(text: &str) -> bool {
    is_path(text) && !text.contains([':', '.'])
}

/// Whether it may be the name of a buffer or of a variable.
pub(super) fn is_path(text: &str) -> bool {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || "_$%".contains(letter);
    let is_rest =
        |letter: char| is_first(letter) || letter.is_ascii_digit() || ".:".contains(letter);
    text.starts_with(is_first) && text.chars().all(is_rest)
}

/// A number for an argument, and text for a part.
impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Place::Argument { launch: 0, path } if path.len() == 1 => {
                serializer.serialize_u64(path[0] as u64)
            }
            _ => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        for text in ["2", "2.1", "1:0", "1:0.3", "x", "x.1", "ns::table"] {
            let place: Place = text.parse().expect("a place");
            assert_eq!(place.to_string(), text);
        }
        let named = |text: &str| text.parse::<Place>().map(|it| it.title());
        assert_eq!(named("2"), Ok("argument 2".to_owned()));
        assert_eq!(named("table"), Ok("table".to_owned()));
        for text in ["", "-1", "2.", "a b", ":3"] {
            let error = text.parse::<Place>().expect_err("refused");
            assert!(
                error.contains("expected the number of an argument"),
                "{error}"
            );
        }
    }
}
