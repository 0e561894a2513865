//! Options of the compilation of the kernels. The names and defaults are those of Rust-CUDA.
//!
//! Options of the code generator go to the last crate alone: with fat LTO that is where all code is
//! generated, so `core` is not compiled again for them.

use std::path::{Path, PathBuf};

use crate::ptx::Passes;
use crate::toolchain::Toolchain;
use crate::{CudaBuilder, NvvmArch};

/// Information on the source in the PTX, beyond [`CudaBuilder::generate_line_info`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DebugInfo {
    /// Nothing.
    #[default]
    None,
    /// The line of each instruction.
    LineTables,
    /// The variables too, for `ridgepoint debug`: where the optimised code still has them, and with
    /// [`CudaBuilder::nvvm_opts`]`(false)` in more places. `ptxas` does not optimise such PTX.
    Full,
}

/// Effect of a panic in a kernel. The launch fails at the next synchronisation in any case, and the emulator tells
/// place and message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Panics {
    /// It leaves a record for the host: file, line and column, block and thread, and what the compiler
    /// checked. No message is formatted, so a panic costs few registers and no stack. The error of
    /// `ridgepoint::driver` has it; other programs ask `cuda_loader::panic`.
    #[default]
    Place,
    /// The driver writes message, file, line, block and thread to standard error. Formatting takes
    /// registers and stack from every kernel that can panic.
    Message,
    /// It is a bare `trap`: nothing is told. Compiles `core` once more, with
    /// `-Cpanic=immediate-abort`.
    Trap,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) build_args: Vec<String>,
    debug: DebugInfo,
    line_info: bool,
    pub(crate) checks: bool,
    optimize: bool,
    ftz: bool,
    fast_sqrt: bool,
    fast_div: bool,
    fma_contraction: bool,
    llvm_ir: bool,
    llvm_bitcode: bool,
    pub(crate) final_module_path: Option<PathBuf>,
    override_libm: bool,
    constant_memory: bool,
    panics: Panics,
    pub(crate) common_libraries: bool,
    pub(crate) passes: Passes,
    sink_common: bool,
    unroll_loops_with_exits: bool,
    pub(crate) half_by_instructions: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            build_args: Vec::new(),
            debug: DebugInfo::None,
            line_info: true,
            checks: false,
            optimize: true,
            ftz: false,
            fast_sqrt: false,
            fast_div: false,
            fma_contraction: true,
            llvm_ir: false,
            llvm_bitcode: false,
            final_module_path: None,
            override_libm: false,
            constant_memory: false,
            panics: Panics::default(),
            common_libraries: false,
            passes: Passes::default(),
            sink_common: false,
            unroll_loops_with_exits: true,
            half_by_instructions: true,
        }
    }
}

