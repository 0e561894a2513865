//! Asynchronous copies.

use crate::instruction::{Visit, Wanted, operations};
use crate::names::named;
use crate::{Address, AtomicOperator, Operand, Predicate, PrefetchSize, Scope, Space, Type};

named! {
    /// How coordinates of a tensor are taken.
    pub enum TensorMode {
        /// A box.
        Tile = "tile",
        /// Four rows, gathered.
        TileGather4 = "tile::gather4",
        /// Four rows, scattered.
        TileScatter4 = "tile::scatter4",
        /// Columns of a convolution.
        Im2col = "im2col",
        /// Columns of a convolution along the width.
        Im2colW = "im2col::w",
        /// Columns of a convolution along the width, 128 pixels.
        Im2colW128 = "im2col::w::128",
        /// Columns of a convolution, without offsets (stores).
        Im2colNoOffsets = "im2col_no_offs",
    }
}

named! {
    /// A field of a tensor map.
    pub enum TensorMapField {
        /// The address of element 0.
        GlobalAddress = "global_address",
        /// How many dimensions, less one.
        Rank = "rank",
        /// Elements of a box along a dimension.
        BoxDim = "box_dim",
        /// Elements along a dimension.
        GlobalDim = "global_dim",
        /// Bytes from one to the next along a dimension but the first.
        GlobalStride = "global_stride",
        /// Element strides along a dimension.
        ElementStride = "element_stride",
        /// The type of elements, by a number of PTX's own.
        ElementType = "elemtype",
        /// How channels are interleaved.
        Interleave = "interleave_layout",
        /// How bytes change places in shared memory.
        Swizzle = "swizzle_mode",
        /// How many bytes change places together.
        SwizzleAtomicity = "swizzle_atomicity",
        /// The value of elements outside of the tensor.
        Fill = "fill_mode",
    }
}

impl TensorMapField {
    /// Whether there is one for each dimension.
    pub fn is_of_dimension(self) -> bool {
        matches!(
            self,
            Self::BoxDim | Self::GlobalDim | Self::GlobalStride | Self::ElementStride
        )
    }

    /// Whether its value stands in the instruction.
    pub fn is_constant(self) -> bool {
        matches!(
            self,
            Self::ElementType
                | Self::Interleave
                | Self::Swizzle
                | Self::SwizzleAtomicity
                | Self::Fill
        )
    }

    /// The type of its value.
    pub fn ty(self) -> Type {
        match self {
            Self::GlobalAddress | Self::GlobalStride => Type::B64,
            _ => Type::B32,
        }
    }
}

/// How a bulk copy says that it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// It counts its bytes at an mbarrier.
    Mbarrier(Address),
    /// By a group that a thread waits for.
    Group,
}

impl Visit for Completion {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        if let Self::Mbarrier(address) = self {
            address.visit(Wanted::Address, visitor);
        }
    }
}

/// Kind of a tensor copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorCopy {
    /// Global to shared memory.
    Load {
        /// [`Space::Shared`] or [`Space::SharedCluster`].
        space: Space,
        /// Where to.
        destination: Address,
    },
    /// Shared to global memory.
    Store {
        /// Where from.
        source: Address,
    },
    /// Shared to global memory, combined with what is there.
    Reduce {
        /// Where from.
        source: Address,
        /// How.
        operator: AtomicOperator,
    },
    /// Into L2.
    Prefetch,
}

impl Visit for TensorCopy {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        match self {
            Self::Load {
                destination: address,
                ..
            }
            | Self::Store { source: address }
            | Self::Reduce {
                source: address, ..
            } => {
                address.visit(Wanted::Address, visitor);
            }
            Self::Prefetch => {}
        }
    }
}

