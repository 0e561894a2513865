//! A matrix product in `bf16` step by step, `C = A B`: `ladder-kernels` has the kernels, a file per step, and this is what launches them.
//!
//! ```
//! use half::bf16;
//! use ladder::{Product, Sizes, Step};
//! use ridgepoint_driver::{Device, DeviceChoice, Stream};
//!
//! let device = Device::open(&DeviceChoice::Cpu, ladder::ptx())?;
//! let stream = Stream::new(&device)?;
//! let sizes = Sizes { m: 3, n: 8, k: 16 };
//! let [a, b] = [(3, 0.5), (8, 2.0)].map(|(rows, value)| vec![bf16::from_f32(value); rows * 16]);
//! for step in Step::ALL {
//!     let mut product = Product::new(&device, step, sizes, [&a, &b])?;
//!     product.launch(&stream, &device)?;
//!     assert_eq!(product.result()?, vec![bf16::from_f32(16.0); 3 * 8], "{}", step.name());
//! }
//! # Ok::<(), ladder::LadderError>(())
//! ```

use cuda_std::bf16;
use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use cuda_std::tma::TensorMap;
use gemm::{Copied, GemmError, Order};
use kernels::{mma_sync, multicast, persistent, pingpong, producer, tile, wgmma};
use ladder_kernels as kernels;
pub use ladder_kernels::Sizes;
use ridgepoint_driver::{
    Device, DeviceBuffer, DriverError, Embedded, LaunchConfig, Stream, Swizzle, TensorLayout,
};

/// The PTX of the kernels, for `sm_90a`, those of `gemm` among them.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// Why a product cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// No tensor map describes rows of so many elements.
    #[error("{axis} is {size}: rows of {matrix} have a multiple of 8 elements, which are 16 bytes")]
    Size {
        /// `n` or `k`.
        axis: &'static str,
        /// The size that was given.
        size: u32,
        /// Which matrices' rows have as many elements.
        matrix: &'static str,
    },

    /// The library's product cannot be computed.
    #[error(transparent)]
    Gemm(#[from] GemmError),

    /// The device refuses.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// A step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Tensor cores by `mma.sync`.
    MmaSync,
    /// `wgmma`, a warpgroup per tile of 64 x 64.
    Wgmma64,
    /// Two warpgroups per tile of 128 x 128.
    Wgmma128,
    /// A warpgroup that loads, and a ring of stages.
    Producer128,
    /// Tiles of 128 x 256.
    Producer256,
    /// Blocks that stay, in an order for the L2 cache.
    Persistent,
    /// Two warpgroups with tiles of their own, 64 x 256, that take turns with the tensor cores.
    Pingpong,
    /// Clusters of two blocks, with multicast.
    Multicast,
    /// The library's.
    Gemm,
}

/// The signature of the first step.
pub enum Pointers {}

impl Signature for Pointers {
    type Arguments<'a> = (Slice<'a, bf16>, Slice<'a, bf16>, SliceMut<'a, bf16>, Sizes);
}

/// The signature of the others: the maps of `A` and `B`.
pub enum Maps {}

impl Signature for Maps {
    type Arguments<'a> = (
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        SliceMut<'a, bf16>,
        Sizes,
    );
}

/// A step's kernel.
#[derive(Clone, Copy)]
#[expect(
    clippy::large_enum_variant,
    reason = "a program has a few of them, and copies them"
)]
pub enum Kernel {
    /// Of the first step.
    Pointers(Entry<Pointers>),
    /// Of the others.
    Maps(Entry<Maps>),
    /// Of the last one.
    Gemm(Entry<Copied<bf16>>, gemm::Plan<bf16>),
}

/// How a step multiplies matrices of some sizes.
#[derive(Clone, Copy)]
pub struct Plan {
    /// The kernel.
    pub kernel: Kernel,
    /// Its launch.
    pub config: LaunchConfig,
    /// How many blocks along x, y and z make a cluster.
    pub cluster: [u32; 3],
    /// `m`, `n` and `k` up to the end of the last tile: zeros there are multiplied, too.
    pub padded: [usize; 3],
    sizes: Sizes,
    /// Rows of the boxes of `A`, and of those of `B`.
    boxes: [u32; 2],
}

impl Step {
    /// In their order.
    pub const ALL: [Step; 9] = [
        Step::MmaSync,
        Step::Wgmma64,
        Step::Wgmma128,
        Step::Producer128,
        Step::Producer256,
        Step::Persistent,
        Step::Pingpong,
        Step::Multicast,
        Step::Gemm,
    ];

