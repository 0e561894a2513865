//! Which registers hold addresses of shared and of constant memory, and nothing else.
//!
//! ptx-std takes such an address with `mov.u64 %rd1, SYMBOL; cvta.shared.u64 %rd1, %rd1;`. For LLVM
//! the result is a generic pointer, and so is what it derives from it. Here it is followed through
//! the function: a register is of a space if each of its definitions is an address of that space.
//! Loops make this circular, so every register is taken for undecided at first, and what is found
//! only ever takes possibilities away.

use std::collections::{HashMap, HashSet};

use super::body::Body;
use super::instruction::Instruction;

/// A state space with an address window of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Shared,
    Constant,
}

impl Space {
    /// As opcodes name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Space::Shared => "shared",
            Space::Constant => "const",
        }
    }
}

/// What a register holds. Analysis goes from `Undecided` towards `Mixed` and never back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// Nothing is known yet.
    Undecided,
    /// An address in the space, with whatever was added to it.
    Of(Space),
    /// A generic address in the space, or a null pointer, as an `Option` of a reference is: where it is
    /// accessed, it is in the space.
    OrNull(Space),
    /// The number 0, which may be a null pointer, with whatever was added to it.
    Null,
    /// Neither an address of one of the spaces nor made from one.
    Plain,
    /// Made from an address of a space, and at times something else.
    Mixed,
}

impl Value {
    fn meet(self, other: Value) -> Value {
        match (self, other) {
            (Value::Undecided, value) | (value, Value::Undecided) => value,
            (one, two) if one == two => one,
            (Value::Null, Value::Plain) | (Value::Plain, Value::Null) => Value::Plain,
            (one, two) => match (one.space_or_null(), two.space_or_null()) {
                (Some(one), Some(two)) if one == two => Value::OrNull(one),
                (Some(space), None) if two == Value::Null => Value::OrNull(space),
                (None, Some(space)) if one == Value::Null => Value::OrNull(space),
                _ => Value::Mixed,
            },
        }
    }

    fn space_or_null(self) -> Option<Space> {
        match self {
            Value::Of(space) | Value::OrNull(space) => Some(space),
            _ => None,
        }
    }

    /// A number that is no address.
    fn is_number(self) -> bool {
        matches!(self, Value::Plain | Value::Null)
    }
}

/// Where an address is taken: the `mov` has this index, and the `cvta` the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) instruction: usize,
    pub(crate) space: Space,
}

/// What the registers of one function hold.
#[derive(Debug)]
pub(crate) struct Spaces<'t> {
    values: HashMap<&'t str, Value>,
    pub(crate) origins: Vec<Origin>,
}

impl<'t> Spaces<'t> {
    pub(crate) fn of(body: &Body<'t>) -> Self {
        let mut spaces = Spaces {
            values: HashMap::new(),
            origins: origins(body),
        };
        let origin_of: HashMap<usize, Space> = spaces
            .origins
            .iter()
            .flat_map(|origin| [0, 1].map(|step| (origin.instruction + step, origin.space)))
            .collect();
        let defined = body.instructions.iter().flat_map(Instruction::results);
        spaces.values = defined.map(|name| (name, Value::Undecided)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, instruction) in body.instructions.iter().enumerate() {
                let value = match origin_of.get(&index) {
                    Some(&space) => Value::Of(space),
                    None => spaces.result(instruction),
                };
                for name in instruction.results() {
                    changed |= spaces.lower(name, value);
                }
            }
        }
        spaces
    }

    /// What an operand holds: a register, or a number.
    pub(crate) fn value(&self, operand: &str) -> Value {
        let number = match operand {
            "0" => Value::Null,
            _ => Value::Plain,
        };
        self.values.get(operand).copied().unwrap_or(number)
    }

    /// The space that the register is of.
    pub(crate) fn space(&self, register: &str) -> Option<Space> {
        match self.value(register) {
            Value::Of(space) => Some(space),
            _ => None,
        }
    }

    /// The registers that are of a space.
    pub(crate) fn registers(&self) -> HashSet<&'t str> {
        let of_space =
            |(&name, value): (&&'t str, &Value)| matches!(value, Value::Of(_)).then_some(name);
        self.values.iter().filter_map(of_space).collect()
    }

    fn lower(&mut self, name: &'t str, value: Value) -> bool {
        let old = self.value(name);
        let new = old.meet(value);
        if new != old {
            self.values.insert(name, new);
        }
        new != old
    }

    /// What the instruction makes of what its operands hold.
    fn result(&self, instruction: &Instruction<'t>) -> Value {
        let operand = |index: usize| {
            let operand = instruction.operands.get(index);
            operand.map_or(Value::Plain, |operand| self.value(operand))
        };
        match derivation(instruction) {
            Some(Derivation::Copy) => operand(1),
            Some(Derivation::Either) => operand(1).meet(operand(2)),
            Some(Derivation::Sum) => sum(operand(1), operand(2)),
            Some(Derivation::Difference) => difference(operand(1), operand(2)),
            Some(Derivation::Mask) => mask(operand(1), instruction),
            Some(Derivation::Product) => operand(3),
            None if converts_from_space(instruction) => Value::Mixed,
            None => Value::Plain,
        }
    }
}

