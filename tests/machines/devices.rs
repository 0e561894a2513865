//! Several devices in one process: each operation in the context of its own, from any thread.
//!
//! The cases `contexts::` compute nothing. They also run, wherever there is a rustc, on a driver that
//! computes nothing and ends the process at the first call from the wrong context
//! (support/fake_driver.rs).

mod peers;

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs, ptr, thread};

use cuda_std::launch::{Entry, Foreign, In};
use cust::sys::{
    CUcontext, CUpointer_attribute, CUresult, cuCtxGetCurrent, cuMemFree_v2, cuPointerGetAttribute,
};

use gpu_test::{Failed, REQUIRE_GPU, Trial, equal, on_both, on_gpu, on_two_gpus};
use kernels_gpu::elementwise::{BLOCK, scale_f32};
use kernels_gpu::functions::Scale;
use kernels_gpu::vector::map_threads;
use ridgepoint::driver::{
    Calls, Device, DeviceBuffer, DriverError, Emulation, Event, Graph, LaunchConfig, Pending,
    Pinned, Prepared, Refused, Stream, gpus, trace,
};
use ridgepoint::kernels::embedded_ptx;
use ridgepoint::vector::Normalize;

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        two("contexts::memory_lies_where_it_was_asked_for", memory_lies),
        two("contexts::devices_take_turns_on_a_thread", taking_turns),
        two("contexts::other_threads_use_and_drop", other_threads),
        two("contexts::memory_outlives_its_device", |_, _| outliving()),
        two("contexts::what_is_of_another_gpu_is_refused", mismatches),
        two("contexts::a_stream_waits_for_another_gpu", waiting),
        two("contexts::a_trace_has_both", |_, _| tracing()),
        two("contexts::a_file_is_loaded_where_its_device_is", loading),
        two("two_gpus_compute_at_once", computing_at_once),
        two("the_second_gpu_computes_beside_the_first", computing),
        on_gpu(
            "devices::contexts::the_emulator_is_another_device",
            embedded_ptx(),
            |gpu| {
                let emulator = Device::emulator_with(Emulation::default(), embedded_ptx())?;
                mismatches(gpu, &emulator)?;
                mismatches(&emulator, gpu)
            },
        ),
        without_gpus(),
    ];
    trials.extend(on_both(
        "devices::contexts::two_opens_are_one_device",
        embedded_ptx(),
        one_device,
    ));
    trials.extend(on_both(
        "devices::threads_share_a_device",
        embedded_ptx(),
        threads_share,
    ));
    trials.extend(peers::all(env::var_os(REACH).is_some()));
    if env::var_os(PLANT).is_some() {
        trials.push(two("planted::memory_freed_elsewhere", freed_elsewhere));
    }
    trials
}

fn two(name: &str, case: fn(&Device, &Device) -> Result<(), Failed>) -> Trial {
    on_two_gpus(format!("devices::{name}"), embedded_ptx(), case)
}

const fn any_thread_uses<T: Send + Sync>() {}
const fn any_thread_has<T: Send>() {}
const _: () = {
    any_thread_uses::<Device>();
    any_thread_uses::<DeviceBuffer<f32>>();
    any_thread_uses::<Prepared<'_, scale_f32>>();
    any_thread_uses::<Event<'_>>();
    any_thread_uses::<Pinned<f32>>();
    any_thread_uses::<Pending<'_, f32>>();
    any_thread_has::<Stream<'_>>();
    any_thread_has::<Graph<'_>>();
};

const N: usize = 1 << 16;

/// The objects that launches of a device need.
struct Work<'d> {
    device: &'d Device,
    prepared: Prepared<'d, scale_f32>,
    stream: Stream<'d>,
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
}

