//! Vectors read, copied, scaled, combined, and their norm: kernels that memory bounds, with 1 to 8 loads
//! of 16 bytes of a thread under way.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use cuda_std::launch::{Entry, Signature};
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::stream::*;
use kernels_gpu::studied::{axpys, norms, scales as studied_scales};

use super::checked::Checked;
use super::norm::{self, Grid};
use super::numbers::{BLOCKS, NUMBERS, Numbers};
use super::pattern::*;
use super::values::{Expected, Output, check_same};
use crate::driver::{DeviceBuffer, LaunchConfig};
use crate::model::{Operation, Precision, Work};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// A kernel over vectors.
#[derive(Clone, Copy, Debug)]
pub struct Stream(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Copy,
    Read,
    Scale,
    Elementwise,
    Nrm2,
    Write,
    StreamScale,
    Triad,
}

impl Stream {
    /// y = x
    pub const COPY: Stream = Stream(Kind::Copy);
    /// The sum of x.
    pub const READ: Stream = Stream(Kind::Read);
    /// y = a x
    pub const SCALE: Stream = Stream(Kind::Scale);
    /// y = a x + z, of each element.
    pub const ELEMENTWISE: Stream = Stream(Kind::Elementwise);
    /// The Euclidean norm of x.
    pub const NRM2: Stream = Stream(Kind::Nrm2);
    /// y = the pattern.
    pub(crate) const WRITE: Stream = Stream(Kind::Write);
    /// As [`Stream::SCALE`], by the kernel of STREAM.
    pub(crate) const STREAM_SCALE: Stream = Stream(Kind::StreamScale);
    /// y = x + a z.
    pub(crate) const TRIAD: Stream = Stream(Kind::Triad);
}

/// Vectors of a thread that are under way at once.
pub(crate) const UNROLLS: [u32; 4] = [1, 2, 4, 8];

/// The factor of x or z.
const FACTOR: f32 = 0.75;

impl Kind {
    /// An element of y.
    fn of(self, x: f32, z: f32) -> f32 {
        match self {
            Kind::Scale | Kind::StreamScale => FACTOR * x,
            Kind::Elementwise => FACTOR.mul_add(x, z),
            Kind::Triad => FACTOR.mul_add(z, x),
            Kind::Copy | Kind::Write | Kind::Read | Kind::Nrm2 => x,
        }
    }

    /// Arrays that are read.
    fn arrays_read(self) -> usize {
        match self {
            Kind::Write => 0,
            Kind::Elementwise | Kind::Triad => 2,
            _ => 1,
        }
    }

    /// Whether a thread that has one vector under way takes no second one.
    fn needs_all_threads(self) -> bool {
        matches!(
            self,
            Kind::Copy | Kind::Write | Kind::StreamScale | Kind::Triad
        )
    }
}

macro_rules! variant {
    ($unroll:expr; $u1:ident $u2:ident $u4:ident $u8:ident) => {
        match $unroll {
            1 => $u1::entry(),
            2 => $u2::entry().with_signature::<$u1>(),
            4 => $u4::entry().with_signature::<$u1>(),
            _ => $u8::entry().with_signature::<$u1>(),
        }
    };
}

/// The error that a norm may have, relative to it: some neighbours are added up in `f32`.
const NORM_TOLERANCE: f64 = 1e-6;

