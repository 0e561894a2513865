//! Loads, stores and atomics.

use std::sync::Mutex;
use std::sync::atomic::{self, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use ptx::{Order, Scope};

use super::failure::Failure;
use super::op::{Context, Op, each_lane};
use super::registers::{FULL, Kind, LANES, lanes_of};
use crate::lower::roots::Root;
use crate::memory::{Direction, Fault, FaultClass, Lanes, Pattern};
use crate::module::windows;

/// What an operation does with memory.
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
    /// What the address was made from, where that is known.
    pub(crate) root: Option<Root>,
}

/// A register that is loaded to or stored from; none for `_`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) slot: Option<u32>,
    pub(crate) kind: Kind,
    /// Bits of the register.
    pub(crate) bits: u32,
}

/// What is done.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Narrow signed values are extended by their sign.
    Load {
        signed: bool,
        /// Whether what is loaded is only stored elsewhere.
        is_moved: bool,
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
    /// What was there goes to the data, where they have slots.
    Atomic(Atomic),
}

/// A change of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    /// What becomes of an element, from it, the operand and the comparand.
    pub(crate) update: fn(u128, u128, u128) -> u128,
    /// Slots of the operands, one an element.
    pub(crate) operands: [u32; 8],
    /// The slot of the comparand, or of anything.
    pub(crate) comparand: u32,
    pub(crate) kind: Kind,
    /// Whether it writes only where memory equals the comparand.
    pub(crate) compares: bool,
}

/// Where addresses point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// Addresses of the host.
    Global,
    /// Offsets in the block's.
    Shared,
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
    // SAFETY: the caller's contract; the program outlives the call.
    let access = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the caller's contract.
    let base = unsafe { context.slot::<u64>(op.a) };
    let offset = access.offset as u64;
    let mut addresses = [0; LANES];
    for lane in 0..LANES {
        addresses[lane] = base[lane].wrapping_add(offset);
    }
    let bytes = access.element * access.data.len() as u32;
    let mask = context.mask;
    if access.space == Space::Generic {
        // SAFETY: the caller's contract.
        unsafe { generic(context, op, access, addresses, bytes) };
        return;
    }
    // SAFETY: the caller's contract.
    unsafe { in_space(context, op, access, access.space, &addresses, mask, bytes) };
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
        // SAFETY: the caller's contract.
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
        let lanes = lanes_of(mask)
            .filter(|&lane| of(addresses[lane]) == space)
            .fold(0, |lanes, lane| lanes | 1 << lane);
        if lanes == 0 {
            continue;
        }
        // Addresses of constant memory are the host's, too. Those of no window become faults.
        for lane in lanes_of(lanes) {
            if space == Space::Shared {
                addresses[lane] ^= context.at.shared_window;
            } else if windows::of(addresses[lane]) <= windows::CONSTANT {
                addresses[lane] &= windows::OFFSET;
            }
        }
        // SAFETY: the caller's contract.
        unsafe { in_space(context, op, access, space, &addresses, lanes, bytes) };
    }
}

/// Executes an access of lanes in one space.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
unsafe fn in_space(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    space: Space,
    addresses: &[u64; LANES],
    mask: u32,
    bytes: u32,
) {
    let lanes = Lanes::new(addresses, mask, bytes);
    let direction = match access.act {
        Act::Load { .. } | Act::CopyFrom { .. } => Direction::Read,
        _ => Direction::Write,
    };
    let resolved = match space {
        Space::Global => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &mut *context.at.met.add(op.aux as usize) };
            context.at.launch.memory.resolve(&lanes, direction, met)
        }
        Space::Shared => context.at.layout.resolve(&lanes),
        Space::Local => local_bounds(context, &lanes),
        Space::Parameters => parameter_bounds(context, &lanes, direction),
        Space::Generic => unreachable!("resolved by the window"),
    };
    if let Err(fault) = resolved {
        context.fault(Failure::Memory(fault), op.instruction);
        return;
    }
    if access.order != Order::Weak && matches!(access.act, Act::Load { .. }) {
        context.at.looks += 1;
    }
    let host = host(context, space, &lanes);
    if context.at.checking.is_some() {
        // SAFETY: the lanes' addresses have been resolved.
        if !unsafe { super::checked::check(context, op, access, space, &lanes, &host) } {
            return;
        }
    }
    // SAFETY: the lanes' addresses have been resolved to memory of their bytes.
    unsafe {
        match (&access.act, host) {
            (Act::Load { signed, .. }, host) => load(context, access, host, mask, *signed),
            (Act::CopyFrom { .. }, host) => load(context, access, host, mask, false),
            (Act::Store | Act::CopyTo, host) => store(context, access, host, mask),
            (Act::Atomic(atomic), host) => change(context, access, atomic, host, mask),
        }
    }
}

