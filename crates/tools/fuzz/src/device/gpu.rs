//! A GPU, whose driver compiles the programs.

use std::ffi::{CString, c_void};
use std::ptr;

use cuda_loader as _;
use cust_raw::*;

use super::emulator::{OWN_BYTES, WORDS};
use super::{Device, Outcome};
use crate::program::{BLOCKS, Program, THREADS, inputs, module};

/// A GPU with a context of this process, current on this thread.
#[derive(Debug)]
pub struct Gpu {
    name: String,
    /// Inputs, outputs and the threads' own memory of as many programs as fit.
    buffers: [CUdeviceptr; 3],
    capacity: usize,
    level: Level,
}

/// How much the driver's assembler optimises: 0 not at all, 4 as much as it can.
pub type Level = u32;

/// The level that modules have where nobody asks for another.
pub const MOST: Level = 4;

/// Turns the driver's answer into a result.
fn done(what: &str, result: CUresult) -> Result<(), String> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        error => Err(format!("{what}: {error:?}")),
    }
}

impl Gpu {
    /// Opens a GPU for batches of at most so many programs, which are optimised as much as `level` says.
    ///
    /// # Errors
    /// There is no driver or no such GPU, or it has no memory left.
    pub fn open(ordinal: i32, capacity: usize, level: Level) -> Result<Gpu, String> {
        cuda_loader::driver().map_err(ToString::to_string)?;
        let mut device = 0;
        let mut context = ptr::null_mut();
        let mut name = [0; 128];
        let mut version = 0;
        let mut buffers = [0; 3];
        // SAFETY: the driver is there, and each pointer is to a variable of the type that it writes.
        unsafe {
            done("cuInit", cuInit(0))?;
            done("cuDeviceGet", cuDeviceGet(&mut device, ordinal))?;
            let retained = cuDevicePrimaryCtxRetain(&mut context, device);
            done("cuDevicePrimaryCtxRetain", retained)?;
            done("cuCtxSetCurrent", cuCtxSetCurrent(context))?;
            done(
                "cuDeviceGetName",
                cuDeviceGetName(name.as_mut_ptr(), 127, device),
            )?;
            done("cuDriverGetVersion", cuDriverGetVersion(&mut version))?;
            for (buffer, bytes) in buffers.iter_mut().zip([8 * WORDS, 8 * WORDS, OWN_BYTES]) {
                done("cuMemAlloc", cuMemAlloc_v2(buffer, bytes * capacity))?;
            }
        }
        let name: String = name
            .iter()
            .take_while(|it| **it != 0)
            .map(|it| *it as u8 as char)
            .collect();
        Ok(Gpu {
            name: format!(
                "{name}, CUDA driver {}.{}",
                version / 1000,
                version % 1000 / 10
            ),
            buffers,
            capacity,
            level,
        })
    }
}

impl Device for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn run(&mut self, programs: &[Program]) -> Result<Vec<Outcome>, String> {
        self.run_at(self.level, programs)
    }

    fn run_unoptimised(&mut self, programs: &[Program]) -> Option<Result<Vec<Outcome>, String>> {
        (self.level > 0).then(|| self.run_at(0, programs))
    }
}

impl Gpu {
    fn run_at(&self, level: Level, programs: &[Program]) -> Result<Vec<Outcome>, String> {
        assert!(programs.len() <= self.capacity, "a batch that fits");
        let loaded = match (Loaded::of(programs, level), programs) {
            (Ok(loaded), _) => loaded,
            (Err(error), [_]) => return Ok(vec![Err(error)]),
            (Err(_), many) => {
                // Which of them is refused, only one by one tells.
                let one_by_one = many
                    .iter()
                    .map(|it| self.run_at(level, std::slice::from_ref(it)));
                let outcomes: Result<Vec<_>, _> = one_by_one.collect();
                return Ok(outcomes?.concat());
            }
        };
        self.fill(programs)?;
        for (index, program) in programs.iter().enumerate() {
            self.launch(&loaded, program, index)?;
        }
        self.words(programs.len())
    }

