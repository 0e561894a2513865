//! Every embedded kernel on the emulator and on a GPU, at many sizes, against its reference.

use std::collections::BTreeSet;

use gpu_test::{Arguments, Failed, Trial, on_both};
use ridgepoint::check::{SIZES, cases};
use ridgepoint::kernels;
use ridgepoint::kernels::embedded_ptx;

/// Around a vector, and around the tiles of kernels that take several vectors a thread.
const MORE_SIZES: [usize; 7] = [2, 3, 5, 4096, 8192, 8195, 100_003];

fn main() {
    let arguments = Arguments::from_args();
    let mut trials = vec![Trial::test(
        "every_kernel_has_a_case",
        every_kernel_has_a_case,
    )];
    for case in cases() {
        trials.extend(on_both(case.kernel, embedded_ptx(), move |device| {
            let mut sizes = SIZES.into_iter().chain(MORE_SIZES);
            sizes.try_for_each(|n| {
                let result = case.run(device, n);
                result.map_err(|finding| format!("{n} elements: {finding}").into())
            })
        }));
    }
    gpu_test::run(&arguments, trials).exit();
}

fn every_kernel_has_a_case() -> Result<(), Failed> {
    let cases: Vec<_> = cases().iter().map(|case| case.kernel).collect();
    let with_case: BTreeSet<_> = cases.iter().map(|&kernel| kernel.to_owned()).collect();
    let embedded: BTreeSet<_> = kernels::names(kernels::embedded_ptx())
        .into_iter()
        .collect();
    assert_eq!(with_case, embedded);
    assert_eq!(cases.len(), with_case.len(), "one case each");
    Ok(())
}
