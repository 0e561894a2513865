//! Quantities with their units.

use std::fmt;
use std::ops::{Div, Mul};

macro_rules! units {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $name(pub f64);
    )*};
}

units! {
    /// Floating-point operations per second.
    FlopsPerSec;
    /// Bytes per second.
    BytesPerSec;
    /// Arithmetic intensity: floating-point operations for each byte of memory traffic.
    FlopsPerByte;
}

macro_rules! rates {
    ($($name:ident in $unit:literal;)*) => {$(
        impl $name {
            /// In units of 1e9 a second.
            pub fn giga(self) -> f64 {
                self.0 / 1e9
            }

            /// In units of 1e12 a second.
            pub fn tera(self) -> f64 {
                self.0 / 1e12
            }
        }

        /// In units of 1e12 a second, or of 1e9 where it is less than that.
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.0 >= 1e12 {
                    write!(formatter, concat!("{:.2} T", $unit), self.tera())
                } else {
                    write!(formatter, concat!("{:.2} G", $unit), self.giga())
                }
            }
        }
    )*};
}

rates! {
    FlopsPerSec in "FLOP/s";
    BytesPerSec in "B/s";
}

/// The rate that a bandwidth allows at an arithmetic intensity.
impl Mul<BytesPerSec> for FlopsPerByte {
    type Output = FlopsPerSec;

    fn mul(self, bandwidth: BytesPerSec) -> FlopsPerSec {
        FlopsPerSec(self.0 * bandwidth.0)
    }
}

/// The arithmetic intensity at which a rate and a bandwidth take the same time.
impl Div<BytesPerSec> for FlopsPerSec {
    type Output = FlopsPerByte;

    fn div(self, bandwidth: BytesPerSec) -> FlopsPerByte {
        FlopsPerByte(self.0 / bandwidth.0)
    }
}
