//! Copies, streams, events, graphs and cooperative launches: on the emulator and on a GPU.

use gpu_test::{Arguments, Failed, Trial, equal, on_both};
use kernels_gpu::counter::{self, count};
use kernels_gpu::elementwise::{BLOCK, scale_f32};
use kernels_gpu::functions::Scale;
use kernels_gpu::vector::{Element, map_threads};
use ridgepoint::driver::{
    Buffer, Calls, Device, DriverError, Prepared, Shape, Stream, embedded_ptx,
};

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    trials.extend(both("copies_bring_their_memory_back", copies_come_back));
    trials.extend(both(
        "pinned_memory_is_the_vector_it_was",
        pinned_is_the_vector,
    ));
    trials.extend(both("dropping_early_waits", dropping_early_waits));
    trials.extend(both("a_stream_waits_for_another", a_stream_waits));
    trials.extend(both(
        "slices_are_copied_in_order",
        slices_are_copied_in_order,
    ));
    trials.extend(both("a_graph_replays_its_launches", a_graph_replays));
    trials.extend(both("a_graphs_launch_is_updated", a_graph_is_updated));
    trials.extend(both("copies_are_not_captured", copies_are_not_captured));
    trials.extend(both(
        "too_many_cooperative_blocks_are_refused",
        cooperative_limit,
    ));
    trials.extend(both("calls_are_counted", calls_are_counted));
    gpu_test::run(&arguments, trials).exit();
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(name, embedded_ptx(), case)
}

/// Large enough for a copy to outlast the calls that follow it.
const N: usize = 1 << 20;

fn doubled(device: &Device) -> Result<Prepared<'_, scale_f32>, DriverError> {
    device.prepare(
        scale_f32::entry(),
        Shape::linear(map_threads::<f32>(N as u64), BLOCK),
    )
}

/// Twice `x` to `y`, in the stream.
fn double(
    prepared: &Prepared<'_, scale_f32>,
    stream: &Stream<'_>,
    x: &Buffer<f32>,
    y: &mut Buffer<f32>,
) -> Result<(), DriverError> {
    // SAFETY: both have N elements, and every case waits for the stream before it drops them.
    unsafe {
        prepared.launch(
            stream,
            &(Scale { factor: 2.0 }, x.slice(), y.slice_mut(), N),
        )
    }
}

fn numbers() -> Vec<f32> {
    (0..N).map(|i| (i % 1000) as f32).collect()
}

fn copies_come_back(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let mut host = device.pinned(N, 0.0f32)?;
    host.copy_from_slice(&numbers());
    let (mut x, mut y) = (device.buffer_zeroed(N)?, device.buffer_zeroed(N)?);
    let up = stream.upload(host, &mut x, 0)?;
    double(&doubled(device)?, &stream, &x, &mut y)?;
    let down = stream.download(&y, 0, device.pinned(N, f32::NAN)?)?;
    let host = up.wait()?;
    equal(&host, &numbers())?;
    let result = down.wait()?;
    let expected: Vec<f32> = numbers().iter().map(|x| 2.0 * x).collect();
    equal(&result, &expected)?;
    // Parts of a buffer.
    let part = stream.download(&y, 10, device.pinned(5, 0.0)?)?.wait()?;
    equal(&part, &expected[10..15])
}

fn pinned_is_the_vector(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let mut buffer = device.buffer_zeroed(N)?;
    let values = numbers();
    let address = values.as_ptr();
    let pinned = stream.upload(device.pin(values)?, &mut buffer, 0)?.wait()?;
    let values = pinned.into_vec();
    if values.as_ptr() != address {
        return Err("the vector has moved".into());
    }
    equal(&values, &numbers())?;
    equal(&buffer.to_vec()?, &values)?;
    equal(&device.pin(Vec::<f32>::new())?.into_vec(), &[])?;
    equal(&device.pinned(3, 7u8)?.into_vec(), &[7; 3])
}

fn dropping_early_waits(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let mut buffer = device.buffer_zeroed(N)?;
    for round in 0..20 {
        let host = device.pinned(N, round as f32)?;
        drop(stream.upload(host, &mut buffer, 0)?);
        // Would be in the copy's way if it had the freed memory.
        drop(device.pinned(N, -1.0f32)?);
        equal(&buffer.to_vec()?, &vec![round as f32; N])?;
    }
    // The buffer goes first.
    let down = stream.download(&buffer, 0, device.pinned(N, 0.0)?)?;
    drop(buffer);
    equal(&down.wait()?, &vec![19.0; N])
}

