//! Loads, stores and atomics.

use ptx::{Order, Scope};

use super::change::change;
use super::failure::Cause;
use super::images::Reach;
use super::lanewise::{load, store};
use super::op::{Context, Op};
use super::registers::{Kind, LANES, lanes_of};
use super::root::Root;
use super::surroundings::Look;
use super::{checked, cluster, partial_words};
use crate::finding_kind::FindingKind;
use crate::memory::windows;
use crate::memory::{Direction, Fault, Lanes};

/// An access of an operation to memory.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) act: Act,
    pub(crate) space: Space,
    /// Bytes of an element.
    pub(crate) element: u32,
    /// Registers, one an element.
    pub(crate) data: Vec<Data>,
    /// Added to the address.
    pub(crate) offset: i64,
    pub(crate) order: Order,
    pub(crate) scope: Scope,
    /// Of a word of which a loop that compares and swaps it changes a part, the bytes of the part.
    pub(crate) part_bytes: Option<u32>,
    /// The root of the address, where it is known.
    pub(crate) root: Option<Root>,
    /// Where the address is a texture's or a surface's handle, how it is reached.
    pub(crate) image: Option<Box<Reach>>,
}

impl Access {
    /// Bytes a lane.
    pub(crate) fn bytes(&self) -> u32 {
        self.element * self.data.len() as u32
    }
}

/// A register that is loaded to or stored from; none for `_`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) slot: Option<u32>,
    pub(crate) kind: Kind,
    /// Bits of the register.
    pub(crate) bits: u32,
}

/// Kind of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Narrow signed values are extended by their sign.
    Load {
        signed: bool,
        /// Whether it says that no thread of the launch writes what it reads.
        is_read_only: bool,
    },
    Store,
    /// The first half of an asynchronous copy: its checks are both halves', to the shared address that a
    /// slot holds.
    CopyFrom {
        to: u32,
        to_offset: i64,
    },
    /// The second half.
    CopyTo,
    /// The old value goes to the data, where they have slots.
    Atomic(Atomic),
}

impl Access {
    /// Whether local memory has such accesses: neither atomics nor what orders others.
    fn may_be_local(&self) -> bool {
        let is_plain = matches!(self.order, Order::Weak | Order::Volatile);
        is_plain && !matches!(self.act, Act::Atomic(_))
    }
}

impl Act {
    pub(crate) fn direction(&self) -> Direction {
        match self {
            Act::Load { .. } | Act::CopyFrom { .. } => Direction::Read,
            Act::Store | Act::CopyTo | Act::Atomic(_) => Direction::Write,
        }
    }
}

/// The part of a word that an atomic of it is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The slot of the bit that it begins at.
    pub(crate) begins: u32,
    /// Its bytes, at least.
    pub(crate) bytes: u32,
}

/// A change of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    /// Where it is about a part of a word alone: an `or`, `xor` or `and`.
    pub(crate) part: Option<Part>,
    /// The new value of an element, from it, the operand and the comparand.
    pub(crate) update: fn(u128, u128, u128) -> u128,
    /// Slots of the operands, one an element.
    pub(crate) operands: [u32; 8],
    /// The slot of the comparand, or of anything.
    pub(crate) comparand: u32,
    pub(crate) kind: Kind,
    /// Whether it writes only where memory equals the comparand.
    pub(crate) compares: bool,
    /// Whether it writes the operand, whatever was there.
    pub(crate) exchanges: bool,
}

/// Where addresses point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Addresses of the host.
    Global,
    /// Offsets in the block's.
    Shared,
    /// The same, and those of other blocks of the cluster: see [`cluster`].
    Cluster,
    /// Offsets in the thread's.
    Local,
    /// Offsets in the kernel's parameters.
    Parameters,
    /// Any of these, by the window.
    Generic,
}

/// Executes an access.
///
/// # Safety
/// The operation's `aux` is the index of an access of the running program, whose slots are of their
/// kinds; `a` holds addresses.
#[inline(always)]
pub(crate) unsafe fn access(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let access = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let base = unsafe { context.slot::<u64>(op.a) };
    let offset = access.offset as u64;
    let mut addresses = [0; LANES];
    for lane in 0..LANES {
        addresses[lane] = base[lane].wrapping_add(offset);
    }
    let bytes = access.bytes();
    let mask = context.mask;
    if access.space == Space::Generic {
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe { generic(context, op, access, addresses, bytes) };
        return;
    }
    if access.space == Space::Cluster {
        let of = |lane: usize| match context.at.cluster.is_null() {
            true => (None, addresses[lane]),
            false => cluster::of_window(context, addresses[lane]),
        };
        let places: [(Option<u64>, u64); LANES] = std::array::from_fn(of);
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe { in_cluster(context, op, access, &places, mask, bytes) };
        return;
    }
    // SAFETY: the operation is the one that this function was given, of a verified program.
    unsafe { in_space(context, op, access, access.space, &addresses, mask, bytes) };
}

