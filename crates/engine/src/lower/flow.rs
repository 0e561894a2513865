//! Basic blocks of a function, in the order in which warps prefer them.

use std::collections::BTreeSet;
use std::ops::Range;

use ptx::{Body, Flow, Guard, Instruction, LabelId, Meeting, Operation};

/// A basic block: instructions that run one after another.
#[derive(Debug)]
pub(crate) struct Piece {
    /// Indices of instructions, without the one that ends it.
    pub(crate) straight: Range<usize>,
    /// Those that a warp issues that comes to it, with the one that ends it. An instruction with a guard is
    /// issued where lanes part, whether or not one of them executes it.
    pub(crate) issues: Range<usize>,
    pub(crate) end: End,
}

impl Piece {
    /// The instruction that ends it, where one does: none where a guard leads around the next instruction, which
    /// the lanes execute that are not led around.
    pub(crate) fn last(&self, body: &Body) -> Option<usize> {
        let is_branch =
            |&it: &usize| matches!(body.instructions[it].operation, Operation::Branch(_));
        match self.end {
            End::By { instruction, .. } => Some(instruction),
            End::Splits { instruction, .. } => Some(instruction).filter(is_branch),
            End::Falls(_) | End::Return => {
                (self.issues.end > self.straight.end).then_some(self.straight.end)
            }
        }
    }
}

/// How a basic block ends. Targets are indices of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Goes on with the next.
    Falls(usize),
    /// To one of two by the guard of an instruction.
    Splits {
        instruction: usize,
        guard: Guard,
        taken: usize,
        otherwise: usize,
    },
    /// By the instruction of this index, which is `brx.idx`, a barrier, a call, `exit` or a trap, to
    /// one of these.
    By {
        instruction: usize,
        targets: Vec<usize>,
    },
    /// To the caller.
    Return,
}

impl End {
    pub(crate) fn targets(&self) -> Vec<usize> {
        match self {
            End::Falls(next) => vec![*next],
            End::Splits {
                taken, otherwise, ..
            } => vec![*taken, *otherwise],
            End::By { targets, .. } => targets.clone(),
            End::Return => Vec::new(),
        }
    }
}

/// Returns the state in front of each piece, which is at least `enter`: `step` is what an instruction does to a state, and `join` takes in
/// the state that another way brings, and gives whether that is more.
pub(super) fn forward<S: Clone>(
    pieces: &[Piece],
    enter: &S,
    step: impl Fn(&mut S, usize),
    join: impl Fn(&mut S, &S) -> bool,
) -> Vec<S> {
    let mut before = vec![enter.clone(); pieces.len()];
    let mut left: Vec<usize> = (0..pieces.len()).rev().collect();
    while let Some(index) = left.pop() {
        let mut state = before[index].clone();
        for at in pieces[index].straight.clone() {
            step(&mut state, at);
        }
        for target in pieces[index].end.targets() {
            if join(&mut before[target], &state) {
                left.push(target);
            }
        }
    }
    before
}

/// The basic blocks that can be reached, in reverse postorder: later blocks of the text are visited
/// first, so that what leaves a loop comes behind it.
pub(crate) fn pieces(body: &Body) -> Vec<Piece> {
    let blocks = Blocks::of(body);
    let mut all = Vec::new();
    for (index, &start) in blocks.starts.iter().enumerate() {
        let next = blocks.starts.get(index + 1).copied();
        let range = start..next.unwrap_or(body.instructions.len());
        if let Some(guard) = blocks.guard(start) {
            all.push(Piece {
                straight: start..start,
                issues: start..start + 1,
                end: End::Splits {
                    instruction: start,
                    guard,
                    taken: all.len() + 1,
                    otherwise: blocks.at(start + 1),
                },
            });
        }
        let piece = blocks.piece(range.clone());
        let issues = match blocks.guard(start) {
            Some(_) => start..start,
            None => range,
        };
        all.push(Piece { issues, ..piece });
    }
    let end = body.instructions.len();
    all.push(Piece {
        straight: end..end,
        issues: end..end,
        end: End::Return,
    });
    in_order(all)
}

/// Whether an instruction waits for other lanes of the warp, so that a block begins with it.
pub(crate) fn meets(instruction: &Instruction) -> bool {
    instruction.operation.facts().meeting == Meeting::Warp
}

/// Whether a block ends with an instruction.
fn ends(instruction: &Instruction) -> bool {
    instruction.operation.facts().flow != Flow::Next || changes_stack(instruction)
}

/// Whether an instruction is executed as a call is, because memory of the thread begins or ends with it.
pub(crate) fn changes_stack(instruction: &Instruction) -> bool {
    use Operation::{Alloca, Stackrestore, Stacksave};
    matches!(
        instruction.operation,
        Alloca(_) | Stacksave(_) | Stackrestore(_)
    )
}

/// Where blocks begin, and their numbers.
struct Blocks<'b> {
    body: &'b Body,
    starts: Vec<usize>,
    numbers: Vec<usize>,
    /// How many there are, without that behind the last instruction.
    count: usize,
}

