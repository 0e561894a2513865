//! Launches, checked once for any number of them.

use std::sync::Arc;

use cuda_std::launch::{Entry, Passing, Signature};
use cust::function::{Function, FunctionAttribute};
use engine::limits::Limits;

use super::error::during;
use super::gpu::Gpu;
use super::launch_attributes::Attributes;
use super::launch_config::Blocks;
use super::replay::EmulatedPtx;
use super::{Device, DriverError, LaunchConfig, Prepared, home, resident_blocks};

impl Device {
    /// Checks a launch of the kernel against its own bounds and the device's limits, once for any
    /// number of launches.
    ///
    /// # Errors
    /// The block or the grid is empty, not what the kernel requires, or over a limit of the device or of the
    /// kernel: [`DriverError::Limit`]. The kernel has outputs, and the grid more threads than have an index of 32 bits:
    /// [`DriverError::OutputThreads`]. The PTX or the file has no such kernel
    /// ([`DriverError::NoKernel`], [`DriverError::NoKernelInFile`]), which the emulator asks for a file's
    /// kernels alone. What the device has under the kernel's name was made of other source, or does not say of
    /// which ([`DriverError::OtherSource`], [`DriverError::UnknownSource`]): see
    /// [`Entry::of_any_ptx`](cuda_std::launch::Entry::of_any_ptx). On the emulator also: its PTX has other
    /// parameters ([`DriverError::Parameters`]). On a
    /// GPU also: the driver refuses ([`DriverError::Call`], [`DriverError::Cuda`]).
    pub fn prepare<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: LaunchConfig,
    ) -> Result<Prepared<'_, S>, DriverError> {
        let function = match &self.gpu {
            Some(gpu) => Some(gpu.function(entry.name())?),
            None => None,
        };
        let ptx = self.emulated_ptx(&entry)?;
        if let Some(gpu) = &self.gpu {
            gpu.origin.check(&entry)?;
        }
        if let Some(ptx) = &ptx {
            ptx.kernels.origin.check(&entry)?;
            check_parameters(&entry, &ptx.kernel)?;
        }
        let grid = self.check_limits(&entry, shape, function.as_ref(), ptx.as_ref())?;
        Ok(Prepared {
            entry,
            shape: simt::Shape {
                grid,
                block: shape.block,
                dynamic_shared: shape.dynamic_shared,
            },
            blocks: Blocks::Independent,
            home: self.home,
            function,
            emulation: self.emulation.clone(),
            shared_per_block: self.properties.limits.shared_per_block,
            capability: self.properties.capability(),
            ptx,
            attributes: Attributes::default(),
        })
    }

    /// The kernel's PTX, if the emulator executes it.
    ///
    /// # Errors
    /// [`DriverError::NoKernelInFile`], [`DriverError::NoKernel`]: the file, or the PTX of a foreign
    /// kernel, has no such kernel.
    fn emulated_ptx<S: Signature>(
        &self,
        entry: &Entry<S>,
    ) -> Result<Option<EmulatedPtx>, DriverError> {
        let (name, kernels) = (entry.name(), self.kernels.as_ref());
        let found = kernels.and_then(|kernels| {
            Some(EmulatedPtx {
                kernel: kernels.module.kernel(name)?,
                kernels: Arc::clone(kernels),
            })
        });
        let is_of_file = kernels.is_some_and(|kernels| kernels.are_of_a_file());
        match found {
            Some(_) => Ok(found),
            // It has a Rust function.
            None if self.gpu.is_some() || !(is_of_file || entry.is_foreign()) => Ok(None),
            None => Err(kernels.map_or(DriverError::NoKernel(name), |it| it.without(name))),
        }
    }

    /// [`Device::prepare`] for a kernel whose blocks wait for each other, with
    /// [`sync_grid`](cuda_std::cooperative::sync_grid): all of them run at once.
    ///
    /// ```
    /// use cuda_std::cooperative::sync_grid;
    /// use cuda_std::prelude::*;
    /// use ridgepoint_driver::{Device, DeviceChoice, DriverError, LaunchConfig, Stream};
    ///
    /// /// Each thread's number, and then that of the thread at the other end of the grid.
    /// ///
    /// /// # Safety
    /// /// The launch is cooperative, `x` has an element for each thread, and `arrivals` is 0.
    /// #[kernel]
    /// pub unsafe fn reverse(x: *mut u32, arrivals: *mut u32) {
    ///     let (i, last) = (thread::linear_index(), thread::grid_threads() - 1);
    ///     // SAFETY: as above; no thread reads before all have written, or writes before all have read.
    ///     unsafe {
    ///         *x.add(i) = i as u32;
    ///         sync_grid(arrivals);
    ///         let other = *x.add(last - i);
    ///         sync_grid(arrivals);
    ///         *x.add(i) = other;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), DriverError> {
    /// let device = Device::open(&DeviceChoice::Cpu, &[])?;
    /// let one = device.prepare(reverse::entry(), LaunchConfig::blocks(1, 64))?;
    /// let most = device.blocks_at_once(&one)?;
    /// let too_many = device.prepare_cooperative(reverse::entry(), LaunchConfig::blocks(most + 1, 64));
    /// assert!(matches!(too_many, Err(DriverError::Cooperative { limit, .. }) if limit == most));
    ///
    /// let mut x = device.buffer_zeroed(2 * 64)?;
    /// let mut arrivals = device.buffer_zeroed(1)?;
    /// let prepared = device.prepare_cooperative(reverse::entry(), LaunchConfig::blocks(2, 64))?;
    /// let stream = Stream::new(&device)?;
    /// // SAFETY: there are 128 threads and elements; both buffers live until the stream is synchronised.
    /// unsafe { prepared.launch(&stream, &(x.slice_mut(..), arrivals.slice_mut(..))) }?;
    /// stream.synchronize()?;
    /// assert_eq!((x.to_vec()?[0], x.to_vec()?[127]), (127, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Device::prepare`]; also [`DriverError::Cooperative`]: the device does not hold so many blocks at
    /// once.
    pub fn prepare_cooperative<S: Signature>(
        &self,
        entry: Entry<S>,
        shape: LaunchConfig,
    ) -> Result<Prepared<'_, S>, DriverError> {
        let prepared = self.prepare(entry, shape)?;
        let actual = prepared
            .shape
            .grid
            .iter()
            .map(|&blocks| u64::from(blocks))
            .product();
        let limit = self.blocks_at_once(&prepared)?;
        if actual > limit {
            return Err(DriverError::Cooperative {
                kernel: entry.name(),
                actual,
                limit,
                device: self.properties.name.clone(),
            });
        }
        Ok(Prepared {
            blocks: Blocks::Cooperative,
            ..prepared
        })
    }

    /// How many blocks of the launch the device holds at once. [`Device::prepare_cooperative`] has an example.
    ///
    /// # Errors
    /// [`DriverError::OtherDevice`]: `prepared` is of another device. On a GPU also: the driver refuses
    /// ([`DriverError::Call`], [`DriverError::Cuda`]). On the emulator also: not one block fits, or the
    /// limits of the device are not known ([`DriverError::UnknownCapability`]).
    pub fn blocks_at_once<S: Signature>(
        &self,
        prepared: &Prepared<'_, S>,
    ) -> Result<u64, DriverError> {
        const OPERATION: &str = "ask for the occupancy";
        home::same(OPERATION, self.home, "the kernel", prepared.home)?;
        let (Some(gpu), Some(function)) = (&self.gpu, &prepared.function) else {
            return Ok(match &prepared.ptx {
                Some(ptx) => {
                    let needs = ptx.needs(prepared.shape.dynamic_shared);
                    resident_blocks::blocks_at_once(
                        self.properties.capability(),
                        &needs,
                        prepared.shape,
                    )?
                }
                None => simt::most_blocks(prepared.shape),
            });
        };
        gpu.context.enter()?;
        let [x, y, z] = prepared.shape.block;
        let each = function
            .max_active_blocks_per_multiprocessor(
                (x, y, z).into(),
                prepared.shape.dynamic_shared as usize,
            )
            .map_err(during(OPERATION))?;
        Ok(u64::from(each) * u64::from(self.properties.multiprocessors))
    }

    /// Checks a launch against the limits of the device and of the kernel on it, and gives its grid.
    fn check_limits<S: Signature>(
        &self,
        entry: &Entry<S>,
        shape: LaunchConfig,
        function: Option<&Function<'_>>,
        ptx: Option<&EmulatedPtx>,
    ) -> Result<[u32; 3], DriverError> {
        let device = &self.properties.limits;
        // A foreign kernel's bounds are in its PTX alone; a GPU's driver knows them, too.
        let of_ptx = ptx.and_then(|ptx| ptx.kernel.required_block());
        let own_shared = match (function, ptx) {
            (Some(function), _) => attribute(function, FunctionAttribute::SharedMemorySizeBytes)?,
            (None, Some(ptx)) => ptx.kernel.static_shared(),
            // A Rust function's own arrays are seen when it runs.
            (None, None) => 0,
        };
        let threads = self.limits_of_threads(entry, function, ptx)?;
        let threads: Vec<(u32, &str)> = threads.iter().map(|(limit, by)| (*limit, &**by)).collect();
        let limits = Limits {
            kernel: entry.name(),
            device: &self.properties.name,
            threads: &threads,
            block: device.block,
            required_block: entry.bounds().block.or(of_ptx),
            grid: device.grid,
            shared: device.shared_per_block,
            own_shared,
            local: 0,
        };
        let grid = limits.check(shape.grid, shape.block, shape.dynamic_shared)?;
        check_threads(entry, grid, shape.block)?;
        if let Some(function) = function.filter(|_| shape.dynamic_shared > 0) {
            // The most, and not what this launch asks for: the function is one for all that have prepared it.
            let most = device.shared_per_block.saturating_sub(own_shared);
            Gpu::allow_dynamic_shared(function, most)?;
        }
        Ok(grid)
    }

    /// The limits of threads per block, each with what sets it.
    fn limits_of_threads<S: Signature>(
        &self,
        entry: &Entry<S>,
        function: Option<&Function<'_>>,
        ptx: Option<&EmulatedPtx>,
    ) -> Result<Vec<(u32, String)>, DriverError> {
        let name = &self.properties.name;
        let mut limits = Vec::new();
        if let Some(bound) = entry.bounds().max_threads {
            limits.push((bound, "#[kernel(max_threads)]".to_owned()));
        }
        // Fewer than the device allows if the kernel uses many registers.
        if let Some(function) = function {
            let bound = attribute(function, FunctionAttribute::MaxThreadsPerBlock)?;
            limits.push((bound, format!("this kernel on {name}")));
        }
        limits.push((self.properties.limits.threads_per_block, name.clone()));
        if let Some(bound) = ptx.and_then(|ptx| ptx.kernel.max_threads()) {
            limits.push((bound, format!("this kernel on {name}")));
        }
        if let Some(registers) = ptx.and_then(EmulatedPtx::registers) {
            let bound = resident_blocks::most_threads(self.properties.capability(), registers)?;
            let by = format!("this kernel with {registers} registers per thread on {name}");
            limits.push((bound, by));
        }
        Ok(limits)
    }
}

