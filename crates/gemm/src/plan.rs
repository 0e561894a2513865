//! Which kernel multiplies, and how the product is cut into tiles.

use cuda_std::launch::{Entry, Signature, Slice, SliceMut};
use cuda_std::tma::TensorMap;
use gemm_kernels::operand::row;
use gemm_kernels::pipeline::{ROWS, STAGES_128, STAGES_256, THREADS, shared_bytes};
use gemm_kernels::problem::Problem;
use ridgepoint_driver::{Device, DeviceBuffer, LaunchConfig};

use crate::error::GemmError;
use crate::maps::maps;
use crate::matrix::{Matrix, MatrixMut, Order};
use crate::product::Element;

/// The compute capability that has `wgmma`, and no later one.
const HOPPER: (u32, u32) = (9, 0);

/// The kernel and the launch of a product, for those who launch it themselves: a workload, say, whose launches
/// somebody else times. [`Product`](crate::Product) does so by itself.
///
/// ```
/// use cuda_std::bf16;
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
/// let prepared = device.prepare(entry, plan.config())?;
/// let stream = Stream::new(&device)?;
/// let map = |number: usize| maps.slice(number..=number);
/// // SAFETY: the maps are of the plan's matrices, which live until the stream has been synchronised.
/// unsafe { prepared.launch(&stream, &(map(0), map(1), map(2), plan.problem())) }?;
/// stream.synchronize()?;
/// assert_eq!(c.to_vec()?, vec![bf16::from_f32(56.0); 24 * 40]);
/// // A tile of 128 x 128, and a stage of 64.
/// assert_eq!(plan.padded(), [128, 128, 64]);
/// # Ok::<(), gemm::GemmError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Plan<T: Element> {
    kernel: Kernel<T::Result>,
    config: LaunchConfig,
    problem: Problem,
    order: Order,
    width: Width,
}

/// A kernel of the library, by how it stores the result.
#[derive(Clone, Copy)]
pub enum Kernel<R: 'static> {
    /// By copies through shared memory. It takes the maps of `A`, `B` and `C`.
    Copied(Entry<Copied>),
    /// From registers, multiplied by `alpha`, with `beta C` added. It takes the maps of `A` and `B`, and `C`.
    Scaled(Entry<Scaled<R>>),
}

/// What launches of [`gemm`](gemm_kernels::pipeline::gemm) take.
pub enum Copied {}

impl Signature for Copied {
    type Arguments<'a> = (
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        Problem,
    );
}

/// What launches of [`scaled`](gemm_kernels::pipeline::scaled) take.
pub struct Scaled<R>(R);

impl<R: 'static> Signature for Scaled<R> {
    type Arguments<'a> = (
        Slice<'a, TensorMap>,
        Slice<'a, TensorMap>,
        SliceMut<'a, R>,
        Problem,
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
            alpha: 1.0,
            beta: 0.0,
            pitch: n,
        };
        let can_be_copied = (size_of::<T::Result>() * sizes[1]).is_multiple_of(16);
        Plan::of(device, problem, order, can_be_copied)
    }

    /// `can_be_copied`: rows of the result begin and end at multiples of 16 bytes.
    pub(crate) fn of(
        device: &Device,
        problem: Problem,
        order: Order,
        can_be_copied: bool,
    ) -> Result<Self, GemmError> {
        let properties = device.properties();
        if properties.compute_capability != HOPPER {
            return Err(GemmError::Capability {
                device: properties.name.clone(),
                capability: properties.compute_capability,
            });
        }
        let Problem { m, n, .. } = problem;
        let blocks = properties.multiprocessors;
        let is_plain = problem.alpha == 1.0 && problem.beta == 0.0;
        let copied = T::copied(order).filter(|_| is_plain && can_be_copied);
        let (kernel, width) = match (copied, T::scaled(order)) {
            (Some([wide, narrow]), _) => match Width::best(m, n, blocks) {
                Width::Columns256 => (Kernel::Copied(wide), Width::Columns256),
                Width::Columns128 => (Kernel::Copied(narrow), Width::Columns128),
            },
            (None, Some(scaled)) => (Kernel::Scaled(scaled), Width::Columns256),
            (None, None) => return Err(GemmError::ByRows(T::NAME)),
        };
        let tiles = width.tiles(m, n);
        let config = LaunchConfig::blocks(tiles.min(u64::from(blocks)), THREADS)
            .with_dynamic_shared(width.shared_bytes());
        Ok(Plan {
            kernel,
            config,
            problem,
            order,
            width,
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

    /// Its last argument.
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// `m`, `n` and `k` up to the end of the last tile and stage: tensor cores multiply the zeros there, too.
    pub fn padded(&self) -> [usize; 3] {
        let Problem { m, n, k, .. } = self.problem;
        let up = |size: u32, unit: u32| (size as usize).next_multiple_of(unit as usize);
        [up(m, ROWS), up(n, self.width.columns()), up(k, row::<T>())]
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
            Order::ByColumns => self.width.columns(),
            Order::ByRows => 64,
        };
        let stored = match self.kernel {
            Kernel::Copied(_) => Some(c),
            Kernel::Scaled(_) => None,
        };
        maps(device, a, (b, b_rows), stored)
    }
}

/// How many columns a tile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Columns256,
    Columns128,
}

impl Width {
    pub(crate) fn columns(self) -> u32 {
        match self {
            Width::Columns256 => 256,
            Width::Columns128 => 128,
        }
    }

    /// Dynamic shared memory of a block.
    pub(crate) fn shared_bytes(self) -> u32 {
        match self {
            Width::Columns256 => shared_bytes(256, STAGES_256),
            Width::Columns128 => shared_bytes(128, STAGES_128),
        }
    }

    /// Tiles of a result of `m` x `n`.
    pub(crate) fn tiles(self, m: u32, n: u32) -> u64 {
        u64::from(m.div_ceil(ROWS)) * u64::from(n.div_ceil(self.columns()))
    }

    /// The width with which the last block is done first. The blocks take tiles in turns, so what counts is how
    /// many one of them takes, and how long each takes: one of 128 columns 0.57 times as long as one of 256
    /// (8192 x 8192 x 8192 on an H200: 715 to 817 TFLOP/s).
    pub(crate) fn best(m: u32, n: u32, blocks: u32) -> Width {
        let turns = |width: Width| width.tiles(m, n).div_ceil(u64::from(blocks.max(1)));
        let narrow = 57 * turns(Width::Columns128);
        match narrow < 100 * turns(Width::Columns256) {
            true => Width::Columns128,
            false => Width::Columns256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tiles_are_made_narrow() {
        assert_eq!(Width::best(8192, 8192, 132), Width::Columns256);
        assert_eq!(Width::best(1024, 1024, 132), Width::Columns128);
        // 128 tiles of 256 columns are one turn, 256 narrow ones two.
        assert_eq!(Width::best(2048, 2048, 132), Width::Columns256);
    }

    #[test]
    fn tiles_cover_the_edges() {
        assert_eq!(Width::Columns256.tiles(129, 257), 4);
        assert_eq!(Width::Columns128.tiles(128, 128), 1);
        assert_eq!(Width::Columns128.tiles(0, 128), 0);
    }
}
