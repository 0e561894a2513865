//! Expressions: what is printed, and conditions of breakpoints.
//!
//! Operators are C's. A name is a variable of the source, a special register (`threadIdx.x`, `%ctaid.y`, `lane`), a register of
//! PTX (`%r1`), a parameter (`arg0`, or its name in the PTX) or a variable in memory; behind it come members (`.x`) and elements
//! (`[3]`). `NAME.TYPE` takes the bits as a value of that type, and `NAME.TYPE[INDEX]` is an element of the array, or of the
//! memory to which the value of the name points.

use crate::dwarf::Held;
use crate::number::{Number, Type, Value};
use crate::object::{Names, Object};
use crate::path::{Path, Step};

/// An expression that has been read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Literal(Value),
    Path(Path),
    /// From the first index to before the second.
    Slice(Path, Box<(Expression, Expression)>),
    Unary(char, Box<Expression>),
    Binary(&'static str, Box<(Expression, Expression)>),
}

/// How deep parentheses and signs may be nested.
const MOST_NESTED: u32 = 64;

/// The most elements of a slice.
const MOST_ELEMENTS: i128 = 1024;

/// Operators, those that bind weakest first.
const OPERATORS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is none: says what was expected.
    pub(crate) fn parse(text: &str) -> Result<Expression, String> {
        let mut reader = Reader {
            rest: text.trim(),
            nested: 0,
        };
        let expression = reader.binary(0)?;
        match reader.rest.is_empty() {
            true => Ok(expression),
            false => Err(format!("expected an operator before `{}`", reader.rest)),
        }
    }

    /// Its value.
    ///
    /// # Errors
    /// A name means nothing, or memory cannot be read.
    pub(crate) fn value(&self, names: &dyn Names) -> Result<Value, String> {
        match self {
            Expression::Literal(value) => Ok(*value),
            Expression::Path(path) => path.object(names)?.value(&path.text(), names),
            Expression::Slice(path, _) => Err(format!(
                "a slice of `{}` is no single value: name one element",
                path.text()
            )),
            Expression::Unary(operator, of) => unary(*operator, of.value(names)?),
            Expression::Binary(operator, of) => {
                let first = of.0.value(names)?.number;
                match (*operator, first.is_true()) {
                    ("||", true) => Ok(truth(true)),
                    ("&&", false) => Ok(truth(false)),
                    _ => binary(operator, first, of.1.value(names)?.number),
                }
            }
        }
    }

    /// The object that it names, if it is a name and no value that is computed.
    ///
    /// # Errors
    /// As for [`Expression::value`].
    pub(crate) fn object(&self, names: &dyn Names) -> Result<Option<Object>, String> {
        match self {
            Expression::Path(path) => path.object(names).map(Some),
            _ => Ok(None),
        }
    }

    /// Its value as text with its type; of a slice its elements'.
    ///
    /// # Errors
    /// As for [`Expression::value`].
    pub(crate) fn shown(&self, names: &dyn Names) -> Result<(String, String), String> {
        let (path, range) = match self {
            Expression::Slice(path, range) => (path, range),
            Expression::Path(path) => {
                let object = path.object(names)?;
                let text = object.shown(&path.text(), names)?;
                return Ok((text, object.type_name(names.types())));
            }
            _ => {
                let value = self.value(names)?;
                return Ok((value.to_string(), value.ty.name().to_owned()));
            }
        };
        let (from, to) = (range.0.index(names)?, range.1.index(names)?);
        if to - from > MOST_ELEMENTS {
            let actual = to - from;
            return Err(format!(
                "{actual} elements; at most {MOST_ELEMENTS} are shown at once"
            ));
        }
        let mut texts = Vec::new();
        let mut shown = String::new();
        for index in from..to {
            let path = path.element(Expression::Literal(Value::integer(index)));
            let element = path.object(names)?;
            texts.push(element.shown(&path.text(), names)?);
            shown = element.type_name(names.types());
        }
        let ty = format!("[{shown}; {}]", texts.len());
        Ok((format!("[{}]", texts.join(", ")), ty))
    }

    /// The address and the bytes of an element.
    ///
    /// # Errors
    /// It is none, or as for [`Expression::value`].
    pub(crate) fn place(&self, names: &dyn Names) -> Result<(u64, u32), String> {
        let none = || "expected an element of memory, such as arg0.f32[17]".to_owned();
        let object = self.object(names)?.ok_or_else(none)?;
        let Held::Memory(address) = object.held else {
            return Err(none());
        };
        let bytes = object.bytes(names.types()).ok_or_else(none)?;
        let bytes = u32::try_from(bytes).map_err(|_| none())?;
        match names.read(address, bytes.into()) {
            Some(_) => Ok((address, bytes)),
            None => Err(format!(
                "{bytes} bytes at {address:#x} are not memory of the launch"
            )),
        }
    }

    pub(crate) fn index(&self, names: &dyn Names) -> Result<i128, String> {
        match self.value(names)?.number {
            Number::Integer(it) => Ok(it),
            Number::Float(it) => Err(format!("expected an integer as an index, found {it}")),
        }
    }
}

