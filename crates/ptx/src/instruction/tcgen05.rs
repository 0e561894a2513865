//! Tensor memory, and products of matrices in it: `tcgen05`.

use crate::instruction::{Visit, Wanted, operations};
use crate::names::named;
use crate::{Address, Operand, Predicate, Reg, Space, Type};

named! {
    /// Lanes of tensor memory and bits of each that a warp moves, repeated along the columns.
    pub enum Tcgen05Shape as "a shape such as `.32x32b`" {
        /// A lane of tensor memory per thread.
        L32x32b = "32x32b",
        /// 16 lanes of 64 bits.
        L16x64b = "16x64b",
        /// 16 lanes of 128 bits.
        L16x128b = "16x128b",
        /// 16 lanes of 256 bits.
        L16x256b = "16x256b",
        /// 16 lanes of 32 bits, and the same lanes some columns further.
        L16x32bx2 = "16x32bx2",
    }
}

impl Tcgen05Shape {
    /// Registers of a thread that one repetition takes.
    #[must_use]
    pub const fn registers(self) -> usize {
        match self {
            Self::L32x32b | Self::L16x64b | Self::L16x32bx2 => 1,
            Self::L16x128b => 2,
            Self::L16x256b => 4,
        }
    }
}

named! {
    /// Lanes and bits that are copied from shared memory.
    pub enum Tcgen05CopyShape as "a shape such as `.128x256b`" {
        /// All lanes, 8 columns.
        L128x256b = "128x256b",
        /// The last lane of each 32, 8 columns.
        L4x256b = "4x256b",
        /// All lanes, 4 columns.
        L128x128b = "128x128b",
        /// 64 lanes, 4 columns, twice.
        L64x128b = "64x128b",
        /// 32 lanes, 4 columns, four times.
        L32x128b = "32x128b",
    }
}

named! {
    /// Which lanes a copy is repeated in.
    pub enum Tcgen05Multicast {
        /// Lanes 0 to 63 in warps 0 and 2, and those in warps 1 and 3.
        Warpx2x02x13 = "warpx2::02_13",
        /// Warps 0 and 1, and warps 2 and 3, have the same.
        Warpx2x01x23 = "warpx2::01_23",
        /// All four have the same.
        Warpx4 = "warpx4",
    }
}

named! {
    /// The types of a product's factors.
    pub enum Tcgen05Kind as "a kind such as `.kind::f16`" {
        /// `f16` and `bf16`.
        F16 = "kind::f16",
        /// `tf32`.
        Tf32 = "kind::tf32",
        /// Floats of 8, 6 and 4 bits.
        F8f6f4 = "kind::f8f6f4",
        /// Integers of 8 bits.
        I8 = "kind::i8",
        /// Floats of 8, 6 and 4 bits, scaled.
        Mxf8f6f4 = "kind::mxf8f6f4",
        /// Floats of 4 bits, scaled.
        Mxf4 = "kind::mxf4",
        /// Floats of 4 bits, scaled by the block of 16, too.
        Mxf4nvf4 = "kind::mxf4nvf4",
    }
}

impl Tcgen05Kind {
    /// The type of its factors; the first where the instruction descriptor chooses among several.
    #[must_use]
    pub const fn element(self) -> Type {
        match self {
            Self::F16 => Type::F16,
            Self::Tf32 => Type::Tf32,
            Self::F8f6f4 | Self::Mxf8f6f4 => Type::E4m3,
            Self::I8 => Type::S8,
            Self::Mxf4 | Self::Mxf4nvf4 => Type::E2m1,
        }
    }

    /// Whether blocks of a row have scales.
    #[must_use]
    pub const fn is_scaled(self) -> bool {
        matches!(self, Self::Mxf8f6f4 | Self::Mxf4 | Self::Mxf4nvf4)
    }
}

/// The left factor of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tcgen05Left {
    /// Shared memory, by a descriptor, `b64`.
    Descriptor(Operand),
    /// Tensor memory.
    TensorMemory(Address),
}

impl Visit for Tcgen05Left {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        match self {
            Self::Descriptor(descriptor) => descriptor.visit(Wanted::LONG, visitor),
            Self::TensorMemory(address) => address.visit(Wanted::Any, visitor),
        }
    }
}

