//! The points at which workloads are checked.

use crate::workload::{Axis, Case, GridSize, Point, PointError, Value, Workload};

/// A workload with the points at which it is checked: its axis `n` has the sizes of a check.
pub(crate) struct Checked {
    pub(crate) workload: Box<dyn Workload + Send>,
    /// How much an element of a check is on the axis `n`.
    pub(crate) each: u64,
    /// The most elements, where each takes its time.
    pub(crate) most: usize,
    /// The other axes.
    pub(crate) values: Vec<(&'static str, Vec<Value>)>,
    pub(crate) blocks: Vec<u32>,
    pub(crate) grids: Vec<GridSize>,
    /// Whether blocks wait for each other where there are several, as only many elements have: then all
    /// sizes run under every seed.
    pub(crate) all_seeded: bool,
}

impl Checked {
    /// In blocks of so many threads: as many as there is work for, and so few that each has much to do.
    pub(super) fn new(workload: impl Workload + Send + 'static, blocks: &[u32]) -> Checked {
        Checked {
            workload: Box::new(workload),
            each: 1,
            most: usize::MAX,
            values: Vec::new(),
            blocks: blocks.to_vec(),
            grids: vec![GridSize::Full, GridSize::PerMultiprocessor(1)],
            all_seeded: false,
        }
    }

    /// A kernel of no other axis than `n`, in blocks and grids of its own.
    pub(crate) fn of_size(
        name: &'static str,
        case: impl for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync + 'static,
    ) -> Checked {
        let case = Box::new(case);
        Checked {
            grids: vec![GridSize::Full],
            ..Checked::new(OfSize { name, case }, &[256])
        }
    }

    /// These values of another axis.
    pub(super) fn at<V: Into<Value>>(
        mut self,
        axis: &'static str,
        values: impl IntoIterator<Item = V>,
    ) -> Checked {
        let values = values.into_iter().map(Into::into).collect();
        self.values.push((axis, values));
        self
    }

    pub(super) fn each(self, each: u64) -> Checked {
        Checked { each, ..self }
    }

    pub(super) fn most(self, most: usize) -> Checked {
        Checked { most, ..self }
    }

    pub(super) fn all_seeded(self) -> Checked {
        Checked {
            all_seeded: true,
            ..self
        }
    }
}

type OfPoint = dyn for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync;

/// A kernel over `n` elements, or what it has in their place.
struct OfSize {
    name: &'static str,
    case: Box<OfPoint>,
}

impl Workload for OfSize {
    fn name(&self) -> &str {
        self.name
    }

    fn axes(&self) -> Vec<Axis> {
        vec![Axis::whole("n", [1 << 16])]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        (self.case)(at)
    }
}
