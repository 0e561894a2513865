//! The counts of one core.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::footprint::{Sectors, Way};
use super::sectors::Words;
use super::{SECTOR, Space, banks, sectors};
use crate::check::hash::Map;
use crate::memory::{LANES, Lanes, Pattern};
use crate::processor::has_vectors;

/// How many distances between lanes are told apart at one access.
const MOST_STRIDES: usize = 1 << 12;

/// A function that is counted: its number, and of how many parts there are counts.
pub(crate) trait Function {
    /// Which function of the module.
    fn index(&self) -> u32;

    /// How many basic blocks it has.
    fn blocks(&self) -> usize;

    /// How many accesses of memory it has.
    fn accesses(&self) -> usize;

    /// How many bulk copies it has.
    fn copies(&self) -> usize;
}

/// The counts of the blocks that a core has run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(super) scope: Scope,
    /// By the number of the function.
    pub(super) functions: Vec<Option<Box<OfFunction>>>,
    /// The sectors that blocks that have begun and not ended have reached, by their numbers; the one that runs apart.
    others: Map<u64, Sectors>,
    pub(super) own: Sectors,
    block: Option<u64>,
    spare: Vec<Sectors>,
    /// Room for the sectors of a request.
    words: Words,
    pub(super) reached: Sectors,
    pub(super) read_by_blocks: u64,
    pub(super) written_by_blocks: u64,
}

/// The scope of a tally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All that there is.
    #[default]
    All,
    /// Basic blocks and where lanes went at their ends, without memory: what coverage needs.
    Blocks,
}

/// The counts of a function.
#[derive(Debug)]
pub(super) struct OfFunction {
    pub(super) blocks: Box<[OfBlock]>,
    /// Four for each access of the program: one for each space.
    pub(super) accesses: Box<[OfAccess]>,
    /// Two for each access of the program: rows of global and of shared memory.
    pub(super) rows: Box<[[OfRows; 2]]>,
    /// For each copy of the program its half in global memory and that in shared memory.
    pub(super) copies: Box<[[OfAccess; 2]]>,
    /// The lanes that went from a block to each of several targets.
    pub(super) switches: Switches,
    /// Operations of instructions whose sizes are in registers.
    pub(super) products: BTreeMap<u32, u64>,
}

/// Lanes by a basic block that ends with a branch to one of several, and the block that it leads them to.
pub(crate) type Switches = BTreeMap<(u32, u32), u64>;

/// The counts of a basic block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfBlock {
    /// How often lanes came to it, and how many.
    pub(crate) runs: u64,
    pub(crate) lanes: u64,
    /// The lanes that took its branch, and how often some did and some did not.
    pub(crate) taken: u64,
    pub(crate) splits: u64,
}

/// The counts of an access in one space.
#[derive(Clone, Debug, Default)]
pub(super) struct OfAccess {
    pub(super) instruction: u32,
    /// Bytes of a lane.
    pub(super) width: u32,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) sectors: u64,
    pub(super) least_sectors: u64,
    pub(super) new_sectors: u64,
    pub(super) wavefronts: u64,
    pub(super) conflicts: u64,
    /// Requests whose lanes lie one behind another, or all at one address.
    pub(super) consecutive: u64,
    pub(super) same: u64,
    /// Those of other distances, and those of more than one.
    strides: Strides,
    pub(super) irregular: u64,
}

/// Rows that an access reached: one lane's bytes behind another's, of a whole warp. What else there is to count of them
/// follows from how many they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfRows {
    pub(super) instruction: u32,
    /// Bytes of a lane.
    pub(super) width: u32,
    pub(super) requests: u64,
    /// Those of global memory that do not begin where a sector does, and so take one more.
    pub(super) off: u64,
    pub(super) new_sectors: u64,
}

/// How often there was which distance between neighbours.
#[derive(Clone, Debug, Default)]
struct Strides {
    counts: BTreeMap<i64, u64>,
    /// The last one, which is among them, and how often it was there since then: an access has the same one as a rule.
    last: Option<(i64, u64)>,
}

/// An access of a warp.
pub(crate) struct Reached<'a> {
    /// Which access of the function, and of which instruction.
    pub(crate) access: usize,
    pub(crate) instruction: u32,
    pub(crate) space: Space,
    pub(crate) way: Way,
    pub(crate) lanes: &'a Lanes<'a>,
    /// Where the allocation begins, in global memory.
    pub(crate) start: u64,
}

