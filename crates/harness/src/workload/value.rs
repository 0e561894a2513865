//! Values on axes.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::Precision;

/// A value on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Whole(u64),
    /// A finite number.
    Real(f64),
    /// A name: an element type, a mode.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Whole(number) => number.fmt(formatter),
            Value::Real(number) => number.fmt(formatter),
            Value::Text(text) => formatter.pad(text),
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Whole(number) => serializer.serialize_u64(*number),
            // As `Display` has it, so that both are read back as the same.
            Value::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                serializer.serialize_i64(*number as i64)
            }
            Value::Real(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Value {
        Value::Whole(number.into())
    }
}

/// For literals.
///
/// # Panics
/// It is negative.
impl From<i32> for Value {
    fn from(number: i32) -> Value {
        Value::Whole(u64::try_from(number).expect("whole numbers on axes are not negative"))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

/// Its name.
impl From<Precision> for Value {
    fn from(precision: Precision) -> Value {
        precision.name().into()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}
