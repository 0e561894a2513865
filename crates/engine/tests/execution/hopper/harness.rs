//! Launches of PTX that is written in the tests.

use std::sync::Arc;

use engine::check::{Checker, Streams};
use engine::count::Counts;
use engine::memory::{self, Contents, Label};
use engine::tensor_map::{Described, RANK};
use engine::{Checks, Kernel, LaunchError, Module, Options, Schedule, Shape};

/// Parameters, registers and the begin of a kernel: `%rd1` and `%rd2` are the addresses of two buffers, `%r1`
/// is the thread's index in its block, `%r2` the block's.
const HEAD: &str = "
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 y)
{
.reg .pred %p<20>;
.reg .b16 %h<20>;
.reg .b32 %r<200>;
.reg .f32 %f<200>;
.reg .b64 %rd<60>;
.reg .f64 %fd<60>;
.shared .align 1024 .b8 s[32768];
.shared .align 8 .b64 bar[4];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
";

/// Bytes of each buffer.
pub(crate) const BYTES: usize = 1 << 18;

/// A kernel and how it is launched.
pub(crate) struct Case {
    ptx: String,
    grid: u32,
    block: u32,
    cluster: u32,
    cores: usize,
    is_checked: bool,
    is_cooperative: bool,
    schedule: Schedule,
    /// The contents of the first buffer.
    x: Vec<u32>,
    /// Tensor maps that are written to addresses of the first buffer, from the addresses of both.
    maps: Vec<Map>,
}

/// Where a tensor map is in the first buffer, and what makes it.
type Map = (u64, Box<dyn Fn(u64, u64) -> [u8; 128]>);

impl Case {
    /// A checked launch of one warp of a kernel with this body.
    pub(crate) fn new(body: &str) -> Case {
        Case {
            ptx: format!("{HEAD}{body}\nret;\n}}\n"),
            grid: 1,
            block: 32,
            cluster: 1,
            cores: 1,
            is_checked: true,
            is_cooperative: false,
            schedule: Schedule::InOrder,
            x: Vec::new(),
            maps: Vec::new(),
        }
    }

    pub(crate) fn grid(self, grid: u32, block: u32) -> Case {
        Case {
            grid,
            block,
            ..self
        }
    }

    pub(crate) fn cluster(self, cluster: u32) -> Case {
        Case { cluster, ..self }
    }

    pub(crate) fn cores(self, cores: usize) -> Case {
        Case { cores, ..self }
    }

    pub(crate) fn x(self, x: Vec<u32>) -> Case {
        Case { x, ..self }
    }

    pub(crate) fn map(mut self, at: u64, map: impl Fn(u64, u64) -> [u8; 128] + 'static) -> Case {
        self.maps.push((at, Box::new(map)));
        self
    }

    /// With other PTX.
    pub(crate) fn body(self, change: impl FnOnce(String) -> String) -> Case {
        Case {
            ptx: change(self.ptx),
            ..self
        }
    }

    pub(crate) fn cooperative(self) -> Case {
        Case {
            is_cooperative: true,
            ..self
        }
    }

    /// For another target than `sm_90a`.
    pub(crate) fn on(mut self, target: &str) -> Case {
        self.ptx = self.ptx.replacen("sm_90a", target, 1);
        self
    }

    pub(crate) fn unchecked(self) -> Case {
        Case {
            is_checked: false,
            ..self
        }
    }

    pub(crate) fn seeded(self, seed: u64) -> Case {
        Case {
            schedule: Schedule::Seeded(seed),
            ..self
        }
    }

    /// The second buffer afterwards.
    pub(crate) fn run(&self) -> Vec<u32> {
        self.try_run().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs it, and returns the finding.
    pub(crate) fn finding(&self) -> String {
        match self.try_run() {
            Ok(_) => panic!("nothing was found"),
            Err(error) => error.to_string(),
        }
    }

    pub(crate) fn try_run(&self) -> Result<Vec<u32>, LaunchError> {
        let launch = |kernel: &Kernel, parameters: &[u8], checks: Option<Checks<'_>>| {
            kernel.launch(self.shape(), self.options(), parameters, &|_| {}, checks)
        };
        self.launched(launch).map(|((), y)| y)
    }

    /// The counts of the launch.
    pub(crate) fn counts(&self) -> Counts {
        let launch = |kernel: &Kernel, parameters: &[u8], checks: Option<Checks<'_>>| {
            kernel.count(self.shape(), self.options(), parameters, &|_| {}, checks)
        };
        let (counts, _) = self
            .launched(launch)
            .unwrap_or_else(|error| panic!("{error}"));
        counts
    }

    /// Returns the result of `launch`, and the second buffer afterwards.
    fn launched<R>(
        &self,
        launch: impl FnOnce(&Kernel, &[u8], Option<Checks<'_>>) -> Result<R, LaunchError>,
    ) -> Result<(R, Vec<u32>), LaunchError> {
        let memory = Arc::new(memory::Memory::default());
        let module = Module::load(&self.ptx, &memory).expect("PTX");
        let buffer = |name: &str| {
            let label = Label::new(name, 4);
            let allocated = memory.allocate(BYTES as u64, 256, Contents::Defined, label);
            allocated.expect("memory")
        };
        let (x, y) = (buffer("x"), buffer("y"));
        let to = std::ptr::with_exposed_provenance_mut::<u32>(x as usize);
        assert!(size_of_val(&self.x[..]) <= BYTES);
        // SAFETY: it has as many bytes, and nothing runs.
        unsafe { to.copy_from_nonoverlapping(self.x.as_ptr(), self.x.len()) };
        for (at, map) in &self.maps {
            let to = std::ptr::with_exposed_provenance_mut::<[u8; 128]>((x + at) as usize);
            // SAFETY: as above.
            unsafe { to.write(map(x, y)) };
        }
        let kernel = module.kernel("kernel").expect("a kernel");
        let (mut checker, mut streams) = (Checker::new(), Streams::default());
        let stream = streams.stream();
        let checks = self.is_checked.then(|| Checks {
            checker: &mut checker,
            operation: streams.enqueue(stream),
            fixed: Vec::new(),
            lent: Vec::new(),
            benign: None,
        });
        let parameters = [x.to_le_bytes(), y.to_le_bytes()].concat();
        let result = launch(&kernel, &parameters, checks)?;
        let from = std::ptr::with_exposed_provenance::<u32>(y as usize);
        // SAFETY: allocated above with so many, and nothing runs.
        let y = unsafe { std::slice::from_raw_parts(from, BYTES / 4) }.to_vec();
        Ok((result, y))
    }

    fn shape(&self) -> Shape {
        Shape {
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            dynamic_shared: 0,
        }
    }

    fn options(&self) -> Options {
        Options {
            divergence: true,
            schedule: self.schedule.clone(),
            steps: 1 << 20,
            cluster: [self.cluster, 1, 1],
            cores: self.cores,
            resident_blocks: match self.is_cooperative {
                true => u64::MAX,
                false => Options::default().resident_blocks,
            },
            ..Options::default()
        }
    }
}

/// Numbers that look random, the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let x = self.0;
        (x >> 33) ^ x
    }

    /// Between -4 and 4, a multiple of 1/16.
    pub(crate) fn small(&mut self) -> f64 {
        (self.next() % 129) as f64 / 16.0 - 4.0
    }
}

/// A tensor of the emulator's driver, and the box that copies move.
#[derive(Clone, Copy)]
pub(crate) struct Tensor<'t> {
    pub(crate) start: u64,
    /// `CUtensorMapDataType`.
    pub(crate) data_type: u8,
    /// Elements of each dimension, the innermost first.
    pub(crate) sizes: &'t [u32],
    /// Bytes from one to the next, of all dimensions but the innermost.
    pub(crate) strides: &'t [u64],
    pub(crate) counts: &'t [u16],
    pub(crate) swizzle: u8,
}

impl Tensor<'_> {
    pub(crate) fn map(&self) -> [u8; 128] {
        let sizes: Vec<_> = self.sizes.iter().map(|&size| size.into()).collect();
        let tile: Vec<_> = self.counts.iter().map(|&count| count.into()).collect();
        Described {
            address: self.start,
            strides: self.strides,
            sizes: &sizes,
            tile: &tile,
            steps: &[1; RANK][..sizes.len()],
            element: self.data_type,
            swizzle: self.swizzle,
            outside: 0,
        }
        .encode()
    }
}
