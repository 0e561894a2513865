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
mod video;
mod visit;

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
pub(crate) use visit::{Named, Visit, operations};

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
        self.operation.visit(&mut |named| {
            if let Named::Register(access, register) = named {
                visitor(access, register);
            }
        });
    }

    /// Calls `visitor` for each variable, parameter and function that is named, a function that is
    /// called directly too.
    pub fn visit_symbols(&self, mut visitor: impl FnMut(Symbol)) {
        self.operation.visit(&mut |named| {
            if let Named::Symbol(symbol) = named {
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

macro_rules! operation_enum {
    ($($(#[$doc:meta])* $variant:ident($payload:ty),)*; $($(#[$unit_doc:meta])* $unit:ident,)*) => {
        /// What an instruction does.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $($(#[$doc])* $variant($payload),)*
            $($(#[$unit_doc])* $unit,)*
        }

        impl Visit for Operation {
            fn visit(&self, visitor: &mut dyn FnMut(Named)) {
                match self {
                    $(Self::$variant(payload) => payload.visit(visitor),)*
                    $(Self::$unit => {})*
                }
            }
        }
    };
}

operation_enum! {
    // Integers.
    /// `add`, `addc` of integers.
    IntegerAdd(IntegerSum),
    /// `sub`, `subc` of integers.
    IntegerSub(IntegerSum),
    /// `mul.lo`, `.hi`, `.wide`.
    IntegerMul(IntegerMul),
    /// `mad.lo`, `.hi`, `.wide` and `madc`.
    IntegerMad(IntegerMad),
    /// `mul24`.
    Mul24(Mul24),
    /// `mad24`.
    Mad24(Mad24),
    /// `sad`: c + |a - b|.
    Sad(Ternary),
    /// `div` of integers.
    IntegerDiv(Binary),
    /// `rem`.
    IntegerRem(Binary),
    /// `min` of integers.
    IntegerMin(IntegerMinMax),
    /// `max` of integers.
    IntegerMax(IntegerMinMax),
    /// `abs` of integers.
    IntegerAbs(Unary),
    /// `neg` of integers.
    IntegerNeg(Unary),
    /// `popc`: `ty` is the source's type, d is 32 bits.
    Popc(Unary),
    /// `clz`: `ty` is the source's type, d is 32 bits.
    Clz(Unary),
    /// `brev`.
    Brev(Unary),
    /// `bfind`.
    Bfind(Bfind),
    /// `fns`.
    Fns(Fns),
    /// `bfe`: a from bit b on, c bits.
    Bfe(Ternary),
    /// `bfi`.
    Bfi(Bfi),
    /// `szext`.
    Szext(Szext),
    /// `bmsk`.
    Bmsk(Bmsk),
    /// `dp4a`.
    Dp4a(DotProduct),
    /// `dp2a`.
    Dp2a(DotProduct),

    // Floating point.
    /// `add` of floats.
    FloatAdd(FloatBinary),
    /// `sub` of floats.
    FloatSub(FloatBinary),
    /// `mul` of floats.
    FloatMul(FloatBinary),
    /// `fma`, and `mad` of floats, which is the same.
    Fma(Fma),
    /// `div` of floats.
    FloatDiv(FloatDiv),
    /// `min` of floats.
    FloatMin(FloatMinMax),
    /// `max` of floats.
    FloatMax(FloatMinMax),
    /// `abs` of floats.
    FloatAbs(FloatUnary),
    /// `neg` of floats.
    FloatNeg(FloatUnary),
    /// `rcp`.
    Rcp(FloatRoot),
    /// `sqrt`.
    Sqrt(FloatRoot),
    /// `rsqrt`, always approximate.
    Rsqrt(FloatUnary),
    /// `sin.approx`.
    Sin(FloatUnary),
    /// `cos.approx`.
    Cos(FloatUnary),
    /// `lg2.approx`.
    Lg2(FloatUnary),
    /// `ex2.approx`.
    Ex2(FloatUnary),
    /// `tanh.approx`.
    Tanh(FloatUnary),
    /// `testp`.
    Testp(Testp),
    /// `copysign`: the sign of a, the rest of b.
    Copysign(Binary),

    // Comparison and logic.
    /// `set`.
    Set(Set),
    /// `setp`.
    Setp(Setp),
    /// `selp`.
    Selp(Selp),
    /// `slct`.
    Slct(Slct),
    /// `and`.
    And(Binary),
    /// `or`.
    Or(Binary),
    /// `xor`.
    Xor(Binary),
    /// `not`.
    Not(Unary),
    /// `cnot`: 1 where a is 0, else 0.
    Cnot(Unary),
    /// `lop3`.
    Lop3(Lop3),
    /// `shf`.
    Shf(Shf),
    /// `shl`: b is 32 bits.
    Shl(Binary),
    /// `shr`: b is 32 bits; arithmetic where `ty` is signed.
    Shr(Binary),
    /// `vadd`, `vset4` and the like.
    Video(Box<Video>),

    // Movement.
    /// `mov` of one value.
    Mov(Unary),
    /// `mov` of several values into one register.
    Pack(Pack),
    /// `mov` of one value into several registers.
    Unpack(Unpack),
    /// `mov.v2`, `mov.v4`: value by value.
    MovVector(MovVector),
    /// `shfl` and `shfl.sync`.
    Shfl(Shfl),
    /// `prmt`.
    Prmt(Prmt),
    /// `cvt`.
    Cvt(Cvt),
    /// `cvt.pack`.
    CvtPack(CvtPack),
    /// `cvt.rs` of four values into one register.
    CvtFour(Box<CvtFour>),
    /// `isspacep`.
    Isspacep(Isspacep),
    /// `cvta`.
    Cvta(Cvta),
    /// `mapa`.
    Mapa(Mapa),
    /// `getctarank`.
    Getctarank(Getctarank),

    // Memory.
    /// `ld` and `ld.global.nc`.
    Ld(Box<Ld>),
    /// `ldu`.
    Ldu(Ldu),
    /// `st`.
    St(Box<St>),
    /// `st.async`.
    StAsync(Box<StAsync>),
    /// `red.async`.
    RedAsync(Box<RedAsync>),
    /// `atom`.
    Atom(Box<Atom>),
    /// `red`.
    Red(Box<Red>),
    /// `prefetch`.
    Prefetch(Prefetch),
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
    Nanosleep(Operand),
    /// `pmevent`.
    Pmevent(Pmevent),
    /// `setmaxnreg`.
    Setmaxnreg(Setmaxnreg),
    /// `stacksave`.
    Stacksave(Stacksave),
    /// `stackrestore`.
    Stackrestore(Stackrestore),
    /// `alloca`.
    Alloca(Alloca),

    // Synchronisation.
    /// `bar`, `barrier`.
    Barrier(Barrier),
    /// `bar.warp.sync`: the mask.
    BarrierWarp(Operand),
    /// `barrier.cluster`.
    BarrierCluster(BarrierCluster),
    /// `fence` and `membar`.
    Fence(Fence),
    /// `vote` and `vote.sync`.
    Vote(Vote),
    /// `match.sync`.
    Match(Match),
    /// `activemask`.
    Activemask(Activemask),
    /// `redux.sync`.
    Redux(Redux),
    /// `elect.sync`.
    Elect(Elect),
    /// `griddepcontrol`.
    Griddepcontrol(Griddepcontrol),
    /// `mbarrier.init`.
    MbarrierInit(MbarrierInit),
    /// `mbarrier.inval`.
    MbarrierInval(MbarrierInval),
    /// `mbarrier.expect_tx`, `.complete_tx`.
    MbarrierTransaction(MbarrierTransaction),
    /// `mbarrier.arrive`, `.arrive_drop`.
    MbarrierArrive(Box<MbarrierArrive>),
    /// `mbarrier.test_wait`, `.try_wait`.
    MbarrierWait(Box<MbarrierWait>),
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
    Movmatrix(Unary),
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
