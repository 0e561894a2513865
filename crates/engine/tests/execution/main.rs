//! PTX executed by the engine: what it computes, what a launch refuses, what is found, and what is counted.
//!
//! Tests run side by side in one process and write nothing of it. One that measures the process itself runs alone in a
//! process of its own: `support::process::alone`.

mod again;
mod arithmetic;
mod counts;
mod coverage;
mod divergence;
mod edges;
mod footprint;
mod hopper;
mod invalidation;
mod launches;
mod mutation;
mod nvcc;
mod own_buffer;
mod own_memory;
mod partial_words;
mod passed;
mod places;
mod read_only;
mod refused;
mod rows_of_memory;
mod schedules;
mod stack;
mod support;
mod time_limit;
mod triton;
mod undefined;
mod waits;
mod wmma;
