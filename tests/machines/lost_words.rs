//! Kernels that wait for the words of another device give up, on the emulator and on a GPU: with one word that never comes.

use std::time::{Duration, Instant};

use cuda_std::launch::SliceMut;
use gpu_test::{Failed, Trial, equal, on_both};
use kernels_gpu::distributed::{TAKE_BLOCK, take_look, take_normalized};
use kernels_gpu::reduction::to_word;
use ridgepoint::driver::{Device, DeviceBuffer, DriverError, LaunchConfig, Stream};
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::vector::Real;

/// Of two blocks, and more than a thread asks for at once.
const LEN: usize = 10_000;
const BLOCKS: u64 = 2;
/// How long the first launch waits, and the next ones would.
const PATIENCE: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(3600);
/// How long a launch may take on a busy machine.
const MAX: Duration = Duration::from_secs(60);

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    trials.extend(both("take_normalized", normalized));
    trials.extend(both("take_look", look));
    trials.extend(both("take_root_f32", root::<f32>));
    trials.extend(both("take_root_f64", root::<f64>));
    trials
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(&format!("lost_words::{name}"), embedded_ptx(), case)
}

/// Words that are 1, but for one that never comes.
struct Words {
    come: DeviceBuffer<u64>,
    spare: DeviceBuffer<u64>,
    lost: DeviceBuffer<u32>,
}

/// The arguments of a launch: words, those to be emptied, the flag, and nanoseconds.
type Given<'a> = (SliceMut<'a, u64>, SliceMut<'a, u64>, SliceMut<'a, u32>, u64);

impl Words {
    fn without(device: &Device, missing: usize, len: usize) -> Result<Words, DriverError> {
        let one = to_word(1.0);
        let mut come = device.buffer_filled(len, one)?;
        come.write(missing, &[0])?;
        Ok(Words {
            come,
            spare: device.buffer_filled(len, one)?,
            lost: device.buffer_zeroed(1)?,
        })
    }

    /// Fails unless a launch waits for its time and says that a word is lost, and the next one does not wait again.
    fn are_given_up(
        &mut self,
        device: &Device,
        mut launch: impl FnMut(&Stream<'_>, Given<'_>) -> Result<(), DriverError>,
    ) -> Result<(), Failed> {
        let stream = Stream::new(device)?;
        for (patience, least) in [(PATIENCE, PATIENCE), (LONG, Duration::ZERO)] {
            let began = Instant::now();
            let sets = (self.come.slice_mut(..), self.spare.slice_mut(..));
            let lost = self.lost.slice_mut(..);
            launch(&stream, (sets.0, sets.1, lost, patience.as_nanos() as u64))?;
            stream.synchronize()?;
            let waited = began.elapsed();
            if !(least..MAX).contains(&waited) {
                return Err(format!("{waited:?} with a patience of {patience:?}").into());
            }
            equal(&self.lost.to_vec()?, &[1])?;
        }
        Ok(())
    }
}

fn blocks() -> LaunchConfig {
    LaunchConfig::blocks(BLOCKS, TAKE_BLOCK)
}

fn are_nan<T: Real>(numbers: &[T]) -> Vec<bool> {
    numbers.iter().map(|&it| f64::is_nan(it.into())).collect()
}

fn normalized(device: &Device) -> Result<(), Failed> {
    for missing in [0, 7777, LEN - 1] {
        let mut words = Words::without(device, missing, LEN)?;
        let mut x = device.buffer_zeroed::<f64>(LEN)?;
        let mut norm = device.buffer_zeroed::<f64>(1)?;
        let take = device.prepare(take_normalized::entry(), blocks())?;
        words.are_given_up(device, |stream, (come, spare, lost, nanoseconds)| {
            let (x, norm) = (x.slice_mut(..), norm.slice_mut(..));
            let arguments = (come, spare, x, LEN, norm, lost, nanoseconds);
            // SAFETY: as many words in each set as numbers, a norm and a flag; `are_given_up` waits.
            unsafe { take.launch(stream, &arguments) }
        })?;
        equal(&are_nan(&norm.to_vec()?), &[true])?;
        equal(&are_nan(&x.to_vec()?), &[true; LEN])?;
        equal(&words.spare.to_vec()?, &[0; LEN])?;
    }
    Ok(())
}

/// Checks that a look keeps the vector that the launch overwrites, and all numbers that have come.
fn look(device: &Device) -> Result<(), Failed> {
    for missing in [0, 7777, LEN - 1] {
        let mut words = Words::without(device, missing, LEN)?;
        let first: Vec<f64> = (0..LEN).map(|i| i as f64).collect();
        let mut x = device.buffer_from(&first)?;
        let mut norm = device.buffer_zeroed::<f64>(1)?;
        let mut before: Vec<DeviceBuffer<f64>> = vec![];
        let mut product = device.buffer_zeroed::<f64>(LEN)?;
        let take = device.prepare(take_look::entry(), blocks())?;
        words.are_given_up(device, |stream, (come, spare, lost, nanoseconds)| {
            before.push(device.buffer_zeroed(LEN)?);
            let kept = before.last_mut().expect("just pushed").slice_mut(..);
            let (x, norm) = (x.slice_mut(..), norm.slice_mut(..));
            let product = product.slice_mut(..);
            let arguments = (come, spare, x, LEN, norm, lost, nanoseconds, kept, product);
            // SAFETY: as many words in each set as numbers, and room for these; `are_given_up` waits.
            unsafe { take.launch(stream, &arguments) }
        })?;
        equal(&before[0].to_vec()?, &first)?;
        equal(&are_nan(&before[1].to_vec()?), &[true; LEN])?;
        let expected: Vec<bool> = (0..LEN).map(|i| i == missing).collect();
        equal(&are_nan(&product.to_vec()?), &expected)?;
        equal(&are_nan(&x.to_vec()?), &[true; LEN])?;
        equal(&words.spare.to_vec()?, &[0; LEN])?;
    }
    Ok(())
}

fn root<T: Real>(device: &Device) -> Result<(), Failed> {
    const DEVICES: usize = 5;
    let len = DEVICES * T::SUMS;
    for missing in [0, len - 1] {
        let mut words = Words::without(device, missing, len)?;
        let mut norm = device.buffer_zeroed::<T>(1)?;
        let take = device.prepare(T::take_root(), LaunchConfig::blocks(1, 32))?;
        words.are_given_up(device, |stream, (come, spare, lost, nanoseconds)| {
            let norm = norm.slice_mut(..);
            let arguments = (come, spare, DEVICES as u32, norm, lost, nanoseconds);
            // SAFETY: the sums of so many devices in each set, a norm and a flag; `are_given_up` waits.
            unsafe { take.launch(stream, &arguments) }
        })?;
        equal(&are_nan(&norm.to_vec()?), &[true])?;
        equal(&words.spare.to_vec()?, &vec![0; len])?;
    }
    Ok(())
}