    /// The kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Step::MmaSync => "mma_sync",
            Step::Wgmma64 => "wgmma_64x64",
            Step::Wgmma128 => "wgmma_128x128",
            Step::Producer128 => "producer_128x128",
            Step::Producer256 => "producer_128x256",
            Step::Persistent => "persistent",
            Step::Pingpong => "pingpong",
            Step::Multicast => "multicast",
            Step::Gemm => "gemm",
        }
    }

    /// Rows, columns and stages of its tiles, if they are those of this package, and threads per block.
    fn shape(self) -> ([u32; 3], u32) {
        use producer::{ROWS, STAGES_128, STAGES_256, THREADS};
        match self {
            Step::MmaSync | Step::Gemm => ([mma_sync::TILE, mma_sync::TILE, 0], mma_sync::THREADS),
            Step::Wgmma64 => ([64, 64, 1], 128),
            Step::Wgmma128 => ([128, 128, 1], 256),
            Step::Producer128 => ([ROWS, 128, STAGES_128], THREADS),
            Step::Producer256 | Step::Persistent | Step::Multicast => {
                ([ROWS, 256, STAGES_256], THREADS)
            }
            Step::Pingpong => ([tile::GROUP_ROWS, 256, pingpong::STAGES], THREADS),
        }
    }

    /// How it multiplies matrices of these sizes on a device.
    ///
    /// # Errors
    /// [`LadderError::Size`]: `n` or `k` is no multiple of 8. [`LadderError::Gemm`]: the device is no Hopper GPU, and no emulator of one.
    pub fn plan(self, device: &Device, sizes: Sizes) -> Result<Plan, LadderError> {
        let checks = [("n", sizes.n, "C"), ("k", sizes.k, "A and B")];
        for (axis, size, matrix) in checks {
            if !size.is_multiple_of(8) {
                return Err(LadderError::Size { axis, size, matrix });
            }
        }
        let Sizes { m, n, k } = sizes;
        let of = [m, n, k].map(|size| size as usize);
        let library = gemm::Plan::<bf16>::new(device, of, Order::ByColumns)?;
        let ([rows, columns, stages], threads) = self.shape();
        let tiles = u64::from(m.div_ceil(rows)) * u64::from(n.div_ceil(columns));
        let at_once = u64::from(device.properties().multiprocessors);
        let pairs = u64::from(m.div_ceil(2 * rows)) * u64::from(n.div_ceil(columns));
        let blocks = match self {
            Step::Persistent | Step::Pingpong => tiles.min(at_once),
            Step::Multicast => 2 * pairs.min((at_once / 2).max(1)),
            _ => tiles,
        };
        let shared = match self {
            Step::MmaSync => mma_sync::SHARED_BYTES,
            _ => tile::shared_bytes(rows, columns, stages),
        };
        let (cluster, share) = match self {
            Step::Multicast => (multicast::BLOCKS, multicast::SHARE),
            _ => (1, columns),
        };
        let (kernel, config) = match (self.kernel(), library.kernel()) {
            (Some(kernel), _) => {
                let config = LaunchConfig::blocks(blocks, threads).with_dynamic_shared(shared);
                (kernel, config)
            }
            (None, gemm::Kernel::Copied(entry)) => (Kernel::Gemm(entry, library), library.config()),
            (None, gemm::Kernel::Fused(_)) => unreachable!("rows of C are multiples of 16 bytes"),
        };
        let depth = if self == Step::MmaSync {
            32
        } else {
            tile::DEPTH
        };
        let up = |size: u32, unit: u32| (size as usize).next_multiple_of(unit as usize);
        Ok(Plan {
            kernel,
            config,
            cluster: match self {
                Step::Gemm => library.cluster(),
                _ => [cluster, 1, 1],
            },
            padded: match self {
                Step::Gemm => library.padded(),
                _ => [up(m, cluster * rows), up(n, columns), up(k, depth)],
            },
            sizes,
            boxes: [rows, share],
        })
    }

    /// The kernel, if it is of this package.
    fn kernel(self) -> Option<Kernel> {
        Some(match self {
            Step::MmaSync => Kernel::Pointers(mma_sync::mma_sync::entry().with_signature()),
            Step::Wgmma64 => Kernel::Maps(wgmma::wgmma_64x64::entry().with_signature()),
            Step::Wgmma128 => Kernel::Maps(wgmma::wgmma_128x128::entry().with_signature()),
            Step::Producer128 => Kernel::Maps(producer::producer_128x128::entry().with_signature()),
            Step::Producer256 => Kernel::Maps(producer::producer_128x256::entry().with_signature()),
            Step::Persistent => Kernel::Maps(persistent::persistent::entry().with_signature()),
            Step::Pingpong => Kernel::Maps(pingpong::pingpong::entry().with_signature()),
            Step::Multicast => Kernel::Maps(multicast::multicast::entry().with_signature()),
            Step::Gemm => return None,
        })
    }
}

/// `A`, `B` and `C` on a device.
pub struct Matrices {
    operands: [DeviceBuffer<bf16>; 2],
    result: DeviceBuffer<bf16>,
    maps: DeviceBuffer<TensorMap>,
}

