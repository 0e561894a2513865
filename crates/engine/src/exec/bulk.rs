//! Copies of many bytes between global and shared memory: `cp.async.bulk`, `cp.async.bulk.tensor` and their
//! reductions. They are done where they begin; when others may see that, the checks know.

use ptx::{AtomicOperator, Type};

use super::atomic_update::update;
use super::checked;
use super::counted;
use super::failure::Cause;
use super::mbarrier;
use super::op::{Context, Op};
use super::registers::lanes_of;
use super::shared_operand::{Address, SharedOperand, is_parameter};
use super::tensor_map::{BYTES, TensorMap, adjacent};
use crate::check::{CopyRole, Part};
use crate::memory::windows;
use crate::memory::{Cached, Direction, Lanes};

/// A copy of so many bytes takes long enough that the clock is asked before it.
const BYTES_OF_LOOK: u64 = 1024;

/// A copy.
#[derive(Clone, Debug)]
pub(crate) struct Bulk {
    pub(crate) way: Way,
    pub(crate) shared: Address,
    pub(crate) global: Global,
}

/// Which way, and who is told.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// To shared memory; an mbarrier counts the bytes.
    Load {
        mbarrier: Address,
        /// A slot of words: the blocks of the cluster that have it at the same offsets.
        multicast: Option<u32>,
    },
    /// To global memory, in a group of the thread.
    Store,
    /// The same, combined with what is there: adjacent bytes are of this type, a tensor's of its own.
    Reduce {
        operator: AtomicOperator,
        ty: Option<Type>,
    },
}

/// Where in global memory.
#[derive(Clone, Debug)]
pub(crate) enum Global {
    Adjacent {
        at: Address,
        /// A slot of words.
        bytes: u32,
    },
    /// Nowhere: 16 bytes of zeros.
    Zeros,
    /// Slots of words, the innermost first.
    Tensor { map: Address, coordinates: Vec<u32> },
}

/// Executes a copy, lane by lane.
///
/// # Safety
/// `aux` is the index of a copy of the running program, whose slots are of their kinds.
pub(crate) unsafe fn execute(context: &mut Context<'_>, op: &Op) {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let bulk = unsafe { &(&*context.at.program).bulks[op.aux as usize] };
    let mask = context.mask;
    for lane in lanes_of(mask) {
        // SAFETY: the slots are those of a verified program, of their kinds.
        if let Err(failure) = unsafe { one(context, op, bulk, lane) } {
            context.mask = 1 << lane;
            context.fault(failure, op.instruction);
            break;
        }
    }
    context.mask = mask;
}

/// # Safety
/// As for [`execute`].
unsafe fn one(context: &mut Context<'_>, op: &Op, bulk: &Bulk, lane: usize) -> Result<(), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let (moved, spot) = unsafe {
        match &bulk.global {
            Global::Adjacent { at, bytes } => row(context, (&bulk.shared, at), *bytes, lane)?,
            Global::Zeros => zeros(context, &bulk.shared, lane)?,
            Global::Tensor { map, coordinates } => tile(context, (bulk, map), coordinates, lane)?,
        }
    };
    if moved.bytes >= BYTES_OF_LOOK && context.is_over(op.instruction) {
        return Ok(());
    }
    let start = moved.check_global(context, &bulk.way, lane)?;
    match bulk.way {
        Way::Load {
            mbarrier,
            multicast,
        } => {
            // SAFETY: the slots are those of a verified program, of their kinds.
            let targets = unsafe { targets(context, &mbarrier, multicast, spot, lane)? };
            moved.count(context, op, (&bulk.way, start), targets.len());
            for (told, spot) in targets {
                checked::bulk_load(context, op, lane, &told, &moved.pieces)?;
                moved.load(&spot);
                mbarrier::complete(context, &told, moved.bytes as u32)?;
            }
            Ok(())
        }
        Way::Store => {
            moved.count(context, op, (&bulk.way, start), 1);
            checked::bulk_store(context, op, lane, &moved.pieces, CopyRole::Replace)?;
            moved.store(&spot);
            Ok(())
        }
        Way::Reduce { operator, ty } => {
            moved.count(context, op, (&bulk.way, start), 1);
            let ty = ty.or(moved.ty).unwrap_or(Type::U32);
            let update = update(operator, ty, ptx::Space::Global).map_err(Cause::misuse)?;
            checked::bulk_store(
                context,
                op,
                lane,
                &moved.pieces,
                CopyRole::Change(ty.bytes()),
            )?;
            moved.reduce(&spot, update, ty.bytes());
            Ok(())
        }
    }
}