fn local_bounds(context: &Context<'_>, lanes: &Lanes<'_>) -> Result<(), Fault> {
    context.at.frames().resolve(lanes)
}

fn parameter_bounds(
    context: &Context<'_>,
    lanes: &Lanes<'_>,
    direction: Direction,
) -> Result<(), Fault> {
    let (_, last) = lanes.span();
    let class = match direction {
        Direction::Write => FaultClass::ReadOnly,
        Direction::Read if last < context.at.launch.parameters.len() as u64 => return Ok(()),
        Direction::Read => FaultClass::OutOfBounds,
    };
    Err(Fault {
        class,
        lane: lanes.mask.trailing_zeros(),
        bytes: lanes.bytes,
        place: Box::new(crate::memory::Place {
            address: last,
            below: None,
            above: None,
            by_way_of: None,
        }),
    })
}

/// Where the lanes' elements lie in the host's memory.
#[allow(
    clippy::large_enum_variant,
    reason = "it lives in registers and on the stack"
)]
pub(super) enum Host {
    /// One lane's behind another's, from lane 0's.
    Consecutive(*mut u8),
    Each([*mut u8; LANES]),
}

impl Host {
    #[inline(always)]
    pub(super) fn of(&self, lane: usize, bytes: usize) -> *mut u8 {
        match self {
            Host::Consecutive(start) => start.wrapping_add(lane * bytes),
            Host::Each(all) => all[lane],
        }
    }
}

#[inline(always)]
fn host(context: &Context<'_>, space: Space, lanes: &Lanes<'_>) -> Host {
    let base = match space {
        Space::Shared => context.at.shared,
        Space::Parameters => context.at.launch.parameters.as_ptr().cast_mut(),
        _ => std::ptr::null_mut(),
    };
    match (space, lanes.pattern) {
        (Space::Local, _) => {
            let local = context.at.local;
            Host::Each(each_lane(|lane| {
                let thread = local.start.wrapping_add(lane * local.bytes as usize);
                thread.wrapping_add(lanes.addresses[lane] as usize)
            }))
        }
        (_, Pattern::Consecutive { start }) => Host::Consecutive(at(base, start)),
        _ => Host::Each(each_lane(|lane| at(base, lanes.addresses[lane]))),
    }
}

#[inline(always)]
fn at(base: *mut u8, address: u64) -> *mut u8 {
    match base.is_null() {
        true => std::ptr::with_exposed_provenance_mut(address as usize),
        false => base.wrapping_add(address as usize),
    }
}

/// # Safety
/// Each lane of the mask may read its elements.
#[inline(always)]
unsafe fn load(context: &mut Context<'_>, access: &Access, host: Host, mask: u32, signed: bool) {
    if let (Host::Consecutive(from), FULL, Order::Weak) = (&host, mask, access.order) {
        // SAFETY: the caller's contract.
        let done = unsafe {
            match (access.element, &access.data[..]) {
                (4, [d]) => load_all::<u32, 1>(context, *from, &[*d]),
                (4, [a, b]) => load_all::<u32, 2>(context, *from, &[*a, *b]),
                (4, [a, b, c, d]) => load_all::<u32, 4>(context, *from, &[*a, *b, *c, *d]),
                (8, [d]) => load_all::<u64, 1>(context, *from, &[*d]),
                (8, [a, b]) => load_all::<u64, 2>(context, *from, &[*a, *b]),
                _ => false,
            }
        };
        if done {
            return;
        }
    }
    let bytes = access.element as usize * access.data.len();
    for lane in lanes_of(mask) {
        let from = host.of(lane, bytes);
        for (index, data) in access.data.iter().enumerate() {
            // SAFETY: the caller's contract.
            let value = unsafe {
                read(
                    from.add(index * access.element as usize),
                    access.element,
                    access.order,
                )
            };
            let value = match signed {
                true => extended(value, access.element * 8),
                false => value,
            };
            // SAFETY: the slot is of its kind.
            unsafe { set_lane(context, *data, lane, value) };
        }
    }
    if matches!(access.order, Order::Acquire) {
        atomic::fence(Ordering::Acquire);
    }
}

