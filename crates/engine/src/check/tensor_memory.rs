//! Tensor memory: who reads and writes it, and what is under way there.
//!
//! A warp's loads and stores are under way until it waits for them. A thread's products, and its copies from shared memory, are so
//! until somebody waits for an mbarrier that the thread has committed them to; they follow each other. A cell stands for 16 lanes
//! of a column, since no instruction reaches less.

use super::access::{AccessKind, Accessors, BlockId, Strength};
use super::bulk::{Incoming, Part};
use super::cell::{Before, Wrong};
use super::hash::Map;
use super::line::PENDING;
use super::products::By;
use super::sites::Role;
use super::undefined::OriginId;
use super::warp::Trouble;
use super::{Checked, Checker, live};
use crate::finding_kind::RaceReason;
use crate::memory::{Kind, Label, Lanes, Part as Piece, Place};

/// Lanes of a cell.
const LANES: u32 = 16;
/// Cells of a column.
const HALVES: usize = 8;
const COLUMNS: usize = 512;

/// Commits of a thread that nobody has waited for, of which the times are kept.
const MOST_COMMITS: usize = 64;

/// Lanes of adjacent columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorCells {
    /// In units of 16 lanes.
    first: usize,
    halves: usize,
    column: usize,
    columns: usize,
}

impl TensorCells {
    /// Of so many lanes from one on, multiples of 16, and columns from one on, which there are.
    pub fn new(lane: u32, lanes: u32, column: u32, columns: u32) -> TensorCells {
        TensorCells {
            first: (lane / LANES) as usize,
            halves: (lanes / LANES) as usize,
            column: column as usize,
            columns: columns as usize,
        }
    }

    /// All lanes of columns.
    pub fn all(column: u32, columns: u32) -> TensorCells {
        TensorCells::new(0, LANES * HALVES as u32, column, columns)
    }

    fn one(at: usize) -> TensorCells {
        TensorCells {
            first: at / COLUMNS,
            halves: 1,
            column: at % COLUMNS,
            columns: 1,
        }
    }

    /// Those that a mask of lanes does not name whole.
    pub(crate) fn without(self, lanes: u128) -> impl Iterator<Item = TensorCells> {
        let halves = self.first..self.first + self.halves;
        let is_left = move |half: &usize| lanes >> (half * LANES as usize) & 0xffff != 0xffff;
        halves.filter(is_left).map(move |first| TensorCells {
            first,
            halves: 1,
            ..self
        })
    }

    /// How many cells there are.
    pub(crate) const ALL: usize = HALVES * COLUMNS;

    /// The numbers of the cells.
    pub(crate) fn each(self) -> impl Iterator<Item = usize> {
        let halves = self.first..self.first + self.halves;
        halves.flat_map(move |half| {
            let columns = self.column..self.column + self.columns;
            columns.map(move |column| half * COLUMNS + column)
        })
    }
}

/// The use of cells.
#[derive(Clone, Copy, Debug)]
pub enum TensorAct<'a> {
    /// A warp reads them.
    Load,
    /// A warp writes them, of which some have the values already: in the order of the cells.
    Store {
        /// Whether they have.
        equal: &'a [bool],
    },
    /// A thread's product, or its copy, writes them. It reads others, and shared memory: 16 bytes at each offset.
    Product {
        /// The offsets.
        chunks: &'a [u64],
        /// The other cells.
        reads: &'a [TensorCells],
    },
    /// A warp frees them.
    Free,
}

/// The tensor memory of a block.
#[derive(Debug, Default)]
pub(super) struct TensorMemory {
    /// Empty as long as nobody has reached any.
    cells: Vec<Cell>,
    /// The products that threads have issued.
    threads: Map<u32, Issued>,
}

#[derive(Clone, Debug, Default)]
struct Cell {
    write: Option<Done>,
    reads: Vec<Done>,
}

#[derive(Clone, Copy, Debug)]
struct Done {
    epoch: u32,
    thread: u32,
    site: u32,
    way: Way,
    /// Whether by all lanes of the thread's warp.
    is_warp: bool,
}

/// Until when it is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Done,
    /// Until its warp waits.
    ByWarp,
    /// Until its thread's commit of this number is waited for.
    Product(u32),
}

/// A thread's products.
#[derive(Debug, Default)]
struct Issued {
    committed: u32,
    /// When it issued the first of each commit that nobody has waited for.
    since: Vec<(u32, u32)>,
}

/// The products that an mbarrier is told of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Committed {
    /// The number of the block, which no other one has.
    instance: u32,
    pub(super) thread: u32,
    number: u32,
    /// When the first was issued.
    pub(super) since: u32,
}

