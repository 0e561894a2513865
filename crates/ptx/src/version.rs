//! The version of PTX that an instruction came with.

use crate::instruction::{Named, Visit, Wanted};
use crate::{Cvt, Fence, Instruction, Module, Operation, Order, SpecialRegister, Type};

/// A row: an opcode that begins with the first part and has all others came with this version. A part that ends in `*`
/// is the begin of one.
struct Since {
    version: (u32, u32),
    opcodes: &'static [&'static str],
}

/// Modifiers and types that are newer than their instruction ([`Row::since`](crate::Row::since)). Of `mma` and `wgmma`
/// not every type and shape is told apart.
const ROWS: &[Since] = &[
    since(7, 1, &["mbarrier.test_wait.parity", "mma.and.popc"]),
    since(7, 2, &["min.xorsign", "max.xorsign", "min.abs", "max.abs"]),
    since(
        7,
        4,
        &[
            "ld.L1::*",
            "st.L1::*",
            "ld.L2::*",
            "st.L2::*",
            "atom.L2::cache_hint",
            "red.L2::cache_hint",
            "cp.L2::*",
            "prefetch.L2::*",
        ],
    ),
    since(7, 5, &["fence.proxy"]),
    since(7, 7, &["cvta.param*", "isspacep.param*"]),
    since(
        7,
        8,
        &[
            "add.bf16*",
            "sub.bf16*",
            "mul.bf16*",
            "atom.bf16*",
            "red.bf16*",
            "bar.cta",
            "barrier.cta",
            "tanh.bf16*",
            "ex2.bf16*",
            "mbarrier.try_wait",
            "cvt.e4m3x2",
            "cvt.e5m2x2",
            "cvt.tf32.rn",
            "cvt.tf32.rz",
            "isspacep.shared::*",
            "ld.shared::*",
            "st.shared::*",
            "atom.shared::*",
            "red.shared::*",
            "cvta.shared::*",
            "mbarrier.shared::*",
            "cp.shared::*",
            "ldmatrix.shared::*",
            "fence.cluster",
            "ld.cluster",
            "st.cluster",
            "atom.cluster",
            "red.cluster",
            "set.bf16*",
            "setp.bf16*",
        ],
    ),
    since(
        8,
        0,
        &[
            "fence.mbarrier_init",
            "fence.proxy.async*",
            "mbarrier.expect_tx",
            "mbarrier.release",
            "mbarrier.acquire",
            "mbarrier.cluster",
            "mbarrier.cta",
            "barrier.cluster.release",
            "barrier.cluster.acquire",
            "barrier.cluster.relaxed",
            "add.u16x2",
            "add.s16x2",
            "min.u16x2",
            "min.s16x2",
            "max.u16x2",
            "max.s16x2",
            "min.relu.s32",
            "max.relu.s32",
            "prefetch.tensormap",
        ],
    ),
    since(
        8,
        1,
        &[
            "multimem", "atom.v2", "atom.v4", "atom.v8", "red.v2", "red.v4", "red.v8",
        ],
    ),
    since(8, 2, &["ld.mmio", "st.mmio", "lop3.or", "lop3.and"]),
    since(
        8,
        3,
        &[
            "tensormap",
            "fence.proxy.tensormap::generic",
            "ld.b128",
            "st.b128",
            "mov.b128",
            "atom.b128",
            "ld.param::*",
            "st.param::*",
            "cvta.param::*",
            "isspacep.param::*",
        ],
    ),
    since(
        8,
        6,
        &[
            "tcgen05",
            "clusterlaunchcontrol",
            "add.f32x2",
            "mul.f32x2",
            "fma.f32x2",
            "sub.f32x2",
            "redux.f32",
            "mbarrier.relaxed.arrive",
            "mbarrier.relaxed.arrive_drop",
            "mbarrier.relaxed.try_wait",
            "mbarrier.relaxed.test_wait",
            "cvt.e2m1x2",
            "cvt.e2m3x2",
            "cvt.e3m2x2",
            "cvt.ue8m0x2",
            "ldmatrix.m16n16",
            "ldmatrix.m8n16",
            "stmatrix.m16n8",
            "add.f32.f16",
            "add.f32.bf16",
            "sub.f32.f16",
            "sub.f32.bf16",
            "fma.f32.f16",
            "fma.f32.bf16",
        ],
    ),
    since(8, 7, &["cvt.rs"]),
    since(8, 8, &["ld.v8", "st.v8"]),
];

