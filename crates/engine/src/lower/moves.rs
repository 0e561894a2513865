//! Values that are only moved: a copy of a struct takes its padding, and what of it nobody has written, along.

use ptx::{Body, Operand, Operation, Space};

/// Per register, whether all that becomes of its value is that it is stored to local memory or given to a
/// function.
pub(crate) fn moved(body: &Body) -> Vec<bool> {
    let mut moved = vec![true; body.registers.len()];
    for instruction in &body.instructions {
        let mut uses = instruction.uses();
        if let Operation::St(store) = &instruction.operation
            && matches!(
                store.space,
                Space::Local | Space::Param | Space::ParamFunction
            )
        {
            for operand in &store.a {
                let of = |register| *operand == Operand::Register(register);
                if let Some(at) = uses.iter().position(|&register| of(register)) {
                    uses.swap_remove(at);
                }
            }
        }
        uses.iter()
            .for_each(|register| moved[register.0 as usize] = false);
    }
    moved
}
