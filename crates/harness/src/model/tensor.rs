//! Tensor cores: the types whose matrices they multiply, and how fast.

use serde::Serialize;

use super::FlopsPerSec;

/// Generates [`TensorType`] of its rows: the type's name, and the types of PTX that are of it.
macro_rules! tensor_types {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, ptx $($ptx:literal)|+;)*) => {
        /// The type of the matrices that tensor cores multiply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        #[serde(rename_all = "lowercase")]
        #[non_exhaustive]
        pub enum TensorType {
            $($(#[$doc])* $variant,)*
        }

        impl TensorType {
            /// All of them.
            pub const ALL: [TensorType; [$($name),*].len()] = [$(TensorType::$variant),*];

            /// Its name on charts and in tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(TensorType::$variant => $name,)*
                }
            }

            /// That of a type of PTX, such as `e4m3`; none of those that the roofs' model does not know.
            pub fn of_ptx(element: &str) -> Option<TensorType> {
                match element {
                    $($($ptx)|+ => Some(TensorType::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

tensor_types! {
    /// 16 bits, of which 10 are the fraction's.
    F16 = "f16", ptx "f16" | "f16x2";
    /// 16 bits with the exponent of an f32.
    Bf16 = "bf16", ptx "bf16" | "bf16x2";
    /// An f32 with a fraction of 10 bits.
    Tf32 = "tf32", ptx "tf32";
    /// 64 bits.
    F64 = "f64", ptx "f64";
    /// 8 bits of floating point, e4m3 or e5m2.
    F8 = "f8", ptx "e4m3" | "e5m2";
    /// 8 bits of an integer, with a sign or without.
    I8 = "i8", ptx "s8" | "u8";
}

impl TensorType {
    /// The type of this [`name`](TensorType::name).
    pub fn named(name: &str) -> Option<TensorType> {
        TensorType::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// The rate at which tensor cores multiply dense matrices of each type, where it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorRoofs([Option<TensorRoof>; TensorType::ALL.len()]);

/// A rate of tensor cores, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TensorRoof {
    /// The data sheet's.
    Sheet(FlopsPerSec),
    /// That of a kernel that does nothing else.
    Measured(FlopsPerSec),
}

impl TensorRoof {
    /// The rate.
    pub fn rate(self) -> FlopsPerSec {
        match self {
            TensorRoof::Sheet(rate) | TensorRoof::Measured(rate) => rate,
        }
    }

    /// `data sheet` or `measured`: where it comes from.
    pub fn source(self) -> &'static str {
        match self {
            TensorRoof::Sheet(_) => "data sheet",
            TensorRoof::Measured(_) => "measured",
        }
    }
}

impl TensorRoofs {
    /// Those of a device without tensor cores, or of which nothing is known.
    pub const NONE: TensorRoofs = TensorRoofs([None; TensorType::ALL.len()]);

    /// The data sheet's, TFLOP/s; nothing is known of types that it does not state.
    pub(super) fn of_sheet(tera: &[(TensorType, f64)]) -> TensorRoofs {
        let mut roofs = TensorRoofs::NONE;
        for (of, tera) in tera {
            roofs.0[*of as usize] = Some(TensorRoof::Sheet(FlopsPerSec(tera * 1e12)));
        }
        roofs
    }

    /// These with a measured rate of a type.
    #[must_use]
    pub fn with_measured(mut self, of: TensorType, rate: FlopsPerSec) -> TensorRoofs {
        self.0[of as usize] = Some(TensorRoof::Measured(rate));
        self
    }

    /// That of a type, and where it comes from.
    pub fn roof(&self, of: TensorType) -> Option<TensorRoof> {
        self.0[of as usize]
    }

    /// The rate of a type.
    pub fn get(&self, of: TensorType) -> Option<FlopsPerSec> {
        self.roof(of).map(TensorRoof::rate)
    }

    /// The highest rate.
    pub fn highest(&self) -> Option<FlopsPerSec> {
        let all = self.0.iter().flatten().map(|it| it.rate());
        all.max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Board;

    #[test]
    fn each_type_has_the_data_sheets_rate() {
        let of = |board, element| {
            let board = Board::named(board).expect("a row");
            board.tensor_roofs().get(element).map(|it| it.tera())
        };
        assert_eq!(of("a100", TensorType::F16), Some(312.0));
        assert_eq!(of("a100", TensorType::F8), None);
        assert_eq!(of("h200", TensorType::Tf32), Some(494.7));
        assert_eq!(of("h200", TensorType::I8), Some(1978.9));
        for (at, element) in TensorType::ALL.into_iter().enumerate() {
            assert_eq!(element as usize, at);
        }
        assert_eq!(TensorType::of_ptx("e5m2"), Some(TensorType::F8));
        assert_eq!(TensorType::of_ptx("e2m1"), None);
        for element in TensorType::ALL {
            assert_eq!(TensorType::named(element.name()), Some(element));
            let json = serde_json::to_value(element).expect("text");
            assert_eq!(json, element.name());
        }
        assert_eq!(TensorType::named("e5m2"), None);
    }

    #[test]
    fn a_measured_rate_takes_the_data_sheets_place() {
        let sheet = Board::named("h200").expect("a row").tensor_roofs();
        let measured = sheet.with_measured(TensorType::F8, FlopsPerSec(1600e12));
        let of = |roofs: &TensorRoofs, element| {
            let roof = roofs.roof(element).expect("known");
            (roof.rate().tera(), roof.source())
        };
        assert_eq!(of(&sheet, TensorType::F8), (1978.9, "data sheet"));
        assert_eq!(of(&measured, TensorType::F8), (1600.0, "measured"));
        assert_eq!(of(&measured, TensorType::Tf32), (494.7, "data sheet"));
        assert_eq!(measured.highest(), sheet.get(TensorType::I8));
    }
}
