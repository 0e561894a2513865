//! The roots of the pointers in registers: an access by a pointer into one buffer that lands in another is a bug,
//! though there is memory.
//!
//! A register is looked at as a whole, whatever the path on which it was written.

use std::collections::BTreeSet;

use ptx::{
    Address, Base, Body, Function, FunctionKind, Instruction, Ld, Operand, Operation, Space, Symbol,
};

use super::layout::Layout;
use super::locals::Locals;
use super::parts;
use crate::exec::parameter_bounds::parameter_bounds;
use crate::exec::root::Root;

/// The possible origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    /// No pointer, or not yet seen.
    Number,
    /// From memory, another function or another lane: a number, or a pointer into anything.
    Loaded,
    /// Made from the kernel's 8 bytes at this offset of its parameters, of which PTX does not say what they are, as
    /// nvcc's does not: a pointer, where they lead to memory, or a number.
    Given(u32),
    /// A pointer that was made from this.
    From(Root),
    /// Several of these, or something made from an address that is none.
    Unknown,
}

/// The roots of a function's registers.
pub(crate) struct Roots {
    values: Vec<Value>,
    /// The variables that it reads by `ld.global.nc`, as LLVM does those of Rust's `static`s that do not change.
    constants: BTreeSet<u64>,
}

impl Roots {
    pub(crate) fn of(
        layout: &Layout<'_>,
        index: u32,
        function: &Function,
        body: &Body,
        locals: &Locals,
    ) -> Roots {
        let mut roots = Roots {
            values: vec![Value::Number; body.registers.len()],
            constants: BTreeSet::new(),
        };
        let symbols = |symbol| of_symbol(layout, index, body, locals, symbol);
        loop {
            let mut has_changed = false;
            for (place, instruction) in body.instructions.iter().enumerate() {
                let defined = instruction.definitions();
                if defined.is_empty() {
                    continue;
                }
                let value = match parts::gives_part(body, place) {
                    true => Value::From(Root::Part(place as u32)),
                    false => roots.value(function, instruction, &symbols),
                };
                for register in defined {
                    let known = &mut roots.values[register.0 as usize];
                    let joined = known.or(value);
                    has_changed |= joined != *known;
                    *known = joined;
                }
            }
            if !has_changed {
                break;
            }
        }
        for instruction in &body.instructions {
            if let Operation::Ld(it) = &instruction.operation
                && it.read_only
                && let Value::From(Root::Variable(address)) = roots.at(&it.address, &symbols)
            {
                roots.constants.insert(address);
            }
        }
        roots
    }

    /// Returns the root of an address, where it has one alone.
    pub(crate) fn of_address(
        &self,
        layout: &Layout<'_>,
        index: u32,
        body: &Body,
        locals: &Locals,
        address: &Address,
    ) -> Option<Root> {
        let symbols = |symbol| of_symbol(layout, index, body, locals, symbol);
        match self.at(address, &symbols) {
            Value::From(root) => Some(root),
            Value::Given(offset) => Some(Root::Parameter(offset)),
            _ => None,
        }
    }

    /// The same, of an address that is written.
    pub(crate) fn written(&self, root: Root) -> Root {
        match root {
            Root::Variable(address) if self.constants.contains(&address) => Root::Constant(address),
            other => other,
        }
    }

    fn at(&self, address: &Address, symbols: &dyn Fn(Symbol) -> Value) -> Value {
        match address.base {
            Base::Register(register) => self.values[register.0 as usize],
            Base::Symbol(symbol) => symbols(symbol),
            Base::Absolute => Value::Number,
        }
    }

