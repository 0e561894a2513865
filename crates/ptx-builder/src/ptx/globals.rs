//! Which registers of a kernel hold addresses of global memory: those that it was given, and what is derived from them.
//!
//! A host has no other addresses to give than those of global memory. `ptxas` knows, but not of atomic operations nor of loads and
//! stores with an order: by a generic address an addition whose result nobody needs is slower on an H100 than by a global one. The
//! two are the same number, so the opcode alone changes.

use ::ptx::{Base, Function, FunctionKind, Operand, Operation, Reg, Space, Symbol};

use super::source::Definition;
use super::spaces::{Derivation, derivation};

/// Contents of a register. Analysis goes downwards and never back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// Nothing is known yet.
    Undecided,
    /// An address that the kernel was given, with whatever was added to it.
    Given,
    /// Anything that was not made from such an address.
    Other,
    /// Made from one, and perhaps no address of global memory.
    Mixed,
}

impl Value {
    fn meet(self, other: Value) -> Value {
        match (self, other) {
            (Value::Undecided, value) | (value, Value::Undecided) => value,
            (one, two) if one == two => one,
            _ => Value::Mixed,
        }
    }
}

/// The registers that hold addresses of global memory, of a kernel; of another function none is known to.
pub(crate) struct Globals(Vec<Option<Value>>);

impl Globals {
    pub(crate) fn of(definition: Definition<'_>) -> Self {
        let Definition { function, body, .. } = definition;
        let mut globals = Globals(vec![None; body.registers.len()]);
        if function.kind != FunctionKind::Entry {
            return globals;
        }
        for register in body.instructions.iter().flat_map(|one| one.definitions()) {
            globals.0[register.0 as usize] = Some(Value::Undecided);
        }
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &body.instructions {
                let value = globals.result(&instruction.operation, function);
                for register in instruction.definitions() {
                    let old = globals.held(register);
                    let new = old.meet(value);
                    changed |= new != old;
                    globals.0[register.0 as usize] = Some(new);
                }
            }
        }
        globals
    }

    pub(crate) fn has(&self, register: Reg) -> bool {
        self.held(register) == Value::Given
    }

    fn held(&self, register: Reg) -> Value {
        self.0[register.0 as usize].unwrap_or(Value::Other)
    }

    fn value(&self, operand: Operand) -> Value {
        operand.register().map_or(Value::Other, |it| self.held(it))
    }

    fn result(&self, operation: &Operation, function: &Function) -> Value {
        if loads_pointer(operation, function) {
            return Value::Given;
        }
        match derivation(operation) {
            Some(Derivation::Copy(a)) => self.value(a),
            Some(Derivation::Either(a, b)) => self.value(a).meet(self.value(b)),
            Some(Derivation::Sum(a, b)) => sum(self.value(a), self.value(b)),
            Some(Derivation::Difference(a, b)) => difference(self.value(a), self.value(b)),
            // Of an address the lower bits may be left, which are none.
            Some(Derivation::Mask(a, _)) => match self.value(a) {
                Value::Given => Value::Mixed,
                value => value,
            },
            Some(Derivation::Product(address)) => sum(self.value(address), Value::Other),
            None => Value::Other,
        }
    }
}

/// Whether a parameter is loaded that is a pointer.
fn loads_pointer(operation: &Operation, function: &Function) -> bool {
    let Operation::Ld(load) = operation else {
        return false;
    };
    match load.address.base {
        Base::Symbol(Symbol::Parameter(index)) if load.space == Space::Param => {
            let parameter = &function.parameters[index as usize];
            parameter.pointer.is_some() && load.address.offset == 0
        }
        _ => false,
    }
}

fn sum(one: Value, two: Value) -> Value {
    match (one, two) {
        (Value::Mixed, _) | (_, Value::Mixed) => Value::Mixed,
        (Value::Undecided, _) | (_, Value::Undecided) => Value::Undecided,
        (Value::Given, Value::Given) => Value::Mixed,
        (Value::Given, _) | (_, Value::Given) => Value::Given,
        _ => Value::Other,
    }
}

/// Of an address and what is no address of the kernel's; another difference may be the way from one space to another.
fn difference(from: Value, less: Value) -> Value {
    match (from, less) {
        (_, Value::Given) => Value::Mixed,
        (from, less) => sum(from, less),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing;
    use super::super::source::Source;
    use super::*;

    /// Whether `%rd9` holds an address of global memory after the instructions of such a function, which is given one in `%rd1`,
    /// and a number in `%rd2`.
    fn is_global(kind: &str, text: &str) -> bool {
        let text = testing::module(&format!(
            ".visible {kind} k(\n.param .u64 .ptr .align 1 k_param_0,\n.param .u64 k_param_1\n)\n{{\n\
             ld.param.b64 %rd1, [k_param_0]; ld.param.b64 %rd2, [k_param_1]; {text} ret;\n}}"
        ));
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let definition = source.definitions().next().expect("a body");
        let mut registers = definition.body.registers.iter();
        let register = registers.position(|one| one.name == "%rd9");
        Globals::of(definition).has(Reg(register.expect("it is named") as u32))
    }

    #[test]
    fn what_a_kernel_is_given_and_what_is_derived_from_it_is_global() {
        for text in [
            "mov.b64 %rd9, %rd1;",
            "add.s64 %rd9, %rd2, %rd1;",
            "ld.b64 %rd3, [%rd1]; shl.b64 %rd4, %rd3, 2; add.s64 %rd9, %rd1, %rd4;",
            "and.b64 %rd3, %rd2, 7; add.s64 %rd9, %rd1, %rd3;",
            "mad.wide.u32 %rd9, %r3, 4, %rd1;",
            "mov.b64 %rd9, %rd1; $L: add.s64 %rd8, %rd9, 4; mov.b64 %rd9, %rd8; @%p1 bra $L;",
        ] {
            assert!(is_global(".entry", text), "{text}");
            assert!(!is_global(".func", text), "{text}");
        }
    }

    #[test]
    fn what_may_be_something_else_stays_generic() {
        for text in [
            "mov.b64 %rd9, %rd2;",
            "ld.b64 %rd9, [%rd1];",
            "selp.b64 %rd9, %rd1, %rd2, %p1;",
            "mov.u64 %rd9, TILE; cvta.shared.u64 %rd9, %rd9;",
            "mov.b64 %rd9, %rd1; @%p1 ld.b64 %rd9, [%rd1];",
            "sub.s64 %rd3, %rd2, %rd1; add.s64 %rd9, %rd3, %rd1;",
            "add.s64 %rd9, %rd1, %rd1;",
            "and.b64 %rd9, %rd1, 15;",
        ] {
            assert!(!is_global(".entry", text), "{text}");
        }
    }
}
