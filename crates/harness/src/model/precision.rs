//! The types that kernels compute with outside of tensor cores: one row per type.

use std::str::FromStr;

use occupancy::Arithmetic;

use super::{FlopsPerSec, Limit};

/// Generates [`Precision`] of its rows: the type's name, the bytes of a number, the numbers of a kernel's element, the lanes
/// that compute with it, the types of PTX that are of it, and the type that is measured where no kernel of it is.
macro_rules! precisions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $bytes:literal bytes, $numbers:literal numbers, lanes $lanes:ident, ptx $($ptx:literal)|+, as $as:ident;)*) => {
        /// A type of numbers, for what the hardware does with it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Precision {
            $($(#[$doc])* $variant,)*
        }

        impl Precision {
            /// Every one, in the order of tables.
            pub const ALL: [Precision; [$($name),*].len()] = [$(Precision::$variant),*];

            /// Its name on the command line, in tables and in files.
            pub fn name(self) -> &'static str {
                match self {
                    $(Precision::$variant => $name,)*
                }
            }

            /// Bytes of a number.
            pub fn bytes(self) -> u32 {
                match self {
                    $(Precision::$variant => $bytes,)*
                }
            }

            /// Numbers in an element of a kernel: two where they are worked on in pairs.
            pub fn numbers(self) -> u32 {
                match self {
                    $(Precision::$variant => $numbers,)*
                }
            }
        }

        impl Precision {
            /// That of a type of PTX, such as `f32x2`.
            pub(crate) fn of_ptx(name: &str) -> Option<Precision> {
                match name {
                    $($($ptx)|+ => Some(Precision::$variant),)*
                    _ => None,
                }
            }

            /// The type whose kernels are measured in its place, as they take the same pipe: itself where there are some.
            pub(crate) fn measured_as(self) -> Precision {
                match self {
                    $(Precision::$variant => Precision::$as,)*
                }
            }
        }

        impl From<Precision> for Arithmetic {
            fn from(precision: Precision) -> Arithmetic {
                match precision {
                    $(Precision::$variant => Arithmetic::$lanes,)*
                }
            }
        }
    };
}

precisions! {
    /// 32 bits.
    F32 = "f32", 4 bytes, 1 numbers, lanes F32, ptx "f32" | "f32x2", as F32;
    /// 64 bits.
    F64 = "f64", 8 bytes, 1 numbers, lanes F64, ptx "f64", as F64;
    /// 16 bits, two in a register, on which one instruction works.
    F16x2 = "f16x2", 2 bytes, 2 numbers, lanes F16x2, ptx "f16" | "f16x2", as F16x2;
    /// The same of `bf16`, which has the exponent of `f32`.
    Bf16x2 = "bf16x2", 2 bytes, 2 numbers, lanes Bf16x2, ptx "bf16" | "bf16x2", as F16x2;
    /// Integers of 32 bits, of which multiply-adds count: additions, logic and shifts, as addresses are made of, take other lanes.
    I32 = "i32", 4 bytes, 1 numbers, lanes I32, ptx "s32" | "u32", as I32;
}

impl Precision {
    /// The kinds of arithmetic whose rates are roofs of its kernels, and their names.
    pub fn arithmetic(self) -> &'static [(Limit, &'static str)] {
        match self {
            Precision::I32 => &[(Limit::Integer, "multiply-add")],
            _ => &[(Limit::Fma, "FMA"), (Limit::AddMul, "add+mul")],
        }
    }

    /// The name of an operation in units.
    pub fn operation(self) -> &'static str {
        match self {
            Precision::I32 => "op",
            _ => "FLOP",
        }
    }

    /// A rate of its operations, for people.
    pub fn rate(self, rate: FlopsPerSec) -> String {
        rate.to_string().replace("FLOP", self.operation())
    }
}

impl FromStr for Precision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Precision::ALL.into_iter().find(|one| one.name() == text);
        found.ok_or_else(|| {
            let names = Precision::ALL.map(Precision::name).join(", ");
            format!("{text:?} is not an element type that there are kernels for: {names}")
        })
    }
}
