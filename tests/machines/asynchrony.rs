//! Copies, streams, events, graphs and cooperative launches: on the emulator and on a GPU.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

use gpu_test::{Failed, Trial, equal, on_both, on_gpu};
use kernels_gpu::counter::{self, count};
use kernels_gpu::elementwise::{BLOCK, scale_f32};
use kernels_gpu::functions::Scale;
use kernels_gpu::vector::{Element, map_threads};
use ridgepoint::driver::trace::{self, Recorded, Span};
use ridgepoint::driver::{
    Calls, Device, DeviceBuffer, DeviceChoice, DriverError, LaunchConfig, Prepared, Stream,
};
use ridgepoint::kernels::embedded_ptx;

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
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
    trials.extend(both("a_capture_ends_with_its_work", captures_end));
    trials.extend(both(
        "too_many_cooperative_blocks_are_refused",
        cooperative_limit,
    ));
    trials.extend(both("calls_are_counted", calls_are_counted));
    trials.push(with_cupti("cupti_has_each_launch_and_copy", cupti_has_each));
    trials.push(with_cupti(
        "cupti_has_the_launches_of_a_graph",
        cupti_has_graphs,
    ));
    trials.push(with_cupti("cupti_and_events_agree", cupti_and_events_agree));
    trials
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(&format!("asynchrony::{name}"), embedded_ptx(), case)
}

/// The variable that says that CUPTI must be there.
const REQUIRE_CUPTI: &str = "RIDGEPOINT_REQUIRE_CUPTI";

/// The case on the first GPU, where CUPTI is.
fn with_cupti(name: &str, case: fn() -> Result<(), Failed>) -> Trial {
    let trial = on_gpu(format!("cuda::{name}"), embedded_ptx(), move |_| case());
    match cupti::version() {
        Err(error) if std::env::var_os(REQUIRE_CUPTI).is_none() => trial
            .with_kind(format!("skipped: {error}"))
            .with_ignored_flag(true),
        _ => trial,
    }
}

/// Large enough for a copy to outlast the calls that follow it.
const N: usize = 1 << 20;

fn doubled(device: &Device) -> Result<Prepared<'_, scale_f32>, DriverError> {
    device.prepare(
        scale_f32::entry(),
        LaunchConfig::linear(map_threads::<f32>(N as u64), BLOCK),
    )
}

