//! The one list of the embedded workloads: what each is called, is good for, and where it is checked.

use std::sync::LazyLock;

use kernels_gpu::ceilings::chains::{
    AddMulF16x2, AddMulF32, Exp2F32, FmaBf16x2, FmaF16x2, FmaF32, FmaF64, MadI32, Measured,
};
use kernels_gpu::polynomial::{ILPS, WIDTHS};

use super::atomics::{APART, Additions, TOGETHER};
use super::banks::{Banks, WAYS};
use super::busy::ChaseWhileRead;
use super::caches::{Again, Shared};
use super::chains::Chains;
use super::checked::{Checked, FEW, FULL};
use super::exchange::Exchange;
use super::latency::{Barrier, BlockBarrier, Chase, clocks};
use super::partitions::Lines;
use super::stream::{self, UNROLLS};
use super::{
    Fma, Gemv, Matmul, Polynomial, Stream, distributed, elementwise, gemv, matmul, norm, peer,
    power,
};
use crate::driver::DeviceValue;
use crate::workload::Workload;

/// A workload of the list.
pub struct Listed {
    /// The workload.
    pub workload: &'static dyn Workload,
    /// Another name that every command takes for it.
    pub alias: Option<&'static str>,
    /// Uses beside being named and checked.
    pub uses: &'static [Use],
    /// The points at which its kernels are checked, unless another's are of the same kernels.
    pub(crate) checks: Vec<Checked>,
}

/// A use of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A sweep that names none takes it.
    Sweep,
    /// An occupancy study that names none takes it.
    Occupancy,
    /// It is one of those that `all` stands for: memory, arithmetic or both bound it.
    All,
    /// A pipeline streams chunks through it ([`Workload::chunk`]).
    Chunks,
}

impl Listed {
    /// One that is good for being named.
    pub(super) fn checked(
        workload: &'static dyn Workload,
        checks: impl IntoIterator<Item = Checked>,
    ) -> Listed {
        Listed {
            workload,
            alias: None,
            uses: &[],
            checks: checks.into_iter().collect(),
        }
    }

    fn good_for(self, uses: &'static [Use]) -> Listed {
        Listed { uses, ..self }
    }

    fn also_called(self, alias: &'static str) -> Listed {
        Listed {
            alias: Some(alias),
            ..self
        }
    }

    /// Whether it is good for this.
    pub fn is_for(&self, what: Use) -> bool {
        self.uses.contains(&what)
    }
}

/// All of them, each name once.
pub fn list() -> &'static [Listed] {
    static LIST: LazyLock<Vec<Listed>> = LazyLock::new(|| {
        let mut list = ceilings();
        list.extend(elementwise::listed());
        list.extend(norm::listed());
        list.extend(power::listed());
        list.extend(distributed::listed());
        list.extend(streams());
        list.extend(products());
        list.extend(polynomials());
        list
    });
    &LIST
}

/// The workloads of the list.
pub fn all() -> Vec<&'static dyn Workload> {
    list().iter().map(|listed| listed.workload).collect()
}

/// Where they are checked: all kernels, each at least once.
pub(crate) fn checked() -> impl Iterator<Item = &'static Checked> {
    list().iter().flat_map(|listed| &listed.checks)
}

fn streams() -> Vec<Listed> {
    use Use::{All, Occupancy};
    // In blocks of 160 three tiles of eight vectors a thread, but for the last vector: a thread's last one is the first that is not there,
    // after tiles that are whole, whatever the tile. Less than a tile, of which each thread's last vector is needed, are 257 vectors of
    // two a thread, and in blocks of 128 a thousand of eight.
    const UNEVEN: usize = 3 * 8 * 160 - 1;
    // An element is a vector.
    let check =
        |it: &'static Stream, blocks: &[u32]| Checked::new(it, blocks).at("ilp", UNROLLS).each(4);
    let stream = |it: &'static Stream| {
        let checks = [check(it, &[128, 160]).most(UNEVEN), check(it, &[256])];
        Listed::checked(it, checks).good_for(&[All])
    };
    let norms = stream::norms_checked().chain([check(&Stream::NRM2, &[96]).all_seeded()]);
    vec![
        stream(&Stream::COPY).good_for(&[All, Occupancy]),
        stream(&Stream::READ),
        stream(&Stream::WRITE),
        stream(&Stream::SCALE),
        stream(&Stream::STREAM_SCALE),
        stream(&Stream::ELEMENTWISE),
        stream(&Stream::TRIAD),
        Listed::checked(&Stream::NRM2, norms).good_for(&[All]),
    ]
}

fn products() -> Vec<Listed> {
    use Use::{All, Chunks, Occupancy};
    vec![
        Listed::checked(&Gemv, gemv::checked()).good_for(&[All]),
        Listed::checked(&Matmul, [matmul::checked()]).good_for(&[All, Chunks]),
        // Its kernels are checked in launches of other sizes, as those of `fma_f32`.
        Listed::checked(&Fma, []).good_for(&[All, Occupancy]),
    ]
}

