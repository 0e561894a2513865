//! Matrices, asynchronous copies, tensor memory and clusters, from PTX that is written here.

mod clusters;
mod copies;
mod counted;
mod fewer;
mod harness;
mod matrices;
mod products;
mod tensor_memory;
mod tensors;
mod warpgroups;
mod warps;
mod workspace;
mod zeros;
