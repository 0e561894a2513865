//! Types of values and of elements, by the names that Rust has for them.

use std::fmt;

use half::{bf16, f16};

/// The type of a value, or of a buffer's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// 8 bits, no sign.
    U8,
    /// 8 bits.
    I8,
    /// 16 bits, no sign.
    U16,
    /// 16 bits.
    I16,
    /// 32 bits, no sign.
    U32,
    /// 32 bits.
    I32,
    /// 64 bits, no sign.
    U64,
    /// 64 bits.
    I64,
    /// IEEE half precision.
    F16,
    /// 8 bits of exponent, 7 of mantissa.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
}

use Element::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Element {
    /// Every one.
    pub const ALL: [Element; 12] = [U8, I8, U16, I16, U32, I32, U64, I64, F16, Bf16, F32, F64];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            U8 => "u8",
            I8 => "i8",
            U16 => "u16",
            I16 => "i16",
            U32 => "u32",
            I32 => "i32",
            U64 => "u64",
            I64 => "i64",
            F16 => "f16",
            Bf16 => "bf16",
            F32 => "f32",
            F64 => "f64",
        }
    }

    /// The type of this name.
    ///
    /// # Errors
    /// In words: there is no type of this name, and the names that there are.
    pub(super) fn parse(name: &str) -> Result<Element, String> {
        let found = Element::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            let names = Element::ALL.map(Element::name).join(", ");
            format!("{name:?} is not one of the types {names}")
        })
    }

    /// Bytes of a value.
    pub fn bytes(self) -> usize {
        match self {
            U8 | I8 => 1,
            U16 | I16 | F16 | Bf16 => 2,
            U32 | I32 | F32 => 4,
            U64 | I64 | F64 => 8,
        }
    }

    /// Whether its values are floating point.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F32 | F64)
    }

    /// The bytes of a number as people write it.
    ///
    /// # Errors
    /// In words: it is no number, or, of integers, none within the range of the type.
    pub(super) fn value(self, text: &str) -> Result<Vec<u8>, String> {
        let refused = || format!("{text:?} is no {}", self.name());
        if self.is_float() {
            let number: f64 = text.parse().map_err(|_| refused())?;
            return Ok(self.float(number));
        }
        let number = integer(text).ok_or_else(refused)?;
        let (least, most) = self.range();
        match (least..=most).contains(&number) {
            true => Ok(self.integer(number)),
            false => Err(format!("{}: from {least} to {most}", refused())),
        }
    }

    /// The bytes of a number, rounded to the type.
    pub(super) fn float(self, number: f64) -> Vec<u8> {
        match self {
            F16 => f16::from_f64(number).to_le_bytes().to_vec(),
            Bf16 => bf16::from_f64(number).to_le_bytes().to_vec(),
            F32 => (number as f32).to_le_bytes().to_vec(),
            F64 => number.to_le_bytes().to_vec(),
            _ => self.integer(number as i128),
        }
    }

    /// The bytes of a number, of which an integer has the lowest.
    pub(super) fn integer(self, number: i128) -> Vec<u8> {
        match self.is_float() {
            true => self.float(number as f64),
            false => number.to_le_bytes()[..self.bytes()].to_vec(),
        }
    }

    /// The greatest number that it holds, or the greatest of 64 bits where that is less.
    pub(super) fn greatest(self) -> i128 {
        match self {
            F16 => f16::MAX.to_f64() as i128,
            Bf16 | F32 | F64 => u64::MAX.into(),
            _ => self.range().1,
        }
    }

    fn range(self) -> (i128, i128) {
        let bits = 8 * self.bytes();
        match self {
            U8 | U16 | U32 | U64 => (0, (1 << bits) - 1),
            _ => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        }
    }

    /// A float's value.
    pub(super) fn number(self, bytes: &[u8]) -> Option<f64> {
        match self {
            F16 => Some(f16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
            Bf16 => Some(bf16::from_le_bytes(bytes.try_into().ok()?).to_f64()),
            F32 => Some(f32::from_le_bytes(bytes.try_into().ok()?).into()),
            F64 => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
            _ => None,
        }
    }

    /// The type of a variable's elements; bytes, where PTX says no more.
    pub(super) fn of(ty: ptx::Type) -> Element {
        let name = match ty.name() {
            "s8" => "i8",
            "s16" => "i16",
            "b16" => "u16",
            "s32" => "i32",
            "b32" => "u32",
            "s64" => "i64",
            "b64" => "u64",
            name => name,
        };
        Element::parse(name).unwrap_or(U8)
    }

    /// A value in words.
    ///
    /// # Panics
    /// It has not so many bytes.
    pub fn shown(self, bytes: &[u8]) -> String {
        fn of<const N: usize>(bytes: &[u8]) -> [u8; N] {
            bytes.try_into().expect("as many bytes as the type has")
        }
        match self {
            U8 => u8::from_le_bytes(of(bytes)).to_string(),
            I8 => i8::from_le_bytes(of(bytes)).to_string(),
            U16 => u16::from_le_bytes(of(bytes)).to_string(),
            I16 => i16::from_le_bytes(of(bytes)).to_string(),
            U32 => u32::from_le_bytes(of(bytes)).to_string(),
            I32 => i32::from_le_bytes(of(bytes)).to_string(),
            U64 => u64::from_le_bytes(of(bytes)).to_string(),
            I64 => i64::from_le_bytes(of(bytes)).to_string(),
            F16 => f16::from_le_bytes(of(bytes)).to_string(),
            Bf16 => bf16::from_le_bytes(of(bytes)).to_string(),
            F32 => f32::from_le_bytes(of(bytes)).to_string(),
            F64 => f64::from_le_bytes(of(bytes)).to_string(),
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Digits, `0x` and hexadecimal ones, or a power such as `2^20`.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let number: u128 = if let Some(digits) = digits.strip_prefix("0x") {
        u128::from_str_radix(digits, 16).ok()?
    } else if let Some((base, exponent)) = digits.split_once('^') {
        base.parse::<u128>()
            .ok()?
            .checked_pow(exponent.parse().ok()?)?
    } else {
        digits.parse().ok()?
    };
    let number = i128::try_from(number).ok()?;
    Some(if is_negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_bytes_of_their_type() {
        assert_eq!(U8.value("255"), Ok(vec![255]));
        assert_eq!(I16.value("-2"), Ok(vec![254, 255]));
        assert_eq!(U32.value("2^20"), Ok((1u32 << 20).to_le_bytes().to_vec()));
        assert_eq!(U64.value("0xff"), Ok(255u64.to_le_bytes().to_vec()));
        assert_eq!(F32.value("-2.5"), Ok((-2.5f32).to_le_bytes().to_vec()));
        assert_eq!(F16.value("1"), Ok(vec![0, 0x3c]));
        assert_eq!(Bf16.value("1"), Ok(vec![0x80, 0x3f]));
        for element in Element::ALL {
            assert_eq!(Element::parse(element.name()), Ok(element));
            let bytes = element.value("7").expect("a number");
            assert_eq!(
                (bytes.len(), element.shown(&bytes)),
                (element.bytes(), "7".to_owned())
            );
        }
    }

    #[test]
    fn numbers_that_the_type_lacks_are_refused_with_its_limits() {
        for (element, text, expected) in [
            (U8, "256", "from 0 to 255"),
            (I8, "-129", "from -128 to 127"),
            (U32, "-1", "from 0 to 4294967295"),
            (U64, "2^64", "from 0 to 18446744073709551615"),
            (I32, "1.5", "\"1.5\" is no i32"),
            (F64, "x", "\"x\" is no f64"),
        ] {
            let error = element.value(text).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
        let error = Element::parse("float").expect_err("refused");
        assert!(
            error.contains("u8, i8") && error.contains("\"float\""),
            "{error}"
        );
    }
}
