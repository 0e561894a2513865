//! Chains in which each step waits for the one before: a chase through a random cycle, barriers of a grid and of a
//! block, and the clocks.

use cuda_std::launch::Signature;
use kernels_gpu::ceilings::WARP;
use kernels_gpu::ceilings::barrier::{LINE, wait_for_block, wait_for_grid};
use kernels_gpu::ceilings::chase::{
    SHARED_ELEMENTS, chase, chase_by_atomics, chase_by_atomics_in_shared, chase_shared,
};
use kernels_gpu::ceilings::clock::read_clocks;

use super::checked::OfSize;
use super::values::{Output, check_passed, check_same};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig};
use crate::measure::places;
use crate::workload::{Arrays, Axis, Case, Launch, Point, PointError, Workload};

/// So many `loads` through a cycle of `places`, `stride` elements apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chase {
    /// In memory or in the caches.
    Global,
    /// In shared memory, which holds [`SHARED_ELEMENTS`].
    Shared,
    /// As [`Chase::Global`], by atomic additions of 0.
    Atomic,
    /// As [`Chase::Shared`], by atomic additions of 0.
    SharedAtomic,
}

impl Workload for Chase {
    fn name(&self) -> &str {
        match self {
            Chase::Global => "chase",
            Chase::Shared => "chase_shared",
            Chase::Atomic => "chase_by_atomics",
            Chase::SharedAtomic => "chase_by_atomics_in_shared",
        }
    }

    fn axes(&self) -> Vec<Axis> {
        let whole = |name, value, help| Axis::whole(name, [value]).help(help);
        vec![
            whole("places", 1 << 10, "places in the cycle"),
            whole("stride", 1, "elements between two places"),
            whole("loads", 1000, "loads of a launch"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let loads = at.size("loads") as u32;
        let one_thread = LaunchConfig::blocks(1, 1);
        let entry = match self {
            Chase::Global => chase::entry(),
            Chase::Shared => chase_shared::entry().with_signature(),
            Chase::SharedAtomic => chase_by_atomics_in_shared::entry().with_signature(),
            Chase::Atomic => {
                let launch = at.launch(chase_by_atomics::entry(), one_thread);
                let arrays = chased(at, launch, usize::MAX);
                // SAFETY: `cycle` makes elements below the length, and there are three words for the one thread.
                return Ok(unsafe {
                    arrays.enqueue(move |it, prepared, stream| {
                        it.launches += 1;
                        let arguments = (it.there.slice_mut(..), loads, it.out.slice_mut(..));
                        prepared.launch(stream, &arguments)
                    })
                });
            }
        };
        let most = match self {
            Chase::Global => usize::MAX,
            _ => SHARED_ELEMENTS,
        };
        let arrays = chased(at, at.launch(entry, one_thread), most);
        // SAFETY: as above, and those in shared memory get no more elements than they have room for.
        Ok(unsafe {
            arrays.enqueue(move |it, prepared, stream| {
                it.launches += 1;
                let arguments = (it.there.slice(..), loads, it.out.slice_mut(..));
                prepared.launch(stream, &arguments)
            })
        })
    }
}

/// The cycle of a chase, of at most so many elements, and where it should end.
pub(super) fn chased<'d, S: Signature>(
    at: &Point<'d>,
    launch: Launch<'d, S>,
    most: usize,
) -> Arrays<'d, S, Chased> {
    let [n, stride, loads] = ["places", "stride", "loads"].map(|axis| at.size(axis));
    let places = n.clamp(1, most / stride);
    launch
        .arrays(move |device| Chased::new(device, places, stride))
        .check(move |it| it.check(loads))
        .counters(|it| counted(&it.out.to_vec()?))
}

/// The arrays of a chase.
pub(super) struct Chased {
    pub(super) next: Vec<u32>,
    pub(super) there: DeviceBuffer<u32>,
    /// Cycles, nanoseconds, and where a launch goes on; then what else a kernel has.
    pub(super) out: DeviceBuffer<u64>,
    pub(super) launches: usize,
}

impl Chased {
    /// A random cycle of so many places, so many elements apart.
    pub(super) fn new(
        device: &Device,
        places: usize,
        stride: usize,
    ) -> Result<Chased, DriverError> {
        let next = cycle(places, stride);
        Ok(Chased {
            there: device.buffer_from(&next)?,
            out: device.buffer_from(&[0, 0, next[0].into()])?,
            next,
            launches: 0,
        })
    }

    /// Fails unless all launches of so many loads together have ended where they should: each goes on where the one before has
    /// ended.
    pub(super) fn check(&self, loads: usize) -> Result<(), PointError> {
        let loads = 0..self.launches * loads;
        let end = loads.fold(self.next[0], |at, _| self.next[at as usize]);
        let out = self.out.to_vec()?;
        check_passed(&out[..2])?;
        if self.launches > 0 && out[0] == 0 {
            return Err("a launch took no cycle".into());
        }
        check_same(&out[2..3], &[u64::from(end)])
    }
}

/// Cycles and nanoseconds: the first words.
pub(super) fn counted(out: &[u64]) -> Result<[u64; 2], PointError> {
    Ok([out[0], out[1]])
}

