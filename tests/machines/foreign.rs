//! Kernels that somebody else compiled, from files, on both machines. Which device they belong to is in
//! tests/machines/devices.rs.

use std::env;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use bytemuck::{Pod, Zeroable};
use cuda_std::launch::{Entry, Foreign, In, Out};
use cust::link::Linker;
use gpu_test::{Failed, Trial, emulator, equal, on_both, on_gpu};
use kernels_gpu::elementwise::{BLOCK, scale_f32};
use kernels_gpu::functions::Scale;
use kernels_gpu::vector::map_threads;
use ridgepoint::driver::record::{self, Record};
use ridgepoint::driver::{Device, DriverError, LaunchConfig, Stream};
use ridgepoint::kernels::embedded_ptx;
use tempfile::TempDir;

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let both = [
        both("ptx_computes", |device| {
            saxpy(device, &Files::new()?.ptx(PTX)?)
        }),
        both("values_are_passed_as_c_has_them", values),
        both("a_graph_has_them", graph),
        both("kernels_of_our_own_are_loaded", own),
        both("ptx_of_other_source_is_refused", other_source),
        both("refused_ptx_is_shown", refused),
        both("a_kernel_that_is_not_there_is_named", |device| {
            missing(device, &Files::new()?.ptx(PTX)?)
        }),
    ];
    let cubins = [
        gpu("a_cubin_computes", |device| {
            let files = Files::new()?;
            saxpy(device, &files.cubin(&cubin(device)?)?)
        }),
        gpu("cubins_that_cannot_run_are_refused", other_cubins),
        gpu("a_cubin_does_not_say_what_it_was_made_of", cubin_of_our_own),
        gpu("a_kernel_that_is_not_in_a_cubin_is_named", |device| {
            let files = Files::new()?;
            missing(device, &files.cubin(&cubin(device)?)?)
        }),
        Trial::test(
            "emulator::foreign::cubins_are_refused",
            cubin_on_the_emulator,
        ),
        Trial::test("emulator::foreign::an_access_out_of_bounds_is_told", beyond),
        Trial::test(
            "emulator::foreign::a_record_names_the_file_of_a_kernel",
            recorded,
        ),
    ];
    both.into_iter().flatten().chain(cubins).collect()
}

fn both(name: &str, case: fn(&Device) -> Result<(), Failed>) -> [Trial; 2] {
    on_both(&format!("foreign::{name}"), embedded_ptx(), case)
}

fn gpu(name: &str, case: fn(&Device) -> Result<(), Failed>) -> Trial {
    on_gpu(format!("foreign::{name}"), embedded_ptx(), case)
}

/// As nvcc compiles
/// ```cuda
/// struct Affine { double by; float offset; float unused; };
/// struct Three { short at[3]; };
///
/// extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
///     int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i < n) y[i] = a * x[i] + y[i];
/// }
/// extern "C" __global__ void affine(bool negative, Affine f, Three s, size_t n, double* y) {
///     size_t i = threadIdx.x;
///     if (i < n) { double v = f.by * y[i] + f.offset + s.at[2]; y[i] = negative ? -v : v; }
/// }
/// ```
const PTX: &str = "\
// Written by hand.
.version 6.0
.target sm_70
.address_size 64

.visible .entry saxpy(
    .param .u32 saxpy_param_0,
    .param .f32 saxpy_param_1,
    .param .u64 saxpy_param_2,
    .param .u64 saxpy_param_3
)
{
    .reg .pred %p<2>;
    .reg .f32 %f<5>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<8>;

    ld.param.u32 %r2, [saxpy_param_0];
    ld.param.f32 %f1, [saxpy_param_1];
    ld.param.u64 %rd1, [saxpy_param_2];
    ld.param.u64 %rd2, [saxpy_param_3];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.s32 %r1, %r3, %r4, %r5;
    setp.ge.s32 %p1, %r1, %r2;
    @%p1 bra $L__BB0_2;

    cvta.to.global.u64 %rd3, %rd2;
    cvta.to.global.u64 %rd4, %rd1;
    mul.wide.s32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6];
    add.s64 %rd7, %rd3, %rd5;
    ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f2, %f1, %f3;
    st.global.f32 [%rd7], %f4;

