//! A launch as a workload describes it: a kernel, its configuration, its arrays, and what it should write.

use std::path::{Path, PathBuf};

use cuda_std::launch::{Entry, SafeKernel, Signature};

use super::held::{Check, Counters, Held, Run, With, WorkOf};
use super::{Case, Point, PointError};
use crate::driver::{Device, DriverError, LaunchConfig, Prepared, Stream};
use crate::model::Work;

/// A launch of a kernel.
pub struct Launch<'d, S: Signature> {
    device: &'d Device,
    entry: Entry<S>,
    config: LaunchConfig,
    blocks: Blocks,
    /// Of so many blocks each, x, y, z.
    clusters: Option<[u32; 3]>,
    /// The file that the kernel is from; `None` of the bench's own kernels.
    file: Option<PathBuf>,
}

/// Whether the blocks of a launch may wait for each other.
#[derive(Clone, Copy, Debug)]
enum Blocks {
    Independent,
    Cooperative,
}

impl<'d, S: Signature> Launch<'d, S> {
    /// `device` has the kernel; the arrays are of the point's, which is the same.
    pub(super) fn new(
        at: &Point<'d>,
        device: &'d Device,
        entry: Entry<S>,
        config: LaunchConfig,
    ) -> Launch<'d, S> {
        let shared = config.dynamic_shared.saturating_add(at.more_shared);
        Launch {
            device,
            entry,
            config: config.with_dynamic_shared(shared),
            blocks: Blocks::Independent,
            clusters: None,
            file: None,
        }
    }

    /// The kernel is this file's.
    pub(super) fn of_file(self, file: &Path) -> Self {
        Launch {
            file: Some(file.to_owned()),
            ..self
        }
    }

    /// Or why the device does not allow it.
    fn prepare(&self) -> Result<Prepared<'d, S>, DriverError> {
        let prepared = match self.blocks {
            Blocks::Independent => self.device.prepare(self.entry, self.config),
            Blocks::Cooperative => self.device.prepare_cooperative(self.entry, self.config),
        }?;
        match self.clusters {
            Some(blocks) => prepared.with_cluster(blocks),
            None => Ok(prepared),
        }
    }

    /// How to allocate and fill what the kernel works on. It is done when the point is measured.
    pub fn arrays<D>(
        self,
        allocate: impl Fn(&'d Device) -> Result<D, DriverError> + 'd,
    ) -> Arrays<'d, S, D> {
        Arrays {
            launch: self,
            allocate: Box::new(allocate),
            check: None,
            counters: None,
            work: None,
        }
    }

    /// The same with blocks that wait for each other, of which the device holds as many at once:
    /// [`Device::blocks_at_once`] says how many, or [`Point::one_wave`] takes no more.
    ///
    /// ```
    /// use cuda_std::cooperative::sync_grid;
    /// use cuda_std::prelude::*;
    /// use ridgepoint_harness::prelude::*;
    ///
    /// /// # Safety
    /// /// The launch is cooperative, and `arrivals` is as the launch before left it, or 0.
    /// #[kernel]
    /// pub unsafe fn meet(arrivals: *mut u32) {
    ///     // SAFETY: as above.
    ///     unsafe { sync_grid(arrivals) };
    /// }
    ///
    /// fn meeting() -> impl Workload {
    ///     from_fn("meet", [Axis::whole("blocks", [8])], |at| {
    ///         let config = LaunchConfig::blocks(at.whole("blocks"), at.block());
    ///         let launch = at.launch(meet::entry(), config).cooperative();
    ///         let arrays = launch.arrays(|device| device.buffer_zeroed::<u32>(1));
    ///         // SAFETY: a cooperative launch, and a count that begins with 0.
    ///         Ok(unsafe { arrays.arguments_unchecked(|arrivals| (arrivals.slice_mut(..),)) })
    ///     })
    /// }
    /// # use ridgepoint_harness::driver::{Emulation, Stream};
    /// # use ridgepoint_harness::workload::{Bench, Launches};
    /// # let bench = Bench::emulator(Emulation::default(), &[])?;
    /// # let stream = Stream::new(bench.device())?;
    /// # Launches::new(&bench, &meeting(), &[])?.each(&stream, |launch| launch())?;
    /// # let too_many = [("blocks", 100_000u64.into())];
    /// # let error = Launches::new(&bench, &meeting(), &too_many)
    /// #     .and_then(|mut launches| launches.each(&stream, |launch| launch()))
    /// #     .expect_err("not at once");
    /// # assert!(error.to_string().contains("cooperative grid of 100000 blocks"), "{error}");
    /// # Ok::<(), PointError>(())
    /// ```
    #[must_use]
    pub fn cooperative(self) -> Self {
        Launch {
            blocks: Blocks::Cooperative,
            ..self
        }
    }

    /// The same in clusters of so many blocks, x, y, z, as [`Prepared::with_cluster`] makes them: a device without
    /// clusters does not allow it, which the sweep says before it begins.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_harness::prelude::*;
    ///
    /// #[kernel]
    /// pub fn ones(mut y: Output<u32>) {
    ///     for (_, y) in y.own() {
    ///         *y = 1;
    ///     }
    /// }
    ///
    /// /// The cost of launching blocks in clusters.
    /// fn clustered() -> impl Workload {
    ///     from_fn("clustered", [Axis::powers_of_two("cluster", 0..=3)], |at| {
    ///         let cluster = at.whole("cluster") as u32;
    ///         let n = 16 * at.block() as usize;
    ///         Ok(at
    ///             .launch(ones::entry(), LaunchConfig::blocks(16, at.block()))
    ///             .cluster([cluster, 1, 1])
    ///             .arrays(move |device| device.buffer_uninitialized::<u32>(n))
    ///             .check(|y| close(y, 0.0, |_| 1.0))
    ///             .arguments(|y| (y.slice_mut(..),))
    ///             .writes::<u32>(n))
    ///     })
    /// }
    /// # use ridgepoint_harness::driver::{Emulation, Stream};
    /// # use ridgepoint_harness::workload::{Bench, Launches};
    /// # let bench = Bench::emulator(Emulation::default(), &[])?;
    /// # let stream = Stream::new(bench.device())?;
    /// # Launches::new(&bench, &clustered(), &[])?.each(&stream, |launch| launch())?;
    /// # let error = Launches::new(&bench, &clustered(), &[("cluster", 32u64.into())])
    /// #     .and_then(|mut launches| launches.each(&stream, |launch| launch()))
    /// #     .expect_err("more than a cluster has");
    /// # assert!(error.to_string().contains("clusters of 32 blocks; 1 to 8 are allowed"), "{error}");
    /// # Ok::<(), PointError>(())
    /// ```
    #[must_use]
    pub fn cluster(self, blocks: [u32; 3]) -> Self {
        Launch {
            clusters: Some(blocks),
            ..self
        }
    }
}