impl CudaBuilder {
    /// More arguments for the nested `cargo rustc`, such as `--features fast`.
    #[must_use]
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        let args = args.iter().map(|arg| arg.as_ref().to_owned());
        self.options.build_args.extend(args);
        self
    }

    /// Sets the information on the source in the PTX. [`DebugInfo::LineTables`] is the same as
    /// [`CudaBuilder::generate_line_info`].
    #[must_use]
    pub fn debug(mut self, debug: DebugInfo) -> Self {
        self.options.debug = debug;
        self
    }

    /// Whether to leave out the debug assertions and overflow checks of the kernel crate's workspace,
    /// and to optimise fully. The default is `true`. See [`CudaBuilder::nvvm_opts`] for the one
    /// without the other.
    #[must_use]
    pub fn release(mut self, release: bool) -> Self {
        self.options.checks = !release;
        self.options.optimize = release;
        self
    }

    /// Whether the PTX says which line of the source each instruction comes from, for profilers. The
    /// default is `true`. It changes no instruction.
    #[must_use]
    pub fn generate_line_info(mut self, generate: bool) -> Self {
        self.options.line_info = generate;
        self
    }

    /// Whether to optimise fully. The default is `true`, and [`CudaBuilder::release`] sets it. Here
    /// it is LLVM that optimises, in place of libnvvm; without, it does the least that it makes PTX
    /// of `core` with, level 1, which among others unrolls no loop of unknown length.
    #[must_use]
    pub fn nvvm_opts(mut self, optimize: bool) -> Self {
        self.options.optimize = optimize;
        self
    }

    /// Whether single-precision arithmetic flushes denormal numbers to zero. The default is `false`.
    ///
    /// **Without effect**, and the build says so: LLVM flushes in functions with the attribute
    /// `denormal-fp-math-f32`, and no flag of rustc sets it (LLVM 22's `-denormal-fp-math-f32` is
    /// accepted and changes nothing). Division and square root by [`CudaBuilder::fast_div`] and
    /// [`CudaBuilder::fast_sqrt`] do not flush either.
    #[must_use]
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.options.ftz = ftz;
        self
    }

    /// Whether the square root of an `f32` is an approximation (`sqrt.approx.f32`). The default is
    /// `false`.
    #[must_use]
    pub fn fast_sqrt(mut self, fast: bool) -> Self {
        self.options.fast_sqrt = fast;
        self
    }

    /// Whether division of `f32` is an approximation (`div.approx.f32`). The default is `false`.
    #[must_use]
    pub fn fast_div(mut self, fast: bool) -> Self {
        self.options.fast_div = fast;
        self
    }

    /// Whether the compiler may fuse `a * b + c` into one instruction, which rounds once. The
    /// default is `true`, as in Rust-CUDA. An explicit `mul_add` is one instruction either way.
    #[must_use]
    pub fn fma_contraction(mut self, contract: bool) -> Self {
        self.options.fma_contraction = contract;
        self
    }

    /// Sets [`CudaBuilder::ftz`], [`CudaBuilder::fast_sqrt`], [`CudaBuilder::fast_div`] and
    /// [`CudaBuilder::fma_contraction`].
    #[must_use]
    pub fn fast_math(self, fast: bool) -> Self {
        self.ftz(fast)
            .fast_sqrt(fast)
            .fast_div(fast)
            .fma_contraction(fast)
    }

    /// Whether to write LLVM's text beside the PTX, with the ending `.ll`. The default is `false`.
    #[must_use]
    pub fn emit_llvm_ir(mut self, emit: bool) -> Self {
        self.options.llvm_ir = emit;
        self
    }

    /// Whether to write LLVM's bitcode beside the PTX, with the ending `.bc`. The default is
    /// `false`.
    #[must_use]
    pub fn emit_llvm_bitcode(mut self, emit: bool) -> Self {
        self.options.llvm_bitcode = emit;
        self
    }

    /// Writes the whole program's LLVM text, as it becomes PTX, to `path`. With several
    /// architectures each file's name gets its own, as those of [`CudaBuilder::copy_to`] do.
    #[must_use]
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.options.final_module_path = Some(path.as_ref().to_path_buf());
        self
    }

    /// Whether calls of `libm` become calls of libdevice. The default is `false`, unlike
    /// Rust-CUDA's.
    ///
    /// **Without effect**, and the build says so: libdevice belongs to the CUDA toolkit, which a
    /// stock compiler knows nothing of. `cuda_std::float` has the hardware's approximations.
    #[must_use]
    pub fn override_libm(mut self, replace: bool) -> Self {
        self.options.override_libm = replace;
        self
    }

    /// Whether statics lie in constant memory. The default is `false`.
    ///
    /// **Without effect**, and the build says so: a stock compiler puts statics in global memory.
    /// `#[address_space(constant)]` places a single one.
    #[must_use]
    pub fn use_constant_memory_space(mut self, constant: bool) -> Self {
        self.options.constant_memory = constant;
        self
    }

    /// Whether `core` and other dependencies are compiled once, for any architecture, and only ptx-std
    /// and the kernel crate for each. The dependencies' functions that are not inlined before the code
    /// is generated are then those of the oldest. For tests of many architectures, of which each costs
    /// seconds this way and not a minute.
    #[doc(hidden)]
    #[must_use]
    pub fn common_libraries(mut self, common: bool) -> Self {
        self.options.common_libraries = common;
        self
    }

    /// Whether a kernel reads an argument that it takes by value, such as an array of weights, where it lies, and not in
    /// a copy on its stack. The default is `true`. Either way the results are the same.
    #[must_use]
    pub fn arguments_in_place(mut self, in_place: bool) -> Self {
        self.options.passes.arguments_in_place = in_place;
        self
    }

    /// Whether `/` and `%` of `u128` and `i128` are computed word by word. The default is `true`. Otherwise they are loops of
    /// a turn for each bit of the quotient, as LLVM has them. Either way the results are the same.
    #[must_use]
    pub fn wide_division(mut self, fast: bool) -> Self {
        self.options.passes.divisions_at_once = fast;
        self
    }

    /// Whether the literals of `f64` that a loop has many of, such as a polynomial's coefficients, are read from constant memory. The
    /// default is `true`. Otherwise each costs two instructions in each round. Either way the results are the same.
    #[must_use]
    pub fn literals_in_constant_memory(mut self, constant: bool) -> Self {
        self.options.passes.literals_in_constant_memory = constant;
        self
    }

    /// Whether `f16` and `bf16` of the crate `half` are converted, added and compared by the GPU's instructions. The default is
    /// `true`. Otherwise the crate is compiled as it is, with conversions in integer code. Either way the results are the same but
    /// for the bits of NaN.
    #[must_use]
    pub fn half_by_instructions(mut self, by_instructions: bool) -> Self {
        self.options.half_by_instructions = by_instructions;
        self
    }

    /// Whether checks that panic are made before the loads between them, so that the loads wait together. The default is
    /// `true`. Either way the results are the same, and the panics, of the same threads at the same places.
    #[must_use]
    pub fn gathered_checks(mut self, gathered: bool) -> Self {
        self.options.passes.gathered_checks = gathered;
        self
    }

    /// Whether LLVM makes one of alike instructions at the ends of two arms of a branch, behind it. The default is
    /// `false`: of two stores to different places it makes one through a selected address, and what they store to can
    /// then no longer be kept in registers. Either way the results are the same.
    #[must_use]
    pub fn sink_common_instructions(mut self, sink: bool) -> Self {
        self.options.sink_common = sink;
        self
    }

    /// Whether LLVM also unrolls loops with several exits, as a check that panics is one. The default is `true`: with
    /// [`CudaBuilder::gathered_checks`] the loads of several turns wait together. Either way the results are the same, and
    /// the panics.
    #[must_use]
    pub fn unroll_loops_with_exits(mut self, unroll: bool) -> Self {
        self.options.unroll_loops_with_exits = unroll;
        self
    }

    /// Sets the effect of a panic. The default is [`Panics::Place`].
    #[must_use]
    pub fn panics(mut self, panics: Panics) -> Self {
        self.options.panics = panics;
        self
    }
}

