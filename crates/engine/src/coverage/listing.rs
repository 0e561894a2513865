//! The lines and the branches that a function has, and what its basic blocks say of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ptx::Body;

use super::{Branch, BranchId, Coverage, File, PTX};
use crate::count::{OfBlock, Switches};
use crate::guards::Guards;
use crate::lower::flow::{self, End};
use crate::source::{self, Attributed};

/// A module, as coverage knows it.
pub(super) struct Subject<'m> {
    pub(super) ptx: &'m ptx::Module,
    pub(super) digest: u64,
    /// Whether lines are those of the PTX, even where it names its source.
    pub(super) is_by_ptx: bool,
}

/// A file and a line of it.
type At = (String, u32);

/// A function's lines and branches.
#[derive(Debug)]
pub(super) struct Listing {
    name: String,
    /// Where it begins; none where it has no line.
    begins: Option<At>,
    blocks: Vec<Block>,
    /// For each line the instructions of each copy of it: where it is inlined twice there are two.
    lines: BTreeMap<At, Vec<Vec<u32>>>,
    branches: Vec<OfBranch>,
    instructions: usize,
}

/// A basic block: the instructions that it issues, and the last of them where lanes may pass it by.
#[derive(Debug)]
struct Block {
    issues: Range<u32>,
    guarded: Option<u32>,
}

/// A branch of a function.
#[derive(Debug)]
struct OfBranch {
    file: String,
    id: BranchId,
    /// The basic block that ends with it.
    block: usize,
    /// The basic blocks that it leads to, of one with several targets.
    targets: Option<Vec<u32>>,
}

impl Subject<'_> {
    /// The name of the module's text as a file, where lines are those of the PTX.
    pub(super) fn file(&self) -> String {
        format!("{:016x}{PTX}", self.digest)
    }

    /// Whether lines of a function are those of its PTX.
    pub(super) fn is_by_ptx(&self, body: &Body) -> bool {
        self.is_by_ptx || body.instructions.iter().all(|it| it.location.is_none())
    }

    /// The lines and branches of a function that has a body.
    pub(super) fn list(&self, function: u32) -> Listing {
        let function = &self.ptx.functions[function as usize];
        let body = function.body.as_ref().expect("it has one");
        let lines = Lines::of(self, body);
        let mut listing = Listing {
            name: function.name.clone(),
            begins: lines.begins(function.line),
            blocks: Vec::new(),
            lines: BTreeMap::new(),
            branches: Vec::new(),
            instructions: body.instructions.len(),
        };
        let pieces = flow::pieces(body);
        let guards = Guards::of(body, &pieces);
        let mut copies: BTreeMap<(At, Option<u32>), Vec<u32>> = BTreeMap::new();
        for (number, piece) in pieces.iter().enumerate() {
            for at in piece.issues.clone() {
                for line in lines.of_instruction(at, &piece.issues) {
                    let place = (line.place.file, line.place.line);
                    let copy = copies.entry((place, line.inlined_at)).or_default();
                    copy.push(at as u32);
                }
            }
            let branching = match &piece.end {
                End::Splits {
                    instruction,
                    guard,
                    taken,
                    otherwise,
                } if !guards.is_fixed(*guard) && !guards.is_check(*taken, *otherwise) => {
                    Some((*instruction, None))
                }
                End::By {
                    instruction,
                    targets,
                } if body.instructions[*instruction].is_branch() => {
                    let distinct: BTreeSet<u32> = targets.iter().map(|&it| it as u32).collect();
                    Some((*instruction, Some(distinct.into_iter().collect())))
                }
                _ => None,
            };
            if let Some((instruction, targets)) = branching {
                let line = lines.of_branch(instruction, &piece.issues);
                listing.branches.extend(line.map(|(file, line)| OfBranch {
                    file,
                    id: BranchId {
                        line,
                        module: self.digest,
                        ptx_line: body.instructions[instruction].line,
                    },
                    block: number,
                    targets,
                }));
            }
            listing.blocks.push(Block {
                issues: piece.issues.start as u32..piece.issues.end as u32,
                guarded: match piece.end {
                    End::Splits { instruction, .. }
                        if !body.instructions[instruction].is_branch() =>
                    {
                        Some(instruction as u32)
                    }
                    _ => None,
                },
            });
        }
        for ((line, _), instructions) in copies {
            listing.lines.entry(line).or_default().push(instructions);
        }
        listing
    }
}

/// The lines of a body's instructions.
struct Lines<'b> {
    subject: &'b Subject<'b>,
    body: &'b Body,
    /// Of each location of the body.
    of_locations: Vec<Vec<Attributed>>,
}