fn truth(it: bool) -> Value {
    Type::Pred.value(it.into())
}

fn unary(operator: char, of: Value) -> Result<Value, String> {
    Ok(match (operator, of.number) {
        ('!', number) => truth(!number.is_true()),
        ('-', Number::Integer(it)) => Value::integer(it.wrapping_neg()),
        ('-', Number::Float(it)) => Value::float(-it),
        (_, Number::Integer(it)) => Value::integer(!it),
        (_, Number::Float(it)) => return Err(format!("`~` of {it}, which is no integer")),
    })
}

fn binary(operator: &str, a: Number, b: Number) -> Result<Value, String> {
    if matches!(operator, "||" | "&&") {
        return Ok(truth(b.is_true()));
    }
    if let (Number::Integer(a), Number::Integer(b)) = (a, b) {
        return of_integers(operator, a, b);
    }
    let (a, b) = (a.float(), b.float());
    Ok(match operator {
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "+" => Value::float(a + b),
        "-" => Value::float(a - b),
        "*" => Value::float(a * b),
        "/" => Value::float(a / b),
        "%" => Value::float(a % b),
        _ => return Err(format!("`{operator}` of numbers that are no integers")),
    })
}

fn of_integers(operator: &str, a: i128, b: i128) -> Result<Value, String> {
    let shift = |by: i128| by.clamp(0, 127) as u32;
    Ok(match operator {
        "|" => Value::integer(a | b),
        "^" => Value::integer(a ^ b),
        "&" => Value::integer(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "<<" => Value::integer(a.wrapping_shl(shift(b))),
        ">>" => Value::integer(a >> shift(b)),
        "+" => Value::integer(a.wrapping_add(b)),
        "-" => Value::integer(a.wrapping_sub(b)),
        "*" => Value::integer(a.wrapping_mul(b)),
        _ if b == 0 => return Err("a division by zero".to_owned()),
        "/" => Value::integer(a.wrapping_div(b)),
        _ => Value::integer(a.wrapping_rem(b)),
    })
}

/// The part of a text that has not been read.
struct Reader<'t> {
    rest: &'t str,
    /// How many operands it is in.
    nested: u32,
}

impl<'t> Reader<'t> {
    /// Operands with operators that bind at least as strongly as those of a row.
    fn binary(&mut self, row: usize) -> Result<Expression, String> {
        let Some(operators) = OPERATORS.get(row) else {
            return self.unary();
        };
        let mut first = self.binary(row + 1)?;
        while let Some(operator) = self.operator(operators) {
            let second = self.binary(row + 1)?;
            first = Expression::Binary(operator, Box::new((first, second)));
        }
        Ok(first)
    }

