//! Devices, and the primary context of the one that a thread has chosen.

use std::cell::Cell;
use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::arguments::{In, Out, Text};
use crate::driver::{self, Handle};
use crate::launch::waited;
use crate::program;
use crate::status::{Answer, Error};

thread_local! {
    static CHOSEN: Cell<c_int> = const { Cell::new(0) };
}

/// Initializes the driver. Once that was done it is not asked again.
pub(crate) fn driver() -> Answer {
    static IS_DONE: AtomicBool = AtomicBool::new(false);
    if !IS_DONE.load(Ordering::Acquire) {
        driver::cuInit(0)?;
        IS_DONE.store(true, Ordering::Release);
    }
    Ok(())
}

/// Makes the chosen device's context current, unless the program has made another so through the driver.
pub(crate) fn context() -> Answer {
    driver()?;
    let mut current = 0;
    driver::cuCtxGetCurrent(Out::of(&mut current))?;
    match current {
        0 => choose(CHOSEN.get()),
        _ => Ok(()),
    }
}

/// The device of the current context; without one the chosen one.
pub(crate) fn current() -> Answer<c_int> {
    driver()?;
    let mut device = CHOSEN.get();
    // Without a context nothing is written.
    let _ = driver::cuCtxGetDevice(Out::of(&mut device));
    Ok(device)
}

/// Returns a device's primary context, which stays.
pub(crate) fn primary(index: c_int) -> Answer<Handle> {
    let (mut flags, mut is_active, mut context) = (0, 0, 0);
    let device = device(index)?;
    driver::cuDevicePrimaryCtxGetState(device, Out::of(&mut flags), Out::of(&mut is_active))?;
    driver::cuDevicePrimaryCtxRetain(Out::of(&mut context), device)?;
    Ok(context)
}

fn choose(index: c_int) -> Answer {
    driver::cuCtxSetCurrent(primary(index)?)?;
    CHOSEN.set(index);
    Ok(())
}

/// A device of the driver by its index, which is refused if there is none.
fn device(index: c_int) -> Answer<c_int> {
    driver()?;
    let mut device = 0;
    driver::cuDeviceGet(Out::of(&mut device), index).map_err(|_| Error::INVALID_DEVICE)?;
    Ok(device)
}

fn count() -> Answer<c_int> {
    driver()?;
    let mut count = 0;
    driver::cuDeviceGetCount(Out::of(&mut count))?;
    match count {
        0 => Err(Error::NO_DEVICE),
        _ => Ok(count),
    }
}

/// The version of the runtime that the program was built for: the last of its number that there is, or the driver's.
fn runtime_version() -> Answer<c_int> {
    let mut of_driver = 0;
    driver::cuDriverGetVersion(Out::of(&mut of_driver))?;
    Ok(match crate::inside::major() {
        11 => 11_080,
        12 => 12_090,
        _ => of_driver,
    })
}

