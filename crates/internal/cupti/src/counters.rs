//! Hardware counters: CUPTI's range profiler (CUDA 12.6 and newer).
//!
//! The measured work runs once per pass, because the hardware counts only so much at once: by the caller, or, of a single
//! launch, by CUPTI.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::ptr;

use self::parameters::*;
use crate::error::Error;
use crate::library::{functions, library};

mod parameters;

/// Who says what is counted together, and runs it once per pass.
#[derive(Clone, Copy, Debug)]
enum Replay {
    /// The caller.
    Caller,
    /// CUPTI, which counts each launch by itself, and restores the memory that it has written.
    Launches,
}

impl Replay {
    /// `CUpti_ProfilerRange` and `CUpti_ProfilerReplayMode`.
    fn numbers(self) -> (u32, u32) {
        match self {
            Replay::Caller => (2, 3),
            Replay::Launches => (1, 2),
        }
    }
}

/// Of the kinds of profilers the one of ranges.
const RANGE_PROFILER: u32 = 0;

/// Hardware counters of everything that a context does while it is measured.
///
/// ```no_run
/// # fn launch_and_wait() -> Result<(), cupti::Error> { Ok(()) }
/// # let context: *mut std::ffi::c_void = std::ptr::null_mut();
/// // SAFETY: the context is current, on device 0, and outlives the counters.
/// let mut counters = unsafe { cupti::Counters::new(context, 0, &["dram__bytes_read.sum"]) }?;
/// let values = counters.measure(|| Ok(()), launch_and_wait)?;
/// println!("{} bytes read in {} passes", values[0], counters.passes());
/// # Ok::<(), cupti::Error>(())
/// ```
#[derive(Debug)]
pub struct Counters {
    functions: Functions,
    // Dropped in this order.
    profiler: Profiler,
    host: Host,
    metrics: Vec<CString>,
    passes: usize,
    config: Vec<u8>,
    data: Vec<u8>,
}

impl Counters {
    /// Prepares to read these metrics, by the names that Nsight Compute has for them.
    ///
    /// # Errors
    /// There is no library or it is older than CUDA 12.6, the process may not read counters, or the device
    /// has no metric of such a name.
    ///
    /// # Safety
    /// `context` is a handle of the driver, current on this thread, on the device with this number, and
    /// alive as long as the counters.
    pub unsafe fn new(
        context: *mut c_void,
        device: usize,
        metrics: &[&str],
    ) -> Result<Counters, Error> {
        let functions = Functions::find(library()?)?;
        call(&functions, "cuptiProfilerInitialize", Initialize::new())?;
        let metrics: Vec<CString> = metrics
            .iter()
            .map(|&name| CString::new(name).map_err(|_| Error::NoSuchMetric(name.to_owned())))
            .collect::<Result<_, _>>()?;
        Host::new(&functions, context, device)?.check(&functions, &metrics)?;
        let host = Host::new(&functions, context, device)?;
        let config = host.config(&functions, &metrics)?;
        let passes = passes(&functions, &config)?;
        let profiler = Profiler::new(&functions, context)?;
        let data = profiler.room(&functions, &metrics)?;
        Ok(Counters {
            functions,
            host,
            profiler,
            metrics,
            passes,
            config,
            data,
        })
    }

