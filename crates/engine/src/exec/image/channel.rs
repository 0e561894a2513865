//! A channel of an element: its bits, and the numbers that they are.

use crate::arith::directed::Rounding;
use crate::arith::half::{self, F16, Half};
use crate::exec::filter;

/// The type of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Of so many bytes.
    Unsigned(u8),
    /// Of so many bytes.
    Signed(u8),
    /// Of 16 bits.
    Half,
    /// Of 32 bits.
    Float,
}

impl Channel {
    /// The `CUarray_format` of this number.
    pub fn of(number: u32) -> Option<Channel> {
        Some(match number {
            0x01 => Channel::Unsigned(1),
            0x02 => Channel::Unsigned(2),
            0x03 => Channel::Unsigned(4),
            0x08 => Channel::Signed(1),
            0x09 => Channel::Signed(2),
            0x0a => Channel::Signed(4),
            0x10 => Channel::Half,
            0x20 => Channel::Float,
            _ => return None,
        })
    }

    /// Its bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Channel::Unsigned(bytes) | Channel::Signed(bytes) => bytes.into(),
            Channel::Half => 2,
            Channel::Float => 4,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Channel::Half | Channel::Float)
    }

    pub(super) fn number(self) -> u8 {
        match self {
            Channel::Unsigned(bytes) => bytes.trailing_zeros() as u8 + 1,
            Channel::Signed(bytes) => bytes.trailing_zeros() as u8 + 8,
            Channel::Half => 0x10,
            Channel::Float => 0x20,
        }
    }

    /// The bits of a channel as a kernel gets them that reads integers.
    pub(super) fn integer(self, bits: u32) -> u32 {
        match self {
            Channel::Signed(1) => i32::from(bits as u8 as i8).cast_unsigned(),
            Channel::Signed(2) => i32::from(bits as u16 as i16).cast_unsigned(),
            _ => bits,
        }
    }

    /// A channel as a number: integers from 0 or -1 to 1, with more than 16 bits as they are.
    pub(super) fn float(self, bits: u32) -> f32 {
        match self {
            Channel::Unsigned(1) => bits as f32 / 255.0,
            Channel::Unsigned(2) => bits as f32 / 65_535.0,
            Channel::Signed(1) => (f32::from(bits as u8 as i8) / 127.0).max(-1.0),
            Channel::Signed(2) => (f32::from(bits as u16 as i16) / 32_767.0).max(-1.0),
            Channel::Unsigned(_) | Channel::Signed(_) => f32::from_bits(bits),
            Channel::Half => F16::to_f32(bits as u16),
            Channel::Float => f32::from_bits(bits),
        }
    }

    /// The bits whose [`Channel::float`] is nearest to a number.
    pub(super) fn nearest(self, number: f32) -> u32 {
        let of = |most: f32| (number.clamp(-1.0, 1.0) * most).round() as i32;
        match self {
            Channel::Unsigned(1) => of(255.0).max(0) as u32,
            Channel::Unsigned(2) => of(65_535.0).max(0) as u32,
            Channel::Signed(1) => u32::from(of(127.0) as u8),
            Channel::Signed(2) => u32::from(of(32_767.0) as u16),
            Channel::Half => half::from_f64::<F16>(number.into(), Rounding::Nearest).into(),
            Channel::Unsigned(_) | Channel::Signed(_) | Channel::Float => number.to_bits(),
        }
    }

    /// A channel as filters have it: integers with 16 bits.
    pub(super) fn wide(self, bits: u32) -> f64 {
        match self {
            Channel::Unsigned(1) => f64::from(bits * 257),
            Channel::Unsigned(2) => bits.into(),
            Channel::Signed(1) => f64::from(bits as u8 as i8).max(-127.0) * 32_767.0 / 127.0,
            Channel::Signed(2) => f64::from(bits as u16 as i16).max(-32_767.0),
            _ => self.float(bits).into(),
        }
    }

    /// A filter's result as a kernel gets it, rounded as filters have it.
    pub(super) fn of_wide(self, number: f64) -> f32 {
        match self {
            Channel::Unsigned(1 | 2) => (number + 0.5).floor() as f32 / 65_535.0,
            Channel::Signed(1 | 2) => (number + 0.5).floor() as f32 / 32_767.0,
            Channel::Half => filter::away(number, 10) as f32,
            _ => filter::away(number, 23) as f32,
        }
    }
}