impl<'d> Work<'d> {
    fn on(device: &'d Device) -> Result<Work<'d>, DriverError> {
        let shape = LaunchConfig::linear(map_threads::<f32>(N as u64), BLOCK);
        Ok(Work {
            device,
            prepared: device.prepare(scale_f32::entry(), shape)?,
            stream: Stream::new(device)?,
            x: device.buffer_filled(N, 1.0)?,
            y: device.buffer_zeroed(N)?,
        })
    }

    /// `y = factor x`, in the stream.
    fn launch(&mut self, factor: f32) -> Result<(), DriverError> {
        let Work { x, y, .. } = self;
        launch(&self.prepared, &self.stream, factor, x, y)
    }

    fn graph(&mut self) -> Result<Graph<'d>, DriverError> {
        let Work {
            prepared,
            stream,
            x,
            y,
            ..
        } = self;
        stream.capture(|| launch(prepared, stream, 3.0, x, y))
    }

    /// Does one of everything, but for what a kernel computes: each right after an operation of the
    /// other device.
    fn does_everything(&mut self, value: f32, other: &Device) -> Result<(), Failed> {
        let start = after(other, || self.stream.record())?;
        after(other, || self.launch(value))?;
        self.replays(value, other)?;
        let end = after(other, || self.stream.record())?;
        after(other, || self.stream.synchronize())?;
        after(other, || end.milliseconds_since(&start))?;
        self.asks(other)?;
        self.copies(value, other)
    }

    /// Replays a graph as it was captured and, updated, again.
    fn replays(&mut self, value: f32, other: &Device) -> Result<(), Failed> {
        let mut graph = after(other, || self.graph())?;
        let scale = Scale { factor: value };
        let arguments = (scale, self.x.slice(..), self.y.slice_mut(..), N);
        // SAFETY: the buffers have N elements, and live until the stream has been waited for.
        unsafe {
            after(other, || graph.launch(&self.stream))?;
            after(other, || graph.update(0, &self.prepared, &arguments))?;
            after(other, || graph.launch(&self.stream))?;
        }
        Ok(after(other, || self.stream.synchronize())?)
    }

    /// Asks what fits, and launches so many blocks cooperatively.
    fn asks(&mut self, other: &Device) -> Result<(), Failed> {
        let (device, entry) = (self.device, scale_f32::entry());
        after(other, || device.blocks_at_once(&self.prepared))?;
        if let Some(compiled) = after(other, || device.compiled(entry.name()))? {
            after(other, || compiled.resident_blocks(BLOCK, 0))?;
        }
        let shape = LaunchConfig::blocks(1, BLOCK);
        let one = after(other, || device.prepare_cooperative(entry, shape))?;
        let arguments = (
            Scale { factor: 1.0 },
            self.x.slice(..),
            self.y.slice_mut(..),
            4,
        );
        // SAFETY: the buffers have more elements, and live until the stream has been waited for.
        after(other, || unsafe { one.launch(&self.stream, &arguments) })?;
        Ok(after(other, || self.stream.synchronize())?)
    }

    /// Copies in every way.
    fn copies(&mut self, value: f32, other: &Device) -> Result<(), Failed> {
        let (device, stream, x) = (self.device, &self.stream, &mut self.x);
        let host = after(other, || device.pinned(N, value))?;
        let up = after(other, || stream.upload(host, x, 0))?;
        let host = after(other, || up.wait())?;
        let down = after(other, || stream.download(x, 0, host))?;
        let copied = after(other, || down.wait())?;
        equal(&copied, &[value; N])?;
        equal(&after(other, || x.to_vec())?, &[value; N])?;
        after(other, || x.write(1, &[7.0]))?;
        let pinned = after(other, || device.pin(vec![0.0; 3]))?;
        let three = after(other, || stream.download(x, 0, pinned))?.wait()?;
        equal(&after(other, || three.into_vec()), &[value, 7.0, value])?;
        let mut two = [0.0; 2];
        after(other, || stream.write(&[8.0, 9.0], x, 0))?;
        after(other, || stream.read(x, 1, &mut two))?;
        equal(&two, &[9.0, value])
    }
}

/// Returns the result of `operation`, which begins with this thread in the context of `other`.
fn after<R>(other: &Device, operation: impl FnOnce() -> R) -> R {
    other.free_memory().expect("asked before");
    operation()
}