impl TensorMemory {
    fn cells(&mut self) -> &mut [Cell] {
        self.cells.resize(HALVES * COLUMNS, Cell::default());
        &mut self.cells
    }
}

/// Who does something, and how.
struct Actor {
    thread: u32,
    site: u32,
    is_product: bool,
}

impl Actor {
    /// Why an access is wrong behind another. `knows` tells whether something of a thread at a time comes before.
    fn wrong(
        &self,
        other: &Done,
        both_store: bool,
        knows: impl Fn(u32, u32) -> bool,
    ) -> Option<Before> {
        let before = |epoch, kind| Before {
            epoch,
            thread: other.thread,
            site: other.site,
            is_exact: true,
            kind,
        };
        match other.way {
            Way::Product(_) if self.is_product && other.thread == self.thread => None,
            Way::Product(_) => Some(before(PENDING, Wrong::PendingProduct)),
            // A warp's stores follow each other.
            Way::ByWarp if both_store && other.thread == self.thread => None,
            Way::ByWarp => Some(before(PENDING, Wrong::PendingCopy)),
            Way::Done if knows(other.epoch, other.thread) => None,
            // Whoever comes after any lane comes after the warp's access.
            Way::Done
                if other.is_warp && (1..32).any(|lane| knows(other.epoch, other.thread + lane)) =>
            {
                None
            }
            Way::Done => Some(before(other.epoch, Wrong::Race(RaceReason::Weak))),
        }
    }
}

impl Checker {
    /// A thread, or for its warp the first, does something with tensor memory of its block.
    ///
    /// # Errors
    /// It races with another access, or reaches what is under way or what nobody has written.
    pub fn tensor(
        &mut self,
        who: Accessors,
        instruction: u32,
        act: TensorAct<'_>,
        cells: &[TensorCells],
    ) -> Checked {
        let own = [0; 32];
        let lanes = Lanes::new(&own, who.mask, 16);
        let (read, write) = (
            AccessKind::Read(Strength::Weak),
            AccessKind::Write(Strength::Weak),
        );
        let thread = who.warp * 32 + who.mask.trailing_zeros();
        match act {
            TensorAct::Load => {
                let access = self.bulk_half(who, instruction, &lanes, read, Role::Read);
                let found = self.reach(who, (access.site, Way::ByWarp), cells, &[]);
                // A cell that nobody has written may be read, as long as nobody uses its value.
                let found = found.filter(|(_, before)| before.is_some());
                self.tensor_trouble(who, &access, found)
            }
            TensorAct::Store { equal } => {
                let access = self.bulk_half(who, instruction, &lanes, write, Role::Write);
                let is_unordered = |before: &Before| {
                    matches!(
                        before.kind,
                        Wrong::Race(RaceReason::Weak) | Wrong::PendingCopy
                    )
                };
                let mut values = equal.iter();
                // One by one: equal stores of two warps are benign.
                for at in cells.iter().flat_map(|it| it.each()) {
                    let is_equal = values.next() == Some(&true);
                    let cell = [TensorCells::one(at)];
                    let found = self.reach(who, (access.site, Way::ByWarp), &[], &cell);
                    let Some((_, Some(before))) = found else {
                        continue;
                    };
                    if !(is_equal && is_unordered(&before) && self.is_store(before.site)) {
                        return self.tensor_trouble(who, &access, found);
                    }
                    let trouble = Trouble {
                        lane: who.mask.trailing_zeros(),
                        address: at as u64,
                        before: Some(Before {
                            kind: Wrong::EqualStores,
                            ..before
                        }),
                    };
                    self.keep(who, &access, |_| place(at), &trouble)?;
                    self.force(who, (access.site, Way::ByWarp), at);
                }
                Ok(())
            }
            TensorAct::Free => {
                let access = self.bulk_half(who, instruction, &lanes, write, Role::Free);
                let found = self.reach(who, (access.site, Way::Done), &[], cells);
                self.tensor_trouble(who, &access, found)
            }
            TensorAct::Product { chunks, reads } => {
                let number = self.issue(who.block, thread);
                let part = |&shared: &u64| Part {
                    global: None,
                    shared,
                    bytes: 16,
                };
                let parts: Vec<Part> = chunks.iter().map(part).collect();
                let access = self.bulk_half(who, instruction, &lanes, read, Role::Product);
                self.bulk_shared(who.block, who, &access, &parts)?;
                let products = &mut live(&mut self.blocks, who.block).products;
                let by = By::Thread {
                    thread,
                    commit: number,
                };
                products.read(by, chunks, access.site);
                let found = self.reach(who, (access.site, Way::Product(number)), reads, &[]);
                self.tensor_trouble(who, &access, found)?;
                let access = self.bulk_half(who, instruction, &lanes, write, Role::Accumulate);
                let found = self.reach(who, (access.site, Way::Product(number)), &[], cells);
                self.tensor_trouble(who, &access, found)
            }
        }
    }

