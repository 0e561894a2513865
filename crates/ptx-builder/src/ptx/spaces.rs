//! Which registers hold addresses of shared and of constant memory, and nothing else.
//!
//! ptx-std takes such an address with `mov.u64 %rd1, SYMBOL; cvta.shared.u64 %rd1, %rd1;`. For LLVM
//! the result is a generic pointer, and so is what it derives from it. Here it is followed through
//! the function: a register is of a space if each of its definitions is an address of that space.
//! Loops make this circular, so every register is taken for undecided at first, and what is found
//! only ever takes possibilities away.

use std::collections::HashSet;

use ::ptx::{
    Binary, Body, Cvta, CvtaDirection, Half, Instruction, IntegerMad, IntegerSum, Mention, Operand,
    Operation, Reg, Type,
};

use super::source::Definition;

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

/// Contents of a register. Analysis goes from `Undecided` towards `Mixed` and never back.
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

/// The contents of the registers of one function.
#[derive(Debug)]
pub(crate) struct Spaces {
    /// By register; nothing of those that no instruction writes.
    values: Vec<Option<Value>>,
    pub(crate) origins: Vec<Origin>,
}

impl Spaces {
    pub(crate) fn of(definition: Definition<'_>) -> Self {
        let body = definition.body;
        let mut spaces = Spaces {
            values: vec![None; body.registers.len()],
            origins: origins(body),
        };
        spaces.find_defined(definition);
        let mut is_origin = vec![None; body.instructions.len()];
        for origin in &spaces.origins {
            is_origin[origin.instruction..][..2].fill(Some(origin.space));
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (instruction, origin) in body.instructions.iter().zip(&is_origin) {
                let value = match *origin {
                    Some(space) => Value::Of(space),
                    None => spaces.result(instruction),
                };
                for register in instruction.definitions() {
                    changed |= spaces.lower(register, value);
                }
            }
        }
        spaces
    }

    /// Returns what an operand holds.
    pub(crate) fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Register(register) => self.held(register),
            Operand::Immediate(0) => Value::Null,
            Operand::Immediate(_) | Operand::Symbol { .. } | Operand::Special(_) => Value::Plain,
        }
    }

    /// Returns what a register holds.
    pub(crate) fn held(&self, register: Reg) -> Value {
        self.values[register.0 as usize].unwrap_or(Value::Plain)
    }

    /// The space that the register is of.
    pub(crate) fn space(&self, register: Reg) -> Option<Space> {
        match self.held(register) {
            Value::Of(space) => Some(space),
            _ => None,
        }
    }

    /// The space that the operand is of, if it is a register.
    pub(crate) fn space_of(&self, operand: Operand) -> Option<Space> {
        self.space(operand.register()?)
    }

    /// Sets the registers that instructions write to undecided, and those that no other could stand for to mixed.
    fn find_defined(&mut self, definition: Definition<'_>) {
        for instruction in &definition.body.instructions {
            for register in instruction.definitions() {
                self.values[register.0 as usize].get_or_insert(Value::Undecided);
            }
            let mentioned = definition.mentions(instruction);
            for register in instruction.uses() {
                let is_it = |mention: &Mention| mention.operand.register() == Some(register);
                let guards = instruction.guard.is_some_and(|it| it.register == register);
                if !guards && !mentioned.iter().any(is_it) {
                    self.values[register.0 as usize] = Some(Value::Mixed);
                }
            }
        }
    }

    fn lower(&mut self, register: Reg, value: Value) -> bool {
        let held = &mut self.values[register.0 as usize];
        let old = held.unwrap_or(Value::Undecided);
        let new = old.meet(value);
        *held = Some(new);
        new != old
    }

    /// Returns the instruction's result, from the contents of its operands.
    fn result(&self, instruction: &Instruction) -> Value {
        match derivation(&instruction.operation) {
            Some(Derivation::Copy(a)) => self.value(a),
            Some(Derivation::Either(a, b)) => self.value(a).meet(self.value(b)),
            Some(Derivation::Sum(a, b)) => sum(self.value(a), self.value(b)),
            Some(Derivation::Difference(a, b)) => difference(self.value(a), self.value(b)),
            Some(Derivation::Mask(a, by)) => mask(self.value(a), by),
            Some(Derivation::Product(address)) => self.value(address),
            None if converts_from_space(&instruction.operation) => Value::Mixed,
            None => Value::Plain,
        }
    }
}

