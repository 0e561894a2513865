//! A fuzzer of one's own, guided by the kernel's edges.

use std::sync::atomic::{AtomicU8, Ordering};

use properties::{ptx, unpacked};
use properties_kernels::MAGIC;
use ridgepoint_driver::{Device, Emulation, LaunchConfig, coverage};

/// Bytes of the map of edges.
const EDGES: usize = 1 << 9;

/// Inputs that are tried.
const BUDGET: u32 = 50_000;

/// Changes random bytes of inputs that it keeps. Those that lead along edges that none has gone along before, or no such number of
/// threads, are kept, if it is guided. Gives the first input that fails, and how.
fn fuzz(seed: u64, is_guided: bool) -> Option<(Vec<u8>, String)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let checked = Emulation {
        is_checked: true,
        ..Emulation::default()
    };
    let device = Device::emulator_with(checked, ptx()).expect("an emulator");
    let mut kept = vec![vec![0; 8]];
    let mut seen = [0; EDGES];
    for _ in 0..BUDGET {
        let mut input = kept[random.usize(..kept.len())].clone();
        let at = random.usize(..input.len());
        input[at] = random.u8(..);
        let edges = [const { AtomicU8::new(0) }; EDGES];
        let launch = LaunchConfig::blocks(1, 32);
        let ran = coverage::edges_into(&edges, || unpacked(&device, &input, 32, launch));
        if let Err(error) = ran {
            return Some((input, error.to_string()));
        }
        let mut is_new = false;
        for (seen, edge) in seen.iter_mut().zip(&edges) {
            // Powers of two of how many threads went along the edge.
            let threads = edge.load(Ordering::Relaxed).checked_ilog2();
            let threads = threads.map_or(0, |log| 1u8 << log);
            is_new |= threads & !*seen != 0;
            *seen |= threads;
        }
        if is_new && is_guided {
            kept.push(input);
        }
    }
    None
}

#[test]
fn the_kernels_edges_lead_to_an_input_that_fails_and_chance_does_not() {
    let (input, error) = fuzz(2, true).expect("it is found");
    assert!(input.starts_with(&MAGIC), "{input:?}");
    assert!(error.contains("out of bounds"), "{error}");
    assert_eq!(fuzz(2, false), None);
}