/// Loads whole vectors of a full warp whose lanes lie one behind another.
///
/// # Safety
/// As for [`load`]; the slots hold `T`.
#[inline(always)]
unsafe fn load_all<T: Copy + Default, const N: usize>(
    context: &mut Context<'_>,
    from: *mut u8,
    data: &[Data; N],
) -> bool {
    // SAFETY: the caller's contract; what lanes read may be unaligned for an array only.
    let all: [[T; N]; LANES] = unsafe { from.cast::<[[T; N]; LANES]>().read_unaligned() };
    for (index, data) in data.iter().enumerate() {
        if data.kind.bytes() as usize != size_of::<T>() * LANES {
            return false;
        }
        if let Some(slot) = data.slot {
            let mut lanes = [T::default(); LANES];
            for lane in 0..LANES {
                lanes[lane] = all[lane][index];
            }
            // SAFETY: the slot holds `T`, as its kind says.
            unsafe { *context.slot_mut(slot) = lanes };
        }
    }
    true
}

/// # Safety
/// Each lane of the mask may write its elements.
#[inline(always)]
unsafe fn store(context: &mut Context<'_>, access: &Access, host: Host, mask: u32) {
    if let (Host::Consecutive(to), FULL, Order::Weak) = (&host, mask, access.order) {
        // SAFETY: the caller's contract.
        let done = unsafe {
            match (access.element, &access.data[..]) {
                (4, [d]) => store_all::<u32, 1>(context, *to, &[*d]),
                (4, [a, b]) => store_all::<u32, 2>(context, *to, &[*a, *b]),
                (4, [a, b, c, d]) => store_all::<u32, 4>(context, *to, &[*a, *b, *c, *d]),
                (8, [d]) => store_all::<u64, 1>(context, *to, &[*d]),
                (8, [a, b]) => store_all::<u64, 2>(context, *to, &[*a, *b]),
                _ => false,
            }
        };
        if done {
            return;
        }
    }
    if matches!(access.order, Order::Release) {
        atomic::fence(Ordering::Release);
    }
    let bytes = access.element as usize * access.data.len();
    for lane in lanes_of(mask) {
        let to = host.of(lane, bytes);
        for (index, data) in access.data.iter().enumerate() {
            // SAFETY: the slot is of its kind; the caller's contract.
            unsafe {
                let value = lane_of(context, *data, lane);
                write(
                    to.add(index * access.element as usize),
                    access.element,
                    value,
                    access.order,
                );
            }
        }
    }
}

/// # Safety
/// As for [`load_all`].
#[inline(always)]
unsafe fn store_all<T: Copy + Default, const N: usize>(
    context: &mut Context<'_>,
    to: *mut u8,
    data: &[Data; N],
) -> bool {
    let mut all = [[T::default(); N]; LANES];
    for (index, data) in data.iter().enumerate() {
        let Some(slot) = data
            .slot
            .filter(|_| data.kind.bytes() as usize == size_of::<T>() * LANES)
        else {
            return false;
        };
        // SAFETY: the slot holds `T`, as its kind says.
        let lanes = unsafe { context.slot::<T>(slot) };
        for lane in 0..LANES {
            all[lane][index] = lanes[lane];
        }
    }
    // SAFETY: the caller's contract.
    unsafe { to.cast::<[[T; N]; LANES]>().write_unaligned(all) };
    true
}

/// # Safety
/// Each lane of the mask may read and write its elements, which are aligned.
unsafe fn change(
    context: &mut Context<'_>,
    access: &Access,
    atomic: &Atomic,
    host: Host,
    mask: u32,
) {
    let bytes = access.element as usize * access.data.len();
    let mut has_changed = false;
    for lane in lanes_of(mask) {
        let at = host.of(lane, bytes);
        for (index, data) in access.data.iter().enumerate() {
            let of = |slot| Data {
                slot: Some(slot),
                kind: atomic.kind,
                bits: 128,
            };
            // SAFETY: the slots are of the kind; the caller's contract.
            unsafe {
                let operand = lane_of(context, of(atomic.operands[index]), lane);
                let comparand = lane_of(context, of(atomic.comparand), lane);
                let at = at.add(index * access.element as usize);
                let before = update(at, access.element, |old| {
                    (atomic.update)(old, operand, comparand)
                });
                has_changed |= (atomic.update)(before, operand, comparand) != before;
                set_lane(context, *data, lane, before);
            }
        }
    }
    if !has_changed {
        context.at.looks += 1;
    }
}

