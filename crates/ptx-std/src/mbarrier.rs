//! Barriers in shared memory (`mbarrier`), which threads wait at for other threads and for copies. They
//! need `sm_90`.
//!
//! A barrier goes through phases. A phase ends when as many threads have arrived as [`Barrier::init`] said and
//! all bytes that [`Barrier::arrive_expect`] announced have come. Whoever waits names the phase by its
//! [`Parity`]: a wait for the wrong one returns at once, or never. [`Ring`] counts stages and phases itself.
//!
//! A ring of stages is a pair of barriers for each stage of shared memory: `full` says that the copy has come,
//! `empty` that all who read it are done. Of a [`Ring`] the stages are had from waits alone:
//!
//! ```
//! use cuda_std::mbarrier::Ring;
//! use cuda_std::prelude::*;
//! use cuda_std::shared::SharedPtr;
//! use cuda_std::tma;
//!
//! const STAGES: u32 = 4;
//! const ROW_BYTES: u32 = 128 * 4;
//!
//! /// The sums of 128 columns. Four warps add rows up, a thread of the fifth one brings them.
//! ///
//! /// # Safety
//! /// A block of 160 threads; `x` is rows of 128 elements, aligned to 16 bytes; `y` has room for 128 elements.
//! #[kernel]
//! pub unsafe fn column_sums(x: &[f32], y: *mut f32) {
//!     let (barriers, rows) = (shared_array![u64; 8], shared_array![[f32; 128]; 4]);
//!     const { assert!(Ring::<STAGES>::BYTES == 8 * 8) };
//!     let thread = thread::thread_idx_x() as usize;
//!     // SAFETY: one thread makes the barriers, and a barrier of the block follows.
//!     let ring = unsafe { Ring::<STAGES>::new(SharedPtr::new(barriers)) };
//!     if thread == 0 {
//!         ring.init(1, 128); // One thread fills a stage, 128 empty it.
//!     }
//!     thread::sync_threads();
//!     if thread == 128 {
//!         let mut producer = ring.producer();
//!         for row in x.chunks_exact(128) {
//!             let free = producer.acquire(); // Everybody is done with the stage.
//!             let to = SharedPtr::new(rows.wrapping_add(free.stage() as usize)).cast();
//!             let full = free.expect(ROW_BYTES); // The copy completes on this barrier.
//!             // SAFETY: a whole row, for which the stage has room; nobody reads it before it has come.
//!             unsafe { tma::load_bytes(row.as_ptr(), to, ROW_BYTES, full) };
//!         }
//!     } else if thread < 128 {
//!         let mut consumer = ring.consumer();
//!         let mut sum = 0.0;
//!         for _ in x.chunks_exact(128) {
//!             let full = consumer.wait(); // The row has come.
//!             // SAFETY: nobody writes the stage until all 128 threads have released it.
//!             sum += unsafe { (*rows.add(full.stage() as usize))[thread] };
//!             full.release();
//!         }
//!         // SAFETY: this thread's element.
//!         unsafe { *y.add(thread) = sum };
//!     }
//! }
//! # use cuda_std::launch::Kernel;
//! # assert_eq!(column_sums::PARAMETERS.len(), 2);
//! ```

use ptx_std_macros::gpu_only;

use crate::cluster::BlockRank;
use crate::shared::SharedPtr;
use crate::{thread, warpgroup};

/// Which phase of a barrier: of two that follow one another one is even and one is odd. The first is even.
///
/// ```
/// use cuda_std::mbarrier::Parity;
///
/// let mut phase = Parity::EVEN;
/// phase = phase.flipped(); // After each wait.
/// assert_eq!(phase, Parity::ODD);
/// assert_eq!(phase.flipped(), Parity::EVEN);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parity(u32);

impl Parity {
    /// That of the first phase.
    pub const EVEN: Parity = Parity(0);
    /// That of the second.
    pub const ODD: Parity = Parity(1);