    /// One of some operators, which is not the beginning of another.
    fn operator(&mut self, of: &[&'static str]) -> Option<&'static str> {
        let all = OPERATORS.iter().copied().flatten();
        let begins = all.filter(|it| self.rest.starts_with(**it));
        let found = *begins.max_by_key(|it| it.len())?;
        let operator = of.iter().find(|it| **it == found)?;
        self.skip(operator.len());
        Some(operator)
    }

    fn unary(&mut self) -> Result<Expression, String> {
        if self.nested == MOST_NESTED {
            return Err(format!("nested more than {MOST_NESTED} deep"));
        }
        self.nested += 1;
        let operand = self.operand();
        self.nested -= 1;
        operand
    }

    fn operand(&mut self) -> Result<Expression, String> {
        for operator in ['!', '-', '~'] {
            if self.takes(operator) {
                return Ok(Expression::Unary(operator, Box::new(self.unary()?)));
            }
        }
        if self.takes('*') {
            return match self.unary()? {
                Expression::Path(path) => {
                    let first = Expression::Literal(Value::integer(0));
                    Ok(Expression::Path(path.element(first)))
                }
                _ => Err("expected a name behind `*`".to_owned()),
            };
        }
        if self.takes('(') {
            let within = self.binary(0)?;
            return self.closed(')').map(|()| within);
        }
        match self.rest.chars().next() {
            Some('0'..='9') => self.literal(),
            Some(first) if is_of_name(first) => self.named(),
            Some(_) => Err(format!(
                "expected a name or a number before `{}`",
                self.rest
            )),
            None => Err("expected a name or a number at the end".to_owned()),
        }
    }

    fn literal(&mut self) -> Result<Expression, String> {
        let bytes = self.rest.as_bytes();
        let is_hexadecimal = self.rest.starts_with("0x");
        let mut end = 0;
        while let Some(&byte) = bytes.get(end) {
            let is_of_range = byte == b'.' && bytes.get(end + 1) == Some(&b'.');
            let is_sign = matches!(byte, b'+' | b'-')
                && !is_hexadecimal
                && end > 0
                && matches!(bytes[end - 1], b'e' | b'E');
            let is_digit = byte.is_ascii_alphanumeric() || byte == b'.' && !is_hexadecimal;
            if is_of_range || !(is_digit || is_sign) {
                break;
            }
            end += 1;
        }
        let text = self.take(end);
        let integer = match text.strip_prefix("0x") {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let float = || text.trim_end_matches('f').parse().ok().map(Value::float);
        let value = integer.map(Value::integer).or_else(float);
        value
            .map(Expression::Literal)
            .ok_or_else(|| format!("`{text}` is no number"))
    }

    fn named(&mut self) -> Result<Expression, String> {
        let mut path = Path {
            name: self.word().to_owned(),
            steps: Vec::new(),
        };
        loop {
            // A slice has two dots.
            let is_member = self.rest.starts_with('.') && !self.rest.starts_with("..");
            if is_member || self.rest.starts_with("->") {
                self.skip(if is_member { 1 } else { 2 });
                let member = self.word();
                if member.is_empty() {
                    return Err(format!("expected a member before `{}`", self.rest));
                }
                path.steps.push(Step::Member(member.to_owned()));
            } else if self.takes('[') {
                let first = self.binary(0)?;
                if self.rest.starts_with("..") {
                    self.skip(2);
                    let second = self.binary(0)?;
                    self.closed(']')?;
                    return Ok(Expression::Slice(path, Box::new((first, second))));
                }
                self.closed(']')?;
                path.steps.push(Step::Element(first));
            } else {
                return Ok(Expression::Path(path));
            }
        }
    }

    fn word(&mut self) -> &'t str {
        let end = self.rest.find(|it| !is_of_name(it));
        self.take(end.unwrap_or(self.rest.len()))
    }

    fn closed(&mut self, bracket: char) -> Result<(), String> {
        match self.takes(bracket) {
            true => Ok(()),
            false => Err(format!("expected `{bracket}` before `{}`", self.rest)),
        }
    }

    fn takes(&mut self, character: char) -> bool {
        let is_there = self.rest.starts_with(character);
        if is_there {
            self.skip(character.len_utf8());
        }
        is_there
    }

    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, _) = self.rest.split_at(bytes);
        self.skip(bytes);
        taken
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }
}