/// An array of `count` places, `stride` elements apart, each of which holds the next: in a random
/// order, which comes to all of them (S. Sattolo, "An algorithm to generate a random cyclic
/// permutation", Information Processing Letters 22, 1986).
pub(crate) fn cycle(count: usize, stride: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(1);
    let mut next: Vec<u32> = (0..count as u32).collect();
    for i in (1..count).rev() {
        next.swap(i, random.usize(..i));
    }
    let mut array = vec![0; count * stride];
    for (i, next) in next.into_iter().enumerate() {
        array[i * stride] = next * stride as u32;
    }
    array
}

/// So many barriers of so many `blocks`, no more than the device holds at once.
pub(crate) struct Barrier;

impl Workload for Barrier {
    fn name(&self) -> &str {
        "wait_for_grid"
    }

    fn axes(&self) -> Vec<Axis> {
        let barriers = Axis::whole("barriers", [20]).help("barriers of a launch");
        let blocks = Axis::whole("blocks", [3]).help("blocks of the launch");
        vec![barriers, blocks]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let (entry, rounds) = (wait_for_grid::entry(), at.whole("barriers") as u32);
        let one = at
            .device()
            .prepare(entry, LaunchConfig::blocks(1, at.block()))?;
        let blocks = at.whole("blocks").min(at.device().blocks_at_once(&one)?);
        let arrays = at
            .launch(entry, LaunchConfig::blocks(blocks, at.block()))
            .cooperative()
            .arrays(|device| Ok((device.buffer_zeroed(1)?, Output::<u64>::new(device, 3)?, 0)))
            .check(move |(arrivals, out, launches)| {
                let out = out.values()?;
                check_passed(&out[..2])?;
                check_same(&out[2..], &[u64::from(rounds)])?;
                // All blocks together have added 2^31 in each round.
                check_same(&arrivals.to_vec()?, &[rounds.wrapping_mul(*launches) << 31])
            })
            .counters(|(_, out, _)| counted(&out.values()?));
        // SAFETY: a cooperative launch, a count of arrivals that begins with 0, and three words.
        Ok(unsafe {
            arrays.enqueue(move |(arrivals, out, launches), prepared, stream| {
                *launches += 1;
                prepared.launch(stream, &(rounds, arrivals.slice_mut(..), out.view()))
            })
        })
    }
}

/// So many barriers of one block.
pub(crate) struct BlockBarrier;

impl Workload for BlockBarrier {
    fn name(&self) -> &str {
        wait_for_block::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("barriers", [1000]).help("barriers of a launch")]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let lines = block_barriers(at.whole("barriers")) / LINE;
        let arrays = at
            .launch(wait_for_block::entry(), LaunchConfig::blocks(1, at.block()))
            .arrays(|device| Output::<u64>::new(device, 3))
            .check(move |out| {
                let out = out.values()?;
                check_passed(&out[..2])?;
                check_same(&out[2..], &[u64::from(lines * LINE)])
            })
            .counters(|out| counted(&out.values()?));
        // SAFETY: there are three words.
        Ok(unsafe { arrays.arguments_unchecked(move |out| (lines, out.view())) })
    }
}

/// The barriers of a launch that should have so many: whole lines, at least one.
pub(crate) fn block_barriers(barriers: u64) -> u32 {
    (barriers as u32).next_multiple_of(LINE).max(LINE)
}

/// Blocks, of which the first of each multiprocessor writes its place and no other.
pub(super) fn clocks() -> &'static OfSize {
    const SLOTS: usize = 3;
    const UNTOUCHED: [u64; 2] = [u64::MAX; 2];
    let blocks = Axis::whole("blocks", [1 << 10]).help("blocks of the launch");
    OfSize::new(read_clocks::entry().name(), blocks, |at| {
        let (n, places) = (at.size("blocks").max(1), places(at.device()));
        let arrays = at
            .launch(read_clocks::entry(), LaunchConfig::blocks(n as u64, WARP))
            .arrays(move |device| device.buffer_filled(SLOTS * places as usize, UNTOUCHED))
            .check(move |out| {
                let out = out.to_vec()?;
                let slots: Vec<&[[u64; 2]]> = out.chunks(places as usize).collect();
                for other in [slots[0], slots[2]] {
                    check_same(other, &vec![UNTOUCHED; other.len()])?;
                }
                let written: Vec<_> = slots[1].iter().filter(|&&it| it != UNTOUCHED).collect();
                if written.is_empty() || written.len() > n {
                    return Err(format!("{n} blocks wrote {} places", written.len()).into());
                }
                let is_half = |pair: &&&[u64; 2]| pair.contains(&u64::MAX) || pair[1] == 0;
                match written.iter().find(is_half) {
                    Some(pair) => Err(format!("the clocks are {pair:?}").into()),
                    None => Ok(()),
                }
            });
        // SAFETY: there is room for three slots, whose bits are set once the launch before has ended.
        Ok(unsafe {
            arrays.enqueue(move |out, prepared, stream| {
                stream.synchronize()?;
                out.poison()?;
                prepared.launch(stream, &(out.slice_mut(..), places, 1))
            })
        })
    })
}
