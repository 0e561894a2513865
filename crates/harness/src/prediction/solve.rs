//! How many warps a multiprocessor finishes per second: as many as its busiest part allows, or as are there, each for as long as
//! it takes.
//!
//! Two bounds hold of any multiprocessor with `W` warps at once (Hong and Kim, ISCA 2009; Volkov, UCB/EECS-2016-143). No resource
//! does more than it can: `X <= 1 / D` for the seconds `D` of it that a warp takes. And by Little's law `X = W / T` for the seconds `T` that a
//! warp is there, which grow with the load on memory: `T` depends on `X`. Both sides of `X T(X) = W` are known, the left one
//! grows with `X`, so that halving an interval finds it.

use super::board::Board;
use super::cause::Parts;
use super::demand::{Demand, Resource};
use super::path::{Cycles, Path, Way};

/// Steps of halving, to less than a millionth of a millionth.
const HALVINGS: usize = 40;
/// Threads of a warp.
pub(super) const WARP: u64 = 32;

/// The launch whose time is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Threads per block.
    pub block_threads: u64,
    /// Blocks that a multiprocessor holds at once.
    pub resident_blocks: u32,
    /// Whether L2 has nothing of its data when it begins; else it has what the same launch before left there.
    pub is_cold: bool,
}

/// The work of a multiprocessor in a launch.
pub(super) struct Solved {
    pub(super) seconds: f64,
    /// The busiest resource, if it is what bounds the launch.
    pub(super) limit: Option<Resource>,
    /// Shares of the time that resources are busy, the busiest first.
    pub(super) busy: Vec<(Resource, f64)>,
    pub(super) parts: Parts,
}

/// A launch on a board.
pub(super) struct Situation<'a> {
    pub(super) board: &'a Board,
    pub(super) demand: &'a Demand,
    pub(super) path: &'a Path,
    pub(super) launch: Launch,
}

/// A warp that shares a multiprocessor.
struct Life {
    way: Way,
    turn: f64,
    /// For the block's other warps, which ask for the same at the same time.
    burst: f64,
}

impl Life {
    fn seconds(&self, board: &Board) -> f64 {
        self.turn + self.burst + self.way.cycles / board.cycles_per_second()
    }
}