/// Executes an access of lanes to shared memory: of the block's own, or of those of a rank in the cluster.
///
/// # Safety
/// As for [`access`].
#[cold]
unsafe fn in_cluster(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    places: &[(Option<u64>, u64); LANES],
    mask: u32,
    bytes: u32,
) {
    let offsets = places.map(|it| it.1);
    let mut left = mask;
    while left != 0 {
        let rank = places[left.trailing_zeros() as usize].0;
        let lanes = lanes_of(left)
            .filter(|&lane| places[lane].0 == rank)
            .fold(0, |lanes, lane| lanes | 1 << lane);
        left &= !lanes;
        let own = context.at.shared;
        if let Some(rank) = rank {
            match cluster::peer(context, rank) {
                Ok(peer) => (context.at.shared, context.at.owner) = (peer.shared, peer.id),
                Err(failure) => {
                    context.fault(failure, op.instruction);
                    return;
                }
            }
        }
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe { in_space(context, op, access, Space::Shared, &offsets, lanes, bytes) };
        (context.at.shared, context.at.owner) = (own, None);
    }
}

/// Executes an access lanes of which may be in different spaces.
///
/// # Safety
/// As for [`access`].
unsafe fn generic(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    mut addresses: [u64; LANES],
    bytes: u32,
) {
    let mask = context.mask;
    let high = lanes_of(mask).fold(0, |high, lane| high | addresses[lane]);
    if high < windows::SHARED {
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe { in_space(context, op, access, Space::Global, &addresses, mask, bytes) };
        return;
    }
    let of = |address: u64| match windows::of(address) {
        windows::SHARED => Space::Shared,
        windows::LOCAL => Space::Local,
        windows::PARAMETERS => Space::Parameters,
        _ => Space::Global,
    };
    for space in [
        Space::Global,
        Space::Shared,
        Space::Local,
        Space::Parameters,
    ] {
        let mut lanes = lanes_of(mask)
            .filter(|&lane| of(addresses[lane]) == space)
            .fold(0, |lanes, lane| lanes | 1 << lane);
        if space == Space::Shared && lanes != 0 && !context.at.cluster.is_null() {
            let places = addresses.map(|address| match cluster::of_generic(context, address) {
                Some((rank, offset)) => (Some(rank), offset),
                None => (None, address),
            });
            let others = lanes_of(lanes)
                .filter(|&lane| places[lane].0.is_some())
                .fold(0, |lanes, lane| lanes | 1 << lane);
            // SAFETY: the operation is the one that this function was given, of a verified program.
            unsafe { in_cluster(context, op, access, &places, others, bytes) };
            lanes &= !others;
        }
        if lanes == 0 {
            continue;
        }
        // Addresses of constant memory are the host's, too. Those of no window become faults.
        for lane in lanes_of(lanes) {
            if space == Space::Shared {
                addresses[lane] ^= context.at.shared_window;
            } else if space == Space::Local {
                addresses[lane] = addresses[lane].wrapping_sub(context.at.local_window_of(lane));
            } else if windows::of(addresses[lane]) <= windows::CONSTANT {
                addresses[lane] &= windows::OFFSET;
            }
        }
        // SAFETY: the operation is the one that this function was given, of a verified program.
        unsafe { in_space(context, op, access, space, &addresses, lanes, bytes) };
    }
}

/// Executes an access of lanes in one space.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
pub(super) unsafe fn in_space(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
) {
    let lanes = Lanes::new(addresses, mask, bytes);
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let resolved = unsafe { resolve(context, op, access, space, &lanes) };
    if let Err(fault) = resolved {
        // SAFETY: the operation is the one that this function was given, of a verified program.
        if !unsafe { partial_words::is_there(context, op, access, space, &lanes) } {
            context.fault(Cause::Fault(fault), op.instruction);
            return;
        }
    }
    let host = Host::of(context, space, addresses);
    if access.order != Order::Weak && matches!(access.act, Act::Load { .. }) {
        context.at.looks = context.at.looks.saturating_add(1);
        context.at.looked = Some(Look {
            program: context.at.program,
            instruction: op.instruction,
            at: host.at(mask.trailing_zeros() as usize % LANES),
        });
    }
    if context.at.is_observed() {
        // SAFETY: the lanes' addresses have been resolved.
        if !unsafe { observe(context, op, access, space, &lanes) } {
            return;
        }
    }
    // SAFETY: the lanes' addresses have been resolved to memory of their bytes.
    unsafe {
        match &access.act {
            Act::Load { signed, .. } => load(context, access, &host, mask, *signed),
            Act::CopyFrom { .. } => load(context, access, &host, mask, false),
            Act::Store | Act::CopyTo => store(context, access, &host, mask),
            Act::Atomic(atomic) => change(context, access, atomic, &host, (mask, op.instruction)),
        }
    }
}

