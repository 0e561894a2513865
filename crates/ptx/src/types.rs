//! Types and state spaces.

use crate::names::named;

named! {
    /// The type of a register, a variable, an operand or an element of a matrix.
    pub enum Type as "a type" {
        /// One bit.
        Pred = "pred",
        /// 1 untyped bit (an element of a matrix).
        B1 = "b1",
        /// 8 untyped bits.
        B8 = "b8",
        /// 16 untyped bits.
        B16 = "b16",
        /// 32 untyped bits.
        B32 = "b32",
        /// 64 untyped bits.
        B64 = "b64",
        /// 128 untyped bits.
        B128 = "b128",
        /// 2-bit unsigned integer (a lane of a video instruction or an element of a matrix).
        U2 = "u2",
        /// 4-bit unsigned integer.
        U4 = "u4",
        /// 8-bit unsigned integer.
        U8 = "u8",
        /// 16-bit unsigned integer.
        U16 = "u16",
        /// 32-bit unsigned integer.
        U32 = "u32",
        /// 64-bit unsigned integer.
        U64 = "u64",
        /// 2-bit signed integer.
        S2 = "s2",
        /// 4-bit signed integer.
        S4 = "s4",
        /// 8-bit signed integer.
        S8 = "s8",
        /// 16-bit signed integer.
        S16 = "s16",
        /// 32-bit signed integer.
        S32 = "s32",
        /// 64-bit signed integer.
        S64 = "s64",
        /// Two 16-bit unsigned integers.
        U16x2 = "u16x2",
        /// Two 16-bit signed integers.
        S16x2 = "s16x2",
        /// Four 8-bit unsigned integers.
        U8x4 = "u8x4",
        /// Four 8-bit signed integers.
        S8x4 = "s8x4",
        /// IEEE half precision.
        F16 = "f16",
        /// Two of [`Type::F16`].
        F16x2 = "f16x2",
        /// 8 bits of exponent, 7 of mantissa.
        Bf16 = "bf16",
        /// Two of [`Type::Bf16`].
        Bf16x2 = "bf16x2",
        /// 8 bits of exponent, 10 of mantissa, in 32 bits.
        Tf32 = "tf32",
        /// IEEE single precision.
        F32 = "f32",
        /// Two of [`Type::F32`].
        F32x2 = "f32x2",
        /// IEEE double precision.
        F64 = "f64",
        /// 8 bits: 4 of exponent, 3 of mantissa, no infinities.
        E4m3 = "e4m3",
        /// 8 bits: 5 of exponent, 2 of mantissa.
        E5m2 = "e5m2",
        /// 6 bits: 3 of exponent, 2 of mantissa.
        E3m2 = "e3m2",
        /// 6 bits: 2 of exponent, 3 of mantissa.
        E2m3 = "e2m3",
        /// 4 bits: 2 of exponent, 1 of mantissa.
        E2m1 = "e2m1",
        /// An exponent of 8 bits, a matrix's scale.
        Ue8m0 = "ue8m0",
        /// 4 bits of exponent and 3 of mantissa without a sign, a matrix's scale.
        Ue4m3 = "ue4m3",
        /// Two of [`Type::E4m3`].
        E4m3x2 = "e4m3x2",
        /// Two of [`Type::E5m2`].
        E5m2x2 = "e5m2x2",
        /// Two of [`Type::E3m2`], a byte each.
        E3m2x2 = "e3m2x2",
        /// Two of [`Type::E2m3`], a byte each.
        E2m3x2 = "e2m3x2",
        /// Two of [`Type::E2m1`], in one byte.
        E2m1x2 = "e2m1x2",
        /// Two of [`Type::Ue8m0`].
        Ue8m0x2 = "ue8m0x2",
        /// Four of [`Type::E4m3`].
        E4m3x4 = "e4m3x4",
        /// Four of [`Type::E5m2`].
        E5m2x4 = "e5m2x4",
        /// Four of [`Type::E3m2`].
        E3m2x4 = "e3m2x4",
        /// Four of [`Type::E2m3`].
        E2m3x4 = "e2m3x4",
        /// Four of [`Type::E2m1`].
        E2m1x4 = "e2m1x4",
        /// A texture.
        TexRef = "texref",
        /// A sampler of textures.
        SamplerRef = "samplerref",
        /// A surface.
        SurfRef = "surfref",
    }
}

/// Sort of the values of a [`Type`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One bit of truth.
    Predicate,
    /// Bits without a meaning.
    Bits,
    /// Integers without a sign.
    Unsigned,
    /// Integers with a sign.
    Signed,
    /// Floating point, packed or not.
    Float,
    /// Handles of textures, samplers and surfaces.
    Opaque,
}

impl Type {
    /// Bits of a value. A predicate has 1, a handle 64, [`Type::Tf32`] the 32 of its register.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Pred | Self::B1 => 1,
            Self::U2 | Self::S2 => 2,
            Self::U4 | Self::S4 | Self::E2m1 => 4,
            Self::E3m2 | Self::E2m3 => 6,
            Self::B8
            | Self::U8
            | Self::S8
            | Self::E4m3
            | Self::E5m2
            | Self::Ue8m0
            | Self::Ue4m3
            | Self::E2m1x2 => 8,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 16,
            Self::E4m3x2
            | Self::E5m2x2
            | Self::E3m2x2
            | Self::E2m3x2
            | Self::Ue8m0x2
            | Self::E2m1x4 => 16,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::Tf32 => 32,
            Self::U16x2 | Self::S16x2 | Self::U8x4 | Self::S8x4 | Self::F16x2 | Self::Bf16x2 => 32,
            Self::E4m3x4 | Self::E5m2x4 | Self::E3m2x4 | Self::E2m3x4 => 32,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::F32x2 => 64,
            Self::TexRef | Self::SamplerRef | Self::SurfRef => 64,
            Self::B128 => 128,
        }
    }

    /// Bytes of a value in memory; those narrower than a byte have 1.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Returns the sort of its values.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Pred => Kind::Predicate,
            Self::B1 | Self::B8 | Self::B16 | Self::B32 | Self::B64 | Self::B128 => Kind::Bits,
            Self::U2
            | Self::U4
            | Self::U8
            | Self::U16
            | Self::U32
            | Self::U64
            | Self::U16x2
            | Self::U8x4 => Kind::Unsigned,
            Self::S2
            | Self::S4
            | Self::S8
            | Self::S16
            | Self::S32
            | Self::S64
            | Self::S16x2
            | Self::S8x4 => Kind::Signed,
            Self::TexRef | Self::SamplerRef | Self::SurfRef => Kind::Opaque,
            _ => Kind::Float,
        }
    }

    /// Whether its values are floating point, packed or not.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether its values are integers with a sign, packed or not.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }
}

named! {
    /// Where an address points.
    pub enum Space as "a state space" {
        /// Anywhere: the address says where.
        Generic = "generic",
        /// Memory of the device.
        Global = "global",
        /// Shared memory of the block (`.shared`, `.shared::cta`).
        Shared = "shared" | "shared::cta",
        /// Shared memory of any block of the cluster.
        SharedCluster = "shared::cluster",
        /// Memory of the thread.
        Local = "local",
        /// Constant memory.
        Const = "const",
        /// Parameters: of the kernel where it is not declared in the body, else of a call.
        Param = "param",
        /// Parameters of the kernel.
        ParamEntry = "param::entry",
        /// Parameters of a function or of a call.
        ParamFunction = "param::func",
        /// Textures (before `.texref`).
        Texture = "tex",
    }
}
