//! `ridgepoint device`

use super::Failure;
use super::streams::say;
use crate::driver::{Device, DeviceProperties, GpuProperties, Limits, gpus};
use crate::kernels::embedded_ptx;
use crate::model::{Datasheet, Limit, Precision, Roofs};

pub(super) fn run() -> Result<(), Failure> {
    match gpus() {
        Ok(all) => all.iter().for_each(print),
        Err(error) => say(&format!("No GPU: {error}\n")),
    }
    let emulator = Device::emulator(Default::default());
    print(emulator.properties());
    let architectures: Vec<String> = embedded_ptx()
        .iter()
        .map(|(arch, ..)| format!("sm_{arch}"))
        .collect();
    say(&format!("Embedded PTX: {}", architectures.join(", ")));
    Ok(())
}

fn print(facts: &DeviceProperties) {
    match &facts.gpu {
        Some(gpu) => print_gpu(facts, gpu),
        None => {
            let (major, minor) = facts.compute_capability;
            say(&format!("cpu: {}", facts.name));
            row("memory", gib(facts.memory_bytes));
            row(
                "limits",
                format!("those of sm_{major}{minor}, kept as a GPU keeps them"),
            );
        }
    }
    print_limits(&facts.limits);
    say("");
}

fn print_gpu(facts: &DeviceProperties, gpu: &GpuProperties) {
    let (major, minor) = facts.compute_capability;
    say(&format!("cuda:{}: {}", gpu.ordinal, facts.name));
    row("compute capability", format!("{major}.{minor}"));
    row(
        "driver",
        format!("CUDA {}.{}", gpu.cuda_version.0, gpu.cuda_version.1),
    );
    row(
        "multiprocessors",
        format!(
            "{} at up to {:.0} MHz",
            facts.multiprocessors,
            gpu.clock_hz / 1e6
        ),
    );
    row(
        "memory",
        format!(
            "{}, {} bits at up to {:.0} MHz",
            gib(facts.memory_bytes),
            gpu.memory_bus_bits,
            gpu.memory_clock_hz / 1e6
        ),
    );
    row("L2 cache", format!("{} MiB", gpu.l2_bytes >> 20));
    if let Some(sheet) = Datasheet::of(&facts.name) {
        row(
            "data sheet",
            format!(
                "{}: memory {}, f32 {}, f64 {}, f16x2 {}",
                sheet.product,
                sheet.memory,
                sheet.peak(Precision::F32),
                sheet.peak(Precision::F64),
                sheet.peak(Precision::F16x2),
            ),
        );
    }
    for precision in Precision::ALL {
        if let Some(roofs) = Roofs::of_device(facts, precision) {
            row(
                &format!("{} roofs", precision.name()),
                format!(
                    "FMA {}, add+mul {}, ridge points {:.1} and {:.1} FLOP/byte",
                    roofs.ceiling(Limit::Fma),
                    roofs.ceiling(Limit::AddMul),
                    roofs.ridge_point(Limit::Fma).0,
                    roofs.ridge_point(Limit::AddMul).0,
                ),
            );
        }
    }
}

fn print_limits(limits: &Limits) {
    row(
        "a block",
        format!(
            "{} threads, {} KiB shared memory",
            limits.threads_per_block,
            limits.shared_per_block >> 10
        ),
    );
    row(
        "a multiprocessor",
        format!(
            "{} threads, {} blocks, {} registers, {} KiB shared memory",
            limits.threads_per_multiprocessor,
            limits.blocks_per_multiprocessor,
            limits.registers_per_multiprocessor,
            limits.shared_per_multiprocessor >> 10
        ),
    );
}

fn row(name: &str, value: String) {
    say(&format!("  {name:<20} {value}"));
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
