//! Constants and expressions of them.

use super::lexer::Token;
use super::{Fail, Parser, Result};
use crate::Type;

/// A value that is known when the text is assembled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Constant {
    Signed(i64),
    Unsigned(u64),
    /// `0f3F800000`: bits of a single.
    Single(u32),
    Double(f64),
}

/// Deeper expressions and nested braces are refused, so that no text overflows the stack.
pub(super) const DEPTH: u32 = 64;

impl Constant {
    /// Its bits as a value of this type.
    pub(super) fn bits(self, ty: Type) -> u64 {
        let bits = match (self, ty) {
            (Self::Single(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
            (Self::Single(bits), _) => u64::from(bits),
            (Self::Double(value), Type::F64 | Type::B64 | Type::U64 | Type::S64) => value.to_bits(),
            (Self::Double(value), _) => u64::from((value as f32).to_bits()),
            (Self::Signed(value), Type::Pred) => u64::from(value != 0),
            (Self::Unsigned(value), Type::Pred) => u64::from(value != 0),
            (Self::Signed(value), _) => value as u64,
            (Self::Unsigned(value), _) => value,
        };
        if ty.bits() >= 64 {
            bits
        } else {
            bits & ((1 << ty.bits()) - 1)
        }
    }

    pub(super) const fn integer(self) -> Option<i64> {
        match self {
            Self::Signed(value) => Some(value),
            Self::Unsigned(value) => Some(value as i64),
            _ => None,
        }
    }

    fn is_true(self) -> bool {
        match self {
            Self::Signed(value) => value != 0,
            Self::Unsigned(value) => value != 0,
            Self::Single(bits) => f32::from_bits(bits) != 0.0,
            Self::Double(value) => value != 0.0,
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Signed(value) => value as f64,
            Self::Unsigned(value) => value as f64,
            Self::Single(bits) => f64::from(f32::from_bits(bits)),
            Self::Double(value) => value,
        }
    }
}

/// Operators with two operands and how tightly they bind.
const OPERATORS: [(&str, u8); 18] = [
    ("||", 1),
    ("&&", 2),
    ("==", 6),
    ("!=", 6),
    ("<=", 7),
    (">=", 7),
    ("<<", 8),
    (">>", 8),
    ("|", 3),
    ("^", 4),
    ("&", 5),
    ("<", 7),
    (">", 7),
    ("+", 9),
    ("-", 9),
    ("*", 10),
    ("/", 10),
    ("%", 10),
];

impl Parser<'_> {
    /// An expression of constants.
    pub(super) fn constant(&mut self) -> Result<Constant> {
        self.conditional(0)
    }

    /// An integer that is a count, a size or an alignment.
    pub(super) fn count(&mut self, what: &str) -> Result<u64> {
        let begin = self.begin;
        let value = self.constant()?.integer();
        value
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| Fail::at(begin, format!("expected {what}")))
    }

    /// The same, of at most 32 bits.
    pub(super) fn count32(&mut self, what: &str) -> Result<u32> {
        let begin = self.begin;
        u32::try_from(self.count(what)?)
            .map_err(|_| Fail::at(begin, format!("expected {what} below 4294967296")))
    }

    fn conditional(&mut self, depth: u32) -> Result<Constant> {
        if depth > DEPTH {
            return Err(self.fail("this expression is nested too deeply"));
        }
        let condition = self.expression(1, depth)?;
        if !self.eat(b'?')? {
            return Ok(condition);
        }
        let then = self.conditional(depth + 1)?;
        self.expect(b':')?;
        let otherwise = self.conditional(depth + 1)?;
        Ok(if condition.is_true() { then } else { otherwise })
    }

