//! Attention in `bf16`, `O = softmax(Q Kᵀ / √128) V`, as a user of Ridgepoint writes it: `attention-kernels` has the kernel, in one
//! file, and this is what launches it.
//!
//! ```
//! use attention::{Attention, Mask, Shape};
//! use half::bf16;
//! use ridgepoint_driver::{Device, DeviceChoice, Stream};
//!
//! let device = Device::open(&DeviceChoice::Cpu, attention::ptx())?;
//! let shape = Shape { heads: 1, sequence: 3, mask: Mask::Causal };
//! let [one, two] = [1.0, 2.0].map(|value| vec![bf16::from_f32(value); shape.elements()]);
//! let mut attention = Attention::new(&device, shape, [&one, &one, &two])?;
//! let stream = Stream::new(&device)?;
//! attention.launch(&stream, &device)?;
//! assert_eq!(attention.result()?, two);
//! # Ok::<(), ridgepoint_driver::DriverError>(())
//! ```

use attention_kernels as kernels;
use cuda_std::bf16;
use cuda_std::launch::{Entry, Signature, Slice};
use cuda_std::tma::TensorMap;
pub use kernels::{HEAD, KEYS, Problem, QUERIES};
use ridgepoint_driver::{
    Device, DeviceBuffer, DriverError, Embedded, LaunchConfig, Stream, Swizzle, TensorLayout,
};

/// The PTX of the kernels, for `sm_90a`.
#[inline(never)] // Else each place that calls it has a copy.
pub fn ptx() -> &'static [Embedded<'static>] {
    &include!(concat!(env!("OUT_DIR"), "/kernels.rs"))
}

/// The kernels' signature, which is that of either instance: the maps of `Q`, `K`, `V` and `O`.
pub enum Arguments {}

/// One tensor map in device memory.
type Map<'a> = Slice<'a, TensorMap>;

impl Signature for Arguments {
    type Arguments<'a> = (Map<'a>, Map<'a>, Map<'a>, Map<'a>, Problem);
}

/// Which keys a query sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// All of its head.
    Full,
    /// Those up to its own number.
    Causal,
}

/// The sizes of `Q`, `K`, `V` and `O`: `heads` x `sequence` x [`HEAD`] elements each, in row-major order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Heads, of all batches. At least one.
    pub heads: u32,
    /// Queries of a head, and keys. At least one.
    pub sequence: u32,
    /// Which keys a query sees.
    pub mask: Mask,
}

impl Shape {
    /// Elements of each matrix.
    pub fn elements(self) -> usize {
        self.heads as usize * self.sequence as usize * HEAD as usize
    }

    /// Pairs of a query and a key that it sees, of all heads.
    pub fn pairs(self) -> u64 {
        let sequence = u64::from(self.sequence);
        let of_head = match self.mask {
            Mask::Full => sequence * sequence,
            Mask::Causal => sequence * (sequence + 1) / 2,
        };
        of_head * u64::from(self.heads)
    }

    /// The kernel.
    pub fn entry(self) -> Entry<Arguments> {
        match self.mask {
            Mask::Full => kernels::attention_full::entry().with_signature(),
            Mask::Causal => kernels::attention_causal::entry().with_signature(),
        }
    }

    /// Its launch: a block for each multiprocessor, or fewer where there is less to do.
    pub fn config(self, device: &Device) -> LaunchConfig {
        let tiles = self.sequence.div_ceil(QUERIES);
        let units = match self.mask {
            Mask::Full => tiles,
            Mask::Causal => tiles.div_ceil(2),
        };
        let most = u64::from(device.properties().multiprocessors);
        let blocks = (u64::from(units) * u64::from(self.heads)).min(most);
        LaunchConfig::blocks(blocks, kernels::THREADS).with_dynamic_shared(kernels::SHARED_BYTES)
    }

    /// Its last argument.
    pub fn problem(self) -> Problem {
        Problem {
            heads: self.heads,
            sequence: self.sequence,
            scale: 1.0 / (HEAD as f32).sqrt(),
        }
    }
}

/// `Q`, `K`, `V` and `O` on a device.
pub struct Attention {
    shape: Shape,
    /// Which the maps are of.
    _inputs: [DeviceBuffer<bf16>; 3],
    result: DeviceBuffer<bf16>,
    maps: DeviceBuffer<TensorMap>,
}

impl Attention {
    /// Copies `Q`, `K` and `V` to the device; `O` is NaN until a launch has computed it.
    ///
    /// # Errors
    /// The device has too little memory.
    ///
    /// # Panics
    /// The inputs do not have the shape's elements.
    pub fn new(device: &Device, shape: Shape, inputs: [&[bf16]; 3]) -> Result<Self, DriverError> {
        let [q, k, v] = inputs.map(|input| {
            assert_eq!(input.len(), shape.elements(), "elements of an input");
            device.buffer_from(input)
        });
        let inputs = [q?, k?, v?];
        let result = device.buffer_filled(shape.elements(), bf16::NAN)?;
        let map = |of: &DeviceBuffer<bf16>, rows: u32| {
            let size = [HEAD, shape.sequence, shape.heads].map(u64::from);
            let layout = TensorLayout::dense(size, [kernels::BOX_COLUMNS, rows, 1]);
            device.tensor_map(of.slice(..), &layout.with_swizzle(Swizzle::Bytes128))
        };
        let [q, k, v] = &inputs;
        let maps = [
            map(q, kernels::GROUP_QUERIES)?,
            map(k, kernels::KEYS)?,
            map(v, kernels::KEYS)?,
            map(&result, kernels::GROUP_QUERIES)?,
        ];
        let maps = device.buffer_from(&maps)?;
        Ok(Attention {
            shape,
            _inputs: inputs,
            result,
            maps,
        })
    }

    /// Returns the kernel's arguments.
    pub fn arguments(&self) -> <Arguments as Signature>::Arguments<'_> {
        let map = |number: usize| self.maps.slice(number..=number);
        (map(0), map(1), map(2), map(3), self.shape.problem())
    }

    /// Computes `O`, and waits for it.
    ///
    /// # Errors
    /// As for [`Device::prepare`] and a launch: the device is no Hopper GPU, and no emulator of one, for example.
    pub fn launch(&mut self, stream: &Stream<'_>, device: &Device) -> Result<(), DriverError> {
        let prepared = device.prepare(self.shape.entry(), self.shape.config(device))?;
        // SAFETY: the maps are of the matrices, which nothing else touches until the stream has been synchronised.
        unsafe { prepared.launch(stream, &self.arguments()) }?;
        stream.synchronize()
    }

    /// `O`.
    ///
    /// # Errors
    /// A copy failed.
    pub fn result(&self) -> Result<Vec<bf16>, DriverError> {
        self.result.to_vec()
    }
}