impl Workload for Stream {
    fn name(&self) -> &str {
        match self.0 {
            Kind::Copy => "copy",
            Kind::Read => "read",
            Kind::Scale => "scale",
            Kind::Elementwise => "elementwise",
            Kind::Nrm2 => "nrm2",
            Kind::Write => "write",
            Kind::StreamScale => "stream_scale",
            Kind::Triad => "triad",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::one_of("ilp", UNROLLS, UNROLLS).help("16-byte loads in flight per thread"),
            Axis::whole("n", [1 << 26])
                .on_emulator([1 << 14])
                .help("elements in each f32 array"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        if !at.block().is_multiple_of(WARP) {
            let block = at.block();
            return Err(format!(
                "a block of {block} threads: the kernels need whole warps of {WARP}"
            )
            .into());
        }
        let ilp = at.whole("ilp") as u32;
        let vectors = at.size("n") / WIDTH;
        if vectors == 0 && at.size("n") > 0 {
            return Err(
                format!("elements: {} given, at least {WIDTH} needed", at.size("n")).into(),
            );
        }
        let case = match self.0 {
            Kind::Read => read(at, ilp, vectors),
            Kind::Nrm2 => norm(at, ilp, vectors),
            _ => self.writing(at, ilp, vectors),
        };
        // One of each array.
        Ok(case.loads(16, ilp * self.0.arrays_read() as u32))
    }
}

/// The arrays of a launch that writes y.
struct Arrays {
    vectors: u64,
    x: DeviceBuffer<Vector>,
    z: DeviceBuffer<Vector>,
    y: Output<Vector>,
}

impl Stream {
    /// A launch that writes y, in blocks of whole warps.
    fn writing<'d>(&self, at: &Point<'d>, ilp: u32, vectors: usize) -> Case<'d> {
        let n = vectors * WIDTH;
        let there_is = "there is one for each of UNROLLS";
        match self.0 {
            Kind::Copy => {
                let entry = variant!(ilp; copy_u1 copy_u2 copy_u4 copy_u8);
                // SAFETY: x and y have as many vectors.
                unsafe { self.map(at, entry, vectors, |it| (it.x.slice(..), it.y.view())) }
            }
            Kind::Scale | Kind::StreamScale => {
                let studied = || studied_scales(ilp).expect(there_is).with_signature();
                let entry = match self.0 {
                    Kind::Scale => studied(),
                    _ => variant!(ilp; scale_u1 scale_u2 scale_u4 scale_u8),
                };
                // SAFETY: as for `copy`; both kernels take the same.
                unsafe {
                    self.map(at, entry, vectors, |it| {
                        (it.x.slice(..), it.y.view(), FACTOR)
                    })
                }
                .operations(Precision::F32, Operation::Multiply, n)
            }
            Kind::Elementwise | Kind::Triad => {
                let studied = || axpys(ilp).expect(there_is).with_signature();
                let entry = match self.0 {
                    Kind::Elementwise => studied(),
                    _ => variant!(ilp; triad_u1 triad_u2 triad_u4 triad_u8),
                };
                // SAFETY: as for `scale`; z has as many vectors, too.
                let case = unsafe {
                    self.map(at, entry, vectors, |it| {
                        (it.x.slice(..), it.z.slice(..), it.y.view(), FACTOR)
                    })
                };
                case.operations(Precision::F32, Operation::Fma, n)
            }
            _ => {
                let entry = variant!(ilp; write_u1 write_u2 write_u4 write_u8);
                // SAFETY: y has so many vectors.
                unsafe { self.map(at, entry, vectors, |it| (it.y.view(), it.vectors)) }
            }
        }
    }

