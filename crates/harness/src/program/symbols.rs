//! Names and source lines of machine code, read from the files that have it.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use addr2line::{Loader, demangle_auto};
use recording::Module;

use super::place::{Caller, Owner};

/// The files that were read; `None` for one that cannot be.
#[derive(Default)]
pub(super) struct Symbols(HashMap<String, Option<Loader>>);

impl fmt::Debug for Symbols {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl Symbols {
    /// The function at an address in memory of a module, after those that were inlined there.
    pub(super) fn callers(&mut self, module: &Module, address: u64) -> Vec<Caller> {
        let path = &module.path;
        let loader = self
            .0
            .entry(path.clone())
            .or_insert_with(|| Loader::new(path).ok());
        let address = address.wrapping_sub(module.bias);
        let lines = loader.as_ref().map(|it| with_lines(it, address));
        if let Some(callers) = lines.filter(|it| !it.is_empty()) {
            return callers;
        }
        let function = loader.as_ref().map(|it| symbol(it, address));
        let function = function.unwrap_or_else(|| format!("{address:#x}"));
        let name = Path::new(path).file_name().unwrap_or(path.as_ref());
        vec![Caller {
            owner: match is_of_nvcc(&function) {
                true => Owner::Library,
                false => owner_of_module(path),
            },
            function,
            file: name.to_string_lossy().into_owned(),
            line: None,
        }]
    }
}

/// The function at an address, or the address where no symbol says it.
fn symbol(loader: &Loader, address: u64) -> String {
    match loader.find_symbol(address) {
        Some(symbol) => short(&demangle_auto(symbol.into(), None)),
        None => format!("{address:#x}"),
    }
}

/// The functions at an address whose source lines are known.
fn with_lines(loader: &Loader, address: u64) -> Vec<Caller> {
    let mut callers = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else {
        return callers;
    };
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else {
            continue;
        };
        let (Some(file), Some(line)) = (location.file, location.line) else {
            continue;
        };
        let name = frame.function.as_ref().and_then(|it| it.demangle().ok());
        callers.push(Caller {
            function: name.map_or_else(|| symbol(loader, address), |it| short(&it)),
            file: file.to_owned(),
            line: Some(line),
            owner: match is_of_library(file) {
                true => Owner::Library,
                false => Owner::Author,
            },
        });
    }
    callers
}

/// Whether a source file is one of a library or of a toolchain.
fn is_of_library(file: &str) -> bool {
    let parts = [
        "/rustc/",
        "/.cargo/registry/",
        "/.cargo/git/",
        "/toolchains/",
    ];
    parts.iter().any(|it| file.contains(it)) || is_installed(file)
}

/// A function with its type, without their paths, the arguments of templates and the types of parameters:
/// `CudaStream::clone_dtoh`.
fn short(name: &str) -> String {
    // `<path::Type as Trait>::function`
    let typed = name.strip_prefix('<').and_then(|rest| {
        let mut depth = 1;
        let end = rest.char_indices().find(|(_, it)| {
            depth += i32::from(*it == '<') - i32::from(*it == '>');
            depth == 0
        });
        let (of, function) = rest.split_at(end?.0);
        let of = of.split(" as ").next().unwrap_or(of);
        Some(format!("{of}{}", &function[1..]))
    });
    let name = typed.as_deref().unwrap_or(name);
    let mut depth = 0;
    let plain = name.chars().filter(|it| {
        let before = depth;
        depth += i32::from(matches!(it, '<' | '(')) - i32::from(matches!(it, '>' | ')'));
        before == 0 && depth == 0
    });
    let plain: String = plain.collect();
    let parts = plain.split("::").filter(|it| !it.is_empty());
    let parts: Vec<&str> = parts.collect();
    parts[parts.len().saturating_sub(2)..].join("::")
}

/// Whether a function inside of the program is one that nvcc or its headers have put there.
fn is_of_nvcc(function: &str) -> bool {
    let begins = ["__cuda", "__device_stub__", "cudaError cuda"];
    begins.iter().any(|it| function.starts_with(it))
}

/// Whose machine code without source lines is.
fn owner_of_module(path: &str) -> Owner {
    let name = path.rsplit('/').next().unwrap_or(path);
    // NVIDIA's libraries, wherever they are.
    let is_nvidia = name.starts_with("libcu") || name.starts_with("libnv");
    match (is_nvidia || is_installed(path), name.contains(".so")) {
        (true, _) => Owner::Library,
        (false, true) => Owner::Shared,
        (false, false) => Owner::Unnamed,
    }
}

/// Whether a file is the system's, or of a package of Python.
fn is_installed(file: &str) -> bool {
    let folders = ["/usr/", "/lib/", "/lib64/", "/opt/"];
    folders.iter().any(|it| file.starts_with(it)) || file.contains("/site-packages/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nvcc_puts_between_a_program_and_the_runtime_is_no_authors() {
        for name in ["__cudaLaunchKernel_helper", "cudaError cudaMalloc"] {
            assert!(is_of_nvcc(name), "{name}");
        }
        for name in ["main", "saxpy", "cudaCheck"] {
            assert!(!is_of_nvcc(name), "{name}");
        }
    }

    #[test]
    fn functions_have_their_types_and_no_paths() {
        let names = [
            (
                "<cudarc::driver::safe::core::CudaStream>::clone_dtoh::<f32, alloc::vec::Vec<f32>>",
                "CudaStream::clone_dtoh",
            ),
            ("<a::T<u8> as core::ops::Drop>::drop", "T::drop"),
            ("solver::main", "solver::main"),
            ("main", "main"),
            ("ns::solve<float>(float*, int)", "ns::solve"),
            ("solver::run::{closure#0}", "run::{closure#0}"),
        ];
        for (name, shown) in names {
            assert_eq!(short(name), shown);
        }
    }
}