impl Matrices {
    /// Copies `A`, `m` rows of `k` elements, and `B`, `n` rows of `k`, to the device; `C` is NaN until a launch has computed it.
    ///
    /// # Errors
    /// The device has too little memory.
    ///
    /// # Panics
    /// The matrices do not have the plan's sizes.
    pub fn new(device: &Device, plan: &Plan, [a, b]: [&[bf16]; 2]) -> Result<Self, LadderError> {
        let Sizes { m, n, k } = plan.sizes;
        assert_eq!(
            [a.len(), b.len()],
            [m, n].map(|rows| rows as usize * k as usize),
            "elements of A and B"
        );
        let operands = [device.buffer_from(a)?, device.buffer_from(b)?];
        let mut result = device.buffer_filled(m as usize * n as usize, bf16::NAN)?;
        let maps = match &plan.kernel {
            Kernel::Gemm(_, library) => {
                library.maps(device, &operands[0], &operands[1], &mut result)?
            }
            _ => {
                let map = |of: &DeviceBuffer<bf16>, rows: u32, of_box: u32| {
                    if rows == 0 || k == 0 {
                        return Ok(TensorMap::from_bits([0; 16])); // Which nothing uses.
                    }
                    let layout =
                        TensorLayout::dense([k, rows].map(u64::from), [tile::DEPTH, of_box]);
                    device.tensor_map(of.slice(..), &layout.with_swizzle(Swizzle::Bytes128))
                };
                let maps = [
                    map(&operands[0], m, plan.boxes[0])?,
                    map(&operands[1], n, plan.boxes[1])?,
                ];
                device.buffer_from(&maps)?
            }
        };
        Ok(Matrices {
            operands,
            result,
            maps,
        })
    }

    /// Arguments of [`Kernel::Pointers`].
    pub fn pointers(&mut self, plan: &Plan) -> <Pointers as Signature>::Arguments<'_> {
        let [a, b] = &self.operands;
        (
            a.slice(..),
            b.slice(..),
            self.result.slice_mut(..),
            plan.sizes,
        )
    }

    /// Arguments of [`Kernel::Maps`].
    pub fn mapped(&mut self, plan: &Plan) -> <Maps as Signature>::Arguments<'_> {
        let map = |number: usize| self.maps.slice(number..=number);
        (map(0), map(1), self.result.slice_mut(..), plan.sizes)
    }

    /// Arguments of [`Kernel::Gemm`].
    pub fn copied(&self, library: &gemm::Plan<bf16>) -> <Copied<bf16> as Signature>::Arguments<'_> {
        let map = |number: usize| self.maps.slice(number..=number);
        (map(0), map(1), map(2), Slice::empty(), library.problem())
    }

    /// `C`, on the device.
    pub fn result(&self) -> &DeviceBuffer<bf16> {
        &self.result
    }
}

/// A product of a step, with its matrices.
pub struct Product {
    plan: Plan,
    matrices: Matrices,
}

impl Product {
    /// As [`Matrices::new`].
    ///
    /// # Errors
    /// As [`Step::plan`] and [`Matrices::new`].
    ///
    /// # Panics
    /// As [`Matrices::new`].
    pub fn new(
        device: &Device,
        step: Step,
        sizes: Sizes,
        operands: [&[bf16]; 2],
    ) -> Result<Self, LadderError> {
        Self::planned(device, step.plan(device, sizes)?, operands)
    }

    /// By this plan, whose launch may have other numbers of blocks if the step's blocks stay.
    ///
    /// # Errors
    /// As [`Matrices::new`].
    ///
    /// # Panics
    /// As [`Matrices::new`].
    pub fn planned(
        device: &Device,
        plan: Plan,
        operands: [&[bf16]; 2],
    ) -> Result<Self, LadderError> {
        let matrices = Matrices::new(device, &plan, operands)?;
        Ok(Product { plan, matrices })
    }

    /// Computes `C`, and waits for it.
    ///
    /// # Errors
    /// As for [`Device::prepare`] and a launch.
    pub fn launch(&mut self, stream: &Stream<'_>, device: &Device) -> Result<(), LadderError> {
        let Product { plan, matrices } = self;
        if plan.config.grid[0] == 0 {
            return Ok(());
        }
        // SAFETY: the matrices and their maps have the plan's sizes, and nothing else touches them until the stream has been
        // synchronised.
        unsafe {
            match plan.kernel {
                Kernel::Pointers(entry) => device
                    .prepare(entry, plan.config)?
                    .launch(stream, &matrices.pointers(plan)),
                Kernel::Maps(entry) => {
                    let prepared = device
                        .prepare(entry, plan.config)?
                        .with_cluster(plan.cluster)?;
                    prepared.launch(stream, &matrices.mapped(plan))
                }
                Kernel::Gemm(entry, library) => device
                    .prepare(entry, plan.config)?
                    .with_cluster(plan.cluster)?
                    .launch(stream, &matrices.copied(&library)),
            }
        }?;
        Ok(stream.synchronize()?)
    }

    /// `C`.
    ///
    /// # Errors
    /// A copy failed.
    pub fn result(&self) -> Result<Vec<bf16>, DriverError> {
        self.matrices.result.to_vec()
    }
}