operations! {
    /// A copy of 4, 8 or 16 bytes from global to shared memory.
    pub struct CpAsync {
        /// `.ca` or `.cg`; it changes no value.
        pub cache: crate::CacheOperator,
        /// `.L2::128B` and the like.
        pub prefetch: Option<PrefetchSize>,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
        /// Where to, shared.
        pub destination: Address,
        /// Where from, global.
        pub source: Address,
        /// Bytes that are written.
        pub size: u32,
        /// Bytes that are read; the rest is zero.
        pub source_size: Option<Operand> as Wanted::WORD,
        /// Where it is true nothing is read and all is zero.
        pub ignore_source: Option<Predicate>,
    }

    /// A copy of many bytes.
    pub struct CpAsyncBulk {
        /// [`Space::Shared`], [`Space::SharedCluster`] or [`Space::Global`].
        pub destination_space: Space,
        /// [`Space::Shared`] or [`Space::Global`].
        pub source_space: Space,
        /// Where to.
        pub destination: Address,
        /// Where from.
        pub source: Address,
        /// Bytes, a multiple of 16.
        pub size: Operand as Wanted::WORD,
        /// How it says that it is done.
        pub completion: Completion,
        /// `.multicast::cluster`: a mask of blocks.
        pub multicast: Option<Operand> as Wanted::Exactly(Type::B16),
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
        /// `.cp_mask`: which of 16 bytes are written.
        pub byte_mask: Option<Operand> as Wanted::Exactly(Type::B16),
    }

    /// A copy of many elements that combines them with those at the destination.
    pub struct CpReduceAsyncBulk {
        /// [`Space::SharedCluster`] or [`Space::Global`].
        pub destination_space: Space,
        /// [`Space::Shared`].
        pub source_space: Space,
        /// How.
        pub operator: AtomicOperator,
        /// Of an element.
        pub ty: Type,
        /// `.noftz`.
        pub noftz: bool,
        /// Where to.
        pub destination: Address,
        /// Where from.
        pub source: Address,
        /// Bytes, a multiple of 16.
        pub size: Operand as Wanted::WORD,
        /// How it says that it is done.
        pub completion: Completion,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
    }

    /// A hint to fetch many bytes into L2.
    pub struct CpAsyncBulkPrefetch {
        /// Where from, global.
        pub source: Address,
        /// Bytes, a multiple of 16.
        pub size: Operand as Wanted::WORD,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
    }

    /// A copy of a part of a tensor.
    pub struct CpAsyncBulkTensor {
        /// The copy.
        pub copy: TensorCopy,
        /// 1 to 5.
        pub dimensions: u8,
        /// How coordinates are taken.
        pub mode: TensorMode,
        /// The tensor's descriptor.
        pub tensor_map: Address,
        /// Innermost first.
        pub coordinates: Vec<Operand> as Wanted::WORD,
        /// `im2col`: offsets, or the width's half and offset.
        pub offsets: Vec<Operand> as Wanted::Exactly(Type::B16),
        /// How it says that it is done; None for a prefetch.
        pub completion: Option<Completion>,
        /// `.multicast::cluster`: a mask of blocks.
        pub multicast: Option<Operand> as Wanted::Exactly(Type::B16),
        /// `.cta_group::1`, `::2`.
        pub block_group: Option<u32>,
        /// `.L2::cache_hint`.
        pub policy: Option<Operand> as Wanted::LONG,
    }

    /// Another value for a field of a tensor map.
    pub struct TensorMapReplace {
        /// [`Space::Global`], [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// The field.
        pub field: TensorMapField,
        /// The tensor map.
        pub tensor_map: Address,
        /// Of a field that each dimension has.
        pub dimension: Option<u32>,
        /// The value, of the field's type.
        pub value: Operand as Wanted::Exactly(field.ty()),
    }

    /// A copy of a tensor map by a warp, and a fence after which others use it.
    pub struct TensorMapCopy {
        /// Where to, global.
        pub destination: Address,
        /// Where from, shared.
        pub source: Address,
        /// Among which threads the fence holds.
        pub scope: Scope,
    }
}