impl<'b> Blocks<'b> {
    fn of(body: &'b Body) -> Self {
        let mut blocks = Blocks {
            body,
            starts: starts(body).into_iter().collect(),
            numbers: Vec::new(),
            count: 0,
        };
        for index in 0..blocks.starts.len() {
            blocks.numbers.push(blocks.count);
            // Two where a guard leads around it.
            let guard = blocks.guard(blocks.starts[index]);
            blocks.count += 1 + usize::from(guard.is_some());
        }
        blocks
    }

    /// The guard of an instruction that is no branch.
    fn guard(&self, instruction: usize) -> Option<Guard> {
        let instruction = self.body.instructions.get(instruction)?;
        let is_branch = matches!(instruction.operation, Operation::Branch(_));
        instruction.guard.filter(|_| !is_branch)
    }

    /// The block that begins with an instruction; behind the last one the function returns.
    fn at(&self, instruction: usize) -> usize {
        match self.starts.binary_search(&instruction) {
            Ok(index) => self.numbers[index],
            Err(_) => self.count,
        }
    }

    fn at_label(&self, label: LabelId) -> usize {
        self.at(position(self.body, label))
    }

    fn piece(&self, range: Range<usize>) -> Piece {
        let Some(last) = range.clone().last() else {
            return Piece {
                straight: range.clone(),
                issues: range,
                end: End::Falls(self.count),
            };
        };
        let instruction = &self.body.instructions[last];
        let next = self.at(last + 1);
        let by = |targets| End::By {
            instruction: last,
            targets,
        };
        let end = match (instruction.operation.facts().flow, &instruction.operation) {
            _ if changes_stack(instruction) => by(vec![next]),
            (Flow::Next, _) => {
                return Piece {
                    straight: range.clone(),
                    issues: range,
                    end: End::Falls(next),
                };
            }
            (_, Operation::Branch(branch)) => {
                let taken = self.at_label(branch.target);
                match instruction.guard {
                    None => End::Falls(taken),
                    Some(guard) => End::Splits {
                        instruction: last,
                        guard,
                        taken,
                        otherwise: next,
                    },
                }
            }
            (_, Operation::BranchIndexed(branch)) => {
                let labels = &self.body.branch_targets[branch.targets as usize].labels;
                by(labels.iter().map(|&label| self.at_label(label)).collect())
            }
            (Flow::Resumes, _) => by(vec![next]),
            (Flow::Returns, _) => End::Return,
            (Flow::Branches | Flow::Ends, _) => by(Vec::new()),
        };
        Piece {
            straight: range.start..last,
            issues: range,
            end,
        }
    }
}

/// Where basic blocks begin.
fn starts(body: &Body) -> BTreeSet<usize> {
    let mut starts = BTreeSet::from([0]);
    for (index, instruction) in body.instructions.iter().enumerate() {
        match &instruction.operation {
            Operation::Branch(branch) => {
                starts.insert(position(body, branch.target));
            }
            Operation::BranchIndexed(branch) => {
                let targets = &body.branch_targets[branch.targets as usize].labels;
                starts.extend(targets.iter().map(|&label| position(body, label)));
            }
            _ => {}
        }
        let is_branch = matches!(instruction.operation, Operation::Branch(_));
        if ends(instruction) || instruction.guard.is_some() {
            starts.insert(index + 1);
        }
        if meets(instruction) || instruction.guard.is_some() && !is_branch {
            starts.insert(index);
        }
    }
    starts.retain(|&start| start < body.instructions.len());
    starts
}

fn position(body: &Body, label: LabelId) -> usize {
    body.labels[label.0 as usize].position as usize
}

fn in_order(all: Vec<Piece>) -> Vec<Piece> {
    let order = reverse_postorder(&all);
    let mut place = vec![usize::MAX; all.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let mut taken: Vec<Option<Piece>> = all.into_iter().map(Some).collect();
    order
        .iter()
        .map(|&old| {
            let mut piece = taken[old].take().expect("each once");
            match &mut piece.end {
                End::Falls(next) => *next = place[*next],
                End::Splits {
                    taken, otherwise, ..
                } => {
                    *taken = place[*taken];
                    *otherwise = place[*otherwise];
                }
                End::By { targets, .. } => targets.iter_mut().for_each(|it| *it = place[*it]),
                End::Return => {}
            }
            piece
        })
        .collect()
}

fn reverse_postorder(all: &[Piece]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; all.len()];
    seen[0] = true;
    let targets_of = |index: usize| {
        let mut targets = all[index].end.targets();
        targets.sort_unstable();
        targets
    };
    let mut path = vec![(0, targets_of(0))];
    while let Some((index, targets)) = path.last_mut() {
        match targets.pop() {
            Some(target) if seen[target] => {}
            Some(target) => {
                seen[target] = true;
                path.push((target, targets_of(target)));
            }
            None => {
                order.push(*index);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}
