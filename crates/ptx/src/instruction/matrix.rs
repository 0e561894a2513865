//! Matrices spread over a warp or four.

use crate::instruction::{Visit, Wanted, operations};
use crate::names::named;
use crate::{Access, Address, Operand, Predicate, Reg, Rounding, Space, Type};

/// `m16n8k16`: a is m by k, b is k by n, c and d are m by n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows of a, c and d.
    pub m: u32,
    /// Columns of b, c and d.
    pub n: u32,
    /// Columns of a, rows of b; 0 where the shape has none.
    pub k: u32,
}

named! {
    /// How a matrix lies.
    pub enum Layout {
        /// A row's elements are adjacent.
        Row = "row",
        /// A column's elements are adjacent.
        Column = "col",
    }
}

named! {
    /// Which matrix of d = a * b + c.
    pub enum Fragment {
        /// The left factor.
        A = "a",
        /// The right factor.
        B = "b",
        /// The addend.
        C = "c",
        /// The result.
        D = "d",
    }
}

named! {
    /// The operator in place of the product of single bits; their sum is a count.
    pub enum BitOperator {
        /// Exclusive or.
        Xor = "xor",
        /// And.
        And = "and",
    }
}

named! {
    /// `.kind::` of an `mma`.
    pub enum MmaKind {
        /// 8, 6 and 4 bit floats in bytes.
        F8f6f4 = "f8f6f4",
        /// The same, scaled.
        Mxf8f6f4 = "mxf8f6f4",
        /// 4 bit floats, scaled.
        Mxf4 = "mxf4",
        /// 4 bit floats, scaled more finely.
        Mxf4nvf4 = "mxf4nvf4",
    }
}

named! {
    /// How elements narrower than a byte lie in memory.
    pub enum PackedFormat {
        /// 16 of 6 bits, 32 bits of padding.
        B6x16P32 = "b6x16_p32",
        /// 16 of 4 bits, 64 bits of padding.
        B4x16P64 = "b4x16_p64",
    }
}

/// The left factor of `wgmma`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WgmmaSource {
    /// Registers.
    Registers(Vec<Operand>),
    /// Shared memory, by a descriptor, `b64`.
    Descriptor(Operand),
}

impl Visit for Shape {
    fn visit(&self, _: crate::instruction::Wanted, _: &mut dyn FnMut(crate::instruction::Named)) {}
}

impl Visit for WgmmaSource {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        match self {
            Self::Registers(registers) => registers.visit(Wanted::Any, visitor),
            Self::Descriptor(descriptor) => descriptor.visit(Wanted::LONG, visitor),
        }
    }
}

/// A register that is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accumulator(pub Reg);

impl Visit for Accumulator {
    fn visit(
        &self,
        _: crate::instruction::Wanted,
        visitor: &mut dyn FnMut(crate::instruction::Named),
    ) {
        visitor(crate::instruction::Named::Register(
            Access::Use,
            self.0,
            Wanted::Any,
        ));
        visitor(crate::instruction::Named::Register(
            Access::Define,
            self.0,
            Wanted::Any,
        ));
    }
}