    /// That of the next phase, and of the one before.
    #[inline(always)]
    #[must_use]
    pub const fn flipped(self) -> Parity {
        Parity(self.0 ^ 1)
    }
}

/// A barrier: 8 bytes of shared memory, aligned to 8.
///
/// ```
/// use cuda_std::mbarrier::{Barrier, Parity, fence_init};
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SharedPtr;
/// use cuda_std::tma;
///
/// /// Copies 64 elements by way of shared memory.
/// ///
/// /// # Safety
/// /// A block of 64 threads; `x` is aligned to 16 bytes, `y` has room for 64 elements.
/// #[kernel]
/// pub unsafe fn copy_in_halves(x: &[f32], y: *mut f32) {
///     let (word, tile) = (shared_array![u64; 1], shared_array![f32; 64]);
///     let own = thread::thread_idx_x() as usize;
///     // SAFETY: one thread makes the barrier, and a barrier of the block follows; what copies bring is read
///     // after the wait.
///     unsafe {
///         let barrier = Barrier::at(SharedPtr::new(word));
///         if own == 0 {
///             barrier.init(thread::block_threads());
///             fence_init();
///         }
///         thread::sync_threads();
///         if own == 0 {
///             let to = SharedPtr::new(tile);
///             barrier.expect(128); // Or all at once, when arriving.
///             tma::load_bytes(x.as_ptr(), to, 128, barrier);
///             barrier.arrive_expect(128);
///             tma::load_bytes(x.as_ptr().add(32), to.add(32), 128, barrier);
///         } else {
///             barrier.arrive();
///         }
///         // `barrier.wait(Parity::EVEN)`, and time to do something else meanwhile.
///         while !barrier.try_wait(Parity::EVEN) {}
///         *y.add(own) = *tile.add(own);
///
///         assert!(barrier.test(Parity::EVEN)); // It stays so until the next phase has ended.
///         thread::sync_threads();
///         if own == 0 {
///             barrier.invalidate(); // The word may be used for something else.
///         }
///     }
/// }
/// # use cuda_std::launch::Kernel;
/// # assert_eq!(copy_in_halves::PARAMETERS.len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Barrier(SharedPtr<u64>);

impl Barrier {
    /// The barrier at this place.
    ///
    /// # Safety
    /// The place is 8 bytes of the block's shared memory, aligned to 8, which nothing but barriers use as long
    /// as the value and copies of it are used. But for [`Barrier::init`] a barrier is used after it has been
    /// made, and whoever made it has met those who use it at a barrier of the block, or of the cluster.
    #[inline(always)]
    pub const unsafe fn at(place: SharedPtr<u64>) -> Barrier {
        Barrier(place)
    }

    /// Makes the barrier: each phase ends after `arrivals` arrivals, 1 to 2^20 - 1. One thread does it;
    /// [`fence_init`] follows, and a barrier of the block.
    #[gpu_only]
    #[inline(always)]
    pub fn init(self, arrivals: u32) {
        crate::arch::tensor::mbarrier_init(self.0.address(), arrivals);
    }

    /// Ends the barrier's life, so that its memory can be used for something else. One thread does it, when
    /// nobody uses the barrier any more.
    #[gpu_only]
    #[inline(always)]
    pub fn invalidate(self) {
        crate::arch::tensor::mbarrier_inval(self.0.address());
    }

    /// Arrives: what this thread wrote before is visible to those who have waited for the phase.
    #[gpu_only]
    #[inline(always)]
    pub fn arrive(self) {
        crate::arch::tensor::mbarrier_arrive(self.0.address());
    }

    /// Arrives, and announces `bytes` that copies bring before the phase can end, up to 2^20 - 1.
    #[gpu_only]
    #[inline(always)]
    pub fn arrive_expect(self, bytes: u32) {
        crate::arch::tensor::mbarrier_arrive_expect(self.0.address(), bytes);
    }

