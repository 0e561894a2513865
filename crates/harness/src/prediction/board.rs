//! Descriptions of boards: what `ridgepoint ceilings` has measured of them, or their data sheets alone.

use ::occupancy::Arithmetic;
use serde::Deserialize;

use super::curve::Curve;
use crate::model::{self, Gpu, OccupancyRow, TensorType};

/// A board that launches are predicted for.
#[derive(Clone, Debug)]
pub struct Board {
    /// Its multiprocessors, clock and capability.
    pub gpu: Gpu,
    /// Whether `ridgepoint ceilings` has measured it, or it has its data sheet alone.
    pub is_measured: bool,
    pub(super) facts: Facts,
}

/// The measured facts of a board: the files of `boards/`, which docs/results/prediction/board.py makes of ceilings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Facts {
    /// The driver's name of the board.
    device: String,
    /// Seconds that a launch takes beside its blocks, from event to event.
    pub(super) launch: f64,
    /// Seconds from the start of a multiprocessor's block to that of its next one, at least.
    pub(super) block_start: f64,
    /// Seconds from the end of a block to the first instruction of the one in its place.
    pub(super) block_turn: f64,
    pub(super) cycles: Cycles,
    pub(super) memory: Memory,
    pub(super) l2: L2,
}

/// Cycles until a dependent instruction can be issued.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cycles {
    pub(super) f32: f64,
    pub(super) f64: f64,
    pub(super) f16: f64,
    pub(super) special: f64,
    pub(super) shuffle: f64,
    pub(super) vote: f64,
    pub(super) shared: f64,
    pub(super) shared_atomic: f64,
    pub(super) atomic: f64,
    pub(super) l1: f64,
    /// By threads per block.
    pub(super) barrier: Curve,
}

/// The memory of the device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Memory {
    /// Bytes per second, read and written, by the share that is written.
    rates: Curve,
    under_load: Vec<UnderLoad>,
}

/// Seconds that a load takes, by the share of the greatest rate that the memory gives meanwhile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnderLoad {
    /// The share of the traffic that is written.
    written: f64,
    latency: Curve,
}

/// The level 2 cache.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct L2 {
    /// Bytes per second.
    pub(super) rate: f64,
    /// Seconds that a load takes.
    pub(super) latency: f64,
    /// Bytes per second at which as many bytes are read again and again.
    again: Curve,
}

const MEASURED: [&str; 2] = [
    include_str!("boards/h200.json"),
    include_str!("boards/h100.json"),
];

impl Board {
    /// The board of a short name such as `h200`.
    ///
    /// # Errors
    /// In words: there is no board of this name, or as [`Board::of`].
    pub fn named(name: &str) -> Result<Board, String> {
        Board::of(Gpu::named(name)?)
    }

    /// The board of a GPU. One that was not measured has its data sheet's memory and clock, and the latencies of an H200.
    ///
    /// # Errors
    /// In words: the arithmetic of its multiprocessors is not known.
    pub fn of(gpu: Gpu) -> Result<Board, String> {
        if gpu.capability.lanes(Arithmetic::F32).is_none()
            || gpu.capability.lanes(Arithmetic::I32).is_none()
        {
            return Err(format!(
                "the arithmetic of {} is not known well enough to predict times: choose h200, h100 or a100",
                gpu.name
            ));
        }
        let all = || MEASURED.iter().map(|text| Facts::read(text));
        let own = all().find(|it| it.device == gpu.name);
        let is_measured = own.is_some();
        let facts = own.unwrap_or_else(|| {
            let like = all().next().expect("an H200 was measured");
            like.scaled_to(&gpu)
        });
        Ok(Board {
            gpu,
            is_measured,
            facts,
        })
    }