/// Returns the bytes that a copy of adjacent bytes moves, and their place in shared memory.
///
/// # Safety
/// As for [`execute`].
unsafe fn row(
    context: &Context<'_>,
    (shared, global): (&Address, &Address),
    bytes: u32,
    lane: usize,
) -> Result<(Moved, SharedOperand), Cause> {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let (bytes, global) = unsafe {
        let bytes = u64::from(context.slot::<u32>(bytes)[lane]);
        (bytes, global.of(context, lane))
    };
    if bytes % 16 != 0 {
        let text = format!("a copy of {bytes} bytes, no multiple of 16");
        return Err(Cause::misuse(text));
    }
    if global % 16 != 0 {
        let memory = context.at.launch.memory;
        let fault = memory.misaligned(lane as u32, global, 16);
        return Err(Cause::Fault(fault));
    }
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { shared.range(context, lane, bytes)? };
    let moved = Moved {
        pieces: adjacent(global, spot.offset, bytes),
        behind: Vec::new(),
        filling: 0,
        bytes,
        ty: None,
    };
    Ok((moved, spot))
}

/// Returns 16 bytes of zeros, and their place in shared memory.
///
/// # Safety
/// As for [`execute`].
unsafe fn zeros(
    context: &Context<'_>,
    shared: &Address,
    lane: usize,
) -> Result<(Moved, SharedOperand), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { shared.range(context, lane, 16)? };
    let part = Part {
        global: None,
        shared: spot.offset,
        bytes: 16,
    };
    let moved = Moved {
        pieces: vec![part],
        behind: Vec::new(),
        filling: 0,
        bytes: 16,
        ty: None,
    };
    Ok((moved, spot))
}

/// Returns the bytes that a copy of a tensor's box moves, and their place in shared memory.
///
/// # Safety
/// As for [`execute`].
unsafe fn tile(
    context: &Context<'_>,
    (bulk, map): (&Bulk, &Address),
    coordinates: &[u32],
    lane: usize,
) -> Result<(Moved, SharedOperand), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let map = unsafe { tensor_map(context, map, lane)? };
    if map.rank != coordinates.len() {
        let (rank, given) = (map.rank, coordinates.len());
        let text = format!("{given} coordinates for a tensor of {rank} dimensions");
        return Err(Cause::misuse(text));
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let at = |&slot: &u32| unsafe { i64::from(context.slot::<u32>(slot)[lane] as i32) };
    let at: Vec<i64> = coordinates.iter().map(at).collect();
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { bulk.shared.range(context, lane, map.box_bytes())? };
    if spot.offset % map.alignment() != 0 {
        let text = format!(
            "a tensor's box at {:#x} of shared memory, no multiple of {}",
            spot.offset,
            map.alignment()
        );
        return Err(Cause::misuse(text));
    }
    let mut pieces = map.pieces(&at, spot.offset);
    let behind = match bulk.way {
        Way::Store => map.behind(&at, &mut pieces),
        Way::Load { .. } | Way::Reduce { .. } => Vec::new(),
    };
    let moved = Moved {
        pieces,
        behind,
        filling: map.filling(),
        bytes: map.box_bytes(),
        ty: Some(map.ty),
    };
    Ok((moved, spot))
}

/// The mbarriers that are told, each with where the copy goes to: of one block, or of several at the same
/// offsets.
///
/// # Safety
/// As for [`execute`].
unsafe fn targets(
    context: &Context<'_>,
    mbarrier: &Address,
    multicast: Option<u32>,
    spot: SharedOperand,
    lane: usize,
) -> Result<Vec<(SharedOperand, SharedOperand)>, Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let told = unsafe { mbarrier.spot(context, lane, 8)? };
    let (Some(slot), false) = (multicast, context.at.cluster.is_null()) else {
        return Ok(vec![(told, spot)]);
    };
    // SAFETY: the slot holds words.
    let ranks = unsafe { context.slot::<u32>(slot)[lane] & 0xffff };
    let at = |rank: usize, offset| SharedOperand::of(context, rank as u64, offset);
    let both = |rank| Ok((at(rank, told.offset)?, at(rank, spot.offset)?));
    lanes_of(ranks).map(both).collect()
}