fn a_stream_waits(device: &Device) -> Result<(), Failed> {
    let (first, second) = (Stream::new(device)?, Stream::new(device)?);
    let doubled = doubled(device)?;
    let x = device.buffer_filled(N, 1.0f32)?;
    let (mut y, mut z) = (device.buffer_zeroed(N)?, device.buffer_zeroed(N)?);
    for _ in 0..20 {
        y.poison()?;
        double(&doubled, &first, &x, &mut y)?;
        second.wait(&first.mark()?)?;
        double(&doubled, &second, &y, &mut z)?;
        second.synchronize()?;
        equal(&z.to_vec()?, &vec![4.0; N])?;
    }
    let (start, end) = (first.record()?, first.record()?);
    end.wait()?;
    assert!(start.is_done()? && end.milliseconds_since(&start)? >= 0.0);
    Ok(())
}

fn slices_are_copied_in_order(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let (mut x, mut y) = (device.buffer_zeroed(N)?, device.buffer_zeroed(N)?);
    let mut result = vec![0.0; N];
    stream.write(&numbers(), &mut x, 0)?;
    double(&doubled(device)?, &stream, &x, &mut y)?;
    stream.read(&y, 0, &mut result)?;
    let expected: Vec<f32> = numbers().iter().map(|x| 2.0 * x).collect();
    equal(&result, &expected)
}

fn counted(device: &Device) -> Result<Prepared<'_, count>, DriverError> {
    device.prepare(count::entry(), Shape::blocks(1, counter::BLOCK))
}

fn a_graph_replays(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let counted = counted(device)?;
    let mut counter = device.buffer_zeroed::<u32>(1)?;
    let graph = stream.capture(|| {
        for _ in 0..10 {
            // SAFETY: one block; the counter lives until the stream is synchronised below.
            unsafe { counted.launch(&stream, &(counter.slice_mut(),)) }?;
        }
        Ok(())
    })?;
    stream.synchronize()?;
    equal(&counter.to_vec()?, &[0])?;
    equal(&[graph.launches()], &[10])?;
    for _ in 0..5 {
        // SAFETY: as above.
        unsafe { graph.launch(&stream) }?;
    }
    stream.synchronize()?;
    equal(&counter.to_vec()?, &[50])
}

fn a_graph_is_updated(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let counted = counted(device)?;
    let (mut first, mut second) = (
        device.buffer_zeroed::<u32>(1)?,
        device.buffer_zeroed::<u32>(1)?,
    );
    let mut graph = stream.capture(|| {
        for _ in 0..3 {
            // SAFETY: here and below: one block; both counters live until the stream is synchronised.
            unsafe { counted.launch(&stream, &(first.slice_mut(),)) }?;
        }
        Ok(())
    })?;
    // SAFETY: as above.
    unsafe {
        graph.launch(&stream)?;
        graph.update(1, &counted, &(second.slice_mut(),))?;
        graph.launch(&stream)?;
    }
    stream.synchronize()?;
    equal(&[first.to_vec()?[0], second.to_vec()?[0]], &[5, 1])
}

fn copies_are_not_captured(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let mut buffer = device.buffer_zeroed::<u32>(4)?;
    let host = device.pinned(4, 1u32)?;
    let captured = stream.capture(|| stream.upload(host, &mut buffer, 0).map(drop));
    match captured {
        Err(DriverError::Capturing(_)) => {}
        Err(other) => return Err(other.into()),
        Ok(_) => return Err("a copy was captured".into()),
    }
    // The stream is as it was.
    let host = device.pinned(4, 2u32)?;
    stream.upload(host, &mut buffer, 0)?.wait()?;
    equal(&buffer.to_vec()?, &[2; 4])
}

fn cooperative_limit(device: &Device) -> Result<(), Failed> {
    let shape = Shape::blocks(1 << 20, kernels_gpu::normalize::BLOCK);
    match device.prepare_cooperative(f32::normalize(), shape) {
        Err(DriverError::Cooperative { actual, limit, .. }) => {
            assert!(actual == 1 << 20 && (1..actual).contains(&limit), "{limit}");
            Ok(())
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err("allowed".into()),
    }
}

fn calls_are_counted(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let counted = counted(device)?;
    let mut counter = device.buffer_zeroed::<u32>(1)?;
    let (result, calls) = Calls::during(|| -> Result<(), DriverError> {
        for _ in 0..3 {
            // SAFETY: one block; the counter lives until the stream is synchronised.
            unsafe { counted.launch(&stream, &(counter.slice_mut(),)) }?;
        }
        stream.synchronize()?;
        counter.to_vec().map(drop)
    });
    result?;
    assert_eq!(
        (calls.launches(), calls.copies(), calls.waits()),
        (3, 1, 2),
        "{calls:?}"
    );
    Ok(())
}
