//! Which registers of a kernel hold addresses of global memory: those that it was given, and what is derived from them.
//!
//! A host has no other addresses to give than those of global memory. `ptxas` knows, but not of atomic operations nor of loads and
//! stores with an order: by a generic address an addition whose result nobody needs is slower on an H100 than by a global one. The
//! two are the same number, so the opcode alone changes.

use std::collections::HashMap;

use super::instruction::Instruction;
use super::parse::{Function, Kind};
use super::spaces::{Derivation, derivation};

/// What a register holds. Analysis goes downwards and never back.
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
pub(crate) struct Globals<'t>(HashMap<&'t str, Value>);

impl<'t> Globals<'t> {
    pub(crate) fn of(function: &Function<'t>) -> Self {
        let Some(body) = function
            .body
            .as_ref()
            .filter(|_| function.kind == Kind::Entry)
        else {
            return Globals(HashMap::new());
        };
        let pointers: Vec<&str> = function
            .parameters
            .iter()
            .filter(|parameter| parameter.contains(".ptr"))
            .filter_map(|parameter| parameter.split_whitespace().last())
            .collect();
        let defined = body.instructions.iter().flat_map(Instruction::results);
        let mut globals = Globals(defined.map(|name| (name, Value::Undecided)).collect());
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &body.instructions {
                let value = globals.result(instruction, &pointers);
                for name in instruction.results() {
                    let old = globals.value(name);
                    let new = old.meet(value);
                    changed |= new != old;
                    globals.0.insert(name, new);
                }
            }
        }
        globals
    }

    pub(crate) fn has(&self, register: &str) -> bool {
        self.value(register) == Value::Given
    }

    /// What an operand holds: a register, or a number.
    fn value(&self, operand: &str) -> Value {
        self.0.get(operand).copied().unwrap_or(Value::Other)
    }

    fn result(&self, instruction: &Instruction<'t>, pointers: &[&str]) -> Value {
        let operand = |index: usize| {
            let operand = instruction.operands.get(index);
            operand.map_or(Value::Other, |operand| self.value(operand))
        };
        if instruction.opcode.starts_with("ld.param.") {
            let place = instruction.operands.get(1).map(|place| {
                let inner = place.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
                inner.is_some_and(|name| pointers.contains(&name))
            });
            return match place {
                Some(true) => Value::Given,
                _ => Value::Other,
            };
        }
        match derivation(instruction) {
            Some(Derivation::Copy) => operand(1),
            Some(Derivation::Either) => operand(1).meet(operand(2)),
            Some(Derivation::Sum) => sum(operand(1), operand(2)),
            Some(Derivation::Difference) => difference(operand(1), operand(2)),
            // Of an address the lower bits may be left, which are none.
            Some(Derivation::Mask) => match operand(1) {
                Value::Given => Value::Mixed,
                value => value,
            },
            Some(Derivation::Product) => sum(operand(3), Value::Other),
            None => Value::Other,
        }
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
    use super::super::parse::Module;
    use super::*;

    /// Whether `%rd9` holds an address of global memory after the instructions of such a function, which is given one in `%rd1`,
    /// and a number in `%rd2`.
    fn is_global(kind: &str, text: &str) -> bool {
        let text = format!(
            ".address_size 64\n.visible {kind} k(\n.param .u64 .ptr .align 1 k_param_0,\n.param .u64 k_param_1\n)\n{{\n\
             ld.param.b64 %rd1, [k_param_0]; ld.param.b64 %rd2, [k_param_1]; {text} ret;\n}}"
        );
        let module = Module::parse(&text).expect("a module");
        Globals::of(&module.functions[0]).has("%rd9")
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