const fn since(major: u32, minor: u32, opcodes: &'static [&'static str]) -> Since {
    Since {
        version: (major, minor),
        opcodes,
    }
}

/// Nothing here is older.
const OLDEST: (u32, u32) = (7, 0);

impl Instruction {
    /// The version of PTX, major and minor, that has it; 7.0 for all that is as old or older. `source` is the text that
    /// was parsed.
    #[must_use]
    pub fn version(&self, source: &str) -> (u32, u32) {
        let by_opcode = version_of(self.opcode(source));
        let by_row = self.operation.row().since();
        let mut version = by_row.max(by_opcode).max(by_operands(&self.operation));
        self.operation.visit(Wanted::Any, &mut |named| {
            if let Named::Special(special, _) = named {
                version = version.max(of_special(special));
            }
        });
        version
    }
}

impl Module {
    /// The newest version that one of its instructions needs. `source` is the text that was parsed.
    #[must_use]
    pub fn needed_version(&self, source: &str) -> (u32, u32) {
        let bodies = self.functions.iter().filter_map(|it| it.body.as_ref());
        let instructions = bodies.flat_map(|body| &body.instructions);
        let versions = instructions.map(|it| it.version(source));
        versions.max().unwrap_or(OLDEST)
    }
}

/// The version that operands tell, where the opcode alone does not.
const fn by_operands(operation: &Operation) -> (u32, u32) {
    match operation {
        Operation::Fence(
            Fence::AsyncGeneric { .. }
            | Fence::Thread {
                order: Order::Acquire | Order::Release,
                ..
            },
        ) => (8, 6),
        Operation::FloatMin(it) | Operation::FloatMax(it) if it.c.is_some() => (8, 8),
        Operation::Cvt(Cvt {
            to, from, b: None, ..
        }) => match (to, from) {
            (Type::Bf16, Type::F32) => OLDEST,
            (Type::F32, Type::Bf16) => (7, 1),
            (Type::Bf16, _) | (_, Type::Bf16) => (7, 8),
            _ => OLDEST,
        },
        _ => OLDEST,
    }
}

/// Registers of clusters came with them.
const fn of_special(special: SpecialRegister) -> (u32, u32) {
    use SpecialRegister as S;
    match special {
        S::Clusterid(_)
        | S::Nclusterid(_)
        | S::ClusterCtaid(_)
        | S::ClusterNctaid(_)
        | S::ClusterCtarank
        | S::ClusterNctarank
        | S::IsExplicitCluster => (7, 8),
        _ => OLDEST,
    }
}

fn version_of(opcode: &str) -> (u32, u32) {
    let mut newest_first = ROWS.iter().rev();
    let row = newest_first.find(|row| row.opcodes.iter().any(|it| means(it, opcode)));
    row.map_or(OLDEST, |row| row.version)
}

/// Whether an entry of a row means an opcode.
fn means(entry: &str, opcode: &str) -> bool {
    let (mut wanted, mut parts) = (entry.split('.'), opcode.split('.'));
    let name = parts.next();
    wanted.next() == name
        && wanted.all(|wanted| {
            let mut rest = parts.clone();
            match wanted.strip_suffix('*') {
                Some(begin) => rest.any(|part| part.starts_with(begin)),
                None => rest.any(|part| part == wanted),
            }
        })
}