    /// Whether a site is that of a warp's stores.
    fn is_store(&self, site: u32) -> bool {
        self.sites.get(site).is_plain_store()
    }

    /// Remembers a write of a cell that has been judged.
    fn force(&mut self, who: Accessors, (site, way): (u32, Way), at: usize) {
        let block = live(&mut self.blocks, who.block);
        let epoch = block.clock.now;
        let cell = &mut block.tensor_memory.cells()[at];
        cell.reads.clear();
        cell.write = Some(Done {
            epoch,
            thread: who.warp * 32 + who.mask.trailing_zeros(),
            site,
            way,
            is_warp: true,
        });
    }

    /// A thread issues a product: gives the number of the commit that it will be of.
    fn issue(&mut self, block: BlockId, thread: u32) -> u32 {
        let block = live(&mut self.blocks, block);
        let issued = block.tensor_memory.threads.entry(thread).or_default();
        let number = issued.committed;
        if issued.since.last().is_none_or(|it| it.0 != number) {
            block.clock.tick(&mut self.world);
            issued.since.push((number, block.clock.now));
            // Where nobody waits, the first is what counts.
            if issued.since.len() > MOST_COMMITS {
                issued.since.remove(1);
            }
        }
        number
    }

    /// Judges and remembers accesses to cells. Gives the first cell that is wrong, with what was before.
    fn reach(
        &mut self,
        who: Accessors,
        (site, way): (u32, Way),
        reads: &[TensorCells],
        writes: &[TensorCells],
    ) -> Option<(usize, Option<Before>)> {
        let block = live(&mut self.blocks, who.block);
        let (clock, world) = (&block.clock, &self.world);
        let actor = Actor {
            thread: who.warp * 32 + who.mask.trailing_zeros(),
            site,
            is_product: matches!(way, Way::Product(_)),
        };
        let knows = |epoch, by| clock.knows(world, actor.thread, epoch, by);
        let done = Done {
            epoch: clock.now,
            thread: actor.thread,
            site: actor.site,
            way,
            is_warp: !actor.is_product,
        };
        let all = block.tensor_memory.cells();
        let mut unwritten = None;
        for at in reads.iter().flat_map(|it| it.each()) {
            let cell = &mut all[at];
            let Some(write) = &cell.write else {
                unwritten.get_or_insert((at, None));
                continue;
            };
            if let Some(before) = actor.wrong(write, false, knows) {
                return Some((at, Some(before)));
            }
            let is_own = |it: &&mut Done| (it.thread, it.is_warp) == (done.thread, done.is_warp);
            match cell.reads.iter_mut().find(is_own) {
                Some(own) => *own = done,
                None => cell.reads.push(done),
            }
        }
        for at in writes.iter().flat_map(|it| it.each()) {
            let cell = &mut all[at];
            let written = cell.write.iter().map(|it| (it, true));
            let mut earlier = written.chain(cell.reads.iter().map(|it| (it, false)));
            let is_store = way == Way::ByWarp;
            let found =
                earlier.find_map(|(it, is_write)| actor.wrong(it, is_write && is_store, knows));
            if let Some(before) = found {
                return Some((at, Some(before)));
            }
            cell.reads.clear();
            cell.write = Some(done);
        }
        unwritten
    }

    /// The number of a lane's load from a column that nobody has written, in a lane of tensor memory; none where somebody has.
    pub(crate) fn unwritten_in_tensor(
        &mut self,
        who: Accessors,
        instruction: u32,
        (lane, column): (usize, u32),
    ) -> Option<OriginId> {
        let at = lane / LANES as usize * COLUMNS + column as usize;
        let cells = live(&mut self.blocks, who.block).tensor_memory.cells();
        if cells[at].write.is_some() {
            return None;
        }
        Some(self.origin_in_tensor(who, instruction, (at as u64, place(at))))
    }

