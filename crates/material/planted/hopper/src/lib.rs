//! Kernels with known bugs of what is Hopper's own: bulk copies, mbarriers and rings of them, clusters, `wgmma`. Each comes twice,
//! from one source: with the bug, where `BUG` is true, and without it, under the same name with `_fixed` behind it.
//!
//! All take the same arguments: `x` to read, `y` to write, `n` elements to work on. Comments behind lines, or above them, say where
//! bugs are seen.

#![no_std]
// Each kernel breaks the contract of something, which is what it is for.
#![allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

pub mod clusters;
pub mod loads;
pub mod products;
pub mod rings;
pub mod stores;

macro_rules! sources {
    ($($file:literal)*) => {
        &[$(($file, include_str!(concat!($file, ".rs")))),*]
    };
}

/// The name and the text of each file.
pub const SOURCES: &[(&str, &str)] = sources!["clusters" "loads" "products" "rings" "stores"];
