//! Launches of PTX that is written in the tests.

use std::sync::Arc;

use engine::check::{Checker, Streams};
use engine::count::{Class, Counted, Counts, Memory, Space};
use engine::memory::{self, Contents, Label};
use engine::{Checks, Kernel, Module, Options, Schedule, Shape};

/// Parameters, registers and the begin of a kernel: `%rd1` and `%rd2` are the addresses of two buffers, `%r1`
/// is the thread's index in its block, `%r2` the block's, `%r3` the thread's in the grid, `%r4` the third parameter.
const HEAD: &str = "
.version 8.3
.target sm_90
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 y, .param .u32 n)
{
.reg .pred %p<10>;
.reg .b16 %h<10>;
.reg .b32 %r<30>;
.reg .f32 %f<30>;
.reg .b64 %rd<30>;
.reg .f64 %fd<10>;
.shared .align 16 .b8 s[32768];
.local .align 16 .b8 l[256];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
ld.param.u32 %r4, [n];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.u32 %r3, %r2, %r5, %r1;
";

/// How many instructions [`HEAD`] has.
pub(crate) const OF_HEAD: u64 = 7;

/// Bytes of each buffer.
const BYTES: u64 = 1 << 20;

/// A kernel and how it is launched.
pub(crate) struct Case {
    pub(crate) ptx: String,
    pub(crate) kernel: &'static str,
    pub(crate) grid: u32,
    pub(crate) block: u32,
    pub(crate) n: u32,
    pub(crate) cores: usize,
    pub(crate) is_checked: bool,
    pub(crate) schedule: Schedule,
    /// The contents of the buffers at first.
    pub(crate) x: Vec<u32>,
    pub(crate) y: Vec<u32>,
}

impl Case {
    /// A kernel of this body, which ends with `ret`, on one warp.
    pub(crate) fn new(body: &str) -> Case {
        Case::of_module(format!("{HEAD}{body}\nret;\n}}\n"))
    }

    pub(crate) fn of_module(ptx: String) -> Case {
        Case {
            ptx,
            kernel: "kernel",
            grid: 1,
            block: 32,
            n: 0,
            cores: 1,
            is_checked: false,
            schedule: Schedule::InOrder,
            x: Vec::new(),
            y: Vec::new(),
        }
    }

    pub(crate) fn grid(self, grid: u32, block: u32) -> Case {
        Case {
            grid,
            block,
            ..self
        }
    }

    pub(crate) fn n(self, n: u32) -> Case {
        Case { n, ..self }
    }

    pub(crate) fn cores(self, cores: usize) -> Case {
        Case { cores, ..self }
    }

    pub(crate) fn y(self, y: Vec<u32>) -> Case {
        Case { y, ..self }
    }

    /// The counts of a launch.
    pub(crate) fn run(&self) -> Counts {
        self.with_kernel(|kernel, parameters| {
            let (mut checker, mut streams) = (Checker::new(), Streams::default());
            let stream = streams.stream();
            let checks = self.is_checked.then(|| Checks {
                checker: &mut checker,
                operation: streams.enqueue(stream),
                fixed: Vec::new(),
                lent: Vec::new(),
                benign: None,
            });
            let (shape, options) = (self.shape(), self.options());
            let counted = kernel.count(shape, options, parameters, &|_| {}, checks);
            counted.unwrap_or_else(|error| panic!("{error}"))
        })
    }

    /// Loads the kernel and fills the buffers.
    pub(crate) fn with_kernel<R>(&self, run: impl FnOnce(&Kernel, &[u8]) -> R) -> R {
        let memory = Arc::new(memory::Memory::default());
        let module = Module::load(&self.ptx, &memory).expect("PTX");
        let buffer = |name, values: &[u32]| {
            let label = Label::new(name, 4);
            let allocated = memory.allocate(BYTES, 256, Contents::Defined, label);
            let address = allocated.expect("memory");
            let to = std::ptr::with_exposed_provenance_mut::<u32>(address as usize);
            assert!(size_of_val(values) as u64 <= BYTES);
            // SAFETY: it has as many bytes, and nothing runs.
            unsafe { to.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
            address
        };
        let (x, y) = (buffer("x", &self.x), buffer("y", &self.y));
        let mut parameters = [x.to_le_bytes(), y.to_le_bytes()].concat();
        parameters.extend(self.n.to_le_bytes());
        let kernel = module.kernel(self.kernel).expect("a kernel");
        parameters.truncate(kernel.parameter_bytes().sum::<u64>() as usize);
        run(&kernel, &parameters)
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape {
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            dynamic_shared: 0,
        }
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            divergence: true,
            cores: self.cores,
            schedule: self.schedule.clone(),
            ..Options::default()
        }
    }
}

/// The instruction whose text begins so; there is one.
pub(crate) fn instruction<'c>(counts: &'c Counts, text: &str) -> &'c Counted {
    let mut found = counts
        .instructions
        .iter()
        .filter(|it| it.text.starts_with(text));
    let first = found
        .next()
        .unwrap_or_else(|| panic!("no `{text}` in {counts:#?}"));
    assert_eq!(found.next(), None, "one `{text}`");
    first
}

/// Returns an instruction's accesses to memory in a space.
pub(crate) fn memory(counts: &Counts, text: &str, space: Space) -> Memory {
    let all = &instruction(counts, text).memory;
    *all.iter()
        .find(|it| it.space == space)
        .unwrap_or_else(|| panic!("{all:?}"))
}

/// How often warps issued instructions of a class.
pub(crate) fn warps(counts: &Counts, class: Class) -> u64 {
    counts.warps_of(class)
}
