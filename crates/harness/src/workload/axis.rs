//! Axes: names with the values that a sweep visits.

use std::ops::RangeInclusive;

use itertools::Itertools;

use super::Value;
use crate::model::Precision;

/// A name and the values that it takes: typed, with those that a sweep visits unless it is told others.
///
/// ```
/// use ridgepoint_harness::model::Precision;
/// use ridgepoint_harness::workload::Axis;
///
/// let n = Axis::whole("n", [1 << 26]).on_emulator([1 << 16]).help("elements");
/// assert_eq!(n.parse("2^20")?.len(), 1);
/// assert_eq!(n.parse("10:50:20")?.len(), 3);
/// assert_eq!(Axis::powers_of_two("n", [20]).parse("16:24:4")?.len(), 3);
/// assert!(Axis::one_of("tile", [8, 16], [16]).parse("12").is_err());
/// assert!(Axis::types([Precision::F32, Precision::F64]).parse("f16").is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    values: Vec<Value>,
    on_emulator: Option<Vec<Value>>,
    in_occupancy: Option<Vec<Value>>,
}

/// The axis of element types, and its column.
pub(crate) const DTYPE: &str = "dtype";

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Whole(RangeInclusive<u64>),
    /// Written as exponents.
    PowerOfTwo,
    Real,
    OneOf(Vec<Value>),
    Text,
    /// One real number for all points, and no column.
    Setting,
}

impl Axis {
    /// More numbers than any device's memory holds.
    pub const MAX: u64 = 1 << 40;

    fn new<V: Into<Value>>(
        name: &'static str,
        kind: Kind,
        values: impl IntoIterator<Item = V>,
    ) -> Axis {
        Axis {
            name,
            help: "",
            kind,
            values: values.into_iter().map(Into::into).collect(),
            on_emulator: None,
            in_occupancy: None,
        }
    }

    /// Whole numbers from 1 to [`Axis::MAX`].
    pub fn whole(name: &'static str, values: impl IntoIterator<Item = u64>) -> Axis {
        Axis::new(name, Kind::Whole(1..=Axis::MAX), values)
    }

    /// Powers of two, given by their exponents here and in `--axis NAME=16:24:2`; the values are the
    /// powers.
    ///
    /// # Panics
    /// An exponent is above 40.
    pub fn powers_of_two(name: &'static str, exponents: impl IntoIterator<Item = u32>) -> Axis {
        let powers = exponents.into_iter().map(|exponent| {
            assert!(
                exponent <= Axis::MAX.ilog2(),
                "axis {name}: 2^{exponent} is more than 2^40"
            );
            1u64 << exponent
        });
        Axis::new(name, Kind::PowerOfTwo, powers)
    }

    /// Finite numbers.
    pub fn real(name: &'static str, values: impl IntoIterator<Item = f64>) -> Axis {
        Axis::new(name, Kind::Real, values)
    }

