//! Variants of instructions, most with one thing wrong.

/// Types of instructions.
const TYPES: &[&str] = &[
    "pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "f16x2", "bf16x2", "u16x2",
    "s16x2", "b32", "u32", "s32", "f32", "tf32", "b64", "u64", "s64", "f64", "b128", "e4m3x2",
];

/// Types of registers.
const REGISTERS: &[&str] = &[
    "pred", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "b32", "u32", "s32", "f32", "b64", "u64",
    "s64", "f64", "b128",
];

/// `T` is the type; `<0>` to `<3>` are registers of its size without a type, `<m0>` to `<m3>` those of at least 16
/// bits, `<W>` is one of twice the size; `<r>`, `<h>`, `<d>` have 32, 16 and 64 bits, `<p>` and `<q>` are predicates.
const TYPED: &[&str] = &[
    "add.T <0>,<1>,<2>",
    "add.sat.T <0>,<1>,<2>",
    "add.cc.T <0>,<1>,<2>",
    "addc.T <0>,<1>,<2>",
    "subc.cc.T <0>,<1>,<2>",
    "sub.T <0>,<1>,<2>",
    "add.rn.T <0>,<1>,<2>",
    "add.rz.T <0>,<1>,<2>",
    "add.rm.T <0>,<1>,<2>",
    "add.ftz.T <0>,<1>,<2>",
    "add.rn.sat.T <0>,<1>,<2>",
    "mul.T <0>,<1>,<2>",
    "mul.rn.T <0>,<1>,<2>",
    "mul.rz.T <0>,<1>,<2>",
    "mul.ftz.T <0>,<1>,<2>",
    "mul.sat.T <0>,<1>,<2>",
    "mul.lo.T <0>,<1>,<2>",
    "mul.hi.T <0>,<1>,<2>",
    "mul.wide.T <W>,<1>,<2>",
    "mad.lo.T <0>,<1>,<2>,<3>",
    "mad.hi.T <0>,<1>,<2>,<3>",
    "mad.hi.sat.T <0>,<1>,<2>,<3>",
    "mad.lo.cc.T <0>,<1>,<2>,<3>",
    "madc.hi.T <0>,<1>,<2>,<3>",
    "mad.wide.T <W>,<1>,<2>,<W>",
    "mul24.lo.T <0>,<1>,<2>",
    "mad24.lo.T <0>,<1>,<2>,<3>",
    "mad24.hi.sat.T <0>,<1>,<2>,<3>",
    "mad.rn.T <0>,<1>,<2>,<3>",
    "mad.rz.T <0>,<1>,<2>,<3>",
    "fma.rn.T <0>,<1>,<2>,<3>",
    "fma.rz.T <0>,<1>,<2>,<3>",
    "fma.rn.ftz.T <0>,<1>,<2>,<3>",
    "fma.rn.sat.T <0>,<1>,<2>,<3>",
    "fma.rn.relu.T <0>,<1>,<2>,<3>",
    "fma.rn.oob.T <0>,<1>,<2>,<3>",
    "div.T <0>,<1>,<2>",
    "div.rn.T <0>,<1>,<2>",
    "div.rz.T <0>,<1>,<2>",
    "div.approx.T <0>,<1>,<2>",
    "div.full.T <0>,<1>,<2>",
    "div.rn.ftz.T <0>,<1>,<2>",
    "rem.T <0>,<1>,<2>",
    "sad.T <0>,<1>,<2>,<3>",
    "abs.T <0>,<1>",
    "abs.ftz.T <0>,<1>",
    "neg.T <0>,<1>",
    "neg.ftz.T <0>,<1>",
    "min.T <0>,<1>,<2>",
    "min.ftz.T <0>,<1>,<2>",
    "min.NaN.T <0>,<1>,<2>",
    "min.xorsign.abs.T <0>,<1>,<2>",
    "min.relu.T <0>,<1>,<2>",
    "max.T <0>,<1>,<2>,<3>",
    "popc.T <r>,<1>",
    "clz.T <r>,<1>",
    "brev.T <0>,<1>",
    "bfind.T <r>,<1>",
    "bfind.shiftamt.T <r>,<1>",
    "bfe.T <0>,<1>,<r>,<r>",
    "bfi.T <0>,<1>,<2>,<r>,<r>",
    "szext.clamp.T <0>,<1>,<r>",
    "bmsk.clamp.T <0>,<1>,<2>",
    "rcp.rn.T <0>,<1>",
    "rcp.rz.T <0>,<1>",
    "rcp.approx.T <0>,<1>",
    "rcp.approx.ftz.T <0>,<1>",
    "rcp.rn.ftz.T <0>,<1>",
    "rcp.full.T <0>,<1>",
    "sqrt.rn.T <0>,<1>",
    "sqrt.approx.T <0>,<1>",
    "sqrt.approx.ftz.T <0>,<1>",
    "rsqrt.approx.T <0>,<1>",
    "rsqrt.approx.ftz.T <0>,<1>",
    "sin.approx.T <0>,<1>",
    "sin.approx.ftz.T <0>,<1>",
    "lg2.approx.T <0>,<1>",
    "ex2.approx.T <0>,<1>",
    "ex2.approx.ftz.T <0>,<1>",
    "tanh.approx.T <0>,<1>",
    "testp.finite.T <p>,<1>",
    "copysign.T <0>,<1>,<2>",
    "set.eq.u32.T <r>,<1>,<2>",
    "set.eq.s32.T <r>,<1>,<2>",
    "set.eq.f32.T <r>,<1>,<2>",
    "set.eq.T.s32 <0>,<r>,<r>",
    "set.eq.T.f16 <0>,<h>,<h>",
    "set.eq.T.f16x2 <0>,<r>,<r>",
    "setp.eq.T <p>,<1>,<2>",
    "setp.lt.T <p>,<1>,<2>",
    "setp.lo.T <p>,<1>,<2>",
    "setp.ltu.T <p>,<1>,<2>",
    "setp.num.T <p>,<1>,<2>",
    "setp.eq.ftz.T <p>,<1>,<2>",
    "setp.eq.T <p>|<q>,<1>,<2>",
    "selp.T <0>,<1>,<2>,<p>",
    "slct.T.s32 <0>,<1>,<2>,<r>",
    "slct.T.f32 <0>,<1>,<2>,<r>",
    "slct.ftz.T.f32 <0>,<1>,<2>,<r>",
    "slct.u32.T <r>,<r>,<r>,<0>",
    "and.T <0>,<1>,<2>",
    "not.T <0>,<1>",
    "cnot.T <0>,<1>",
    "shl.T <0>,<1>,<r>",
    "shr.T <0>,<1>,<r>",
    "shf.l.wrap.T <0>,<1>,<2>,<r>",
    "mov.T <m0>,<m1>",
    "mov.T <m0>,{<h>,<h>}",
    "mov.T <0>,{<r>,<r>}",
    "prmt.T <0>,<1>,<2>,<r>",
    "tensormap.replace.tile.global_address.global.b1024.T [<d>],<m0>",
    "tensormap.replace.tile.rank.global.b1024.T [<d>],<m0>",
    "tensormap.replace.tile.box_dim.global.b1024.T [<d>],4,<m0>",
    "tensormap.replace.tile.global_stride.global.b1024.T [<d>],3,<m0>",
    "tensormap.replace.tile.elemtype.global.b1024.T [<d>],3",
    "ld.global.T <m0>,[<d>]",
    "ld.global.v2.T {<m0>,<m1>},[<d>]",
    "ld.global.v4.T {<m0>,<m1>,<m2>,<m3>},[<d>]",
    "ldu.global.T <m0>,[<d>]",
    "ldu.global.v4.T {<m0>,<m1>,<m2>,<m3>},[<d>]",
    "st.global.T [<d>],<m0>",
    "st.global.v4.T [<d>],{<m0>,<m1>,<m2>,<m3>}",
    "ld.volatile.global.T <m0>,[<d>]",
    "ld.relaxed.gpu.global.T <m0>,[<d>]",
    "atom.global.add.T <m0>,[<d>],<m1>",
    "atom.global.add.noftz.T <m0>,[<d>],<m1>",
    "atom.global.min.T <m0>,[<d>],<m1>",
    "atom.global.min.noftz.T <m0>,[<d>],<m1>",
    "atom.global.and.T <m0>,[<d>],<m1>",
    "atom.global.inc.T <m0>,[<d>],<m1>",
    "atom.global.exch.T <m0>,[<d>],<m1>",
    "atom.global.cas.T <m0>,[<d>],<m1>,<m2>",
    "red.global.add.T [<d>],<m1>",
    "red.global.add.noftz.T [<d>],<m1>",
    "red.global.min.T [<d>],<m1>",
    "red.global.and.T [<d>],<m1>",
    "red.global.inc.T [<d>],<m1>",
    "red.global.exch.T [<d>],<m1>",
    "atom.global.v2.add.T {<m0>,<m2>},[<d>],{<m1>,<m3>}",
    "atom.global.v2.add.noftz.T {<m0>,<m2>},[<d>],{<m1>,<m3>}",
    "shfl.sync.idx.T <0>,<1>,<r>,<r>,<r>",
    "match.any.sync.T <r>,<1>,<r>",
    "redux.sync.add.T <0>,<1>,<r>",
    "redux.sync.min.T <0>,<1>,<r>",
    "redux.sync.and.T <0>,<1>,<r>",
    "cvta.global.T <0>,<1>",
    "mapa.T <0>,<1>,<r>",
    "getctarank.T <r>,<1>",
    "vote.sync.any.T <0>,<p>,<r>",
    "activemask.T <0>",
    "nanosleep.T <0>",
    "stacksave.T <0>",
];

