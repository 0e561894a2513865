//! Accesses to memory that the instruction met last: of a whole warp to a row, one lane's elements behind another's,
//! at once, and others lane by lane.

use std::ptr;
use std::sync::atomic::Ordering;

use super::access::{Access, Data, Space, access, check, observe};
use super::counted;
use super::lanewise::Element;
use super::op::{Context, Op, each_lane};
use super::registers::{FULL, LANES, lanes_of};
use crate::memory::Lanes;

/// The memory where a warp accesses it.
enum Row {
    /// All of it is there, from here on.
    At(*mut u8),
    /// Something else than a row, or something that one must look up: for [`access`].
    Other,
    /// It must not be accessed, which has been said.
    Forbidden,
}

/// The same of the lanes of a mask, wherever each of them does.
enum Scattered {
    There,
    Other,
    Forbidden,
}

/// Loads `N` elements a lane.
///
/// # Safety
/// As for [`access`]; it is a weak load into `N` slots of `T`.
#[inline(always)]
pub(crate) unsafe fn load<T: Element, const N: usize>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let of = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let from = match unsafe { row(context, op, of, size_of::<[T; N]>() as u64) } {
        Row::At(from) => from.cast::<[T; N]>(),
        // SAFETY: the operation is the one that this function was given, of a verified program.
        Row::Other => return unsafe { load_scattered::<T, N>(context, op, of) },
        Row::Forbidden => return,
    };
    if N == 1 {
        if let Some(Data {
            slot: Some(slot), ..
        }) = of.data.first()
        {
            // SAFETY: the slot holds `T`; the row has an element a lane.
            unsafe { *context.slot_mut(*slot) = from.cast::<[T; LANES]>().read_unaligned() };
        }
        return;
    }
    for (index, data) in of.data.iter().enumerate().take(N) {
        if let Some(slot) = data.slot {
            // SAFETY: the slot holds `T`; the row has `N` elements a lane, which may be unaligned for
            // an array.
            unsafe {
                let to = context.slot_mut::<T>(slot);
                for (lane, to) in to.iter_mut().enumerate() {
                    *to = from.add(lane).cast::<T>().add(index).read_unaligned();
                }
            }
        }
    }
}

