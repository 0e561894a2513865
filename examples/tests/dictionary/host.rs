//! Host code of CUDA C++, in Rust: rows of `docs/cuda-to-rust.md`, as the kernels of
//! `examples/kernels/src/dictionary.rs` have them.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "rows of a page: each launch has the buffers that its kernel asks for, and is waited for"
)]

use cuda_std::group::workspace_words;
use cuda_std::launch::{Entry, Foreign, In, Out};
use example_kernels::dictionary::*;
use gpu_test::{Failed, equal};
use ridgepoint_driver::{
    Device, DeviceBuffer, DeviceChoice, DriverError, LaunchConfig, Prepared, Stream, gpus,
};

//# Devices, memory and launches

pub(crate) fn launches(device: &Device) -> Result<(), Failed> {
    let n = 1000;
    // CUDA: `cudaStream_t stream; cudaStreamCreate(&stream);`
    let stream = Stream::new(device)?;

    // CUDA: `cudaMalloc(&x, bytes); cudaMemcpy(x, host, bytes, cudaMemcpyHostToDevice);`
    let x = device.buffer_from(&vec![1.5f32; n])?;

    // CUDA: `cudaMalloc(&y, bytes);`
    // Note: The emulator finds what a kernel reads of it before it has been written.
    let mut y = device.buffer_uninitialized::<f32>(n)?;

    // CUDA: `cudaMalloc(&z, bytes); cudaMemset(z, 0, bytes);`
    let mut z = device.buffer_zeroed::<f32>(n)?;

    // CUDA: `(n + 255) / 256` blocks of 256
    let config = LaunchConfig::linear(n as u64, 256);

    // CUDA: `scale<<<blocks, 256, 0, stream>>>(x, y, 2.0f); cudaStreamSynchronize(stream);`
    // Note: `prepare` compares the launch with the device once. `run` takes kernels that are safe functions, and waits.
    let prepared = device.prepare(scale::entry(), config)?;
    prepared.run(&stream, (x.slice(..), y.slice_mut(..), 2.0))?;

    // CUDA: `scale<<<blocks, 256, 0, stream>>>(x, y, 2.0f);`
    // Note: Any kernel, and it does not wait: so `unsafe`.
    unsafe { prepared.launch(&stream, &(x.slice(..), z.slice_mut(..), 3.0)) }?;

    // CUDA: `cudaStreamSynchronize(stream); cudaGetLastError()`
    // Note: Every error is a `Result`: which operation, and why. A kernel's panic has its line, block and thread.
    stream.synchronize()?;

    // CUDA: `cudaMemcpy(host, y, bytes, cudaMemcpyDeviceToHost);`
    let host = y.to_vec()?;

    equal(&host, &vec![3.0; n])?;
    equal(&z.to_vec()?, &vec![4.5; n])?;

    // CUDA: `y + 10`, 20 elements
    let some = y.slice(10..30);

    assert_eq!(some.len(), 20);

    // CUDA: `cudaFree(y);`
    drop(y);

    // CUDA: `kernel<<<dim3(8, 4, 2), dim3(16, 4, 4), 1024, stream>>>`
    let solid = LaunchConfig::grid([8, 4, 2], [16, 4, 4]).with_dynamic_shared(1024);

    // CUDA: `dim3 block(32, 8); dim3 grid((width + 31) / 32, (height + 7) / 8);`
    let tiles = LaunchConfig::tiles([100, 60], [32, 8]);

    // CUDA: the same of x, y and z
    let volume = LaunchConfig::volume([100, 60, 20], [32, 4, 2]);

    equal(
        &[solid.grid, tiles.grid, volume.grid],
        &[[8, 4, 2], [4, 8, 1], [4, 15, 10]],
    )?;

    // CUDA: `cudaLaunchKernel` with a block of 2048 threads: `cudaErrorInvalidValue`
    let refused = device.prepare(scale::entry(), LaunchConfig::blocks(1, 2048));
    assert!(refused.is_err_and(|error| error.to_string().contains("block of 2048 threads")));

    of_files(device)
}