/// Each `<type>` is an operand, of a register of that type where it is right.
const OPERANDS: &[&str] = &[
    "tensormap.replace.tile.global_dim.global.b1024.b32 [<b64>],0,<b32>",
    "tensormap.replace.tile.global_stride.global.b1024.b64 [<b64>],0,<b64>",
    "add.u32 <u32>,<u32>,<u32>",
    "add.s16 <s16>,<s16>,<s16>",
    "add.u16x2 <b32>,<b32>,<b32>",
    "add.s64 <s64>,<s64>,<s64>",
    "add.f32 <f32>,<f32>,<f32>",
    "add.f64 <f64>,<f64>,<f64>",
    "add.f16 <f16>,<f16>,<f16>",
    "add.f16x2 <b32>,<b32>,<b32>",
    "fma.rn.bf16 <b16>,<b16>,<b16>,<b16>",
    "fma.rn.bf16x2 <b32>,<b32>,<b32>,<b32>",
    "and.b32 <b32>,<b32>,<b32>",
    "and.b16 <b16>,<b16>,<b16>",
    "and.b64 <b64>,<b64>,<b64>",
    "and.pred <pred>,<pred>,<pred>",
    "shl.b64 <b64>,<b64>,<b32>",
    "shr.u16 <u16>,<u16>,<b32>",
    "shf.l.wrap.b32 <b32>,<b32>,<b32>,<b32>",
    "mul.wide.u16 <u32>,<u16>,<u16>",
    "mul.wide.u32 <u64>,<u32>,<u32>",
    "mad.wide.s32 <s64>,<s32>,<s32>,<s64>",
    "popc.b64 <b32>,<b64>",
    "clz.b32 <b32>,<b32>",
    "bfind.u64 <u32>,<u64>",
    "brev.b32 <b32>,<b32>",
    "bfe.u64 <u64>,<u64>,<b32>,<b32>",
    "bfi.b64 <b64>,<b64>,<b64>,<b32>,<b32>",
    "prmt.b32 <b32>,<b32>,<b32>,<b32>",
    "lop3.b32 <b32>,<b32>,<b32>,<b32>,1",
    "selp.f32 <f32>,<f32>,<f32>,<pred>",
    "selp.b32 <b32>,<b32>,<b32>,<pred>",
    "selp.b16 <b16>,<b16>,<b16>,<pred>",
    "setp.eq.u32 <pred>,<u32>,<u32>",
    "setp.eq.f32 <pred>,<f32>,<f32>",
    "setp.eq.b32 <pred>,<b32>,<b32>",
    "setp.eq.f16 <pred>,<b16>,<b16>",
    "setp.eq.and.u32 <pred>|<pred>,<u32>,<u32>,<pred>",
    "set.eq.u32.f32 <u32>,<f32>,<f32>",
    "slct.b32.s32 <b32>,<b32>,<b32>,<s32>",
    "slct.f32.f32 <f32>,<f32>,<f32>,<f32>",
    "mov.b32 <b32>,<b32>",
    "mov.u32 <u32>,<u32>",
    "mov.f32 <f32>,<f32>",
    "mov.f64 <f64>,<f64>",
    "mov.b16 <b16>,<b16>",
    "mov.u16 <u16>,<u16>",
    "mov.b64 <b64>,<b64>",
    "mov.pred <pred>,<pred>",
    "mov.b128 <b128>,{<b64>,<b64>}",
    "mov.b32 <b32>,{<b16>,<b16>}",
    "mov.b32 {<b16>,<b16>},<b32>",
    "mov.b64 {<b32>,<b32>},<b64>",
    "mov.b64 {<b16>,<b16>,<b16>,<b16>},<b64>",
    "mov.b16 {<b8>,<b8>},<b16>",
    "ld.global.b8 <b8>,[<b64>]",
    "ld.global.u8 <u8>,[<b64>]",
    "ld.global.b16 <b16>,[<b64>]",
    "ld.global.u16 <u16>,[<b64>]",
    "ld.global.s32 <s32>,[<b64>]",
    "ld.global.b32 <b32>,[<b64>]",
    "ld.global.b64 <b64>,[<b64>]",
    "ld.global.f32 <f32>,[<b64>]",
    "ld.global.f64 <f64>,[<b64>]",
    "ld.global.b128 <b128>,[<b64>]",
    "ld.global.v2.b32 {<b32>,<b32>},[<b64>]",
    "ld.shared.b32 <b32>,[<b64>]",
    "st.global.b8 [<b64>],<b8>",
    "st.global.u8 [<b64>],<u8>",
    "st.global.u16 [<b64>],<u16>",
    "st.global.b32 [<b64>],<b32>",
    "st.global.f32 [<b64>],<f32>",
    "st.global.f64 [<b64>],<f64>",
    "st.shared.u32 [<b32>],<b32>",
    "atom.global.add.u32 <u32>,[<b64>],<u32>",
    "atom.global.add.f32 <f32>,[<b64>],<f32>",
    "atom.global.add.f16x2.noftz <b32>,[<b64>],<b32>",
    "atom.global.cas.b32 <b32>,[<b64>],<b32>,<b32>",
    "atom.global.cas.b16 <b16>,[<b64>],<b16>,<b16>",
    "red.global.add.f64 [<b64>],<f64>",
    "shfl.sync.idx.b32 <b32>|<pred>,<b32>,<b32>,<b32>,<b32>",
    "vote.sync.ballot.b32 <b32>,<pred>,<b32>",
    "match.any.sync.b64 <b32>,<b64>,<b32>",
    "redux.sync.add.u32 <u32>,<u32>,<b32>",
    "activemask.b32 <b32>",
    "bar.sync <b32>,<b32>",
    "barrier.red.popc.u32 <u32>,<b32>,<b32>,<pred>",
    "cvta.to.global.u64 <u64>,<u64>",
    "isspacep.global <pred>,<u64>",
    "nanosleep.u32 <u32>",
    "elect.sync <b32>|<pred>,<b32>",
    "copysign.f32 <f32>,<f32>,<f32>",
    "testp.finite.f32 <pred>,<f32>",
    "rcp.rn.f64 <f64>,<f64>",
    "dp4a.u32.s32 <s32>,<u32>,<s32>,<s32>",
    "vadd.s32.u32.s32 <s32>,<u32>,<s32>",
    "mbarrier.try_wait.shared.b64 <pred>,[<b64>],<b64>",
    "mbarrier.init.shared.b64 [<b64>],<b32>",
    "cp.async.ca.shared.global [<b32>],[<b64>],4,<b32>",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {<b32>},[<b64>]",
    "ld.global.v2.u8 {<b16>,<b16>},[<b64>]",
    "ld.global.v2.u8 {<b32>,<b32>},[<b64>]",
    "ld.global.v4.s16 {<b64>,<b64>,<b64>,<b64>},[<b64>]",
    "ld.global.v2.b32 {<b64>,<f64>},[<b64>]",
    "st.global.v2.u32 [<b64>],{<b64>,<b64>}",
    "ld.global.v2.b8 {<b16>,<b16>},[<b64>]",
    "ld.global.v2.u16 {<b16>,<b16>},[<b64>]",
    "ld.global.v2.u32 {<u32>,<u32>},[<b64>]",
    "ld.global.v4.f32 {<f32>,<f32>,<f32>,<f32>},[<b64>]",
    "ld.global.v2.f64 {<f64>,<f64>},[<b64>]",
    "st.global.v2.u8 [<b64>],{<b16>,<b16>}",
    "st.global.v2.f32 [<b64>],{<f32>,<f32>}",
    "st.global.v2.s32 [<b64>],{<s32>,<s32>}",
    "ldu.global.u32 <u32>,[<b64>]",
    "cvt.u32.u16 <u32>,<u16>",
    "cvt.u16.u32 <u16>,<u32>",
    "cvt.u8.u32 <u8>,<u32>",
    "cvt.s32.s8 <s32>,<s8>",
    "cvt.rn.f32.s32 <f32>,<s32>",
    "cvt.rzi.s32.f32 <s32>,<f32>",
    "cvt.rzi.u64.f64 <u64>,<f64>",
    "cvt.f64.f32 <f64>,<f32>",
    "cvt.rn.f16.f32 <f16>,<f32>",
    "cvt.f32.f16 <f32>,<f16>",
    "cvt.f32.bf16 <f32>,<b16>",
    "cvt.rn.bf16.f32 <b16>,<f32>",
    "cvt.rn.f16x2.f32 <b32>,<f32>,<f32>",
    "cvt.rn.bf16x2.f32 <b32>,<f32>,<f32>",
    "cvt.rna.tf32.f32 <b32>,<f32>",
    "cvt.rn.satfinite.e4m3x2.f32 <b16>,<f32>,<f32>",
    "cvt.rn.f16x2.e4m3x2 <b32>,<b16>",
    "cvt.u64.u8 <u64>,<u8>",
    "cvt.sat.u8.s32 <u8>,<s32>",
    "cvt.rn.f16.u8 <f16>,<u8>",
    "cvt.pack.sat.u16.s32 <b32>,<s32>,<s32>",
    "cvt.pack.sat.u8.s32.b32 <b32>,<s32>,<s32>,<b32>",
    "mov.u32 <u32>,%tid.x",
    "mov.u64 <u64>,%tid.x",
    "mov.b32 <b32>,%tid.x",
    "mov.u64 <u64>,%clock64",
    "mov.u32 <u32>,%clock64",
    "mov.u16 <u16>,%tid.x",
    "mov.f32 <f32>,%tid.x",
    "add.u32 <u32>,<u32>,%tid.x",
    "add.u64 <u64>,<u64>,%tid.x",
    "mov.pred <pred>,%is_explicit_cluster",
    "mov.u64 <u64>,gv",
    "mov.u32 <u32>,gv",
    "mov.b64 <b64>,gv",
    "mov.f64 <f64>,gv",
    "add.u64 <u64>,<u64>,gv",
    "mov.u16 <u16>,gv",
    "cvt.u64.u32 <u64>,gv",
];

