//! Tensor memory: 128 lanes of 512 columns of 32 bits that each block has, and `tcgen05`, which allocates, moves and
//! multiplies there.
//!
//! All is done where it is issued. What is still under way until threads wait for it, the checks know: registers that
//! `tcgen05.ld` writes, memory that products read and write until the mbarrier of a `tcgen05.commit` says so.
//!
//! After the PTX ISA's section "TensorCore 5th Generation". No GPU that has it was there to compare with.

mod copy;
mod moves;
mod product;

use super::checked;
use super::failure::Cause;
use super::fragment::is_whole;
use super::mbarrier;
use super::op::{Context, Op};
use super::registers::lanes_of;
use super::shared_operand::{Address, SharedOperand};
use super::wgmma;
use crate::check::TensorCells;
pub(crate) use copy::Copy;
pub(crate) use moves::{Direction, Move};
pub(crate) use product::{Left, Multiply, Scales};

/// Its lanes.
pub(crate) const LANES: usize = 128;
/// Columns of each.
pub(crate) const COLUMNS: u32 = 512;
/// Lanes that a warp reaches.
const LANES_OF_WARP: u32 = 32;

/// The tensor memory of a block.
#[derive(Debug, Default)]
pub(crate) struct TensorMemory {
    /// Lane by lane. Empty as long as nobody has allocated any.
    words: Vec<u32>,
    /// The first column of each allocation, and how many it has.
    allocated: Vec<(u32, u32)>,
    is_relinquished: bool,
}

impl TensorMemory {
    /// Begins a new block.
    pub(crate) fn clear(&mut self) {
        self.allocated.clear();
        self.is_relinquished = false;
    }

    /// The columns that a block has not deallocated at its end, in words.
    pub(crate) fn left_behind(&self) -> Option<String> {
        let (first, count) = self.allocated.first()?;
        Some(format!(
            "the block ends, and has not deallocated {count} columns of tensor memory from column {first} on"
        ))
    }

    fn allocate(&mut self, count: u32) -> Result<u32, String> {
        if !(count.is_power_of_two() && (32..=COLUMNS).contains(&count)) {
            return Err(format!(
                "allocates {count} columns of tensor memory: a power of 2 from 32 to {COLUMNS} is allocated"
            ));
        }
        if self.is_relinquished {
            return Err(
                "allocates tensor memory, which its block has relinquished the right to".to_owned(),
            );
        }
        let is_free = |first: u32| {
            let mut all = self.allocated.iter();
            all.all(|&(other, columns)| first + count <= other || other + columns <= first)
        };
        let mut places = (0..=COLUMNS - count).step_by(32);
        let Some(first) = places.find(|&first| is_free(first)) else {
            let used: u32 = self.allocated.iter().map(|it| it.1).sum();
            return Err(format!(
                "waits for ever to allocate {count} columns of tensor memory: the block has {used} of {COLUMNS}"
            ));
        };
        self.allocated.push((first, count));
        self.words.resize(LANES * COLUMNS as usize, 0);
        for lane in self.words.as_chunks_mut::<{ COLUMNS as usize }>().0 {
            // Words that nobody has written are none of the values that one expects.
            lane[first as usize..][..count as usize].fill(u32::MAX);
        }
        Ok(first)
    }

    fn free(&mut self, address: u32, count: u32) -> Result<(), String> {
        let found = self
            .allocated
            .iter()
            .position(|&own| own == (address, count));
        match found {
            Some(index) => {
                self.allocated.remove(index);
                Ok(())
            }
            None => Err(format!(
                "deallocates {count} columns of tensor memory at {address:#x}; {}",
                self.has()
            )),
        }
    }

    /// Whether columns are allocated.
    fn check(&self, first: u32, count: u32) -> Result<(), Cause> {
        let mut all = self.allocated.iter();
        let end = u64::from(first) + u64::from(count);
        let holds = |&(own, columns): &(u32, u32)| own <= first && end <= u64::from(own + columns);
        match all.any(holds) {
            true => Ok(()),
            false => Err(Cause::misuse(format!(
                "reaches columns {first} to {} of tensor memory; {}",
                end - 1,
                self.has()
            ))),
        }
    }

    /// The columns that are allocated, in words.
    fn has(&self) -> String {
        let all = self.allocated.iter();
        let all: Vec<String> = all
            .map(|&(first, count)| format!("{first} to {}", first + count - 1))
            .collect();
        match all.is_empty() {
            true => "none are allocated".to_owned(),
            false => format!("allocated are columns {}", all.join(" and ")),
        }
    }