runtime! {
    fn cudaGetDeviceCount(to: Out<c_int>) {
        to.check()?;
        let counted = count();
        to.put(counted.unwrap_or(0))?;
        counted.map(drop)
    }
    fn cudaGetDevice(to: Out<c_int>) { to.check()?; to.put(current()?) }
    fn cudaSetDevice(index: c_int) { choose(index) }
    fn cudaInitDevice(index: c_int, _device_flags: u32, _flags: u32) { primary(index).map(drop) }
    fn cudaSetValidDevices(list: In<c_int>, count: c_int) {
        match count {
            0 => Ok(()),
            _ => list.get().and_then(device).map(drop),
        }
    }
    // All emulated devices are alike.
    fn cudaChooseDevice(to: Out<c_int>, _like: In<u8>) { count()?; to.put(0) }
    fn cudaGetDeviceFlags(to: Out<u32>) {
        let mut is_active = 0;
        driver::cuDevicePrimaryCtxGetState(device(current()?)?, to, Out::of(&mut is_active))
    }
    fn cudaSetDeviceFlags(flags: u32) { driver::cuDevicePrimaryCtxSetFlags_v2(device(current()?)?, flags) }
    fn cudaDeviceReset() {
        let device = device(current()?)?;
        program::forget();
        // Whatever failed goes with the context.
        let _ = waited(Ok(()));
        driver::cuDevicePrimaryCtxReset_v2(device)
    }
    fn cudaThreadExit() {
        // SAFETY: it takes nothing.
        match unsafe { cudaDeviceReset() } { 0 => Ok(()), _ => Err(Error::UNKNOWN) }
    }
    fn cudaDeviceSynchronize() { context()?; waited(driver::cuCtxSynchronize()) }
    fn cudaThreadSynchronize() { context()?; waited(driver::cuCtxSynchronize()) }
    fn cudaDeviceSetLimit(limit: u32, value: usize) [cuCtxSetLimit]
    fn cudaDeviceGetLimit(to: Out<usize>, limit: u32) [cuCtxGetLimit]
    fn cudaThreadSetLimit(limit: u32, value: usize) [cuCtxSetLimit]
    fn cudaThreadGetLimit(to: Out<usize>, limit: u32) [cuCtxGetLimit]
    fn cudaDeviceGetCacheConfig(to: Out<u32>) [cuCtxGetCacheConfig]
    fn cudaDeviceSetCacheConfig(preferred: u32) [cuCtxSetCacheConfig]
    fn cudaThreadGetCacheConfig(to: Out<u32>) [cuCtxGetCacheConfig]
    fn cudaThreadSetCacheConfig(preferred: u32) [cuCtxSetCacheConfig]
    fn cudaDeviceGetSharedMemConfig(to: Out<u32>) [cuCtxGetSharedMemConfig]
    fn cudaDeviceSetSharedMemConfig(preferred: u32) [cuCtxSetSharedMemConfig]
    fn cudaDeviceGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) [cuCtxGetStreamPriorityRange]
    fn cudaCtxResetPersistingL2Cache() [cuCtxResetPersistingL2Cache]
    fn cudaDeviceGetAttribute(to: Out<c_int>, attribute: c_int, index: c_int) {
        driver::cuDeviceGetAttribute(to, attribute, device(index)?)
    }
    fn cudaDeviceGetPCIBusId(to: Out<c_char>, room: c_int, index: c_int) {
        driver::cuDeviceGetPCIBusId(to, room, device(index)?)
    }
    fn cudaDeviceGetByPCIBusId(to: Out<c_int>, name: Text) { driver()?; driver::cuDeviceGetByPCIBusId(to, name) }
    fn cudaDeviceCanAccessPeer(to: Out<c_int>, index: c_int, peer: c_int) {
        driver::cuDeviceCanAccessPeer(to, device(index)?, device(peer)?)
    }
    fn cudaDeviceGetP2PAttribute(to: Out<c_int>, attribute: c_int, index: c_int, peer: c_int) {
        driver::cuDeviceGetP2PAttribute(to, attribute, device(index)?, device(peer)?)
    }
    fn cudaDeviceEnablePeerAccess(peer: c_int, flags: u32) {
        context()?;
        driver::cuCtxEnablePeerAccess(primary(peer)?, flags)
    }
    fn cudaDeviceDisablePeerAccess(peer: c_int) { context()?; driver::cuCtxDisablePeerAccess(primary(peer)?) }
    fn cudaDeviceGetDefaultMemPool(to: Out<Handle>, index: c_int) {
        driver::cuDeviceGetDefaultMemPool(to, device(index)?)
    }
    fn cudaDeviceGetMemPool(to: Out<Handle>, index: c_int) { driver::cuDeviceGetMemPool(to, device(index)?) }
    fn cudaDeviceSetMemPool(index: c_int, pool: Handle) { driver::cuDeviceSetMemPool(device(index)?, pool) }
    fn cudaDriverGetVersion(to: Out<c_int>) { driver::cuDriverGetVersion(to) }
    fn cudaRuntimeGetVersion(to: Out<c_int>) { to.put(runtime_version()?) }
    fn cudaProfilerStart() [cuProfilerStart]
    fn cudaProfilerStop() [cuProfilerStop]
    fn cudaGetDriverEntryPoint | cudaGetDriverEntryPoint_ptsz(name: Text, to: Out<usize>, flags: u64, result: Out<u32>) {
        driver()?;
        // CUDA 11 does not ask for the result.
        let result = if crate::inside::major() >= 12 { result } else { Out::at(0) };
        entry_point(name, to, runtime_version()?, flags, result)
    }
    fn cudaGetDriverEntryPointByVersion | cudaGetDriverEntryPointByVersion_ptsz(
        name: Text, to: Out<usize>, version: u32, flags: u64, result: Out<u32>,
    ) {
        driver()?;
        entry_point(name, to, version as c_int, flags, result)
    }
}

/// `cudaEnableLegacyStream`, `cudaEnablePerThreadDefaultStream`
const LEGACY: u64 = 1;
const OF_THREAD: u64 = 2;

/// Finds a function of the driver: one that is not there is told by `result`, and is no error for who asks for it.
fn entry_point(name: Text, to: Out<usize>, version: c_int, flags: u64, result: Out<u32>) -> Answer {
    let flags = match flags {
        0 if crate::api::has_own_default() => OF_THREAD,
        0 => LEGACY,
        other => other,
    };
    let (mut address, mut told) = (0, 0);
    let found = driver::cuGetProcAddress_v2(
        name,
        Out::of(&mut address),
        version,
        flags,
        Out::of(&mut told),
    );
    to.put(address)?;
    match found {
        Err(Error::SYMBOL_NOT_FOUND) if result.check().is_ok() => result.put(told),
        other => {
            result.put_if_asked(told);
            other
        }
    }
}
