//! `printf`, as CUDA has it.

use super::failure::Cause;

/// The most bytes of a text: as many as CUDA's own buffer of what kernels print has. What is longer is cut off.
pub(crate) const MOST_BYTES: usize = 1 << 20;

/// The most characters that a conversion is filled up to, and the most digits: those that Rust's formatting takes.
const MOST_DIGITS: u64 = u16::MAX as u64;

/// Formats a text. `next` gives the next value of 4 or 8 bytes, `text` the text at an address, of at most so many bytes.
///
/// # Errors
/// Those of `next` and `text`.
pub(crate) fn format(
    format: &str,
    next: &mut dyn FnMut(u64) -> Result<u64, Cause>,
    text: &dyn Fn(u64, usize) -> Result<String, Cause>,
) -> Result<String, Cause> {
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%').filter(|_| out.len() < MOST_BYTES) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end =
            rest[1..].find(|c: char| c.is_ascii_alphabetic() && !"hlLjztq".contains(c) || c == '%');
        let Some(end) = end.map(|end| end + 2) else {
            break;
        };
        out.push_str(&convert(&rest[..end], next, text)?);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out.truncate(out.floor_char_boundary(MOST_BYTES));
    Ok(out)
}

/// Formats one conversion, from `%` to its letter.
fn convert(
    conversion: &str,
    next: &mut dyn FnMut(u64) -> Result<u64, Cause>,
    text: &dyn Fn(u64, usize) -> Result<String, Cause>,
) -> Result<String, Cause> {
    let letter = conversion.chars().last().unwrap_or('%');
    if letter == '%' {
        return Ok("%".to_owned());
    }
    let body = &conversion[1..conversion.len() - 1];
    let is_long = body.contains("l") || body.contains(['j', 'z', 't', 'q']);
    let flags: String = body.chars().take_while(|c| "-+ #0".contains(*c)).collect();
    let numbers = body[flags.len()..].trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (width, precision) = match numbers.split_once('.') {
        Some((width, precision)) => (width, Some(precision)),
        None => (numbers, None),
    };
    let mut number = |digits: &str| match digits {
        "*" => next(4).map(|value| i64::from(value as u32 as i32)),
        digits => Ok(digits.parse().unwrap_or(0)),
    };
    let most = |number: i64| number.unsigned_abs().min(MOST_DIGITS) as usize;
    let width = number(width)?;
    let (is_left, width) = (width < 0 || flags.contains('-'), most(width));
    let precision = precision.map(number).transpose()?;
    let precision = precision.filter(|it| *it >= 0).map(most);
    let mut integer = || next(if is_long { 8 } else { 4 });
    let signed = |value: u64| {
        if is_long {
            value as i64
        } else {
            i64::from(value as u32 as i32)
        }
    };
    let (sign, digits) = match letter {
        'd' | 'i' => {
            let value = signed(integer()?);
            (sign(value < 0, &flags), value.unsigned_abs().to_string())
        }
        'u' => ("", integer()?.to_string()),
        'x' => (
            if flags.contains('#') { "0x" } else { "" },
            format!("{:x}", integer()?),
        ),
        'X' => (
            if flags.contains('#') { "0X" } else { "" },
            format!("{:X}", integer()?),
        ),
        'o' => (
            if flags.contains('#') { "0" } else { "" },
            format!("{:o}", integer()?),
        ),
        'c' => ("", char::from(next(4)? as u8).to_string()),
        'p' => ("0x", format!("{:x}", next(8)?)),
        's' => {
            // A character has at most 4 bytes.
            let most = precision.map_or(MOST_BYTES, |it| 4 * it);
            let text = text(next(8)?, most)?;
            (
                "",
                text.chars().take(precision.unwrap_or(usize::MAX)).collect(),
            )
        }
        'a' | 'A' => {
            let value = f64::from_bits(next(8)?);
            let sign = sign(value.is_sign_negative() && !value.is_nan(), &flags);
            let digits = hexadecimal(value.abs(), precision);
            let digits = match letter {
                'A' => digits.to_uppercase(),
                _ => digits,
            };
            (sign, digits)
        }
        'f' | 'F' | 'e' | 'E' | 'g' | 'G' => {
            let value = f64::from_bits(next(8)?);
            let digits = float(value.abs(), letter, precision.unwrap_or(6));
            (
                sign(value.is_sign_negative() && !value.is_nan(), &flags),
                digits,
            )
        }
        _ => return Ok(conversion.to_owned()),
    };
    let digits = match (precision, "diuxXo".contains(letter)) {
        (Some(precision), true) => format!("{digits:0>precision$}"),
        _ => digits,
    };
    let fill = width.saturating_sub(sign.len() + digits.chars().count());
    let has_zeros = flags.contains('0') && !is_left && letter != 's';
    // Zeros stand behind the 0x of `%a`.
    let (radix, digits) = match digits.split_at_checked(2) {
        Some((radix @ ("0x" | "0X"), digits)) if "aA".contains(letter) => (radix, digits),
        _ => ("", &*digits),
    };
    Ok(match (is_left, has_zeros) {
        (true, _) => format!("{sign}{radix}{digits}{}", " ".repeat(fill)),
        (false, true) => format!("{sign}{radix}{}{digits}", "0".repeat(fill)),
        (false, false) => format!("{}{sign}{radix}{digits}", " ".repeat(fill)),
    })
}

