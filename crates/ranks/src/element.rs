//! The element types of collectives.

use half::{bf16, f16};
use ridgepoint_driver::DeviceValue;

/// How values of several ranks become one.
///
/// ```
/// use ranks::Reduction;
///
/// assert_eq!(Reduction::Sum.to_string(), "sum");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum. Integers wrap around.
    Sum,
    /// The greatest.
    Max,
    /// The least.
    Min,
}

impl std::fmt::Display for Reduction {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Reduction::Sum => "sum",
            Reduction::Max => "max",
            Reduction::Min => "min",
        })
    }
}

/// A type that collectives know: `f32`, `f64`, `i32`, `i64`, `u8`, `u32`, `u64`, and `f16` and `bf16` of the crate
/// `half`.
///
/// ```
/// use ranks::{Element, Reduction};
///
/// // `ncclFloat32` is 7.
/// assert_eq!((<f32 as Element>::NAME, <f32 as Element>::NCCL), ("f32", 7));
/// assert_eq!(2.0f32.reduced(3.0, Reduction::Max), 3.0);
/// ```
pub trait Element: DeviceValue + Send + Sync + sealed::Sealed {
    /// Its name in messages.
    const NAME: &'static str;

    /// NCCL's number of the type (`ncclDataType_t`).
    const NCCL: i32;

    /// Two values as one, on the host.
    fn reduced(self, other: Self, by: Reduction) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($ty:ident, $nccl:literal, |$a:ident, $b:ident| $sum:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const NAME: &'static str = stringify!($ty);
            const NCCL: i32 = $nccl;

            fn reduced(self, other: Self, by: Reduction) -> Self {
                let ($a, $b) = (self, other);
                match by {
                    Reduction::Sum => $sum,
                    Reduction::Max => $a.max($b),
                    Reduction::Min => $a.min($b),
                }
            }
        }
    )*};
}

elements! {
    u8, 1, |a, b| a.wrapping_add(b);
    i32, 2, |a, b| a.wrapping_add(b);
    u32, 3, |a, b| a.wrapping_add(b);
    i64, 4, |a, b| a.wrapping_add(b);
    u64, 5, |a, b| a.wrapping_add(b);
    f16, 6, |a, b| a + b;
    f32, 7, |a, b| a + b;
    f64, 8, |a, b| a + b;
    bf16, 9, |a, b| a + b;
}