/// Changes an element atomically, and gives what it was.
///
/// # Safety
/// It may be read and written, and is aligned.
unsafe fn update(at: *mut u8, bytes: u32, change: impl Fn(u128) -> u128) -> u128 {
    macro_rules! exchange {
        ($atomic:ty, $bits:ty) => {{
            // SAFETY: the caller's contract; all host threads access it atomically while it is raced for.
            let element = unsafe { <$atomic>::from_ptr(at.cast()) };
            let mut old = element.load(Ordering::Relaxed);
            loop {
                let new = change(u128::from(old)) as $bits;
                match element.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => break u128::from(old),
                    Err(now) => old = now,
                }
            }
        }};
    }
    match bytes {
        1 => exchange!(AtomicU8, u8),
        2 => exchange!(AtomicU16, u16),
        4 => exchange!(AtomicU32, u32),
        8 => exchange!(AtomicU64, u64),
        _ => {
            // Hosts have no type for it.
            static LOCK: Mutex<()> = Mutex::new(());
            let _guard = LOCK.lock();
            // SAFETY: the caller's contract; the lock keeps others out.
            unsafe {
                let old = at.cast::<u128>().read_unaligned();
                at.cast::<u128>().write_unaligned(change(old));
                old
            }
        }
    }
}

/// # Safety
/// `bytes` bytes may be read.
#[inline(always)]
pub(super) unsafe fn read(from: *const u8, bytes: u32, order: Order) -> u128 {
    let is_strong = order != Order::Weak;
    // SAFETY: the caller's contract; accesses are aligned to their bytes.
    unsafe {
        match bytes {
            1 => u128::from(from.read_volatile()),
            2 => u128::from(from.cast::<u16>().read_volatile()),
            4 if is_strong => {
                u128::from(AtomicU32::from_ptr(from.cast_mut().cast()).load(Ordering::Acquire))
            }
            4 => u128::from(from.cast::<u32>().read()),
            8 if is_strong => {
                u128::from(AtomicU64::from_ptr(from.cast_mut().cast()).load(Ordering::Acquire))
            }
            8 => u128::from(from.cast::<u64>().read()),
            _ => from.cast::<u128>().read_unaligned(),
        }
    }
}

/// # Safety
/// `bytes` bytes may be written.
#[inline(always)]
unsafe fn write(to: *mut u8, bytes: u32, value: u128, order: Order) {
    let is_strong = order != Order::Weak;
    // SAFETY: the caller's contract; accesses are aligned to their bytes.
    unsafe {
        match bytes {
            1 => to.write_volatile(value as u8),
            2 => to.cast::<u16>().write_volatile(value as u16),
            4 if is_strong => AtomicU32::from_ptr(to.cast()).store(value as u32, Ordering::Release),
            4 => to.cast::<u32>().write(value as u32),
            8 if is_strong => AtomicU64::from_ptr(to.cast()).store(value as u64, Ordering::Release),
            8 => to.cast::<u64>().write(value as u64),
            _ => to.cast::<u128>().write_unaligned(value),
        }
    }
}

/// A value extended by its sign.
fn extended(value: u128, bits: u32) -> u128 {
    let shift = 128 - bits;
    ((value << shift) as i128 >> shift) as u128
}

/// # Safety
/// The slot is of its kind.
#[inline(always)]
unsafe fn set_lane(context: &mut Context<'_>, data: Data, lane: usize, value: u128) {
    let Some(slot) = data.slot else { return };
    let value = match data.bits {
        128 => value,
        bits => value & ((1 << bits) - 1),
    };
    // SAFETY: the caller's contract.
    unsafe {
        match data.kind {
            Kind::Word => context.slot_mut::<u32>(slot)[lane] = value as u32,
            Kind::Double => context.slot_mut::<u64>(slot)[lane] = value as u64,
            Kind::Quad => context.slot_mut::<u128>(slot)[lane] = value,
            Kind::Predicate => {}
        }
    }
}

/// # Safety
/// The slot is of its kind.
#[inline(always)]
pub(super) unsafe fn lane_of(context: &Context<'_>, data: Data, lane: usize) -> u128 {
    let Some(slot) = data.slot else { return 0 };
    // SAFETY: the caller's contract.
    unsafe {
        match data.kind {
            Kind::Word => u128::from(context.slot::<u32>(slot)[lane]),
            Kind::Double => u128::from(context.slot::<u64>(slot)[lane]),
            Kind::Quad => context.slot::<u128>(slot)[lane],
            Kind::Predicate => 0,
        }
    }
}
