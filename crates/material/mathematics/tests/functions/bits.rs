//! Every `f32` function of one argument and each of the special function unit's instructions computes the same bits on
//! an H200 as on the emulator, for every argument; every `f64` function that begins with such an instruction does for
//! 2^24 arguments.

use gpu_test::{Device, Failed, Trial, emulator, on_gpu};
use mathematics::ptx;
use mathematics_kernels::{with_bits, with_double_bits};
use ridgepoint_driver::{LaunchConfig, Stream};

/// A word for each upper 16 bits of an argument.
const WORDS: usize = 1 << 16;

/// A trial for each function, which needs a GPU.
macro_rules! trials {
    ($($name:ident($kernel:ident),)*) => {
        vec![$({
            fn words(device: &Device) -> Result<Vec<u64>, Failed> {
                let mut out = device.buffer_filled(WORDS, 0_u64)?;
                let shape = LaunchConfig::linear(WORDS as u64, 128);
                let prepared = device.prepare(mathematics_kernels::$kernel::entry(), shape)?;
                let stream = Stream::new(device)?;
                // SAFETY: the kernel writes an element per thread, and the buffer has so many.
                unsafe { prepared.launch(&stream, &(out.slice_mut(..),)) }?;
                stream.synchronize()?;
                Ok(out.to_vec()?)
            }
            on_gpu(concat!("cuda::bits::", stringify!($kernel)), ptx(), |gpu| {
                same(&words(gpu)?, &words(&emulator(ptx())?)?)
            })
        }),*]
    };
}

fn same(gpu: &[u64], emulator: &[u64]) -> Result<(), Failed> {
    let differ = |i: &usize| gpu[*i] != emulator[*i];
    let Some(first) = (0..WORDS).find(differ) else {
        return Ok(());
    };
    let count = (0..WORDS).filter(differ).count();
    Err(
        format!("{count} of {WORDS} words differ, the first for arguments from {first:#06x} on")
            .into(),
    )
}

/// The cases of this module, each on a GPU and the emulator.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = with_bits!(trials);
    trials.extend(with_double_bits!(trials));
    trials
}