/// Kernels of nvcc's.
fn of_files(device: &Device) -> Result<(), Failed> {
    // CUDA: `cuModuleLoad(&module, "nvcc.ptx"); cuModuleGetFunction(&saxpy, module, "saxpy");`
    let module = device.load(examples::nvcc_ptx("nvcc.ptx"))?;
    let saxpy = Entry::<Foreign<(i32, f32, In<f32>, Out<f32>)>>::foreign("saxpy");

    let stream = Stream::new(&module)?;
    let (x, mut y) = (
        module.buffer_filled(100, 2.0f32)?,
        module.buffer_filled(100, 1.0f32)?,
    );
    let prepared = module.prepare(saxpy, LaunchConfig::linear(100, 64))?;

    // CUDA: `cuLaunchKernel(saxpy, .., arguments, 0)`
    unsafe { prepared.launch(&stream, &(100, 0.5, x.slice(..), y.slice_mut(..))) }?;

    stream.synchronize()?;
    equal(&y.to_vec()?, &[2.0; 100])
}

pub(crate) fn devices(device: &Device) -> Result<(), Failed> {
    // CUDA: `cudaGetDeviceCount(&n); cudaGetDeviceProperties(&p, 0);`
    let count = gpus().map_or(0, |all| all.len());

    // CUDA: `cudaSetDevice(0);`
    // Note: `cuda:0`, or `cpu`: the emulator, on any machine. A device is a value; several are open at once.
    let opened = Device::open(&DeviceChoice::Cpu, examples::ptx())?;

    // CUDA: `p.multiProcessorCount`, `p.maxThreadsPerBlock`
    let multiprocessors = opened.properties().multiprocessors;

    // CUDA: `cudaMemGetInfo(&free, &total);`
    let free = opened.free_memory()?;

    // CUDA: `cudaOccupancyMaxActiveBlocksPerMultiprocessor`, times the multiprocessors
    let prepared = device.prepare(scale::entry(), LaunchConfig::blocks(1, 256))?;
    let at_once = device.blocks_at_once(&prepared)?;

    assert!(multiprocessors > 0 && free > 0 && at_once > 0 && count < 1000);

    // CUDA: a class with a stream, a kernel's launch and buffers
    // Note: Streams and prepared launches borrow the device: it stays outside of the struct, in `main`, or is `Box::leak(Box::new(device))`.
    struct Scaling<'d> {
        stream: Stream<'d>,
        launch: Prepared<'d, scale>,
        values: DeviceBuffer<f32>,
    }

    let mut scaling = Scaling {
        stream: Stream::new(device)?,
        launch: prepared,
        values: device.buffer_zeroed(256)?,
    };
    let x = device.buffer_filled(256, 2.0f32)?;
    let arguments = (x.slice(..), scaling.values.slice_mut(..), 4.0);
    scaling.launch.run(&scaling.stream, arguments)?;
    equal(&scaling.values.to_vec()?, &[8.0; 256])?;

    // CUDA: `cudaMemcpyPeerAsync(y, 1, x, 0, bytes, stream);`
    let (stream, x, mut y) = (
        Stream::new(&opened)?,
        opened.buffer_filled(10, 7u32)?,
        opened.buffer_zeroed(10)?,
    );
    unsafe { stream.copy_peer(x.slice(..), y.slice_mut(..)) }?;

    stream.synchronize()?;
    equal(&y.to_vec()?, &[7; 10])
}

//# Streams, events, copies and graphs

