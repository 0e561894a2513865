//! How many orders a case is run in.

use gpu_test::{Failed, Trial};

/// The number of seeds, and that of `.ci/full`.
#[derive(Clone, Copy)]
pub(crate) struct Orders {
    pub(crate) quick: u64,
    pub(crate) all: u64,
}

impl Orders {
    /// The case in the few orders, and as a slow one in all.
    pub(crate) fn trials(
        self,
        name: &str,
        case: impl Fn(u64) -> Result<(), Failed> + Copy + Send + 'static,
    ) -> [Trial; 2] {
        [
            Trial::test(name, move || case(self.quick)),
            gpu_test::slow(name, move || case(self.all)),
        ]
    }
}