    /// Announces more bytes without arriving.
    #[gpu_only]
    #[inline(always)]
    pub fn expect(self, bytes: u32) {
        crate::arch::tensor::mbarrier_expect(self.0.address(), bytes);
    }

    /// Arrives at the barrier in the same place of another block's shared memory.
    ///
    /// ```
    /// use cuda_std::cluster::{self, BlockRank};
    /// use cuda_std::mbarrier::{Barrier, Parity, fence_init};
    /// use cuda_std::prelude::*;
    /// use cuda_std::shared::SharedPtr;
    ///
    /// /// Block 0 of each cluster waits for all blocks of the cluster.
    /// ///
    /// /// # Safety
    /// /// Blocks of one thread; `y` has room for an element per cluster.
    /// #[kernel]
    /// pub unsafe fn wait_for_all(y: *mut u32) {
    ///     let word = shared_array![u64; 1];
    ///     // SAFETY: each block makes its barrier in front of the cluster's, and ends behind the last one.
    ///     unsafe {
    ///         let barrier = Barrier::at(SharedPtr::new(word));
    ///         barrier.init(cluster::size());
    ///         fence_init();
    ///         cluster::sync();
    ///         barrier.arrive_at(BlockRank(0));
    ///         if cluster::rank() == BlockRank(0) {
    ///             barrier.wait(Parity::EVEN);
    ///             *y.add(cluster::index_x() as usize) = cluster::size();
    ///         }
    ///         cluster::sync();
    ///     }
    /// }
    /// # use cuda_std::launch::Kernel;
    /// # assert_eq!(wait_for_all::PARAMETERS.len(), 1);
    /// ```
    ///
    /// # Safety
    /// The block is of the same cluster and has not ended, and its barrier has been made.
    #[gpu_only]
    #[inline(always)]
    pub unsafe fn arrive_at(self, block: BlockRank) {
        crate::arch::tensor::mbarrier_arrive_remote(self.0.address(), block.0);
    }

    /// Whether the phase of this parity has ended, after a wait of limited length.
    #[gpu_only]
    #[inline(always)]
    pub fn try_wait(self, phase: Parity) -> bool {
        crate::arch::tensor::mbarrier_try_wait(self.0.address(), phase.0)
    }

    /// Whether the phase of this parity has ended.
    #[gpu_only]
    #[inline(always)]
    pub fn test(self, phase: Parity) -> bool {
        crate::arch::tensor::mbarrier_test_wait(self.0.address(), phase.0)
    }

    /// Waits until the phase of this parity has ended: what was written before the arrivals, and what copies
    /// brought, is visible to this thread then.
    #[inline(always)]
    pub fn wait(self, phase: Parity) {
        while !self.try_wait(phase) {}
    }

    /// Where it is, for instructions that complete on it.
    ///
    /// ```
    /// use cuda_std::mbarrier::Barrier;
    /// use cuda_std::shared::SharedPtr;
    ///
    /// // SAFETY: nothing is done with it but to ask where it is.
    /// let barrier = unsafe { Barrier::at(SharedPtr::from_address(64)) };
    /// assert_eq!(barrier.place().address(), 64);
    /// ```
    #[inline(always)]
    pub const fn place(self) -> SharedPtr<u64> {
        self.0
    }
}

/// Makes barriers that this thread has made known to the cluster and to copies, in front of the barrier of the
/// block or the cluster after which they are used.
#[gpu_only]
#[inline(always)]
pub fn fence_init() {
    crate::arch::tensor::fence_mbarrier_init();
}

/// A ring of `STAGES` stages of shared memory, with two barriers for each: of all `full` ones, then of all
/// `empty` ones. What lies in a stage, and where, is the kernel's affair.
#[derive(Clone, Copy, Debug)]
pub struct Ring<const STAGES: u32>(SharedPtr<u64>);

impl<const STAGES: u32> Ring<STAGES> {
    /// The bytes that its barriers take.
    pub const BYTES: u32 = 16 * STAGES;