    /// Any text.
    pub fn text<'a>(name: &'static str, values: impl IntoIterator<Item = &'a str>) -> Axis {
        Axis::new(name, Kind::Text, values)
    }

    /// One finite number for all points of a sweep, or none: no column, but named in JSON's run.
    /// [`Point::setting`](super::Point::setting) has it.
    pub fn setting(name: &'static str) -> Axis {
        Axis::new::<f64>(name, Kind::Setting, [])
    }

    /// One of `possible`: element types, modes, or the numbers that there are kernels for.
    pub fn one_of<V: Into<Value>>(
        name: &'static str,
        possible: impl IntoIterator<Item = V>,
        values: impl IntoIterator<Item = V>,
    ) -> Axis {
        let possible = possible.into_iter().map(Into::into).collect();
        Axis::new(name, Kind::OneOf(possible), values)
    }

    /// The axis `dtype`: element types, all of which a sweep visits. [`Point::dtype`](super::Point::dtype)
    /// has a point's.
    pub fn types(possible: impl IntoIterator<Item = Precision>) -> Axis {
        let possible: Vec<Precision> = possible.into_iter().collect();
        Axis::one_of(DTYPE, possible.clone(), possible).help("element types")
    }

    /// The values that a sweep visits, of those that the axis takes.
    #[must_use]
    pub fn visits<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Axis {
        let values = values.into_iter().map(Into::into).collect();
        Axis { values, ..self }
    }

    /// The values on the emulator, which takes minutes for a GPU's sizes.
    #[must_use]
    pub fn on_emulator<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Axis {
        let values = values.into_iter().map(Into::into).collect();
        Axis {
            on_emulator: Some(values),
            ..self
        }
    }

    /// The values in an occupancy study, where others than in a sweep are of use.
    #[must_use]
    pub fn in_occupancy<V: Into<Value>>(self, values: impl IntoIterator<Item = V>) -> Axis {
        let values = values.into_iter().map(Into::into).collect();
        Axis {
            in_occupancy: Some(values),
            ..self
        }
    }

    /// Sets the help: the values in a few words.
    #[must_use]
    pub fn help(self, help: &'static str) -> Axis {
        Axis { help, ..self }
    }

    /// The whole numbers that are taken.
    ///
    /// # Panics
    /// It is not an axis of whole numbers.
    #[must_use]
    pub fn within(self, range: RangeInclusive<u64>) -> Axis {
        assert!(
            matches!(self.kind, Kind::Whole(_)),
            "axis {} is not one of whole numbers",
            self.name
        );
        Axis {
            kind: Kind::Whole(range),
            ..self
        }
    }

    /// The axis of several workloads that have one of this name: where both list their values, it takes
    /// those of either. The help is of the last that adds to them.
    #[must_use]
    pub fn or(self, other: &Axis) -> Axis {
        let (Kind::OneOf(own), Kind::OneOf(others)) = (&self.kind, &other.kind) else {
            return self;
        };
        let new = others.iter().filter(|value| !own.contains(value));
        let all: Vec<Value> = own.iter().chain(new).cloned().collect();
        let help = match all.len() > own.len() {
            true => other.help,
            false => self.help,
        };
        Axis {
            kind: Kind::OneOf(all),
            help,
            ..self
        }
    }

    /// Whether it is a number for all points.
    pub fn is_setting(&self) -> bool {
        self.kind == Kind::Setting
    }

    /// Fails if one of the axis's own values is none that it takes.
    ///
    /// # Errors
    /// In words: the axis, the first such value, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let lists = [
            Some(&self.values),
            self.on_emulator.as_ref(),
            self.in_occupancy.as_ref(),
        ];
        let mut values = lists.into_iter().flatten().flatten();
        values.try_for_each(|value| self.accepts(value))
    }

    /// Fails if the value is none that the axis takes.
    ///
    /// # Errors
    /// In words: the axis, the value, and what was expected.
    pub fn accepts(&self, value: &Value) -> Result<(), String> {
        let accepted = match (&self.kind, value) {
            (Kind::PowerOfTwo, Value::Whole(number)) => match number.is_power_of_two() {
                true => Ok(()),
                false => Err("expected a power of two".to_owned()),
            },
            (Kind::Text, Value::Text(_)) => Ok(()),
            (Kind::Real | Kind::Setting, Value::Real(number)) if number.is_finite() => Ok(()),
            (Kind::OneOf(possible), value) if possible.contains(value) => Ok(()),
            (Kind::Whole(_), Value::Whole(_)) | (Kind::OneOf(_), _) => {
                self.parse(&value.to_string()).map(|_| ())
            }
            _ => Err("it is of another type".to_owned()),
        };
        accepted.map_err(|error| format!("axis {}, value {value}: {error}", self.name))
    }

    /// Its name on the command line and in files.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the help, with the possible values where these are few.
    pub fn description(&self) -> String {
        match &self.kind {
            Kind::OneOf(possible) if !self.help.contains(':') => {
                let possible = format!("one of {}", possible.iter().join(", "));
                match self.help {
                    "" => possible,
                    help => format!("{help}: {possible}"),
                }
            }
            _ => self.help.to_owned(),
        }
    }

    /// All values of an axis that lists what it takes, and of another the first for the emulator.
    pub(super) fn choices(&self) -> &[Value] {
        match &self.kind {
            Kind::OneOf(possible) => possible,
            _ => self.defaults(true).get(..1).unwrap_or_default(),
        }
    }

    /// The values that a sweep visits where it is told no others.
    pub fn defaults(&self, is_emulated: bool) -> &[Value] {
        match &self.on_emulator {
            Some(values) if is_emulated => values,
            _ => &self.values,
        }
    }

    /// The least whole number that it has for the emulator, where those differ from a GPU's: a size that is
    /// quickly emulated.
    pub(crate) fn emulated_size(&self) -> Option<u64> {
        let values = self.on_emulator.iter().flatten();
        let whole = values.filter_map(|value| match value {
            Value::Whole(number) => Some(*number),
            _ => None,
        });
        whole.filter(|&number| number > 0).min()
    }

    /// The values that an occupancy study visits where it is told no others.
    pub fn occupancy_defaults(&self, is_emulated: bool) -> &[Value] {
        match &self.in_occupancy {
            Some(values) => values,
            None => self.defaults(is_emulated),
        }
    }

    /// The values on a GPU and, where they differ, on the emulator, as [`Axis::parse`] reads them.
    pub fn defaults_text(&self) -> String {
        let list = |values: &[Value]| values.iter().map(|value| self.written(value)).join(",");
        match &self.on_emulator {
            Some(values) => format!("{}; emulator: {}", list(&self.values), list(values)),
            None => list(&self.values),
        }
    }

    fn written(&self, value: &Value) -> String {
        match (value, &self.kind) {
            (Value::Whole(number), Kind::PowerOfTwo) => number.ilog2().to_string(),
            (Value::Whole(number), _) if *number > 4096 && number.is_power_of_two() => {
                format!("2^{}", number.ilog2())
            }
            _ => value.to_string(),
        }
    }

    /// The values that an item of a list stands for: one, or those of a range `FIRST:LAST` or
    /// `FIRST:LAST:STEP`, whose last is among them where a step meets it. Whole numbers may be powers
    /// of two such as `2^26`.
    ///
    /// # Errors
    /// In words: what was expected.
    pub fn parse(&self, text: &str) -> Result<Vec<Value>, String> {
        let exponents = 0..=u64::from(Axis::MAX.ilog2());
        match &self.kind {
            Kind::Whole(range) => whole_numbers(text, range.clone()),
            Kind::PowerOfTwo => {
                if let Some((_, exponent)) = text.split_once('^').filter(|(two, _)| *two == "2") {
                    return self.parse(exponent);
                }
                let powers = whole_numbers(text, exponents.clone()).map_err(|error| match error
                    .starts_with("expected a whole number")
                {
                    true => format!(
                        "expected exponents of two from {} to {}, such as 20 for 2^20, or 16:24:4",
                        exponents.start(),
                        exponents.end()
                    ),
                    false => error,
                })?;
                let powers = powers.into_iter();
                Ok(powers
                    .map(|power| match power {
                        Value::Whole(exponent) => Value::Whole(1 << exponent),
                        other => other,
                    })
                    .collect())
            }
            Kind::Real => real_numbers(text),
            Kind::Setting => Ok(vec![Value::Real(real_number(text)?)]),
            Kind::OneOf(possible) => {
                let expected = || format!("expected one of {}", possible.iter().join(", "));
                match possible.iter().find(|value| value.to_string() == text) {
                    Some(value) => Ok(vec![value.clone()]),
                    // A range, each of whose numbers is possible.
                    None => whole_numbers(text, 0..=Axis::MAX)
                        .ok()
                        .filter(|all| all.iter().all(|it| possible.contains(it)))
                        .ok_or_else(expected),
                }
            }
            Kind::Text => Ok(vec![text.into()]),
        }
    }

    /// Powers of two, given by their exponents: `--axis n[pow2]=16:24`.
    ///
    /// # Errors
    /// In words: what was expected, or the power that the axis does not take.
    pub fn parse_powers(&self, text: &str) -> Result<Vec<Value>, String> {
        let powers = Axis::powers_of_two(self.name, []).parse(text)?;
        powers.iter().try_for_each(|power| self.accepts(power))?;
        Ok(powers)
    }
}