/// Loads four words a lane.
///
/// # Safety
/// As for [`access`]; it is a weak load into four slots of words.
#[inline(always)]
pub(crate) unsafe fn load_quads(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let of = unsafe { &*context.at.accesses.add(op.aux as usize) };
    let slots = of
        .data
        .first_chunk::<4>()
        .map(|data| data.map(|it| it.slot));
    let Some([Some(x), Some(y), Some(z), Some(w)]) = slots else {
        // SAFETY: the operation is the one that this function was given, of a verified program.
        return unsafe { load::<u32, 4>(context, op) };
    };
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let from = match unsafe { row(context, op, of, 16) } {
        Row::At(from) => from.cast::<[u32; 4]>(),
        // SAFETY: the operation is the one that this function was given, of a verified program.
        Row::Other => return unsafe { load_scattered::<u32, 4>(context, op, of) },
        Row::Forbidden => return,
    };
    for first in (0..LANES).step_by(4) {
        // SAFETY: the row has four words a lane; the slots hold words.
        unsafe {
            let quads = transposed(from.add(first).cast());
            for (slot, quad) in [x, y, z, w].into_iter().zip(quads) {
                let to = context.slot_mut::<u32>(slot).as_mut_ptr();
                to.add(first).cast::<Quad>().write_unaligned(quad);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
type Quad = std::arch::x86_64::__m128;
#[cfg(not(target_arch = "x86_64"))]
type Quad = [u32; 4];

/// Four rows' first words, their second ones, and so on.
///
/// # Safety
/// There are four times four words.
#[inline(always)]
#[cfg(target_arch = "x86_64")]
unsafe fn transposed(rows: *const [u32; 4]) -> [Quad; 4] {
    use std::arch::x86_64::{
        _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_unpackhi_ps, _mm_unpacklo_ps,
    };
    // SAFETY: there are four rows of four words, by the contract of this function; SSE is part of x86-64.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| _mm_loadu_ps(rows.add(row).cast()));
        let (low, high) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
        let (low_of_others, high_of_others) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
        [
            _mm_movelh_ps(low, low_of_others),
            _mm_movehl_ps(low_of_others, low),
            _mm_movelh_ps(high, high_of_others),
            _mm_movehl_ps(high_of_others, high),
        ]
    }
}

/// Four rows' first words, their second ones, and so on.
///
/// # Safety
/// There are four times four words.
#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
unsafe fn transposed(rows: *const [u32; 4]) -> [Quad; 4] {
    // SAFETY: there are four rows of four words, by the contract of this function.
    let rows = unsafe { rows.cast::<[[u32; 4]; 4]>().read() };
    std::array::from_fn(|word| rows.map(|row| row[word]))
}

/// Stores `N` elements a lane.
///
/// # Safety
/// As for [`access`]; it is a weak store from `N` slots of `T`.
#[inline(always)]
pub(crate) unsafe fn store<T: Element, const N: usize>(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let of = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the operation is the one that this function was given, of a verified program.
    let to = match unsafe { row(context, op, of, size_of::<[T; N]>() as u64) } {
        Row::At(to) => to.cast::<[T; N]>(),
        // SAFETY: the operation is the one that this function was given, of a verified program.
        Row::Other => return unsafe { store_scattered::<T, N>(context, op, of) },
        Row::Forbidden => return,
    };
    if N == 1 {
        if let Some(Data {
            slot: Some(slot), ..
        }) = of.data.first()
        {
            // SAFETY: as for loads.
            unsafe {
                let from: [T; LANES] = *context.slot(*slot);
                to.cast::<[T; LANES]>().write_unaligned(from);
            }
        }
        return;
    }
    for (index, data) in of.data.iter().enumerate().take(N) {
        if let Some(slot) = data.slot {
            // SAFETY: as for loads.
            unsafe {
                let from = context.slot::<T>(slot);
                for (lane, from) in from.iter().enumerate() {
                    to.add(lane).cast::<T>().add(index).write_unaligned(*from);
                }
            }
        }
    }
}

/// Loads `N` elements in each lane of the mask.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
unsafe fn load_scattered<T: Element, const N: usize>(
    context: &mut Context<'_>,
    op: &Op,
    of: &Access,
) {
    let mut from = [ptr::null_mut(); LANES];
    // SAFETY: the operation is the one that this function was given, of a verified program.
    match unsafe { scattered(context, op, of, size_of::<[T; N]>() as u64, &mut from) } {
        Scattered::There => {}
        // SAFETY: the operation is the one that this function was given, of a verified program.
        Scattered::Other => return unsafe { access(context, op) },
        Scattered::Forbidden => return,
    }
    for lane in lanes_of(context.mask) {
        // SAFETY: there are `N` elements, at a multiple of the bytes of all.
        let elements = unsafe { all::<T, N>(from[lane].cast()) };
        for (data, element) in of.data.iter().zip(elements) {
            if let Some(slot) = data.slot {
                // SAFETY: the slot holds `T`.
                unsafe { context.slot_mut::<T>(slot)[lane] = element };
            }
        }
    }
}

/// The elements of a lane, 8 bytes at once where there are as many.
///
/// # Safety
/// There are `N` elements of 4 or 8 bytes, at most 16 bytes, at a multiple of the bytes of all.
#[inline(always)]
unsafe fn all<T: Element, const N: usize>(from: *const T) -> [T; N] {
    const { assert!(size_of::<[T; N]>() <= 16) };
    if !size_of::<[T; N]>().is_multiple_of(8) {
        // SAFETY: the contract of this function.
        return std::array::from_fn(|it| unsafe { T::load(from.add(it), Ordering::Relaxed) });
    }
    let mut words = [0u64; 2];
    for (index, word) in words.iter_mut().enumerate().take(size_of::<[T; N]>() / 8) {
        // SAFETY: the contract of this function.
        *word = unsafe { u64::load(from.cast::<u64>().add(index), Ordering::Relaxed) };
    }
    // SAFETY: elements are integers, and no longer than the words by the assertion above.
    unsafe { std::mem::transmute_copy(&words) }
}

/// Stores `N` elements in each lane of the mask.
///
/// # Safety
/// As for [`store`].
#[inline(always)]
unsafe fn store_scattered<T: Element, const N: usize>(
    context: &mut Context<'_>,
    op: &Op,
    of: &Access,
) {
    let mut to = [ptr::null_mut(); LANES];
    // SAFETY: the operation is the one that this function was given, of a verified program.
    match unsafe { scattered(context, op, of, size_of::<[T; N]>() as u64, &mut to) } {
        Scattered::There => {}
        // SAFETY: the operation is the one that this function was given, of a verified program.
        Scattered::Other => return unsafe { access(context, op) },
        Scattered::Forbidden => return,
    }
    for lane in lanes_of(context.mask) {
        let to = to[lane].cast::<T>();
        for (index, data) in of.data.iter().enumerate().take(N) {
            if let Some(slot) = data.slot {
                // SAFETY: the slot holds `T`; there is room for `N` elements, at a multiple of the bytes of all.
                unsafe {
                    let element = context.slot::<T>(slot)[lane];
                    element.store(to.add(index), Ordering::Relaxed);
                }
            }
        }
    }
}

/// Finds the places where the lanes of the mask access `bytes` each, if all of them lie in what the instruction met
/// last.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
unsafe fn scattered(
    context: &mut Context<'_>,
    op: &Op,
    of: &Access,
    bytes: u64,
    places: &mut [*mut u8; LANES],
) -> Scattered {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let base = unsafe { context.slot::<u64>(op.a) };
    let addresses = each_lane(|lane| base[lane].wrapping_add(of.offset as u64));
    let mut lanes = lanes_of(context.mask).map(|lane| addresses[lane]);
    let is_aligned = |start: u64| start & (bytes - 1) == 0;
    let last = |start: u64| start.wrapping_add(bytes - 1);
    let (space, start, are_there) = match of.space {
        // As for a row.
        Space::Global | Space::Generic => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &*context.at.met.add(op.aux as usize) };
            let is_met = context.at.launch.memory.is_met(met, of.act.direction());
            let is_there = |start| is_aligned(start) && met.covers(start, last(start));
            (Space::Global, 0, is_met && lanes.all(is_there))
        }
        Space::Shared => {
            let layout = &context.at.layout;
            let is_there = |start| is_aligned(start) && layout.holds(start, last(start));
            let start = context.at.shared.expose_provenance();
            (Space::Shared, start, lanes.all(is_there))
        }
        _ => return Scattered::Other,
    };
    if !are_there {
        return Scattered::Other;
    }
    if context.at.is_observed() {
        let lanes = Lanes::new(&addresses, context.mask, bytes as u32);
        // SAFETY: the operation is the one that this function was given, of a verified program; the lanes have
        // been found.
        if !unsafe { observe(context, op, of, space, &lanes) } {
            return Scattered::Forbidden;
        }
    }
    *places = each_lane(|lane| {
        ptr::with_exposed_provenance_mut(start.wrapping_add(addresses[lane] as usize))
    });
    Scattered::There
}

/// The row that a warp accesses with `bytes` a lane.
///
/// # Safety
/// As for [`access`].
#[inline(always)]
unsafe fn row(context: &mut Context<'_>, op: &Op, of: &Access, bytes: u64) -> Row {
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let base = unsafe { context.slot::<u64>(op.a) };
    if context.mask != FULL || !is_row(base, bytes) {
        return Row::Other;
    }
    let start = base[0].wrapping_add(of.offset as u64);
    let last = start.wrapping_add(LANES as u64 * bytes - 1);
    if start & (bytes - 1) != 0 {
        return Row::Other;
    }
    let (space, at) = match of.space {
        // Of the windows of generic addresses there is none that an access may have met.
        Space::Global | Space::Generic => {
            // SAFETY: there is one for each access of the program.
            let met = unsafe { &*context.at.met.add(op.aux as usize) };
            let memory = context.at.launch.memory;
            if !memory.still_holds(met, start, last, of.act.direction()) {
                return Row::Other;
            }
            (
                Space::Global,
                ptr::with_exposed_provenance_mut(start as usize),
            )
        }
        Space::Shared if context.at.layout.holds(start, last) => (
            Space::Shared,
            context.at.shared.wrapping_add(start as usize),
        ),
        _ => return Row::Other,
    };
    if context.at.is_observed() {
        // SAFETY: the operation is the one that this function was given, of a verified program; the row has been
        // found.
        if !unsafe { observe_row(context, op, of, space, (start, bytes as u32)) } {
            return Row::Forbidden;
        }
    }
    Row::At(at)
}

/// # Safety
/// The row has been resolved in the space.
#[cold]
unsafe fn observe_row(
    context: &mut Context<'_>,
    op: &Op,
    of: &Access,
    space: Space,
    (start, bytes): (u64, u32),
) -> bool {
    counted::row(context, op, of, space, (start, bytes));
    if context.at.checking.is_none() {
        return true;
    }
    let addresses = std::array::from_fn(|lane| start + lane as u64 * u64::from(bytes));
    // SAFETY: the operation is the one that this function was given, of a verified program.
    unsafe { check(context, op, of, space, &Lanes::row(&addresses, bytes)) }
}

/// Without a branch, so that it takes a few vector instructions.
#[inline(always)]
fn is_row(addresses: &[u64; LANES], bytes: u64) -> bool {
    let first = addresses[0];
    let mut off = 0;
    for (lane, address) in addresses.iter().enumerate() {
        off |= address ^ first.wrapping_add(lane as u64 * bytes);
    }
    off == 0
}
