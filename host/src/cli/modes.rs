//! Modes of the studies as values of options: names, and what `--help` says of each. The library's types
//! know no command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::study::{NormMode, PipelineMode, PowerMode};
use crate::trace::DeviceTimes;

/// A mode, its name, and what `--help` says of it.
type Named<T> = (T, &'static str, &'static str);

/// `--mode` of a norm
pub(super) fn norm() -> impl TypedValueParser<Value = NormMode> {
    one_of(&[
        (
            NormMode::Host,
            "host",
            "To the host, which waits for it and launches the scaling with it",
        ),
        (
            NormMode::Device,
            "device",
            "It stays on the device: two launches",
        ),
        (NormMode::Fused, "fused", "One cooperative launch does all"),
        (
            NormMode::Graph,
            "graph",
            "As fused, ten at once from a graph",
        ),
    ])
}

/// `--mode` of a pipeline
pub(super) fn pipeline() -> impl TypedValueParser<Value = PipelineMode> {
    one_of(&[
        (
            PipelineMode::Pageable,
            "pageable",
            "One stream, and memory of the program's own, which the driver copies piece by piece",
        ),
        (
            PipelineMode::Sequential,
            "sequential",
            "One stream, and page-locked memory",
        ),
        (
            PipelineMode::Streamed,
            "streamed",
            "Page-locked memory, a stream for copies to the device and one for copies back, and one for \
             the kernels of each place",
        ),
    ])
}

/// `--mode` of a power iteration
pub(super) fn power() -> impl TypedValueParser<Value = PowerMode> {
    one_of(&[
        (PowerMode::Baseline, "baseline", "Copy, wait, write, go on"),
        (
            PowerMode::Async,
            "async",
            "Copies, their waits and the files go on beside the next steps",
        ),
        (
            PowerMode::Graph,
            "graph",
            "As async, with the steps in graphs",
        ),
    ])
}

/// `--device-times`
pub(super) fn device_times() -> impl TypedValueParser<Value = DeviceTimes> {
    one_of(&[
        (
            DeviceTimes::Auto,
            "auto",
            "CUPTI where it is to be had, else events",
        ),
        (
            DeviceTimes::Cupti,
            "cupti",
            "NVIDIA's CUPTI: each kernel and copy by itself, within graphs too",
        ),
        (
            DeviceTimes::Events,
            "events",
            "An event before each launch and copy, and one after",
        ),
    ])
}

fn one_of<T: Copy + Send + Sync + 'static>(
    modes: &'static [Named<T>],
) -> impl TypedValueParser<Value = T> {
    let values = modes
        .iter()
        .map(|&(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).map(move |text| {
        let found = modes.iter().find(|(_, name, _)| *name == text);
        found.expect("the parser takes these names alone").0
    })
}
