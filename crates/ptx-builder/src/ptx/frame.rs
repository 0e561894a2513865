//! The stack frame of a function, and its uses.

use std::collections::HashSet;

use ::ptx::{Base, Body, Instruction, Operand, Operation, Reg, Space, Symbol, Variable};

/// The instructions that use a frame, by index. Those that only take its address are none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Those that store a value in it.
    pub(crate) writes: Vec<usize>,
    /// Those that load from it, or give its address away.
    pub(crate) others: Vec<usize>,
}

/// The stack frame of a body, which lies in local memory: off the chip, behind the caches.
pub(crate) fn frame(body: &Body) -> Option<&Variable> {
    body.variables.iter().find(|it| it.space == Space::Local)
}

/// Returns the symbol of the stack frame.
pub(crate) fn frame_symbol(body: &Body) -> Option<Symbol> {
    let mut variables = body.variables.iter();
    let frame = variables.position(|it| it.space == Space::Local)?;
    Some(Symbol::Body(frame as u32))
}

impl Uses {
    /// Of the body's frame, if it has one.
    pub(crate) fn of(body: &Body) -> Option<Uses> {
        let mut addresses = Addresses {
            frame: frame_symbol(body)?,
            registers: HashSet::new(),
        };
        loop {
            let known = addresses.registers.len();
            let uses = Uses::through(body, &mut addresses);
            if addresses.registers.len() == known {
                return Some(uses);
            }
        }
    }

    /// Adds to the addresses those that are made of them.
    fn through(body: &Body, addresses: &mut Addresses) -> Uses {
        let mut uses = Uses::default();
        for (index, instruction) in body.instructions.iter().enumerate() {
            if !addresses.are_read_by(instruction) {
                continue;
            }
            if is_address_arithmetic(instruction) {
                addresses.registers.extend(instruction.definitions());
            } else if addresses.are_stored_to_alone(instruction) {
                uses.writes.push(index);
            } else {
                uses.others.push(index);
            }
        }
        uses
    }
}

/// The symbol of a frame, and the registers that hold an address in it.
struct Addresses {
    frame: Symbol,
    registers: HashSet<Reg>,
}

impl Addresses {
    fn are_read_by(&self, instruction: &Instruction) -> bool {
        let mut named = false;
        instruction.visit_symbols(|symbol| named |= symbol == self.frame);
        let uses = instruction.uses();
        named
            || uses
                .iter()
                .any(|register| self.registers.contains(register))
    }

    /// Whether it stores to the frame, and none of its addresses. Passing an argument is no such store.
    fn are_stored_to_alone(&self, instruction: &Instruction) -> bool {
        match &instruction.operation {
            Operation::St(store) => {
                let to_frame = match store.address.base {
                    Base::Register(register) => self.registers.contains(&register),
                    Base::Symbol(symbol) => symbol == self.frame,
                    Base::Absolute => false,
                };
                to_frame && !store.a.iter().any(|value| self.contain(*value))
            }
            _ => false,
        }
    }

    fn contain(&self, value: Operand) -> bool {
        match value {
            Operand::Register(register) => self.registers.contains(&register),
            Operand::Symbol { symbol, .. } => symbol == self.frame,
            Operand::Immediate(_) | Operand::Special(_) => false,
        }
    }
}

fn is_address_arithmetic(instruction: &Instruction) -> bool {
    matches!(
        instruction.operation,
        Operation::Mov(_) | Operation::IntegerAdd(_) | Operation::Or(_) | Operation::Cvta(_)
    )
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::parse;
    use super::*;

    fn uses(instructions: &str) -> Uses {
        let text = format!(
            ".entry k() {{ .local .align 8 .b8 __local_depot0[16]; mov.b64 %SPL, __local_depot0; \
             cvta.local.u64 %SP, %SPL; add.u64 %rd1, %SP, 0; add.u64 %rd2, %SPL, 8; {instructions} }}"
        );
        let module = parse(&text);
        let body = module.functions[0].body.as_ref().expect("a body");
        Uses::of(body).expect("a frame")
    }

    #[test]
    fn stores_are_told_from_what_reads_the_frame_or_gives_it_away() {
        let cases: [(&str, &[usize], &[usize]); 5] = [
            ("ret;", &[], &[]),
            (
                "st.local.b64 [%rd2], %rd9; st.b32 [%rd1+4], 1; ret;",
                &[4, 5],
                &[],
            ),
            ("st.local.b64 [%rd2], %rd1;", &[], &[4]),
            (
                "st.param.b64 [param0], %rd1; ld.local.b32 %r1, [%rd2];",
                &[],
                &[4, 5],
            ),
            // An address that is made further down, for the next turn.
            (
                "$L: ld.local.b32 %r1, [%rd5]; add.s64 %rd5, %rd2, %rd9; bra $L;",
                &[],
                &[4],
            ),
        ];
        for (instructions, writes, others) in cases {
            let found = uses(instructions);
            assert_eq!(
                (&found.writes[..], &found.others[..]),
                (writes, others),
                "{instructions}"
            );
        }
    }
}
