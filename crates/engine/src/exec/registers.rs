//! Registers of a warp: a slot of 32 lanes for each.

use std::alloc::{self, Layout};
use std::ops::{BitAnd, BitOr, Not};
use std::ptr::NonNull;

use super::signature::Operand;
pub(crate) use crate::memory::{LANES, lanes_of};

/// All lanes.
pub(crate) const FULL: u32 = u32::MAX;

/// The registers of one activation of a function by a warp. Slots are byte offsets.
pub(crate) struct Registers {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns its memory as a Box does.
unsafe impl Send for Registers {}

impl Registers {
    /// A cache line, and what the widest vector registers want.
    const ALIGNMENT: usize = 64;

    /// `bytes` of zeros, of which the launch has found that they are few or free.
    pub(crate) fn new(bytes: u32) -> Registers {
        let layout = Self::layout(bytes).expect("32 bits of bytes");
        Registers::of(layout).unwrap_or_else(|| alloc::handle_alloc_error(layout))
    }

    /// `bytes` of zeros; none where so many are not free.
    pub(crate) fn try_new(bytes: u32) -> Option<Registers> {
        Registers::of(Self::layout(bytes)?)
    }

    fn layout(bytes: u32) -> Option<Layout> {
        Layout::from_size_align((bytes as usize).max(Self::ALIGNMENT), Self::ALIGNMENT).ok()
    }

    fn of(layout: Layout) -> Option<Registers> {
        // SAFETY: its size is not zero.
        let start = NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?;
        Some(Registers { start, layout })
    }

    /// Returns how many bytes it has.
    pub(crate) fn size(&self) -> u64 {
        self.layout.size() as u64
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the bytes of all slots.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: it owns so many bytes, of which all were set in `new`; operations write them through pointers, and none
        // runs while the slice is borrowed: it borrows the warp, which an operation's caller has exclusively.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    /// Sets all bytes.
    pub(crate) fn fill(&mut self, byte: u8) {
        // SAFETY: it owns so many bytes.
        unsafe { self.start.as_ptr().write_bytes(byte, self.layout.size()) };
    }
}

impl Drop for Registers {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// The bits of a lane of a slot.
pub(crate) trait Bits:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// All of them, or none.
    fn filled(is_filled: bool) -> Self;
}

macro_rules! bits {
    ($($ty:ty),*) => {$(
        impl Bits for $ty {
            #[inline(always)]
            fn filled(is_filled: bool) -> $ty {
                <$ty>::from(is_filled).wrapping_neg()
            }
        }
    )*};
}

bits!(u32, u64, u128);

/// Type of a register's value in a lane. Types of 8 and 16 bits lie in 32, the upper bits zero.
pub(crate) trait Lane: Copy {
    /// The type of the bits in the slot.
    type Slot: Bits + Operand;

    fn of(slot: Self::Slot) -> Self;

    fn slot(self) -> Self::Slot;
}

macro_rules! lanes {
    ($($ty:ty: $slot:ty, |$from:ident| $of:expr, |$to:ident| $bits:expr;)*) => {$(
        impl Lane for $ty {
            type Slot = $slot;

            #[inline(always)]
            fn of($from: $slot) -> $ty {
                $of
            }

            #[inline(always)]
            fn slot(self) -> $slot {
                let $to = self;
                $bits
            }
        }
    )*};
}

lanes! {
    u8: u32, |slot| slot as u8, |value| u32::from(value);
    i8: u32, |slot| slot as i8, |value| u32::from(value as u8);
    u16: u32, |slot| slot as u16, |value| u32::from(value);
    i16: u32, |slot| slot as i16, |value| u32::from(value as u16);
    u32: u32, |slot| slot, |value| value;
    i32: u32, |slot| slot as i32, |value| value as u32;
    f32: u32, |slot| f32::from_bits(slot), |value| value.to_bits();
    u64: u64, |slot| slot, |value| value;
    i64: u64, |slot| slot as i64, |value| value as u64;
    f64: u64, |slot| f64::from_bits(slot), |value| value.to_bits();
    u128: u128, |slot| slot, |value| value;
}

/// Kind of a slot, for code that copies or keeps lanes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A mask of lanes.
    Predicate,
    /// 32 bits a lane.
    Word,
    /// 64 bits a lane.
    Double,
    /// 128 bits a lane.
    Quad,
}

impl Kind {
    /// Bits of a lane.
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Kind::Predicate => 1,
            Kind::Word => 32,
            Kind::Double => 64,
            Kind::Quad => 128,
        }
    }

    /// Bytes of a slot, so that slots stay aligned.
    pub(crate) const fn bytes(self) -> u32 {
        match self {
            Kind::Predicate => 64,
            Kind::Word => 4 * LANES as u32,
            Kind::Double => 8 * LANES as u32,
            Kind::Quad => 16 * LANES as u32,
        }
    }
}