/// A launch and the arrays `D` that it works on.
pub struct Arrays<'d, S: Signature, D> {
    launch: Launch<'d, S>,
    allocate: Box<dyn Fn(&'d Device) -> Result<D, DriverError> + 'd>,
    check: Option<Box<Check<'d, D>>>,
    counters: Option<Box<Counters<'d, D>>>,
    work: Option<Box<WorkOf<'d, D>>>,
}

impl<'d, S: Signature, D: 'd> Arrays<'d, S, D> {
    /// Compares what the kernel wrote with a reference; [`close`](super::close) does for arrays. Any number of
    /// launches with the same arrays have run by then. Without it rows say that they are not checked.
    #[must_use]
    pub fn check(self, check: impl Fn(&D) -> Result<(), PointError> + 'd) -> Self {
        Arrays {
            check: Some(Box::new(check)),
            ..self
        }
    }

    /// Sets what the launch moves and computes where that depends on the arrays: it is added to what [`Case::reads`],
    /// [`Case::writes`] and [`Case::operations`] say. The arrays are made once for it, before the point is measured.
    ///
    /// ```
    /// use cuda_std::prelude::*;
    /// use ridgepoint_harness::model::{Operation, Precision, Work};
    /// use ridgepoint_harness::prelude::*;
    ///
    /// /// Adds up as many numbers as each element says.
    /// #[kernel]
    /// pub fn steps(lengths: &[u32], mut y: Output<f32>) {
    ///     for (length, y) in y.own_with(lengths) {
    ///         *y = (0..*length).fold(0.0, |sum, step| sum + step as f32);
    ///     }
    /// }
    ///
    /// fn stepping() -> impl Workload {
    ///     from_fn("steps", [Axis::whole("n", [1 << 20]).on_emulator([100])], |at| {
    ///         let n = at.size("n");
    ///         let launch = at.launch(steps::entry(), at.linear(n));
    ///         let arrays = launch.arrays(move |device| {
    ///             let lengths: Vec<u32> = (0..n).map(|i| (i % 9) as u32).collect();
    ///             Ok((device.buffer_from(&lengths)?, device.buffer_uninitialized::<f32>(n)?))
    ///         });
    ///         Ok(arrays
    ///             .work(|(lengths, _)| {
    ///                 let additions: u32 = lengths.to_vec()?.iter().sum();
    ///                 let work = Work::default();
    ///                 Ok(work.operations(Precision::F32, Operation::Add, additions.into()))
    ///             })
    ///             .arguments(|(lengths, y)| (lengths.slice(..), y.slice_mut(..)))
    ///             .reads::<u32>(n)
    ///             .writes::<f32>(n))
    ///     })
    /// }
    /// # use ridgepoint_harness::driver::Emulation;
    /// # use ridgepoint_harness::sweep::{Plan, Selection, Settings, Sweep};
    /// # use ridgepoint_harness::workload::Bench;
    /// # let workload = stepping();
    /// # let bench = Bench::emulator(Emulation::default(), &[])?;
    /// # let plan = Plan { selected: vec![Selection::defaults(&workload, true)], ..Plan::default() };
    /// # let mut sweep = Sweep::new(&bench, &plan, Settings::quick())?;
    /// # let record = sweep.measure(0, None)?;
    /// # assert_eq!(record.ai, Some(0.495));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn work(self, work: impl Fn(&D) -> Result<Work, DriverError> + 'd) -> Self {
        Arrays {
            work: Some(Box::new(work)),
            ..self
        }
    }

    /// Where the kernel says how many cycles and nanoseconds its last launch took, and what else it has counted.
    pub(crate) fn counters<C: Into<Vec<u64>>>(
        self,
        counters: impl Fn(&D) -> Result<C, PointError> + 'd,
    ) -> Self {
        Arrays {
            counters: Some(Box::new(move |arrays| Ok(counters(arrays)?.into()))),
            ..self
        }
    }

    /// The arguments of the launch, from the arrays: of a safe kernel.
    ///
    /// # Panics
    /// The entry is another kernel's under this one's signature.
    pub fn arguments(
        self,
        arguments: impl for<'a> Fn(&'a mut D) -> S::Arguments<'a> + 'd,
    ) -> Case<'d>
    where
        S: SafeKernel,
    {
        assert!(
            self.launch.entry.is_own(),
            "{} is launched under another kernel's signature",
            self.launch.entry.name()
        );
        // SAFETY: a safe kernel has no contract.
        unsafe { self.arguments_unchecked(arguments) }
    }

    /// The arguments of the launch, from the arrays: of any kernel.
    ///
    /// # Safety
    /// They keep the kernel's contract, however often it is launched with the same.
    pub unsafe fn arguments_unchecked(
        self,
        arguments: impl for<'a> Fn(&'a mut D) -> S::Arguments<'a> + 'd,
    ) -> Case<'d> {
        self.launched(move |prepared, arrays, with| {
            let arguments = arguments(arrays);
            // SAFETY: the caller's contract; the arguments are borrowed until `with` has waited.
            with(&mut |stream: &Stream<'_>| unsafe { prepared.launch(stream, &arguments) })
        })
    }

    /// Whatever a sample consists of, put into the stream: several launches, say. The rows have the name
    /// and the configuration of this launch.
    ///
    /// # Safety
    /// The work that is put there keeps its contracts, however often it is, for as long as the arrays live.
    pub unsafe fn enqueue(
        self,
        enqueue: impl Fn(&mut D, &Prepared<'d, S>, &Stream<'_>) -> Result<(), DriverError> + 'd,
    ) -> Case<'d> {
        self.launched(move |prepared, arrays, with| {
            with(&mut |stream: &Stream<'_>| enqueue(arrays, prepared, stream))
        })
    }

    /// `launch` gives what it is called with the launches of a sample; these may be under way until that has
    /// returned.
    fn launched(
        self,
        launch: impl Fn(&Prepared<'d, S>, &mut D, &mut With<'_>) -> Result<(), DriverError> + 'd,
    ) -> Case<'d> {
        let prepared = self.launch.prepare();
        let Launch {
            device,
            entry,
            config,
            clusters,
            file,
            ..
        } = self.launch;
        let (allocate, check, counters) = (self.allocate, self.check, self.counters);
        let work = self.work;
        let run = prepared.map(|prepared| -> Box<dyn Run + 'd> {
            Box::new(Held {
                device,
                allocate,
                check,
                counters,
                work,
                launch: Box::new(move |arrays: &mut D, with: &mut With<'_>| {
                    launch(&prepared, arrays, with)
                }),
                arrays: None,
            })
        });
        Case {
            run,
            kernel: entry.name(),
            config,
            work: Work::default(),
            overhead: Work::default(),
            memory: None,
            loads: None,
            chains: None,
            device,
            has_clusters: clusters.is_some_and(|it| it != [1; 3]),
            file,
        }
    }
}