operations! {
    /// Which elements of a sparse left factor are there.
    pub struct Sparsity {
        /// `::ordered_metadata`.
        pub ordered: bool,
        /// Their positions, `b32`.
        pub metadata: Operand,
        /// Which lanes have the positions.
        pub selector: Operand,
    }

    /// Scales of one factor.
    pub struct Scale {
        /// The scales, `b32`.
        pub data: Operand,
        /// Which byte.
        pub byte_id: Operand,
        /// Which lanes.
        pub thread_id: Operand,
    }

    /// `.block_scale`.
    pub struct BlockScale {
        /// `.scale_vec::1X`, `2X`, `4X`: how many scales a row.
        pub vector: Option<u32>,
        /// `ue8m0` or `ue4m3`.
        pub ty: Type,
        /// Of the left factor.
        pub a: Scale,
        /// Of the right factor.
        pub b: Scale,
    }

    /// A product of the warp's registers.
    pub struct Mma {
        /// Sizes.
        pub shape: Shape,
        /// How a lies.
        pub a_layout: Layout,
        /// How b lies.
        pub b_layout: Layout,
        /// Of d.
        pub d_type: Type,
        /// Of a.
        pub a_type: Type,
        /// Of b.
        pub b_type: Type,
        /// Of c.
        pub c_type: Type,
        /// `.satfinite`: integers saturate.
        pub saturate: bool,
        /// Of single bits.
        pub bits: Option<BitOperator>,
        /// `.kind::`.
        pub kind: Option<MmaKind>,
        /// `.sp`.
        pub sparsity: Option<Sparsity>,
        /// `.block_scale`.
        pub scale: Option<BlockScale>,
        /// Result.
        pub d: Vec<Reg>,
        /// Left factor.
        pub a: Vec<Operand>,
        /// Right factor.
        pub b: Vec<Operand>,
        /// The addend.
        pub c: Vec<Operand>,
    }

    /// A matrix from memory, spread over the warp as the device likes.
    pub struct WmmaLoad {
        /// Which.
        pub fragment: Fragment,
        /// How it lies.
        pub layout: Layout,
        /// Sizes.
        pub shape: Shape,
        /// Where from.
        pub space: Space,
        /// Of an element.
        pub ty: Type,
        /// Result.
        pub d: Vec<Reg>,
        /// Where.
        pub address: Address,
        /// Elements from row to row (or column to column); None: they are adjacent.
        pub stride: Option<Operand>,
    }

    /// A matrix to memory.
    pub struct WmmaStore {
        /// How it lies.
        pub layout: Layout,
        /// Sizes.
        pub shape: Shape,
        /// Where to.
        pub space: Space,
        /// Of an element.
        pub ty: Type,
        /// Where.
        pub address: Address,
        /// Source.
        pub a: Vec<Operand>,
        /// Elements from row to row (or column to column); None: they are adjacent.
        pub stride: Option<Operand>,
    }

    /// A product of what `wmma.load` gave.
    pub struct WmmaMma {
        /// How a lies.
        pub a_layout: Layout,
        /// How b lies.
        pub b_layout: Layout,
        /// Sizes.
        pub shape: Shape,
        /// Of d.
        pub d_type: Type,
        /// Of a.
        pub a_type: Type,
        /// Of b.
        pub b_type: Type,
        /// Of c.
        pub c_type: Type,
        /// Of `f64`.
        pub rounding: Option<Rounding>,
        /// `.satfinite`.
        pub saturate: bool,
        /// Of single bits.
        pub bits: Option<BitOperator>,
        /// Result.
        pub d: Vec<Reg>,
        /// Left factor.
        pub a: Vec<Operand>,
        /// Right factor.
        pub b: Vec<Operand>,
        /// The addend.
        pub c: Vec<Operand>,
    }

    /// Matrices from shared memory, spread over the warp as `mma` wants them.
    pub struct Ldmatrix {
        /// Sizes: 8 by 8, 8 by 16 or 16 by 16; `k` is 0.
        pub shape: Shape,
        /// `.trans`.
        pub transposed: bool,
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// `b16` or `b8`.
        pub ty: Type,
        /// Of narrow elements.
        pub format: Option<PackedFormat>,
        /// Results.
        pub d: Vec<Reg> as Wanted::BITS,
        /// How many matrices: 1, 2 or 4.
        pub count: u8,
        /// Where.
        pub address: Address,
    }

    /// Matrices to shared memory.
    pub struct Stmatrix {
        /// Sizes: 8 by 8 or 16 by 8; `k` is 0.
        pub shape: Shape,
        /// `.trans`.
        pub transposed: bool,
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space,
        /// `b16` or `b8`.
        pub ty: Type,
        /// Where.
        pub address: Address,
        /// How many matrices: 1, 2 or 4.
        pub count: u8,
        /// Sources.
        pub a: Vec<Operand> as Wanted::BITS,
    }

    /// d = a * b + d of four warps, asynchronous.
    pub struct WgmmaMma {
        /// Sizes.
        pub shape: Shape,
        /// Of d.
        pub d_type: Type,
        /// Of a.
        pub a_type: Type,
        /// Of b.
        pub b_type: Type,
        /// `.satfinite`: integers saturate.
        pub saturate: bool,
        /// Of single bits.
        pub bits: Option<BitOperator>,
        /// `.sp`.
        pub sparsity: Option<Sparsity>,
        /// Result and what is added.
        pub d: Vec<Accumulator>,
        /// Left factor.
        pub a: WgmmaSource,
        /// Right factor, by a descriptor of shared memory, `b64`.
        pub b: Operand,
        /// Whether d is added; where false it is only written.
        pub scale_d: Predicate,
        /// 1, or -1: a is negated.
        pub scale_a: i64,
        /// 1, or -1: b is negated.
        pub scale_b: i64,
        /// Whether a lies by columns.
        pub transpose_a: bool,
        /// Whether b lies by rows.
        pub transpose_b: bool,
    }
}

impl Shape {
    /// Operations of each of so many threads.
    const fn operations(self, threads: u32) -> u32 {
        2 * self.m * self.n * self.k / threads
    }
}

impl Mma {
    pub(super) const fn operations(&self) -> u32 {
        self.shape.operations(32)
    }
}

impl WmmaMma {
    pub(super) const fn operations(&self) -> u32 {
        self.shape.operations(32)
    }
}

impl WgmmaMma {
    pub(super) const fn operations(&self) -> u32 {
        self.shape.operations(128)
    }
}