/// How an instruction makes an address from an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Derivation {
    Copy,
    /// One of the two operands.
    Either,
    /// Address and offset, in any order. `or` where the compiler knows that no carry occurs.
    Sum,
    /// Address less offset, or the distance of two addresses.
    Difference,
    /// Address rounded down.
    Mask,
    /// Address after a product.
    Product,
}

pub(super) fn derivation(instruction: &Instruction<'_>) -> Option<Derivation> {
    match instruction.opcode {
        "mov.b64" | "mov.u64" | "mov.s64" => Some(Derivation::Copy),
        "selp.b64" | "selp.u64" | "selp.s64" => Some(Derivation::Either),
        "add.s64" | "add.u64" | "or.b64" => Some(Derivation::Sum),
        "sub.s64" | "sub.u64" => Some(Derivation::Difference),
        "and.b64" => Some(Derivation::Mask),
        "mad.lo.s64" | "mad.lo.u64" | "mad.wide.u32" | "mad.wide.s32" => Some(Derivation::Product),
        _ => None,
    }
}

/// The operands that keep their window address in an instruction whose result is of a space. The
/// others are values like any.
pub(crate) fn address_operands(instruction: &Instruction<'_>) -> &'static [usize] {
    match derivation(instruction) {
        Some(Derivation::Copy | Derivation::Mask) => &[1],
        Some(Derivation::Either | Derivation::Sum) => &[1, 2],
        Some(Derivation::Difference) => &[1],
        Some(Derivation::Product) => &[3],
        None => &[],
    }
}

/// Whether the instruction gives the same result for two addresses of one space, be they generic or
/// not: comparing them, and taking their distance.
pub(crate) fn is_relative(instruction: &Instruction<'_>) -> bool {
    let compares = instruction.base() == "setp" && instruction.opcode.ends_with("64");
    compares || derivation(instruction) == Some(Derivation::Difference)
}

fn sum(one: Value, two: Value) -> Value {
    match (one, two) {
        (Value::Mixed, _) | (_, Value::Mixed) => Value::Mixed,
        (Value::Undecided, _) | (_, Value::Undecided) => Value::Undecided,
        (Value::Plain, value) | (value, Value::Plain) => value,
        (Value::Null, value) | (value, Value::Null) => value,
        (Value::Of(_) | Value::OrNull(_), Value::Of(_) | Value::OrNull(_)) => Value::Mixed,
    }
}

fn difference(from: Value, less: Value) -> Value {
    match (from, less) {
        (Value::Mixed, _) | (_, Value::Mixed) => Value::Mixed,
        (Value::Undecided, _) | (_, Value::Undecided) => Value::Undecided,
        (value, less) if less.is_number() => value,
        (from, less) if from.space_or_null() == less.space_or_null() => Value::Plain,
        _ => Value::Mixed,
    }
}

/// An address rounded down by a constant is one still. The window and the generic addresses differ
/// by a multiple of every alignment that is taken for one here.
fn mask(value: Value, instruction: &Instruction<'_>) -> Value {
    let Some(space) = value.space_or_null() else {
        return value;
    };
    let coarsest = match space {
        Space::Shared => 1 << 16,
        Space::Constant => 1 << 8,
    };
    let by = instruction.operands.get(2);
    match by.and_then(|by| by.parse::<i64>().ok()) {
        Some(by) if by >= 0 => Value::Plain,
        Some(by) if by >= -coarsest => value,
        _ => Value::Mixed,
    }
}

/// A generic address of a space that is not written as an [`Origin`] is.
fn converts_from_space(instruction: &Instruction<'_>) -> bool {
    ["cvta.shared", "cvta.const"]
        .iter()
        .any(|opcode| instruction.opcode.starts_with(opcode))
}

fn origins(body: &Body<'_>) -> Vec<Origin> {
    let pairs = body.instructions.windows(2).enumerate();
    pairs
        .filter_map(|(instruction, pair)| {
            let parted = body.labelled.contains(&(instruction + 1));
            let space = origin(&pair[0], &pair[1]).filter(|_| !parted)?;
            Some(Origin { instruction, space })
        })
        .collect()
}

fn origin(take: &Instruction<'_>, convert: &Instruction<'_>) -> Option<Space> {
    let space = match convert.opcode {
        "cvta.shared.u64" => Space::Shared,
        "cvta.const.u64" => Space::Constant,
        _ => return None,
    };
    let (&[register, symbol], &[result, source]) = (&take.operands[..], &convert.operands[..])
    else {
        return None;
    };
    let written_so = take.opcode == "mov.u64"
        && take.guard.is_none()
        && convert.guard.is_none()
        && register == result
        && register == source
        && register.starts_with('%')
        && symbol.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'));
    written_so.then_some(space)
}

#[cfg(test)]
mod tests {
    use super::super::body;
    use super::super::scanner::Scanner;
    use super::*;

    const SHARED: &str = "mov.u64 %rd1, __shared_a__4_64; cvta.shared.u64 %rd1, %rd1;";
    const CONSTANT: &str = "mov.u64 %rd2, __constant__T; cvta.const.u64 %rd2, %rd2;";
    const OTHER: &str = "ld.param.b64 %rd3, [k_param_0];";

    /// What `%rd9` holds after the instructions.
    fn value_after(text: &str) -> Value {
        let text = format!("{SHARED} {CONSTANT} {OTHER} {text} ret; }}");
        let body = body::parse(&mut Scanner::new(&text)).expect("it ends");
        Spaces::of(&body).value("%rd9")
    }

    #[test]
    fn what_is_derived_from_an_address_of_a_space_is_one() {
        for text in [
            "mov.b64 %rd9, %rd1;",
            "add.s64 %rd9, %rd1, %rd3;",
            "add.s64 %rd9, %rd3, %rd1;",
            "sub.s64 %rd9, %rd1, 8;",
            "or.b64 %rd9, %rd1, 4;",
            "and.b64 %rd9, %rd1, -16;",
            "mad.lo.s64 %rd9, %rd3, 4, %rd1;",
            "mad.wide.u32 %rd9, %r3, 4, %rd1;",
            "add.s64 %rd8, %rd1, 4; selp.b64 %rd9, %rd1, %rd8, %p1;",
            "@%p1 mov.b64 %rd9, %rd1;",
        ] {
            assert_eq!(value_after(text), Value::Of(Space::Shared), "{text}");
        }
        let constant = value_after("add.s64 %rd9, %rd2, 8;");
        assert_eq!(constant, Value::Of(Space::Constant));
    }

    #[test]
    fn what_may_be_something_else_is_mixed() {
        for text in [
            "selp.b64 %rd9, %rd1, %rd3, %p1;",
            "selp.b64 %rd9, %rd1, %rd2, %p1;",
            "mov.b64 %rd9, %rd1; mov.b64 %rd9, %rd3;",
            "mov.b64 %rd9, %rd1; mov.b64 %rd9, 0; mov.b64 %rd9, %rd3;",
            "mov.b64 %rd9, %rd1; mov.b64 %rd9, 0; mov.b64 %rd9, %rd2;",
            "selp.b64 %rd8, %rd1, 0, %p1; add.s64 %rd9, %rd8, %rd1;",
            "sub.s64 %rd9, 0, %rd1;",
            "add.s64 %rd9, %rd1, %rd2;",
            "sub.s64 %rd9, %rd3, %rd1;",
            "and.b64 %rd9, %rd1, %rd3;",
            "and.b64 %rd9, %rd1, -1048576;",
            "selp.b64 %rd8, %rd1, %rd3, %p1; add.s64 %rd9, %rd8, 4;",
            "mov.u64 %rd8, TILE; cvta.shared.u64 %rd9, %rd8;",
        ] {
            assert_eq!(value_after(text), Value::Mixed, "{text}");
        }
    }

    #[test]
    fn what_may_be_null_is_an_address_where_it_is_accessed() {
        for text in [
            "mov.b64 %rd9, %rd1; mov.b64 %rd9, 0;",
            "mov.b64 %rd9, 0; @%p1 mov.b64 %rd9, %rd1;",
            "selp.b64 %rd9, %rd1, 0, %p1;",
            "selp.b64 %rd8, 0, %rd1, %p1; add.s64 %rd9, %rd8, 4;",
            "mov.b64 %rd8, 0; add.s64 %rd9, %rd8, 4; mov.b64 %rd8, %rd1;",
            "selp.b64 %rd8, 0, %rd1, %p1; and.b64 %rd9, %rd8, -16;",
        ] {
            assert_eq!(value_after(text), Value::OrNull(Space::Shared), "{text}");
        }
        // A counter is no address.
        let counter = "mov.b64 %rd9, 0; $L: add.s64 %rd9, %rd9, %rd3; @%p1 bra $L;";
        assert_eq!(value_after(counter), Value::Null);
    }

    #[test]
    fn what_is_no_address_is_plain() {
        for text in [
            "mov.b64 %rd9, %rd3;",
            "sub.s64 %rd9, %rd1, %rd1;",
            "and.b64 %rd9, %rd1, 15;",
            "shl.b64 %rd9, %rd1, 2;",
            "ld.b64 %rd9, [%rd1];",
            "mov.u64 %rd9, %clock64;",
        ] {
            assert_eq!(value_after(text), Value::Plain, "{text}");
        }
    }

    #[test]
    fn a_pointer_that_a_loop_moves_on_stays_one() {
        let text =
            "mov.b64 %rd9, %rd1; $L: add.s64 %rd8, %rd9, 4; mov.b64 %rd9, %rd8; @%p1 bra $L;";
        assert_eq!(value_after(text), Value::Of(Space::Shared));
        let swapped = "mov.b64 %rd9, %rd1; $L: add.s64 %rd8, %rd9, 4; mov.b64 %rd9, %rd8;
            @%p1 mov.b64 %rd8, %rd3; @%p2 bra $L;";
        assert_eq!(value_after(swapped), Value::Mixed);
    }
}
