//! Structures that calls describe their work with. Sides of copies that lie in the host's memory stay within it: a caller
//! vouches for that. All else may be anything.

use std::ffi::c_void;

use super::argument::{Description, HANDLES, Kind, of};
use super::{PTX, SCRATCH, Sequence};

/// Words of the largest structure.
const WORDS: usize = 32;

/// `CUmemorytype`
const HOST: u64 = 1;
const DEVICE: u64 = 2;
const ARRAY: u64 = 3;

/// The structures of a sequence: a call gets the address of one.
pub(super) struct Descriptions {
    words: Box<[u64; WORDS]>,
    handles: Box<[u64; HANDLES]>,
    /// A kernel's parameters: a count and two addresses, and where they are.
    values: Box<[u64; 3]>,
    addresses: Box<[u64; 4]>,
    image: Vec<u8>,
    /// How a texture is read, beside what it is of.
    reading: Box<[u64; WORDS]>,
}

/// A function of the host that work in streams calls.
extern "C" fn nothing(_data: *mut c_void) {}

impl Descriptions {
    /// With memory of a device as what kernels are given.
    pub(super) fn new(memory: u64) -> Descriptions {
        let values = Box::new([64, memory, memory]);
        let at = |index: usize| (&raw const values[index]).expose_provenance() as u64;
        Descriptions {
            words: Box::new([0; WORDS]),
            handles: Box::new([0; HANDLES]),
            addresses: Box::new([at(0), at(1), at(2), 0]),
            values,
            image: Vec::new(),
            reading: Box::new([0; WORDS]),
        }
    }

    /// The address of these handles.
    pub(super) fn handles(&mut self, handles: [u64; HANDLES]) -> u64 {
        *self.handles = handles;
        self.handles.as_ptr().expose_provenance() as u64
    }

    /// The address of these words.
    fn put(&mut self, words: &[u64]) -> u64 {
        self.words.fill(0);
        self.words[..words.len()].copy_from_slice(words);
        self.words.as_ptr().expose_provenance() as u64
    }
}

/// Two numbers of 32 bits as a structure has them.
fn both(low: u64, high: u64) -> u64 {
    low & u64::from(u32::MAX) | high << 32
}

impl Sequence {
    /// The addresses of a kernel's parameters, of which pointers may be stale.
    pub(super) fn parameters(&mut self) -> u64 {
        let memory = [self.handle(Kind::Memory), self.handle(Kind::Memory)];
        self.descriptions.values[1..].copy_from_slice(&memory);
        self.descriptions.addresses.as_ptr().expose_provenance() as u64
    }

    pub(super) fn describe(&mut self, which: Description) -> u64 {
        let words = match which {
            Description::Rows => self.rows(),
            Description::Planes => self.planes(),
            Description::Fill => self.fill(),
            Description::KernelNode => self.kernel_node(),
            Description::HostNode => self.host_node(),
            Description::AnyNode => self.any_node(),
            Description::Launch => self.launch(),
            Description::PoolProperties => self.pool(),
            Description::TensorSizes
            | Description::TensorStrides
            | Description::TensorTile
            | Description::TensorSteps => self.of_tensor(which),
            Description::Image => return self.image(),
            Description::Volume => self.volume(),
            Description::Resource => self.resource(),
            Description::Reading => return self.reading(),
        };
        self.descriptions.put(&words)
    }

    fn number(&mut self) -> u64 {
        let all = [
            0,
            1,
            2,
            3,
            4,
            8,
            16,
            64,
            256,
            1 << 20,
            1 << 33,
            1 << 60,
            u64::MAX,
        ];
        of(&mut self.random, &all)
    }

    /// Kind and addresses of a side in the host's memory, or of any other kind in a device's.
    fn side(&mut self, is_host: bool) -> (u64, u64, u64) {
        let scratch = self.scratch.as_mut_ptr().expose_provenance() as u64;
        match is_host {
            true => (HOST, of(&mut self.random, &[0, scratch, scratch]), 0),
            false => {
                let kind = of(
                    &mut self.random,
                    &[DEVICE, DEVICE, DEVICE, ARRAY, ARRAY, 0, 5, u64::MAX],
                );
                (kind, 0, self.handle(Kind::Memory))
            }
        }
    }

