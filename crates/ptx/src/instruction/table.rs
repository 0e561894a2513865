//! The table of instructions: a row states all that is known of one without its operands. [`isa!`] explains its columns.

use super::*;
use crate::{Predicate, Space};

isa! {
rows {
    // Integers.
    /// `add`, `addc` of integers.
    IntegerAdd(IntegerSum) = "add" if is_integer | "addc", by Parser::integer_sum, in ADDED, where IntegerSum::rule,
        class Integer of .ty counts 1, pure if IntegerSum::is_pure;
    /// `sub`, `subc` of integers.
    IntegerSub(IntegerSum) = "sub" if is_integer | "subc", by Parser::integer_sum, in INTEGERS, where IntegerSum::rule,
        class Integer of .ty counts 1, pure if IntegerSum::is_pure;
    /// `mul.lo`, `.hi`, `.wide`.
    IntegerMul(IntegerMul) = "mul" if is_integer, in INTEGERS, where IntegerMul::rule, class Integer of .ty counts 1, pure;
    /// `mad.lo`, `.hi`, `.wide` and `madc`.
    IntegerMad(IntegerMad) = "mad" if is_integer | "madc", by Parser::integer_mad, in INTEGERS, where IntegerMad::rule,
        class Integer of .ty counts 2, pure if IntegerMad::is_pure;
    /// `mul24`: a product of the lower 24 bits: bits 0 to 31 of the 48, or 16 to 47.
    Mul24 {
        /// `u32` or `s32`.
        pub ty: Type,
        /// [`Half::Lo`] or [`Half::Hi`].
        pub half: Half,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First factor.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second factor.
        pub b: Operand as Wanted::Exactly(*ty),
    } = "mul24", in WORDS, where Mul24::rule, class Integer of .ty counts 1, pure;
    /// `mad24`: a product of the lower 24 bits and a sum.
    Mad24 {
        /// `u32` or `s32`.
        pub ty: Type,
        /// [`Half::Lo`] or [`Half::Hi`].
        pub half: Half,
        /// `.sat` (of `.hi.s32`).
        pub saturate: bool = "sat",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// First factor.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Second factor.
        pub b: Operand as Wanted::Exactly(*ty),
        /// The addend.
        pub c: Operand as Wanted::Exactly(*ty),
    } = "mad24", in WORDS, where Mad24::rule, class Integer of .ty counts 2, pure;
    /// `sad`: c + |a - b|.
    Sad(Ternary) = "sad", in INTEGERS, class Integer of .ty counts 2, pure;
    /// `div` of integers.
    IntegerDiv(Binary) = "div" if is_integer, in INTEGERS, class Integer of .ty counts 1, pure;
    /// `rem`.
    IntegerRem(Binary) = "rem", in INTEGERS, class Integer of .ty counts 1, pure;
    /// `min` of integers.
    IntegerMin(IntegerMinMax) = "min" if is_integer, in COMPARED, where IntegerMinMax::rule, class Compare of .ty, pure;
    /// `max` of integers.
    IntegerMax(IntegerMinMax) = "max" if is_integer, in COMPARED, where IntegerMinMax::rule, class Compare of .ty, pure;
    /// `abs` of integers.
    IntegerAbs(Unary) = "abs" if is_integer, in SIGNED, class Integer of .ty counts 1, pure;
    /// `neg` of integers.
    IntegerNeg(Unary) = "neg" if is_integer, in SIGNED, class Integer of .ty counts 1, pure;
    /// `popc`: `ty` is the source's type, d is 32 bits.
    Popc(Count) = "popc", in WIDE_BITS, class Integer of .ty counts 1, pure;
    /// `clz`: `ty` is the source's type, d is 32 bits.
    Clz(Count) = "clz", in WIDE_BITS, class Integer of .ty counts 1, pure;
    /// `brev`.
    Brev(Unary) = "brev", in WIDE_BITS, class Logic of .ty, pure;
    /// `bfind`: the position of the most significant bit that is not the sign's.
    Bfind {
        /// Of a; d is `u32`.
        pub ty: Type,
        /// `.shiftamt`: how far to shift left to bring it to the top.
        pub shift_amount: bool = "shiftamt",
        /// Destination; all bits set where there is none.
        pub d: Reg as Wanted::WORD,
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    } = "bfind", in WIDE_INTEGERS, class Integer of .ty counts 1, pure;
    /// `fns`: the n-th set bit of a mask.
    Fns {
        /// Destination; all bits set where there is none.
        pub d: Reg as Wanted::BITS,
        /// The mask, `b32`.
        pub mask: Operand as Wanted::WORD,
        /// The bit to begin at, `b32`.
        pub base: Operand as Wanted::WORD,
        /// Which one, `s32`.
        pub offset: Operand as Wanted::WORD,
    } = "fns".b32, class Logic of B32, pure;
    /// `bfe`: a from bit b on, c bits.
    Bfe {
        /// Of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// First bit, `u32`.
        pub b: Operand as Wanted::WORD,
        /// How many bits, `u32`.
        pub c: Operand as Wanted::WORD,
    } = "bfe", in WIDE_INTEGERS, class Logic of .ty, pure;
    /// `bfi`: b with its bits from c on replaced by the lower bits of a.
    Bfi {
        /// `b32` or `b64`: of f, a and b.
        pub ty: Type,
        /// Destination (the manual's f).
        pub d: Reg as Wanted::Exactly(*ty),
        /// The inserted bits.
        pub a: Operand as Wanted::Exactly(*ty),
        /// The value that they are inserted into.
        pub b: Operand as Wanted::Exactly(*ty),
        /// First bit, `u32`.
        pub position: Operand as Wanted::WORD,
        /// How many bits, `u32`.
        pub length: Operand as Wanted::WORD,
    } = "bfi", in WIDE_BITS, class Logic of .ty, pure;
    /// `szext`: the lower b bits of a, extended.
    Szext {
        /// `u32` or `s32`.
        pub ty: Type,
        /// The treatment of a b above 31.
        pub wrap: Wrap,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
        /// How many bits, `u32`.
        pub b: Operand as Wanted::WORD,
    } = "szext", in WORDS, class Logic of .ty, pure, since 7 6;
    /// `bmsk`: b set bits from bit a on.
    Bmsk {
        /// The treatment of amounts above 31.
        pub wrap: Wrap,
        /// Destination, `b32`.
        pub d: Reg as Wanted::BITS,
        /// First bit.
        pub a: Operand as Wanted::BITS,
        /// How many.
        pub b: Operand as Wanted::BITS,
    } = "bmsk".b32, class Logic of B32, pure, since 7 6;
    /// `dp4a`.
    Dp4a(DotProduct) = "dp4a", by Parser::dp4a, where DotProduct::rule, class Integer of .a_type counts 8, pure;
    /// `dp2a`.
    Dp2a(DotProduct) = "dp2a", by Parser::dp2a, where DotProduct::rule, class Integer of .a_type counts 4, pure;

    // Floating point.
    /// `add` of floats.
    FloatAdd(FloatBinary) = "add", in FLOATS, where FloatBinary::rule,
        class Add of .ty counts 1, pure;
    /// `sub` of floats.
    FloatSub(FloatBinary) = "sub", in FLOATS, where FloatBinary::rule,
        class Add of .ty counts 1, pure;
    /// `mul` of floats.
    FloatMul(FloatBinary) = "mul", in FLOATS, where FloatBinary::rule,
        class Multiply of .ty counts 1, pure;
    /// `fma`, and `mad` of floats, which is the same.
    Fma(Fma) = "fma" | "mad", by Parser::fma, in FLOATS, where Fma::rule, class Fma of .ty counts 2, pure;
    /// `div` of floats.
    FloatDiv {
        /// `f32` or `f64`.
        pub ty: Type,
        /// How exact it is.
        pub precision: Precision,
        /// `.ftz`.
        pub ftz: bool = "ftz",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Dividend.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Divisor.
        pub b: Operand as Wanted::Exactly(*ty),
    } = "div", in PRECISE, where FloatDiv::rule, class Special of .ty counts 1, pure;
    /// `min` of floats.
    FloatMin(FloatMinMax) = "min", by Parser::float_min_max, in FLOATS, where FloatMinMax::rule,
        class Compare of .ty, pure;
    /// `max` of floats.
    FloatMax(FloatMinMax) = "max", by Parser::float_min_max, in FLOATS, where FloatMinMax::rule,
        class Compare of .ty, pure;
    /// `abs` of floats.
    FloatAbs(FloatUnary) = "abs", in FLOATS, where FloatUnary::rule, class Logic of .ty, pure;
    /// `neg` of floats.
    FloatNeg(FloatUnary) = "neg", in FLOATS, where FloatUnary::rule, class Logic of .ty, pure;
    /// `rcp`.
    Rcp(FloatRoot) = "rcp", in PRECISE, where FloatRoot::reciprocal_rule, class Special of .ty counts 1, pure;
    /// `sqrt`.
    Sqrt(FloatRoot) = "sqrt", in PRECISE, where FloatRoot::root_rule, class Special of .ty counts 1, pure;
    /// `rsqrt`, always approximate.
    Rsqrt(FloatUnary) = "rsqrt".approx, in PRECISE, class Special of .ty counts 1, pure;
    /// `sin.approx`.
    Sin(FloatUnary) = "sin".approx, in SINGLE, class Special of .ty counts 1, pure;
    /// `cos.approx`.
    Cos(FloatUnary) = "cos".approx, in SINGLE, class Special of .ty counts 1, pure;
    /// `lg2.approx`.
    Lg2(FloatUnary) = "lg2".approx, in SINGLE, class Special of .ty counts 1, pure;
    /// `ex2.approx`.
    Ex2(FloatUnary) = "ex2".approx, in EXPONENTS, where FloatUnary::exponent_rule,
        class Special of .ty counts 1, pure;
    /// `tanh.approx`.
    Tanh(FloatUnary) = "tanh".approx, in TANGENTS, where FloatUnary::tangent_rule,
        class Special of .ty counts 1, pure;
    /// `testp`: whether a float is of a class.
    Testp {
        /// Of a: `f32` or `f64`.
        pub ty: Type,
        /// The class.
        pub test: FloatTest,
        /// Where the answer goes.
        pub p: Reg as Wanted::PREDICATE,
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    } = "testp", in PRECISE, class Compare of .ty, pure;
    /// `copysign`: the sign of a, the rest of b.
    Copysign(Binary) = "copysign", in PRECISE, class Logic of .ty, pure;

    // Comparison and logic.
    /// `set`.
    Set(Set) = "set", by Parser::set, where Set::rule, class Compare of .source, pure;
    /// `setp`.
    Setp(Setp) = "setp", by Parser::setp, in COMPARABLE, where Setp::rule, class Compare of .ty, pure;
    /// `selp`: a where c is true, else b.
    Selp {
        /// Of d, a and b.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Taken where c is true.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Taken where c is false.
        pub b: Operand as Wanted::Exactly(*ty),
        /// A predicate register or an immediate.
        pub c: Predicate,
    } = "selp", in SELECTED, class Compare of .ty, pure;
    /// `slct`: a where c is not negative, else b.
    Slct {
        /// Of d, a and b.
        pub ty: Type,
        /// Of c: `s32` or `f32`.
        pub selector: Type,
        /// `.ftz`.
        pub ftz: bool = "ftz",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Taken where c >= 0.
        pub a: Operand as Wanted::Exactly(*ty),
        /// Taken otherwise, also where c is NaN.
        pub b: Operand as Wanted::Exactly(*ty),
        /// The operand.
        pub c: Operand as Wanted::Exactly(*selector),
    } = "slct", in SELECTED, where Slct::rule, class Compare of .ty, pure;
    /// `and`.
    And(Binary) = "and", in LOGICAL, class Logic of .ty, pure;
    /// `or`.
    Or(Binary) = "or", in LOGICAL, class Logic of .ty, pure;
    /// `xor`.
    Xor(Binary) = "xor", in LOGICAL, class Logic of .ty, pure;
    /// `not`.
    Not(Unary) = "not", in LOGICAL, class Logic of .ty, pure;
    /// `cnot`: 1 where a is 0, else 0.
    Cnot(Unary) = "cnot", in BITS, class Logic of .ty, pure;
    /// `lop3`.
    Lop3(Lop3) = "lop3".b32, by Parser::lop3, class Logic of B32, pure;
    /// `shf`: 32 bits of the 64 of (b, a), shifted.
    Shf {
        /// Left: the upper half is the result. Right: the lower half.
        pub direction: Direction,
        /// The treatment of amounts above 32 (clamp) or 31 (wrap).
        pub wrap: Wrap,
        /// Destination, `b32`.
        pub d: Reg as Wanted::BITS,
        /// The lower half.
        pub a: Operand as Wanted::BITS,
        /// The upper half.
        pub b: Operand as Wanted::BITS,
        /// How far, `u32`.
        pub c: Operand as Wanted::WORD,
    } = "shf".b32, class Logic of B32, pure;
    /// `shl`: b is 32 bits.
    Shl(Shift) = "shl", in BITS, class Logic of .ty, pure;
    /// `shr`: b is 32 bits; arithmetic where `ty` is signed.
    Shr(Shift) = "shr", in SHIFTED, class Logic of .ty, pure;
    /// `vadd`, `vset4` and the like.
    Video(Box<Video>) = "vadd" | "vadd2" | "vadd4" | "vsub" | "vsub2" | "vsub4" | "vabsdiff" | "vabsdiff2" | "vabsdiff4"
        | "vmin" | "vmin2" | "vmin4" | "vmax" | "vmax2" | "vmax4" | "vavrg2" | "vavrg4" | "vshl" | "vshr" | "vmad"
        | "vset" | "vset2" | "vset4", by Parser::video, class Other, pure;

    // Movement.
    /// `mov.v2`, `mov.v4`: value by value.
    MovVector(MovVector) = "mov" if has_vector, by Parser::mov_vector, in MOVED, class Move of .ty, pure;
    /// `mov` of one value into several registers.
    Unpack(Unpack) = "mov" if Parser::has_destinations, by Parser::unpack, in PACKED, where Unpack::rule,
        class Move of .ty, pure;
    /// `mov` of several values into one register.
    Pack(Pack) = "mov" if Parser::has_sources, by Parser::pack, in PACKED, where Pack::rule, class Move of .ty, pure;
    /// `mov` of one value.
    Mov {
        /// Of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// Source.
        pub a: Operand as Wanted::Moved(*ty),
    } = "mov", in MOVED, class Move of .ty, pure;
    /// `shfl` and `shfl.sync`.
    Shfl(Shfl) = "shfl".b32, by Parser::shfl, class Shuffle of B32, meeting Shfl::meeting;
    /// `prmt`: four of the eight bytes of (b, a).
    Prmt {
        /// None: by the nibbles of c.
        pub mode: Option<PrmtMode>,
        /// Destination, `b32`.
        pub d: Reg as Wanted::BITS,
        /// The lower four bytes.
        pub a: Operand as Wanted::BITS,
        /// The upper four bytes.
        pub b: Operand as Wanted::BITS,
        /// Which.
        pub c: Operand as Wanted::BITS,
    } = "prmt".b32, class Logic of B32, pure;
    /// `cvt.pack`.
    CvtPack(CvtPack) = "cvt".pack.sat, by Parser::cvt_pack, class Convert of .to, pure;
    /// `cvt.rs` of four values into one register.
    CvtFour(Box<CvtFour>) = "cvt".rs.satfinite if has_four, by Parser::cvt_four, class Convert of .to, pure, on 100;
    /// `cvt`.
    Cvt(Cvt) = "cvt", by Parser::cvt, where Cvt::rule, class Convert of .to, pure;
    /// `isspacep`: whether a generic address is in a space.
    Isspacep {
        /// Which space.
        pub space: Space,
        /// The answer.
        pub p: Reg as Wanted::PREDICATE,
        /// The address.
        pub a: Operand as Wanted::Pointer,
    } = "isspacep", where Isspacep::rule, class Compare;
    /// `cvta`.
    Cvta(Cvta) = "cvta", in ADDRESSES, where Cvta::rule, class Convert of .ty, pure if Cvta::is_pure;
    /// `mapa`: the same address in another block of the cluster.
    Mapa {
        /// [`Space::Generic`] or [`Space::SharedCluster`]: of d.
        pub space: Space = Space::Generic,
        /// `u32` or `u64`: of d and a.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// The address.
        pub a: Operand as Wanted::Located(*ty),
        /// The block's rank, `u32`.
        pub b: Operand as Wanted::WORD,
    } = "mapa", in WIDE_INTEGERS, where Mapa::rule, class Convert of .ty, since 7 8, on 90;
    /// `getctarank`: in which block of the cluster an address lies.
    Getctarank {
        /// [`Space::Generic`] or [`Space::SharedCluster`]: of a.
        pub space: Space = Space::Generic,
        /// `u32` or `u64`: of a.
        pub ty: Type,
        /// Destination, `u32`.
        pub d: Reg as Wanted::WORD,
        /// The address.
        pub a: Operand as Wanted::Exactly(*ty),
    } = "getctarank", in WIDE_INTEGERS, where Getctarank::rule, class Convert of .ty, since 7 8, on 90;

    // Memory.
    /// `ld` and `ld.global.nc`.
    Ld(Box<Ld>) = "ld", by Parser::ld, in STORED, where Ld::rule, class Load of .ty, pure if Ld::is_pure;
    /// `ldu`.
    Ldu(Ldu) = "ldu", by Parser::ldu, in STORED, where Ldu::rule, class Load of .ty;
    /// `st.async`.
    StAsync(Box<StAsync>) = "st".async, by Parser::st_async, class Store of .ty, since 8 1, on 90;
    /// `st.bulk`.
    StBulk(StBulk) = "st".bulk, by Parser::st_bulk, class Other, since 8 6, on 100;
    /// `st`.
    St(Box<St>) = "st", by Parser::st, in STORED, where St::rule, class Store of .ty;
    /// `red.async`.
    RedAsync(Box<RedAsync>) = "red".async, by Parser::red_async, class Atomic of .ty, since 8 1, on 90;
    /// `atom`.
    Atom(Box<Atom>) = "atom", by Parser::atom, where Atom::rule, class Atomic of .ty;
    /// `red`.
    Red(Box<Red>) = "red", by Parser::red, where Red::rule, class Atomic of .ty;
    /// `prefetch`.
    Prefetch(Prefetch) = "prefetch", by Parser::prefetch, where Prefetch::rule, class Other;
    /// `prefetchu.L1`.
    Prefetchu(Address) = "prefetchu".L1, class Other;
    /// `applypriority.L2::evict_normal`.
    ApplyPriority(CacheRange) = "applypriority", by Parser::apply_priority, class Other, since 7 4, on 80;
    /// `discard.L2`.
    Discard(CacheRange) = "discard".L2, class Other, since 7 4, on 80;
    /// `createpolicy`.
    CreatePolicy(Box<CreatePolicy>) = "createpolicy".b64, by Parser::create_policy, class Other, since 7 4, on 80;

    // Asynchronous copies.
    /// `cp.async.mbarrier.arrive`: an arrival when the thread's copies before it are done.
    CpAsyncMbarrierArrive {
        /// `.noinc`: the arrival is one of those that are expected.
        pub no_increment: bool = "noinc",
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space = Space::Generic,
        /// The barrier.
        pub address: Address,
    } = "cp".async.mbarrier.arrive.b64, class Other, on 80;
    /// `cp.async.bulk.wait_group`: waits until at most so many groups are left.
    CpAsyncBulkWaitGroup {
        /// How many.
        pub groups: u32,
        /// `.read`: until their sources are read.
        pub read: bool = "read",
    } = "cp".async.bulk.wait_group, class Fence, since 8 0, on 90;
    /// `cp.async.bulk.tensor`, its prefetch and `cp.reduce.async.bulk.tensor`.
    CpAsyncBulkTensor(Box<CpAsyncBulkTensor>) = "cp".async.bulk.tensor, by Parser::tensor, class Copy, since 8 0, on 90;
    /// `cp.reduce.async.bulk`.
    CpReduceAsyncBulk(Box<CpReduceAsyncBulk>) = "cp".reduce.async.bulk, by Parser::bulk_reduce, class Copy, since 8 0,
        on 90;
    /// `cp.async.bulk.prefetch.L2`.
    CpAsyncBulkPrefetch(Box<CpAsyncBulkPrefetch>) = "cp".async.bulk.prefetch.L2.global, by Parser::bulk_prefetch,
        class Other, since 8 0, on 90;
    /// `cp.async.bulk`.
    CpAsyncBulk(Box<CpAsyncBulk>) = "cp".async.bulk, by Parser::bulk, class Copy, since 8 0, on 90;
    /// `tensormap.replace`.
    TensorMapReplace(Box<TensorMapReplace>) = "tensormap".replace.tile, by Parser::tensor_map_replace, class Other,
        since 8 3, on 90;
    /// `tensormap.cp_fenceproxy`.
    TensorMapCopy(Box<TensorMapCopy>) = "tensormap".cp_fenceproxy.global, by Parser::tensor_map_copy, class Copy,
        meets Warp, since 8 3, on 90;
    /// `cp.async.wait_group`: at most so many groups are left.
    CpAsyncWaitGroup(u32) = "cp".async.wait_group, class Fence, on 80;
    /// `cp.async`.
    CpAsync(Box<CpAsync>) = "cp".async, by Parser::cp_async, class Copy, on 80;

    // Control.
    /// `bra`.
    Branch(Branch) = "bra", by Parser::branch, class Control, flow Branches;
    /// `brx.idx`.
    BranchIndexed(BranchIndexed) = "brx".idx, by Parser::branch_indexed, class Control, flow Branches;
    /// `call`.
    Call(Box<Call>) = "call", by Parser::call, class Call, flow Resumes;
    /// `ret`: back to the caller; from a kernel, the end.
    Ret {
        /// `.uni`: all active lanes return.
        pub uniform: bool = "uni",
    } = "ret", class Control, flow Returns;
    /// `nanosleep`.
    Nanosleep {
        /// Nanoseconds, `u32`.
        pub a: Operand as Wanted::WORD,
    } = "nanosleep".u32, class Other;
    /// `pmevent`: a trigger of performance events.
    Pmevent {
        /// `.mask`: a is a mask of events; else it is one.
        pub mask: bool = "mask",
        /// Which.
        pub a: Operand as Wanted::WORD,
    } = "pmevent", class Other;
    /// `setmaxnreg`.
    Setmaxnreg(Setmaxnreg) = "setmaxnreg".sync.aligned.u32, by Parser::setmaxnreg, class Other, since 8 0, on 90;
    /// `stacksave`: the stack pointer, into d.
    Stacksave {
        /// `u32` or `u64`.
        pub ty: Type,
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
    } = "stacksave", in POINTERS, class Other, since 7 3;
    /// `stackrestore`: the stack pointer, from a.
    Stackrestore {
        /// `u32` or `u64`.
        pub ty: Type,
        /// Source.
        pub a: Operand as Wanted::Exactly(*ty),
    } = "stackrestore", in POINTERS, class Other, since 7 3;
    /// `alloca`.
    Alloca(Alloca) = "alloca", by Parser::alloca, in POINTERS, class Other, since 7 3;

    // Synchronisation.
    /// `bar.warp.sync`.
    BarrierWarp {
        /// The lanes that take part.
        pub mask: Operand as Wanted::WORD,
    } = "bar".warp.sync | "barrier".warp.sync, class Barrier, meets Warp;
    /// `barrier.cluster`.
    BarrierCluster(BarrierCluster) = "barrier".cluster | "bar".cluster, by Parser::barrier_cluster,
        class Barrier, meets Warp, since 7 8, on 90;
    /// `bar`, `barrier`.
    Barrier(Barrier) = "bar" | "barrier", by Parser::barrier, class Barrier, meets Block, flow Resumes;
    /// `fence` and `membar`.
    Fence(Fence) = "fence" | "membar", by Parser::fence, where Fence::rule, class Fence;
    /// `vote` and `vote.sync`.
    Vote(Vote) = "vote", by Parser::vote, class Shuffle of B32, meeting Vote::meeting;
    /// `match.sync`.
    Match(Match) = "match".sync, by Parser::matching, in WIDE_BITS, class Shuffle of .ty, meets Warp;
    /// `activemask`: the lanes that execute it.
    Activemask {
        /// Destination, `b32`.
        pub d: Reg as Wanted::BITS,
    } = "activemask".b32, class Shuffle of B32;
    /// `redux.sync`: a reduction over the warp.
    Redux {
        /// The operation.
        pub operator: ReduxOperator,
        /// `u32`, `s32`, `b32` or `f32`.
        pub ty: Type,
        /// `.abs`.
        pub abs: bool = "abs",
        /// `.NaN`: NaN where a value is.
        pub nan: bool = "NaN",
        /// Destination.
        pub d: Reg as Wanted::Exactly(*ty),
        /// The lane's value.
        pub a: Operand as Wanted::Exactly(*ty),
        /// The lanes that take part.
        pub mask: Operand as Wanted::WORD,
    } = "redux".sync, where Redux::rule, class Shuffle of .ty, meets Warp, on 80;
    /// `elect.sync`.
    Elect(Elect) = "elect".sync, by Parser::elect, class Shuffle of B32, meets Warp, since 8 0, on 90;
    /// `griddepcontrol`.
    Griddepcontrol(Griddepcontrol) = "griddepcontrol", class Other, since 7 8, on 90;
    /// `mbarrier.init`: a new mbarrier.
    MbarrierInit {
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space = Space::Generic,
        /// Where.
        pub address: Address,
        /// Arrivals that it expects, `u32`.
        pub count: Operand as Wanted::WORD,
    } = "mbarrier".init.b64, where MbarrierInit::rule, class Other, on 80;
    /// `mbarrier.inval`: the end of an mbarrier.
    MbarrierInval {
        /// [`Space::Shared`] or [`Space::Generic`].
        pub space: Space = Space::Generic,
        /// Where.
        pub address: Address,
    } = "mbarrier".inval.b64, where MbarrierInval::rule, class Other, on 80;
    /// `mbarrier.arrive`, `.arrive_drop`.
    MbarrierArrive(Box<MbarrierArrive>) = "mbarrier".arrive.b64 | "mbarrier".arrive_drop.b64, by Parser::mbarrier_arrive,
        where MbarrierArrive::rule, class Barrier, on 80;
    /// `mbarrier.expect_tx`, `.complete_tx`.
    MbarrierTransaction(MbarrierTransaction) = "mbarrier".expect_tx.b64 | "mbarrier".complete_tx.b64,
        by Parser::mbarrier_transaction, class Other, since 8 0, on 90;
    /// `mbarrier.test_wait`, `.try_wait`.
    MbarrierWait(Box<MbarrierWait>) = "mbarrier".test_wait.b64 | "mbarrier".try_wait.b64, by Parser::mbarrier_wait,
        where MbarrierWait::rule, class Barrier, on 80;
    /// `mbarrier.pending_count`: the arrivals that a state still expects.
    MbarrierPendingCount {
        /// Destination, `u32`.
        pub d: Reg as Wanted::WORD,
        /// The state, `b64`.
        pub state: Operand as Wanted::LONG,
    } = "mbarrier".pending_count.b64, class Other, on 80;

    // Matrices.
    /// `wmma.load`.
    WmmaLoad(Box<WmmaLoad>) = "wmma".load.sync.aligned, by Parser::wmma_load, class Load, meets Warp;
    /// `wmma.store`.
    WmmaStore(Box<WmmaStore>) = "wmma".store.sync.aligned, by Parser::wmma_store, class Store, meets Warp;
    /// `wmma.mma`.
    WmmaMma(Box<WmmaMma>) = "wmma".mma.sync.aligned, by Parser::wmma_mma,
        class Tensor of .a_type counts by WmmaMma::operations, meets Warp;
    /// `mma.sync`, `mma.sp`.
    Mma(Box<Mma>) = "mma".sync.aligned, by Parser::mma, class Tensor of .a_type counts by Mma::operations, meets Warp;
    /// `ldmatrix`.
    Ldmatrix(Box<Ldmatrix>) = "ldmatrix".sync.aligned, by Parser::ldmatrix, class Load, meets Warp;
    /// `stmatrix`.
    Stmatrix(Box<Stmatrix>) = "stmatrix".sync.aligned, by Parser::stmatrix, class Store, meets Warp, since 7 8, on 90;
    /// `movmatrix`: the matrix is 8 by 8, transposed.
    Movmatrix {
        /// Of an element: `b16`.
        pub ty: Type,
        /// Destination: two elements.
        pub d: Reg as Wanted::BITS,
        /// Source: two elements.
        pub a: Operand as Wanted::BITS,
    } = "movmatrix".sync.aligned.trans, by Parser::movmatrix, class Shuffle of .ty, meets Warp, since 7 8;
    /// `wgmma.mma_async`.
    WgmmaMma(Box<WgmmaMma>) = "wgmma".mma_async.sync.aligned, by Parser::wgmma,
        class Tensor of .a_type counts by WgmmaMma::operations, meets Warp, since 8 0, on 90;
    /// `wgmma.wait_group`: at most so many groups are left.
    WgmmaWaitGroup(u32) = "wgmma".wait_group.sync.aligned, class Fence, meets Warp, since 8 0, on 90;

    /// `clusterlaunchcontrol.try_cancel`: a request to cancel blocks that have not begun.
    TryCancel(TryCancel) = "clusterlaunchcontrol".try_cancel, by Parser::try_cancel, class Other, since 8 6, on 100;
    /// `clusterlaunchcontrol.query_cancel.is_canceled`: whether there were any.
    IsCanceled(IsCanceled) = "clusterlaunchcontrol".query_cancel.is_canceled, by Parser::is_canceled, class Other, since 8 6, on 100;
    /// `clusterlaunchcontrol.query_cancel.get_first_ctaid`: the first of them.
    FirstCanceled(FirstCanceled) = "clusterlaunchcontrol".query_cancel, by Parser::first_canceled, class Other, since 8 6, on 100;
    /// `tcgen05.alloc`: columns of tensor memory for the block.
    Tcgen05Alloc(Tcgen05Alloc) = "tcgen05".alloc, by Parser::tcgen05_alloc, class Other, meets Warp, since 8 6, on 100;
    /// `tcgen05.dealloc`: the end of columns of tensor memory.
    Tcgen05Dealloc(Tcgen05Dealloc) = "tcgen05".dealloc, by Parser::tcgen05_dealloc, class Other, meets Warp, since 8 6, on 100;
    /// `tcgen05.relinquish_alloc_permit`: the block allocates no more; of how many blocks.
    Tcgen05Relinquish(u32) = "tcgen05".relinquish_alloc_permit, by Parser::tcgen05_relinquish, class Other, meets Warp,
        since 8 6, on 100;
    /// `tcgen05.ld`: tensor memory into registers of the warp.
    Tcgen05Load(Box<Tcgen05Load>) = "tcgen05".ld if is_not_reduced, by Parser::tcgen05_load, class Load, meets Warp, since 8 6, on 100;
    /// `tcgen05.st`: registers of the warp into tensor memory.
    Tcgen05Store(Box<Tcgen05Store>) = "tcgen05".st, by Parser::tcgen05_store, class Store, meets Warp, since 8 6, on 100;
    /// `tcgen05.cp`: shared into tensor memory.
    Tcgen05Copy(Box<Tcgen05Copy>) = "tcgen05".cp, by Parser::tcgen05_copy, class Copy, since 8 6, on 100;
    /// `tcgen05.mma`: a product whose sum is in tensor memory.
    Tcgen05Mma(Box<Tcgen05Mma>) = "tcgen05".mma, by Parser::tcgen05_mma, class Tensor of .element, since 8 6, on 100;
    /// `tcgen05.commit`: an arrival at an mbarrier when products and copies are done.
    Tcgen05Commit(Tcgen05Commit) = "tcgen05".commit, by Parser::tcgen05_commit, class Barrier, since 8 6, on 100;
    /// `tcgen05.wait`: for the warp's loads, or its stores.
    Tcgen05Wait(Tcgen05Wait) = "tcgen05" if is_tcgen05_wait, by Parser::tcgen05_wait, class Fence, meets Warp, since 8 6, on 100;
    /// `tcgen05.fence`: between tensor memory and what orders threads.
    Tcgen05Fence(Tcgen05Fence) = "tcgen05" if is_tcgen05_fence, by Parser::tcgen05_fence, class Fence, since 8 6, on 100;

    /// An instruction that is only taken apart: textures, surfaces, `tcgen05.shift`, `multimem` and the like.
    Other(Box<Other>) = "istypep" | "multimem" | "suld" | "suq" | "sured" | "sust" | "tcgen05"
        | "tex" | "tld4" | "txq" | "_warpsync" | "warpsync", by Parser::other, class Other;
}
without_operands {
    /// `cp.async.bulk.commit_group`.
    CpAsyncBulkCommitGroup = "cp".async.bulk.commit_group, class Fence, since 8 0, on 90;
    /// `cp.async.commit_group`.
    CpAsyncCommitGroup = "cp".async.commit_group, class Fence, on 80;
    /// `cp.async.wait_all`.
    CpAsyncWaitAll = "cp".async.wait_all, class Fence, on 80;
    /// `wgmma.fence`.
    WgmmaFence = "wgmma".fence.sync.aligned, class Fence, meets Warp, since 8 0, on 90;
    /// `wgmma.commit_group`.
    WgmmaCommitGroup = "wgmma".commit_group.sync.aligned, class Fence, meets Warp, since 8 0, on 90;
    /// `exit`.
    Exit = "exit", class Control, flow Ends;
    /// `trap`.
    Trap = "trap", class Control, flow Ends;
    /// `brkpt`.
    Brkpt = "brkpt", class Control, flow Resumes;
}
}