impl<'b> Lines<'b> {
    fn of(subject: &'b Subject<'b>, body: &'b Body) -> Lines<'b> {
        let locations = 0..body.locations.len() as u32;
        let attributed = |at| source::attributed(subject.ptx, body, at);
        Lines {
            subject,
            body,
            of_locations: locations.map(attributed).collect(),
        }
    }

    /// The author's lines of an instruction; of a library's code that of what stands before it in its basic block: compilers
    /// do not always tell where it was inlined.
    fn of_instruction(&self, at: usize, block: &Range<usize>) -> Vec<Attributed> {
        if self.subject.is_by_ptx(self.body) {
            return vec![Attributed {
                place: source::Place {
                    file: self.subject.file(),
                    line: self.body.instructions[at].line,
                    column: 0,
                },
                inlined_at: None,
            }];
        }
        let own = self.body.instructions[at].location;
        if own.is_some_and(|it| self.is_complete(it)) {
            return own.map_or_else(Vec::new, |it| self.of_locations[it as usize].clone());
        }
        let before = self.body.instructions[block.start..=at].iter().rev();
        let locations = before.filter_map(|it| it.location);
        let mut lines = locations.map(|it| &self.of_locations[it as usize]);
        let first = lines.find(|lines| !lines.is_empty());
        first.cloned().unwrap_or_default()
    }

    /// Whether a location is the author's, or says where it was inlined: then nothing else is known better.
    fn is_complete(&self, location: u32) -> bool {
        let inlined_at = self.body.locations[location as usize].inlined_at;
        inlined_at.is_some() || !self.of_locations[location as usize].is_empty()
    }

    /// The innermost line of the author's at a branch.
    fn of_branch(&self, at: usize, block: &Range<usize>) -> Option<At> {
        let place = self.of_instruction(at, block).into_iter().next()?.place;
        Some((place.file, place.line))
    }

    /// Where the function begins: the outermost line of its first instruction that has one.
    fn begins(&self, ptx_line: u32) -> Option<At> {
        if self.subject.is_by_ptx(self.body) {
            return Some((self.subject.file(), ptx_line));
        }
        let locations = self.body.instructions.iter().filter_map(|it| it.location);
        let mut outermost = locations.filter_map(|it| self.of_locations[it as usize].last());
        let first = outermost.next()?;
        Some((first.place.file.clone(), first.place.line))
    }
}

impl Listing {
    /// Adds the function to what a kernel has executed: with no blocks as one that has not run.
    pub(super) fn add_to(
        &self,
        coverage: &mut Coverage,
        kernel: &str,
        ran: Option<(&[OfBlock], &Switches)>,
    ) {
        let Some((file, line)) = &self.begins else {
            return;
        };
        let files = &mut coverage.kernels.entry(kernel.to_owned()).or_default().files;
        let idle = (vec![OfBlock::default(); self.blocks.len()], Switches::new());
        let (blocks, switches) = ran.unwrap_or((&idle.0, &idle.1));
        let function = files.entry(file.clone()).or_default();
        let function = function.functions.entry(self.name.clone()).or_default();
        function.line = *line;
        function.threads += blocks.first().map_or(0, |it| it.lanes);
        let threads = self.threads(blocks);
        for ((file, line), copies) in &self.lines {
            let most = |copy: &Vec<u32>| copy.iter().map(|&it| threads[it as usize]).max();
            let times: u64 = copies.iter().filter_map(most).sum();
            let file: &mut File = files.entry(file.clone()).or_default();
            *file.lines.entry(*line).or_default() += times;
        }
        for branch in &self.branches {
            let file = files.entry(branch.file.clone()).or_default();
            *file.branches.entry(branch.id).or_default() += &branch.went(blocks, switches);
        }
    }

    /// How many threads have executed each instruction.
    fn threads(&self, blocks: &[OfBlock]) -> Vec<u64> {
        let mut threads = vec![0; self.instructions];
        for (block, ran) in self.blocks.iter().zip(blocks) {
            for at in block.issues.clone() {
                threads[at as usize] += match block.guarded == Some(at) {
                    true => ran.taken,
                    false => ran.lanes,
                };
            }
        }
        threads
    }
}

impl OfBranch {
    fn went(&self, blocks: &[OfBlock], switches: &Switches) -> Branch {
        let ran = &blocks[self.block];
        let to = |&target: &u32| {
            let way = (self.block as u32, target);
            switches.get(&way).copied().unwrap_or(0)
        };
        Branch {
            outcomes: match &self.targets {
                Some(targets) => targets.iter().map(to).collect(),
                None => vec![ran.taken, ran.lanes - ran.taken],
            },
            divergent: ran.splits,
        }
    }
}
