//! SHA-256 of many messages, by a crate of crates.io that knows nothing of GPUs.

use example_kernels::sha256::{DIGEST, MESSAGE, sha256};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};
use sha2::{Digest, Sha256};

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 20,
        emulator: 1 << 14,
    })?;
    let mut random = fastrand::Rng::with_seed(1);
    let messages: Vec<[u8; MESSAGE]> = (0..n)
        .map(|_| std::array::from_fn(|_| random.u8(..)))
        .collect();
    let device_messages = device.buffer_from(&messages)?;
    let mut digests = device.buffer_filled(n, [0u8; DIGEST])?;

    let prepared = device.prepare(sha256::entry(), LaunchConfig::linear(n as u64, 256))?;
    let stream = Stream::new(&device)?;
    // SAFETY: the buffers live until the stream is synchronised, and nothing else uses them.
    unsafe { prepared.launch(&stream, &(device_messages.slice(..), digests.slice_mut(..))) }?;
    stream.synchronize()?;

    for (i, (message, actual)) in messages.iter().zip(digests.to_vec()?).enumerate() {
        let expected: [u8; DIGEST] = Sha256::digest(message).into();
        if actual != expected {
            return Err(format!("digest {i} is {actual:02x?}, not {expected:02x?}").into());
        }
    }

    // SAFETY: as above.
    let seconds = unsafe {
        examples::seconds(
            &prepared,
            &stream,
            &(device_messages.slice(..), digests.slice_mut(..)),
        )
    }?;
    examples::report(
        &device,
        &format!("SHA-256 of {n} messages of {MESSAGE} bytes"),
        n as f64 / seconds / 1e6,
        "million hashes/s",
    );
    Ok(())
}
