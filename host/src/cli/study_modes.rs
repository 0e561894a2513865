//! Modes of the studies as values of options: names, and what `--help` says of each. The library's types
//! know no command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::study::devices::{Collective, Exchange, Growth};
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
            "Copied to the host, which waits for it and passes it to the scaling kernel",
        ),
        (
            NormMode::Device,
            "device",
            "Kept on the device: two launches",
        ),
        (
            NormMode::Fused,
            "fused",
            "Kept on the device: one cooperative launch",
        ),
        (NormMode::Graph, "graph", "As fused, ten launches per graph"),
    ])
}

/// `--mode` of a pipeline
pub(super) fn pipeline() -> impl TypedValueParser<Value = PipelineMode> {
    one_of(&[
        (
            PipelineMode::Pageable,
            "pageable",
            "One stream, pageable memory",
        ),
        (
            PipelineMode::Sequential,
            "sequential",
            "One stream, page-locked memory",
        ),
        (
            PipelineMode::Streamed,
            "streamed",
            "Page-locked memory, with separate streams for copies in, copies out and the kernels of each slot",
        ),
    ])
}

/// `--mode` of a power iteration
pub(super) fn power() -> impl TypedValueParser<Value = PowerMode> {
    one_of(&[
        (
            PowerMode::Baseline,
            "baseline",
            "Blocking: copy, wait and write before the next step",
        ),
        (
            PowerMode::Async,
            "async",
            "Asynchronous: copy and write while the next steps run",
        ),
        (
            PowerMode::Graph,
            "graph",
            "Asynchronous, with the steps launched as graphs",
        ),
    ])
}

/// `--collective`
pub(super) fn collective() -> impl TypedValueParser<Value = Collective> {
    one_of(&[
        (
            Collective::AllReduce,
            "all-reduce",
            "Sums of all devices' elements, on all devices",
        ),
        (
            Collective::AllGather,
            "all-gather",
            "All devices' parts, on all devices",
        ),
        (
            Collective::ReduceScatter,
            "reduce-scatter",
            "Sums of all devices' elements, a part on each device",
        ),
        (
            Collective::Broadcast,
            "broadcast",
            "The first device's elements, on all devices",
        ),
    ])
}

/// `--exchange`
pub(super) fn exchange() -> impl TypedValueParser<Value = Exchange> {
    one_of(&[
        (
            Exchange::Gather,
            "gather",
            "NCCL's all-gather in the stream; on emulated devices through the host",
        ),
        (
            Exchange::Graph,
            "graph",
            "As gather, with the steps launched as graphs",
        ),
        (
            Exchange::Peer,
            "peer",
            "Stores into the other devices' memory, from inside the kernels",
        ),
    ])
}

/// `--scaling`
pub(super) fn growth() -> impl TypedValueParser<Value = Growth> {
    one_of(&[
        (
            Growth::Strong,
            "strong",
            "Nothing: more devices share the same problem",
        ),
        (
            Growth::Weak,
            "weak",
            "The problem: each device has as much to do as one alone",
        ),
    ])
}

/// `--device-times`
pub(super) fn device_times() -> impl TypedValueParser<Value = DeviceTimes> {
    one_of(&[
        (
            DeviceTimes::Auto,
            "auto",
            "CUPTI if available, otherwise events",
        ),
        (
            DeviceTimes::Cupti,
            "cupti",
            "NVIDIA's CUPTI: each kernel and copy separately, also within graphs",
        ),
        (
            DeviceTimes::Events,
            "events",
            "Events around each launch and copy",
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
