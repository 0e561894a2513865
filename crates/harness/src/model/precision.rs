//! The floating-point types that kernels compute with outside of tensor cores: one row per type.

use std::str::FromStr;

use occupancy::Arithmetic;

/// Generates [`Precision`] of its rows: the type's name, the bytes of a number, the numbers of a kernel's element, and the
/// lanes that compute with it.
macro_rules! precisions {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $bytes:literal bytes, $numbers:literal numbers, lanes $lanes:ident;)*) => {
        /// A floating-point type, for what the hardware does with it.
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
    F32 = "f32", 4 bytes, 1 numbers, lanes F32;
    /// 64 bits.
    F64 = "f64", 8 bytes, 1 numbers, lanes F64;
    /// 16 bits, two in a register, on which one instruction works.
    F16x2 = "f16x2", 2 bytes, 2 numbers, lanes F16x2;
    /// The same of `bf16`, which has the exponent of `f32`.
    Bf16x2 = "bf16x2", 2 bytes, 2 numbers, lanes Bf16x2;
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