    fn fill(&self, programs: &[Program]) -> Result<(), String> {
        let words: Vec<u64> = programs.iter().flat_map(|it| inputs(it.seed)).collect();
        let [from, to, own] = self.buffers;
        // SAFETY: the buffers have room for so many programs.
        unsafe {
            let copied = cuMemcpyHtoD_v2(from, words.as_ptr().cast(), size_of_val(&words[..]));
            done("cuMemcpyHtoD", copied)?;
            done(
                "cuMemsetD8",
                cuMemsetD8_v2(to, 0, 8 * WORDS * programs.len()),
            )?;
            done(
                "cuMemsetD8",
                cuMemsetD8_v2(own, 0, OWN_BYTES * programs.len()),
            )
        }
    }

    fn launch(&self, loaded: &Loaded, program: &Program, index: usize) -> Result<(), String> {
        let name = CString::new(format!("p{}", program.seed)).map_err(|it| it.to_string())?;
        let mut function = ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends in a zero.
        let found = unsafe { cuModuleGetFunction(&mut function, loaded.0, name.as_ptr()) };
        done("cuModuleGetFunction", found)?;
        let bytes = [8 * WORDS, 8 * WORDS, OWN_BYTES];
        let mut places = [0u64; 3];
        for ((place, buffer), bytes) in places.iter_mut().zip(self.buffers).zip(bytes) {
            *place = buffer + (index * bytes) as u64;
        }
        let mut parameters = places
            .each_mut()
            .map(|it| ptr::from_mut(it).cast::<c_void>());
        // SAFETY: the kernel has three parameters of 8 bytes, and its programs stay in the memory that they are given.
        let launched = unsafe {
            cuLaunchKernel(
                function,
                BLOCKS,
                1,
                1,
                THREADS,
                1,
                1,
                0,
                ptr::null_mut(),
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        done(
            &format!("cuLaunchKernel of seed {}", program.seed),
            launched,
        )
    }

    fn words(&self, programs: usize) -> Result<Vec<Outcome>, String> {
        let mut words = vec![0u64; WORDS * programs];
        // SAFETY: the buffer has so many words, and so has the vector. The copy waits for the launches.
        let copied = unsafe {
            done("the launches", cuCtxSynchronize())?;
            cuMemcpyDtoH_v2(
                words.as_mut_ptr().cast(),
                self.buffers[1],
                size_of_val(&words[..]),
            )
        };
        done("cuMemcpyDtoH", copied)?;
        Ok(words.chunks(WORDS).map(|it| Ok(it.to_vec())).collect())
    }
}

/// A module that the driver has compiled.
struct Loaded(CUmodule);

impl Loaded {
    /// # Errors
    /// The driver's compiler refuses the module: its log.
    fn of(programs: &[Program], level: Level) -> Result<Loaded, String> {
        const LOG_BYTES: usize = 8192;
        let text = CString::new(module(programs)).map_err(|it| it.to_string())?;
        let mut log = vec![0u8; LOG_BYTES];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            CUjit_option::CU_JIT_OPTIMIZATION_LEVEL,
        ];
        let mut values = [
            log.as_mut_ptr().cast::<c_void>(),
            ptr::without_provenance_mut(LOG_BYTES),
            ptr::without_provenance_mut(level as usize),
        ];
        let mut module = ptr::null_mut();
        // SAFETY: the text ends in a zero, the log has as many bytes as its option says, and each option has a value.
        let loaded = unsafe {
            cuModuleLoadDataEx(
                &mut module,
                text.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        let end = log.iter().position(|it| *it == 0).unwrap_or(LOG_BYTES);
        let said = String::from_utf8_lossy(&log[..end]).replace('\n', "; ");
        done("cuModuleLoadDataEx", loaded).map_err(|error| format!("{error}: {said}"))?;
        Ok(Loaded(module))
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: loaded by `of`; `run_at` has waited for the launches, or the device is lost.
        let _ = unsafe { cuModuleUnload(self.0) };
    }
}
