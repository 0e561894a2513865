//! Values of the axes as they are written on the command line.

use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::ValueEnum;
use kernels_gpu::polynomial::{Form, ILPS, WIDTHS};

/// `--kernel`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kernel {
    /// result += power; power *= x: an add and a multiply that cannot fuse.
    PowerSum,
    /// result = result * x + x: one fused multiply-add.
    Horner,
    /// Both.
    All,
}

impl Kernel {
    pub(super) fn forms(kernels: &[Kernel]) -> Vec<Form> {
        let mut forms = Vec::new();
        for kernel in kernels {
            forms.extend(match kernel {
                Kernel::PowerSum => &[Form::PowerSum][..],
                Kernel::Horner => &[Form::Horner],
                Kernel::All => &[Form::PowerSum, Form::Horner],
            });
        }
        each_once(forms)
    }
}

/// `--dtype` of a norm
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Dtype {
    F32,
    F64,
}

/// A limit of the registers of a thread that the compiler keeps to, or `any`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaxRegisters(pub(super) Option<u32>);

impl FromStr for MaxRegisters {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Fewer `ptxas` does not use, and more an instruction cannot name.
        const POSSIBLE: RangeInclusive<u32> = 24..=255;
        if text == "any" {
            return Ok(MaxRegisters(None));
        }
        let registers = text.parse().ok().filter(|it| POSSIBLE.contains(it));
        match registers {
            Some(registers) => Ok(MaxRegisters(Some(registers))),
            None => {
                let (least, most) = (POSSIBLE.start(), POSSIBLE.end());
                Err(format!("\"any\" or {least} to {most} registers are needed"))
            }
        }
    }
}

/// `sm_90`, `compute_90` or `90`.
pub(super) fn arch(text: &str) -> Result<u32, String> {
    let number = text
        .strip_prefix("sm_")
        .or_else(|| text.strip_prefix("compute_"))
        .unwrap_or(text);
    number
        .parse()
        .map_err(|_| "an architecture such as sm_90 is needed".to_owned())
}

/// Bytes: digits, or with the unit KiB.
pub(super) fn bytes(text: &str) -> Result<u32, String> {
    let (number, unit) = match text.strip_suffix("KiB") {
        Some(number) => (number, 1024),
        None => (text, 1),
    };
    let number: Option<u32> = number.trim_end().parse().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "a number of bytes is needed, or of KiB such as 48KiB".to_owned())
}

/// A number of elements: digits, or a power of two such as `2^26`. At least 1.
pub(super) fn element_count(text: &str) -> Result<u64, String> {
    let value = match text.split_once('^') {
        Some(("2", exponent)) => exponent
            .parse()
            .ok()
            .and_then(|exponent| 1u64.checked_shl(exponent))
            .ok_or("the exponent is 0 to 63")?,
        _ => text
            .parse()
            .map_err(|_| "a whole number or a power of two such as 2^26 is needed")?,
    };
    if value == 0 {
        return Err("at least 1 is needed".to_owned());
    }
    Ok(value)
}

/// A number of elements in a vector that there are kernels for.
pub(super) fn vector(text: &str) -> Result<u32, String> {
    one_of(&WIDTHS, text, "elements in a vector")
}

/// A number of vectors a thread that there are kernels for.
pub(super) fn ilp(text: &str) -> Result<u32, String> {
    one_of(&ILPS, text, "vectors a thread")
}

fn one_of(known: &[u32], text: &str, what: &str) -> Result<u32, String> {
    let found = text.parse().ok().filter(|number| known.contains(number));
    found.ok_or_else(|| {
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        format!("there are kernels for {} {what}", known.join(", "))
    })
}

/// A finite number.
pub(super) fn finite(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
        .ok_or_else(|| "a finite number is needed".to_owned())
}

/// A percentage above 0, with or without its sign.
pub(super) fn percent(text: &str) -> Result<f64, String> {
    finite(text.trim_end().trim_end_matches('%').trim_end())
        .ok()
        .filter(|&value| value > 0.0)
        .ok_or_else(|| "a percentage above 0 is needed".to_owned())
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

    #[test]
    fn all_is_both_forms_once() {
        let forms = Kernel::forms(&[Kernel::Horner, Kernel::All]);
        assert_eq!(forms, [Form::Horner, Form::PowerSum]);
    }
}