    /// The ring whose barriers lie at `barriers`.
    ///
    /// # Safety
    /// For all [`Ring::BYTES`] the contract of [`Barrier::at`].
    #[inline(always)]
    pub const unsafe fn new(barriers: SharedPtr<u64>) -> Ring<STAGES> {
        Ring(barriers)
    }

    /// Makes the barriers: `producers` arrivals fill a stage, `consumers` empty it. One thread does it, and a
    /// barrier of the block follows, or of the cluster where other blocks arrive.
    #[inline(always)]
    pub fn init(self, producers: u32, consumers: u32) {
        for stage in 0..STAGES {
            self.full(stage).init(producers);
            self.empty(stage).init(consumers);
        }
        fence_init();
    }

    /// The end that fills stages. Every thread that fills has its own, and all go through the same stages.
    #[inline(always)]
    pub const fn producer(self) -> Producer<STAGES> {
        Producer {
            ring: self,
            // The phase before the first counts as ended: every stage is free.
            next: Cursor::at(Parity::ODD),
        }
    }

    /// The end that reads stages. Every thread that reads has its own.
    #[inline(always)]
    pub const fn consumer(self) -> Consumer<STAGES> {
        Consumer {
            ring: self,
            next: Cursor::at(Parity::EVEN),
        }
    }

    #[inline(always)]
    const fn full(self, stage: u32) -> Barrier {
        Barrier(self.0.add(stage))
    }

    #[inline(always)]
    const fn empty(self, stage: u32) -> Barrier {
        Barrier(self.0.add(STAGES + stage))
    }
}

/// The stage that is next, and the phase that is waited for there.
#[derive(Clone, Copy, Debug)]
struct Cursor<const STAGES: u32> {
    stage: u32,
    phase: Parity,
}

impl<const STAGES: u32> Cursor<STAGES> {
    const fn at(phase: Parity) -> Self {
        Cursor { stage: 0, phase }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.stage += 1;
        if self.stage == STAGES {
            self.stage = 0;
            self.phase = self.phase.flipped();
        }
    }

    #[inline(always)]
    fn skip(&mut self, stages: u32) {
        let (laps, stages) = (stages / STAGES, stages % STAGES);
        self.stage += stages;
        let over = self.stage >= STAGES;
        self.stage -= if over { STAGES } else { 0 };
        self.phase = Parity((self.phase.0 ^ laps ^ u32::from(over)) & 1);
    }
}

/// The end of a [`Ring`] that fills stages.
///
/// ```
/// use cuda_std::mbarrier::{Consumer, Free, Full, Producer, Ring};
/// use cuda_std::prelude::*;
/// use cuda_std::shared::SharedPtr;
///
/// /// One warp writes four rows of 32 elements, another one adds them up.
/// ///
/// /// # Safety
/// /// A block of 64 threads; `y` has room for 32 elements.
/// #[kernel]
/// pub unsafe fn sum_of_products(y: *mut u32) {
///     let (barriers, rows) = (shared_array![u64; 4], shared_array![[u32; 32]; 2]);
///     let lane = warp::lane_id() as usize;
///     // SAFETY: one thread makes the barriers, and a barrier of the block follows; a stage is written while
///     // it is free, and read while it is full.
///     unsafe {
///         let ring = Ring::<2>::new(SharedPtr::new(barriers));
///         if thread::thread_idx_x() == 0 {
///             ring.init(32, 1);
///         }
///         thread::sync_threads();
///         if thread::thread_idx_x() < 32 {
///             let mut producer: Producer<2> = ring.producer();
///             for factor in 0..4 {
///                 let free: Free<2> = producer.acquire();
///                 (*rows.add(free.stage() as usize))[lane] = factor * lane as u32;
///                 free.fill();
///             }
///         } else {
///             let mut consumer: Consumer<2> = ring.consumer();
///             let mut sum = 0;
///             for _ in 0..4 {
///                 let full: Full<2> = consumer.wait();
///                 sum += (*rows.add(full.stage() as usize))[lane];
///                 warp::sync_warp(warp::FULL_MASK);
///                 // All lanes have read the row, and one says so.
///                 if lane == 0 { full.release() } else { full.leave() }
///             }
///             *y.add(lane) = sum;
///         }
///     }
/// }
/// # use cuda_std::launch::Kernel;
/// # assert_eq!(sum_of_products::PARAMETERS.len(), 1);
/// ```
#[derive(Debug)]
pub struct Producer<const STAGES: u32> {
    ring: Ring<STAGES>,
    next: Cursor<STAGES>,
}

