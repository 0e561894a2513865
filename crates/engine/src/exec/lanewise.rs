//! Loads and stores lane by lane.

use std::sync::atomic::{self, AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

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
            // SAFETY: the lane's bytes have been resolved, and the slots verified.
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
            // SAFETY: the lane's bytes have been resolved, and the slots verified.
            unsafe {
                let value = lane_of(context, *data, lane);
                write(to.add(index * element), access.element, value, access.order);
            }
        }
    }
}

/// An element of an access that other host threads may make at the same time.
pub(crate) trait Element: Copy {
    /// Loads one.
    ///
    /// # Safety
    /// It may be read, and lies at a multiple of its bytes.
    unsafe fn load(from: *const Self, order: Ordering) -> Self;

    /// Stores one.
    ///
    /// # Safety
    /// It may be written, and lies at a multiple of its bytes.
    unsafe fn store(self, to: *mut Self, order: Ordering);
}

macro_rules! elements {
    ($($ty:ty: $atomic:ty;)*) => {$(
        impl Element for $ty {
            #[inline(always)]
            unsafe fn load(from: *const $ty, order: Ordering) -> $ty {
                // SAFETY: the contract of `load`. Where threads of a kernel race, all of them that access lanes one
                // by one do so by atomics.
                unsafe { <$atomic>::from_ptr(from.cast_mut()) }.load(order)
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $ty, order: Ordering) {
                // SAFETY: the contract of `store`; as above.
                unsafe { <$atomic>::from_ptr(to) }.store(self, order);
            }
        }
    )*};
}

elements! {
    u8: AtomicU8;
    u16: AtomicU16;
    u32: AtomicU32;
    u64: AtomicU64;
}

/// Reads an element; one of 16 bytes in two halves.
///
/// # Safety
/// `bytes` bytes may be read, at a multiple of as many.
#[inline(always)]
pub(super) unsafe fn read(from: *const u8, bytes: u32, order: Order) -> u128 {
    let order = match order {
        Order::Weak => Ordering::Relaxed,
        _ => Ordering::Acquire,
    };
    // SAFETY: the contract of `read`.
    unsafe {
        match bytes {
            1 => u128::from(u8::load(from, order)),
            2 => u128::from(u16::load(from.cast(), order)),
            4 => u128::from(u32::load(from.cast(), order)),
            8 => u128::from(u64::load(from.cast(), order)),
            _ => {
                let [low, high] = [0, 1].map(|half| u64::load(from.cast::<u64>().add(half), order));
                u128::from(low) | u128::from(high) << 64
            }
        }
    }
}

/// Writes an element; one of 16 bytes in two halves.
///
/// # Safety
/// `bytes` bytes may be written, at a multiple of as many.
#[inline(always)]
unsafe fn write(to: *mut u8, bytes: u32, value: u128, order: Order) {
    let order = match order {
        Order::Weak => Ordering::Relaxed,
        _ => Ordering::Release,
    };
    // SAFETY: the contract of `write`.
    unsafe {
        match bytes {
            1 => (value as u8).store(to, order),
            2 => (value as u16).store(to.cast(), order),
            4 => (value as u32).store(to.cast(), order),
            8 => (value as u64).store(to.cast(), order),
            _ => {
                (value as u64).store(to.cast(), order);
                ((value >> 64) as u64).store(to.cast::<u64>().add(1), order);
            }
        }
    }
}

/// A value extended by its sign.
pub(super) fn extended(value: u128, bits: u32) -> u128 {
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
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
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
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    unsafe { lane_in(context.registers, data, lane) }
}

/// A lane of a slot in registers.
///
/// # Safety
/// The slot is of its kind and lies in the registers.
#[inline(always)]
unsafe fn lane_in(registers: *const u8, data: Data, lane: usize) -> u128 {
    let Some(slot) = data.slot else { return 0 };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots; slots are aligned to 64 bytes.
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

/// The values that a store writes, lane by lane.
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
