//! The embedded kernels as workloads.

mod chains;
mod polynomial;
mod stream;

pub use chains::Fma;
pub use polynomial::Polynomial;
pub use stream::Stream;

use crate::workload::Workload;

/// Those that the command line knows, by name.
pub fn all() -> Vec<&'static dyn Workload> {
    vec![
        &Stream::COPY,
        &Stream::READ,
        &Stream::SCALE,
        &Stream::ELEMENTWISE,
        &Stream::NRM2,
        &Fma,
        &Polynomial::POWER_SUM,
        &Polynomial::HORNER,
    ]
}
