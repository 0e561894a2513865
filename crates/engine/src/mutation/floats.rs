//! Registers whose values are floats: of a `mov.b32` alone nobody knows, and the next integer of 0 is the least number there is,
//! which no sum shows.

use ptx::{Body, Kind, Operand, Operation, Reg, Type};

/// For each register the type of the floats that are computed from it.
pub(super) struct Floats(Vec<Option<Type>>);

impl Floats {
    /// Those of a function: of what adds, multiplies or compares floats, and of what is moved there.
    pub(super) fn of(body: &Body) -> Floats {
        let mut floats = Floats(vec![None; body.registers.len()]);
        loop {
            let mut has_changed = false;
            for instruction in &body.instructions {
                let ty = floats.used_as(&instruction.operation);
                let guard = instruction.guard.map(|it| it.register);
                for register in instruction.uses() {
                    let known = &mut floats.0[register.0 as usize];
                    if ty.is_some() && known.is_none() && Some(register) != guard {
                        *known = ty;
                        has_changed = true;
                    }
                }
            }
            if !has_changed {
                return floats;
            }
        }
    }

    /// The number 1 in place of a constant that is moved without a type, where a float is made of it.
    pub(super) fn one(&self, operation: &Operation) -> Option<&'static str> {
        let Operation::Mov(it) = operation else {
            return None;
        };
        if it.ty.kind() != Kind::Bits || it.a != Operand::Immediate(0) {
            return None;
        }
        match self.of_register(it.d)? {
            Type::F32 => Some("0x3F800000"),
            Type::F64 => Some("0x3FF0000000000000"),
            Type::F16 => Some("0x3C00"),
            Type::F16x2 => Some("0x3C003C00"),
            Type::Bf16 => Some("0x3F80"),
            Type::Bf16x2 => Some("0x3F803F80"),
            _ => None,
        }
    }

    fn of_register(&self, register: Reg) -> Option<Type> {
        self.0[register.0 as usize]
    }

    fn used_as(&self, operation: &Operation) -> Option<Type> {
        use Operation as O;
        match operation {
            O::FloatAdd(_)
            | O::FloatSub(_)
            | O::FloatMul(_)
            | O::Fma(_)
            | O::FloatMin(_)
            | O::FloatMax(_) => operation.facts().element,
            O::Mov(it) => self.of_register(it.d),
            _ => None,
        }
    }
}
