//! A measured link.

use serde::{Deserialize, Serialize};

use super::Measured;
use crate::ceilings::Unit;

/// Each quantity with its name in tables and files, its unit, and whether data go both ways at once.
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $unit:ident, $both:literal;)*) => {
        /// A measured quantity of a link.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum LinkQuantity {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl LinkQuantity {
            /// Every quantity, in the order of tables.
            pub const ALL: [LinkQuantity; 9] = [$(LinkQuantity::$name),*];

            /// The name in tables and files.
            pub fn name(self) -> &'static str {
                match self { $(LinkQuantity::$name => $text,)* }
            }

            /// The unit of its values.
            pub fn unit(self) -> Unit {
                match self { $(LinkQuantity::$name => Unit::$unit,)* }
            }

            /// Whether data go both ways at once: then a row is of both directions.
            pub fn is_both_ways(self) -> bool {
                match self { $(LinkQuantity::$name => $both,)* }
            }
        }
    };
}

quantities! {
    /// Copies by the copy engines of either device, the faster of both.
    Copy, "copy", BytesPerSec, false;
    /// The sum of both directions at once, each in a stream of its own.
    CopyBothWays, "copy, both ways", BytesPerSec, true;
    /// A kernel of the device that data go to, which reads them where they are.
    KernelRead, "kernel reads", BytesPerSec, false;
    /// A kernel of the device that data come from, which writes them where they go.
    KernelWrite, "kernel writes", BytesPerSec, false;
    /// Kernels of both devices that read from each other.
    KernelReadBothWays, "kernel reads, both ways", BytesPerSec, true;
    /// Kernels of both devices that write to each other.
    KernelWriteBothWays, "kernel writes, both ways", BytesPerSec, true;
    /// A load of the device that data go to, which waits for the one before.
    LoadLatency, "load latency", Seconds, false;
    /// Atomic additions to one address, by all threads of the device that data come from.
    AddTogether, "atomic adds, one address", OpsPerSec, false;
    /// Atomic additions to an address of each thread's own.
    AddApart, "atomic adds, spread", OpsPerSec, false;
}

/// A measurement of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LinkRow {
    /// The measured quantity.
    pub quantity: LinkQuantity,
    /// Where data came from: `host`, or a device such as `cuda:0`.
    pub from: String,
    /// Where they went.
    pub to: String,
    /// Value reached, in the median. `None` where `note` says why not.
    pub value: Option<f64>,
    /// The unit of the value.
    pub unit: Unit,
    /// Population standard deviation of the timings, percent of their mean.
    pub rms_percent: Option<f64>,
    /// Timings.
    pub samples: usize,
    /// Bytes of a transfer in one direction, of the cycle of loads, or of the counters.
    pub bytes: u64,
    /// The engine or kernel that moved them.
    pub by: String,
    /// By which way: [`LinkRow::PEER`], [`LinkRow::STAGED`] or [`LinkRow::PAGE_LOCKED`].
    pub way: String,
    /// Why there is no value.
    pub note: String,
    /// The name of the device that data came from, or `host`.
    pub from_device: String,
    /// The name of the device that they went to, or `host`.
    pub to_device: String,
    /// Whether a device is emulated: then the figures are this host's, not a GPU's.
    pub emulated: bool,
    /// Whether what came there was compared with what was sent.
    pub checked: bool,
}

impl LinkRow {
    /// One device reaches the other's memory.
    pub const PEER: &'static str = "peer access";
    /// It does not, and the driver copies by way of the host.
    pub const STAGED: &'static str = "staged through the host";
    /// To or from page-locked memory of the host.
    pub const PAGE_LOCKED: &'static str = "page-locked";
}

/// The outcome of a row.
pub(super) struct Outcome {
    pub(super) measured: Option<Measured>,
    pub(super) bytes: u64,
    pub(super) by: String,
    pub(super) way: &'static str,
    pub(super) note: String,
}

impl Outcome {
    pub(super) fn of(measured: Measured, bytes: u64, by: String, way: &'static str) -> Outcome {
        Outcome {
            measured: Some(measured),
            bytes,
            by,
            way,
            note: String::new(),
        }
    }

    /// Nothing was measured, for a reason.
    pub(super) fn none(reason: &str) -> Outcome {
        Outcome {
            measured: None,
            bytes: 0,
            by: String::new(),
            way: "",
            note: reason.to_owned(),
        }
    }

    /// This one, or the other where that is faster.
    pub(super) fn faster_than(self, other: Option<Outcome>) -> Outcome {
        match other {
            Some(other) => other.faster(self),
            None => self,
        }
    }

    /// The faster of two.
    pub(super) fn faster(self, other: Outcome) -> Outcome {
        let value = |it: &Outcome| it.measured.as_ref().map_or(0.0, |it| it.value);
        match value(&other) > value(&self) {
            true => other,
            false => self,
        }
    }
}