    fn tensor_trouble(
        &mut self,
        who: Accessors,
        access: &super::warp::Numbered<'_>,
        found: Option<(usize, Option<Before>)>,
    ) -> Checked {
        let Some((at, before)) = found else {
            return Ok(());
        };
        let trouble = Trouble {
            lane: who.mask.trailing_zeros(),
            address: at as u64,
            before,
        };
        Err(self.found(who, access, place(at), &trouble).into())
    }

    /// Columns begin anew, whose address is written to shared memory at an offset. No proxy fence is asked for behind that: the PTX
    /// ISA does not say through which proxy it is written, and Triton has none.
    ///
    /// # Errors
    /// The write races with another access.
    pub fn allocate_columns(
        &mut self,
        who: Accessors,
        (owner, offset): (BlockId, u64),
        instruction: u32,
        cells: TensorCells,
    ) -> Checked {
        let mut addresses = [0; 32];
        addresses[who.mask.trailing_zeros() as usize & 31] = offset;
        let lanes = Lanes::new(&addresses, who.mask, 4);
        let write = AccessKind::Write(Strength::Weak);
        let access = self.bulk_half(who, instruction, &lanes, write, Role::Allocate);
        let pending = self.pending_reads(owner, &access);
        let found = self.in_shared(owner, who, &access);
        if let Some(trouble) = pending.or(found.race) {
            let place = live(&mut self.blocks, owner).layout.place(trouble.address);
            return Err(self.found(who, &access, place, &trouble).into());
        }
        let all = live(&mut self.blocks, who.block).tensor_memory.cells();
        cells.each().for_each(|at| all[at] = Cell::default());
        Ok(())
    }

    /// A warp has waited for its loads, or for its stores.
    pub fn wait_for_tensor(&mut self, who: Accessors, is_of_loads: bool) {
        let block = live(&mut self.blocks, who.block);
        let now = block.clock.now;
        let mut settle = |done: &mut Done| {
            if done.way == Way::ByWarp && done.thread / 32 == who.warp {
                (done.way, done.epoch) = (Way::Done, now);
            }
        };
        for cell in &mut block.tensor_memory.cells {
            match is_of_loads {
                true => cell.reads.iter_mut().for_each(&mut settle),
                false => cell.write.iter_mut().for_each(&mut settle),
            }
        }
    }

    /// Mbarriers, of blocks at offsets, will be told when a thread's products are done.
    pub fn commit_tensor(&mut self, who: Accessors, told: &[(BlockId, u64)]) {
        let thread = who.warp * 32 + who.mask.trailing_zeros();
        let block = live(&mut self.blocks, who.block);
        let now = block.clock.now;
        let issued = block.tensor_memory.threads.entry(thread).or_default();
        let committed = Committed {
            instance: block.clock.number,
            thread,
            number: issued.committed,
            since: issued.since.first().map_or(now, |it| it.1),
        };
        issued.committed += 1;
        for &(owner, mbarrier) in told {
            let bulks = &mut live(&mut self.blocks, owner).bulks;
            bulks.expect(Incoming::of_products(mbarrier, who.block, committed));
        }
    }

    /// Somebody has waited for a commit: its products, and those of the thread before it, are done at a time.
    pub(super) fn land_products(&mut self, by: BlockId, committed: Committed, time: u32) {
        let Some(block) = self.blocks[by.0 as usize].as_deref_mut() else {
            return;
        };
        let Committed { thread, number, .. } = committed;
        if block.clock.number != committed.instance {
            return;
        }
        let is_done = |own: u32, commit: u32| own == thread && commit <= number;
        block.products.forget(|by| match by {
            By::Thread { thread, commit } => is_done(thread, commit),
            By::Warp { .. } => false,
        });
        if let Some(issued) = block.tensor_memory.threads.get_mut(&thread) {
            issued.since.retain(|&(commit, _)| commit > number);
        }
        for cell in &mut block.tensor_memory.cells {
            for done in cell.write.iter_mut().chain(&mut cell.reads) {
                if let Way::Product(commit) = done.way
                    && is_done(done.thread, commit)
                {
                    (done.way, done.epoch) = (Way::Done, time);
                }
            }
        }
    }
}

/// The place of a cell.
fn place(at: usize) -> Place {
    let (half, column) = ((at / COLUMNS) as u32, at % COLUMNS);
    let (first, last) = (half * LANES, half * LANES + LANES - 1);
    Place {
        address: u64::from(first) << 16 | column as u64,
        below: Some(Piece {
            kind: Kind::TensorMemory,
            label: Label::new(&format!("lanes {first} to {last}"), 1),
            device: None,
            offset: column as i64,
            bytes: COLUMNS as u64,
        }),
        above: None,
        by_way_of: None,
    }
}
