//! `--strict`: benign findings as errors.

use clap::Args;

use crate::driver::Emulation;

#[derive(Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Take benign findings as errors: what is wrong by the letter of PTX's memory model, though no value depends on it
    #[arg(long)]
    pub(super) strict: bool,
}

impl Arguments {
    /// The same emulation, as strict as this says.
    pub(super) fn judge(&self, emulation: Emulation) -> Emulation {
        Emulation {
            is_strict: self.strict,
            ..emulation
        }
    }
}
