//! Launches.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::arguments::{Dim3, In, Out};
use crate::driver::{self, Handle};
use crate::inside;
use crate::program::function;
use crate::status::{self, Answer, Error};

/// `cudaLaunchConfig_t`
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RuntimeConfig {
    grid: Dim3,
    block: Dim3,
    dynamic: usize,
    stream: Handle,
    attributes: usize,
    count: u32,
}

/// `CUlaunchConfig`, whose attributes are the runtime's.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Config {
    grid: Dim3,
    block: Dim3,
    dynamic: u32,
    stream: Handle,
    attributes: usize,
    count: u32,
}

impl RuntimeConfig {
    pub(crate) fn of_driver(self) -> Config {
        let RuntimeConfig {
            grid,
            block,
            stream,
            attributes,
            count,
            ..
        } = self;
        let dynamic = shared(self.dynamic);
        Config {
            grid,
            block,
            dynamic,
            stream,
            attributes,
            count,
        }
    }
}

/// Dynamic shared memory for the driver, which refuses more than any device has.
fn shared(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// A launch that a program is about to make: `<<<grid, block, dynamic, stream>>>`.
#[derive(Clone, Copy)]
struct Pushed {
    grid: Dim3,
    block: Dim3,
    dynamic: usize,
    stream: Handle,
}

thread_local! {
    /// It is not dropped: a program may launch as it ends.
    static PUSHED: ManuallyDrop<RefCell<Vec<Pushed>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Threads of a block and blocks of a grid, that no device takes more of.
const MOST_BLOCK: Dim3 = Dim3 {
    x: 1024,
    y: 1024,
    z: 64,
};
const MOST_THREADS: u64 = 1024;
const MOST_GRID: Dim3 = Dim3 {
    x: i32::MAX as u32,
    y: 65_535,
    z: 65_535,
};

/// Names the error of a launch as the runtime does, which before CUDA 13 has one of its own for a grid or block that no device takes.
fn named(launched: Answer, grid: Dim3, block: Dim3) -> Answer {
    let fits = |size: Dim3, most: Dim3| {
        (1..=most.x).contains(&size.x)
            && (1..=most.y).contains(&size.y)
            && (1..=most.z).contains(&size.z)
    };
    let threads = u64::from(block.x) * u64::from(block.y) * u64::from(block.z);
    match failed(launched) {
        Err(Error::INVALID_VALUE)
            if inside::major() < 13
                && (!fits(grid, MOST_GRID)
                    || !fits(block, MOST_BLOCK)
                    || threads > MOST_THREADS) =>
        {
            Err(Error::INVALID_CONFIGURATION)
        }
        other => other,
    }
}

/// The number of the error of a launch that nobody has waited for. A kernel that fails is told when it is launched, as by
/// `CUDA_LAUNCH_BLOCKING`, and again by the next call that waits, where programs look for it. Then the program may go on.
static FAILED: AtomicU32 = AtomicU32::new(0);

/// Errors of a kernel that runs: illegal addresses, time limits, assertions, and what `cudaErrorHardwareStackError` to
/// `cudaErrorLaunchFailure` are.
const OF_KERNELS: [RangeInclusive<u32>; 4] = [700..=700, 702..=702, 710..=710, 714..=719];

/// Keeps what failed in a launch for the next call that waits.
fn failed(launched: Answer) -> Answer {
    if let Err(error) = launched
        && OF_KERNELS.iter().any(|it| it.contains(&error.number()))
    {
        FAILED.store(error.number(), Ordering::Relaxed);
    }
    launched
}

/// The answer of a call that has waited.
pub(crate) fn waited(answer: Answer) -> Answer {
    answer?;
    status::answer(FAILED.swap(0, Ordering::Relaxed))
}

fn launch(
    host: usize,
    Pushed {
        grid,
        block,
        dynamic,
        stream,
    }: Pushed,
    arguments: In<usize>,
) -> Answer {
    let function = function(host)?;
    let launched = driver::cuLaunchKernel(
        function,
        grid.x,
        grid.y,
        grid.z,
        block.x,
        block.y,
        block.z,
        shared(dynamic),
        stream,
        arguments,
        In::null(),
    );
    named(launched, grid, block)
}

runtime! {
    fn cudaLaunchKernel | cudaLaunchKernel_ptsz(
        host: usize, grid: Dim3, block: Dim3, arguments: In<usize>, dynamic: usize, stream: Handle,
    ) {
        launch(host, Pushed { grid, block, dynamic, stream }, arguments)
    }
    fn __cudaLaunchKernel | __cudaLaunchKernel_ptsz(
        host: usize, grid: Dim3, block: Dim3, arguments: In<usize>, dynamic: usize, stream: Handle,
    ) {
        launch(host, Pushed { grid, block, dynamic, stream }, arguments)
    }
    // For `__cudaLaunchKernel` alone, which finds the kernel, or says why there is none.
    fn __cudaGetKernel(to: Out<usize>, host: usize) { to.put(host) }
    fn __cudaPushCallConfiguration(grid: Dim3, block: Dim3, dynamic: usize, stream: Handle) {
        PUSHED.with(|all| all.borrow_mut().push(Pushed { grid, block, dynamic, stream }));
        Ok(())
    }
    fn __cudaPopCallConfiguration(grid: Out<Dim3>, block: Out<Dim3>, dynamic: Out<usize>, stream: Out<Handle>) {
        let pushed = PUSHED.with(|all| all.borrow_mut().pop()).ok_or(Error::MISSING_CONFIGURATION)?;
        grid.put(pushed.grid)?;
        block.put(pushed.block)?;
        dynamic.put(pushed.dynamic)?;
        stream.put(pushed.stream)
    }
    fn cudaLaunchCooperativeKernel | cudaLaunchCooperativeKernel_ptsz(
        host: usize, grid: Dim3, block: Dim3, arguments: In<usize>, dynamic: usize, stream: Handle,
    ) {
        let function = function(host)?;
        let launched = driver::cuLaunchCooperativeKernel(
            function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared(dynamic), stream, arguments,
        );
        named(launched, grid, block)
    }
    fn cudaLaunchKernelExC | cudaLaunchKernelExC_ptsz(config: In<RuntimeConfig>, host: usize, arguments: In<usize>) {
        let config = config.get()?.of_driver();
        let function = function(host)?;
        let launched = driver::cuLaunchKernelEx(In::of(&config), function, arguments, In::null());
        named(launched, config.grid, config.block)
    }
    fn cudaLaunchHostFunc | cudaLaunchHostFunc_ptsz(stream: Handle, function: usize, argument: usize) [cuLaunchHostFunc]
}
