//! The library without the command: what is counted, the embedded kernels' PTX, and the scripts that read rows.

mod counted_rows;
mod counts;
mod emulator;
mod ptx;
mod roofs;
mod sharing;