/// A load or a store of a whole warp, one lane's bytes behind another's.
pub(crate) struct Row {
    /// Which access of the function, and of which instruction.
    pub(crate) access: usize,
    pub(crate) instruction: u32,
    pub(crate) way: Way,
    /// Where lane 0's are.
    pub(crate) address: u64,
    /// Bytes of a lane: 1, 2, 4, 8 or 16.
    pub(crate) bytes: u32,
}

impl Tally {
    pub(crate) fn of(scope: Scope) -> Tally {
        Tally {
            scope,
            ..Tally::default()
        }
    }

    /// Whether accesses of memory are counted, too.
    #[inline(always)]
    pub(crate) fn counts_memory(&self) -> bool {
        self.scope == Scope::All
    }

    /// A block begins or goes on.
    pub(crate) fn enter(&mut self, block: u64) {
        if self.block == Some(block) || !self.counts_memory() {
            return;
        }
        let next = self.others.remove(&block);
        let next = next.or_else(|| self.spare.pop()).unwrap_or_default();
        let before = std::mem::replace(&mut self.own, next);
        if let Some(number) = self.block.replace(block) {
            self.others.insert(number, before);
        }
    }

    /// The block that runs ends.
    pub(crate) fn end(&mut self) {
        if !self.counts_memory() {
            return;
        }
        self.read_by_blocks += self.own.read;
        self.written_by_blocks += self.own.written;
        self.reached.add(&self.own);
        self.own.clear();
        self.spare.push(std::mem::take(&mut self.own));
        self.block = None;
    }

    /// Lanes come to a basic block.
    #[inline]
    pub(crate) fn run(&mut self, program: &impl Function, block: u32, mask: u32) {
        let block = &mut of(self.scope, &mut self.functions, program).blocks[block as usize];
        block.runs += 1;
        block.lanes += u64::from(mask.count_ones());
    }

    /// A whole warp goes through basic blocks, one after another.
    #[inline]
    pub(crate) fn run_through(&mut self, program: &impl Function, blocks: Range<u32>) {
        let all = &mut of(self.scope, &mut self.functions, program).blocks;
        for block in &mut all[blocks.start as usize..blocks.end as usize] {
            block.runs += 1;
            block.lanes += LANES as u64;
        }
    }

    /// A whole warp comes to a basic block and leaves it whole; all of its lanes take its branch, or none.
    #[inline]
    pub(crate) fn run_whole(&mut self, program: &impl Function, block: u32, takers: u32) {
        let block = &mut of(self.scope, &mut self.functions, program).blocks[block as usize];
        block.runs += 1;
        block.lanes += LANES as u64;
        block.taken += u64::from(takers);
    }

    /// Lanes of those at a basic block take its branch.
    #[inline]
    pub(crate) fn branch(&mut self, program: &impl Function, block: u32, taken: u32, mask: u32) {
        let block = &mut of(self.scope, &mut self.functions, program).blocks[block as usize];
        block.taken += u64::from((taken & mask).count_ones());
        block.splits += u64::from(taken & mask != 0 && !taken & mask != 0);
    }

    /// Lanes of those at a basic block go each to a target of their own.
    pub(crate) fn switch(
        &mut self,
        program: &impl Function,
        block: u32,
        targets: impl Iterator<Item = u32>,
    ) {
        let switches = &mut of(self.scope, &mut self.functions, program).switches;
        for target in targets {
            *switches.entry((block, target)).or_default() += 1;
        }
    }

    /// An instruction does so many operations more.
    pub(crate) fn product(&mut self, program: &impl Function, instruction: u32, operations: u64) {
        let products = &mut of(self.scope, &mut self.functions, program).products;
        *products.entry(instruction).or_default() += operations;
    }

    /// Lanes that have come to the end of a basic block will come to it again, from where they went another
    /// way than others.
    pub(crate) fn comes_back(&mut self, program: &impl Function, block: u32, mask: u32) {
        let block = &mut of(self.scope, &mut self.functions, program).blocks[block as usize];
        block.runs -= 1;
        block.lanes -= u64::from(mask.count_ones());
    }