    /// `measured` or `data sheet`: where its facts come from.
    pub fn source(&self) -> &'static str {
        match self.is_measured {
            true => "measured",
            false => "data sheet",
        }
    }

    /// Blocks that a multiprocessor holds at once, of threads with so many registers, and bytes of shared memory and threads per block.
    ///
    /// # Errors
    /// In words: it holds none.
    pub fn resident_blocks(
        &self,
        registers: u32,
        shared_bytes: u32,
        block: u32,
    ) -> Result<u32, String> {
        let capability = self.gpu.capability;
        let arch = 10 * capability.major() + capability.minor();
        let row = OccupancyRow::new(arch, registers, shared_bytes, block);
        let row = row.map_err(|error| error.to_string())?;
        match row.refused {
            None => Ok(row.resident_blocks),
            Some(reason) => Err(reason),
        }
    }

    /// Bytes per second that the memory gives and takes at most.
    pub(super) fn memory_rate(&self, written: f64) -> f64 {
        self.facts.memory.rates.at(written)
    }

    /// Seconds that a load from memory takes while the memory works at `share` of its rate.
    pub(super) fn memory_latency(&self, written: f64, share: f64) -> f64 {
        let all = &self.facts.memory.under_load;
        let at = |it: &UnderLoad| (it.written, it.latency.at(share));
        Curve::of(all.iter().map(at).collect()).at(written)
    }

    /// The share of the bytes of a launch that L2 still has from the launch before, which reached the same ones.
    pub(super) fn kept(&self, bytes: f64) -> f64 {
        let again = &self.facts.l2.again;
        let (hit, miss) = (1.0 / again.first(), 1.0 / again.last());
        ((miss - 1.0 / again.at(bytes)) / (miss - hit)).clamp(0.0, 1.0)
    }

    /// Operations of tensor cores per cycle of a multiprocessor, for a type that the data sheet has.
    pub(super) fn tensor_operations(&self, element: TensorType) -> Option<f64> {
        let board = model::Board::of(&self.gpu.name)?;
        let rate = board.tensor_roofs().get(element)?;
        Some(rate.0 / self.cycles_per_second() / f64::from(self.gpu.multiprocessors))
    }

    pub(super) fn cycles_per_second(&self) -> f64 {
        self.gpu.clock_hz
    }
}

impl Facts {
    fn read(text: &str) -> Facts {
        serde_json::from_str(text).expect("a description of a board")
    }

    /// The facts of another board as far as its data sheet tells them.
    fn scaled_to(&self, gpu: &Gpu) -> Facts {
        let measured = Gpu::of_the_drivers_name(&self.device).expect("it is one of the boards");
        let cores = |it: &Gpu| f64::from(it.multiprocessors) * it.clock_hz;
        let (memory, l2) = (
            gpu.memory.0 / measured.memory.0,
            cores(gpu) / cores(&measured),
        );
        let mut facts = self.clone();
        facts.memory.rates = facts.memory.rates.times(memory);
        facts.l2.again = facts.l2.again.times(l2);
        facts.l2.rate *= l2;
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_board_has_its_own_facts_and_another_its_data_sheet() {
        let of = |name| Board::named(name).expect("known");
        let (h200, h100, nvl) = (of("h200"), of("h100"), of("h200-nvl"));
        assert!(h200.is_measured && h100.is_measured && !nvl.is_measured);
        assert!((4.2e12..4.8e12).contains(&h200.memory_rate(0.5)));
        assert!((2.9e12..3.35e12).contains(&h100.memory_rate(0.5)));
        let a100 = of("a100");
        // 2.039 TB/s of its data sheet, of which as much is reached as of an H200's.
        assert!((1.7e12..2.039e12).contains(&a100.memory_rate(0.5)));
        let unknown = Board::named("b200").expect_err("no lanes of integers");
        assert!(unknown.contains("NVIDIA B200"), "{unknown}");
    }

    #[test]
    fn a_load_takes_longer_the_busier_the_memory_and_the_more_is_written() {
        let h200 = Board::named("h200").expect("known");
        let latency = |written, share| h200.memory_latency(written, share);
        assert!(latency(0.0, 0.0) < latency(0.0, 0.5) && latency(0.0, 0.5) < latency(0.0, 0.99));
        assert!(latency(0.0, 0.9) < latency(0.5, 0.9));
    }

    #[test]
    fn l2_keeps_what_is_small() {
        let h200 = Board::named("h200").expect("known");
        let kept = [1e6, 30e6, 60e6, 500e6].map(|bytes| h200.kept(bytes));
        assert!(kept.is_sorted_by(|a, b| a > b), "{kept:?}");
        assert!(kept[0] > 0.99 && kept[3] < 0.01, "{kept:?}");
    }
}