$L__BB0_2:
    ret;
}

.visible .entry affine(
    .param .u8 affine_param_0,
    .param .align 8 .b8 affine_param_1[16],
    .param .align 2 .b8 affine_param_2[6],
    .param .u64 affine_param_3,
    .param .u64 affine_param_4
)
{
    .reg .pred %p<3>;
    .reg .b16 %rs<3>;
    .reg .f32 %f<2>;
    .reg .b32 %r<2>;
    .reg .f64 %fd<9>;
    .reg .b64 %rd<7>;

    ld.param.s8 %rs1, [affine_param_0];
    ld.param.f64 %fd1, [affine_param_1];
    ld.param.f32 %f1, [affine_param_1+8];
    ld.param.u16 %rs2, [affine_param_2+4];
    ld.param.u64 %rd1, [affine_param_3];
    ld.param.u64 %rd2, [affine_param_4];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd3, %r1;
    setp.ge.u64 %p1, %rd3, %rd1;
    @%p1 bra $L__BB1_2;

    cvta.to.global.u64 %rd4, %rd2;
    shl.b64 %rd5, %rd3, 3;
    add.s64 %rd6, %rd4, %rd5;
    ld.global.f64 %fd2, [%rd6];
    cvt.f64.f32 %fd3, %f1;
    fma.rn.f64 %fd4, %fd1, %fd2, %fd3;
    cvt.rn.f64.s16 %fd5, %rs2;
    add.f64 %fd6, %fd4, %fd5;
    neg.f64 %fd7, %fd6;
    setp.eq.s16 %p2, %rs1, 0;
    selp.f64 %fd8, %fd6, %fd7, %p2;
    st.global.f64 [%rd6], %fd8;

$L__BB1_2:
    ret;
}
";

type Saxpy = Foreign<(i32, f32, In<f32>, Out<f32>)>;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Affine {
    by: f64,
    offset: f32,
    unused: f32,
}

/// A folder that goes with the case.
struct Files(TempDir);

impl Files {
    fn new() -> Result<Files, Failed> {
        Ok(Files(tempfile::tempdir()?))
    }

    fn ptx(&self, text: &str) -> Result<PathBuf, Failed> {
        self.with("kernels.ptx", text.as_bytes())
    }

    fn cubin(&self, image: &[u8]) -> Result<PathBuf, Failed> {
        self.with("kernels.cubin", image)
    }

