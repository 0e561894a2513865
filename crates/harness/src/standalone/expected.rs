//! Results compared with those that are expected.

use std::path::Path;
use std::str::FromStr;

use super::argument::{self, Contents, Kind};
use super::element::Element;
use super::memory::After;
use super::{Place, StandaloneError};

/// The result that a buffer or a variable should have: `3=f32[]=y.bin`, `count=u32:64`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub(super) place: Place,
    kind: Kind,
}

/// A result that is not as expected.
#[derive(Clone, Debug)]
pub struct Unexpected {
    /// Where.
    pub place: Place,
    /// In words.
    pub text: String,
}

impl Expected {
    /// The same, with a file's path from this folder on.
    #[must_use]
    pub fn from_folder(mut self, folder: &Path) -> Expected {
        self.kind.join_paths(folder);
        self
    }

    /// Compares a result with it; `tolerance` is the greatest difference of a float, relative to what is expected if that is
    /// more than 1. Gives what differs, in words.
    ///
    /// # Errors
    /// A file cannot be read, or does not fit.
    pub(super) fn differs(
        &self,
        after: &After,
        tolerance: f64,
    ) -> Result<Option<String>, StandaloneError> {
        let (element, bytes) = match &self.kind {
            Kind::Buffer(buffer) => match buffer.contents(&self.place)? {
                Contents::Written(bytes) => (buffer.element, bytes),
                Contents::Unwritten(_) => unreachable!("refused when it was read"),
            },
            Kind::Value(element, bytes) => (*element, bytes.clone()),
            _ => unreachable!("refused when it was read"),
        };
        let title = self.place.title();
        if bytes.len() != after.bytes.len() {
            return Ok(Some(format!(
                "{title} has {} bytes, and {} are expected",
                after.bytes.len(),
                bytes.len()
            )));
        }
        let size = element.bytes();
        let pairs = after.bytes.chunks_exact(size).zip(bytes.chunks_exact(size));
        let mut differing = pairs
            .enumerate()
            .filter(|(_, (actual, expected))| !is_within(element, actual, expected, tolerance));
        let Some((at, (actual, expected))) = differing.next() else {
            return Ok(None);
        };
        Ok(Some(format!(
            "{title} is not as expected: {} of {} elements differ, the first at {at}: {} where {} is expected",
            1 + differing.count(),
            bytes.len() / size,
            element.shown(actual),
            element.shown(expected),
        )))
    }
}

fn is_within(element: Element, actual: &[u8], expected: &[u8], tolerance: f64) -> bool {
    if actual == expected {
        return true;
    }
    let (Some(actual), Some(expected)) = (element.number(actual), element.number(expected)) else {
        return false;
    };
    let is_near =
        expected.is_finite() && (actual - expected).abs() <= tolerance * expected.abs().max(1.0);
    is_near || actual == expected || actual.is_nan() && expected.is_nan()
}

impl FromStr for Expected {
    type Err = String;

    fn from_str(text: &str) -> Result<Expected, String> {
        let refused = || {
            format!(
                "{text:?}: expected the place of a result and its value, such as 3=f32[]=y.bin or count=u32:64"
            )
        };
        let (place, value) = text.split_once('=').ok_or_else(refused)?;
        let place = place.parse().map_err(|_| refused())?;
        let kind = argument::kind(value).map_err(|error| format!("{}: {error}", refused()))?;
        match &kind {
            Kind::Buffer(buffer) if buffer.has_values() => Ok(Expected { place, kind }),
            Kind::Value(..) => Ok(Expected { place, kind }),
            _ => Err(refused()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_may_differ_by_the_tolerance_and_integers_not_at_all() {
        let f32 = |one: f32, other: f32, tolerance| {
            is_within(
                Element::F32,
                &one.to_le_bytes(),
                &other.to_le_bytes(),
                tolerance,
            )
        };
        assert!(f32(1.0, 1.0, 0.0) && f32(f32::NAN, -f32::NAN, 0.0) && f32(0.0, -0.0, 0.0));
        assert!(!f32(1.0, 1.1, 0.05) && f32(1.0, 1.1, 0.2) && f32(100.0, 101.0, 0.02));
        assert!(!f32(f32::NAN, 1.0, 1.0) && f32(f32::INFINITY, f32::INFINITY, 0.0));
        assert!(!f32(f32::INFINITY, 1.0, 1.0) && !f32(1.0, f32::INFINITY, 1.0));
        assert!(!is_within(Element::U32, &[1, 0, 0, 0], &[2, 0, 0, 0], 10.0));
    }

    #[test]
    fn what_expects_nothing_is_refused() {
        for text in ["3", "3=f32[4]", "3={u32:1}", "3=@x", "-=u32:1", "3=u32:x"] {
            let error = text.parse::<Expected>().expect_err("refused");
            assert!(error.contains("expected the place of a result"), "{error}");
        }
    }
}
