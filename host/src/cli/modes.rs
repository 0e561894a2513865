//! Modes of the studies as values of options: names, and what `--help` says of each. The library's types
//! know no command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::study::{NormMode, PipelineMode, PowerMode};
use crate::trace::DeviceTimes;

macro_rules! values {
    ($($type:ident { $($variant:ident = $name:literal, $help:literal;)* })*) => {$(
        impl ValueEnum for $type {
            fn value_variants<'a>() -> &'a [Self] {
                &[$($type::$variant),*]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(match self {
                    $($type::$variant => PossibleValue::new($name).help($help),)*
                })
            }
        }
    )*};
}

values! {
    NormMode {
        Host = "host", "Copied to the host, which waits for it and passes it to the scaling kernel";
        Device = "device", "Kept on the device: two launches";
        Fused = "fused", "Kept on the device: one cooperative launch";
        Graph = "graph", "As fused, ten launches per graph";
    }
    PipelineMode {
        Pageable = "pageable",
            "One stream, pageable memory";
        Sequential = "sequential", "One stream, page-locked memory";
        Streamed = "streamed",
            "Page-locked memory, with separate streams for copies in, copies out and the kernels of each slot";
    }
    PowerMode {
        Baseline = "baseline", "Blocking: copy, wait and write before the next step";
        Async = "async", "Asynchronous: copy and write while the next steps run";
        Graph = "graph", "Asynchronous, with the steps launched as graphs";
    }
    DeviceTimes {
        Auto = "auto", "CUPTI if available, otherwise events";
        Cupti = "cupti", "NVIDIA's CUPTI: each kernel and copy separately, also within graphs";
        Events = "events", "Events around each launch and copy";
    }
}