    fn with(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Failed> {
        let path = self.0.path().join(name);
        fs::write(&path, bytes)?;
        Ok(path)
    }
}

/// [`PTX`] as the driver compiles it for the device.
fn cubin(device: &Device) -> Result<Vec<u8>, Failed> {
    assembled(device, PTX)
}

fn assembled(device: &Device, ptx: &str) -> Result<Vec<u8>, Failed> {
    // Enters the device's context.
    device.free_memory()?;
    let mut linker = Linker::new()?;
    linker.add_ptx(format!("{ptx}\0"))?;
    Ok(linker.complete()?)
}

/// `saxpy` of the file, with buffers and a stream of the device, beside the device's own kernel.
fn saxpy(device: &Device, path: &Path) -> Result<(), Failed> {
    const SPARE: usize = 3;
    let loaded = device.load(path)?;
    for n in [1, 1000, (1 << 20) + 1] {
        let x: Vec<f32> = (0..n + SPARE).map(|i| (i % 7) as f32).collect();
        let y: Vec<f32> = (0..n + SPARE).map(|i| (i % 5) as f32).collect();
        let shape = LaunchConfig::linear((n + SPARE) as u64, 256);
        let prepared = loaded.prepare(Entry::<Saxpy>::foreign("saxpy"), shape)?;
        let (x_buffer, mut y_buffer) = (device.buffer_from(&x)?, loaded.buffer_from(&y)?);
        let stream = Stream::new(device)?;
        let arguments = (n as i32, 0.5, x_buffer.slice(..), y_buffer.slice_mut(..));
        // SAFETY: the kernel has these parameters; the buffers have more elements, and live until the
        // stream has been synchronised.
        unsafe { prepared.launch(&stream, &arguments) }?;
        stream.synchronize()?;
        let changed = |i| if i < n { 0.5 * x[i] + y[i] } else { y[i] };
        let expected: Vec<f32> = (0..n + SPARE).map(changed).collect();
        equal(&y_buffer.to_vec()?, &expected)?;
    }
    Ok(())
}

/// As `ridgepoint check` starts this program: for one of its tests, with a folder for records.
fn recorded() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut again = Command::new(env::current_exe()?);
    again.args(["--exact", "emulator::foreign::ptx_computes"]);
    let output = again.env(record::FOLDER, folder.path()).output()?;
    assert!(output.status.success(), "{output:?}");
    let records = Record::all_in(folder.path())?;
    let kernels: Vec<&str> = records
        .iter()
        .flat_map(|record| record.kernels.keys().map(String::as_str))
        .collect();
    // A kernel of the same name that is embedded, or from another file, is another one.
    assert_eq!(kernels, ["saxpy of kernels.ptx"]);
    Ok(())
}

fn values(device: &Device) -> Result<(), Failed> {
    type Values = Foreign<(bool, Affine, [i16; 3], usize, Out<f64>)>;
    let files = Files::new()?;
    let loaded = device.load(files.ptx(PTX)?)?;
    let entry = Entry::<Values>::foreign("affine");
    let prepared = loaded.prepare(entry, LaunchConfig::blocks(1, 32))?;
    let stream = Stream::new(&loaded)?;
    let f = Affine {
        by: 3.0,
        offset: 0.25,
        unused: f32::NAN,
    };
    for (is_negative, sign) in [(false, 1.0), (true, -1.0)] {
        let mut y = device.buffer_filled(5, 2.0)?;
        let arguments = (is_negative, f, [7, 7, -100], 4, y.slice_mut(..));
        // SAFETY: the kernel has these parameters; the buffer has 5 elements, and lives until the stream
        // has been synchronised.
        unsafe { prepared.launch(&stream, &arguments) }?;
        stream.synchronize()?;
        let value = sign * (6.0 + 0.25 - 100.0);
        equal(&y.to_vec()?, &[value, value, value, value, 2.0])?;
    }
    Ok(())
}

fn graph(device: &Device) -> Result<(), Failed> {
    let files = Files::new()?;
    let loaded = device.load(files.ptx(PTX)?)?;
    let prepared = loaded.prepare(
        Entry::<Saxpy>::foreign("saxpy"),
        LaunchConfig::linear(100, 64),
    )?;
    let (x, mut y) = (
        device.buffer_filled(100, 1.0)?,
        device.buffer_filled(100, 0.0)?,
    );
    let stream = Stream::new(device)?;
    let mut graph = stream.capture(|| {
        // SAFETY: the kernel has these parameters; the buffers have 100 elements, and live until the
        // stream has been synchronised.
        unsafe { prepared.launch(&stream, &(100, 2.0, x.slice(..), y.slice_mut(..))) }
    })?;
    equal(&[graph.launches()], &[1])?;
    // SAFETY: as above.
    unsafe {
        graph.launch(&stream)?;
        graph.update(0, &prepared, &(50, 3.0, x.slice(..), y.slice_mut(..)))?;
        graph.launch(&stream)?;
    }
    stream.synchronize()?;
    equal(&y.to_vec()?, &[[5.0; 50], [2.0; 50]].concat())
}

