//! What sort of instruction it is.

use std::fmt;

use ptx::{Operation, Shape, Type};

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $name:literal,)*) => {
        /// What an instruction does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $class,)* }

        impl Class {
            /// All of them.
            pub const ALL: &[Class] = &[$(Class::$class),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Class::$class => $name),* }
            }
        }
    };
}

classes! {
    /// A product and a sum of floating point.
    Fma = "fma",
    /// A sum or a difference of floating point.
    Add = "add",
    /// A product of floating point.
    Multiply = "multiply",
    /// A quotient, a root or a function of floating point.
    Special = "special",
    /// A product of matrices.
    Tensor = "tensor",
    /// Arithmetic on integers.
    Integer = "integer",
    /// Bits, signs, shifts.
    Logic = "logic",
    /// From one type to another.
    Convert = "convert",
    /// From register to register.
    Move = "move",
    /// Comparisons, selections, the smaller and the larger.
    Compare = "compare",
    /// From memory.
    Load = "load",
    /// To memory.
    Store = "store",
    /// Changes of memory that nobody interrupts.
    Atomic = "atomic",
    /// From memory to memory.
    Copy = "copy",
    /// Branches, returns, ends.
    Control = "control",
    /// Calls, of functions of the driver too.
    Call = "call",
    /// Where threads wait for each other.
    Barrier = "barrier",
    /// The order of accesses, and waiting for copies.
    Fence = "fence",
    /// What lanes of a warp tell each other: shuffles, votes, matches, reductions.
    Shuffle = "shuffle",
    /// The rest.
    Other = "other",
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// What is known of an operation without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) class: Class,
    pub(super) element: Option<Type>,
    /// Operations of arithmetic in each thread.
    pub(super) operations: u32,
}

impl Sort {
    pub(super) fn of(operation: &Operation) -> Sort {
        float(operation)
            .or_else(|| integer(operation))
            .or_else(|| data(operation))
            .or_else(|| memory(operation))
            .unwrap_or_else(|| together(operation))
    }
}

fn sort(class: Class, element: impl Into<Option<Type>>, operations: u32) -> Sort {
    Sort {
        class,
        element: element.into(),
        operations,
    }
}

/// How many values of floating point a register of this type holds.
fn packed(ty: Type) -> u32 {
    match ty {
        Type::F16x2 | Type::Bf16x2 | Type::F32x2 => 2,
        _ => 1,
    }
}

fn float(operation: &Operation) -> Option<Sort> {
    use Operation::{
        Cos, Ex2, FloatAbs, FloatAdd, FloatDiv, FloatMax, FloatMin, FloatMul, FloatNeg, FloatSub,
        Fma, Lg2, Rcp, Rsqrt, Sin, Sqrt, Tanh, Testp,
    };
    let of = |class, ty: Type, each| Some(sort(class, ty, each * packed(ty)));
    match operation {
        Fma(it) => of(Class::Fma, it.ty, 2),
        FloatAdd(it) | FloatSub(it) => of(Class::Add, it.ty, 1),
        FloatMul(it) => of(Class::Multiply, it.ty, 1),
        FloatDiv(it) => of(Class::Special, it.ty, 1),
        Rcp(it) | Sqrt(it) => of(Class::Special, it.ty, 1),
        Rsqrt(it) | Sin(it) | Cos(it) | Lg2(it) | Ex2(it) | Tanh(it) => {
            of(Class::Special, it.ty, 1)
        }
        FloatMin(it) | FloatMax(it) => of(Class::Compare, it.ty, 0),
        FloatAbs(it) | FloatNeg(it) => of(Class::Logic, it.ty, 0),
        Testp(it) => of(Class::Compare, it.ty, 0),
        Operation::Mma(it) => Some(product(it.shape, it.a_type, 32)),
        Operation::WmmaMma(it) => Some(product(it.shape, it.a_type, 32)),
        Operation::WgmmaMma(it) => Some(product(it.shape, it.a_type, 128)),
        _ => None,
    }
}

/// A product of matrices by so many threads.
fn product(shape: Shape, element: Type, threads: u32) -> Sort {
    let operations = 2 * shape.m * shape.n * shape.k / threads;
    sort(Class::Tensor, element, operations)
}

fn integer(operation: &Operation) -> Option<Sort> {
    use Operation::{
        Bfind, Clz, Dp2a, Dp4a, IntegerAbs, IntegerAdd, IntegerDiv, IntegerMad, IntegerMax,
        IntegerMin, IntegerMul, IntegerNeg, IntegerRem, IntegerSub, Mad24, Mul24, Popc, Sad,
    };
    let of = |ty: Type, operations| Some(sort(Class::Integer, ty, operations));
    match operation {
        IntegerAdd(it) | IntegerSub(it) => of(it.ty, 1),
        IntegerMul(it) => of(it.ty, 1),
        Mul24(it) => of(it.ty, 1),
        IntegerMad(it) => of(it.ty, 2),
        Mad24(it) => of(it.ty, 2),
        Sad(it) => of(it.ty, 2),
        IntegerDiv(it) | IntegerRem(it) => of(it.ty, 1),
        IntegerAbs(it) | IntegerNeg(it) | Popc(it) | Clz(it) => of(it.ty, 1),
        Bfind(it) => of(it.ty, 1),
        Dp4a(it) => of(it.a_type, 8),
        Dp2a(it) => of(it.a_type, 4),
        IntegerMin(it) | IntegerMax(it) => Some(sort(Class::Compare, it.ty, 0)),
        _ => None,
    }
}

