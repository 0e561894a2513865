//! Instructions.
//!
//! Field names are the manual's: `d` is written, `a`, `b` and `c` are read, `p` is a predicate that
//! is written.

mod asynchronous;
mod compare;
mod control;
mod float;
mod integer;
mod matrix;
mod memory;
mod movement;
mod synchronisation;
mod types;
mod video;
mod visit;
mod wanted;

pub use asynchronous::*;
pub use compare::*;
pub use control::*;
pub use float::*;
pub use integer::*;
pub use matrix::*;
pub use memory::*;
pub use movement::*;
pub use synchronisation::*;
pub use video::*;
pub use visit::Access;

use crate::{Address, Operand, Reg, Span, Symbol};
use integer::{counted, extracted, fragment, moved, shifted};
use visit::word;
pub(crate) use visit::{Named, Visit, operations, wanted};
pub(crate) use wanted::Wanted;

/// An instruction of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Lanes in which it is executed; None: all.
    pub guard: Option<Guard>,
    /// What it does.
    pub operation: Operation,
    /// Where in the source it is from: an index into [`Body::locations`](crate::Body::locations).
    pub location: Option<u32>,
    /// Its line in the PTX text, from 1.
    pub line: u32,
    /// Its bytes in the PTX text, guard and semicolon included.
    pub span: Span,
}

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// A predicate register.
    pub register: Reg,
    /// Whether lanes execute it in which the predicate is false.
    pub negated: bool,
}

impl Instruction {
    /// Calls `visitor` for each register that is written or read, a register as often as it is named.
    /// A write under a guard, or by an instruction that faults, leaves the register of other lanes as it was.
    pub fn visit(&self, mut visitor: impl FnMut(Access, Reg)) {
        if let Some(guard) = self.guard {
            visitor(Access::Use, guard.register);
        }
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Register(access, register, _) = named {
                visitor(access, register);
            }
        });
    }

    /// Calls `visitor` for each variable, parameter and function that is named, a function that is
    /// called directly too.
    pub fn visit_symbols(&self, mut visitor: impl FnMut(Symbol)) {
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Symbol(symbol, _) = named {
                visitor(symbol);
            }
        });
    }

    /// The registers that it writes.
    #[must_use]
    pub fn definitions(&self) -> Vec<Reg> {
        self.accessed(Access::Define)
    }

    /// The registers that it reads: operands, bases of addresses, arguments and the guard.
    #[must_use]
    pub fn uses(&self) -> Vec<Reg> {
        self.accessed(Access::Use)
    }

    /// Whether it goes to a label: `bra` and `brx.idx`.
    #[must_use]
    pub const fn is_branch(&self) -> bool {
        matches!(
            self.operation,
            Operation::Branch(_) | Operation::BranchIndexed(_)
        )
    }

    /// Whether it ends a basic block: a branch, `ret`, `exit` or `trap`.
    #[must_use]
    pub const fn is_terminator(&self) -> bool {
        self.is_branch()
            || matches!(
                self.operation,
                Operation::Ret(_) | Operation::Exit | Operation::Trap
            )
    }

    /// Whether the instruction behind it can be the next: false for an unguarded terminator.
    #[must_use]
    pub const fn falls_through(&self) -> bool {
        !self.is_terminator() || self.guard.is_some()
    }

    /// Its text in `source`, the text that was parsed.
    #[must_use]
    pub fn text<'source>(&self, source: &'source str) -> &'source str {
        source
            .get(self.span.start as usize..self.span.end as usize)
            .unwrap_or_default()
    }

    /// Its opcode with all modifiers in `source`, the text that was parsed: `ld.global.v2.b32`.
    #[must_use]
    pub fn opcode<'source>(&self, source: &'source str) -> &'source str {
        let text = self.text(source);
        let guarded = text
            .strip_prefix('@')
            .and_then(|rest| rest.split_once(char::is_whitespace));
        let text = guarded.map_or(text, |(_, rest)| rest.trim_start());
        let end = text.find(|c: char| c.is_whitespace() || c == ';');
        &text[..end.unwrap_or(text.len())]
    }

    fn accessed(&self, wanted: Access) -> Vec<Reg> {
        let mut registers = Vec::new();
        self.visit(|access, register| {
            if access == wanted {
                registers.push(register);
            }
        });
        registers
    }
}