pub(crate) fn streams(device: &Device) -> Result<(), Failed> {
    let (stream, other) = (Stream::new(device)?, Stream::new(device)?);
    let mut y = device.buffer_zeroed::<f32>(1000)?;
    let prepared = device.prepare(clear::entry(), LaunchConfig::linear(1000, 256))?;

    // CUDA: `cudaMallocHost(&host, bytes);`
    let host = device.pinned(1000, 2.5f32)?;

    // CUDA: `cudaHostRegister(values, bytes, 0);`
    let registered = device
        .pin(vec![0.0f32; 1000])
        .map_err(|refused| refused.error)?;

    // CUDA: `cudaMemcpyAsync(y, host, bytes, cudaMemcpyHostToDevice, stream);`
    // Note: The copy owns the host's memory until it is done, so nobody changes it meanwhile.
    let upload = stream
        .upload(host, &mut y, 0)
        .map_err(|refused| refused.error)?;

    // CUDA: `cudaEventRecord(event, stream);`
    let event = stream.mark()?;

    // CUDA: `cudaStreamWaitEvent(other, event);`
    other.wait_event(&event)?;

    // CUDA: `cudaMemcpyAsync(host, y, bytes, cudaMemcpyDeviceToHost, other);`
    let download = other
        .download(&y, 0, registered)
        .map_err(|refused| refused.error)?;

    // CUDA: `cudaEventQuery(event)`
    let is_done = event.is_done()?;

    // CUDA: `cudaEventSynchronize(event);`
    event.synchronize()?;

    assert!(!is_done || event.is_done()?);
    upload.wait()?;
    equal(&download.wait()?.into_vec(), &[2.5; 1000])?;

    // CUDA: `cudaMemcpyAsync` of pageable memory, and `cudaStreamSynchronize`
    stream.write(&[1.0, 2.0], &mut y, 10)?;

    // CUDA: `cudaEventRecord(start, stream); .. cudaEventElapsedTime(&ms, start, end);`
    let start = stream.record()?;
    unsafe { prepared.launch(&stream, &(y.slice_mut(..),)) }?;
    let end = stream.record()?;
    stream.synchronize()?;
    let milliseconds = end.milliseconds_since(&start)?;

    assert!(milliseconds >= 0.0);

    // CUDA: `cudaStreamBeginCapture(stream, ..); .. cudaStreamEndCapture(stream, &graph); cudaGraphInstantiate(..);`
    let graph = stream.capture(|| unsafe {
        prepared.launch(&stream, &(y.slice_mut(..),))?;
        prepared.launch(&stream, &(y.slice_mut(..),))
    })?;

    // CUDA: `cudaGraphLaunch(graph, stream);`
    unsafe { graph.launch(&stream) }?;

    // CUDA: `cudaLaunchHostFunc(stream, function, data);`
    // Note: In the streams of emulated devices alone, for what a library does on a GPU; there it is an error.
    let worked = stream.host_work(|_| Ok(()));

    match worked {
        Err(DriverError::NotEmulated(_)) => assert!(!device.properties().is_emulated()),
        worked => worked?,
    }

    // CUDA: `cudaDeviceSynchronize();`
    // Note: Streams are waited for one by one: a device does not know of all.
    stream.synchronize()?;

    equal(&y.to_vec()?, &[0.0; 1000])
}

/// Cooperative launches, and the kernels whose grid works together.
pub(crate) fn cooperative(device: &Device) -> Result<(), Failed> {
    let (stream, config) = (Stream::new(device)?, LaunchConfig::blocks(4, 64));
    let mut values = device.buffer_zeroed::<u32>(256)?;
    let mut arrivals = device.buffer_zeroed::<u32>(1)?;
    let mut out = device.buffer_zeroed::<u32>(256)?;

    // CUDA: `cudaLaunchCooperativeKernel(fences, 4, 64, arguments, 0, stream);`
    let prepared = device.prepare_cooperative(fences::entry(), config)?;
    let arguments = (
        values.slice_mut(..),
        arrivals.slice_mut(..),
        out.slice_mut(..),
    );
    unsafe { prepared.launch(&stream, &arguments) }?;

    stream.synchronize()?;
    equal(&out.to_vec()?, &(0..256).rev().collect::<Vec<_>>())?;

    // CUDA: storage of `cub::DeviceScan`: `cudaMalloc(&storage, bytes);`
    let mut workspace = device.buffer_zeroed::<u32>(workspace_words::<f32>(4))?;

    let (x, mut y) = (
        device.buffer_filled(256, 0.5f32)?,
        device.buffer_zeroed::<f32>(256)?,
    );
    let prepared = device.prepare_cooperative(scan_of_the_grid::entry(), config)?;
    prepared.run(
        &stream,
        (x.slice(..), workspace.slice_mut(..), y.slice_mut(..)),
    )?;
    equal(
        &y.to_vec()?,
        &(0..256).map(|i| 0.5 * i as f32).collect::<Vec<_>>(),
    )
}

/// Errors that the type of a launch, or its values, give.
pub(crate) fn errors(device: &Device) -> Result<(), Failed> {
    let mut y = device.buffer_zeroed::<f32>(6)?;

    // CUDA: extents that are not those of the buffer: a fault, or nothing
    let wrong = y.slice_mut(..).try_shaped([2, 4]);
    assert!(wrong.is_err_and(|error| error.to_string().contains("2 x 4 has 8 elements")));

    Ok(())
}
