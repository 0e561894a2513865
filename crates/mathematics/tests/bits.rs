//! Every `f32` function of one argument computes the same bits on a GPU as on the emulator, for every
//! argument.

use gpu_test::{Arguments, Device, Failed, Trial, emulator, on_gpu};
use mathematics::ptx;
use mathematics_kernels::with_bits;
use ridgepoint_driver::{LaunchConfig, Stream};

/// A word for each 2^16 arguments.
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
            on_gpu(concat!("cuda::bits::", stringify!($name)), ptx(), |gpu| {
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
    let argument = f32::from_bits((first as u32) << 16);
    Err(
        format!("{count} of {WORDS} words differ, the first for arguments from {argument:e} on")
            .into(),
    )
}

fn main() {
    let trials: Vec<Trial> = with_bits!(trials);
    gpu_test::run(&Arguments::from_args(), trials).exit();
}
