//! Loads and stores lane by lane.

use std::sync::atomic::{self, AtomicU32, AtomicU64, Ordering};

use ptx::Order;

use super::access::{Access, Data, Host};
use super::op::Context;
use super::registers::{Kind, lanes_of};
use crate::check::Stored;

/// # Safety
/// Each lane of the mask may read its elements.
#[inline(always)]
pub(super) unsafe fn load(
    context: &mut Context<'_>,
    access: &Access,
    host: &Host<'_>,
    mask: u32,
    signed: bool,
) {
    let element = access.element as usize;
    for lane in lanes_of(mask) {
        let from = host.at(lane);
        for (index, data) in access.data.iter().enumerate() {
            // SAFETY: the caller's contract.
            let value = unsafe { read(from.add(index * element), access.element, access.order) };
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

/// # Safety
/// Each lane of the mask may write its elements.
#[inline(always)]
pub(super) unsafe fn store(context: &mut Context<'_>, access: &Access, host: &Host<'_>, mask: u32) {
    if matches!(access.order, Order::Release) {
        atomic::fence(Ordering::Release);
    }
    let element = access.element as usize;
    for lane in lanes_of(mask) {
        let to = host.at(lane);
        for (index, data) in access.data.iter().enumerate() {
            // SAFETY: the slot is of its kind; the caller's contract.
            unsafe {
                let value = lane_of(context, *data, lane);
                write(to.add(index * element), access.element, value, access.order);
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
pub(super) unsafe fn set_lane(context: &mut Context<'_>, data: Data, lane: usize, value: u128) {
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
    // SAFETY: the caller's contract.
    unsafe { lane_in(context.registers, data, lane) }
}

/// A lane of a slot in registers.
///
/// # Safety
/// The slot is of its kind and lies in the registers.
#[inline(always)]
unsafe fn lane_in(registers: *const u8, data: Data, lane: usize) -> u128 {
    let Some(slot) = data.slot else { return 0 };
    // SAFETY: the caller's contract; slots are aligned to 64 bytes.
    unsafe {
        let lanes = registers.add(slot as usize);
        match data.kind {
            Kind::Word => u128::from(*lanes.cast::<u32>().add(lane)),
            Kind::Double => u128::from(*lanes.cast::<u64>().add(lane)),
            Kind::Quad => *lanes.cast::<u128>().add(lane),
            Kind::Predicate => 0,
        }
    }
}

/// What a store writes, lane by lane.
#[derive(Debug)]
pub(super) struct Values<'a> {
    registers: *const u8,
    access: &'a Access,
    host: &'a Host<'a>,
}

impl<'a> Values<'a> {
    /// # Safety
    /// The store's lanes have been resolved to `host`; its slots are of their kinds and lie in the registers of the context, which nobody writes
    /// as long as this lives.
    pub(super) unsafe fn new(
        context: &Context<'_>,
        access: &'a Access,
        host: &'a Host<'a>,
    ) -> Values<'a> {
        Values {
            registers: context.registers,
            access,
            host,
        }
    }
}

impl Stored for Values<'_> {
    fn bytes(&self, lane: u32) -> [u8; 16] {
        let element = self.access.element as usize;
        let mut bytes = [0; 16];
        for (data, to) in self.access.data.iter().zip(bytes.chunks_mut(element)) {
            // SAFETY: by the contract of `new`.
            let value = unsafe { lane_in(self.registers, *data, lane as usize) };
            to.copy_from_slice(&value.to_le_bytes()[..element]);
        }
        bytes
    }

    fn there(&self, lane: u32) -> [u8; 16] {
        let mut bytes = [0; 16];
        let there = self.host.at(lane as usize);
        for (at, byte) in bytes
            .iter_mut()
            .enumerate()
            .take(self.access.bytes() as usize)
        {
            // SAFETY: by the contract of `new`, a lane's bytes may be read.
            *byte = unsafe { there.add(at).read_volatile() };
        }
        bytes
    }
}
