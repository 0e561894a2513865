//! Loads, stores and fences of `cuda_std::atomic`.

use conformance_kernels::atomic::message::{self, BY_FENCES, BY_RELEASE, BY_SEQ_CST};
use gpu_test::{Device, Failed, equal};
use ridgepoint_driver::LaunchConfig;

use crate::support::{Case, launch, with};

pub(crate) const CASES: &[Case] = &[
    ("atomic::messages", messages),
    ("atomic::store_buffering", store_buffering),
];

/// A reader that sees the flag sees what was written before it.
fn messages(device: &Device) -> Result<(), Failed> {
    const COUNT: u32 = 5000;
    macro_rules! sent {
        ($($kernel:ident: $bits:ident, $shape:expr;)*) => {$(
            for by in [BY_RELEASE, BY_SEQ_CST, BY_FENCES] {
                let mut data = device.buffer_filled(COUNT as usize, 0u64)?;
                let mut flag = device.buffer_filled::<$bits>(1, 0)?;
                let mut out = device.buffer_filled(2, 0u64)?;
                let (data, number, missing) = (data.slice_mut(..), flag.slice_mut(..), out.slice_mut(..));
                let entry = message::$kernel::entry();
                launch!(device, entry, $shape, data, number, missing, COUNT, by);
                let name = stringify!($kernel);
                let why = |failure| with(failure, &format!("{name} {by}, [missing, waited in vain]"));
                equal(&out.to_vec()?, &[0, 0]).map_err(why)?;
                equal(&flag.to_vec()?, &[COUNT.into()]).map_err(why)?;
            }
        )*};
    }
    sent! {
        messages_32_block: u32, LaunchConfig::blocks(1, 64);
        messages_64_block: u64, LaunchConfig::blocks(1, 64);
        messages_32_device: u32, LaunchConfig::blocks(2, 32);
        messages_64_device: u64, LaunchConfig::blocks(2, 32);
        messages_32_system: u32, LaunchConfig::blocks(2, 32);
        messages_64_system: u64, LaunchConfig::blocks(2, 32);
    }
    Ok(())
}

/// Of two threads that each set a flag and look at the other's, one sees it.
fn store_buffering(device: &Device) -> Result<(), Failed> {
    const THREADS: u32 = 128;
    let shape = LaunchConfig::blocks(64, THREADS);
    let count = 64 * THREADS as usize;
    macro_rules! partners {
        ($($kernel:ident: $partner:expr;)*) => {$(
            for by in [BY_SEQ_CST, BY_FENCES].into_iter().cycle().take(10) {
                let mut flags = device.buffer_filled(count, 0u32)?;
                let mut seen = device.buffer_filled(count, u32::MAX)?;
                let (set, saw) = (flags.slice_mut(..), seen.slice_mut(..));
                launch!(device, message::$kernel::entry(), shape, set, saw, by);
                let seen = seen.to_vec()?;
                let partner: fn(usize) -> usize = $partner;
                let blind = (0..count).find(|&i| seen[i] == 0 && seen[partner(i)] == 0);
                if let Some(i) = blind.or_else(|| seen.iter().position(|&flag| flag > 1)) {
                    let (own, other) = (seen[i], seen[partner(i)]);
                    let name = stringify!($kernel);
                    return Err(format!("{name} {by}: thread {i} saw {own}, its partner {other}").into());
                }
            }
        )*};
    }
    partners! {
        store_buffering_block: |i| i ^ 32;
        store_buffering_device: |i| i ^ THREADS as usize;
        store_buffering_system: |i| i ^ THREADS as usize;
    }
    Ok(())
}