/// `y = factor x`, in the stream.
fn launch(
    prepared: &Prepared<'_, scale_f32>,
    stream: &Stream<'_>,
    factor: f32,
    x: &DeviceBuffer<f32>,
    y: &mut DeviceBuffer<f32>,
) -> Result<(), DriverError> {
    // SAFETY: both have N elements, and every case waits for the stream before it drops them.
    unsafe { prepared.launch(stream, &(Scale { factor }, x.slice(..), y.slice_mut(..), N)) }
}

/// The number of the GPU that the buffer lies on, as the driver says.
fn gpu_of<T: bytemuck::Pod>(buffer: &DeviceBuffer<T>) -> Result<u32, Failed> {
    const ORDINAL: CUpointer_attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    let mut ordinal = 0u32;
    let address = buffer.slice(..).as_ptr().addr() as u64;
    // SAFETY: the attribute is an int.
    let result = unsafe { cuPointerGetAttribute((&raw mut ordinal).cast(), ORDINAL, address) };
    match result {
        CUresult::CUDA_SUCCESS => Ok(ordinal),
        other => Err(format!("{other:?}").into()),
    }
}

fn memory_lies(a: &Device, b: &Device) -> Result<(), Failed> {
    for (device, other, ordinal) in [(a, b, 0), (b, a, 1), (a, b, 0)] {
        let before = (device.free_memory()?, other.free_memory()?);
        let bytes = before.0 / 16;
        let buffer = device.buffer_uninitialized::<u8>(bytes as usize)?;
        equal(&[gpu_of(&buffer)?], &[ordinal])?;
        let after = (device.free_memory()?, other.free_memory()?);
        let taken = [before.0 - after.0, before.1.abs_diff(after.1)];
        if taken[0] < bytes || taken[1] > bytes / 2 {
            return Err(format!("of {bytes} bytes, {taken:?} are taken").into());
        }
        thread::scope(|scope| {
            let elsewhere = scope.spawn(|| gpu_of(&device.buffer_filled(N, 1u32)?));
            equal(&[elsewhere.join().expect("no panic")?], &[ordinal])
        })?;
        // As many bytes are 8 more than a usize holds.
        assert!(device.pinned((1 << 61) + 1, 0u64).is_err());
    }
    Ok(())
}

fn taking_turns(a: &Device, b: &Device) -> Result<(), Failed> {
    let mut works = [Work::on(a)?, Work::on(b)?];
    for round in 0..5 {
        for (i, work) in works.iter_mut().enumerate() {
            work.does_everything((2 * round + i) as f32, [b, a][i])?;
        }
    }
    for (device, other) in [(a, b), (b, a)] {
        let limited = after(other, || device.with_max_registers(32, embedded_ptx()))?;
        Work::on(&limited)?.does_everything(1.0, other)?;
    }
    // Both wait for copies of their own while the other device is current.
    let mut copies = Vec::new();
    for Work { stream, x, .. } in &works {
        copies.push(stream.download(x, 0, a.pinned(N, 0.0)?)?);
    }
    drop(works);
    for (i, copy) in copies.into_iter().enumerate() {
        equal(&copy.wait()?[..3], &[8.0, 9.0, (8 + i) as f32])?;
    }
    Ok(())
}

fn other_threads(a: &Device, b: &Device) -> Result<(), Failed> {
    thread::scope(|scope| {
        let mut threads = Vec::new();
        for (device, other) in [(a, b), (b, a), (a, b), (b, a)] {
            let mut work = Work::on(device)?;
            let graph = work.graph()?;
            let event = work.stream.record()?;
            let host = device.pinned(N, 4.0)?;
            let copy = work.stream.upload(host, &mut work.x, 0)?;
            threads.push(scope.spawn(move || {
                event.synchronize()?;
                // SAFETY: the buffers live until the stream has been waited for.
                unsafe { graph.launch(&work.stream) }?;
                drop(copy);
                work.does_everything(6.0, other)?;
                work.stream.synchronize()?;
                Ok::<_, Failed>((work, graph))
            }));
        }
        // All of it goes on this thread, of one device and the other in turn.
        for thread in threads {
            drop(thread.join().expect("no panic")?);
        }
        Ok(())
    })
}

