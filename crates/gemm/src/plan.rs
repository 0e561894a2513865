//! Which kernel multiplies, and how the product is cut into tiles.

use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use cuda_std::tma::TensorMap;
use gemm_kernels::double;
use gemm_kernels::operand::row;
use gemm_kernels::problem::Problem;
use gemm_kernels::team::Team;
use ridgepoint_driver::{Device, DeviceBuffer, LaunchConfig};

use crate::error::GemmError;
use crate::finish::ResultElement;
use crate::maps::maps;
use crate::matrix::{Matrix, MatrixMut, Order};
use crate::product::{Element, Kernels};
use crate::sharing::Sharing;
use crate::tiling::Tiling;

/// The compute capability that has `wgmma`, and no later one.
const HOPPER: (u32, u32) = (9, 0);
/// Multiprocessors that a product is cut up for on an emulator: the same on every host, and so few that small products take all kernels.
const EMULATED: u32 = 2;
/// The same for `f64`: eight blocks may share a tile.
const EMULATED_SHARING: u32 = 16;

/// The kernel and the launch of a product, for those who launch it themselves: a workload, say, whose launches
/// somebody else times. [`Product`](crate::Product) does so by itself.
///
/// ```
/// use cuda_std::bf16;
/// use cuda_std::launch::Slice;
/// use gemm::{Kernel, Order, Plan};
/// use ridgepoint_driver::{Device, DeviceChoice, Stream};
///
/// let device = Device::open(&DeviceChoice::Cpu, gemm::ptx())?;
/// let plan = Plan::<bf16>::new(&device, [24, 40, 56], Order::ByColumns)?;
/// let a = device.buffer_filled(24 * 56, bf16::from_f32(0.5))?;
/// let b = device.buffer_filled(40 * 56, bf16::from_f32(2.0))?;
/// let mut c = device.buffer_filled(24 * 40, bf16::NAN)?;
/// let maps = plan.maps(&device, &a, &b, &mut c)?;
/// let Kernel::Copied(entry) = plan.kernel() else { panic!("a row of C has a multiple of 16 bytes") };
/// let prepared = device.prepare(entry, plan.config())?.with_cluster(plan.cluster())?;
/// let stream = Stream::new(&device)?;
/// let map = |number: usize| maps.slice(number..=number);
/// // SAFETY: the maps are of the plan's matrices, which live until the stream has been synchronised.
/// unsafe { prepared.launch(&stream, &(map(0), map(1), map(2), Slice::empty(), plan.problem())) }?;
/// stream.synchronize()?;
/// assert_eq!(c.to_vec()?, vec![bf16::from_f32(56.0); 24 * 40]);
/// // A tile of 64 x 128, and a stage of 64.
/// assert_eq!(plan.padded(), [64, 128, 64]);
/// # Ok::<(), gemm::GemmError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Plan<T: Element> {
    kernel: Kernel<T::Result>,
    config: LaunchConfig,
    problem: Problem<FactorOf<T>>,
    order: Order,
    /// Rows and columns of a block's tile.
    tile: [u32; 2],
    /// Columns of `B` that a copy brings.
    box_columns: u32,
    /// Blocks of a cluster whose tiles have the same columns of `B`, of which each brings a part.
    team: u32,
    /// Blocks per cluster.
    cluster: u32,
    exchanged: u64,
}

/// The type of the factors of a product of `T`.
type FactorOf<T> = <<T as Element>::Result as ResultElement>::Factor;

/// A kernel of the library, by how it stores the result.
#[derive(Clone, Copy)]
pub enum Kernel<R: ResultElement> {
    /// By copies through shared memory, which do not read what the result held. It takes the maps of `A`, `B` and `C`, and the bias.
    Copied(Entry<Copied<R>>),
    /// By ordinary stores. It takes the maps of `A` and `B`, `C`, and the bias.
    Fused(Entry<Fused<R>>),
}

/// The treatment of a product's sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Epilogue {
    /// They are stored as they are, by copies: rows of the result begin and end at multiples of 16 bytes.
    Copied,
    /// By copies of what a [`Finish`](crate::Finish) makes of them in registers.
    Finished,
    /// By ordinary stores, whatever they become.
    Fused,
}

/// The signature of [`gemm`](gemm_kernels::pipeline::gemm).
pub struct Copied<R>(R);

impl<R: ResultElement> Signature for Copied<R> {
    type Arguments<'a> = (
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        Slice<'a, R>,
        Problem<R::Factor>,
    );
}

/// The signature of [`fused`](gemm_kernels::pipeline::fused).
pub struct Fused<R>(R);

impl<R: ResultElement> Signature for Fused<R> {
    type Arguments<'a> = (
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        SliceMut<'a, R>,
        Slice<'a, R>,
        Problem<R::Factor>,
    );
}

impl<T: Element> Plan<T> {
    /// `C = A B` of `m` x `k` and `k` x `n`, whose rows lie one behind the other from the beginning of a buffer.
    ///
    /// # Errors
    /// [`GemmError::Capability`]: the device is no Hopper GPU, and no emulator of one. [`GemmError::ByRows`]: the
    /// type is multiplied with `B` by columns alone.
    ///
    /// # Panics
    /// A size is above 2^32.
    pub fn new(device: &Device, sizes: [usize; 3], order: Order) -> Result<Self, GemmError> {
        let [m, n, k] = sizes.map(|size| u32::try_from(size).expect("a size below 2^32"));
        let problem = Problem {
            m,
            n,
            k,
            alpha: 1.0.into(),
            beta: 0.0.into(),
            pitch: n,
            has_bias: 0,
            activation: 0,
        };
        let epilogue = match (size_of::<T::Result>() * sizes[1]).is_multiple_of(16) {
            true => Epilogue::Copied,
            false => Epilogue::Fused,
        };
        Plan::of(device, problem, order, epilogue)
    }