fn is_of_name(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '$' | '%')
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::dwarf::Types;

    struct Fixed;

    impl Names for Fixed {
        fn object(&self, name: &str) -> Option<Result<Object, String>> {
            let number = |bits, ty| Some(Ok(Object::number(bits, ty)));
            match name {
                "threadIdx.x" => number(17, Type::U32),
                "%r1" => number(0x4000_0000, Type::U32),
                "arg0" => number(0x100, Type::U64),
                "tile" => Some(Ok(Object::numbers(0x200, Type::F32, 4))),
                "gone" => Some(Err("`gone` is optimized out here".to_owned())),
                _ => None,
            }
        }

        fn read(&self, address: u64, bytes: u64) -> Option<Vec<u8>> {
            let read = address.to_le_bytes()[..bytes as usize].to_vec();
            (0x100..0x300).contains(&address).then_some(read)
        }

        fn types(&self) -> &Types {
            static NONE: LazyLock<Types> = LazyLock::new(Types::default);
            &NONE
        }
    }

    fn shown(text: &str) -> Result<String, String> {
        Ok(Expression::parse(text)?.shown(&Fixed)?.0)
    }

    #[test]
    fn operators_bind_as_in_c() {
        for (text, value) in [
            ("1 + 2 * 3", "7"),
            ("threadIdx.x == 17 && 3 < 4", "true"),
            ("threadIdx.x==16||1>=2", "false"),
            ("(1 | 2) & 2", "2"),
            ("1 << 4 >> 2", "4"),
            ("-threadIdx.x % 5", "-2"),
            ("!0 == 1", "true"),
            ("~0", "-1"),
            ("7 / 2.0", "3.5"),
            ("1e-3", "0.001"),
            ("0xff", "255"),
            ("0 && nothing", "false"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(value), "{text}");
        }
    }

    #[test]
    fn names_have_types_and_elements() {
        for (text, value) in [
            ("%r1.f32", "2.0"),
            ("arg0.u32[2]", "264"),
            ("arg0.u16[threadIdx.x]", "290"),
            ("tile.u32[1]", "516"),
            ("tile.u8[0..3]", "[0, 1, 2]"),
            ("mem.u8[0x101]", "1"),
            ("mem.u32[0x102]", "258"),
            ("tile.u32[0..2]", "[512, 516]"),
            ("*arg0.u16", "256"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(value), "{text}");
        }
        let place = |text: &str| Expression::parse(text).and_then(|it| it.place(&Fixed));
        assert_eq!(place("arg0.f64[1]"), Ok((0x108, 8)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, error) in [
            ("", "expected a name or a number at the end"),
            ("1 +", "expected a name or a number at the end"),
            ("1 2", "expected an operator before `2`"),
            ("(1", "expected `)` before ``"),
            ("x", "nothing is called `x` here"),
            (
                "arg0[1]",
                "PTX does not say what `arg0` points to: name the type, as arg0.f32[0]",
            ),
            (
                "-tile",
                "`tile` has 4 elements of f32: name one, as tile[0]",
            ),
            ("gone + 1", "`gone` is optimized out here"),
            ("%r1.x", "`%r1` has no member `x`"),
            ("*1", "expected a name behind `*`"),
            ("tile[1.5]", "expected an integer as an index, found 1.5"),
            ("mem.u32[4]", "4 bytes at 0x4 are not memory of the launch"),
            ("1 / 0", "a division by zero"),
            (
                "tile[0..9999]",
                "9999 elements; at most 1024 are shown at once",
            ),
        ] {
            assert_eq!(shown(text), Err(error.to_owned()), "{text}");
        }
        let deep = "(".repeat(1 << 16);
        assert_eq!(shown(&deep), Err("nested more than 64 deep".to_owned()));
    }
}