/// The device's own kernels from a file, with its memory and in its streams.
fn loading(a: &Device, b: &Device) -> Result<(), Failed> {
    type Reads = Foreign<(In<f32>,)>;
    let (_, text, _) = embedded_ptx()
        .iter()
        .find(|(arch, ..)| [a, b].iter().all(|device| runs(device, *arch)))
        .ok_or("both run some")?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("kernels.ptx");
    fs::write(&path, text)?;
    let loaded = after(b, || a.load(&path))?;
    let (mut work, mut own) = (Work::on(&loaded)?, Work::on(a)?);
    let other = Work::on(b)?;
    after(b, || {
        launch(&work.prepared, &own.stream, 2.0, &own.x, &mut work.y)
    })?;
    after(b, || {
        launch(&own.prepared, &work.stream, 2.0, &work.x, &mut own.y)
    })?;
    own.stream.synchronize()?;
    work.does_everything(3.0, b)?;

    let shape = LaunchConfig::blocks(1, BLOCK);
    let reads = loaded.prepare(Entry::<Reads>::foreign(scale_f32::entry().name()), shape)?;
    // SAFETY: nothing of it gets to a device.
    refused((a, b), "argument `0`", || unsafe {
        reads.launch(&own.stream, &(other.x.slice(..),))
    })?;
    let absent = after(b, || {
        loaded.prepare(Entry::<Reads>::foreign("absent"), shape)
    });
    let text = absent.err().ok_or("it is not there")?.to_string();
    let start = format!("kernel absent is not in {}, which has ", path.display());
    assert!(text.starts_with(&start), "{text}");

    fs::write(&path, "Not PTX.")?;
    let error = after(b, || loaded.load(&path)).err().ok_or("not PTX")?;
    let path = path.display();
    let expected = format!("{path} is neither PTX nor a cubin: it begins with \"Not PTX.\"");
    equal(&[error.to_string()], &[expected])
}

/// Whether the device runs PTX of this architecture.
fn runs(device: &Device, arch: u32) -> bool {
    let (major, minor) = device.properties().compute_capability;
    arch <= major * 10 + minor
}

/// On a GPU that no other case has opened, where there is one.
fn outliving() -> Result<(), Failed> {
    let last = gpus()?.len() as u32 - 1;
    let (buffer, pinned) = {
        let device = Device::with_ptx(last, embedded_ptx())?;
        (device.buffer_filled(N, 3.0)?, device.pinned(N, 2.0)?)
    };
    drop(Device::with_ptx(0, embedded_ptx())?);
    equal(&buffer.to_vec()?, &[3.0; N])?;
    equal(&pinned.into_vec(), &[2.0; N])
}

/// By events, which are recorded and read in the contexts of both.
fn tracing() -> Result<(), Failed> {
    trace::begin(None);
    {
        let devices = [
            Device::with_ptx(0, embedded_ptx())?,
            Device::with_ptx(1, embedded_ptx())?,
        ];
        let [a, b] = &devices;
        let (mut first, mut second) = (Work::on(a)?, Work::on(b)?);
        first.does_everything(1.0, b)?;
        second.does_everything(1.0, a)?;
        refused((a, b), "argument `x`", || {
            launch(&first.prepared, &first.stream, 2.0, &second.x, &mut first.y)
        })?;
    }
    let recorded = trace::take();
    // Emulators of other cases may have been opened meanwhile. None replays a graph. By stream, as the
    // driver that computes nothing says 1 ms of any two events, by which both devices' spans may mingle.
    let named = |name: &str| {
        let spans = recorded.spans.iter().filter(|span| span.name == name);
        let mut streams: Vec<_> = spans.map(|span| span.stream).collect();
        streams.sort_unstable();
        streams
    };
    let graphs = named("graph");
    let mut launches = named(scale_f32::entry().name());
    launches.retain(|stream| graphs.contains(stream));
    // Of each device two graphs and two launches. The one that was refused has left nothing.
    let streams = [graphs[0], graphs[0], graphs[3], graphs[3]];
    assert!(recorded.has_gpu && graphs[0] != graphs[3], "{recorded:?}");
    equal(&graphs, &streams)?;
    equal(&launches, &streams)
}