    /// # Safety
    /// The kernel takes arrays of as many vectors each, apart and aligned as device allocations are, in
    /// blocks of whole warps and a grid of one dimension.
    unsafe fn map<'d, S: Signature>(
        &self,
        at: &Point<'d>,
        entry: Entry<S>,
        vectors: usize,
        arguments: impl for<'a> Fn(&'a mut Arrays) -> S::Arguments<'a> + 'd,
    ) -> Case<'d> {
        let (Stream(kind), ilp) = (*self, at.whole("ilp"));
        let config = match ilp == 1 && kind.needs_all_threads() {
            true => LaunchConfig::linear(vectors as u64, at.block()),
            false => at.linear(vectors.div_ceil(ilp as usize)),
        };
        let of_array = move |number| {
            if kind.arrays_read() >= number {
                vectors
            } else {
                0
            }
        };
        let (device, n) = (at.device(), vectors * WIDTH);
        let arrays = at
            .launch(entry, config)
            .arrays(move |device| {
                Ok(Arrays {
                    vectors: vectors as u64,
                    x: patterned(device, 0, of_array(1))?,
                    z: patterned(device, first_of_z(n), of_array(2))?,
                    y: Output::new(device, vectors)?,
                })
            })
            .check(move |arrays| {
                if n > EACH {
                    let sum = sum_on_device(device, arrays.y.slice())?;
                    return adds_up(&[sum], expected(kind, n));
                }
                let expected: Vec<f32> = (0..n).map(|i| element(kind, i, n)).collect();
                check_same(arrays.y.values()?.as_flattened(), &expected)
            });
        // SAFETY: the caller's contract.
        let case = unsafe { arrays.arguments_unchecked(arguments) };
        case.reads::<Vector>(kind.arrays_read() * vectors)
            .writes::<Vector>(vectors)
    }
}

fn read<'d>(at: &Point<'d>, ilp: u32, vectors: usize) -> Case<'d> {
    let config = at.linear(vectors.div_ceil(ilp as usize));
    let arrays = at
        .launch(variant!(ilp; read_u1 read_u2 read_u4 read_u8), config)
        .arrays(move |device| {
            let x = patterned(device, 0, vectors)?;
            Ok((x, Output::new(device, warps(config))?))
        })
        .check(move |(_, sums)| adds_up(&sums.values()?, expected(Kind::Read, vectors * WIDTH)));
    // SAFETY: sums has a place for each warp, and blocks are whole warps (`case`).
    let case = unsafe { arrays.arguments_unchecked(|(x, sums)| (x.slice(..), sums.view())) };
    case.reads::<Vector>(vectors)
}

fn norm<'d>(at: &Point<'d>, ilp: u32, vectors: usize) -> Case<'d> {
    let config = match at.given(BLOCKS) {
        Some(blocks) => LaunchConfig::blocks(blocks, at.block()),
        None => at.one_wave(vectors.div_ceil(ilp as usize)),
    };
    let entry = norms(ilp).expect("there is one for each of UNROLLS");
    let n = vectors * WIDTH;
    let numbers = at.given(NUMBERS).map(|_| Numbers::at(at));
    let numbers = numbers.map(|it| (it, it.of::<f32>(n)));
    let given = numbers.clone();
    let arrays = at
        .launch(entry, config)
        .arrays(move |device| {
            let x = match &given {
                Some((_, numbers)) => device.buffer_from(numbers.as_chunks().0)?,
                None => patterned(device, 0, vectors)?,
            };
            let result = Output::<f32>::new(device, 1)?;
            Ok((x, result, Grid::new(device, config.grid[0])?))
        })
        .check(move |(_, result, grid)| {
            let expected = match &numbers {
                Some((kind, numbers)) => kind.norm_of(numbers),
                None => {
                    let value = norm_of_pattern(n);
                    let tolerance = NORM_TOLERANCE * value;
                    Expected { value, tolerance }
                }
            };
            result.check([expected].into_iter())?;
            grid.check()
        });
    // SAFETY: x is aligned as device allocations are; there is a partial sum for each block, a ticket that
    // begins at 0 and is 0 again after each launch, and blocks are whole warps (`case`).
    let case = unsafe {
        arrays.arguments_unchecked(|(x, result, grid)| {
            let (partials, ticket) = grid.views();
            (x.slice(..), result.view(), partials, ticket)
        })
    };
    case.reads::<Vector>(vectors)
        .operations(Precision::F32, Operation::Fma, n)
        .overhead(beside_norm(vectors, ilp, config))
}