impl Options {
    /// The options of the profile, as the environment variables of cargo that set them.
    pub(crate) fn profile(&self) -> [(&'static str, &'static str); 3] {
        let debug = match self.debug {
            DebugInfo::Full => "full",
            // Line directives without the rest of DWARF, which would mark the PTX as code for a
            // debugger, and ptxas would not optimise it.
            DebugInfo::LineTables => "line-directives-only",
            DebugInfo::None if self.line_info => "line-directives-only",
            DebugInfo::None => "none",
        };
        let checks = if self.checks { "true" } else { "false" };
        [
            ("DEBUG", debug),
            ("DEBUG_ASSERTIONS", checks),
            ("OVERFLOW_CHECKS", checks),
        ]
    }

    /// Flags for every crate, `core` among them.
    pub(crate) fn flags_of_all(&self, arch: NvvmArch) -> Vec<String> {
        let mut flags = if self.common_libraries {
            Vec::new()
        } else {
            flags_of_arch(arch)
        };
        if self.panics == Panics::Trap {
            flags.extend(["-Zunstable-options", "-Cpanic=immediate-abort"].map(str::to_owned));
        }
        flags
    }

    /// The arguments for cargo that compile ptx-std apart from the other dependencies: for panics that say their message,
    /// and, with `half`, for this architecture where the others are common to all. Cargo keeps what it builds with other
    /// flags beside it: kernel crates with and without messages do not displace each other's ptx-std, as they would if
    /// this were told by a variable.
    pub(crate) fn flags_of_library(&self, arch: NvvmArch, toolchain: &Toolchain) -> Vec<String> {
        let mut flags = Vec::new();
        if self.common_libraries {
            flags.extend(flags_beside_others(arch, toolchain));
        }
        let mut libraries = vec![("half", flags.clone())];
        if self.panics == Panics::Message {
            flags.push("--cfg=ptx_std_panics=\"message\"".to_owned());
        }
        libraries.push(("ridgepoint-ptx-std", flags));
        let mut arguments = Vec::new();
        for (library, flags) in libraries.into_iter().filter(|(_, flags)| !flags.is_empty()) {
            arguments.push("--config".to_owned());
            arguments.push(format!(
                "profile.release.package.{library}.rustflags={flags:?}"
            ));
        }
        if !arguments.is_empty() {
            arguments.push("-Zprofile-rustflags".to_owned());
        }
        arguments
    }