/// # Safety
/// As for [`execute`].
unsafe fn tensor_map(context: &Context<'_>, at: &Address, lane: usize) -> Result<TensorMap, Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let address = unsafe { at.of(context, lane) };
    let misused = |text: String| Cause::misuse(text);
    if address % 64 != 0 {
        return Err(misused(format!(
            "a tensor map at {address:#x}, no multiple of 64"
        )));
    }
    let mut bytes = [0; BYTES];
    if is_parameter(address) {
        let at = (address & windows::OFFSET) as usize;
        let all = &context.at.launch.parameters;
        let Some(from) = all.get(at..at + BYTES) else {
            return Err(misused("a tensor map outside of the parameters".to_owned()));
        };
        bytes.copy_from_slice(from);
    } else {
        let memory = context.at.launch.memory;
        let mut met = Cached::default();
        let address = match windows::of(address) {
            windows::CONSTANT => address & windows::OFFSET,
            _ => address,
        };
        for part in (0..BYTES).step_by(16) {
            memory
                .look_up(address + part as u64, 16, &mut met)
                .map_err(|_| misused(format!("no tensor map is at {address:#x}")))?;
        }
        let from = std::ptr::with_exposed_provenance::<[u8; BYTES]>(address as usize);
        // SAFETY: looked up above.
        bytes = unsafe { from.read_unaligned() };
    }
    TensorMap::of(&bytes).map_err(misused)
}

/// The bytes that a copy moves.
struct Moved {
    pieces: Vec<Part>,
    /// The pieces, in global memory, that a store writes zeros to.
    behind: Vec<(u64, u32)>,
    /// The value of bytes outside of the tensor, repeated.
    filling: u128,
    /// Of all pieces.
    bytes: u64,
    /// Of a tensor.
    ty: Option<Type>,
}

impl Moved {
    /// Where the allocation begins that is copied from or to.
    fn check_global(&self, context: &Context<'_>, way: &Way, lane: usize) -> Result<u64, Cause> {
        let direction = match way {
            Way::Load { .. } => Direction::Read,
            Way::Store | Way::Reduce { .. } => Direction::Write,
        };
        let mut met = Cached::default();
        for piece in &self.pieces {
            if let Some(global) = piece.global {
                let mut addresses = [0; super::registers::LANES];
                addresses[lane] = global;
                let lanes = Lanes::new(&addresses, 1 << lane, piece.bytes);
                let memory = context.at.launch.memory;
                memory
                    .resolve(&lanes, direction, &mut met)
                    .map_err(Cause::Fault)?;
            }
        }
        Ok(met.start())
    }

    /// Counts it, in a launch that is counted.
    fn count(&self, context: &mut Context<'_>, op: &Op, (way, start): (&Way, u64), blocks: usize) {
        if context.at.counts_memory() {
            counted::copy(context, op, way, (&self.pieces, start), blocks);
        }
    }

    /// Each piece's place in the host's memory of global memory, of shared memory, and its bytes.
    fn each(
        &self,
        spot: &SharedOperand,
    ) -> impl Iterator<Item = (Option<*mut u8>, *mut u8, usize)> {
        let base = spot.host.wrapping_sub(spot.offset as usize);
        self.pieces.iter().map(move |piece| {
            let global = piece
                .global
                .map(|it| std::ptr::with_exposed_provenance_mut(it as usize));
            let shared = base.wrapping_add(piece.shared as usize);
            (global, shared, piece.bytes as usize)
        })
    }

    fn load(&self, spot: &SharedOperand) {
        for (global, shared, bytes) in self.each(spot) {
            // SAFETY: both have been resolved, with so many bytes; they are different memories.
            unsafe {
                match global {
                    Some(from) => shared.copy_from_nonoverlapping(from, bytes),
                    None => {
                        shared.copy_from_nonoverlapping(self.filling.to_le_bytes().as_ptr(), bytes)
                    }
                }
            }
        }
    }

    fn store(&self, spot: &SharedOperand) {
        for (global, shared, bytes) in self.each(spot) {
            if let Some(to) = global {
                // SAFETY: as for loads.
                unsafe { to.copy_from_nonoverlapping(shared, bytes) };
            }
        }
        for &(at, bytes) in &self.behind {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
            // SAFETY: as for loads.
            unsafe { to.write_bytes(0, bytes as usize) };
        }
    }

    fn reduce(&self, spot: &SharedOperand, update: fn(u128, u128, u128) -> u128, element: u32) {
        for (global, shared, bytes) in self.each(spot) {
            let Some(to) = global else { continue };
            for at in (0..bytes).step_by(element as usize) {
                let mut operand = [0; 16];
                // SAFETY: as for loads; elements are aligned to their bytes.
                unsafe {
                    let own = operand.as_mut_ptr();
                    own.copy_from_nonoverlapping(shared.add(at), element as usize);
                    super::change::update(to.add(at), element, |old| {
                        update(old, u128::from_le_bytes(operand), 0)
                    });
                }
            }
        }
    }
}