impl Situation<'_> {
    fn block_warps(&self) -> f64 {
        self.launch.block_threads.div_ceil(WARP) as f64
    }

    /// Multiprocessors that have a block.
    fn active(&self) -> f64 {
        let all = u64::from(self.board.gpu.multiprocessors);
        self.launch.blocks.min(all) as f64
    }

    /// Blocks of the multiprocessor that has most of them.
    fn busiest(&self) -> f64 {
        (self.launch.blocks as f64 / f64::from(self.board.gpu.multiprocessors)).ceil()
    }

    fn warps(&self) -> f64 {
        f64::from(self.launch.resident_blocks).min(self.busiest()) * self.block_warps()
    }

    /// The share of the launch's bytes that memory moves: L2 still has the others.
    fn moved(&self) -> f64 {
        let warps = self.launch.blocks as f64 * self.block_warps();
        match self.launch.is_cold {
            true => 1.0,
            false => 1.0 - self.board.kept(self.demand.footprint * warps),
        }
    }

    /// The share of memory's traffic that is written.
    pub(super) fn written(&self) -> f64 {
        let Demand { read, written, .. } = self.demand;
        match read + written > 0.0 {
            true => written / (read + written),
            false => 0.0,
        }
    }

    /// Seconds of each resource of a multiprocessor that a warp takes.
    pub(super) fn demands(&self) -> Vec<(Resource, f64)> {
        use Resource::{
            Blocks, F16, F32, F64, Integer, Issue, L1, L2, Memory, Multiply, Shuffle, Special,
            Tensor,
        };
        let own = [
            Issue, F32, F64, F16, Integer, Multiply, Special, Shuffle, Tensor, L1, L2,
        ];
        let own = own.into_iter().map(|it| (it, self.demand.of(it)));
        let bytes = (self.demand.read + self.demand.written) * self.moved();
        let memory = bytes * self.active() / self.board.memory_rate(self.written());
        let start = self.board.facts.block_start / self.block_warps();
        own.chain([(Memory, memory), (Blocks, start)]).collect()
    }

    /// A warp where a multiprocessor finishes `rate` of them per second.
    fn life(&self, rate: f64, demands: &[(Resource, f64)]) -> Life {
        let facts = &self.board.facts;
        let of = |wanted| {
            demands
                .iter()
                .find(|it| it.0 == wanted)
                .map_or(0.0, |it| it.1)
        };
        let share = (rate * of(Resource::Memory)).min(1.0);
        let of_memory = match self.demand.l2_read > 0.0 {
            true => (self.demand.read * self.moved() / self.demand.l2_read).min(1.0),
            false => 0.0,
        };
        let latency = of_memory * self.board.memory_latency(self.written(), share)
            + (1.0 - of_memory) * facts.l2.latency;
        let load = latency * self.board.cycles_per_second();
        let way = self.path.walk(&Cycles {
            load,
            l1: facts.cycles.l1,
            atomic: facts.cycles.atomic,
            barrier: facts.cycles.barrier.at(self.launch.block_threads as f64),
        });
        let rounds = (self.demand.loads(&way) / load).max(1.0);
        Life {
            turn: facts.block_turn,
            burst: (self.block_warps() - 1.0) * self.lockstep(rounds, demands),
            way,
        }
    }

    /// Seconds that a warp waits for another one of its block, where loads are waited for in so many rounds. The warps of a block begin
    /// together, and L2 gives the bytes of a round one behind the other. Where barriers keep them together, nothing else is done
    /// while they wait for loads, and no loads are waited for while they compute.
    fn lockstep(&self, rounds: f64, demands: &[(Resource, f64)]) -> f64 {
        use Resource::{Blocks, Memory};
        let l2 = demands.iter().find(|it| it.0 == Resource::L2);
        let round = l2.map_or(0.0, |it| it.1 / rounds);
        let own = demands.iter().filter(|it| !matches!(it.0, Blocks | Memory));
        let longest = own.map(|it| it.1).fold(0.0, f64::max);
        round.max((self.demand.barriers / rounds).min(1.0) * longest)
    }

    pub(super) fn solve(&self) -> Solved {
        let demands = self.demands();
        let warps = self.warps();
        let longest = demands.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
        let (resource, seconds) = longest.expect("there are resources");
        let most = 1.0 / seconds;
        let at_most = self.life(most, &demands);
        let (rate, life, limit) = match most * at_most.seconds(self.board) <= warps {
            true => (most, at_most, Some(resource)),
            false => {
                let (mut low, mut high) = (0.0, most);
                for _ in 0..HALVINGS {
                    let rate = (low + high) / 2.0;
                    match rate * self.life(rate, &demands).seconds(self.board) < warps {
                        true => low = rate,
                        false => high = rate,
                    }
                }
                (low, self.life(low, &demands), None)
            }
        };
        // What all share is done when all is; a multiprocessor's own parts when the one with most blocks is.
        let mean = self.launch.blocks as f64 / self.active();
        let blocks = match limit {
            Some(Resource::Memory | Resource::L2 | Resource::Blocks) => mean,
            _ => self.busiest(),
        };
        let mut busy: Vec<_> = demands
            .iter()
            .map(|it| (it.0, (rate * it.1).min(1.0)))
            .collect();
        busy.retain(|it| it.1 > 0.0);
        busy.sort_by(|a, b| b.1.total_cmp(&a.1));
        Solved {
            seconds: self.board.facts.launch + blocks * self.block_warps() / rate,
            limit,
            busy,
            parts: Parts {
                warp: warps / rate,
                turn: life.turn,
                burst: life.burst,
                waits: life
                    .way
                    .waits
                    .iter()
                    .map(|it| it / self.board.cycles_per_second())
                    .collect(),
            },
        }
    }

    /// Seconds by the roofline's model: the longest of memory and arithmetic.
    pub(super) fn roof(&self) -> f64 {
        use Resource::{F16, F32, F64, Memory, Special, Tensor};
        let all = self.demands();
        let of_roof =
            |it: &&(Resource, f64)| matches!(it.0, F16 | F32 | F64 | Memory | Special | Tensor);
        let longest = all
            .iter()
            .filter(of_roof)
            .map(|it| it.1)
            .fold(0.0, f64::max);
        self.all_warps() / self.active() * longest
    }

    /// Seconds by Little's law with the latency of memory at speed, or by the roofline's model where that is longer: all loads of
    /// the warps that are there are in flight.
    pub(super) fn little(&self) -> f64 {
        /// The share of the greatest rate at which memory is at speed.
        const AT_SPEED: f64 = 0.95;
        let latency = self.board.memory_latency(self.written(), AT_SPEED);
        let in_turn = self.all_warps() / self.active() / self.warps();
        let loads = if self.demand.read > 0.0 { 1.0 } else { 0.0 };
        self.roof().max(loads * in_turn * latency)
    }

    fn all_warps(&self) -> f64 {
        self.launch.blocks as f64 * self.block_warps()
    }
}
