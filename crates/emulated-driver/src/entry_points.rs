//! How a program finds the driver's functions: by symbol, and by name and version.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::LazyLock;

use crate::status::{Answer, Status};
use crate::table::{RENAMED, ROWS};

/// Whether a function that is found is the twin for default streams of threads, or the usual one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Default {
    OfAll,
    OfThread,
}

/// A row of the table, as it is looked up by name.
struct Versioned {
    since: u32,
    address: usize,
}

/// Returns a symbol's name in `cuGetProcAddress`: `cuMemcpyHtoD` of `cuMemcpyHtoD_v2_ptds`.
fn name_of(symbol: &str) -> (&str, Default) {
    let (rest, default) = match symbol
        .strip_suffix("_ptsz")
        .or(symbol.strip_suffix("_ptds"))
    {
        Some(rest) => (rest, Default::OfThread),
        None => (symbol, Default::OfAll),
    };
    let name = match rest.rsplit_once("_v") {
        Some((name, version)) if version.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => rest,
    };
    (name, default)
}

/// Functions by name, each with its versions.
type ByName = HashMap<(&'static str, Default), Vec<Versioned>>;

fn by_name() -> &'static ByName {
    static ALL: LazyLock<ByName> = LazyLock::new(|| {
        let mut all = ByName::new();
        for row in ROWS {
            let versioned = Versioned {
                since: row.since,
                address: (row.address)(),
            };
            all.entry(name_of(row.symbol)).or_default().push(versioned);
        }
        all
    });
    &ALL
}

/// Returns the emulated driver's function of this symbol, such as `cuMemAlloc_v2`, as `dlsym` does.
pub fn symbol(name: &str) -> Option<*const c_void> {
    static ALL: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
        ROWS.iter()
            .map(|row| (row.symbol, (row.address)()))
            .collect()
    });
    ALL.get(name)
        .map(|&address| std::ptr::with_exposed_provenance(address))
}

/// The function of a name for a program that was built for a version of CUDA: the newest that is no newer.
fn find(name: &str, version: u32, default: Default) -> Option<usize> {
    let renamed = RENAMED.iter().find(|it| it.0 == name && it.1 <= version);
    if let Some((.., symbol_of_new)) = renamed {
        return symbol(symbol_of_new).map(|it| it as usize);
    }
    let of = |default| {
        let all = by_name().get_key_value(&(name, default))?.1;
        let known = all.iter().filter(|it| it.since <= version);
        known.max_by_key(|it| it.since).map(|it| it.address)
    };
    // What takes no stream has no twin.
    of(default).or_else(|| of(Default::OfAll))
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`
const OF_THREAD: u64 = 2;

/// `CUdriverProcAddressQueryResult`
const FOUND: u32 = 0;
const NO_SYMBOL: u32 = 1;
const NEWER: u32 = 2;

/// Returns a function's address, or why there is none.
fn look_up(name: &str, version: i32, flags: u64) -> Result<usize, u32> {
    let default = if flags & OF_THREAD != 0 {
        Default::OfThread
    } else {
        Default::OfAll
    };
    let version = u32::try_from(version).unwrap_or(0);
    find(name, version, default).ok_or(match by_name().contains_key(&(name, Default::OfAll)) {
        true => NEWER,
        false => NO_SYMBOL,
    })
}

/// The table that NVIDIA's runtime asks for first, and that of NVRTC, which does without.
const OF_RUNTIME: [u8; 16] = 0xf8cf_f951_2146_8b4e_b9e2_fb46_9e7c_0dd9_u128.to_be_bytes();
const OF_COMPILER: [u8; 16] = 0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328_u128.to_be_bytes();

/// Told to a program whose runtime is still NVIDIA's.
const RUNTIME_STAYED: &str = "the program's CUDA runtime is NVIDIA's, which runs on NVIDIA's driver alone: the program is stripped of its symbols, \
     or a library that was loaded later has the runtime inside; link without -s, or with -cudart shared";

pub(crate) mod calls {
    use super::*;
    use crate::arguments::{In, Out, Text};
    use crate::findings::{is_absent, say};

    fn put(
        name: Text,
        to: Out<usize>,
        (version, flags): (i32, u64),
        result: Option<Out<u32>>,
    ) -> Answer {
        to.check()?;
        let found = look_up(&name.get()?, version, flags);
        if let Some(result) = result {
            result.put_if_asked(found.err().unwrap_or(FOUND));
        }
        to.put(found.unwrap_or(0))?;
        found.map(drop).map_err(|_| Status::NOT_FOUND)
    }

    driver! {
        fn cuGetProcAddress(name: Text, to: Out<usize>, version: i32, flags: u64) { put(name, to, (version, flags), None) }
        fn cuGetProcAddress_v2(name: Text, to: Out<usize>, version: i32, flags: u64, result: Out<u32>) {
            put(name, to, (version, flags), Some(result))
        }
        // The undocumented tables of NVIDIA's own libraries.
        fn cuGetExportTable(to: Out<usize>, which: In<[u8; 16]>) {
            to.put(0)?;
            match which.get()? {
                OF_COMPILER => {}
                OF_RUNTIME if is_absent("cuGetExportTable") => say(RUNTIME_STAYED),
                _ => _ = is_absent("cuGetExportTable"),
            }
            Err(Status::NOT_SUPPORTED)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_symbol_has_one_row_and_each_version_of_a_name_another_function() {
        let symbols: HashSet<&str> = ROWS.iter().map(|row| row.symbol).collect();
        assert_eq!(symbols.len(), ROWS.len());
        for (name, versions) in by_name() {
            let since: HashSet<u32> = versions.iter().map(|it| it.since).collect();
            assert_eq!(
                since.len(),
                versions.len(),
                "{} has two functions of one version",
                name.0
            );
        }
    }

    #[test]
    fn a_program_gets_the_function_of_its_version() {
        let of = |name, version| look_up(name, version, 0);
        let symbol = |name| Ok(symbol(name).expect("a function") as usize);
        assert_eq!(of("cuCtxCreate", 11_000), symbol("cuCtxCreate_v2"));
        assert_eq!(of("cuCtxCreate", 12_040), symbol("cuCtxCreate_v3"));
        assert_eq!(of("cuCtxCreate", 13_000), symbol("cuCtxCreate_v4"));
        assert_eq!(of("cuMemAlloc", 12_000), symbol("cuMemAlloc_v2"));
        assert_eq!(of("cuLibraryLoadData", 11_000), Err(NEWER));
        assert_eq!(of("cuMemAlloc_v2", 12_000), Err(NO_SYMBOL));
        assert_eq!(of("cuNothing", 12_000), Err(NO_SYMBOL));
        let twin = look_up("cuLaunchKernel", 12_000, OF_THREAD);
        assert_eq!(twin, symbol("cuLaunchKernel_ptsz"));
        assert_eq!(look_up("cuInit", 12_000, OF_THREAD), symbol("cuInit"));
    }
}
