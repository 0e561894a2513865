//! Hoisting: results that are the same for all blocks of a launch are computed once.

use std::collections::{BTreeSet, HashMap};

use ptx::{Access, Body, Function, FunctionKind, Instruction, Reg};

use super::control::is_fixed_by_launch;
use super::flow::Piece;

/// Instructions that run once per warp and launch, and the registers that they write.
#[derive(Debug, Default)]
pub(crate) struct Hoisted {
    pub(crate) instructions: BTreeSet<usize>,
    pub(crate) registers: BTreeSet<Reg>,
}

/// The instructions of a kernel that have no effect but their result, on what the launch fixes: its
/// parameters, its shape, the thread's index. A function has none: its registers come and go.
pub(crate) fn hoisted(function: &Function, body: &Body, pieces: &[Piece]) -> Hoisted {
    let mut hoisted = Hoisted::default();
    if function.kind != FunctionKind::Entry {
        return hoisted;
    }
    let definitions = definitions(body);
    loop {
        let before = hoisted.instructions.len();
        for piece in pieces {
            for index in piece.straight.clone() {
                let instruction = &body.instructions[index];
                let mut is_fixed = is_fixed(instruction);
                let mut written = None;
                instruction.visit(|access, register| match access {
                    Access::Define => {
                        is_fixed &= definitions[&register] == 1 && written.is_none();
                        written = Some(register);
                    }
                    Access::Use => is_fixed &= hoisted.registers.contains(&register),
                });
                if let Some(register) = written.filter(|_| is_fixed && instruction.guard.is_none())
                {
                    hoisted.instructions.insert(index);
                    hoisted.registers.insert(register);
                }
            }
        }
        if hoisted.instructions.len() == before {
            return hoisted;
        }
    }
}

/// How often each register is written.
fn definitions(body: &Body) -> HashMap<Reg, u32> {
    let mut count = HashMap::new();
    for instruction in &body.instructions {
        instruction.visit(|access, register| {
            if access == Access::Define {
                *count.entry(register).or_default() += 1;
            }
        });
    }
    count
}

/// Whether an instruction gives the same result in each block of a launch, if its registers have the same values: the
/// address of a local variable is the activation's.
fn is_fixed(instruction: &Instruction) -> bool {
    let mut is_fixed = instruction.operation.facts().is_pure && !instruction.reads_symbol();
    instruction.visit_specials(|special| is_fixed &= is_fixed_by_launch(special));
    is_fixed
}

#[cfg(test)]
mod tests {
    use super::super::flow::pieces;
    use super::hoisted;

    /// The instructions of a kernel that are computed once per launch.
    fn texts(instructions: &str) -> Vec<String> {
        let text = format!(
            ".version 9.0 .target sm_90 .address_size 64
            .visible .entry k(.param .b32 p) {{ .reg .b32 %r<9>; .reg .b64 %d; .reg .f32 %f<3>; .shared .b32 s;
            ld.param.b32 %r1, [p];
            {instructions} ret; }}"
        );
        let module = ptx::parse(&text).expect("PTX");
        let (function, body) = (&module.functions[0], module.functions[0].body.as_ref());
        let body = body.expect("a body");
        let found = hoisted(function, body, &pieces(body)).instructions;
        let texts = found.iter().map(|&it| body.instructions[it].text(&text));
        texts.skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn what_is_pure_and_has_operands_of_the_launch_is_computed_once() {
        for once in [
            "bfi.b32 %r2, %r1, %r1, 3, 4;",
            "div.u32 %r2, %r1, 3;",
            "sqrt.rn.f32 %f1, 0f40000000;",
            "mov.b32 %r2, %ntid.x;",
        ] {
            assert_eq!(texts(once), [once]);
        }
    }

    #[test]
    fn what_differs_by_block_or_reads_more_than_registers_is_not() {
        for each_time in [
            "mov.b32 %r2, %ctaid.x;",
            "mov.b64 %d, s;",
            "add.cc.u32 %r2, %r1, %r1;",
            "activemask.b32 %r2;",
            "ld.shared.b32 %r2, [s];",
            "bfi.b32 %r2, %r3, %r1, 3, 4;",
        ] {
            assert_eq!(texts(each_time), [""; 0]);
        }
    }
}
