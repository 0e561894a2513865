//! Matrices, asynchronous copies and clusters, from PTX that is written here.

mod clusters;
mod copies;
mod counted;
mod fewer;
mod harness;
mod matrices;
mod products;
mod tensors;
mod warpgroups;
mod warps;
mod workspace;
mod zeros;