/// Refuses more threads than a kernel with outputs counts: several of them would have the same elements.
fn check_threads<S: Signature>(
    entry: &Entry<S>,
    grid: [u32; 3],
    block: [u32; 3],
) -> Result<(), DriverError> {
    const LIMIT: u32 = u32::MAX;
    let extents = grid.into_iter().chain(block).map(u64::from);
    let actual = extents.fold(1, u64::saturating_mul);
    let mut parameters = entry.parameters().iter();
    let counts = parameters
        .any(|parameter| matches!(parameter.passing, Passing::Output | Passing::Shaped { .. }));
    match counts && actual > LIMIT.into() {
        true => Err(DriverError::OutputThreads {
            kernel: entry.name(),
            actual,
            limit: LIMIT,
        }),
        false => Ok(()),
    }
}

/// Refuses a signature whose parameters are not those of the PTX, by number or size: their bytes would be
/// read for others'.
fn check_parameters<S: Signature>(
    entry: &Entry<S>,
    kernel: &engine::Kernel,
) -> Result<(), DriverError> {
    let parameters = entry.parameters().iter();
    let signature: Vec<u64> = parameters
        .flat_map(|parameter| parameter.passing.parameter_bytes())
        .collect();
    let ptx: Vec<u64> = kernel.parameter_bytes().collect();
    match signature == ptx {
        true => Ok(()),
        false => Err(DriverError::Parameters {
            kernel: entry.name(),
            signature,
            ptx,
        }),
    }
}

fn attribute(function: &Function<'_>, attribute: FunctionAttribute) -> Result<u32, DriverError> {
    function
        .get_attribute(attribute)
        .map(|value| value as u32)
        .map_err(during("read the kernel's limits"))
}