    pub(crate) fn of(
        device: &Device,
        problem: Problem<FactorOf<T>>,
        order: Order,
        epilogue: Epilogue,
    ) -> Result<Self, GemmError> {
        let properties = device.properties();
        if properties.compute_capability != HOPPER {
            return Err(GemmError::Capability {
                device: properties.name.clone(),
                capability: properties.compute_capability,
            });
        }
        let multiprocessors = |emulated: u32| match properties.is_emulated() {
            true => emulated,
            false => properties.multiprocessors,
        };
        let result = [problem.m, problem.n];
        let steps = problem.k.div_ceil(row::<T>());
        let warpgroups = |kernel: Kernel<T::Result>, tiling: Tiling| {
            let (blocks, team) = tiling.blocks(result, multiprocessors(EMULATED));
            let config = LaunchConfig::blocks(blocks, tiling.threads());
            Plan {
                kernel,
                config: config.with_dynamic_shared(tiling.shared_bytes()),
                problem,
                order,
                tile: [tiling.rows(), tiling.columns()],
                box_columns: tiling.columns() / Team::PAIR,
                team,
                cluster: team,
                exchanged: 0,
            }
        };
        Ok(match T::kernels(order).ok_or(GemmError::ByRows(T::NAME))? {
            Kernels::Warpgroups {
                copied,
                finished_small,
                ..
            } if epilogue != Epilogue::Fused => {
                let tiling = Tiling::best(result, steps, multiprocessors(EMULATED));
                let entry = match (tiling, epilogue) {
                    (Tiling::Small, Epilogue::Finished) => finished_small,
                    _ => copied[tiling as usize],
                };
                warpgroups(Kernel::Copied(entry), tiling)
            }
            Kernels::Warpgroups { fused, .. } => {
                warpgroups(Kernel::Fused(fused), Tiling::Columns256)
            }
            Kernels::Warps(entry) => {
                let sharing = Sharing::best(result, steps, multiprocessors(EMULATED_SHARING));
                let config = LaunchConfig::blocks(sharing.blocks(), double::THREADS);
                Plan {
                    kernel: Kernel::Fused(entry),
                    config: config.with_dynamic_shared(double::SHARED_BYTES),
                    problem,
                    order,
                    tile: [double::ROWS, double::COLUMNS],
                    box_columns: double::COLUMNS,
                    team: 1,
                    cluster: sharing.share,
                    exchanged: sharing.shared()
                        * u64::from((sharing.share - 1) * double::ROWS * double::COLUMNS),
                }
            }
        })
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel<T::Result> {
        self.kernel
    }

    /// Its launch: without blocks where the result has no elements, and nothing is to be launched.
    pub fn config(&self) -> LaunchConfig {
        self.config
    }

    /// How many blocks along x, y and z make a cluster of its launch. Without clusters the product is the same, and takes longer.
    pub fn cluster(&self) -> [u32; 3] {
        [self.cluster, 1, 1]
    }

    /// Sums that blocks are given by others of their cluster, and add to theirs: where they share tiles.
    pub fn exchanged(&self) -> u64 {
        self.exchanged
    }

    /// Its last argument.
    pub fn problem(&self) -> Problem<<T::Result as ResultElement>::Factor> {
        self.problem
    }

    /// `m`, `n` and `k` up to the end of the last tile and stage: tensor cores multiply the zeros there, too.
    pub fn padded(&self) -> [usize; 3] {
        let Problem { m, n, k, .. } = self.problem;
        let up = |size: u32, unit: u32| (size as usize).next_multiple_of(unit as usize);
        let [rows, columns] = self.tile;
        [up(m, self.team * rows), up(n, columns), up(k, row::<T>())]
    }

    /// The maps of `A`, `B` and `C`, for the kernel's arguments.
    ///
    /// # Errors
    /// [`GemmError::Memory`]: a buffer is shorter than its matrix. [`GemmError::Driver`]: rows are no multiple of
    /// 16 bytes ([`TensorMap`](ridgepoint_driver::DriverError::TensorMap)), or there is no memory for the maps.
    pub fn maps(
        &self,
        device: &Device,
        a: &DeviceBuffer<T>,
        b: &DeviceBuffer<T>,
        c: &mut DeviceBuffer<T::Result>,
    ) -> Result<DeviceBuffer<TensorMap>, GemmError> {
        let [m, n, k] = [self.problem.m, self.problem.n, self.problem.k].map(|it| it as usize);
        let a = Matrix::new(a.slice(..), m, k);
        let b = match self.order {
            Order::ByColumns => Matrix::new(b.slice(..), n, k),
            Order::ByRows => Matrix::new(b.slice(..), k, n),
        };
        let c = MatrixMut::new(c.slice_mut(..), m, n);
        a.check("A")?;
        b.check("B")?;
        c.check("C")?;
        self.maps_of(device, &a, &b, &c)
    }

    /// As [`Plan::maps`], of matrices anywhere, which have been checked.
    pub(crate) fn maps_of(
        &self,
        device: &Device,
        a: &Matrix<'_, T>,
        b: &Matrix<'_, T>,
        c: &MatrixMut<'_, T::Result>,
    ) -> Result<DeviceBuffer<TensorMap>, GemmError> {
        let b_rows = match self.order {
            Order::ByColumns => self.box_columns,
            Order::ByRows => row::<T>(),
        };
        let stored = match self.kernel {
            Kernel::Copied(_) => Some(c),
            Kernel::Fused(_) => None,
        };
        maps(device, (a, self.tile[0]), (b, b_rows), stored)
    }
}
