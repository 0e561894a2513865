//! Basic blocks of a function that have run, in an order in which each comes before those that it leads to, but for loops.

use std::collections::BTreeSet;
use std::ops::Range;

use ptx::{Body, Instruction, LabelId, Operation};

/// The basic blocks that `has_run` says of their first instructions, in reverse postorder.
pub(super) fn blocks(body: &Body, has_run: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let all = ranges(body);
    let of = |at: usize| all.partition_point(|block| block.end <= at);
    let mut order = Vec::new();
    let mut seen = vec![false; all.len()];
    // A block, and how many of its successors have been gone to.
    let mut open = Vec::new();
    if !all.is_empty() && has_run(0) {
        seen[0] = true;
        open.push((0, 0));
    }
    while let Some((block, gone)) = open.pop() {
        let next = successors(body, &all[block]);
        let Some(at) = next.get(gone) else {
            order.push(all[block].clone());
            continue;
        };
        open.push((block, gone + 1));
        let next = of(*at);
        if next < all.len() && !seen[next] && has_run(*at) {
            seen[next] = true;
            open.push((next, 0));
        }
    }
    order.reverse();
    order
}

/// All basic blocks in the order of the text. Labels that no branch leads to begin none: debuggers have many.
fn ranges(body: &Body) -> Vec<Range<usize>> {
    let count = body.instructions.len();
    let mut starts = BTreeSet::from([0]);
    for (at, instruction) in body.instructions.iter().enumerate() {
        starts.extend(targets(body, instruction));
        if instruction.is_terminator() {
            starts.insert(at + 1);
        }
    }
    let starts: Vec<usize> = starts.into_iter().filter(|at| *at < count).collect();
    let ends = starts.iter().skip(1).copied().chain([count]);
    let both = starts.iter().zip(ends);
    both.map(|(start, end)| *start..end).collect()
}

/// The instructions that a branch leads to.
fn targets(body: &Body, instruction: &Instruction) -> Vec<usize> {
    let place = |label: &LabelId| body.labels[label.0 as usize].position as usize;
    match &instruction.operation {
        Operation::Branch(it) => vec![place(&it.target)],
        Operation::BranchIndexed(it) => {
            let targets = &body.branch_targets[it.targets as usize];
            targets.labels.iter().map(place).collect()
        }
        _ => Vec::new(),
    }
}

/// The first instructions of the blocks that may be next. The one that is gone to last comes first in the order, so that a loop
/// stands before what follows it.
fn successors(body: &Body, block: &Range<usize>) -> Vec<usize> {
    let Some(last) = block.clone().last() else {
        return Vec::new();
    };
    let instruction = &body.instructions[last];
    let mut next = targets(body, instruction);
    if instruction.falls_through() {
        next.push(last + 1);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_whose_latch_is_written_first_comes_in_the_order_of_execution() {
        let module = ptx::parse(
            ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u32 n) {
             .reg .pred %p<2>; .reg .b32 %r<3>;
             ld.param.u32 %r1, [n]; mov.u32 %r2, 0; bra BODY;
             LATCH: setp.lt.u32 %p1, %r2, %r1; @!%p1 bra END;
             BODY: add.u32 %r2, %r2, 1; NOTE: bra LATCH;
             NEVER: add.u32 %r2, %r2, 2;
             END: ret; }",
        );
        let module = module.expect("a module");
        let body = module.functions[0].body.as_ref().expect("a body");
        let order = blocks(body, |at| at != 7);
        assert_eq!(order, [0..3, 5..7, 3..5, 8..9]);
    }
}
