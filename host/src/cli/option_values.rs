//! Values of the axes as they are written on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

use super::Failure;
use crate::workload::Axis;
pub(super) use crate::workload::whole;
use clap::ValueEnum;

/// `--dtype` of a norm
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Dtype {
    F32,
    F64,
}

/// Blocks have no more threads on any GPU.
pub(super) const MAX_THREADS: u64 = 1024;
/// More samples than any statistics gain from.
pub(super) const MAX_RUNS: u64 = 10_000;
/// Likewise, of loops that are timed as a whole.
pub(super) const MAX_ROUNDS: u64 = 1000;

/// A limit of the registers of a thread that the compiler keeps to, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaxRegisters(pub(super) Option<u32>);

impl FromStr for MaxRegisters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Fewer `ptxas` does not use, and more an instruction cannot name.
        const POSSIBLE: RangeInclusive<u64> = 24..=255;
        if text == "any" {
            return Ok(MaxRegisters(None));
        }
        let registers = whole(POSSIBLE)(text).map_err(|error| format!("{error}; or any"))?;
        Ok(MaxRegisters(Some(registers)))
    }
}

/// A number of elements, at least 1.
pub(super) fn element_count(text: &str) -> Result<u64, String> {
    whole(1..=Axis::MAX)(text)
}

/// A finite number with a property, which `expected` names together with an example.
pub(super) fn real(
    expected: &'static str,
    has: fn(f64) -> bool,
) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let value = text.parse().ok();
        value
            .filter(|value: &f64| value.is_finite() && has(*value))
            .ok_or_else(|| format!("expected {expected}"))
    }
}

/// A difference.
pub(super) fn not_negative(text: &str) -> Result<f64, String> {
    real("a number that is not negative, such as 1e-5", |it| {
        it >= 0.0
    })(text)
}

/// A percentage above 0, with or without its sign.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    let expected = "a percentage above 0 and at most 1000000, such as 3%";
    let number = text.trim_end().trim_end_matches('%').trim_end();
    real(expected, |it| it > 0.0 && it <= 1e6)(number)
}

/// `sm_90`, `compute_90` or `90`.
pub(super) fn arch(text: &str) -> Result<u32, String> {
    let number = text
        .strip_prefix("sm_")
        .or_else(|| text.strip_prefix("compute_"))
        .unwrap_or(text);
    number
        .parse()
        .map_err(|_| "expected an architecture such as sm_90".to_owned())
}

/// Bytes: digits, or with the unit KiB.
pub(super) fn bytes(text: &str) -> Result<u32, String> {
    /// More than any multiprocessor has.
    const MAX: u32 = 1 << 20;
    let (number, unit) = match text.strip_suffix("KiB") {
        Some(number) => (number, 1024),
        None => (text, 1),
    };
    let number: Option<u32> = number.trim_end().parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|&bytes| bytes <= MAX)
        .ok_or_else(|| "expected bytes from 0 to 1024KiB, such as 49152 or 48KiB".to_owned())
}

/// Refuses the first option that is given although it has no effect, together with why.
pub(super) fn refuse_without_effect(given: &[(&str, bool)], why: &str) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::Usage(format!("{option} has no effect {why}"))),
        None => Ok(()),
    }
}

/// The values without repetitions, in order of first appearance.
pub(super) fn each_once<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_counts_are_numbers_and_powers_of_two() {
        assert_eq!(element_count("2^26"), Ok(1 << 26));
        assert_eq!(element_count("1000"), Ok(1000));
        assert_eq!(element_count("2^0"), Ok(1));
        for text in ["0", "", "-1", "2^64", "3^2", "2^", "1e6", "2^2^2"] {
            assert!(element_count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_keep_to_their_range_and_say_so() {
        let parse = whole::<u32>(1..=1000);
        assert_eq!(
            (parse("1"), parse("2^9"), parse("1000")),
            (Ok(1), Ok(512), Ok(1000))
        );
        for text in ["0", "1001", "-1", "", "2^64", "1.0", "99999999999999999999"] {
            let expected = "expected a whole number from 1 to 1000, such as 2^9";
            assert_eq!(parse(text), Err(expected.to_owned()), "{text}");
        }
        // What the type holds is a limit, too.
        assert!(whole::<u8>(0..=1000)("256").is_err());
        let error = element_count("2^41").expect_err("too many");
        assert!(error.contains("from 1 to 2^40, such as 2^10"), "{error}");
    }

    #[test]
    fn real_numbers_are_finite_and_percentages_above_0() {
        let any = real("a number", |_| true);
        assert_eq!(
            (any("-1e3"), any("inf")),
            (Ok(-1e3), Err("expected a number".to_owned()))
        );
        assert_eq!(
            (percent("3"), percent("3 %"), percent("0.5%")),
            (Ok(3.0), Ok(3.0), Ok(0.5))
        );
        for text in ["", "%", "0", "-1%", "NaN", "inf%", "1e300", "3%%x"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bytes_may_be_kibibytes() {
        assert_eq!(bytes("48KiB"), Ok(48 << 10));
        assert_eq!(bytes("128"), Ok(128));
        for text in ["", "KiB", "-1", "48kB", "1.5KiB", "4194304KiB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn registers_are_limited_to_what_a_compiler_can_do() {
        assert_eq!("any".parse(), Ok(MaxRegisters(None)));
        assert_eq!("24".parse(), Ok(MaxRegisters(Some(24))));
        for text in ["", "0", "23", "256", "-1", "all"] {
            assert!(text.parse::<MaxRegisters>().is_err(), "{text}");
        }
    }
}