    fn expression(&mut self, least: u8, depth: u32) -> Result<Constant> {
        let mut left = self.term(depth)?;
        while let Some((operator, tightness)) =
            self.operator().filter(|&(_, tightness)| tightness >= least)
        {
            let begin = self.begin;
            for _ in 0..operator.len() {
                self.advance()?;
            }
            let right = self.expression(tightness + 1, depth)?;
            left = apply(operator, left, right).ok_or_else(|| {
                Fail::at(
                    begin,
                    format!("`{operator}` of these constants is not defined"),
                )
            })?;
        }
        Ok(left)
    }

    /// The operator that follows.
    fn operator(&self) -> Option<(&'static str, u8)> {
        let Token::Sign(_) = self.token else {
            return None;
        };
        let rest = &self.source[self.begin..];
        OPERATORS
            .into_iter()
            .find(|(operator, _)| rest.starts_with(operator))
    }

    fn term(&mut self, depth: u32) -> Result<Constant> {
        if depth > DEPTH {
            return Err(self.fail("this expression is nested too deeply"));
        }
        match self.token {
            Token::Number(text) => {
                let value = number(text)
                    .ok_or_else(|| self.fail(format!("`{text}` is no number of PTX")))?;
                self.advance()?;
                Ok(value)
            }
            Token::Word("WARP_SZ") => {
                self.advance()?;
                Ok(Constant::Signed(32))
            }
            Token::Sign(sign @ (b'+' | b'-' | b'~' | b'!')) => {
                self.advance()?;
                let begin = self.begin;
                let value = self.term(depth + 1)?;
                negate(sign, value).ok_or_else(|| Fail::at(begin, "`~` wants an integer"))
            }
            Token::Sign(b'(') => self.parenthesis(depth),
            _ => Err(self.expected("a constant")),
        }
    }

    /// `(x)`, or a cast `(.s64) x`.
    fn parenthesis(&mut self, depth: u32) -> Result<Constant> {
        self.expect(b'(')?;
        if let Token::Dotted(name) = self.token {
            let signed = match name {
                "s64" => true,
                "u64" => false,
                _ => return Err(self.expected("`.s64` or `.u64`")),
            };
            self.advance()?;
            self.expect(b')')?;
            let begin = self.begin;
            let value = self
                .term(depth + 1)?
                .integer()
                .ok_or_else(|| Fail::at(begin, "a cast wants an integer"))?;
            return Ok(if signed {
                Constant::Signed(value)
            } else {
                Constant::Unsigned(value as u64)
            });
        }
        let value = self.conditional(depth + 1)?;
        self.expect(b')')?;
        Ok(value)
    }
}

fn negate(sign: u8, value: Constant) -> Option<Constant> {
    Some(match (sign, value) {
        (b'+', value) => value,
        (b'!', value) => Constant::Signed(i64::from(!value.is_true())),
        (b'-', Constant::Signed(value)) => Constant::Signed(value.wrapping_neg()),
        (b'-', Constant::Unsigned(value)) => Constant::Unsigned(value.wrapping_neg()),
        (b'-', Constant::Single(bits)) => Constant::Single(bits ^ (1 << 31)),
        (b'-', Constant::Double(value)) => Constant::Double(-value),
        (_, Constant::Signed(value)) => Constant::Signed(!value),
        (_, Constant::Unsigned(value)) => Constant::Unsigned(!value),
        _ => return None,
    })
}

fn apply(operator: &str, left: Constant, right: Constant) -> Option<Constant> {
    if matches!(operator, "&&" | "||") {
        let (left, right) = (left.is_true(), right.is_true());
        return Some(Constant::Signed(i64::from(if operator == "&&" {
            left && right
        } else {
            left || right
        })));
    }
    match (left, right) {
        (Constant::Signed(left), Constant::Signed(right)) => apply_signed(operator, left, right),
        _ => match (left.integer(), right.integer()) {
            (Some(a), Some(b)) if matches!(operator, "<<" | ">>") => match left {
                Constant::Signed(_) => apply_signed(operator, a, b),
                _ => apply_unsigned(operator, a as u64, b as u64),
            },
            (Some(left), Some(right)) => apply_unsigned(operator, left as u64, right as u64),
            _ => apply_float(operator, left.float(), right.float()),
        },
    }
}