/// Types that `cvt` converts.
const CONVERTED: &[&str] = &[
    "u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "b16",
    "b32", "b64",
];

const MODIFIERS: &[&str] = &[
    "",
    ".rn",
    ".rz",
    ".rm",
    ".rp",
    ".rni",
    ".rzi",
    ".rmi",
    ".rpi",
    ".rna",
    ".rni.sat",
    ".sat",
    ".rn.sat",
    ".ftz",
    ".rn.ftz",
    ".rni.ftz",
    ".relu",
    ".rn.relu",
    ".rn.satfinite",
];

const SPACES: &[&str] = &[
    "",
    ".global",
    ".shared",
    ".shared::cta",
    ".shared::cluster",
    ".local",
    ".const",
    ".param",
];

const ORDERS: &[&str] = &[
    "",
    ".weak",
    ".volatile",
    ".relaxed",
    ".acquire",
    ".release",
    ".acq_rel",
    ".sc",
    ".mmio.relaxed",
];

const SCOPES: &[&str] = &["", ".cta", ".cluster", ".gpu", ".sys"];

/// Accesses in which `O` is an order and a scope, `S` a state space.
const ACCESSES: &[&str] = &[
    "ldOS.u32 %b32_0,[%b64_1]",
    "stOS.u32 [%b64_1],%b32_0",
    "atomOS.add.u32 %b32_0,[%b64_1],%b32_2",
    "redOS.add.u32 [%b64_1],%b32_2",
];