/// How an instruction makes an address from an address, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Derivation {
    Copy(Operand),
    /// One of the two operands.
    Either(Operand, Operand),
    /// Address and offset, in any order. `or` where the compiler knows that no carry occurs.
    Sum(Operand, Operand),
    /// Address less offset, or the distance of two addresses.
    Difference(Operand, Operand),
    /// Address rounded down.
    Mask(Operand, Operand),
    /// Address after a product.
    Product(Operand),
}

pub(super) fn derivation(operation: &Operation) -> Option<Derivation> {
    match operation {
        Operation::Mov(it) if is_address(it.ty) => Some(Derivation::Copy(it.a)),
        Operation::Selp(it) if is_address(it.ty) => Some(Derivation::Either(it.a, it.b)),
        Operation::IntegerAdd(it) if is_plain_sum(it) => Some(Derivation::Sum(it.a, it.b)),
        Operation::IntegerSub(it) if is_plain_sum(it) => Some(Derivation::Difference(it.a, it.b)),
        Operation::Or(Binary {
            ty: Type::B64,
            a,
            b,
            ..
        }) => Some(Derivation::Sum(*a, *b)),
        Operation::And(Binary {
            ty: Type::B64,
            a,
            b,
            ..
        }) => Some(Derivation::Mask(*a, *b)),
        Operation::IntegerMad(it) if is_plain_product(it) => Some(Derivation::Product(it.c)),
        _ => None,
    }
}

fn is_address(ty: Type) -> bool {
    matches!(ty, Type::B64 | Type::U64 | Type::S64)
}

fn is_plain_sum(it: &IntegerSum) -> bool {
    is_address(it.ty) && !it.saturate && !it.carry_in && !it.carry_out
}

/// Whether it is a sum of 64 bits, of which the product is one summand.
fn is_plain_product(it: &IntegerMad) -> bool {
    let is_wide = match it.half {
        Half::Lo => is_address(it.ty),
        Half::Wide => matches!(it.ty, Type::U32 | Type::S32),
        Half::Hi => false,
    };
    is_wide && !it.saturate && !it.carry_in && !it.carry_out
}

/// Which of the operands that it reads keep their window address in an instruction whose result is of a space. The
/// others are values like any.
pub(crate) fn address_operands(operation: &Operation) -> &'static [usize] {
    match derivation(operation) {
        Some(Derivation::Copy(_) | Derivation::Mask(..)) => &[0],
        Some(Derivation::Either(..) | Derivation::Sum(..)) => &[0, 1],
        Some(Derivation::Difference(..)) => &[0],
        Some(Derivation::Product(_)) => &[2],
        None => &[],
    }
}