/// Values of one item at most: more are a mistake.
const MAX_VALUES: u64 = 10_000;

fn whole_numbers(text: &str, range: RangeInclusive<u64>) -> Result<Vec<Value>, String> {
    let one = |text: &str| whole::<u64>(range.clone())(text);
    let parts: Vec<&str> = text.split(':').collect();
    let (first, last, step) = match parts[..] {
        [single] => return Ok(vec![Value::Whole(one(single)?)]),
        [first, last] => (one(first)?, one(last)?, 1),
        [first, last, step] => {
            let every = |_| format!("the step is {step:?}; expected a whole number from 1");
            (
                one(first)?,
                one(last)?,
                whole::<u64>(1..=u64::MAX)(step).map_err(every)?,
            )
        }
        _ => return Err("expected FIRST:LAST or FIRST:LAST:STEP".to_owned()),
    };
    match last.checked_sub(first) {
        None => Err(format!(
            "the range ends at {last}, before its first, {first}"
        )),
        Some(length) if length / step >= MAX_VALUES => {
            Err(format!("more than {MAX_VALUES} values"))
        }
        Some(_) => Ok((first..=last)
            .step_by(usize::try_from(step).unwrap_or(usize::MAX))
            .map(Value::Whole)
            .collect()),
    }
}

fn real_number(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    let number = number.filter(|number| number.is_finite());
    number.ok_or_else(|| "expected a finite number, such as 1.01".to_owned())
}

