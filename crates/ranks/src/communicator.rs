//! Collectives of a rank's device with those of all others.

mod calls;
mod engine;
mod opening;

use std::ops::RangeBounds;

use cuda_std::launch::Home;
use ridgepoint_driver::{DeviceBuffer, DriverError, Graph, Stream};

use crate::control::Control;
use crate::element::{Element, Reduction};
use crate::error::RankError;
use crate::part::{Part, PartMut};
use crate::rank::Rank;
pub(crate) use calls::Operation;
pub(crate) use engine::Arguments;
use engine::Engine;

/// Collectives of a rank's device with those of all others: by NCCL on GPUs, and through the host on emulated
/// devices. All ranks call the same collectives in the same order, each with a stream of its device.
///
/// On a GPU a collective is work of the stream, as a launch is: it does not wait, and a graph can have it
/// ([`Communicator::capture`]). On an emulated device it is done when the call returns, or the replay does.
///
/// ```
/// use ranks::{Communicator, Limits, PartMut, RankError, Reduction, run_threads};
/// use ridgepoint_driver::{Device, DeviceChoice, Stream};
///
/// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
/// let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
/// let results = run_threads(&devices, Limits::default(), |rank| {
///     // As `rank.communicator()`.
///     let communicator = Communicator::new(&rank)?;
///     assert_eq!((communicator.size(), communicator.engine().as_str()), (2, "the host"));
///     communicator.control().barrier()?;
///     let stream = Stream::new(rank.device())?;
///     let own = rank.rank() as i32;
///     let x = rank.device().buffer_from(&[own, own + 10, own + 20, own + 30])?;
///     let mut sums = rank.device().buffer_zeroed(4)?;
///     let mut half = rank.device().buffer_zeroed(2)?;
///     // SAFETY: the buffers live until the stream has been synchronised, and are not used before.
///     unsafe {
///         communicator.all_reduce(&stream, Reduction::Sum, &x, &mut sums)?;
///         communicator.reduce_scatter(&stream, Reduction::Max, &x, &mut half)?;
///         communicator.broadcast(&stream, 1, PartMut::of(&mut sums, 3..))?;
///     }
///     communicator.synchronize(&stream)?;
///     Ok::<_, RankError>((sums.to_vec()?, half.to_vec()?))
/// })?;
/// assert_eq!(results[0], (vec![1, 21, 41, 61], vec![1, 11]));
/// assert_eq!(results[1], (vec![1, 21, 41, 61], vec![21, 31]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Communicator<'d> {
    rank: Rank<'d>,
    engine: Engine,
    /// The owner of the device's buffers.
    home: Option<&'static Home>,
}

impl<'d> Communicator<'d> {
    /// Collectives of this rank's device. All ranks make theirs at the same time, and wait for each other.
    ///
    /// # Errors
    /// [`RankError::Lost`], [`RankError::Late`]; [`RankError::MixedDevices`]: some ranks have GPUs and others not. On
    /// GPUs also [`RankError::Nccl`]: a rank has no NCCL, or NCCL refuses.
    pub fn new(rank: &Rank<'d>) -> Result<Communicator<'d>, RankError> {
        let engine = opening::open(rank)?;
        Ok(Communicator {
            rank: Rank::new(rank.device(), rank.control().clone()),
            engine,
            home: rank.device().buffer_zeroed::<u8>(1)?.slice(..).home(),
        })
    }

    /// This rank, counted from 0.
    pub fn rank(&self) -> usize {
        self.rank.rank()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.rank.size()
    }

    /// The connection to the other ranks.
    pub fn control(&self) -> &Control {
        self.rank.control()
    }

    /// Returns the name of the engine: "NCCL 2.27.3", or "the host".
    pub fn engine(&self) -> String {
        self.engine.name()
    }

    /// Reduces the elements of all ranks, each with those in the same place: every rank has the results in `to`.
    ///
    /// # Safety
    /// The stream is of the communicator's device. Until it has been synchronised (in a graph: until the last
    /// replay has been) the buffers stay alive, nothing else writes what is read, and nothing else reads or writes
    /// what is written.
    ///
    /// # Errors
    /// [`RankError::Length`]: the parts differ in length. [`RankError::Lost`], [`RankError::Nccl`],
    /// [`RankError::Driver`]; on emulated devices also [`RankError::Mismatch`]: another rank called something else.
    pub unsafe fn all_reduce<'a, T: Element>(
        &self,
        stream: &Stream<'_>,
        reduction: Reduction,
        from: impl Into<Part<'a, T>>,
        to: impl Into<PartMut<'a, T>>,
    ) -> Result<(), RankError> {
        let (from, to) = (from.into(), to.into());
        let operation = Operation::AllReduce(reduction);
        // SAFETY: the caller's contract.
        unsafe { self.between(stream, operation, &from, to) }
    }

