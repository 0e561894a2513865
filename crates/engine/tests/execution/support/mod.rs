//! Helpers that tests of the engine share.

pub(crate) mod launch;
#[cfg(target_os = "linux")]
pub(crate) mod process;

use engine::check::{Checker, Streams};
use engine::{Checks, Kernel, LaunchError, Options, Shape};

/// A checked launch, the only one of its device.
pub(crate) fn launch_checked(
    kernel: &Kernel,
    shape: Shape,
    options: Options,
    parameters: &[u8],
) -> Result<(), LaunchError> {
    let (mut checker, mut streams) = (Checker::new(), Streams::default());
    let stream = streams.stream();
    let checks = Checks {
        checker: &mut checker,
        operation: streams.enqueue(stream),
        fixed: Vec::new(),
        lent: Vec::new(),
        benign: None,
    };
    kernel.launch(shape, options, parameters, &|_| {}, Some(checks))
}
