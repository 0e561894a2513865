//! Control flow within a function: blocks, what leads where, and where only a panic follows.

use std::ops::Range;

use ::ptx::{Body, Instruction, LabelId, Operation};

/// A function's control flow graph. Block 0 is where it begins.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) blocks: Vec<Block>,
    block_of: Vec<usize>,
    /// See [`Flow::ranks`].
    rank: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Block {
    /// Indices of its instructions.
    pub(crate) instructions: Range<usize>,
    /// The blocks that may run next.
    pub(crate) next: Vec<usize>,
    /// Whether every way on from here ends in a panic.
    pub(crate) panics: bool,
}

impl Flow {
    /// `is_panic` says which instructions do not return: calls of such functions, and traps.
    pub(crate) fn new(body: &Body, is_panic: impl Fn(&Instruction) -> bool) -> Self {
        let starts = block_starts(body);
        let ends = starts.iter().skip(1).copied();
        let ends = ends.chain([body.instructions.len()]);
        let ranges = starts.iter().zip(ends).map(|(&start, end)| start..end);
        let blocks: Vec<Block> = ranges
            .map(|instructions| Block {
                panics: body.instructions[instructions.clone()]
                    .iter()
                    .any(&is_panic),
                instructions,
                next: Vec::new(),
            })
            .collect();
        let block_of = blocks
            .iter()
            .enumerate()
            .flat_map(|(index, block)| block.instructions.clone().map(move |_| index))
            .collect();
        let mut flow = Flow {
            blocks,
            block_of,
            rank: Vec::new(),
        };
        for index in 0..flow.blocks.len() {
            flow.blocks[index].next = flow.successors(body, index);
        }
        flow.rank = flow.ranks();
        flow.spread_panics();
        flow
    }

    /// The block that an instruction lies in.
    pub(crate) fn block_of(&self, instruction: usize) -> usize {
        self.block_of[instruction]
    }

    /// Whether the instruction lies where only a panic follows.
    pub(crate) fn panics_at(&self, instruction: usize) -> bool {
        self.blocks[self.block_of(instruction)].panics
    }

    /// Whether the block can run again after itself.
    pub(crate) fn is_in_loop(&self, block: usize) -> bool {
        let next = self.blocks[block].next.iter().copied();
        self.reachable(next.collect(), |_, _| true)[block]
    }

    /// Returns two of the blocks, the earlier one first, of which ways through the function go by either and none by
    /// both but for another round of a loop. Where there are no such two, each block leads to the next in the order
    /// of the ranks, so that one search for each will do, and none past the next.
    pub(crate) fn alternatives(&self, blocks: impl Iterator<Item = usize>) -> Option<[usize; 2]> {
        let ahead = |block: usize, next: usize| self.rank[block] < self.rank[next];
        let run = self.reachable(vec![0], ahead);
        let mut blocks: Vec<usize> = blocks.filter(|&block| run[block]).collect();
        blocks.sort_unstable_by_key(|&block| self.rank[block]);
        blocks.dedup();
        let leads = |from: usize, to: usize| {
            let up_to = |block, next| ahead(block, next) && self.rank[next] <= self.rank[to];
            self.reachable(vec![from], up_to)[to]
        };
        let pair = blocks
            .array_windows()
            .find(|[one, other]| !leads(*one, *other));
        pair.copied()
    }

    /// Which blocks can be come to from `open`, along the edges from a block to the next that
    /// `follows`.
    fn reachable(&self, mut open: Vec<usize>, follows: impl Fn(usize, usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.blocks.len()];
        while let Some(block) = open.pop() {
            if !reached[block] {
                reached[block] = true;
                let next = self.blocks[block].next.iter();
                open.extend(next.filter(|&&next| follows(block, next)));
            }
        }
        reached
    }

    /// The place of each block in an order in which only the edges that close a loop lead backwards:
    /// the reverse of that in which a depth-first search leaves them. Of a loop with two ways in, which
    /// edges close it depends on where the search begins.
    fn ranks(&self) -> Vec<usize> {
        let mut ranks = vec![0; self.blocks.len()];
        let mut seen = vec![false; self.blocks.len()];
        let mut left = self.blocks.len();
        // Blocks that nothing leads to are searched last, and so come first.
        for root in 0..self.blocks.len() {
            let mut path = vec![(root, 0)];
            while let Some((block, edge)) = path.pop() {
                if edge == 0 && std::mem::replace(&mut seen[block], true) {
                    continue;
                }
                match self.blocks[block].next.get(edge) {
                    Some(&next) => path.extend([(block, edge + 1), (next, 0)]),
                    None => {
                        left -= 1;
                        ranks[block] = left;
                    }
                }
            }
        }
        ranks
    }

    fn successors(&self, body: &Body, index: usize) -> Vec<usize> {
        let range = self.blocks[index].instructions.clone();
        let last = &body.instructions[range.end - 1];
        let mut next: Vec<usize> = targets(body, last)
            .iter()
            .map(|label| body.labels[label.0 as usize].position as usize)
            .filter_map(|instruction| self.block_of.get(instruction).copied())
            .collect();
        if last.falls_through() && index + 1 < self.blocks.len() {
            next.push(index + 1);
        }
        next
    }

    /// A block from which every way leads to a panic panics too.
    fn spread_panics(&mut self) {
        loop {
            let doomed = |block: &Block| {
                !block.panics
                    && !block.next.is_empty()
                    && block.next.iter().all(|&next| self.blocks[next].panics)
            };
            let Some(block) = self.blocks.iter().position(doomed) else {
                return;
            };
            self.blocks[block].panics = true;
        }
    }
}

