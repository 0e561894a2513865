//! Registers of `wgmma` that an instruction may have written since the warp's last `wgmma.fence`.

use std::collections::{BTreeMap, BTreeSet};

use ptx::{Access, Body, Instruction, Operation, Reg, WgmmaMma};

use super::flow::{self, Piece};
use super::wgmma::{moved, operands, sources};

/// The instructions that have written a register since the last fence, on some way through the function.
type State = BTreeMap<Reg, BTreeSet<usize>>;

/// For each product the instructions that may have written one of its registers with no fence since, each with the register.
///
/// A move between registers counts as the write of its source, and that of a constant as none: compilers put copies and constants between products, wherever
/// the author's fences are. Left out are values that calls return, and what a barrier combines.
pub(super) fn unfenced(body: &Body, pieces: &[Piece]) -> BTreeMap<usize, BTreeSet<(u32, Reg)>> {
    let multiplied = multiplied(body);
    if multiplied.is_empty() {
        return BTreeMap::new();
    }
    let step = |state: &mut State, at: usize| step(state, &multiplied, at, &body.instructions[at]);
    let mut before = flow::forward(pieces, &State::new(), step, join);
    let mut found = BTreeMap::new();
    for (piece, state) in pieces.iter().zip(&mut before) {
        for at in piece.straight.clone() {
            if let Operation::WgmmaMma(it) = &body.instructions[at].operation {
                let of = |register| {
                    let writers = state.get(&register).into_iter().flatten();
                    writers.map(move |&writer| (writer as u32, register))
                };
                let written: BTreeSet<(u32, Reg)> = operands(it).flat_map(of).collect();
                if !written.is_empty() {
                    found.insert(at, written);
                }
            }
            step(state, at);
        }
    }
    found
}

/// Whether all products are of one shape and type, and none reads what another writes: accesses of theirs need no fence in between.
pub(crate) fn are_alike(body: &Body) -> bool {
    let products = body
        .instructions
        .iter()
        .filter_map(|it| match &it.operation {
            Operation::WgmmaMma(it) => Some(&**it),
            _ => None,
        });
    let all: Vec<&WgmmaMma> = products.collect();
    let written: BTreeSet<Reg> = all.iter().flat_map(|it| &it.d).map(|it| it.0).collect();
    let is_like = |it: &&WgmmaMma| (it.shape, it.d_type) == (all[0].shape, all[0].d_type);
    all.iter().all(is_like)
        && all
            .iter()
            .flat_map(|it| sources(it))
            .all(|it| !written.contains(&it))
}

/// The registers of products, and those that are moved there.
pub(crate) fn multiplied(body: &Body) -> BTreeSet<Reg> {
    let mut all = BTreeSet::new();
    for instruction in &body.instructions {
        if let Operation::WgmmaMma(it) = &instruction.operation {
            all.extend(operands(it));
        }
    }
    let moves: Vec<(Reg, Reg)> = body.instructions.iter().filter_map(moved).collect();
    loop {
        let known = all.len();
        for &(from, to) in &moves {
            if all.contains(&to) {
                all.insert(from);
            }
        }
        if all.len() == known {
            return all;
        }
    }
}

fn step(state: &mut State, multiplied: &BTreeSet<Reg>, at: usize, instruction: &Instruction) {
    match &instruction.operation {
        Operation::WgmmaFence => state.clear(),
        Operation::WgmmaMma(_) => {}
        _ => match moved(instruction) {
            Some((from, to)) => {
                match state.get(&from).cloned() {
                    Some(writers) => state.insert(to, writers),
                    None => state.remove(&to),
                };
            }
            None => instruction.visit(|access, register| {
                if access == Access::Define && multiplied.contains(&register) {
                    match instruction.operation {
                        Operation::Mov(_) => state.remove(&register),
                        _ => state.insert(register, BTreeSet::from([at])),
                    };
                }
            }),
        },
    }
}

/// Takes in what another way brings; gives whether that is more.
fn join(into: &mut State, other: &State) -> bool {
    let mut grows = false;
    for (register, writers) in other {
        let known = into.entry(*register).or_default();
        for &writer in writers {
            grows |= known.insert(writer);
        }
    }
    grows
}
