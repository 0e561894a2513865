//! `ridgepoint device`

use clap::Args;
use serde::Serialize;

use super::{Failure, row_format};
use crate::driver::{Device, DeviceProperties, GpuProperties, Limits, gpus};
use crate::kernels::embedded_ptx;
use crate::model::{Board, Precision, Roofs};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    printed: row_format::Arguments,
}

/// A device, for programs. What the emulator has none of is empty.
#[derive(Serialize)]
struct Row {
    /// As `--device` takes it.
    device: String,
    name: String,
    compute_capability: String,
    cuda_version: Option<String>,
    multiprocessors: u32,
    clock_mhz: Option<f64>,
    memory_bytes: u64,
    memory_bus_bits: Option<u32>,
    memory_clock_mhz: Option<f64>,
    l2_bytes: Option<u64>,
    threads_per_block: u32,
    shared_bytes_per_block: u32,
    threads_per_multiprocessor: u32,
    blocks_per_multiprocessor: u32,
    registers_per_multiprocessor: u32,
    shared_bytes_per_multiprocessor: u32,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let printed = &arguments.printed;
    printed.refuse_silence()?;
    let console = printed.console(0);
    let mut all = Vec::new();
    match gpus() {
        Ok(found) => all.extend(found),
        Err(error) => console.say(&format!("No GPU: {error}\n")),
    }
    let emulator = Device::emulator(Default::default());
    all.push(emulator.properties().clone());
    let rows: Vec<Row> = all.iter().map(Row::of).collect();
    printed.show(&rows, &console, |_| {
        all.iter().map(described).collect::<Vec<_>>().join("\n")
    })?;
    let architectures = embedded_ptx().iter();
    let architectures: Vec<String> = architectures
        .map(|(arch, ..)| format!("sm_{arch}"))
        .collect();
    console.say(&format!("Embedded PTX: {}", architectures.join(", ")));
    Ok(())
}

impl Row {
    fn of(facts: &DeviceProperties) -> Row {
        let gpu = facts.gpu.as_ref();
        let (major, minor) = facts.compute_capability;
        let limits = &facts.limits;
        Row {
            device: gpu.map_or_else(|| "cpu".to_owned(), |it| format!("cuda:{}", it.ordinal)),
            name: facts.name.clone(),
            compute_capability: format!("{major}.{minor}"),
            cuda_version: gpu.map(|it| format!("{}.{}", it.cuda_version.0, it.cuda_version.1)),
            multiprocessors: facts.multiprocessors,
            clock_mhz: gpu.map(|it| it.clock_hz / 1e6),
            memory_bytes: facts.memory_bytes,
            memory_bus_bits: gpu.map(|it| it.memory_bus_bits),
            memory_clock_mhz: gpu.map(|it| it.memory_clock_hz / 1e6),
            l2_bytes: gpu.map(|it| it.l2_bytes),
            threads_per_block: limits.threads_per_block,
            shared_bytes_per_block: limits.shared_per_block,
            threads_per_multiprocessor: limits.threads_per_multiprocessor,
            blocks_per_multiprocessor: limits.blocks_per_multiprocessor,
            registers_per_multiprocessor: limits.registers_per_multiprocessor,
            shared_bytes_per_multiprocessor: limits.shared_per_multiprocessor,
        }
    }
}

/// A heading, and a line for each fact.
fn described(facts: &DeviceProperties) -> String {
    let (heading, mut rows) = match &facts.gpu {
        Some(gpu) => (
            format!("cuda:{}: {}", gpu.ordinal, facts.name),
            of_gpu(facts, gpu),
        ),
        None => {
            let (major, minor) = facts.compute_capability;
            let limits = format!("those of sm_{major}{minor}, enforced as on a GPU");
            let rows = vec![("memory", gib(facts.memory_bytes)), ("limits", limits)];
            let rows = rows
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value));
            (format!("cpu: {}", facts.name), rows.collect())
        }
    };
    rows.extend(of_limits(&facts.limits));
    let rows = rows
        .iter()
        .map(|(name, value)| format!("  {name:<20} {value}\n"));
    format!("{heading}\n{}", rows.collect::<String>())
}

fn of_gpu(facts: &DeviceProperties, gpu: &GpuProperties) -> Vec<(String, String)> {
    let (major, minor) = facts.compute_capability;
    let rows = [
        ("compute capability", format!("{major}.{minor}")),
        (
            "driver",
            format!("CUDA {}.{}", gpu.cuda_version.0, gpu.cuda_version.1),
        ),
        (
            "multiprocessors",
            format!(
                "{} at up to {:.0} MHz",
                facts.multiprocessors,
                gpu.clock_hz / 1e6
            ),
        ),
        (
            "memory",
            format!(
                "{}, {} bits at up to {:.0} MHz",
                gib(facts.memory_bytes),
                gpu.memory_bus_bits,
                gpu.memory_clock_hz / 1e6
            ),
        ),
        ("L2 cache", format!("{} MiB", gpu.l2_bytes >> 20)),
    ];
    let rows = rows.map(|(name, value)| (name.to_owned(), value));
    let sheet = Board::of(&facts.name).map(|board| {
        let peaks = Precision::ALL.into_iter().filter_map(|precision| {
            let peak = board.peak(precision)?;
            Some(format!(", {} {peak}", precision.name()))
        });
        let value = format!(
            "{}: memory {}{}",
            board.product,
            board.memory,
            peaks.collect::<String>()
        );
        ("data sheet".to_owned(), value)
    });
    let roofs = Precision::ALL.into_iter().filter_map(|precision| {
        let roofs = Roofs::of_device(facts, precision)?;
        let kinds = precision.arithmetic();
        let rates = kinds
            .iter()
            .map(|(limit, name)| format!("{name} {}", precision.rate(roofs.ceiling(*limit))));
        let ridges = kinds
            .iter()
            .map(|(limit, _)| format!("{:.1}", roofs.ridge_point(*limit).0));
        let value = format!(
            "{}, {} {} {}/byte",
            rates.collect::<Vec<_>>().join(", "),
            if kinds.len() == 1 {
                "ridge point"
            } else {
                "ridge points"
            },
            ridges.collect::<Vec<_>>().join(" and "),
            precision.operation(),
        );
        Some((format!("{} roofs", precision.name()), value))
    });
    rows.into_iter().chain(sheet).chain(roofs).collect()
}

fn of_limits(limits: &Limits) -> [(String, String); 2] {
    [
        (
            "per block".to_owned(),
            format!(
                "{} threads, {} KiB shared memory",
                limits.threads_per_block,
                limits.shared_per_block >> 10
            ),
        ),
        (
            "per multiprocessor".to_owned(),
            format!(
                "{} threads, {} blocks, {} registers, {} KiB shared memory",
                limits.threads_per_multiprocessor,
                limits.blocks_per_multiprocessor,
                limits.registers_per_multiprocessor,
                limits.shared_per_multiprocessor >> 10
            ),
        ),
    ]
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}