fn one_device(device: &Device) -> Result<(), Failed> {
    let again = match &device.properties().gpu {
        Some(gpu) => Device::with_ptx(gpu.ordinal, embedded_ptx())?,
        None => Device::emulator_with(Emulation::default(), embedded_ptx())?,
    };
    let (mut work, other) = (Work::on(device)?, Work::on(&again)?);
    work.x = other.x;
    work.launch(2.0)?;
    // The other stream writes the same elements.
    work.stream.synchronize()?;
    launch(&work.prepared, &other.stream, 2.0, &work.x, &mut work.y)?;
    Ok(other.stream.synchronize()?)
}

/// The context that this thread is in; null where there is no driver.
fn current() -> CUcontext {
    let mut context = ptr::null_mut();
    // SAFETY: `context` is a place to write to.
    let result = unsafe { cuCtxGetCurrent(&mut context) };
    // Emulated devices have none, and may be all that there is.
    let is_none = result == CUresult::CUDA_ERROR_NO_DEVICE;
    assert!(is_none || result == CUresult::CUDA_SUCCESS, "{result:?}");
    context
}

/// Returns the name of the device in errors.
fn name(device: &Device) -> String {
    match &device.properties().gpu {
        Some(gpu) => format!("cuda:{} ({})", gpu.ordinal, device.properties().name),
        None => {
            let of_emulator = device.properties().name.strip_prefix("CPU emulator ");
            let number = of_emulator.and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
            number.map_or("cpu (the emulator)".to_owned(), |it| {
                format!("cpu:{it} (the emulator)")
            })
        }
    }
}

/// Sees that an operation on `on` refuses `what`, which is of `of`, asks the driver nothing, and leaves
/// this thread in the context of `of`.
fn refused<R>(
    (on, of): (&Device, &Device),
    what: &str,
    operation: impl FnOnce() -> Result<R, DriverError>,
) -> Result<(), Failed> {
    let before = after(of, current);
    let (result, calls) = Calls::during(operation);
    if let Some(call) = calls.all().first() {
        return Err(format!("{what}: {} was called", call.function).into());
    }
    if current() != before {
        return Err(format!("{what}: the context is another").into());
    }
    is_refusal((on, of), what, result)
}

fn is_refusal<R>(
    (on, of): (&Device, &Device),
    what: &str,
    result: Result<R, DriverError>,
) -> Result<(), Failed> {
    let Err(error) = result else {
        return Err(format!("{what} of another device was allowed").into());
    };
    let text = error.to_string();
    let expected = format!("on {}: {what} belongs to {}", name(on), name(of));
    match error {
        DriverError::OtherDevice { .. } if text.ends_with(&expected) => Ok(()),
        _ => Err(format!("{text:?} is not {expected:?}").into()),
    }
}

/// Why, and the host memory in `host`.
fn given<H>(refused: Refused<H>, host: &mut Option<H>) -> DriverError {
    *host = refused.host;
    *refused.error
}