/// The same without an order.
const LOCATED: &[&str] = &[
    "lduS.u32 %b32_0,[%b64_1]",
    "ldS.nc.u32 %b32_0,[%b64_1]",
    "cvtaS.u64 %b64_0,%b64_1",
    "cvta.toS.u64 %b64_0,%b64_1",
    "isspacepS %pred1,%b64_1",
    "prefetchS.L1 [%b64_1]",
    "mbarrier.initS.b64 [%b64_1],%b32_1",
    "mbarrier.invalS.b64 [%b64_1]",
    "mbarrier.arriveS.b64 _,[%b64_1]",
    "mbarrier.try_waitS.b64 %pred1,[%b64_1],%b64_2",
    "mapaS.u64 %b64_0,%b64_1,%b32_1",
    "ldS.u32 %b32_0,[gv]",
    "ldS.u32 %b32_0,[sv]",
    "ldS.u32 %b32_0,[cv]",
    "ldS.u32 %b32_0,[lv]",
    "ldS.u32 %b32_0,[p]",
    "stS.u32 [gv],%b32_0",
    "stS.u32 [p],%b32_0",
    "atomS.add.u32 %b32_0,[gv],%b32_1",
    "redS.add.u32 [sv],%b32_1",
];

/// Lines with neither.
const OTHER: &[&str] = &[
    "fence",
    "fence.gpu",
    "fence.sc",
    "fence.sc.gpu",
    "fence.acq_rel.cta",
    "fence.acquire.gpu",
    "fence.relaxed.gpu",
    "fence.weak.gpu",
    "membar",
    "membar.gl",
    "membar.gpu",
    "mov.u32 %b32_0,%tid.x",
    "mov.u32 %b32_0,%clock64",
    "mov.u64 %b64_0,%tid.x",
    "cvt.u64.u32 %b64_0,%tid.x",
    "cvt.rn.f32.u32 %b32_0,%tid.x",
    "add.u32 %b32_0,%b32_1,%tid.x",
    "setp.eq.u32 %pred1,%tid.x,0",
    "st.global.u32 [%b64_0],%tid.x",
    "add.u64 %b64_0,%b64_1,gv",
    "mov.u64 %b64_0,gv",
    "mov.f64 %f64_0,gv",
    "cvta.global.u64 %b64_0,gv",
    "cvta.to.global.u64 %b64_0,gv",
    "setp.ne.u64 %pred1,gv,0",
    "call.uni f, (%b32_0)",
    "call.uni f, (%b64_0)",
    "call.uni f, (%f32_0)",
    "call.uni f, (%pred1)",
    "call.uni f, ()",
    "call.uni f, (%b32_0, %b32_1)",
    "call.uni (%b32_0), f, (%b32_1)",
    "call.uni f, (p)",
    "call.uni f, (5)",
    "@%b32_0 mov.u32 %b32_1,0",
    "@%pred1 mov.u32 %b32_1,0",
];