fn polynomials() -> Vec<Listed> {
    use Use::{All, Chunks, Sweep};
    // Steps beside the last: fewer than a straight line has, and more; each of the shorter lines is taken by some and not by others,
    // whether one step is left or not; none; and as many as the compiler takes at once of the elements beside vectors, which are three at
    // most. Few blocks have vectors in several turns. In the last one of some launches the first vector that is not there is a
    // thread's first, in others its second.
    let launches = [
        (0b0101_0101 + 1, 96, FULL, usize::MAX),
        (0b1_0010_1011 + 1, 32, FEW, usize::MAX),
        (1, 96, FULL, 500),
        (1, 96, FEW, 2000),
        (32 + 1, 96, FULL, 3),
        (64 + 1, 96, FULL, 3),
    ];
    let points = |it: &'static Polynomial, dtypes: &[&'static str], of: usize| {
        let (degree, block, grid, most) = launches[of];
        Checked::new(it, &[block])
            .in_grid(grid)
            .most(most)
            .at("k", [degree])
            .at("dtype", dtypes.iter().copied())
            .at("ilp", ILPS)
    };
    let polynomial = |it: &'static Polynomial, varied, integers: &[&'static str]| {
        // An element of f16x2 is two numbers.
        let checks = (0..launches.len()).flat_map(|of| {
            let floats = points(varied, &["f32", "f64"], of).at("vector", WIDTHS);
            let pairs = points(varied, &["f16x2"], of).at("vector", WIDTHS).each(2);
            let whole = integers
                .iter()
                .map(move |dtype| points(varied, &[dtype], of).at("vector", [1]));
            [floats, pairs].into_iter().chain(whole)
        });
        Listed::checked(it, checks.collect::<Vec<_>>())
    };
    vec![
        polynomial(&Polynomial::POWER_SUM, &Polynomial::VARIED_POWER_SUM, &[])
            .good_for(&[All, Sweep, Chunks]),
        polynomial(&Polynomial::HORNER, &Polynomial::VARIED_HORNER, &["i32"])
            .good_for(&[All, Chunks])
            .also_called("polynomial"),
    ]
}

/// Returns the workloads that measure arithmetic, caches, latencies and barriers.
fn ceilings() -> Vec<Listed> {
    /// Threads per block.
    const BLOCK: u32 = 128;
    /// Of threads or barriers that each take their time.
    const MAX: usize = 1000;
    /// Of blocks that each load many lines.
    const MAX_BLOCKS: usize = 9;
    let one_shape = |it| Checked::one_shape(it, BLOCK);
    let again = one_shape(&Again)
        .at("passes", [0, 3])
        .at("steps", [0, 1, 2])
        .at("shift", [0, 1]);
    // With a power of two threads each reads again what it has written itself, and needs no barrier.
    let shared = |block| Checked::one_shape(&Shared, block).at("passes", [0, 3]);
    let chase = |it: &'static Chase| {
        let points = one_shape(it).sized_by("places");
        // None, fewer than the loop takes at once, as many, and some beside whole turns of it.
        Listed::checked(it, [points.at("stride", [1]).at("loads", [0, 5, 8, 1003])])
    };
    let busy = one_shape(&ChaseWhileRead)
        .sized_by("places")
        .at("stride", [1])
        .at("loads", [503])
        .at("readers", [0, 1, 3])
        .at("steps", [0, 9])
        .at("ended", [0, 1])
        .at("passes", [0, 1, 2]);
    let banks = |strides: &[u32], passes: &[u64]| {
        let points = one_shape(&Banks).at("stride", strides.iter().copied());
        points.at("passes", passes.iter().copied()).most(MAX)
    };
    // The compiler takes two passes at once: none, one that is left, two, and both.
    let banks = [banks(&WAYS, &[3]), banks(&[2], &[0, 1, 2])];
    let additions = |it: &'static Additions| {
        let points = one_shape(it).at("stride", [TOGETHER, APART]);
        Listed::checked(it, [points.at("steps", [3, 8, 19])])
    };
    let exchange = |it: &'static Exchange| {
        let points = one_shape(it).at("steps", [384]);
        Listed::checked(it, [points.most(MAX)])
    };
    let barrier = one_shape(&Barrier).sized_by("barriers");
    let clocks = clocks();
    vec![
        operation::<FmaF32>(),
        operation::<FmaF64>(),
        operation::<FmaF16x2>(),
        operation::<FmaBf16x2>(),
        operation::<AddMulF32>(),
        operation::<AddMulF16x2>(),
        operation::<MadI32>(),
        operation::<Exp2F32>(),
        Listed::checked(&Again, [again]),
        Listed::checked(&Shared, [BLOCK, 96].map(shared)),
        chase(&Chase::Global),
        chase(&Chase::Shared),
        chase(&Chase::Atomic),
        chase(&Chase::SharedAtomic),
        Listed::checked(&ChaseWhileRead, [busy]),
        Listed::checked(
            &Lines,
            [one_shape(&Lines).sized_by("blocks").most(MAX_BLOCKS)],
        ),
        Listed::checked(&Banks, banks),
        additions(&Additions::Global),
        additions(&Additions::Shared),
        exchange(&Exchange::Shuffle),
        exchange(&Exchange::Vote),
        Listed::checked(&Barrier, [barrier.at("blocks", [3]).most(MAX)]),
        Listed::checked(
            &BlockBarrier,
            [one_shape(&BlockBarrier)
                .sized_by("barriers")
                .each(4)
                .most(MAX)],
        ),
        Listed::checked(clocks, [Checked::of_size(clocks)]),
        peer::listed(),
    ]
}

fn operation<O: Measured<Value: DeviceValue>>() -> Listed {
    let workload: &'static Chains<O> = &Chains::<O>::NEW;
    let chains = O::VARIANTS.iter().map(|variant| variant.chains);
    let points = Checked::one_shape(workload, 128)
        .at("ilp", chains)
        .at("steps", [2 * O::LINE]);
    Listed::checked(workload, [points])
}