    /// Where in its memory a side begins, its pitch and its height: on the host few.
    fn extent(&mut self, is_host: bool) -> [u64; 5] {
        match is_host {
            true => [0, 0, 0, of(&mut self.random, &[0, 16, 64]), 4],
            false => std::array::from_fn(|_| self.number()),
        }
    }

    /// Width, height and depth: of a copy from or to the host few.
    fn shape(&mut self, has_host: bool) -> [u64; 3] {
        match has_host {
            true => [
                of(&mut self.random, &[0, 4, 16]),
                self.random.u64(0..5),
                self.random.u64(0..3),
            ],
            false => std::array::from_fn(|_| self.number()),
        }
    }

    /// `CUDA_MEMCPY2D`
    fn rows(&mut self) -> Vec<u64> {
        let hosts = [self.random.bool(), self.random.bool()];
        let mut words = Vec::new();
        for is_host in hosts {
            let (kind, host, device) = self.side(is_host);
            let [x, y, _, pitch, _] = self.extent(is_host);
            let array = self.handle(Kind::Array);
            words.extend([x, y, both(kind, 0), host, device, array, pitch]);
        }
        let [width, height, _] = self.shape(hosts[0] || hosts[1]);
        words.extend([width, height]);
        words
    }

    /// `CUDA_MEMCPY3D`
    fn planes(&mut self) -> Vec<u64> {
        let hosts = [self.random.bool(), self.random.bool()];
        let mut words = Vec::new();
        for is_host in hosts {
            let (kind, host, device) = self.side(is_host);
            let [x, y, z, pitch, height] = self.extent(is_host);
            let array = self.handle(Kind::Array);
            words.extend([
                x,
                y,
                z,
                0,
                both(kind, 0),
                host,
                device,
                array,
                0,
                pitch,
                height,
            ]);
        }
        words.extend(self.shape(hosts[0] || hosts[1]));
        words
    }

