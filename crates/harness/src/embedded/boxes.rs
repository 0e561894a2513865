//! Bulk copies of boxes of a tensor, which its map describes.

use cuda_std::launch::Slice;
use cuda_std::tma::TensorMap;
use kernels_hopper::boxes::{
    BOX_WORDS, COLUMNS, LINE, LOAD_THREADS, ROWS, SHARED_BYTES, STORE_THREADS, chase_rows,
    load_boxes, store_boxes, stored_word,
};

use super::latency::{Chased, counted};
use super::pattern::{sum_of_words, warps};
use super::values::{Output, check_same};
use crate::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, TensorLayout};
use crate::workload::{Axis, Case, Point, PointError, Workload};

/// Bytes of a box.
pub(crate) const BOX_BYTES: u64 = BOX_WORDS as u64 * size_of::<u32>() as u64;

/// The map of a tensor of whole boxes, in memory of the device.
fn map(device: &Device, words: Slice<'_, u32>) -> Result<DeviceBuffer<TensorMap>, DriverError> {
    let rows = words.len() as u64 / u64::from(COLUMNS);
    let layout = TensorLayout::dense([COLUMNS.into(), rows], [COLUMNS, ROWS]);
    device.buffer_from(&[device.tensor_map(words, &layout)?])
}

fn axes() -> Vec<Axis> {
    vec![
        Axis::whole("blocks", [2]).help("blocks of the launch"),
        Axis::whole("boxes", [64]).help("boxes of 16 KiB of the tensor"),
    ]
}

/// So many `boxes` brought into shared memory by `blocks`, in `passes` passes.
pub(crate) struct LoadBoxes;

impl Workload for LoadBoxes {
    fn name(&self) -> &str {
        load_boxes::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        let passes = Axis::whole("passes", [2]).help("times that all are brought");
        axes().into_iter().chain([passes]).collect()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let [boxes, passes] = ["boxes", "passes"].map(|axis| at.whole(axis) as u32);
        let words = boxes * BOX_WORDS;
        let config = LaunchConfig::blocks(at.whole("blocks"), LOAD_THREADS)
            .with_dynamic_shared(SHARED_BYTES);
        let arrays = at
            .launch(load_boxes::entry(), config)
            .arrays(move |device| {
                let given: Vec<u32> = (0..words).map(word).collect();
                let tensor = device.buffer_from(&given)?;
                let map = map(device, tensor.slice(..))?;
                Ok((tensor, map, Output::new(device, warps(config))?))
            })
            .check(move |(_, _, sums)| {
                let of_pass = (0..words).map(word).fold(0, u32::wrapping_add);
                let sum = sum_of_words(&sums.values()?);
                check_same(&[sum], &[of_pass.wrapping_mul(passes)])
            });
        // SAFETY: the map is of so many boxes of a tensor that lives as long, there is a sum for each warp, and the launch has the
        // threads and the shared memory.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(_, map, sums)| {
                (map.slice(..), boxes, passes, sums.view())
            })
        })
    }
}

/// Word `i` of what is brought: irregular.
fn word(i: u32) -> u32 {
    i.wrapping_mul(0x9E37_79B1)
}

/// So many `boxes` stored from shared memory by `blocks`.
pub(crate) struct StoreBoxes;

impl Workload for StoreBoxes {
    fn name(&self) -> &str {
        store_boxes::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        axes()
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        let (boxes, blocks) = (at.whole("boxes") as u32, at.whole("blocks"));
        let words = boxes as usize * BOX_WORDS as usize;
        let config = LaunchConfig::blocks(blocks, STORE_THREADS).with_dynamic_shared(SHARED_BYTES);
        let arrays = at
            .launch(store_boxes::entry(), config)
            .arrays(move |device| {
                let tensor = Output::<u32>::new(device, words)?;
                let map = map(device, tensor.slice())?;
                Ok((tensor, map))
            })
            .check(move |(tensor, _)| {
                let expected = (0..words as u64).map(|i| stored_word(i, blocks));
                check_same(&tensor.contents()?, &expected.collect::<Vec<_>>())
            });
        // SAFETY: the map is of so many boxes of a tensor that lives as long, and the launch has the threads and the shared memory.
        Ok(unsafe { arrays.arguments_unchecked(move |(_, map)| (map.slice(..), boxes)) })
    }
}

/// So many `loads` of rows of 128 bytes, of `places` rows, each of which names the next.
pub(crate) struct ChaseRows;

impl Workload for ChaseRows {
    fn name(&self) -> &str {
        chase_rows::entry().name()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            Axis::whole("places", [1 << 10]).help("rows in the cycle"),
            Axis::whole("loads", [1000]).help("rows that a launch brings"),
        ]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        const ROW_BYTES: u32 = LINE * size_of::<u32>() as u32;
        let [places, loads] = ["places", "loads"].map(|axis| at.size(axis));
        let config = LaunchConfig::blocks(1, 1).with_dynamic_shared(ROW_BYTES);
        let arrays = at
            .launch(chase_rows::entry(), config)
            .arrays(move |device| {
                let chased = Chased::new(device, places.max(1), LINE as usize)?;
                let rows = TensorLayout::dense([LINE.into(), places.max(1) as u64], [LINE, 1]);
                let map = device.tensor_map(chased.there.slice(..), &rows)?;
                Ok((chased, device.buffer_from(&[map])?))
            })
            .check(move |(it, _)| it.check(loads))
            .counters(|(it, _)| counted(&it.out.to_vec()?));
        // SAFETY: elements of the cycle name rows of the tensor, which lives as long as the map, and there are three words.
        Ok(unsafe {
            arrays.enqueue(move |(it, map), prepared, stream| {
                it.launches += 1;
                let arguments = (map.slice(..), loads as u32, it.out.slice_mut(..));
                prepared.launch(stream, &arguments)
            })
        })
    }
}
