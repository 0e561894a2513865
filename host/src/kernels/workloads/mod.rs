//! The embedded kernels as workloads.

mod polynomial;

pub use polynomial::Polynomial;

use crate::workload::Workload;

/// Those that the command line knows, by name.
pub fn all() -> Vec<&'static dyn Workload> {
    vec![&Polynomial::POWER_SUM, &Polynomial::HORNER]
}
