//! Damped oscillators: parameters passed as a structure.

use example_kernels::oscillator::{Parameters, State, moved, oscillate};
use examples::{Default, Outcome};
use ridgepoint_driver::{LaunchConfig, Stream};

fn main() -> Outcome {
    let (device, n) = examples::start(Default {
        gpu: 1 << 24,
        emulator: 1 << 14,
    })?;
    let parameters = Parameters {
        stiffness: 40.0,
        damping: 0.5,
        step: 1e-3,
        steps: 100,
    };
    let begin = |i: usize| State {
        position: 1.0 + (i % 100) as f32 * 0.01,
        velocity: 0.0,
    };
    let mut states = device.buffer_from(&(0..n).map(begin).collect::<Vec<_>>())?;
    let prepared = device.prepare(oscillate::entry(), LaunchConfig::linear(n as u64, 256))?;
    let stream = Stream::new(&device)?;
    // SAFETY: the states live until the stream is synchronised, and nothing else uses them.
    unsafe { prepared.launch(&stream, &(parameters, states.slice_mut(..))) }?;
    stream.synchronize()?;

    for (i, actual) in states.to_vec()?.into_iter().enumerate() {
        let expected = moved(parameters, begin(i));
        // The GPU's build may fuse more operations than the host's.
        let close = |a: f32, b: f32| (a - b).abs() <= 1e-4 * (1.0 + b.abs());
        if !close(actual.position, expected.position) || !close(actual.velocity, expected.velocity)
        {
            return Err(format!("oscillator {i} is at {actual:?}, not {expected:?}").into());
        }
    }

    // SAFETY: as above.
    let seconds =
        unsafe { examples::seconds(&prepared, &stream, &(parameters, states.slice_mut(..))) }?;
    let steps = n as f64 * f64::from(parameters.steps);
    examples::report(
        &device,
        &format!("{n} oscillators"),
        steps / seconds / 1e9,
        "billion steps/s",
    );
    Ok(())
}