    /// A word, whose column is allocated.
    fn word(&mut self, lane: usize, column: u32) -> &mut u32 {
        &mut self.words[lane * COLUMNS as usize + column as usize]
    }
}

/// An instruction on tensor memory. Numbers are slots of words.
#[derive(Debug)]
pub(crate) enum Instruction {
    Allocate {
        /// Where the address is written.
        to: Address,
        columns: u32,
    },
    Free {
        address: u32,
        columns: u32,
    },
    Relinquish,
    Move(Move),
    Copy(Copy),
    Multiply(Multiply),
    Commit {
        mbarrier: Address,
        /// The blocks of the cluster that have it at the same offset.
        multicast: Option<u32>,
    },
}

/// Executes one.
///
/// # Safety
/// `aux` is the index of an instruction on tensor memory of the running program, whose slots are of their kinds.
#[inline(always)]
pub(crate) unsafe fn execute(context: &mut Context<'_>, op: &Op) {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let it = unsafe { &(&*context.at.program).tensor_memory[op.aux as usize] };
    let is_for_warps = !matches!(
        it,
        Instruction::Copy(_) | Instruction::Multiply(_) | Instruction::Commit { .. }
    );
    if is_for_warps && !is_whole(context, op) || context.is_over(op.instruction) {
        return;
    }
    let mask = context.mask;
    let lanes = if is_for_warps { 1 } else { mask };
    for lane in lanes_of(lanes) {
        // SAFETY: the slots are those of a verified program, of their kinds.
        if let Err(failure) = unsafe { one(context, op, it, lane) } {
            context.mask = 1 << lane;
            context.fault(failure, op.instruction);
            break;
        }
    }
    context.mask = mask;
}

/// One lane's, or the warp's.
///
/// # Safety
/// As for [`execute`].
#[inline(always)]
unsafe fn one(
    context: &mut Context<'_>,
    op: &Op,
    it: &Instruction,
    lane: usize,
) -> Result<(), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        match it {
            Instruction::Allocate { to, columns } => {
                let columns = context.slot::<u32>(*columns)[lane];
                allocate(context, op, to, columns)
            }
            Instruction::Free { address, columns } => {
                let address = context.slot::<u32>(*address)[lane];
                let columns = context.slot::<u32>(*columns)[lane];
                memory(context)
                    .free(address, columns)
                    .map_err(Cause::misuse)?;
                checked::free_columns(context, op, TensorCells::all(address, columns))
            }
            Instruction::Relinquish => {
                memory(context).is_relinquished = true;
                Ok(())
            }
            Instruction::Move(it) => it.execute(context, op),
            Instruction::Copy(it) => it.execute(context, op, lane),
            Instruction::Multiply(it) => it.execute(context, op, lane),
            Instruction::Commit {
                mbarrier,
                multicast,
            } => {
                let told = mbarrier.spot(context, lane, 8)?;
                let mut all = vec![told];
                if let (Some(slot), false) = (multicast, context.at.cluster.is_null()) {
                    let ranks = context.slot::<u32>(*slot)[lane] & 0xffff;
                    let at = |rank: usize| SharedOperand::of(context, rank as u64, told.offset);
                    all = lanes_of(ranks).map(at).collect::<Result<_, _>>()?;
                }
                checked::commit_tensor(context, lane, &all);
                let mut told = all.iter();
                told.try_for_each(|spot| mbarrier::arrive_once(context, spot))
            }
        }
    }
}

/// # Safety
/// As for [`execute`].
unsafe fn allocate(
    context: &mut Context<'_>,
    op: &Op,
    to: &Address,
    columns: u32,
) -> Result<(), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { to.spot(context, 0, 4)? };
    let first = memory(context).allocate(columns).map_err(Cause::misuse)?;
    checked::allocate_columns(context, op, &spot, TensorCells::all(first, columns))?;
    // SAFETY: resolved to 4 bytes of shared memory, which one host thread executes.
    unsafe { spot.host.cast::<u32>().write(first) };
    Ok(())
}

/// `tcgen05.wait`: of loads where `op.a` is 1, else of stores.
pub(crate) fn wait(context: &mut Context<'_>, op: &Op) {
    if is_whole(context, op) && context.at.checking.is_some() {
        let is_of_loads = op.a == 1;
        if is_of_loads {
            wgmma::forget_loads(context);
        }
        checked::wait_for_tensor(context, is_of_loads);
    }
}

/// The block's.
fn memory<'c>(context: &mut Context<'c>) -> &'c mut TensorMemory {
    // SAFETY: the block's own, which has entered; one host thread executes it.
    unsafe { &mut *context.at.tensor_memory }
}
