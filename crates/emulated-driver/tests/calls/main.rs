//! The emulated driver as programs call it: through the shared library.

mod client;
mod findings;
mod graphs;
mod refused;
mod work;
