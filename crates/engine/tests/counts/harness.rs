//! Launches of PTX that is written in the tests.

use std::sync::Arc;

use engine::count::{Class, Counted, Counts, Memory, Space};
use engine::memory::{self, Contents, Label};
use engine::{Module, Options, Shape};

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
    pub(crate) grid: u32,
    pub(crate) block: u32,
    pub(crate) n: u32,
    pub(crate) cores: usize,
}

impl Case {
    /// A kernel of this body, which ends with `ret`, on one warp.
    pub(crate) fn new(body: &str) -> Case {
        Case::of_module(format!("{HEAD}{body}\nret;\n}}\n"))
    }

    pub(crate) fn of_module(ptx: String) -> Case {
        Case {
            ptx,
            grid: 1,
            block: 32,
            n: 0,
            cores: 1,
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

    pub(crate) fn run(&self) -> Counts {
        let memory = Arc::new(memory::Memory::default());
        let module = Module::load(&self.ptx, &memory).expect("PTX");
        let buffer = |name| {
            let label = Label::new(name, 4);
            memory
                .allocate(BYTES, 256, Contents::Defined, label)
                .expect("memory")
        };
        let mut parameters = [buffer("x").to_le_bytes(), buffer("y").to_le_bytes()].concat();
        parameters.extend(self.n.to_le_bytes());
        let shape = Shape {
            grid: [self.grid, 1, 1],
            block: [self.block, 1, 1],
            dynamic_shared: 0,
        };
        let options = Options {
            divergence: true,
            cores: self.cores,
            ..Options::default()
        };
        let kernel = module.kernel("kernel").expect("a kernel");
        let counted = kernel.count(shape, options, &parameters, &|_| {}, None);
        counted.unwrap_or_else(|error| panic!("{error}"))
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

/// What an instruction did in a space.
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
