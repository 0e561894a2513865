//! Kernels with known bugs. Each comes twice, from one source: with the bug, where `BUG` is true,
//! and without it, under the same name with `_fixed` behind it. Those of `correct` have none.
//!
//! All take the same arguments: `x` to read, `y` to write, `n` elements to work on; those of `peers` the memories of two
//! devices and the number of their own, those of `teams` the memories of all. Comments at the
//! ends of lines say where the bug is seen.

#![no_std]
// Each kernel breaks the contract of something, which is what it is for.
#![allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

pub mod atomics;
pub mod bounds;
pub mod bytes;
pub mod containers;
pub mod copies;
pub mod correct;
pub mod divergence;
pub mod elsewhere;
pub mod global;
pub mod heap;
pub mod local;
pub mod narrow;
pub mod parts;
pub mod peers;
pub mod pieces;
pub mod progress;
pub mod records;
pub mod shared;
pub mod sorting;
pub mod streams;
pub mod teams;
pub mod undefined;
pub mod uninitialised;

macro_rules! sources {
    ($($file:literal)*) => {
        &[$(($file, include_str!(concat!($file, ".rs")))),*]
    };
}

/// The name and the text of each file.
pub const SOURCES: &[(&str, &str)] = sources![
    "atomics" "bounds" "bytes" "containers" "copies" "correct" "divergence" "elsewhere" "global" "heap"
    "local" "narrow" "parts" "peers" "pieces" "progress" "records" "shared" "sorting" "streams" "teams"
    "undefined" "uninitialised"
];
