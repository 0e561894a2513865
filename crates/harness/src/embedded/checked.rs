//! The points at which workloads are checked, and workloads of one size.

use crate::workload::{Axis, Case, Point, PointError, Value, Workload};

/// As many blocks as there is work for.
pub(super) const FULL: u64 = u64::MAX;
/// So few blocks that each has much to do, on a device of any size: of one the grid's stride would not show.
pub(super) const FEW: u64 = 2;

/// A workload with the points at which it is checked: one of its axes has the sizes of a check.
pub(crate) struct Checked {
    pub(crate) workload: &'static dyn Workload,
    /// The axis that has them.
    pub(crate) size: &'static str,
    /// How much an element of a check is on that axis.
    pub(crate) each: u64,
    /// The most elements, where each takes its time.
    pub(crate) most: usize,
    /// Sizes in place of those of a check, where there are any.
    pub(crate) sizes: Vec<u64>,
    /// The other axes.
    pub(crate) values: Vec<(&'static str, Vec<Value>)>,
    pub(crate) blocks: Vec<u32>,
    /// The most blocks of each launch.
    pub(crate) grids: Vec<u64>,
    /// Whether blocks wait for each other where there are several, as only many elements have: then all
    /// sizes run under every seed.
    pub(crate) all_seeded: bool,
}

impl Checked {
    /// In blocks of so many threads: as many as there is work for, and so few that each has much to do.
    pub(super) fn new(workload: &'static dyn Workload, blocks: &[u32]) -> Checked {
        Checked {
            workload,
            size: "n",
            each: 1,
            most: usize::MAX,
            sizes: Vec::new(),
            values: Vec::new(),
            blocks: blocks.to_vec(),
            grids: vec![FULL, FEW],
            all_seeded: false,
        }
    }

    /// Of one launch for each size.
    pub(super) fn one_shape(workload: &'static dyn Workload, block: u32) -> Checked {
        Checked {
            grids: vec![FULL],
            ..Checked::new(workload, &[block])
        }
    }

    /// A kernel of one size, in blocks and grids of its own.
    pub(crate) fn of_size(workload: &'static OfSize) -> Checked {
        Checked {
            size: workload.axis.name(),
            ..Checked::one_shape(workload, 256)
        }
    }

    /// The axis that has the sizes.
    pub(super) fn sized_by(self, size: &'static str) -> Checked {
        Checked { size, ..self }
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

    /// In grids of so many blocks at most, and in no others.
    pub(super) fn in_grid(self, most_blocks: u64) -> Checked {
        Checked {
            grids: vec![most_blocks],
            ..self
        }
    }

    pub(super) fn each(self, each: u64) -> Checked {
        Checked { each, ..self }
    }

    pub(super) fn most(self, most: usize) -> Checked {
        Checked { most, ..self }
    }

    /// At these sizes, whatever those of a check are.
    pub(super) fn of_sizes(self, sizes: impl IntoIterator<Item = u64>) -> Checked {
        Checked {
            sizes: sizes.into_iter().collect(),
            ..self
        }
    }

    pub(super) fn all_seeded(self) -> Checked {
        Checked {
            all_seeded: true,
            ..self
        }
    }
}

type OfPoint = dyn for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync;

/// A kernel whose launch one number says: its elements, or what it has in their place.
pub(crate) struct OfSize {
    name: &'static str,
    axis: Axis,
    case: Box<OfPoint>,
}

impl OfSize {
    /// Kept for as long as the program runs, as the list of workloads is.
    pub(crate) fn new(
        name: &'static str,
        axis: Axis,
        case: impl for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync + 'static,
    ) -> &'static OfSize {
        let case = Box::new(case);
        Box::leak(Box::new(OfSize { name, axis, case }))
    }

    /// Of a kernel over vectors of `n` elements.
    pub(crate) fn elements(
        name: &'static str,
        case: impl for<'d> Fn(&Point<'d>) -> Result<Case<'d>, PointError> + Send + Sync + 'static,
    ) -> &'static OfSize {
        let n = Axis::whole("n", [1 << 24]).on_emulator([1 << 14]);
        OfSize::new(name, n.help("elements"), case)
    }
}

impl Workload for OfSize {
    fn name(&self) -> &str {
        self.name
    }

    fn axes(&self) -> Vec<Axis> {
        vec![self.axis.clone()]
    }

    fn case<'d>(&self, at: &Point<'d>) -> Result<Case<'d>, PointError> {
        (self.case)(at)
    }
}