fn apply_signed(operator: &str, left: i64, right: i64) -> Option<Constant> {
    let truth = |value| Constant::Signed(i64::from(value));
    Some(match operator {
        "+" => Constant::Signed(left.wrapping_add(right)),
        "-" => Constant::Signed(left.wrapping_sub(right)),
        "*" => Constant::Signed(left.wrapping_mul(right)),
        "/" => Constant::Signed(left.checked_div(right)?),
        "%" => Constant::Signed(left.checked_rem(right)?),
        "&" => Constant::Signed(left & right),
        "|" => Constant::Signed(left | right),
        "^" => Constant::Signed(left ^ right),
        "<<" => Constant::Signed(left.checked_shl(u32::try_from(right).ok()?).unwrap_or(0)),
        ">>" => Constant::Signed(left >> u32::try_from(right).ok()?.min(63)),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        _ => return None,
    })
}

fn apply_unsigned(operator: &str, left: u64, right: u64) -> Option<Constant> {
    let truth = |value| Constant::Signed(i64::from(value));
    Some(match operator {
        "+" => Constant::Unsigned(left.wrapping_add(right)),
        "-" => Constant::Unsigned(left.wrapping_sub(right)),
        "*" => Constant::Unsigned(left.wrapping_mul(right)),
        "/" => Constant::Unsigned(left.checked_div(right)?),
        "%" => Constant::Unsigned(left.checked_rem(right)?),
        "&" => Constant::Unsigned(left & right),
        "|" => Constant::Unsigned(left | right),
        "^" => Constant::Unsigned(left ^ right),
        "<<" => Constant::Unsigned(left.checked_shl(u32::try_from(right).ok()?).unwrap_or(0)),
        ">>" => Constant::Unsigned(left.checked_shr(u32::try_from(right).ok()?).unwrap_or(0)),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        _ => return None,
    })
}

fn apply_float(operator: &str, left: f64, right: f64) -> Option<Constant> {
    let truth = |value| Constant::Signed(i64::from(value));
    Some(match operator {
        "+" => Constant::Double(left + right),
        "-" => Constant::Double(left - right),
        "*" => Constant::Double(left * right),
        "/" => Constant::Double(left / right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        _ => return None,
    })
}

/// A literal.
fn number(text: &str) -> Option<Constant> {
    let hexadecimal = |digits: &str, length: usize| {
        (digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| u64::from_str_radix(digits, 16).ok())?
    };
    match text.as_bytes() {
        [b'0', b'f' | b'F', ..] => {
            hexadecimal(&text[2..], 8).map(|bits| Constant::Single(bits as u32))
        }
        [b'0', b'd' | b'D', ..] => {
            hexadecimal(&text[2..], 16).map(|bits| Constant::Double(f64::from_bits(bits)))
        }
        [b'0', b'x' | b'X', ..] => integer(&text[2..], 16),
        [b'0', b'b' | b'B', ..] => integer(&text[2..], 2),
        _ if text.contains('.') || text.contains(['e', 'E']) => {
            text.parse().ok().map(Constant::Double)
        }
        [b'0', _, ..] => integer(&text[1..], 8),
        _ => integer(text, 10),
    }
}

/// Digits and maybe `U`. What `s64` lacks is unsigned.
fn integer(digits: &str, radix: u32) -> Option<Constant> {
    let plain = digits.trim_end_matches(['U', 'u']);
    if plain.is_empty() {
        return (radix == 8).then_some(Constant::Unsigned(0));
    }
    let value = u64::from_str_radix(plain, radix).ok()?;
    let unsigned = plain.len() != digits.len();
    Some(match i64::try_from(value) {
        Ok(value) if !unsigned => Constant::Signed(value),
        _ => Constant::Unsigned(value),
    })
}