    fn value(
        &self,
        function: &Function,
        instruction: &Instruction,
        symbols: &dyn Fn(Symbol) -> Value,
    ) -> Value {
        let of = |operand: &Operand| match *operand {
            Operand::Register(register) => self.values[register.0 as usize],
            Operand::Symbol { symbol, .. } => symbols(symbol),
            Operand::Immediate(_) | Operand::Special(_) => Value::Number,
        };
        match &instruction.operation {
            Operation::Ld(it) => of_parameter(function, it).unwrap_or(Value::Loaded),
            Operation::Mov(it) => of(&it.a),
            Operation::Cvta(it) => of(&it.a),
            Operation::Selp(it) => of(&it.a).or(of(&it.b)),
            Operation::IntegerAdd(it) => of(&it.a).plus(of(&it.b)),
            Operation::IntegerSub(it) => of(&it.a).minus(of(&it.b)),
            Operation::IntegerMad(it) => of(&it.a).times(of(&it.b)).plus(of(&it.c)),
            Operation::IntegerMul(it) => of(&it.a).times(of(&it.b)),
            // To align an address, and to add to one that is aligned.
            Operation::And(it) | Operation::Or(it) => of(&it.a).plus(of(&it.b)),
            Operation::Shl(it) | Operation::Shr(it) => of(&it.a).times(of(&it.b)),
            Operation::Xor(it) => of(&it.a).times(of(&it.b)),
            Operation::Cvt(it) => of(&it.a).times(Value::Number),
            _ => Value::Loaded,
        }
    }
}

impl Value {
    /// Either.
    fn or(self, other: Value) -> Value {
        match (self, other) {
            (one, other) if one == other => one,
            (Value::Number, other) => other,
            (one, Value::Number) => one,
            (Value::Given(_) | Value::Loaded, Value::Given(_) | Value::Loaded) => Value::Loaded,
            _ => Value::Unknown,
        }
    }

    fn plus(self, other: Value) -> Value {
        match (self, other) {
            // What is added to a pointer is an index.
            (Value::From(root), Value::Number | Value::Loaded | Value::Given(_))
            | (Value::Number | Value::Loaded | Value::Given(_), Value::From(root)) => {
                Value::From(root)
            }
            (Value::From(_), Value::From(_)) => Value::Unknown,
            (Value::Given(offset), Value::Number | Value::Loaded)
            | (Value::Number | Value::Loaded, Value::Given(offset)) => Value::Given(offset),
            // Either is the index, also twice the same.
            (Value::Given(_), Value::Given(_)) => Value::Loaded,
            (one, other) => one.or(other),
        }
    }

    /// The difference of two pointers leads from one to the other.
    fn minus(self, other: Value) -> Value {
        match other {
            Value::Number | Value::Loaded => self.plus(other),
            // From a pointer, or of two numbers.
            Value::Given(_) if matches!(self, Value::From(_)) => self,
            Value::Given(_) | Value::From(_) | Value::Unknown => Value::Unknown,
        }
    }

    /// Combines both into a value that is no address any more.
    fn times(self, other: Value) -> Value {
        match self.or(other) {
            Value::From(_) => Value::Unknown,
            Value::Given(_) => Value::Loaded,
            other => other,
        }
    }
}

/// Returns the value that a kernel loads from its parameters, where that can be a pointer.
fn of_parameter(function: &Function, load: &Ld) -> Option<Value> {
    let Base::Symbol(Symbol::Parameter(parameter)) = load.address.base else {
        return None;
    };
    let is_address = load.ty.bits() == 64 && load.d.len() == 1;
    if function.kind != FunctionKind::Entry || !is_address {
        return None;
    }
    let first = parameter_bounds(function)[parameter as usize].offset;
    let offset = u32::try_from(load.address.offset)
        .ok()?
        .checked_add(first)?;
    let is_pointer = function.parameters[parameter as usize].pointer.is_some();
    Some(match is_pointer && load.address.offset == 0 {
        true => Value::From(Root::Parameter(offset)),
        false => Value::Given(offset),
    })
}

fn of_symbol(
    layout: &Layout<'_>,
    index: u32,
    body: &Body,
    locals: &Locals,
    symbol: Symbol,
) -> Value {
    let root = match symbol {
        Symbol::Module(variable) if layout.is_panic_record(variable) => None,
        Symbol::Module(variable) => {
            let address = layout.address_of_variable(variable).ok();
            match layout.module.variables[variable as usize].space {
                Space::Shared => address.map(Root::Shared),
                _ => address.map(Root::Variable),
            }
        }
        Symbol::Body(variable) => match body.variables[variable as usize].space {
            Space::Shared => {
                let offset = layout.address_of_shared(index, variable).ok();
                offset.map(Root::Shared)
            }
            Space::Local => Some(Root::Local(locals.offset(variable))),
            _ => None,
        },
        _ => None,
    };
    root.map_or(Value::Loaded, Value::From)
}
