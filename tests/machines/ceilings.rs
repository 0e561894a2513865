//! The ceilings of a device are measured, by kernels whose output is right, on the emulator and on a GPU.

use gpu_test::{Device, Failed, Trial, equal, on_both};
use ridgepoint::ceilings::{BenchError, Ceilings, Effort, Quantity, load, save};
use ridgepoint::kernels::{embedded_ptx, hopper};
use ridgepoint::measure::Runs;
use std::ops::ControlFlow;

type Case = (&'static str, fn(&Device) -> Result<(), Failed>);

/// The cases of this file.
pub(crate) fn trials() -> Vec<Trial> {
    let cases: [Case; 2] = [
        ("every_ceiling_is_measured", every_ceiling_is_measured),
        ("too_little_work_is_refused", too_little_work_is_refused),
    ];
    let both = |(name, case): Case| on_both(&format!("ceilings::{name}"), embedded_ptx(), case);
    cases.into_iter().flat_map(both).collect()
}

/// `measure` compares every kernel's output with its reference.
fn every_ceiling_is_measured(device: &Device) -> Result<(), Failed> {
    let effort = Effort {
        elements: 100_004,
        steps: 2048,
        // Sums begin again after 32, and operands repeat after 4.
        tensor_steps: 34,
        ..Effort::of(device)
    };
    let effort = Effort {
        runs: Runs {
            warmup: 0,
            timed: 2,
        },
        ..effort
    };
    let mut steps = Vec::new();
    let hopper = hopper(device)?;
    let ceilings = Ceilings::measure(device, hopper.as_ref(), &effort, |step| {
        steps.push(step.to_owned());
        ControlFlow::Continue(())
    })?;
    equal(
        &steps,
        &[
            "memory",
            "memory under load",
            "caches and shared memory",
            "banks, atomics, warps and blocks",
            "arithmetic",
            "tensor cores",
            "clusters and bulk copies",
            "latencies",
            "latencies under load",
            "launches",
        ]
        .map(str::to_owned),
    )?;
    // A GPU that is not an H100 or H200 has none of these kernels.
    const OF_HOPPER: [&str; 5] = ["tensor", "mma.sync", "TMA", "cluster", "mbarrier"];
    let of_hopper = |it: &Quantity| OF_HOPPER.iter().any(|word| it.name().contains(word));
    let has = |it: &Quantity| hopper.is_some() || !of_hopper(it);
    let expected: Vec<Quantity> = Quantity::ALL.into_iter().filter(has).collect();
    for &quantity in &expected {
        let found = ceilings
            .get(quantity)
            .ok_or_else(|| format!("no {quantity:?}"))?;
        assert!(found.value.is_finite() && found.value > 0.0, "{found:?}");
        assert!(
            !found.variant.is_empty() && found.median_ms > 0.0,
            "{found:?}"
        );
        assert_eq!(found.percent().is_some(), found.datasheet.is_some());
    }
    assert_eq!(ceilings.ceilings.len(), expected.len());
    assert!(ceilings.working_sets.len() >= 4);
    // Three streams, with 1 to 16 blocks on a multiprocessor.
    assert_eq!(ceilings.under_load.len(), 3 * 16);
    let most = &ceilings.under_load[15];
    assert_eq!(
        (most.quantity, most.bytes_in_flight),
        (Quantity::LoadedReadLatency, 65536.0)
    );
    let all = f64::from(device.properties().multiprocessors);
    assert!((most.latency * most.bytes_per_sec / all - 65536.0).abs() < 1e-6);
    // Memory and the level 2 cache: a chase that is alone, and seven beside others.
    assert_eq!(ceilings.busy.len(), 2 * 8);
    for (index, it) in ceilings.busy.iter().enumerate() {
        assert!(it.latency > 0.0, "{it:?}");
        assert_eq!(it.readers == 0, index % 8 == 0, "{it:?}");
        assert_eq!(it.readers == 0, it.bytes_per_sec == 0.0, "{it:?}");
    }
    assert_eq!(ceilings.emulated, device.properties().is_emulated());

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("deep").join("ceilings.json");
    save(&ceilings, &path)?;
    assert_eq!(load(&path, device.properties())?, ceilings);
    let mut other = device.properties().clone();
    other.name = "another".to_owned();
    let error = load(&path, &other).err().map(|error| error.to_string());
    assert!(error.is_some_and(|error| error.contains("another")));
    std::fs::write(&path, "{}")?;
    assert!(load(&path, device.properties()).is_err());
    Ok(())
}

fn too_little_work_is_refused(device: &Device) -> Result<(), Failed> {
    let effort = Effort {
        elements: 3,
        ..Effort::of(device)
    };
    match Ceilings::measure(device, None, &effort, |_| ControlFlow::Continue(())) {
        Err(BenchError::TooLittle {
            actual: 3,
            least: 4,
            ..
        }) => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}
