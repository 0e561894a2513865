//! Every embedded kernel on the emulator and on a GPU, at many sizes, against its reference.

use std::collections::BTreeSet;

use gpu_test::{Failed, Trial, emulator, on_gpu, slow};
use ridgepoint::check::{Case, SIZES, cases};
use ridgepoint::driver::{Device, Emulation, Schedule};
use ridgepoint::kernels;
use ridgepoint::kernels::embedded_ptx;

/// Around a vector, and around the tiles of kernels that take several vectors a thread.
const MORE_SIZES: [usize; 7] = [2, 3, 5, 4096, 8192, 8195, 100_003];

/// The sizes at which every access is checked: an empty launch, one turn of an unrolled loop, one beside a warp, a block,
/// several blocks.
const CHECKED_SIZES: [usize; 7] = [0, 1, 8, 33, 257, 1000, 8195];

/// Orders in which blocks wait for each other, where they do, and look at words that others have yet to write.
const SEEDS: [u64; 2] = [1, 2];

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![Trial::test(
        "cases::every_kernel_has_a_case",
        every_kernel_has_a_case,
    )];
    for case in cases() {
        let kernel = case.kernel;
        let checked = case.clone();
        trials.push(Trial::test(
            format!("emulator::cases::{kernel}"),
            move || {
                let emulation = Emulation {
                    is_checked: true,
                    ..Emulation::default()
                };
                let device = Device::emulator_with(emulation.clone(), embedded_ptx())?;
                at_sizes(&checked, &device, CHECKED_SIZES)?;
                // In order no block waits for one that began before it.
                SEEDS.into_iter().try_for_each(|seed| {
                    let device = device.with_emulation(Emulation {
                        schedule: Schedule::Seeded(seed),
                        ..emulation.clone()
                    });
                    at_sizes(&checked, &device.expect("it is the emulator"), [257])
                })
            },
        ));
        let everywhere = case.clone();
        trials.push(slow(&format!("emulator::cases::{kernel}"), move || {
            at_sizes(&everywhere, &emulator(embedded_ptx())?, all_sizes())
        }));
        let name = format!("cuda::cases::{kernel}");
        trials.push(on_gpu(name, embedded_ptx(), move |device| {
            at_sizes(&case, device, all_sizes())
        }));
    }
    trials
}

fn all_sizes() -> impl IntoIterator<Item = usize> {
    SIZES.into_iter().chain(MORE_SIZES)
}

fn at_sizes(
    case: &Case,
    device: &Device,
    sizes: impl IntoIterator<Item = usize>,
) -> Result<(), Failed> {
    sizes.into_iter().try_for_each(|n| {
        let result = case.run(device, n);
        result.map_err(|finding| format!("{n} elements: {finding}").into())
    })
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