fn sign(is_negative: bool, flags: &str) -> &'static str {
    match is_negative {
        true => "-",
        false if flags.contains('+') => "+",
        false if flags.contains(' ') => " ",
        false => "",
    }
}

/// A float that is not negative.
fn float(value: f64, letter: char, precision: usize) -> String {
    if !value.is_finite() {
        let name = if value.is_nan() { "nan" } else { "inf" };
        return if letter.is_uppercase() {
            name.to_uppercase()
        } else {
            name.to_owned()
        };
    }
    match letter {
        'f' | 'F' => format!("{value:.precision$}"),
        'e' | 'E' => exponential(value, letter, precision),
        _ => {
            let precision = precision.max(1);
            let exponent = exponent(value, precision - 1);
            let text = match exponent < -4 || exponent >= precision as i32 {
                true => exponential(value, if letter == 'G' { 'E' } else { 'e' }, precision - 1),
                false => format!(
                    "{value:.*}",
                    (precision as i32 - 1 - exponent).max(0) as usize
                ),
            };
            shortened(&text)
        }
    }
}

/// A float that is not negative, by `%a`: so many digits behind the point, or all but zeros at the end.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    const DIGITS: usize = 13;
    const FRACTION: u64 = (1 << (4 * DIGITS)) - 1;
    if !value.is_finite() {
        return float(value, 'a', 0);
    }
    let bits = value.to_bits();
    let (mut mantissa, exponent) = match (bits >> (4 * DIGITS), bits & FRACTION) {
        (0, 0) => (0, 0),
        (0, fraction) => (fraction, -1022),
        (exponent, fraction) => ((FRACTION + 1) | fraction, exponent as i32 - 1023),
    };
    if let Some(precision) = precision.filter(|it| *it < DIGITS) {
        // To the nearest, and of two to the even one.
        let unit = 1u64 << (4 * (DIGITS - precision));
        let (kept, rest) = (mantissa / unit, mantissa % unit);
        let is_up = rest > unit / 2 || rest == unit / 2 && kept % 2 == 1;
        mantissa = (kept + u64::from(is_up)) * unit;
    }
    let digits = format!("{:013x}", mantissa & FRACTION);
    let digits = match precision {
        Some(precision) => format!("{digits:0<precision$}")[..precision].to_owned(),
        None => digits.trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{}{point}{digits}p{exponent:+}", mantissa >> (4 * DIGITS))
}

/// The decimal exponent of a value that is rounded to so many digits behind the point.
fn exponent(value: f64, precision: usize) -> i32 {
    let text = format!("{value:.precision$e}");
    text.split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
        .unwrap_or(0)
}

fn exponential(value: f64, letter: char, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{letter}{sign}{:02}", exponent.unsigned_abs())
}

/// Without zeros at the end of the digits behind the point.
fn shortened(text: &str) -> String {
    let at = text.find(['e', 'E']).unwrap_or(text.len());
    let (digits, exponent) = text.split_at(at);
    let digits = match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    };
    format!("{digits}{exponent}")
}

#[cfg(test)]
mod tests {
    use super::format;

    /// As glibc writes them.
    #[test]
    fn floats_in_hexadecimal() {
        for (given, value, expected) in [
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%a", -1.5, "-0x1.8p+0"),
            ("%a", 0.0, "0x0p+0"),
            ("%a", 5e-324, "0x0.0000000000001p-1022"),
            ("%a", f64::MIN_POSITIVE, "0x1p-1022"),
            ("%.3a", 0.1, "0x1.99ap-4"),
            ("%.0a", 1.5, "0x2p+0"),
            ("%.0a", 2.5, "0x1p+1"),
            ("%.1a", 1.96875, "0x2.0p+0"),
            ("%.16a", 1.0 / 3.0, "0x1.5555555555555000p-2"),
            ("%A", 255.5, "0X1.FFP+7"),
            ("%12a|", 1.0, "      0x1p+0|"),
            ("%-12a|", 1.0, "0x1p+0      |"),
            ("%012a", -1.0, "-0x000001p+0"),
            ("%+a", 1.0, "+0x1p+0"),
            ("%A", f64::INFINITY, "INF"),
        ] {
            let text = |_, _| unreachable!("there is no %s");
            let got = format(given, &mut |_| Ok(f64::to_bits(value)), &text);
            assert_eq!(got.ok().as_deref(), Some(expected), "{given} of {value}");
        }
    }
}