fn bits(ty: &str) -> u32 {
    match ty {
        "pred" => 1,
        "b8" | "u8" | "s8" => 8,
        "b16" | "u16" | "s16" | "f16" | "bf16" | "e4m3x2" => 16,
        "b64" | "u64" | "s64" | "f64" => 64,
        "b128" => 128,
        _ => 32,
    }
}

/// A register without a type.
fn untyped(bits: u32, index: usize) -> String {
    match bits {
        1 => format!("%pred{index}"),
        _ => format!("%b{}_{index}", bits.min(128)),
    }
}

fn register(ty: &str, index: usize) -> String {
    match ty {
        "pred" => format!("%pred{index}"),
        _ => format!("%{ty}_{index}"),
    }
}

/// Each instruction with each type, operands of its size.
pub(super) fn types() -> Vec<String> {
    let mut lines = Vec::new();
    for template in TYPED {
        for ty in TYPES {
            let size = bits(ty);
            let least = if size == 1 { 1 } else { size.max(16) };
            let mut line = template
                .replace('T', ty)
                .replace("<W>", &untyped(2 * size.max(8), 0));
            for index in 0..4 {
                line = line
                    .replace(&format!("<{index}>"), &untyped(size, index))
                    .replace(&format!("<m{index}>"), &untyped(least, index));
            }
            let fixed = [
                ("<p>", "%pred0"),
                ("<q>", "%pred1"),
                ("<r>", "%b32_3"),
                ("<d>", "%b64_3"),
                ("<h>", "%b16_3"),
            ];
            let line = fixed
                .iter()
                .fold(line, |line, (name, register)| line.replace(name, register));
            lines.push(line + ";");
        }
    }
    lines
}