    /// `CUarray_format` and channels, of which some are none.
    fn format(&mut self) -> u64 {
        let format = of(
            &mut self.random,
            &[0x20, 0x20, 1, 2, 3, 8, 9, 10, 0x10, 0, 0xb0],
        );
        both(format, of(&mut self.random, &[1, 1, 2, 4, 0, 3]))
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`
    fn volume(&mut self) -> Vec<u64> {
        let mut size = || of(&mut self.random, &[0, 1, 4, 6, 16, 1 << 20, u64::MAX]);
        let [width, height, depth] = std::array::from_fn(|_| size());
        let flags = of(&mut self.random, &[0, 1, 2, 2, 3, 4, 5, 8, u64::MAX]);
        vec![width, height, depth, self.format(), flags]
    }

    /// `CUDA_RESOURCE_DESC`
    fn resource(&mut self) -> Vec<u64> {
        let kind = of(&mut self.random, &[0, 0, 1, 2, 3, u64::MAX]);
        let resource = match kind {
            0 => self.handle(Kind::Array),
            _ => self.handle(Kind::Memory),
        };
        let [width, height, pitch] = std::array::from_fn(|_| self.number());
        vec![both(kind, 0), resource, self.format(), width, height, pitch]
    }

    /// `CUDA_TEXTURE_DESC`
    fn reading(&mut self) -> u64 {
        let mut mode = || of(&mut self.random, &[0, 1, 2, 3, 4]);
        let modes = [both(mode(), mode()), both(mode(), mode() / 2)];
        let flags = of(&mut self.random, &[0, 1, 2, 3, 0x10, u64::MAX]);
        self.descriptions.reading[..3].copy_from_slice(&[modes[0], modes[1], both(flags, 0)]);
        self.descriptions.reading.as_ptr().expose_provenance() as u64
    }

    /// `CUDA_MEMSET_NODE_PARAMS`
    fn fill(&mut self) -> Vec<u64> {
        let to = self.handle(Kind::Memory);
        let element = of(&mut self.random, &[1, 2, 4, 4, 0, 3, 8]);
        let [pitch, value, width, height] = std::array::from_fn(|_| self.number());
        vec![to, pitch, both(value, element), width, height]
    }

    /// Grid, block and dynamic shared memory, as a structure begins with them.
    fn grid(&mut self) -> [u64; 4] {
        let mut extent = || {
            of(
                &mut self.random,
                &[1, 1, 1, 2, 32, 64, 0, 1 << 16, u32::MAX.into()],
            )
        };
        let [a, b, c, d, e, f] = std::array::from_fn(|_| extent());
        let shared = self.number();
        [both(a, b), both(c, d), both(e, f), both(shared, 0)]
    }

    /// `CUDA_KERNEL_NODE_PARAMS_v2`
    fn kernel_node(&mut self) -> Vec<u64> {
        let function = self.handle(Kind::Function);
        let [a, b, c, shared] = self.grid();
        let parameters = match self.random.u8(..) {
            0..12 => 0,
            _ => self.parameters(),
        };
        let (kernel, context) = (self.handle(Kind::Kernel), self.handle(Kind::Context));
        vec![function, a, b, c, shared, parameters, 0, kernel, context]
    }

    /// `CUDA_HOST_NODE_PARAMS`
    fn host_node(&mut self) -> Vec<u64> {
        let function: extern "C" fn(*mut c_void) = nothing;
        let functions = [0, function as usize as u64];
        vec![of(&mut self.random, &functions), 0]
    }

    /// `CUDA_MEM_ALLOC_NODE_PARAMS`
    fn allocation_node(&mut self) -> Vec<u64> {
        let mut words = self.pool();
        // Properties of pools alone, and devices that reach it.
        words.extend([0; 11]);
        words.extend([self.number(), 0]);
        words
    }

    /// `CUDA_CONDITIONAL_NODE_PARAMS`
    fn conditional_node(&mut self) -> Vec<u64> {
        let kind = of(&mut self.random, &[0, 1, 2, 3]);
        let size = of(&mut self.random, &[1, 1, 2, 3, 0, u32::MAX.into()]);
        vec![self.handle(Kind::Memory), both(kind, size), 0, 0]
    }

    /// `CUgraphNodeParams`
    fn any_node(&mut self) -> Vec<u64> {
        let kind = self.random.u64(0..15);
        let node = match kind {
            0 => self.kernel_node(),
            1 => [vec![0, 0], self.planes()].concat(),
            2 => self.fill(),
            3 => self.host_node(),
            4 => vec![self.handle(Kind::Graph), 0],
            6 | 7 => vec![self.handle(Kind::Event)],
            10 => self.allocation_node(),
            11 => vec![self.handle(Kind::Memory)],
            13 => self.conditional_node(),
            _ => Vec::new(),
        };
        [vec![kind, 0], node].concat()
    }

    /// `CUlaunchConfig`, without attributes, or with some of which there is no address.
    fn launch(&mut self) -> Vec<u64> {
        let [a, b, c, shared] = self.grid();
        let stream = self.handle(Kind::Stream);
        let count = of(&mut self.random, &[0, 0, 0, 1, u32::MAX.into()]);
        vec![a, b, c, shared, stream, 0, count]
    }

    /// `CUmemPoolProps`
    fn pool(&mut self) -> Vec<u64> {
        let kind = of(&mut self.random, &[1, 1, 1, 0, 2]);
        let handles = of(&mut self.random, &[0, 0, 0, 1]);
        let device = of(&mut self.random, &[0, 0, 0, 1, u32::MAX.into()]);
        vec![both(kind, handles), both(1, device)]
    }

    /// Extents of a tensor map, up to five.
    fn of_tensor(&mut self, which: Description) -> Vec<u64> {
        let all: [u64; 7] = match which {
            Description::TensorSizes => [1, 4, 64, 256, 0, 1 << 33, u64::MAX],
            Description::TensorStrides => [16, 64, 1024, 1 << 20, 0, 8, u64::MAX],
            Description::TensorTile => [4, 8, 16, 64, 1, 256, u32::MAX.into()],
            _ => [1, 1, 1, 1, 2, 9, 0],
        };
        let words: Vec<u64> = (0..6).map(|_| of(&mut self.random, &all)).collect();
        match which {
            Description::TensorSizes | Description::TensorStrides => words,
            _ => words.chunks(2).map(|it| both(it[0], it[1])).collect(),
        }
    }

    /// PTX that ends with NUL, and with as many bytes behind it as an image that is told by its size can have.
    fn image(&mut self) -> u64 {
        let text = match self.random.u8(..) {
            0..128 => PTX.to_owned(),
            _ => crate::mutate::Tokens::of(PTX).mutant(&mut self.random),
        };
        self.descriptions.image = text.replace('\0', " ").into_bytes();
        let bytes = self.descriptions.image.len().max(SCRATCH);
        self.descriptions.image.resize(bytes + 1, 0);
        self.descriptions.image.as_ptr().expose_provenance() as u64
    }
}