impl<const STAGES: u32> Producer<STAGES> {
    /// Waits until the next stage is free. The first `STAGES` are.
    #[inline(always)]
    pub fn acquire(&mut self) -> Free<STAGES> {
        let Cursor { stage, phase } = self.next;
        self.ring.empty(stage).wait(phase);
        self.next.advance();
        Free {
            ring: self.ring,
            stage,
        }
    }
}

/// A stage that nobody reads: it is this thread's to fill.
#[derive(Debug)]
#[must_use = "a stage that is not filled holds up the consumers"]
pub struct Free<const STAGES: u32> {
    ring: Ring<STAGES>,
    stage: u32,
}

impl<const STAGES: u32> Free<STAGES> {
    /// Its number.
    #[inline(always)]
    pub const fn stage(&self) -> u32 {
        self.stage
    }

    /// Arrives, and announces the bytes that copies bring. The copies complete on the barrier that is returned.
    #[inline(always)]
    pub fn expect(self, bytes: u32) -> Barrier {
        let full = self.ring.full(self.stage);
        full.arrive_expect(bytes);
        full
    }

    /// Arrives, where the thread has written the stage itself.
    #[inline(always)]
    pub fn fill(self) {
        self.ring.full(self.stage).arrive();
    }
}

/// The end of a [`Ring`] that reads stages.
#[derive(Debug)]
pub struct Consumer<const STAGES: u32> {
    ring: Ring<STAGES>,
    next: Cursor<STAGES>,
}

impl<const STAGES: u32> Consumer<STAGES> {
    /// Waits until the next stage is full.
    #[inline(always)]
    pub fn wait(&mut self) -> Full<STAGES> {
        let Cursor { stage, phase } = self.next;
        self.ring.full(stage).wait(phase);
        self.next.advance();
        Full {
            ring: self.ring,
            stage,
        }
    }

    /// Leaves the next stages to others, who read and release them. Consumers that take turns this way
    /// count as one (`init(1, 1)`).
    ///
    /// ```
    /// use cuda_std::mbarrier::{Consumer, Full};
    ///
    /// /// The next stage of those that are this warp's: two warps share a ring of four, and have every second stage.
    /// ///
    /// /// # Safety
    /// /// The warp's stages are always the same two, and the other's are not waited for.
    /// unsafe fn next(own: &mut Consumer<4>) -> Full<4> {
    ///     let full = own.wait();
    ///     // SAFETY: the caller's contract.
    ///     unsafe { own.skip(1) };
    ///     full
    /// }
    /// # let _ = next;
    /// ```
    ///
    /// # Safety
    /// A barrier tells a phase from the next one, not from the one after that. When this thread waits for a stage, whatever was to
    /// fill it before has: whoever read that has told this thread since, or it was this thread.
    #[inline(always)]
    pub unsafe fn skip(&mut self, stages: u32) {
        self.next.skip(stages);
    }
}

/// A stage that has been filled, and stays as it is until it is released.
#[derive(Debug)]
#[must_use = "a stage that is not released holds up the producer"]
pub struct Full<const STAGES: u32> {
    ring: Ring<STAGES>,
    stage: u32,
}

impl<const STAGES: u32> Full<STAGES> {
    /// Its number.
    #[inline(always)]
    pub const fn stage(&self) -> u32 {
        self.stage
    }