/// Everything that `on` refuses of `of`. Afterwards both work as before.
fn mismatches(on: &Device, of: &Device) -> Result<(), Failed> {
    let devices = (on, of);
    let (mut own, mut other) = (Work::on(on)?, Work::on(of)?);
    let stream = &own.stream;
    let prepared = &own.prepared;
    let launch_own =
        |x: &DeviceBuffer<f32>, y: &mut DeviceBuffer<f32>| launch(prepared, stream, 2.0, x, y);
    refused(devices, "the kernel", || {
        launch(&other.prepared, stream, 2.0, &own.x, &mut own.y)
    })?;
    refused(devices, "argument `x`", || launch_own(&other.x, &mut own.y))?;
    refused(devices, "argument `y`", || launch_own(&own.x, &mut other.y))?;
    refused(devices, "the kernel", || on.blocks_at_once(&other.prepared))?;

    let (mut back, host) = ([None, None], on.pinned(N, 1.0)?);
    refused(devices, "the buffer", || {
        let begun = stream.upload(host, &mut other.x, 0);
        begun.map_err(|refused| given(refused, &mut back[0]))
    })?;
    let host = on.pinned(N, 2.0)?;
    refused(devices, "the buffer", || {
        let begun = stream.download(&other.x, 0, host);
        begun.map_err(|refused| given(refused, &mut back[1]))
    })?;
    for (host, value) in back.into_iter().zip([1.0, 2.0]) {
        equal(&host.expect("it did not begin"), &[value; N])?;
    }
    let mut values = vec![0.0; N];
    refused(devices, "the buffer", || {
        stream.write(&values, &mut other.x, 0)
    })?;
    refused(devices, "the buffer", || {
        stream.read(&other.x, 0, &mut values)
    })?;

    let (event, earlier) = (stream.record()?, other.stream.record()?);
    refused(devices, "the earlier event", || {
        event.milliseconds_since(&earlier)
    })?;
    if on.properties().is_emulated() != of.properties().is_emulated() {
        refused(devices, "the event", || stream.wait_event(&earlier))?;
    }

    let captured = stream.capture(|| launch_own(&other.x, &mut own.y));
    is_refusal(devices, "argument `x`", captured)?;
    let mut graph = own.graph()?;
    let graph_of_other = other.graph()?;
    equal(&[graph.launches()], &[1])?;
    let scale = Scale { factor: 2.0 };
    // SAFETY: nothing of it gets to a device.
    unsafe {
        refused(devices, "the graph", || graph_of_other.launch(&own.stream))?;
        let arguments = (scale, own.x.slice(..), own.y.slice_mut(..), N);
        refused(devices, "the kernel", || {
            graph.update(0, &other.prepared, &arguments)
        })?;
        let arguments = (scale, other.x.slice(..), own.y.slice_mut(..), N);
        refused(devices, "argument `x`", || {
            graph.update(0, &own.prepared, &arguments)
        })?;
        // The graph is as it was.
        graph.launch(&own.stream)?;
    }
    own.does_everything(3.0, of)?;
    other.does_everything(4.0, on)
}

fn waiting(a: &Device, b: &Device) -> Result<(), Failed> {
    let (mut first, mut second) = (Work::on(a)?, Work::on(b)?);
    for (from, to) in [(0, 1), (1, 0)] {
        let works = [&mut first, &mut second];
        let event = works[from].stream.mark()?;
        works[to].stream.wait_event(&event)?;
        works[to].stream.synchronize()?;
        assert!(event.is_done()?);
    }
    first.does_everything(1.0, b)?;
    second.does_everything(2.0, a)
}

/// Breaks the rule that the driver which computes nothing is there to see.
fn freed_elsewhere(a: &Device, b: &Device) -> Result<(), Failed> {
    let buffer = a.buffer_filled(N, 1u32)?;
    let address = buffer.slice(..).as_ptr().addr() as u64;
    // SAFETY: that driver ends the process here.
    let result = after(b, || unsafe { cuMemFree_v2(address) });
    std::mem::forget(buffer);
    equal(&[result], &[CUresult::CUDA_SUCCESS])
}

/// Launches with other factors again and again, and looks at what they compute.
fn rounds(device: &Device, factors: std::ops::Range<usize>) -> Result<DeviceBuffer<f32>, Failed> {
    let mut work = Work::on(device)?;
    for factor in factors {
        work.launch(factor as f32)?;
        work.stream.synchronize()?;
        equal(&work.y.to_vec()?, &[factor as f32; N])?;
    }
    Ok(work.y)
}

fn computing_at_once(a: &Device, b: &Device) -> Result<(), Failed> {
    thread::scope(|scope| {
        let threads = [
            (a, 0..200),
            (b, 1000..1200),
            (b, 2000..2200),
            (a, 3000..3200),
        ]
        .map(|(device, factors)| scope.spawn(move || rounds(device, factors)));
        for (thread, ordinal) in threads.into_iter().zip([0, 1, 1, 0]) {
            let y = thread.join().expect("no panic")?;
            equal(&[gpu_of(&y)?], &[ordinal])?;
        }
        Ok(())
    })
}

