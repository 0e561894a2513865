//! The emulated driver as programs call it: through the shared library.

mod captures;
mod client;
mod devices;
mod findings;
mod graphs;
mod host_functions;
mod logs;
mod refused;
mod work;