    /// Arrives at the stage's `empty` barrier: this thread, and all that it speaks for, have read it.
    #[inline(always)]
    pub fn release(self) {
        self.ring.empty(self.stage).arrive();
    }

    /// The same for a warpgroup, all threads of which have read the stage and reach the same call: its first
    /// one arrives.
    ///
    /// ```
    /// use cuda_std::mbarrier::Full;
    ///
    /// /// The consumers of this ring are warpgroups: `init(1, 2)` if two read each stage.
    /// fn done_with(stage: Full<4>) {
    ///     stage.release_by_warpgroup();
    /// }
    /// # let _ = done_with;
    /// ```
    #[inline(always)]
    pub fn release_by_warpgroup(self) {
        if thread::thread_idx_x().is_multiple_of(warpgroup::THREADS) {
            self.release();
        } else {
            self.leave();
        }
    }

    /// The same at the barrier of another block of the cluster, whose producer fills this block's stage, too:
    /// [`TensorMap::load_multicast`](crate::tma::TensorMap::load_multicast) has a whole kernel.
    ///
    /// ```
    /// use cuda_std::cluster::BlockRank;
    /// use cuda_std::mbarrier::Full;
    /// use cuda_std::warp;
    ///
    /// /// Says for the warp that it has read the stage, to both blocks of a cluster.
    /// ///
    /// /// # Safety
    /// /// All lanes have read, and both blocks run.
    /// unsafe fn release_in_both(full: Full<4>) {
    ///     match warp::lane_id() {
    ///         // SAFETY: the caller's contract.
    ///         block @ 0..2 => unsafe { full.release_to(BlockRank(block)) },
    ///         _ => full.leave(),
    ///     }
    /// }
    /// # let _ = release_in_both;
    /// ```
    ///
    /// # Safety
    /// As for [`Barrier::arrive_at`].
    #[inline(always)]
    pub unsafe fn release_to(self, block: BlockRank) {
        // SAFETY: the caller's contract.
        unsafe { self.ring.empty(self.stage).arrive_at(block) };
    }

    /// Leaves the release to another thread of those that have read it.
    #[inline(always)]
    pub fn leave(self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_goes_round_and_changes_its_parity() {
        let mut cursor = Cursor::<3>::at(Parity::EVEN);
        let seen: [(u32, Parity); 7] = core::array::from_fn(|_| {
            let seen = (cursor.stage, cursor.phase);
            cursor.advance();
            seen
        });
        let (even, odd) = (Parity::EVEN, Parity::ODD);
        let round = |parity| [(0, parity), (1, parity), (2, parity)];
        assert_eq!(seen[..3], round(even));
        assert_eq!(seen[3..6], round(odd));
        assert_eq!(seen[6], (0, even));
    }

    #[test]
    fn the_barriers_of_a_ring_lie_apart() {
        // SAFETY: nothing is accessed.
        let ring = unsafe { Ring::<4>::new(SharedPtr::from_address(64)) };
        let places: [u32; 8] = core::array::from_fn(|i| match i as u32 {
            stage @ 0..4 => ring.full(stage).place().address(),
            stage => ring.empty(stage - 4).place().address(),
        });
        assert_eq!(places, core::array::from_fn(|i| 64 + 8 * i as u32));
        assert_eq!(Ring::<4>::BYTES, 64);
    }

    #[test]
    fn to_skip_stages_is_to_advance_as_often() {
        for stages in 0..20 {
            for before in 0..10 {
                let mut skipped = Cursor::<5>::at(Parity::EVEN);
                (0..before).for_each(|_| skipped.advance());
                let mut advanced = skipped;
                (0..stages).for_each(|_| advanced.advance());
                skipped.skip(stages);
                let place = |it: Cursor<5>| (it.stage, it.phase);
                assert_eq!(place(skipped), place(advanced), "{before}, {stages}");
            }
        }
    }
}