    /// A whole warp reaches a row of global memory, in an allocation that begins at `start`.
    #[inline(always)]
    pub(crate) fn reach_global_row(&mut self, program: &impl Function, row: &Row, start: u64) {
        let from = row.address.wrapping_sub(start % SECTOR);
        let last = from + LANES as u64 * u64::from(row.bytes) - 1;
        let new = self.own.reach_row(from / SECTOR, last / SECTOR, row.way);
        let function = of(self.scope, &mut self.functions, program);
        let rows = &mut function.rows[row.access][0];
        rows.note(row);
        rows.off += u64::from(!from.is_multiple_of(SECTOR));
        rows.new_sectors += u64::from(new);
    }

    /// A whole warp reaches a row of shared memory.
    #[inline(always)]
    pub(crate) fn reach_shared_row(&mut self, program: &impl Function, row: &Row) {
        let function = of(self.scope, &mut self.functions, program);
        function.rows[row.access][1].note(row);
    }

    /// Lanes reach memory.
    pub(crate) fn reach(&mut self, program: &impl Function, reached: &Reached<'_>) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn vectors(tally: &mut Tally, program: &impl Function, reached: &Reached<'_>) {
            tally.reach_here(program, reached);
        }
        #[cfg(target_arch = "x86_64")]
        if has_vectors() {
            // SAFETY: the processor has them.
            return unsafe { vectors(self, program, reached) };
        }
        self.reach_here(program, reached);
    }

    // Inlined, so that it is compiled for the processor that its caller is compiled for.
    #[inline(always)]
    fn reach_here(&mut self, program: &impl Function, reached: &Reached<'_>) {
        let Reached { lanes, space, .. } = *reached;
        let own = &mut self.own;
        let function = of(self.scope, &mut self.functions, program);
        let access = &mut function.accesses[4 * reached.access + place(space)];
        (access.instruction, access.width) = (reached.instruction, lanes.bytes);
        access.requests += 1;
        access.bytes += u64::from(lanes.mask.count_ones() * lanes.bytes);
        access.note_stride(lanes);
        match space {
            Space::Global | Space::Constant => {
                let (bias, way) = (reached.start % SECTOR, reached.way);
                let (count, new) = sectors::of_global(lanes, bias, (&mut self.words, own), way);
                access.new_sectors += u64::from(new);
                access.note_sectors(lanes, count);
            }
            Space::Local => access.note_sectors(lanes, sectors::of_local(lanes)),
            Space::Shared => {
                let wavefronts = match reached.way {
                    Way::Both => banks::of_atomic(lanes),
                    _ => banks::of_access(lanes),
                };
                access.wavefronts += u64::from(wavefronts.all);
                access.conflicts += u64::from(wavefronts.all - wavefronts.least);
            }
            Space::Parameters => {}
        }
    }
}

#[inline(always)]
pub(super) fn of<'f>(
    scope: Scope,
    functions: &'f mut Vec<Option<Box<OfFunction>>>,
    program: &impl Function,
) -> &'f mut OfFunction {
    let index = program.index() as usize;
    let is_known = functions.get(index).is_some_and(Option::is_some);
    if !is_known {
        begin(scope, functions, program);
    }
    functions[index].as_mut().expect("it has begun")
}

/// The function runs for the first time.
#[cold]
#[inline(never)]
fn begin(scope: Scope, functions: &mut Vec<Option<Box<OfFunction>>>, program: &impl Function) {
    let index = program.index() as usize;
    if functions.len() <= index {
        functions.resize_with(index + 1, || None);
    }
    let function = match scope {
        Scope::All => OfFunction::of(program),
        Scope::Blocks => OfFunction::of_blocks(program.blocks()),
    };
    functions[index] = Some(Box::new(function));
}

/// Where a space's access lies among those of one operation.
fn place(space: Space) -> usize {
    match space {
        Space::Global | Space::Constant => 0,
        Space::Shared => 1,
        Space::Local => 2,
        Space::Parameters => 3,
    }
}

impl OfFunction {
    fn of(program: &impl Function) -> OfFunction {
        OfFunction {
            blocks: vec![OfBlock::default(); program.blocks()].into(),
            accesses: vec![OfAccess::default(); 4 * program.accesses()].into(),
            rows: vec![<[OfRows; 2]>::default(); program.accesses()].into(),
            copies: vec![<[OfAccess; 2]>::default(); program.copies()].into(),
            switches: Switches::new(),
            products: BTreeMap::new(),
        }
    }