/// Each instruction with a register of each type in each place.
pub(super) fn operands() -> Vec<String> {
    let mut lines = Vec::new();
    for template in OPERANDS {
        let parts: Vec<&str> = template.split(['<', '>']).collect();
        for place in (1..parts.len()).step_by(2) {
            for ty in REGISTERS {
                let filled = parts
                    .iter()
                    .enumerate()
                    .map(|(index, part)| match index % 2 {
                        0 => (*part).to_owned(),
                        _ => register(if index == place { ty } else { part }, index / 2 % 4),
                    });
                lines.push(filled.collect::<String>() + ";");
            }
        }
    }
    lines
}

/// Each modifier of each conversion.
pub(super) fn conversions() -> Vec<String> {
    let mut lines = Vec::new();
    for modifiers in MODIFIERS {
        for to in CONVERTED {
            for from in CONVERTED {
                let (d, a) = (untyped(bits(to).max(16), 0), untyped(bits(from).max(16), 1));
                lines.push(format!("cvt{modifiers}.{to}.{from} {d},{a};"));
            }
        }
    }
    lines
}

/// Each order, scope and space.
pub(super) fn accesses() -> Vec<String> {
    let mut lines: Vec<String> = OTHER.iter().map(|line| format!("{line};")).collect();
    for space in SPACES {
        lines.extend(LOCATED.iter().map(|line| line.replace('S', space) + ";"));
        for template in ACCESSES {
            for order in ORDERS {
                let with = |scope| {
                    template
                        .replace('O', &format!("{order}{scope}"))
                        .replace('S', space)
                        + ";"
                };
                lines.extend(SCOPES.iter().map(with));
            }
        }
    }
    lines
}
