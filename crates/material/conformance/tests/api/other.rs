//! `cuda_std::async_copy`, `ptr`, `misc` and the types of `alloc`.

use conformance::ptx;
use conformance_kernels::async_copy::{self, BLOCK, number};
use conformance_kernels::other;
use gpu_test::{Device, Failed, emulator, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch, words};

pub(crate) const CASES: &[Case] = &[
    ("async_copy::copies", copies),
    ("ptr::spaces", spaces),
    ("misc::clocks", clocks),
    ("prelude::text", text),
];

fn copies(device: &Device) -> Result<(), Failed> {
    const BLOCKS: u64 = 3;
    let count = BLOCKS as usize * BLOCK;
    let word = |i: usize| i as u32 * 7 + 1;
    let pair = |i: usize| (i as u64 + 1) << 33 | 5;
    let line = |i: usize| [i as u32 + 1, 2 * i as u32, 9, 40_000 + i as u32];
    let lines = device.buffer_from(&(0..count).map(line).collect::<Vec<_>>())?;
    let pairs = device.buffer_from(&(0..count).map(pair).collect::<Vec<_>>())?;
    let words = device.buffer_from(&(0..count).map(word).collect::<Vec<_>>())?;
    let mut out = device.buffer_filled(count * 9, 0u64)?;
    let shape = LaunchConfig::blocks(BLOCKS, BLOCK as u32);
    let entry = async_copy::copies::entry();
    let (of_1, of_2, of_4) = (words.slice(..), pairs.slice(..), lines.slice(..));
    launch!(device, entry, shape, of_1, of_2, of_4, out.slice_mut(..));
    let expected: Vec<_> = (0..count)
        .flat_map(|own| {
            let copied = |i| (word(i).into(), pair(i), number(line(i)));
            let (a, b, c) = copied(own);
            let (d, e, f) = copied(own / BLOCK * BLOCK + BLOCK - 1 - own % BLOCK);
            [a, b, c, c, a, d, e, f, f]
        })
        .collect();
    equal(&out.to_vec()?, &expected)
}

/// A pointer to global, to shared, to constant and to local memory: whether it is in each of these,
/// whether it comes back from the conversions, and whether they changed it.
fn spaces(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(2, 32);
    let mut out = device.buffer_filled(64, [[u64::MAX; 6]; 4])?;
    launch!(device, other::spaces::entry(), shape, out.slice_mut(..));
    let expected = [
        // Generic addresses of global memory are its own.
        [1, 0, 0, 0, 1, 0],
        [0, 1, 0, 0, 1, 1],
        [0, 0, 1, 0, 1, 1],
        [0, 0, 0, 1, 1, 1],
    ];
    equal(&out.to_vec()?, &[expected; 64])
}

fn clocks(device: &Device) -> Result<(), Failed> {
    let actual = words!(
        device,
        other::clocks::entry(),
        LaunchConfig::blocks(2, 32),
        3
    );
    for of_thread in actual.chunks(3) {
        let &[ticks, nanoseconds, passed] = of_thread else {
            unreachable!("chunks of 3");
        };
        equal(&[ticks, nanoseconds], &[1, 1])?;
        if passed > 60_000_000_000 {
            return Err(format!("{passed} ns passed in less than a minute").into());
        }
    }
    Ok(())
}

/// As on a GPU without a debugger it ends the kernel, after which a GPU does nothing more.
pub(crate) fn breakpoint_on_the_emulator() -> Result<(), Failed> {
    let device = &emulator(ptx())?;
    let shape = LaunchConfig::blocks(1, 32);
    let stops =
        || -> Result<Vec<u64>, Failed> { Ok(words!(device, other::stops::entry(), shape, 1)) };
    let failed = stops().expect_err("it stops");
    let text = failed.message().unwrap_or_default();
    equal(&[text.contains("trap")], &[true])
}

fn text(device: &Device) -> Result<(), Failed> {
    let mut out = device.buffer_filled(100, [0u8; 32])?;
    let shape = LaunchConfig::blocks(2, 32);
    launch!(device, other::text::entry(), shape, out.slice_mut(..));
    for (i, bytes) in out.to_vec()?.iter().enumerate() {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\0');
        equal(
            &[text],
            &[format!("{i}-µ-ab-{i:>4}|{:x}-2", i * 37).as_str()],
        )?;
    }
    Ok(())
}