    /// Flags for the crate that becomes PTX.
    pub(crate) fn flags_of_last(&self, arch: NvvmArch, toolchain: &Toolchain) -> Vec<String> {
        let mut flags = vec![format!(
            "-Cllvm-args=-nvptx-fma-level={}",
            u32::from(self.fma_contraction)
        )];
        if self.common_libraries {
            flags.extend(flags_beside_others(arch, toolchain));
        }
        if self.unroll_loops_with_exits {
            flags.push("-Cllvm-args=-unroll-runtime-multi-exit=true".to_owned());
        }
        if !self.sink_common {
            flags.push("-Cllvm-args=-sink-common-insts=false".to_owned());
        }
        if !self.optimize {
            flags.push("-Copt-level=1".to_owned());
        }
        if self.debug == DebugInfo::Full {
            // LLVM writes one that ptxas does not read.
            flags.push("-Zno-generate-arange-section".to_owned());
        }
        if self.fast_div {
            flags.push("-Cllvm-args=-nvptx-prec-divf32=0".to_owned());
        }
        if self.fast_sqrt {
            flags.push("-Cllvm-args=-nvptx-prec-sqrtf32=0".to_owned());
        }
        if self.llvm_ir || self.final_module_path.is_some() {
            flags.push("--emit=llvm-ir".to_owned());
        }
        if self.llvm_bitcode {
            flags.push("--emit=llvm-bc".to_owned());
        }
        flags
    }

    /// The endings of the files that belong beside the PTX.
    pub(crate) fn extra_files(&self) -> impl Iterator<Item = &'static str> {
        let wanted = [(self.llvm_ir, "ll"), (self.llvm_bitcode, "bc")];
        wanted
            .into_iter()
            .filter_map(|(wanted, ending)| wanted.then_some(ending))
    }

    /// Returns a text for each option that was asked for and has no effect.
    pub(crate) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        let asked = [
            (
                self.ftz,
                "ftz has no effect: rustc cannot tell LLVM to flush denormal numbers to zero",
            ),
            (
                self.override_libm,
                "override_libm has no effect: a stock compiler knows no libdevice",
            ),
            (
                self.constant_memory,
                "use_constant_memory_space has no effect: a stock compiler puts statics in global \
                 memory; #[address_space(constant)] places a single one",
            ),
        ];
        asked
            .into_iter()
            .filter_map(|(asked, text)| asked.then_some(text))
    }
}

/// Returns the compiler flags that select the architecture.
fn flags_of_arch(arch: NvvmArch) -> Vec<String> {
    let mut flags = vec![format!("-Ctarget-cpu={arch}")];
    if let Some(feature) = arch.ptx_feature() {
        flags.push(format!("-Ctarget-feature={feature}"));
    }
    flags.extend(compute_cfgs(arch));
    flags
}

/// The same for a crate whose dependencies are of another: PTX has one ABI for all.
fn flags_beside_others(arch: NvvmArch, toolchain: &Toolchain) -> Vec<String> {
    let mut flags = flags_of_arch(arch);
    if toolchain.compares_target_cpus() {
        flags.push("-Cunsafe-allow-abi-mismatch=target-cpu".to_owned());
    }
    flags
}

/// `cfg(target_feature = "compute_..")` for `arch` and every earlier one, as Rust-CUDA sets them.
/// rustc has none of the kind, so nothing contradicts these; the lint against setting built-in cfgs
/// is told to let them pass.
fn compute_cfgs(arch: NvvmArch) -> Vec<String> {
    let names: Vec<_> = NvvmArch::known_target_features()
        .map(|name| format!("\"{name}\""))
        .collect();
    let mut flags = vec![
        "-Aexplicit_builtin_cfgs_in_flags".to_owned(),
        "--check-cfg".to_owned(),
        format!("cfg(target_feature, values({}))", names.join(", ")),
    ];
    for name in arch.all_target_features() {
        flags.push("--cfg".to_owned());
        flags.push(format!("target_feature=\"{name}\""));
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_said_and_what_can_is_not() {
        let warnings = |builder: CudaBuilder| {
            let texts: Vec<&str> = builder.options.without_effect().collect();
            texts.join("\n")
        };
        let plain = || CudaBuilder::new("kernels");
        let effective = plain()
            .fast_div(true)
            .fast_sqrt(true)
            .release(false)
            .panics(Panics::Trap)
            .override_libm(false);
        assert_eq!(warnings(effective), "");
        assert!(warnings(plain().fast_math(true)).starts_with("ftz has no effect"));
        let text = warnings(plain().override_libm(true).use_constant_memory_space(true));
        assert!(text.contains("override_libm") && text.contains("use_constant_memory_space"));
    }
}