    /// How often what is measured runs.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Once per pass runs `prepare`, which is not counted, and `launch`. Both launch and wait for the device.
    /// Gives the metrics' values over all that `launch` did, in the order in which they were asked for.
    ///
    /// # Errors
    /// Those of `prepare` and `launch`, and CUPTI's.
    pub fn measure<E: From<Error>>(
        &mut self,
        mut prepare: impl FnMut() -> Result<(), E>,
        mut launch: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<f64>, E> {
        let functions = &self.functions;
        self.profiler.clear(functions, &mut self.data)?;
        self.profiler
            .configure(functions, &self.config, &mut self.data, Replay::Caller)?;
        for _ in 0..=self.passes {
            prepare()?;
            self.profiler.start(functions)?;
            self.profiler.push(functions)?;
            let launched = launch();
            self.profiler.pop(functions)?;
            let is_last = self.profiler.stop(functions)?;
            launched?;
            if is_last {
                self.profiler.decode(functions)?;
                return Ok(self.host.values(functions, &self.metrics, &self.data)?);
            }
        }
        Err(Error::Unfinished(self.passes).into())
    }

    /// The next launch in the context is counted, and is to be the only one before [`end_launch`](Counters::end_launch). It
    /// runs once per pass, by CUPTI, which waits for it.
    ///
    /// # Errors
    /// CUPTI's.
    pub(crate) fn begin_launch(&mut self) -> Result<(), Error> {
        let functions = &self.functions;
        self.profiler.clear(functions, &mut self.data)?;
        self.profiler
            .configure(functions, &self.config, &mut self.data, Replay::Launches)?;
        self.profiler.start(functions)
    }

    /// The metrics' names and values over the launch.
    ///
    /// # Errors
    /// CUPTI's.
    pub(crate) fn end_launch(&mut self) -> Result<Vec<(String, f64)>, Error> {
        let functions = &self.functions;
        match self.profiler.stop(functions)? {
            true => self.profiler.decode(functions)?,
            false => return Err(Error::Unfinished(self.passes)),
        }
        let values = self.host.values(functions, &self.metrics, &self.data)?;
        let names = self
            .metrics
            .iter()
            .map(|it| it.to_string_lossy().into_owned());
        Ok(names.zip(values).collect())
    }

    /// Which of these metrics the device has.
    ///
    /// # Errors
    /// As [`Counters::new`], but for metrics.
    ///
    /// # Safety
    /// As [`Counters::new`].
    pub(crate) unsafe fn known<'m>(
        context: *mut c_void,
        device: usize,
        metrics: &[&'m str],
    ) -> Result<Vec<&'m str>, Error> {
        let functions = Functions::find(library()?)?;
        call(&functions, "cuptiProfilerInitialize", Initialize::new())?;
        let mut known = Vec::new();
        for &name in metrics {
            let metric = CString::new(name).map_err(|_| Error::NoSuchMetric(name.to_owned()))?;
            match Host::new(&functions, context, device)?.check(&functions, &[metric]) {
                Ok(()) => known.push(name),
                Err(Error::NoSuchMetric(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(known)
    }
}

/// A function of CUPTI that takes a structure.
type Function = unsafe extern "C" fn(*mut c_void) -> u32;

/// The functions, in the order of [`SYMBOLS`].
#[derive(Clone, Copy, Debug)]
struct Functions([Function; SYMBOLS.len()]);

impl Functions {
    fn find(library: &libloading::Library) -> Result<Functions, Error> {
        let mut found = [missing as Function; SYMBOLS.len()];
        for (symbol, function) in SYMBOLS.iter().zip(&mut found) {
            // SAFETY: CUPTI's functions of these names take one pointer, to a structure that says its size.
            let it = unsafe { library.get::<Function>(symbol.as_bytes()) };
            *function = *it.map_err(|_| Error::NoCounters(symbol))?;
        }
        Ok(Functions(found))
    }
}

unsafe extern "C" fn missing(_: *mut c_void) -> u32 {
    unreachable!("replaced by the library's")
}

/// Calls the function of this name. Gives back the structure, with what the function has written there.
fn call<P: Parameters>(all: &Functions, name: &'static str, mut parameters: P) -> Result<P, Error> {
    let index = SYMBOLS.iter().position(|&symbol| symbol == name);
    let function = all.0[index.expect("a function that is used is listed")];
    // SAFETY: the structure is the one that the function of this name takes, as the calls below pair them;
    // what its pointers lead to is alive until the call returns.
    let answer = unsafe { function(ptr::from_mut(&mut parameters).cast()) };
    functions()?.checked(name, answer)?;
    Ok(parameters)
}

/// The evaluator that knows metrics, and makes values of counters.
#[derive(Debug)]
struct Host {
    functions: Functions,
    object: *mut c_void,
    /// Which counters this process may read. The object looks at it again.
    _available: Vec<u8>,
}

impl Host {
    fn new(functions: &Functions, context: *mut c_void, device: usize) -> Result<Host, Error> {
        let chip = call(
            functions,
            "cuptiDeviceGetChipName",
            ChipName {
                device,
                ..ChipName::new()
            },
        )?;
        let available = availability(functions, context)?;
        let host = call(
            functions,
            "cuptiProfilerHostInitialize",
            HostInitialize {
                kind: RANGE_PROFILER,
                chip: chip.name,
                available: available.as_ptr(),
                ..HostInitialize::new()
            },
        )?;
        Ok(Host {
            functions: *functions,
            object: host.host,
            _available: available,
        })
    }

    fn add(&self, functions: &Functions, metrics: &[CString]) -> Result<(), Error> {
        let names = pointers(metrics);
        let metrics = AddMetrics {
            host: self.object,
            names: names.as_ptr(),
            count: names.len(),
            ..AddMetrics::new()
        };
        call(functions, "cuptiProfilerHostConfigAddMetrics", metrics).map(drop)
    }

    /// Refuses a metric that the device does not have. After a refusal the object is of no more use.
    fn check(self, functions: &Functions, metrics: &[CString]) -> Result<(), Error> {
        metrics.chunks(1).try_for_each(|one| {
            let added = self.add(functions, one);
            added.map_err(|error| error.of_metric(&one[0]))
        })
    }

    /// Returns the configuration by which the hardware counts these.
    fn config(&self, functions: &Functions, metrics: &[CString]) -> Result<Vec<u8>, Error> {
        // All at once: each call schedules passes of its own, and what the first has the hardware count is
        // what all of them read.
        self.add(functions, metrics)?;
        let size = call(
            functions,
            "cuptiProfilerHostGetConfigImageSize",
            ConfigSize {
                host: self.object,
                ..ConfigSize::new()
            },
        )?;
        let mut image = vec![0; size.bytes];
        call(
            functions,
            "cuptiProfilerHostGetConfigImage",
            Config {
                host: self.object,
                bytes: image.len(),
                image: image.as_mut_ptr(),
                ..Config::new()
            },
        )?;
        Ok(image)
    }

    fn values(
        &self,
        functions: &Functions,
        metrics: &[CString],
        data: &[u8],
    ) -> Result<Vec<f64>, Error> {
        let names = pointers(metrics);
        let mut values = vec![0.0; names.len()];
        call(
            functions,
            "cuptiProfilerHostEvaluateToGpuValues",
            Evaluate {
                host: self.object,
                data: data.as_ptr(),
                bytes: data.len(),
                range: 0,
                names: names.as_ptr(),
                count: names.len(),
                values: values.as_mut_ptr(),
                ..Evaluate::new()
            },
        )?;
        Ok(values)
    }
}

/// Which counters this process may read.
fn availability(functions: &Functions, context: *mut c_void) -> Result<Vec<u8>, Error> {
    const NAME: &str = "cuptiProfilerGetCounterAvailability";
    let asked = Availability {
        context,
        ..Availability::new()
    };
    let size = call(functions, NAME, asked)?;
    let mut image = vec![0; size.bytes];
    call(
        functions,
        NAME,
        Availability {
            context,
            bytes: image.len(),
            image: image.as_mut_ptr(),
            ..Availability::new()
        },
    )?;
    Ok(image)
}

fn passes(functions: &Functions, config: &[u8]) -> Result<usize, Error> {
    let asked = Passes {
        bytes: config.len(),
        image: config.as_ptr(),
        ..Passes::new()
    };
    Ok(call(functions, "cuptiProfilerHostGetNumOfPasses", asked)?.passes)
}

/// The profiler of a context.
#[derive(Debug)]
struct Profiler {
    functions: Functions,
    object: *mut c_void,
}

impl Profiler {
    fn new(functions: &Functions, context: *mut c_void) -> Result<Profiler, Error> {
        let asked = Enable {
            context,
            ..Enable::new()
        };
        let enabled = call(functions, "cuptiRangeProfilerEnable", asked)?;
        Ok(Profiler {
            functions: *functions,
            object: enabled.profiler,
        })
    }

    /// Room for the counters of one range.
    fn room(&self, functions: &Functions, metrics: &[CString]) -> Result<Vec<u8>, Error> {
        let names = pointers(metrics);
        let size = call(
            functions,
            "cuptiRangeProfilerGetCounterDataSize",
            DataSize {
                profiler: self.object,
                names: names.as_ptr(),
                count: names.len(),
                ranges: 1,
                nodes: 1,
                ..DataSize::new()
            },
        )?;
        Ok(vec![0; size.bytes])
    }

    fn clear(&self, functions: &Functions, data: &mut [u8]) -> Result<(), Error> {
        let asked = DataInitialize {
            profiler: self.object,
            bytes: data.len(),
            data: data.as_mut_ptr(),
            ..DataInitialize::new()
        };
        call(
            functions,
            "cuptiRangeProfilerCounterDataImageInitialize",
            asked,
        )
        .map(drop)
    }

    fn configure(
        &self,
        functions: &Functions,
        config: &[u8],
        data: &mut [u8],
        replay: Replay,
    ) -> Result<(), Error> {
        let (range, replay) = replay.numbers();
        let asked = SetConfig {
            profiler: self.object,
            config_bytes: config.len(),
            config: config.as_ptr(),
            data_bytes: data.len(),
            data: data.as_mut_ptr(),
            range,
            replay,
            ranges: 1,
            levels: 1,
            least_level: 1,
            target_level: 1,
            ..SetConfig::new()
        };
        call(functions, "cuptiRangeProfilerSetConfig", asked).map(drop)
    }

    /// Begins a pass.
    fn start(&self, functions: &Functions) -> Result<(), Error> {
        let of = |profiler| OfProfiler {
            profiler,
            ..OfProfiler::new()
        };
        call(functions, "cuptiRangeProfilerStart", of(self.object)).map(drop)
    }

    /// Begins the range that is counted.
    fn push(&self, functions: &Functions) -> Result<(), Error> {
        let name: &CStr = c"measured";
        let range = PushRange {
            profiler: self.object,
            name: name.as_ptr(),
            ..PushRange::new()
        };
        call(functions, "cuptiRangeProfilerPushRange", range).map(drop)
    }

    /// Ends the range that is counted.
    fn pop(&self, functions: &Functions) -> Result<(), Error> {
        let range = OfProfiler {
            profiler: self.object,
            ..OfProfiler::new()
        };
        call(functions, "cuptiRangeProfilerPopRange", range).map(drop)
    }

    /// Ends a pass. Gives whether it was the last.
    fn stop(&self, functions: &Functions) -> Result<bool, Error> {
        let asked = Stop {
            profiler: self.object,
            ..Stop::new()
        };
        Ok(call(functions, "cuptiRangeProfilerStop", asked)?.is_last != 0)
    }

    /// Brings the counters into the room that was given with the configuration.
    fn decode(&self, functions: &Functions) -> Result<(), Error> {
        let asked = Decode {
            profiler: self.object,
            ..Decode::new()
        };
        match call(functions, "cuptiRangeProfilerDecodeData", asked)?.dropped {
            0 => Ok(()),
            dropped => Err(Error::Dropped(dropped)),
        }
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        // What cannot be given back ends with the process.
        let _ = call(
            &self.functions,
            "cuptiRangeProfilerDisable",
            OfProfiler {
                profiler: self.object,
                ..OfProfiler::new()
            },
        );
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // As above.
        let _ = call(
            &self.functions,
            "cuptiProfilerHostDeinitialize",
            OfProfiler {
                profiler: self.object,
                ..OfProfiler::new()
            },
        );
    }
}

fn pointers(names: &[CString]) -> Vec<*const c_char> {
    names.iter().map(|name| name.as_ptr()).collect()
}

/// A structure with nothing in it but its size.
///
/// # Safety
/// Zeros are a value of the type.
unsafe fn empty<T>() -> T {
    // SAFETY: the caller's contract.
    unsafe { mem::zeroed() }
}