fn real_numbers(text: &str) -> Result<Vec<Value>, String> {
    let one = real_number;
    let parts: Vec<&str> = text.split(':').collect();
    let (first, last, step) = match parts[..] {
        [single] => return Ok(vec![Value::Real(one(single)?)]),
        [first, last, step] => (one(first)?, one(last)?, one(step)?),
        _ => return Err("expected a number, or FIRST:LAST:STEP".to_owned()),
    };
    let steps = (last - first) / step;
    if !(0.0..MAX_VALUES as f64).contains(&steps) {
        return Err(format!(
            "from {first} to {last} in steps of {step} is no range of at most {MAX_VALUES} values"
        ));
    }
    // Rounding has the last one a little off.
    let count = (steps + 1e-9).floor() as u64;
    Ok((0..=count)
        .map(|i| Value::Real(first + i as f64 * step))
        .collect())
}

/// Reads a whole number of `range`: digits, or a power of two such as `2^26`.
///
/// ```
/// use ridgepoint_harness::workload::whole;
///
/// let block = whole::<u32>(1..=1024);
/// assert_eq!(block("2^8"), Ok(256));
/// let error = block("0").expect_err("too few");
/// assert_eq!(error, "expected a whole number from 1 to 1024, such as 2^10");
/// ```
pub fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    /// Greater limits that are powers of two are written so.
    const PLAIN: u64 = 1024;
    move |text| {
        let value = match text.split_once('^') {
            Some(("2", exponent)) => exponent.parse().ok().and_then(|it| 1u64.checked_shl(it)),
            _ => text.parse().ok(),
        };
        let value = value.filter(|value| range.contains(value));
        value
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| {
                let (least, most) = (range.start(), range.end());
                let example = most.max(&1).ilog2().min(10);
                let most = match most.is_power_of_two() && *most > PLAIN {
                    true => format!("2^{}", most.ilog2()),
                    false => most.to_string(),
                };
                format!("expected a whole number from {least} to {most}, such as 2^{example}")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, text: &str) -> Result<Vec<String>, String> {
        let values = axis.parse(text)?;
        Ok(values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn items_are_values_or_ranges() {
        let n = Axis::whole("n", [1]);
        assert_eq!(texts(&n, "2^4"), Ok(vec!["16".to_owned()]));
        assert_eq!(texts(&n, "1:4").expect("a range"), ["1", "2", "3", "4"]);
        assert_eq!(
            texts(&n, "64:1024:480").expect("a range"),
            ["64", "544", "1024"]
        );
        assert_eq!(texts(&n, "5:9:3").expect("a range"), ["5", "8"]);
        let powers = Axis::powers_of_two("n", [10]);
        assert_eq!(texts(&powers, "3:5").expect("a range"), ["8", "16", "32"]);
        assert_eq!(texts(&powers, "2^3"), texts(&powers, "3"));
        assert_eq!(n.parse_powers("3:5"), powers.parse("3:5"));
        let tile = Axis::one_of("tile", [8, 16, 32, 48], [16]);
        assert_eq!(
            texts(&tile, "16:48:16").expect("a range"),
            ["16", "32", "48"]
        );
        assert_eq!(tile.parse_powers("3:5"), powers.parse("3:5"));
        assert!(tile.parse("8:48:8").is_err() && tile.parse_powers("6").is_err());
        let x = Axis::real("x", [0.5]);
        assert_eq!(texts(&x, "0:0.3:0.1").expect("a range").len(), 4);
        assert_eq!(texts(&x, "-1.5"), Ok(vec!["-1.5".to_owned()]));
    }

    #[test]
    fn other_items_are_refused_with_what_is_expected() {
        let n = Axis::whole("n", [1]).within(1..=100);
        for text in ["", "0", "101", "4:1", "1:4:0", "1:2:3:4", "x"] {
            assert!(n.parse(text).is_err(), "{text}");
        }
        assert!(n.parse_powers("8").is_err());
        assert!(Axis::real("x", []).parse("1:0:0.1").is_err());
        assert!(Axis::real("x", []).parse("inf").is_err());
        let dtype = Axis::types([Precision::F32, Precision::F64]);
        assert_eq!(dtype.defaults(false).len(), 2);
        let dtype = dtype.visits([Precision::F64]);
        assert_eq!(
            (dtype.name(), dtype.defaults_text()),
            ("dtype", "f64".to_owned())
        );
        assert!(dtype.clone().visits([Precision::F16x2]).check().is_err());
        assert_eq!(
            dtype.parse("f16"),
            Err("expected one of f32, f64".to_owned())
        );
        assert!(dtype.parse_powers("3").is_err());
    }

    #[test]
    fn an_axis_takes_its_own_values() {
        let tile = |values: [u64; 1]| Axis::one_of("tile", [8u64, 16], values);
        assert_eq!(
            (tile([16]).check(), tile([64]).check().is_err()),
            (Ok(()), true)
        );
        assert!(Axis::whole("n", [5]).within(1..=4).check().is_err());
        assert!(Axis::whole("n", [5]).on_emulator([1.5]).check().is_err());
        assert_eq!(Axis::real("x", [5.0]).check(), Ok(()));
        assert_eq!(
            Axis::powers_of_two("n", [5]).on_emulator([8]).check(),
            Ok(())
        );
        assert_eq!(tile([8]).help("edge").description(), "edge: one of 8, 16");
    }

    #[test]
    fn axes_of_one_name_take_what_either_takes() {
        let few = Axis::one_of("dtype", ["f32", "f64"], ["f32"]).help("types");
        let more = Axis::one_of("dtype", ["f16", "f32"], ["f16"]).help("kinds");
        let both = few.clone().or(&more);
        assert_eq!(both.description(), "kinds: one of f32, f64, f16");
        assert_eq!(both.defaults(false), ["f32".into()]);
        assert_eq!(both.clone().or(&few), both);
        assert_eq!(few.clone().or(&Axis::whole("dtype", [1])), few);
    }

    #[test]
    fn defaults_are_written_as_they_are_read() {
        let n = Axis::whole("n", [1 << 26]).on_emulator([100u64]);
        assert_eq!(n.defaults_text(), "2^26; emulator: 100");
        assert_eq!(n.defaults(true), [Value::Whole(100)]);
        assert_eq!(Axis::powers_of_two("n", [16, 20]).defaults_text(), "16,20");
    }
}
