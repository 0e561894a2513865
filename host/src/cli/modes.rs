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
        Host = "host", "To the host, which waits for it and launches the scaling with it";
        Device = "device", "It stays on the device: two launches";
        Fused = "fused", "One cooperative launch does all";
        Graph = "graph", "As fused, ten at once from a graph";
    }
    PipelineMode {
        Pageable = "pageable",
            "One stream, and memory of the program's own, which the driver copies piece by piece";
        Sequential = "sequential", "One stream, and page-locked memory";
        Streamed = "streamed",
            "Page-locked memory, a stream for copies to the device and one for copies back, and one for \
             the kernels of each place";
    }
    PowerMode {
        Baseline = "baseline", "Copy, wait, write, go on";
        Async = "async", "Copies, their waits and the files go on beside the next steps";
        Graph = "graph", "As async, with the steps in graphs";
    }
    DeviceTimes {
        Auto = "auto", "CUPTI where it is to be had, else events";
        Cupti = "cupti", "NVIDIA's CUPTI: each kernel and copy by itself, within graphs too";
        Events = "events", "An event before each launch and copy, and one after";
    }
}