fn threads_share(device: &Device) -> Result<(), Failed> {
    thread::scope(|scope| {
        let threads =
            [0, 10, 20].map(|first| scope.spawn(move || rounds(device, first..first + 3)));
        for (thread, last) in threads.into_iter().zip([2.0, 12.0, 22.0]) {
            equal(&thread.join().expect("no panic")?.to_vec()?, &[last; N])?;
        }
        Ok(())
    })
}

/// A unit vector of the second GPU's, while the first is in use.
fn computing(a: &Device, b: &Device) -> Result<(), Failed> {
    let mut busy = Work::on(a)?;
    let mut normalize = Normalize::<f64>::new(b, N)?;
    let stream = Stream::new(b)?;
    let (x, mut unit) = (b.buffer_filled(N, 2.0)?, b.buffer_zeroed(N)?);
    let mut norm = b.buffer_zeroed(1)?;
    busy.does_everything(1.0, b)?;
    // SAFETY: the buffers live until the stream is synchronised, and have N elements and one.
    unsafe { normalize.launch(&stream, x.slice(..), unit.slice_mut(..), norm.slice_mut(..)) }?;
    busy.does_everything(2.0, b)?;
    stream.synchronize()?;
    let root = (N as f64).sqrt();
    equal(&norm.to_vec()?, &[2.0 * root])?;
    equal(&unit.to_vec()?, &[1.0 / root; N])
}

/// The cases `contexts::` on the driver that computes nothing, in a process of its own.
fn without_gpus() -> Trial {
    let rustc = || Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    let trial = Trial::test("devices::the_fake_driver_runs_the_cases", move || {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join("fake_driver.rs");
        fs::write(&source, include_str!("../support/fake_driver.rs"))?;
        let compiled = rustc()
            .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
            .args([&folder.path().join("libcuda.so.1"), &source])
            .output()?;
        if !compiled.status.success() {
            return Err(String::from_utf8_lossy(&compiled.stderr).into());
        }
        let output = with_driver(folder.path(), "devices::contexts::")?;
        let text = String::from_utf8(output.stdout)?;
        let error = String::from_utf8_lossy(&output.stderr);
        let passed = text.matches("... ok").count();
        if !output.status.success() || passed != CASES || !text.contains("; 0 ignored;") {
            return Err(format!("{passed} of {CASES} cases passed:\n{text}{error}").into());
        }
        let reached = with_driver(folder.path(), peers::FAKE)?;
        let text = String::from_utf8_lossy(&reached.stdout);
        if !reached.status.success() || !text.contains("... ok") {
            return Err(format!("{text}{}", String::from_utf8_lossy(&reached.stderr)).into());
        }
        let planted = with_driver(folder.path(), "devices::planted::")?;
        let error = String::from_utf8_lossy(&planted.stderr);
        match !planted.status.success() && error.contains(FREED_ELSEWHERE) {
            true => Ok(()),
            false => Err(format!("not {FREED_ELSEWHERE:?}:\n{error}").into()),
        }
    });
    match rustc().arg("--version").output() {
        Ok(_) => trial,
        Err(error) => trial
            .with_kind(format!("skipped: rustc: {error}"))
            .with_ignored_flag(true),
    }
}

/// Runs these cases of this program on the driver in `folder`.
fn with_driver(folder: &Path, cases: &str) -> std::io::Result<Output> {
    Command::new(env::current_exe()?)
        .args([cases, "--test-threads=1"])
        .env("LD_LIBRARY_PATH", folder)
        .env(REQUIRE_GPU, "2")
        .env(PLANT, "1")
        .env(REACH, "1")
        .output()
}

/// Where this is set two GPUs reach each other's memory, and do so until the process ends.
const REACH: &str = "RIDGEPOINT_REACH_PEERS";

/// Where this is set there is a case `planted::` that must fail.
const PLANT: &str = "RIDGEPOINT_PLANT_WRONG_CONTEXT";

/// How it fails.
const FREED_ELSEWHERE: &str = "cuMemFree_v2 in context 2 with a memory of context 1";

/// How many cases `contexts::` there are.
const CASES: usize = 11;
