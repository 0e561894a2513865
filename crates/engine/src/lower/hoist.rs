//! What is the same for all blocks of a launch is computed once.

use std::collections::{BTreeSet, HashMap};

use ptx::{Access, Body, Function, FunctionKind, Operation, Reg, Space, Symbol};

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
                let mut is_fixed = is_pure(&body.instructions[index].operation);
                let mut written = None;
                let instruction = &body.instructions[index];
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

/// Whether an instruction gives the same result whenever it is executed, if its registers do.
fn is_pure(operation: &Operation) -> bool {
    use Operation::{
        And, Bfe, Bfi, Bmsk, Cnot, Cvt, Cvta, FloatAdd, FloatMul, FloatNeg, FloatSub, Fma,
        IntegerAbs, IntegerAdd, IntegerMad, IntegerMax, IntegerMin, IntegerMul, IntegerNeg,
        IntegerSub, Ld, Lop3, Mov, Not, Or, Pack, Prmt, Selp, Setp, Shf, Shl, Shr, Xor,
    };
    match operation {
        IntegerAdd(it) | IntegerSub(it) => {
            !it.carry_in && !it.carry_out && are_fixed(&[it.a, it.b])
        }
        IntegerMad(it) => !it.carry_in && !it.carry_out && are_fixed(&[it.a, it.b, it.c]),
        IntegerMul(it) => are_fixed(&[it.a, it.b]),
        IntegerMin(it) | IntegerMax(it) => are_fixed(&[it.a, it.b]),
        And(it) | Or(it) | Xor(it) | Shl(it) | Shr(it) => are_fixed(&[it.a, it.b]),
        Mov(it) | Not(it) | Cnot(it) | IntegerAbs(it) | IntegerNeg(it) => are_fixed(&[it.a]),
        FloatAdd(it) | FloatSub(it) | FloatMul(it) => are_fixed(&[it.a, it.b]),
        FloatNeg(it) => are_fixed(&[it.a]),
        Fma(it) => are_fixed(&[it.a, it.b, it.c]),
        Cvt(it) => {
            it.random.is_none() && are_fixed(&[it.a]) && it.b.is_none_or(|b| are_fixed(&[b]))
        }
        // Of shared memory it is the block's, of local memory the thread's.
        Cvta(it) => !is_shared(it.space) && it.space != Space::Local && are_fixed(&[it.a]),
        Setp(it) => it.combination.is_none() && it.q.is_none() && are_fixed(&[it.a, it.b]),
        Selp(it) => are_fixed(&[it.a, it.b, it.c.value]),
        Lop3(it) => it.p.is_none() && are_fixed(&[it.a, it.b, it.c]),
        Bfe(it) => are_fixed(&[it.a, it.b, it.c]),
        Bfi(_) | Bmsk(_) | Prmt(_) | Shf(_) | Pack(_) => false,
        Ld(it) => {
            let of_launch = matches!(it.address.base, ptx::Base::Symbol(Symbol::Parameter(_)));
            of_launch && matches!(it.space, Space::Param | Space::ParamEntry) && it.d.len() == 1
        }
        _ => false,
    }
}

fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCluster)
}

/// Whether operands that are no registers are fixed by the launch.
fn are_fixed(operands: &[ptx::Operand]) -> bool {
    operands.iter().all(|operand| match operand {
        ptx::Operand::Special(special) => is_fixed_by_launch(*special),
        // The address of a local variable is the activation's.
        ptx::Operand::Symbol { .. } => false,
        ptx::Operand::Register(_) | ptx::Operand::Immediate(_) => true,
    })
}