/// Where the norm is checked, beside launches of users: in grids of small blocks, with other numbers in several of them, and in blocks of
/// 32 warps.
pub(super) fn norms_checked() -> impl Iterator<Item = Checked> {
    const SMALL: u32 = 64;
    let checked = |block: u32, blocks: &[u64]| {
        let it = Checked::one_shape(&Stream::NRM2, block).at("ilp", UNROLLS);
        it.at(BLOCKS, blocks.iter().copied())
    };
    let elements = |block: u32| u64::from(block) * WIDTH as u64;
    // All threads of a block add up the sums of more blocks, four in a turn: each of these is the last of some.
    let of_a_block = (0..4).map(|i| 256 + u64::from(SMALL) * i + 9);
    let few: Vec<u64> = norm::OF_A_WARP.into_iter().chain(of_a_block).collect();
    // In each block one vector a thread.
    let full = move |block, blocks, numbers: Numbers| {
        let it = checked(block, &[blocks]).at(NUMBERS, [numbers as u64]);
        it.of_sizes([elements(block) * blocks])
    };
    let others = checked(96, &[3]).at(NUMBERS, 1..Numbers::ALL.len() as u64);
    [
        checked(SMALL, &few)
            .all_seeded()
            .of_sizes([3 * elements(SMALL)]),
        others.of_sizes([40 * elements(96) + 5 * WIDTH as u64]),
        full(SMALL, 250, Numbers::Usual).all_seeded(),
        full(SMALL, 456, Numbers::Usual).all_seeded(),
        full(SMALL, 250, Numbers::Alone),
        full(SMALL, 288, Numbers::Alone),
        // Alone in the last warps of the block itself, and of the block that adds up the sums of all.
        full(1024, 1, Numbers::Alone),
        full(1024, 544, Numbers::Alone),
    ]
    .into_iter()
}

/// Returns the work of the norm's launch beside the squares: that of vectors that are not there, and the sums of each
/// thread's squares in f32 and of the block's in f64.
fn beside_norm(vectors: usize, ilp: u32, config: LaunchConfig) -> Work {
    let (block, ilp) = (config.block_threads() as usize, ilp as usize);
    let blocks = config.grid[0] as usize;
    // As `kernels_gpu::stride::shared_out` does.
    let share = match vectors <= blocks * block {
        true => block,
        false => vectors.div_ceil(WARP as usize).div_ceil(blocks) * WARP as usize,
    };
    let (mut squares, mut groups) = (0, 0);
    let mut add = |own: usize, times: usize| {
        for thread in 0..block.min(own) {
            let left = (own - thread).div_ceil(block);
            let rest = match left % ilp {
                0 => 0,
                // Of one vector alone its own squares.
                1 => 1,
                _ => ilp - 1,
            };
            squares += times * (left / ilp * ilp + rest) * WIDTH;
            groups += times * left.div_ceil(ilp);
        }
    };
    let whole = vectors / share.max(1);
    add(share, whole);
    add(vectors - whole * share, 1);
    let threads = blocks * block;
    let padding = squares.saturating_sub(vectors * WIDTH);
    // Of a group its neighbours' squares and their sum; of a thread the sums of its vectors and of its warp.
    Work::default()
        .operations(Precision::F32, Operation::Fma, padding as f64)
        .operations(Precision::F32, Operation::Add, (WIDTH * groups) as f64)
        .operations(
            Precision::F64,
            Operation::Add,
            (groups + 9 * threads) as f64,
        )
}

/// Element `i` of the output of `n`.
fn element(kind: Kind, i: usize, n: usize) -> f32 {
    kind.of(pattern(i), pattern(i + first_of_z(n)))
}

/// Returns the sum of the output's words.
fn expected(kind: Kind, n: usize) -> u32 {
    static KNOWN: Mutex<BTreeMap<(Kind, usize), u32>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let sum = |range: Range<usize>| {
        let words = range.map(|i| element(kind, i, n).to_bits());
        words.fold(0, u32::wrapping_add)
    };
    *known
        .entry((kind, n))
        .or_insert_with(|| sum_of_words(&on_all_cores(n, sum)))
}