/// Twice `x` to `y`, in the stream.
fn double(
    prepared: &Prepared<'_, scale_f32>,
    stream: &Stream<'_>,
    x: &DeviceBuffer<f32>,
    y: &mut DeviceBuffer<f32>,
) -> Result<(), DriverError> {
    // SAFETY: both have N elements, and every case waits for the stream before it drops them.
    unsafe {
        prepared.launch(
            stream,
            &(Scale { factor: 2.0 }, x.slice(..), y.slice_mut(..), N),
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
        second.wait_event(&first.mark()?)?;
        double(&doubled, &second, &y, &mut z)?;
        second.synchronize()?;
        equal(&z.to_vec()?, &vec![4.0; N])?;
    }
    let (start, end) = (first.record()?, first.record()?);
    end.synchronize()?;
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
    device.prepare(count::entry(), LaunchConfig::blocks(1, counter::BLOCK))
}

fn a_graph_replays(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let counted = counted(device)?;
    let mut counter = device.buffer_zeroed::<u32>(1)?;
    let graph = stream.capture(|| {
        for _ in 0..10 {
            // SAFETY: one block; the counter lives until the stream is synchronised below.
            unsafe { counted.launch(&stream, &(counter.slice_mut(..),)) }?;
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
            unsafe { counted.launch(&stream, &(first.slice_mut(..),)) }?;
        }
        Ok(())
    })?;
    // SAFETY: as above.
    unsafe {
        graph.launch(&stream)?;
        graph.update(1, &counted, &(second.slice_mut(..),))?;
        graph.launch(&stream)?;
    }
    stream.synchronize()?;
    equal(&[first.to_vec()?[0], second.to_vec()?[0]], &[5, 1])
}

fn copies_are_not_captured(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let mut buffer = device.buffer_zeroed::<u32>(4)?;
    let host = device.pinned(4, 1u32)?;
    let captured = stream.capture(|| Ok(stream.upload(host, &mut buffer, 0).map(drop)?));
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

/// Operations that cannot be captured are refused, and whatever becomes of the work, the next capture works.
fn captures_end(device: &Device) -> Result<(), Failed> {
    let stream = Stream::new(device)?;
    let counted = counted(device)?;
    let mut counter = device.buffer_zeroed::<u32>(1)?;
    let mut launch = || {
        // SAFETY: one block; the counter lives until the stream is synchronised below.
        unsafe { counted.launch(&stream, &(counter.slice_mut(..),)) }
    };
    let outer = stream.capture(|| {
        launch()?;
        match stream.capture(|| Ok(())) {
            Err(DriverError::Capturing("capture")) => launch(),
            Err(other) => Err(other),
            Ok(_) => panic!("a capture was captured"),
        }
    })?;
    equal(&[outer.launches()], &[2])?;
    let outer = stream.capture(|| {
        launch()?;
        // SAFETY: as above.
        let replay = unsafe { outer.launch(&stream) };
        let refused = (replay, stream.synchronize());
        assert!(
            matches!(
                refused,
                (
                    Err(DriverError::Capturing("launch of a graph")),
                    Err(DriverError::Capturing("wait for the stream"))
                )
            ),
            "{refused:?}"
        );
        Ok(())
    })?;
    equal(&[outer.launches()], &[1])?;
    let panicked = panic::catch_unwind(AssertUnwindSafe(|| {
        stream.capture(|| panic::resume_unwind(Box::new("no message")))
    }));
    assert!(panicked.is_err());
    let next = stream.capture(&mut launch)?;
    equal(&[next.launches()], &[1])?;
    launch()?;
    // SAFETY: as above.
    unsafe { next.launch(&stream) }?;
    stream.synchronize()?;
    equal(&counter.to_vec()?, &[2])
}

fn cooperative_limit(device: &Device) -> Result<(), Failed> {
    let shape = LaunchConfig::blocks(1 << 20, kernels_gpu::normalize::BLOCK);
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
            unsafe { counted.launch(&stream, &(counter.slice_mut(..),)) }?;
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

/// Runs `work` on a device that CUPTI traces.
fn traced<R>(
    work: impl FnOnce(&Device, &Stream<'_>) -> Result<R, DriverError>,
) -> Result<(R, Recorded), Failed> {
    trace::begin(Some(trace::cupti()?));
    let worked = Device::open(&DeviceChoice::Cuda(0), embedded_ptx()).and_then(|device| {
        let stream = Stream::new(&device)?;
        let result = work(&device, &stream)?;
        stream.synchronize()?;
        Ok(result)
    });
    let recorded = trace::take();
    equal(&[recorded.lost], &[0])?;
    Ok((worked?, recorded))
}

/// A GPU's spans of the kernel. Cases that run on the emulator meanwhile have some too.
fn launches<'a>(recorded: &'a Recorded, kernel: &str) -> Vec<&'a Span> {
    let spans = recorded.spans.iter();
    spans
        .filter(|span| span.name == kernel && span.launch.is_some())
        .collect()
}

fn cupti_has_each() -> Result<(), Failed> {
    // No other case copies as many bytes.
    const ELEMENTS: usize = 12_345_678;
    let (interval, recorded) = traced(|device, stream| {
        let counted = counted(device)?;
        let mut counter = device.buffer_zeroed::<u32>(1)?;
        let mut buffer = device.buffer_zeroed::<u32>(ELEMENTS)?;
        let host = device.pinned(ELEMENTS, 1u32)?;
        let before = Instant::now();
        for _ in 0..10 {
            // SAFETY: one block; the counter lives until the stream is synchronised.
            unsafe { counted.launch(stream, &(counter.slice_mut(..),)) }?;
        }
        stream.upload(host, &mut buffer, 0)?.wait()?;
        Ok((before, Instant::now()))
    })?;
    let mut spans = launches(&recorded, count::entry().name());
    equal(&[spans.len()], &[10])?;
    for span in &spans {
        let launch = span.launch.ok_or("no launch")?;
        equal(&launch.grid, &[1; 3])?;
        equal(&launch.block, &[counter::BLOCK, 1, 1])?;
    }
    let bytes = 4 * ELEMENTS as u64;
    let copies = recorded.spans.iter().filter(|span| span.bytes == bytes);
    let copies: Vec<&Span> = copies
        .filter(|span| span.name == "copy to the device")
        .collect();
    equal(&[copies.len()], &[1])?;
    spans.extend(copies);
    // CUPTI brings the device's clock to the host's with an error of some microseconds.
    const ERROR: Duration = Duration::from_micros(100);
    for span in &spans {
        assert!(
            span.stream > 0 && span.stream == spans[0].stream,
            "{span:?}"
        );
        assert!(span.took > Duration::ZERO, "{span:?}");
        assert!(span.began + ERROR >= interval.0, "{span:?}: {interval:?}");
        assert!(
            span.began + span.took <= interval.1 + ERROR,
            "{span:?}: {interval:?}"
        );
    }
    Ok(())
}

fn cupti_has_graphs() -> Result<(), Failed> {
    let (counter, recorded) = traced(|device, stream| {
        let counted = counted(device)?;
        let mut counter = device.buffer_zeroed::<u32>(1)?;
        let graph = stream.capture(|| {
            for _ in 0..20 {
                // SAFETY: one block; the counter lives until the stream is synchronised.
                unsafe { counted.launch(stream, &(counter.slice_mut(..),)) }?;
            }
            Ok(())
        })?;
        // SAFETY: as above.
        unsafe { graph.launch(stream) }?;
        stream.synchronize()?;
        counter.to_vec()
    })?;
    equal(&counter, &[20])?;
    let spans = launches(&recorded, count::entry().name());
    equal(&[spans.len()], &[20])
}

/// Ten launches between two events: from the first one's begin to the last one's end in CUPTI's times,
/// and from event to event. Ten more before them keep the device busy until all are in the stream, so
/// the host has no part in either. The events have also the way to the first kernel and from the last,
/// some microseconds each; the whole is more than a millisecond, of which 5 % are allowed.
fn cupti_and_events_agree() -> Result<(), Failed> {
    const ELEMENTS: usize = 1 << 26;
    const LAUNCHES: usize = 10;
    let (events, recorded) = traced(|device, stream| {
        let shape = LaunchConfig::linear(map_threads::<f32>(ELEMENTS as u64), BLOCK);
        let prepared = device.prepare(scale_f32::entry(), shape)?;
        let x = device.buffer_filled(ELEMENTS, 1.0f32)?;
        let mut y = device.buffer_zeroed::<f32>(ELEMENTS)?;
        let mut launch = || {
            let arguments = (
                Scale { factor: 2.0 },
                x.slice(..),
                y.slice_mut(..),
                ELEMENTS,
            );
            // SAFETY: both have as many elements, and live until the end event has been waited for.
            unsafe { prepared.launch(stream, &arguments) }
        };
        // Loads the kernel.
        launch()?;
        stream.synchronize()?;
        (0..LAUNCHES).try_for_each(|_| launch())?;
        let start = stream.record()?;
        (0..LAUNCHES).try_for_each(|_| launch())?;
        let end = stream.record()?;
        end.synchronize()?;
        end.milliseconds_since(&start)
    })?;
    let spans = launches(&recorded, scale_f32::entry().name());
    equal(&[spans.len()], &[1 + 2 * LAUNCHES])?;
    let last = &spans[1 + LAUNCHES..];
    let (first, end) = (last[0].began, last[LAUNCHES - 1]);
    let cupti = (end.began + end.took - first).as_secs_f64() * 1e3;
    assert!(
        (events / cupti - 1.0).abs() < 0.05,
        "{events} ms by events, {cupti} ms by CUPTI"
    );
    Ok(())
}
