//! Matrices, asynchronous copies and clusters, from PTX that is written here.

mod harness;
mod matrices;
mod products;