/// Indices of the instructions that begin a block, ascending.
fn block_starts(body: &Body) -> Vec<usize> {
    let after_ends = body
        .instructions
        .iter()
        .enumerate()
        .filter(|(_, instruction)| instruction.is_terminator())
        .map(|(index, _)| index + 1);
    let labelled = body.labels.iter().map(|label| label.position as usize);
    let mut starts: Vec<usize> = [0]
        .into_iter()
        .chain(after_ends)
        .chain(labelled)
        .filter(|&index| index < body.instructions.len())
        .collect();
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Where a branch may go.
pub(crate) fn targets<'b>(body: &'b Body, branch: &'b Instruction) -> &'b [LabelId] {
    match &branch.operation {
        Operation::Branch(branch) => std::slice::from_ref(&branch.target),
        Operation::BranchIndexed(branch) => &body.branch_targets[branch.targets as usize].labels,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing;
    use super::*;

    fn are_alternatives(flow: &Flow, one: usize, other: usize) -> bool {
        flow.alternatives([one, other].into_iter()).is_some()
    }

    /// The flow of a kernel: of what follows its opening brace.
    fn with_flow(text: &str, check: impl FnOnce(&Body, &Flow)) {
        let module = testing::parse(&format!(".entry k() {{ {text}"));
        let body = module.functions[0].body.as_ref().expect("a body");
        let flow = Flow::new(body, |one| one.operation == Operation::Trap);
        check(body, &flow);
    }

    /// Blocks: 0 head, 1 and 2 arms, 3 join.
    const DIAMOND: &str = "
        @%p1 bra $ELSE;
        add.s32 %r1, %r1, 1;
        bra.uni $END;
        $ELSE:
        add.s32 %r1, %r1, 2;
        $END:
        ret; }";

    #[test]
    fn the_arms_of_a_branch_are_alternatives() {
        with_flow(DIAMOND, |_, flow| {
            let next: Vec<_> = flow.blocks.iter().map(|one| one.next.clone()).collect();
            assert_eq!(next, [vec![2, 1], vec![3], vec![3], vec![]]);
            assert!(are_alternatives(flow, 1, 2) && are_alternatives(flow, 2, 1));
            let others = [(0, 1), (0, 3), (1, 1), (1, 3), (3, 2)];
            assert!(others.iter().all(|&(a, b)| !are_alternatives(flow, a, b)));
            assert_eq!(flow.alternatives([3, 2, 0, 1].into_iter()), Some([1, 2]));
            assert_eq!(flow.alternatives([3, 1, 0].into_iter()), None);
            assert!((0..4).all(|block| !flow.is_in_loop(block)));
        });
    }

    #[test]
    fn a_loop_is_what_can_run_again() {
        let text = "mov.b32 %r1, 0; $L: add.s32 %r1, %r1, 1; @%p1 bra $L; ret; }";
        with_flow(text, |_, flow| {
            let loops: Vec<_> = (0..3).map(|block| flow.is_in_loop(block)).collect();
            assert_eq!(loops, [false, true, false]);
        });
    }

    /// Blocks: 0 head of the loop, 1 and 2 arms, 3 its end.
    #[test]
    fn alternatives_in_a_loop_are_none_the_less() {
        let text = DIAMOND.replace("ret;", "@%p2 bra $TOP; ret;");
        with_flow(&format!("$TOP: {text}"), |_, flow| {
            assert_eq!(flow.blocks[3].next, [0, 4]);
            assert!(are_alternatives(flow, 1, 2));
            assert!(!are_alternatives(flow, 0, 3) && !are_alternatives(flow, 3, 1));
        });
    }

    #[test]
    fn what_nothing_leads_to_is_no_alternative() {
        with_flow("ret; $A: mov.b32 %r1, 1; ret; }", |_, flow| {
            assert!(!are_alternatives(flow, 0, 1));
        });
    }

    #[test]
    fn one_branch_after_another_is_no_alternative() {
        let text = "@%p1 bra $A; mov.b32 %r1, 1; $A: @%p2 bra $B; mov.b32 %r1, 2; $B: ret; }";
        with_flow(text, |_, flow| {
            assert!(!are_alternatives(flow, 1, 3) && !are_alternatives(flow, 3, 1));
        });
    }

    #[test]
    fn a_jump_table_leads_to_each_of_its_targets() {
        let text = "$T: .branchtargets $A, $B; brx.idx %r1, $T; $A: ret; $B: ret; }";
        with_flow(text, |_, flow| assert_eq!(flow.blocks[0].next, [1, 2]));
    }

    #[test]
    fn a_panic_is_inevitable_only_where_every_way_leads_to_one() {
        let text =
            "@%p1 bra $BAD; ret; $BAD: mov.b32 %r1, 1; bra.uni $WORSE; $WORSE: trap; exit; }";
        with_flow(text, |_, flow| {
            let panics: Vec<_> = flow.blocks.iter().map(|one| one.panics).collect();
            assert_eq!(panics[..4], [false, false, true, true]);
        });
    }

    #[test]
    fn a_label_of_inline_assembly_may_occur_in_several_scopes() {
        let text =
            "{ @%p1 bra DONE; mov.b32 %r1, 1; DONE: } { @%p1 bra DONE; mov.b32 %r1, 2; DONE: }
            ret; }";
        with_flow(text, |body, flow| {
            let second = flow.block_of(2);
            assert!(body.instructions[2].is_branch());
            assert_eq!(flow.blocks[second].next, [flow.block_of(4), second + 1]);
        });
    }
}