/// A row per operation: its payload, `in` the types that it takes, `where` a rule holds for its modifiers, `as` the
/// operands that it takes where they are others than its payload's.
macro_rules! operation_enum {
    ($($(#[$doc:meta])* $variant:ident($payload:ty) $(in $types:ident)? $(where $rule:path)? $(as $operands:expr)?,)*;
     $($(#[$unit_doc:meta])* $unit:ident,)*) => {
        /// What an instruction does.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($(#[$doc])* $variant($payload),)*
            $($(#[$unit_doc])* $unit,)*
        }

        impl Visit for Operation {
            fn visit(&self, wanted: Wanted, visitor: &mut dyn FnMut(Named)) {
                match self {
                    $(Self::$variant(payload) => visit_payload!(payload, wanted, visitor, $($operands)?),)*
                    $(Self::$unit => {})*
                }
            }
        }

        impl Operation {
            /// Whether its types and modifiers go together.
            ///
            /// # Errors
            /// Why they do not, for what follows the opcode.
            pub(crate) fn rule(&self) -> Result<(), String> {
                match self {
                    $(Self::$variant(payload) => {
                        let _ = payload;
                        $(types::one_of(payload.ty, types::$types)?;)?
                        $($rule(payload)?;)?
                    })*
                    $(Self::$unit => {})*
                }
                Ok(())
            }
        }
    };
}

macro_rules! visit_payload {
    ($payload:ident, $wanted:ident, $visitor:ident,) => {
        $payload.visit($wanted, $visitor)
    };
    ($payload:ident, $wanted:ident, $visitor:ident, $operands:expr) => {
        $payload.visit_as($operands($payload), $visitor)
    };
}

operation_enum! {
    // Integers.
    /// `add`, `addc` of integers.
    IntegerAdd(IntegerSum) in ADDED where IntegerSum::rule,
    /// `sub`, `subc` of integers.
    IntegerSub(IntegerSum) in INTEGERS where IntegerSum::rule,
    /// `mul.lo`, `.hi`, `.wide`.
    IntegerMul(IntegerMul) in INTEGERS where IntegerMul::rule,
    /// `mad.lo`, `.hi`, `.wide` and `madc`.
    IntegerMad(IntegerMad) in INTEGERS where IntegerMad::rule,
    /// `mul24`.
    Mul24(Mul24) in WORDS where Mul24::rule,
    /// `mad24`.
    Mad24(Mad24) in WORDS where Mad24::rule,
    /// `sad`: c + |a - b|.
    Sad(Ternary) in INTEGERS,
    /// `div` of integers.
    IntegerDiv(Binary) in INTEGERS,
    /// `rem`.
    IntegerRem(Binary) in INTEGERS,
    /// `min` of integers.
    IntegerMin(IntegerMinMax) in COMPARED where IntegerMinMax::rule,
    /// `max` of integers.
    IntegerMax(IntegerMinMax) in COMPARED where IntegerMinMax::rule,
    /// `abs` of integers.
    IntegerAbs(Unary) in SIGNED,
    /// `neg` of integers.
    IntegerNeg(Unary) in SIGNED,
    /// `popc`: `ty` is the source's type, d is 32 bits.
    Popc(Unary) in WIDE_BITS as counted,
    /// `clz`: `ty` is the source's type, d is 32 bits.
    Clz(Unary) in WIDE_BITS as counted,
    /// `brev`.
    Brev(Unary) in WIDE_BITS,
    /// `bfind`.
    Bfind(Bfind) in WIDE_INTEGERS,
    /// `fns`.
    Fns(Fns),
    /// `bfe`: a from bit b on, c bits.
    Bfe(Ternary) in WIDE_INTEGERS as extracted,
    /// `bfi`.
    Bfi(Bfi) in WIDE_BITS,
    /// `szext`.
    Szext(Szext) in WORDS,
    /// `bmsk`.
    Bmsk(Bmsk),
    /// `dp4a`.
    Dp4a(DotProduct) where DotProduct::rule,
    /// `dp2a`.
    Dp2a(DotProduct) where DotProduct::rule,

    // Floating point.
    /// `add` of floats.
    FloatAdd(FloatBinary) in FLOATS where FloatBinary::rule,
    /// `sub` of floats.
    FloatSub(FloatBinary) in FLOATS where FloatBinary::rule,
    /// `mul` of floats.
    FloatMul(FloatBinary) in FLOATS where FloatBinary::rule,
    /// `fma`, and `mad` of floats, which is the same.
    Fma(Fma) in FLOATS where Fma::rule,
    /// `div` of floats.
    FloatDiv(FloatDiv) in PRECISE where FloatDiv::rule,
    /// `min` of floats.
    FloatMin(FloatMinMax) in FLOATS where FloatMinMax::rule,
    /// `max` of floats.
    FloatMax(FloatMinMax) in FLOATS where FloatMinMax::rule,
    /// `abs` of floats.
    FloatAbs(FloatUnary) in FLOATS where FloatUnary::rule,
    /// `neg` of floats.
    FloatNeg(FloatUnary) in FLOATS where FloatUnary::rule,
    /// `rcp`.
    Rcp(FloatRoot) in PRECISE where FloatRoot::reciprocal_rule,
    /// `sqrt`.
    Sqrt(FloatRoot) in PRECISE where FloatRoot::root_rule,
    /// `rsqrt`, always approximate.
    Rsqrt(FloatUnary) in PRECISE,
    /// `sin.approx`.
    Sin(FloatUnary) in SINGLE,
    /// `cos.approx`.
    Cos(FloatUnary) in SINGLE,
    /// `lg2.approx`.
    Lg2(FloatUnary) in SINGLE,
    /// `ex2.approx`.
    Ex2(FloatUnary) in EXPONENTS where FloatUnary::exponent_rule,
    /// `tanh.approx`.
    Tanh(FloatUnary) in TANGENTS where FloatUnary::tangent_rule,
    /// `testp`.
    Testp(Testp) in PRECISE,
    /// `copysign`: the sign of a, the rest of b.
    Copysign(Binary) in PRECISE,

    // Comparison and logic.
    /// `set`.
    Set(Set) where Set::rule,
    /// `setp`.
    Setp(Setp) in COMPARABLE where Setp::rule,
    /// `selp`.
    Selp(Selp) in SELECTED,
    /// `slct`.
    Slct(Slct) in SELECTED where Slct::rule,
    /// `and`.
    And(Binary) in LOGICAL,
    /// `or`.
    Or(Binary) in LOGICAL,
    /// `xor`.
    Xor(Binary) in LOGICAL,
    /// `not`.
    Not(Unary) in LOGICAL,
    /// `cnot`: 1 where a is 0, else 0.
    Cnot(Unary) in BITS,
    /// `lop3`.
    Lop3(Lop3),
    /// `shf`.
    Shf(Shf),
    /// `shl`: b is 32 bits.
    Shl(Binary) in BITS as shifted,
    /// `shr`: b is 32 bits; arithmetic where `ty` is signed.
    Shr(Binary) in SHIFTED as shifted,
    /// `vadd`, `vset4` and the like.
    Video(Box<Video>),

    // Movement.
    /// `mov` of one value.
    Mov(Unary) in MOVED as moved,
    /// `mov` of several values into one register.
    Pack(Pack) in PACKED where Pack::rule,
    /// `mov` of one value into several registers.
    Unpack(Unpack) in PACKED where Unpack::rule,
    /// `mov.v2`, `mov.v4`: value by value.
    MovVector(MovVector) in MOVED,
    /// `shfl` and `shfl.sync`.
    Shfl(Shfl),
    /// `prmt`.
    Prmt(Prmt),
    /// `cvt`.
    Cvt(Cvt) where Cvt::rule,
    /// `cvt.pack`.
    CvtPack(CvtPack),
    /// `cvt.rs` of four values into one register.
    CvtFour(Box<CvtFour>),
    /// `isspacep`.
    Isspacep(Isspacep) where Isspacep::rule,
    /// `cvta`.
    Cvta(Cvta) in ADDRESSES where Cvta::rule,
    /// `mapa`.
    Mapa(Mapa) in WIDE_INTEGERS where Mapa::rule,
    /// `getctarank`.
    Getctarank(Getctarank) in WIDE_INTEGERS where Getctarank::rule,

    // Memory.
    /// `ld` and `ld.global.nc`.
    Ld(Box<Ld>) in STORED where Ld::rule,
    /// `ldu`.
    Ldu(Ldu) in STORED where Ldu::rule,
    /// `st`.
    St(Box<St>) in STORED where St::rule,
    /// `st.async`.
    StAsync(Box<StAsync>),
    /// `red.async`.
    RedAsync(Box<RedAsync>),
    /// `atom`.
    Atom(Box<Atom>) where Atom::rule,
    /// `red`.
    Red(Box<Red>) where Red::rule,
    /// `prefetch`.
    Prefetch(Prefetch) where Prefetch::rule,
    /// `prefetchu.L1`.
    Prefetchu(Address),
    /// `applypriority.L2::evict_normal`.
    ApplyPriority(CacheRange),
    /// `discard.L2`.
    Discard(CacheRange),
    /// `createpolicy`.
    CreatePolicy(Box<CreatePolicy>),
    /// `st.bulk`.
    StBulk(StBulk),

    // Asynchronous copies.
    /// `cp.async`.
    CpAsync(Box<CpAsync>),
    /// `cp.async.wait_group`: at most so many groups are left.
    CpAsyncWaitGroup(u32),
    /// `cp.async.mbarrier.arrive`.
    CpAsyncMbarrierArrive(CpAsyncMbarrierArrive),
    /// `cp.async.bulk`.
    CpAsyncBulk(Box<CpAsyncBulk>),
    /// `cp.reduce.async.bulk`.
    CpReduceAsyncBulk(Box<CpReduceAsyncBulk>),
    /// `cp.async.bulk.prefetch.L2`.
    CpAsyncBulkPrefetch(Box<CpAsyncBulkPrefetch>),
    /// `cp.async.bulk.tensor`, its prefetch and `cp.reduce.async.bulk.tensor`.
    CpAsyncBulkTensor(Box<CpAsyncBulkTensor>),
    /// `cp.async.bulk.wait_group`.
    CpAsyncBulkWaitGroup(CpAsyncBulkWaitGroup),

    // Control.
    /// `bra`.
    Branch(Branch),
    /// `brx.idx`.
    BranchIndexed(BranchIndexed),
    /// `call`.
    Call(Box<Call>),
    /// `ret`.
    Ret(Ret),
    /// `nanosleep`: nanoseconds.
    Nanosleep(Operand) as word,
    /// `pmevent`.
    Pmevent(Pmevent),
    /// `setmaxnreg`.
    Setmaxnreg(Setmaxnreg),
    /// `stacksave`.
    Stacksave(Stacksave) in POINTERS,
    /// `stackrestore`.
    Stackrestore(Stackrestore) in POINTERS,
    /// `alloca`.
    Alloca(Alloca) in POINTERS,

    // Synchronisation.
    /// `bar`, `barrier`.
    Barrier(Barrier),
    /// `bar.warp.sync`: the mask.
    BarrierWarp(Operand) as word,
    /// `barrier.cluster`.
    BarrierCluster(BarrierCluster),
    /// `fence` and `membar`.
    Fence(Fence) where Fence::rule,
    /// `vote` and `vote.sync`.
    Vote(Vote),
    /// `match.sync`.
    Match(Match) in WIDE_BITS,
    /// `activemask`.
    Activemask(Activemask),
    /// `redux.sync`.
    Redux(Redux) where Redux::rule,
    /// `elect.sync`.
    Elect(Elect),
    /// `griddepcontrol`.
    Griddepcontrol(Griddepcontrol),
    /// `mbarrier.init`.
    MbarrierInit(MbarrierInit) where MbarrierInit::rule,
    /// `mbarrier.inval`.
    MbarrierInval(MbarrierInval) where MbarrierInval::rule,
    /// `mbarrier.expect_tx`, `.complete_tx`.
    MbarrierTransaction(MbarrierTransaction),
    /// `mbarrier.arrive`, `.arrive_drop`.
    MbarrierArrive(Box<MbarrierArrive>) where MbarrierArrive::rule,
    /// `mbarrier.test_wait`, `.try_wait`.
    MbarrierWait(Box<MbarrierWait>) where MbarrierWait::rule,
    /// `mbarrier.pending_count`.
    MbarrierPendingCount(MbarrierPendingCount),

    // Matrices.
    /// `wmma.load`.
    WmmaLoad(Box<WmmaLoad>),
    /// `wmma.store`.
    WmmaStore(Box<WmmaStore>),
    /// `wmma.mma`.
    WmmaMma(Box<WmmaMma>),
    /// `mma.sync`, `mma.sp`.
    Mma(Box<Mma>),
    /// `ldmatrix`.
    Ldmatrix(Box<Ldmatrix>),
    /// `stmatrix`.
    Stmatrix(Box<Stmatrix>),
    /// `movmatrix`: `ty` is b16, the matrix 8 by 8, transposed.
    Movmatrix(Unary) as fragment,
    /// `wgmma.mma_async`.
    WgmmaMma(Box<WgmmaMma>),
    /// `wgmma.wait_group`: at most so many groups are left.
    WgmmaWaitGroup(u32),

    /// An instruction that is only taken apart: textures, surfaces, `tcgen05`, `multimem`,
    /// `tensormap` and the like.
    Other(Box<Other>),
    ;
    /// `cp.async.commit_group`.
    CpAsyncCommitGroup,
    /// `cp.async.wait_all`.
    CpAsyncWaitAll,
    /// `cp.async.bulk.commit_group`.
    CpAsyncBulkCommitGroup,
    /// `wgmma.fence`.
    WgmmaFence,
    /// `wgmma.commit_group`.
    WgmmaCommitGroup,
    /// `exit`.
    Exit,
    /// `trap`.
    Trap,
    /// `brkpt`.
    Brkpt,
}