/// Embedded PTX that the device runs.
fn embedded(device: &Device) -> Result<&'static str, Failed> {
    let (major, minor) = device.properties().compute_capability;
    let runs = |arch: u32| arch <= major * 10 + minor;
    let mut all = embedded_ptx().iter();
    let (_, text, _) = all
        .find(|(arch, ..)| runs(*arch))
        .ok_or("the device runs some")?;
    Ok(text)
}

fn own(device: &Device) -> Result<(), Failed> {
    let files = Files::new()?;
    let loaded = device.load(files.ptx(embedded(device)?)?)?;
    scaled(device, &loaded, scale_f32::entry())
}

/// `scale_f32` as `loaded` has it scales.
fn scaled(device: &Device, loaded: &Device, entry: Entry<scale_f32>) -> Result<(), Failed> {
    const N: usize = 1000;
    let shape = LaunchConfig::linear(map_threads::<f32>(N as u64), BLOCK);
    let prepared = loaded.prepare(entry, shape)?;
    let (x, mut y) = (
        device.buffer_filled(N, 1.5)?,
        device.buffer_filled(N, f32::NAN)?,
    );
    let stream = Stream::new(device)?;
    let arguments = (Scale { factor: 2.0 }, x.slice(..), y.slice_mut(..), N);
    // SAFETY: the buffers have N elements, and live until the stream has been synchronised.
    unsafe { prepared.launch(&stream, &arguments) }?;
    stream.synchronize()?;
    equal(&y.to_vec()?, &[3.0; N])
}

/// PTX that says that it was made of other source than this program's kernel, or says nothing.
fn other_source(device: &Device) -> Result<(), Failed> {
    const MARK: &str = "// ptx-std kernel scale_f32 ";
    let text = embedded(device)?;
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with(MARK))
        .ok_or("the PTX describes its kernel")?;
    let (before, digest) = line.rsplit_once(" digest=").ok_or("with its digest")?;
    let digest: u64 = digest.trim().parse().map_err(|_| "a number")?;
    let other = format!("{before} digest={}", digest.wrapping_add(1));
    let files = Files::new()?;

    let loaded = device.load(files.ptx(&text.replace(line, &other))?)?;
    match loaded.prepare(scale_f32::entry(), LaunchConfig::linear(1, BLOCK)) {
        Err(DriverError::OtherSource { kernel }) => equal(kernel.as_bytes(), b"scale_f32")?,
        other => return Err(format!("{:?}", other.err()).into()),
    }
    let loaded = device.load(files.ptx(&text.replace(line, "// edited"))?)?;
    unknown_source(&loaded)?;
    // SAFETY: it is the kernel's own PTX but for a comment.
    scaled(device, &loaded, unsafe { scale_f32::entry().of_any_ptx() })
}

fn unknown_source(loaded: &Device) -> Result<(), Failed> {
    match loaded.prepare(scale_f32::entry(), LaunchConfig::linear(1, BLOCK)) {
        Err(DriverError::UnknownSource { kernel }) => equal(kernel.as_bytes(), b"scale_f32"),
        other => Err(format!("{:?}", other.err()).into()),
    }
}

/// A cubin has no comments.
fn cubin_of_our_own(device: &Device) -> Result<(), Failed> {
    let files = Files::new()?;
    let image = assembled(device, embedded(device)?)?;
    let loaded = device.load(files.cubin(&image)?)?;
    unknown_source(&loaded)?;
    // SAFETY: the driver has made it of the kernel's own PTX.
    scaled(device, &loaded, unsafe { scale_f32::entry().of_any_ptx() })
}