/// Two operands for which the instruction gives the same result, be they generic addresses or not, if both are of
/// one space: it compares them, or takes their distance.
pub(crate) fn relative(operation: &Operation) -> Option<[Operand; 2]> {
    match operation {
        Operation::Setp(it) if it.ty.bytes() == 8 => Some([it.a, it.b]),
        _ => match derivation(operation)? {
            Derivation::Difference(a, b) => Some([a, b]),
            _ => None,
        },
    }
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
fn mask(value: Value, by: Operand) -> Value {
    let Some(space) = value.space_or_null() else {
        return value;
    };
    let coarsest = match space {
        Space::Shared => 1 << 16,
        Space::Constant => 1 << 8,
    };
    match by {
        Operand::Immediate(by) if by as i64 >= 0 => Value::Plain,
        Operand::Immediate(by) if by as i64 >= -coarsest => value,
        _ => Value::Mixed,
    }
}

/// A generic address of a space that is not written as an [`Origin`] is.
fn converts_from_space(operation: &Operation) -> bool {
    use ::ptx::Space::{Const, Shared, SharedCluster};
    matches!(operation, Operation::Cvta(it) if it.direction == CvtaDirection::ToGeneric
        && matches!(it.space, Shared | SharedCluster | Const))
}

/// The space from which a generic address is made.
fn space_converted(cvta: &Cvta) -> Option<Space> {
    match (cvta.direction, cvta.space) {
        (CvtaDirection::ToGeneric, ::ptx::Space::Shared) => Some(Space::Shared),
        (CvtaDirection::ToGeneric, ::ptx::Space::Const) => Some(Space::Constant),
        _ => None,
    }
}

fn origins(body: &Body) -> Vec<Origin> {
    let labelled: HashSet<usize> = body
        .labels
        .iter()
        .map(|label| label.position as usize)
        .collect();
    let pairs = body.instructions.windows(2).enumerate();
    pairs
        .filter_map(|(instruction, pair)| {
            let parted = labelled.contains(&(instruction + 1));
            let space = origin(&pair[0], &pair[1]).filter(|_| !parted)?;
            Some(Origin { instruction, space })
        })
        .collect()
}

fn origin(take: &Instruction, convert: &Instruction) -> Option<Space> {
    let (Operation::Mov(taken), Operation::Cvta(converted)) = (&take.operation, &convert.operation)
    else {
        return None;
    };
    let written_so = taken.ty == Type::U64
        && converted.ty == Type::U64
        && take.guard.is_none()
        && convert.guard.is_none()
        && matches!(taken.a, Operand::Symbol { .. })
        && converted.d == taken.d
        && converted.a == Operand::Register(taken.d);
    space_converted(converted).filter(|_| written_so)
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing;
    use super::super::source::Source;
    use super::*;

    const SHARED: &str = "mov.u64 %rd1, __shared_a__4_64; cvta.shared.u64 %rd1, %rd1;";
    const CONSTANT: &str = "mov.u64 %rd2, __constant__T; cvta.const.u64 %rd2, %rd2;";
    const OTHER: &str = "ld.param.b64 %rd3, [k_param_0];";

    /// Returns the contents of `%rd9` after the instructions.
    fn value_after(text: &str) -> Value {
        let text = testing::module(&format!(
            ".entry k(.param .b64 k_param_0) {{ {SHARED} {CONSTANT} {OTHER} {text} ret; }}"
        ));
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let definition = source.definitions().next().expect("a body");
        let mut registers = definition.body.registers.iter();
        let register = registers.position(|one| one.name == "%rd9");
        Spaces::of(definition).held(Reg(register.expect("it is named") as u32))
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
    fn what_is_unknown_may_have_written_all_that_it_names() {
        for text in [
            "mov.b64 %rd9, %rd1; conjure.b64 %rd9;",
            "mov.b64 %rd9, %rd1; @%p1 conjure.b64 {%rd3, %rd9}, [%rd4];",
            "mov.b64 %rd9, %rd1; bar.warp.conjure [%rd9];",
            "conjure.b64 [%rd1]; mov.b64 %rd9, %rd1;",
        ] {
            assert_eq!(value_after(text), Value::Mixed, "{text}");
        }
        let apart = "mov.b64 %rd9, %rd1; conjure.b64 %rd3;";
        assert_eq!(value_after(apart), Value::Of(Space::Shared));
    }

    #[test]
    fn halves_of_an_address_are_numbers() {
        let text = "mov.b64 {%r1, %r2}, %rd1; mov.b64 %rd9, {%r1, %r2};";
        assert_eq!(value_after(text), Value::Plain);
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