/// Checks that lanes may make an access in one space.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
pub(super) unsafe fn resolve(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> Result<(), Fault> {
    match space {
        Space::Global => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &mut *context.at.met.add(op.aux as usize) };
            let memory = context.at.launch.memory;
            memory
                .resolve(lanes, access.act.direction(), met)
                .map_err(|fault| checked::by_root(context, op, access, lanes, fault))
        }
        Space::Shared => context.at.layout.resolve(lanes),
        Space::Local if !access.may_be_local() => {
            let (lane, offset) = (lanes.mask.trailing_zeros(), lanes.span().0);
            Err(Fault {
                kind: FindingKind::AtomicOnLocal,
                lane,
                bytes: lanes.bytes,
                place: Box::new(context.at.frames().place(lane, offset)),
            })
        }
        Space::Local => context.at.frames().resolve(lanes),
        Space::Parameters => parameter_bounds(context, lanes, access.act.direction()),
        Space::Generic | Space::Cluster => unreachable!("resolved by the window"),
    }
}

/// Tells who watches the launch of an access that has been resolved and is about to be made. Gives whether
/// it may be. Every access of a launch that is watched comes here.
///
/// # Safety
/// The lanes have been resolved in the space; the access's slots are of their kinds.
pub(super) unsafe fn observe(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> bool {
    if context.at.counts_memory() {
        super::counted::access(context, op, access, space, lanes);
    }
    // SAFETY: the operation is the one that this function was given, of a verified program.
    context.at.checking.is_none() || unsafe { check(context, op, access, space, lanes) }
}

/// Checks an access that has been resolved. Gives whether it may be made.
///
/// # Safety
/// As for [`observe`]; the launch is checked.
pub(super) unsafe fn check(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    lanes: &Lanes<'_>,
) -> bool {
    let host = Host::of(context, space, lanes.addresses);
    // SAFETY: the operation is the one that this function was given, of a verified program.
    unsafe { checked::check(context, op, access, space, lanes, &host) }
}

fn parameter_bounds(
    context: &Context<'_>,
    lanes: &Lanes<'_>,
    direction: Direction,
) -> Result<(), Fault> {
    let bounds = context.at.launch.parameter_bounds;
    let first = lanes.mask.trailing_zeros();
    let at = lanes.addresses[first as usize];
    let (kind, (lane, address)) = match direction {
        Direction::Write => (FindingKind::ConstantWrite, (first, at)),
        Direction::Read => {
            let is_inside = |address: u64| {
                let mut all = bounds.iter();
                all.any(|it| it.holds(address, lanes.bytes))
            };
            let outside = lanes.each().find(|it| !is_inside(it.1));
            match (lanes.misaligned(), outside) {
                (Some(found), _) => {
                    let alignment = lanes.bytes;
                    (FindingKind::Misaligned { alignment }, found)
                }
                (None, Some(found)) => (FindingKind::OutOfBounds, found),
                (None, None) => return Ok(()),
            }
        }
    };
    Err(Fault {
        kind,
        lane,
        bytes: lanes.bytes,
        place: Box::new(crate::memory::Place {
            address,
            below: None,
            above: None,
            by_way_of: None,
        }),
    })
}

/// Where the lanes' elements lie in the host's memory.
#[derive(Debug)]
pub(super) struct Host<'a> {
    /// Of lane 0, without its address.
    base: usize,
    /// From one lane to the next.
    step: usize,
    addresses: &'a [u64; LANES],
}

impl<'a> Host<'a> {
    #[inline(always)]
    pub(super) fn of(context: &Context<'_>, space: Space, addresses: &'a [u64; LANES]) -> Host<'a> {
        let at = &context.at;
        let (base, step) = match space {
            Space::Shared => (at.shared.expose_provenance(), 0),
            Space::Parameters => (at.launch.parameters.as_ptr().expose_provenance(), 0),
            Space::Local => (at.local.start.expose_provenance(), at.local.bytes as usize),
            Space::Global | Space::Generic | Space::Cluster => (0, 0),
        };
        Host {
            base,
            step,
            addresses,
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, lane: usize) -> *mut u8 {
        let own = self.base + lane * self.step;
        std::ptr::with_exposed_provenance_mut(own.wrapping_add(self.addresses[lane] as usize))
    }
}
