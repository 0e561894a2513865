//! Modifiers of floats in `op.aux`, where handlers read them, so that one handler is enough for all of their
//! combinations.

use crate::arith::float::{self, Float, Rounding};
use crate::arith::half::{self, Half};

/// Modifiers of an instruction on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Modifiers(u64);

impl Modifiers {
    /// Rounded to nearest, and nothing else.
    pub(crate) const NONE: Modifiers = Modifiers(0);
    /// `.ftz`.
    pub(crate) const FTZ: Modifiers = Modifiers(1 << 3);
    /// `.sat`.
    pub(crate) const SAT: Modifiers = Modifiers(1 << 4);
    /// `.relu`.
    pub(crate) const RELU: Modifiers = Modifiers(1 << 5);
    /// `.satfinite`.
    pub(crate) const SATFINITE: Modifiers = Modifiers(1 << 6);
    /// `.xorsign.abs`.
    pub(crate) const XORSIGN: Modifiers = Modifiers(1 << 7);
    /// `.abs`.
    pub(crate) const ABS: Modifiers = Modifiers(1 << 8);
    /// `.NaN`.
    pub(crate) const NAN: Modifiers = Modifiers(1 << 9);
    /// `.oob`.
    pub(crate) const OOB: Modifiers = Modifiers(1 << 10);
    const ROUNDING: u64 = 7;

    /// Only a rounding.
    pub(crate) fn rounded(rounding: Rounding) -> Modifiers {
        Modifiers(match rounding {
            Rounding::Nearest => 0,
            Rounding::NearestAway => 1,
            Rounding::Zero => 2,
            Rounding::Down => 3,
            Rounding::Up => 4,
        })
    }

    /// With others, where the instruction has them.
    pub(crate) fn with(self, other: Modifiers, given: bool) -> Modifiers {
        Modifiers(if given { self.0 | other.0 } else { self.0 })
    }

    /// Those of a handler.
    #[inline(always)]
    pub(crate) fn of(aux: u64) -> Modifiers {
        Modifiers(aux)
    }

    /// For a handler.
    pub(crate) fn aux(self) -> u64 {
        self.0
    }

    /// Whether all of those are there.
    #[inline(always)]
    pub(crate) fn has(self, other: Modifiers) -> bool {
        self.0 & other.0 == other.0
    }

    /// Without those.
    pub(crate) fn without(self, other: Modifiers) -> Modifiers {
        Modifiers(self.0 & !other.0)
    }

    /// Whether none but those are there.
    pub(crate) fn only(self, others: &[Modifiers]) -> bool {
        others.iter().fold(self, |left, &it| left.without(it)) == Modifiers::NONE
    }

    /// Any rounding, for [`Modifiers::only`].
    pub(crate) const ANY_ROUNDING: Modifiers = Modifiers(Self::ROUNDING);

    #[inline(always)]
    pub(crate) fn rounding(self) -> Rounding {
        match self.0 & Self::ROUNDING {
            0 => Rounding::Nearest,
            1 => Rounding::NearestAway,
            2 => Rounding::Zero,
            3 => Rounding::Down,
            _ => Rounding::Up,
        }
    }

    /// An operand, flushed if so.
    #[inline(always)]
    pub(crate) fn operand(self, x: f32) -> f32 {
        if self.has(Modifiers::FTZ) {
            float::flush(x)
        } else {
            x
        }
    }

    /// A result, flushed, saturated and made positive if so.
    #[inline(always)]
    pub(crate) fn result(self, x: f32) -> f32 {
        let x = if self.has(Modifiers::FTZ) {
            float::flush(x)
        } else {
            x
        };
        self.bounded(x)
    }

    /// A result of either type, without `.ftz`.
    #[inline(always)]
    pub(crate) fn bounded<F: Float>(self, x: F) -> F {
        let x = if self.has(Modifiers::SAT) {
            float::saturate(x)
        } else {
            x
        };
        if self.has(Modifiers::RELU) {
            float::relu(x)
        } else {
            x
        }
    }

    /// As [`Modifiers::operand`].
    #[inline(always)]
    pub(crate) fn half_operand<H: Half>(self, x: u16) -> u16 {
        if self.has(Modifiers::FTZ) {
            half::flush::<H>(x)
        } else {
            x
        }
    }

    /// As [`Modifiers::result`].
    #[inline(always)]
    pub(crate) fn half_result<H: Half>(self, x: u16) -> u16 {
        let x = if self.has(Modifiers::FTZ) {
            half::flush::<H>(x)
        } else {
            x
        };
        self.half_bounded::<H>(x)
    }

    /// As [`Modifiers::bounded`], and `.satfinite`.
    #[inline(always)]
    pub(crate) fn half_bounded<H: Half>(self, x: u16) -> u16 {
        let x = if self.has(Modifiers::SAT) {
            half::saturate::<H>(x)
        } else {
            x
        };
        let x = if self.has(Modifiers::RELU) {
            half::relu::<H>(x)
        } else {
            x
        };
        if self.has(Modifiers::SATFINITE) {
            half::satfinite::<H>(x)
        } else {
            x
        }
    }
}

/// The rounding that an instruction names, `None` for those by random bits.
pub(crate) fn rounding(named: ptx::Rounding) -> Option<Rounding> {
    use ptx::Rounding as Named;
    Some(match named {
        Named::Rn | Named::Rni => Rounding::Nearest,
        Named::Rna => Rounding::NearestAway,
        Named::Rz | Named::Rzi => Rounding::Zero,
        Named::Rm | Named::Rmi => Rounding::Down,
        Named::Rp | Named::Rpi => Rounding::Up,
        Named::Rs => return None,
    })
}