fn data(operation: &Operation) -> Option<Sort> {
    use Operation::{
        And, Bfe, Bfi, Bmsk, Brev, Cnot, Copysign, Cvt, CvtPack, Cvta, Fns, Getctarank, Isspacep,
        Lop3, Mapa, Mov, MovVector, Not, Or, Pack, Prmt, Selp, Set, Setp, Shf, Shl, Shr, Slct,
        Szext, Unpack, Xor,
    };
    Some(match operation {
        And(it) | Or(it) | Xor(it) | Shl(it) | Shr(it) | Copysign(it) => {
            sort(Class::Logic, it.ty, 0)
        }
        Not(it) | Cnot(it) | Brev(it) => sort(Class::Logic, it.ty, 0),
        Bfe(it) => sort(Class::Logic, it.ty, 0),
        Bfi(it) => sort(Class::Logic, it.ty, 0),
        Szext(it) => sort(Class::Logic, it.ty, 0),
        Lop3(_) | Shf(_) | Bmsk(_) | Fns(_) | Prmt(_) => sort(Class::Logic, Type::B32, 0),
        Set(it) => sort(Class::Compare, it.source, 0),
        Setp(it) => sort(Class::Compare, it.ty, 0),
        Selp(it) => sort(Class::Compare, it.ty, 0),
        Slct(it) => sort(Class::Compare, it.ty, 0),
        Mov(it) => sort(Class::Move, it.ty, 0),
        Pack(it) => sort(Class::Move, it.ty, 0),
        Unpack(it) => sort(Class::Move, it.ty, 0),
        MovVector(it) => sort(Class::Move, it.ty, 0),
        Cvt(it) => sort(Class::Convert, it.to, 0),
        CvtPack(it) => sort(Class::Convert, it.to, 0),
        Cvta(it) => sort(Class::Convert, it.ty, 0),
        Mapa(it) => sort(Class::Convert, it.ty, 0),
        Getctarank(it) => sort(Class::Convert, it.ty, 0),
        Isspacep(_) => sort(Class::Compare, None, 0),
        _ => return None,
    })
}

fn memory(operation: &Operation) -> Option<Sort> {
    use Operation::{
        Atom, CpAsync, CpAsyncBulk, CpAsyncBulkTensor, CpReduceAsyncBulk, Ld, Ldmatrix, Ldu, Red,
        RedAsync, St, StAsync, Stmatrix, WmmaLoad, WmmaStore,
    };
    Some(match operation {
        Ld(it) => sort(Class::Load, it.ty, 0),
        Ldu(it) => sort(Class::Load, it.ty, 0),
        Ldmatrix(_) | WmmaLoad(_) => sort(Class::Load, None, 0),
        St(it) => sort(Class::Store, it.ty, 0),
        StAsync(it) => sort(Class::Store, it.ty, 0),
        Stmatrix(_) | WmmaStore(_) => sort(Class::Store, None, 0),
        Atom(it) => sort(Class::Atomic, it.ty, 0),
        Red(it) => sort(Class::Atomic, it.ty, 0),
        RedAsync(it) => sort(Class::Atomic, it.ty, 0),
        CpAsync(_) | CpAsyncBulk(_) | CpReduceAsyncBulk(_) | CpAsyncBulkTensor(_) => {
            sort(Class::Copy, None, 0)
        }
        _ => return None,
    })
}

fn together(operation: &Operation) -> Sort {
    use Operation::{
        Activemask, Barrier, BarrierCluster, BarrierWarp, Branch, BranchIndexed, Brkpt, Call,
        CpAsyncBulkCommitGroup, CpAsyncBulkWaitGroup, CpAsyncCommitGroup, CpAsyncWaitAll,
        CpAsyncWaitGroup, Elect, Exit, Fence, Match, MbarrierArrive, MbarrierWait, Movmatrix,
        Redux, Ret, Shfl, Trap, Vote, WgmmaCommitGroup, WgmmaFence, WgmmaWaitGroup,
    };
    let (class, element) = match operation {
        Branch(_) | BranchIndexed(_) | Ret(_) | Exit | Trap | Brkpt => (Class::Control, None),
        Call(_) => (Class::Call, None),
        Barrier(_) | BarrierWarp(_) | BarrierCluster(_) | MbarrierArrive(_) | MbarrierWait(_) => {
            (Class::Barrier, None)
        }
        Fence(_)
        | CpAsyncCommitGroup
        | CpAsyncWaitGroup(_)
        | CpAsyncWaitAll
        | CpAsyncBulkCommitGroup
        | CpAsyncBulkWaitGroup(_)
        | WgmmaFence
        | WgmmaCommitGroup
        | WgmmaWaitGroup(_) => (Class::Fence, None),
        Shfl(_) | Vote(_) | Activemask(_) | Elect(_) => (Class::Shuffle, Some(Type::B32)),
        Match(it) => (Class::Shuffle, Some(it.ty)),
        Redux(it) => (Class::Shuffle, Some(it.ty)),
        Movmatrix(it) => (Class::Shuffle, Some(it.ty)),
        _ => (Class::Other, None),
    };
    sort(class, element, 0)
}