fn refused(device: &Device) -> Result<(), Failed> {
    let files = Files::new()?;
    let path = files.ptx(&PTX.replacen("fma.rn.f32", "nonsense.f32", 1))?;
    let (named, text, log) = match device.load(&path) {
        Err(error @ DriverError::RefusedFile { .. }) => {
            let text = error.to_string();
            let log: String = text.lines().skip(1).collect();
            ("the driver refuses", text, log)
        }
        Err(error @ DriverError::UnreadableKernels { .. }) => {
            let text = error.to_string();
            ("cannot load", text.clone(), text)
        }
        other => return Err(format!("{other:?}").into()),
    };
    let named = format!("{named} {}: ", path.display());
    match text.contains(&named) && log.contains("nonsense") {
        true => Ok(()),
        false => Err(text.into()),
    }
}

fn other_cubins(device: &Device) -> Result<(), Failed> {
    let image = cubin(device)?;
    let files = Files::new()?;
    match device.load(files.cubin(&image[..image.len() / 2])?) {
        Err(DriverError::UnknownFile { found, .. }) if found.contains("cut off at") => {}
        other => return Err(format!("{other:?}").into()),
    }
    // All there, and for an older GPU: bytes of the header's flags are the architecture.
    const FLAGS: Range<usize> = 48..52;
    let (major, minor) = device.properties().compute_capability;
    let mut other_gpu = image;
    for byte in &mut other_gpu[FLAGS] {
        if u32::from(*byte) == major * 10 + minor {
            *byte = 53;
        }
    }
    match device.load(files.cubin(&other_gpu)?) {
        Err(DriverError::RefusedFile { .. }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn missing(device: &Device, path: &Path) -> Result<(), Failed> {
    let loaded = device.load(path)?;
    for name in ["_Z5saxpyifPKfPf", "saxpy\0"] {
        let entry = Entry::<Saxpy>::foreign(name);
        let Err(error) = loaded.prepare(entry, LaunchConfig::blocks(1, 32)) else {
            return Err(format!("{name:?} is there").into());
        };
        let path = path.display();
        let expected = format!("kernel {name} is not in {path}, which has affine, saxpy");
        equal(&[error.to_string()], &[expected])?;
    }
    Ok(())
}

/// A GPU may say nothing of it.
fn beyond() -> Result<(), Failed> {
    let files = Files::new()?;
    let loaded = emulator(&[])?.load(files.ptx(PTX)?)?;
    let shape = LaunchConfig::linear(1000, 256);
    let prepared = loaded.prepare(Entry::<Saxpy>::foreign("saxpy"), shape)?;
    let (x, mut y) = (
        loaded.buffer_filled(1000, 1.0)?,
        loaded.buffer_filled(900, 0.0)?,
    );
    let stream = Stream::new(&loaded)?;
    // SAFETY: the emulator refuses what is out of bounds.
    let launched = unsafe { prepared.launch(&stream, &(1000, 2.0, x.slice(..), y.slice_mut(..))) };
    let error = launched.err().ok_or("it ran")?.to_string();
    let line = 1 + PTX
        .lines()
        .position(|line| line.contains("%f3, [%rd7]"))
        .ok_or("there")?;
    let expected = format!(
        "on the emulator: saxpy: out of bounds: block [3, 0, 0], thread [132, 0, 0] reads element 900 of \
         `3` (of 900) at line {line} of the PTX"
    );
    equal(&[error], &[expected])
}

/// The header is all that is looked at.
fn cubin_on_the_emulator() -> Result<(), Failed> {
    const NVIDIA: u16 = 190;
    let mut header = [0; 64];
    header[..5].copy_from_slice(b"\x7fELF\x02");
    header[18..20].copy_from_slice(&NVIDIA.to_le_bytes());
    let files = Files::new()?;
    let path = files.cubin(&header)?;
    match emulator(&[])?.load(&path) {
        Err(error @ DriverError::MachineCode { .. }) => {
            let text = error.to_string();
            let named = format!("{} is a cubin", path.display());
            equal(&[text.starts_with(&named)], &[true])
        }
        other => Err(format!("{other:?}").into()),
    }
}
