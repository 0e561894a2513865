//! The order of what streams do, as the checks know it.

use std::sync::LazyLock;

use engine::check::{self, Known, Operation, Turn, Turns};

use crate::recorded::Place;
use crate::settings::settings;

/// Takes the knowledge of all devices' memory. Nothing that owns a stream is dropped while it is held: that takes it,
/// too.
pub(crate) fn checking() -> Turn<'static> {
    static TURNS: LazyLock<Turns> = LazyLock::new(Turns::default);
    TURNS.take()
}

/// The same, where launches are checked.
pub(crate) fn if_checked() -> Option<Turn<'static>> {
    settings().is_checked.then(checking)
}

/// Where an operation goes: a stream, and those streams whose work comes first.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) order: check::Stream,
    pub(crate) after: Vec<check::Stream>,
    pub(crate) place: Place,
}

impl Lane {
    /// Lets the stream wait for those that come first.
    pub(crate) fn settle(&self, known: &mut Known) {
        for &other in &self.after {
            let event = known.streams.record(other);
            known.streams.wait(self.order, &event);
        }
    }

    /// An operation that is put into the stream now.
    pub(crate) fn enqueue(&self, known: &mut Known) -> Operation {
        self.settle(known);
        known.streams.enqueue(self.order)
    }

    /// The same of a launch that may begin when the one before it says so.
    pub(crate) fn enqueue_overlapping(&self, known: &mut Known) -> Operation {
        self.settle(known);
        known.streams.enqueue_overlapping(self.order)
    }
}

/// A stream of the checks that ends with its owner.
#[derive(Debug)]
pub(crate) struct Owned(pub(crate) check::Stream);

impl Owned {
    pub(crate) fn new() -> Owned {
        Owned(checking().streams.stream())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        checking().streams.end(self.0);
    }
}