    /// Without anything about memory.
    pub(super) fn of_blocks(blocks: usize) -> OfFunction {
        OfFunction {
            blocks: vec![OfBlock::default(); blocks].into(),
            accesses: Box::default(),
            rows: Box::default(),
            copies: Box::default(),
            switches: Switches::new(),
            products: BTreeMap::new(),
        }
    }

    /// The accesses that were made, each with its space, and maybe twice: its rows are apart.
    pub(super) fn accesses(&self) -> impl Iterator<Item = (Space, Cow<'_, OfAccess>)> {
        let spaces = [
            Space::Global,
            Space::Shared,
            Space::Local,
            Space::Parameters,
        ];
        let accesses = self.accesses.iter().zip(spaces.into_iter().cycle());
        let of_copies = [Space::Global, Space::Shared];
        let copies = self.copies.as_flattened().iter();
        let all = accesses.chain(copies.zip(of_copies.into_iter().cycle()));
        let made = all.filter(|(it, _)| it.requests > 0);
        let made = made.map(|(it, space)| (space, Cow::Borrowed(it)));
        let rows = self.rows.as_flattened().iter();
        let rows = rows.zip(of_copies.into_iter().cycle());
        let rows = rows.filter(|(it, _)| it.requests > 0);
        made.chain(rows.map(|(it, space)| (space, Cow::Owned(it.access(space)))))
    }
}

impl OfRows {
    #[inline(always)]
    fn note(&mut self, row: &Row) {
        (self.instruction, self.width) = (row.instruction, row.bytes);
        self.requests += 1;
    }

    fn access(&self, space: Space) -> OfAccess {
        let (requests, width) = (self.requests, u64::from(self.width));
        // A sector has as many bytes as a warp has lanes.
        const _: () = assert!(SECTOR == LANES as u64);
        let (sectors, wavefronts) = match space {
            Space::Shared => (0, requests * width.div_ceil(4)),
            _ => (requests * width, 0),
        };
        OfAccess {
            instruction: self.instruction,
            width: self.width,
            requests,
            bytes: requests * width * LANES as u64,
            sectors: sectors + self.off,
            least_sectors: sectors,
            new_sectors: self.new_sectors,
            wavefronts,
            consecutive: requests,
            ..OfAccess::default()
        }
    }
}

impl Strides {
    /// Adds one, unless there are many others. Gives whether it was added.
    #[inline(always)]
    fn add(&mut self, stride: i64) -> bool {
        match &mut self.last {
            Some((last, count)) if *last == stride => *count += 1,
            _ => return self.change(stride),
        }
        true
    }

    #[inline(never)]
    fn change(&mut self, stride: i64) -> bool {
        if let Some((last, count)) = self.last.take() {
            *self.counts.entry(last).or_default() += count;
        }
        let is_kept = self.counts.len() < MOST_STRIDES || self.counts.contains_key(&stride);
        if is_kept {
            *self.counts.entry(stride).or_default() += 1;
            self.last = Some((stride, 0));
        }
        is_kept
    }

    fn each(&self) -> impl Iterator<Item = (i64, u64)> + Clone {
        let counts = self.counts.iter();
        counts.map(|(&stride, &count)| match self.last {
            Some((last, more)) if last == stride => (stride, count + more),
            _ => (stride, count),
        })
    }
}

impl OfAccess {
    /// Distances between neighbours that are neither the bytes of a lane nor 0, ascending, and how often they were
    /// there.
    pub(super) fn strides(&self) -> impl Iterator<Item = (i64, u64)> + Clone {
        self.strides.each()
    }

    pub(super) fn add_stride(&mut self, stride: i64, times: u64) {
        *self.strides.counts.entry(stride).or_default() += times;
    }

    #[inline(always)]
    fn note_sectors(&mut self, lanes: &Lanes<'_>, count: u32) {
        self.sectors += u64::from(count);
        self.least_sectors += u64::from(count.min(sectors::least(lanes)));
    }

    #[inline(always)]
    fn note_stride(&mut self, lanes: &Lanes<'_>) {
        match lanes.pattern {
            _ if lanes.mask & lanes.mask >> 1 == 0 => {}
            Pattern::Consecutive { .. } => self.consecutive += 1,
            Pattern::Same { .. } => self.same += 1,
            Pattern::Any => match sectors::stride(lanes) {
                Some(stride) if self.strides.add(stride) => {}
                _ => self.irregular += 1,
            },
        }
    }
}