    /// As [`Communicator::all_reduce`], of one part that is read and written.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub unsafe fn all_reduce_in_place<T: Element>(
        &self,
        stream: &Stream<'_>,
        reduction: Reduction,
        buffer: &mut DeviceBuffer<T>,
        range: impl RangeBounds<usize>,
    ) -> Result<(), RankError> {
        let whole = PartMut::of(buffer, range);
        // SAFETY: the caller's contract.
        unsafe { self.within(stream, Operation::AllReduce(reduction), whole) }
    }

    /// Gathers the elements of all ranks, in the order of the ranks: every rank has all of them in `to`, which is as
    /// many times as long as there are ranks.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub unsafe fn all_gather<'a, T: Element>(
        &self,
        stream: &Stream<'_>,
        from: impl Into<Part<'a, T>>,
        to: impl Into<PartMut<'a, T>>,
    ) -> Result<(), RankError> {
        let (from, to) = (from.into(), to.into());
        // SAFETY: the caller's contract.
        unsafe { self.between(stream, Operation::AllGather, &from, to) }
    }

    /// As [`Communicator::all_gather`], where each rank's elements are in their place already: those of rank `r` of
    /// `n` are the part `r` of `n` equal ones.
    ///
    /// ```
    /// # use ranks::{Limits, RankError, run_threads};
    /// # use ridgepoint_driver::{Device, DeviceChoice, Stream};
    /// # let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
    /// # let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
    /// let all = run_threads(&devices, Limits::default(), |rank| {
    ///     let communicator = rank.communicator()?;
    ///     let stream = Stream::new(rank.device())?;
    ///     let mut x = rank.device().buffer_zeroed(4)?;
    ///     x.write(2 * rank.rank(), &[1 + rank.rank() as u64; 2])?;
    ///     // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
    ///     unsafe { communicator.all_gather_in_place(&stream, &mut x, ..) }?;
    ///     communicator.synchronize(&stream)?;
    ///     Ok::<_, RankError>(x.to_vec()?)
    /// })?;
    /// assert_eq!(all, [[1, 1, 2, 2], [1, 1, 2, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`]; [`RankError::Length`] where the ranks cannot have equal parts.
    pub unsafe fn all_gather_in_place<T: Element>(
        &self,
        stream: &Stream<'_>,
        buffer: &mut DeviceBuffer<T>,
        range: impl RangeBounds<usize>,
    ) -> Result<(), RankError> {
        let whole = PartMut::of(buffer, range);
        // SAFETY: the caller's contract.
        unsafe { self.within(stream, Operation::AllGather, whole) }
    }

    /// Reduces the elements of all ranks, each with those in the same place: rank `r` of `n` has part `r` of `n`
    /// equal parts of the results in `to`.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`].
    pub unsafe fn reduce_scatter<'a, T: Element>(
        &self,
        stream: &Stream<'_>,
        reduction: Reduction,
        from: impl Into<Part<'a, T>>,
        to: impl Into<PartMut<'a, T>>,
    ) -> Result<(), RankError> {
        let (from, to) = (from.into(), to.into());
        let operation = Operation::ReduceScatter(reduction);
        // SAFETY: the caller's contract.
        unsafe { self.between(stream, operation, &from, to) }
    }

    /// As [`Communicator::reduce_scatter`], where the results of this rank replace its own elements in their place.
    /// The contents of the other places are then not defined.
    ///
    /// ```
    /// # use ranks::{Limits, RankError, Reduction, run_threads};
    /// # use ridgepoint_driver::{Device, DeviceChoice, Stream};
    /// # let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
    /// # let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
    /// let halves = run_threads(&devices, Limits::default(), |rank| {
    ///     let communicator = rank.communicator()?;
    ///     let stream = Stream::new(rank.device())?;
    ///     let mut x = rank.device().buffer_from(&[1.0f32, 2.0, 3.0, 4.0])?;
    ///     // SAFETY: the buffer lives until the stream has been synchronised, and is not used before.
    ///     unsafe {
    ///         communicator.reduce_scatter_in_place(&stream, Reduction::Sum, &mut x, ..)?;
    ///     }
    ///     communicator.synchronize(&stream)?;
    ///     let own = 2 * rank.rank();
    ///     Ok::<_, RankError>(x.to_vec()?[own..own + 2].to_vec())
    /// })?;
    /// assert_eq!(halves, [[2.0, 4.0], [6.0, 8.0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`]; [`RankError::Length`] where the ranks cannot have equal parts.
    pub unsafe fn reduce_scatter_in_place<T: Element>(
        &self,
        stream: &Stream<'_>,
        reduction: Reduction,
        buffer: &mut DeviceBuffer<T>,
        range: impl RangeBounds<usize>,
    ) -> Result<(), RankError> {
        let whole = PartMut::of(buffer, range);
        // SAFETY: the caller's contract.
        unsafe { self.within(stream, Operation::ReduceScatter(reduction), whole) }
    }

    /// Copies the elements of rank `root` to all others.
    ///
    /// # Safety
    /// As for [`Communicator::all_reduce`].
    ///
    /// # Errors
    /// As [`Communicator::all_reduce`]; [`RankError::NoSuchRank`].
    pub unsafe fn broadcast<'a, T: Element>(
        &self,
        stream: &Stream<'_>,
        root: usize,
        part: impl Into<PartMut<'a, T>>,
    ) -> Result<(), RankError> {
        let part = part.into();
        // SAFETY: the caller's contract.
        unsafe { self.within(stream, Operation::Broadcast(root), part) }
    }

    /// Waits for all work of the stream, and no longer than until a rank is lost.
    ///
    /// A kernel that waits for another rank's GPU ends only with that; so does a collective, but where the ranks'
    /// connection says that one was lost, NCCL is told to give up.
    ///
    /// # Errors
    /// [`RankError::Lost`], [`RankError::Late`]; [`RankError::Nccl`]; [`RankError::Driver`], as
    /// [`Stream::synchronize`].
    pub fn synchronize(&self, stream: &Stream<'_>) -> Result<(), RankError> {
        self.engine.synchronize(stream)
    }

    /// As [`Stream::capture`], of work that has collectives: a graph of them and of launches. All ranks replay theirs
    /// together. [`Graph::launches`] counts the launches alone.
    ///
    /// NCCL connects the ranks when a collective of a kind and a size is first called, which takes long and cannot be captured: between GPUs
    /// call each once, and wait for it, before it is captured.
    ///
    /// ```
    /// # use ranks::{Limits, RankError, Reduction, run_threads};
    /// # use ridgepoint_driver::{Device, DeviceChoice, Stream};
    /// # let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
    /// # let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
    /// let sums = run_threads(&devices, Limits::default(), |rank| {
    ///     let communicator = rank.communicator()?;
    ///     let stream = Stream::new(rank.device())?;
    ///     let mut x = rank.device().buffer_filled(2, 1.0f32)?;
    ///     // SAFETY: the buffer lives until the last replay has been synchronised, and is not used before.
    ///     let graph = communicator.capture(&stream, || unsafe {
    ///         communicator.all_reduce_in_place(&stream, Reduction::Sum, &mut x, ..)
    ///     })?;
    ///     for _ in 0..3 {
    ///         // SAFETY: as above.
    ///         unsafe { graph.launch(&stream) }?;
    ///     }
    ///     communicator.synchronize(&stream)?;
    ///     Ok::<_, RankError>(x.to_vec()?)
    /// })?;
    /// assert_eq!(sums, [[8.0; 2]; 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `work`; or as [`Stream::capture`].
    pub fn capture<'s>(
        &self,
        stream: &Stream<'s>,
        work: impl FnOnce() -> Result<(), RankError>,
    ) -> Result<Graph<'s>, RankError> {
        let mut failed = None;
        let graph = stream.capture(|| {
            work().map_err(|error| {
                failed = Some(error);
                DriverError::Capturing("collective that failed")
            })
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(graph?),
        }
    }
}