operations! {
    /// Columns of tensor memory for the block.
    pub struct Tcgen05Alloc {
        /// `.cta_group::1` or `::2`: blocks that take part.
        pub group: u32,
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// Where the address of the columns is written.
        pub destination: Address,
        /// How many, `u32`.
        pub columns: Operand as Wanted::WORD,
    }

    /// The end of columns of tensor memory.
    pub struct Tcgen05Dealloc {
        /// Blocks that take part.
        pub group: u32,
        /// The first column, `b32`.
        pub address: Operand as Wanted::WORD,
        /// How many, `u32`.
        pub columns: Operand as Wanted::WORD,
    }

    /// Tensor memory into registers of a warp, asynchronous.
    pub struct Tcgen05Load {
        /// Lanes and bits.
        pub shape: Tcgen05Shape,
        /// How often it is repeated.
        pub repeats: u32,
        /// `.pack::16b`: a register takes 16 bits of two columns.
        pub pack: bool,
        /// Destination.
        pub d: Vec<Reg> as Wanted::BITS,
        /// Where.
        pub address: Address,
        /// Columns to the second half.
        pub split: Option<u32>,
    }

    /// Registers of a warp into tensor memory, asynchronous.
    pub struct Tcgen05Store {
        /// Lanes and bits.
        pub shape: Tcgen05Shape,
        /// How often it is repeated.
        pub repeats: u32,
        /// `.unpack::16b`: a register has 16 bits of two columns.
        pub unpack: bool,
        /// Where.
        pub address: Address,
        /// Columns to the second half.
        pub split: Option<u32>,
        /// Source.
        pub a: Vec<Operand> as Wanted::BITS,
    }

    /// A wait for the warp's loads or stores.
    pub struct Tcgen05Wait {
        /// Whether for loads.
        pub loads: bool,
    }

    /// A fence between accesses to tensor memory and what orders threads.
    pub struct Tcgen05Fence {
        /// Whether what orders threads comes behind it.
        pub before: bool,
    }

    /// Shared into tensor memory, asynchronous.
    pub struct Tcgen05Copy {
        /// Blocks that take part.
        pub group: u32,
        /// Lanes and bits.
        pub shape: Tcgen05CopyShape,
        /// Which lanes have the same.
        pub multicast: Option<Tcgen05Multicast>,
        /// Whether elements of 4 or 6 bits become bytes.
        pub decompresses: bool,
        /// Where to.
        pub address: Address,
        /// Shared memory, by a descriptor, `b64`.
        pub descriptor: Operand as Wanted::LONG,
    }

    /// Scales of both factors.
    pub struct Tcgen05Scales {
        /// Elements of a row that have one scale; None: as the kind has it.
        pub block: Option<u32>,
        /// Of the left factor, in tensor memory.
        pub a: Address,
        /// Of the right factor.
        pub b: Address,
    }

    /// d = a * b + d in tensor memory, asynchronous.
    pub struct Tcgen05Mma {
        /// Blocks that take part.
        pub group: u32,
        /// The types.
        pub kind: Tcgen05Kind,
        /// Of the factors, as far as the kind says it.
        pub element: Type,
        /// `.ws`: the right factor stays.
        pub is_stationary: bool,
        /// `.sp`.
        pub is_sparse: bool,
        /// `.ashift`.
        pub shifts: bool,
        /// The sum.
        pub d: Address,
        /// Left factor.
        pub a: Tcgen05Left,
        /// Right factor, by a descriptor of shared memory, `b64`.
        pub b: Operand as Wanted::LONG,
        /// Types, sizes and layouts: the instruction descriptor, `b32`.
        pub descriptor: Operand as Wanted::WORD,
        /// `.block_scale`.
        pub scales: Option<Tcgen05Scales>,
        /// Lanes of the sum that are left as they are, a bit each.
        pub disabled: Vec<Operand> as Wanted::WORD,
        /// Whether d is added; where false it is only written.
        pub adds: Predicate,
        /// d is divided by 2 to this power before.
        pub scale_d: Option<u32>,
    }

    /// An arrival at an mbarrier when all that the thread has begun in tensor memory is done.
    pub struct Tcgen05Commit {
        /// Blocks that take part.
        pub group: u32,
        /// [`Space::SharedCluster`] or [`Space::Generic`].
        pub space: Space,
        /// The mbarrier.
        pub mbarrier: Address,
        /// `.multicast::cluster`: a mask of blocks, `b16`.
        pub multicast: Option<Operand>,
    }
}
