//! Launches of a body, in order and under seeds, and what they say.

use std::sync::Arc;

use engine::memory::{Contents, Label, Memory};
use engine::{LaunchError, Module, Options, Schedule, Shape};

/// Kernels of which %r0 is the thread's index, %r1 its lane and %rd0 an address of 16 zeros.
pub(crate) fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"a.cu\"\n\
        .visible .entry test(.param .u64 p) {{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n\
        .loc 1 1 0\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %laneid;\nld.param.u64 %rd0, [p];\n{body}\n\
        DONE: ret;\n}}\n"
    )
}

/// Where a launch differs from one block of 64 threads.
#[derive(Clone)]
pub(crate) struct Launch<'b> {
    pub(crate) body: &'b str,
    pub(crate) blocks: u32,
    threads: u32,
    pub(crate) options: Options,
}

impl<'b> Launch<'b> {
    pub(crate) fn new(threads: u32, body: &'b str) -> Self {
        Launch {
            body,
            blocks: 1,
            threads,
            options: Options {
                divergence: true,
                steps: 1 << 16,
                ..Options::default()
            },
        }
    }

    pub(crate) fn run(&self, schedule: Schedule) -> Result<(), LaunchError> {
        let memory = Arc::<Memory>::default();
        let module = Module::load(&ptx(self.body), &memory).expect("PTX");
        let words = memory
            .allocate(64, 256, Contents::Defined, Label::new("words", 4))
            .expect("memory");
        let shape = Shape {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            dynamic_shared: 0,
        };
        let options = Options {
            schedule,
            ..self.options.clone()
        };
        let kernel = module.kernel("test").expect("a kernel");
        kernel.launch(shape, options, &words.to_le_bytes(), &|_| (), None)
    }

    /// Checks the message of a launch in order; under seeds it begins as `always`.
    #[track_caller]
    pub(crate) fn says(&self, always: &str, expected: &str) {
        let said = self.run(Schedule::InOrder).map_err(|it| it.to_string());
        assert_eq!(said, Err(format!("test: {always}{expected}")));
        for seed in 0..8 {
            let error = self.run(Schedule::Seeded(seed)).expect_err("a finding");
            let said = error.to_string();
            let begins = said.starts_with(&format!("test: {always}"));
            assert!(begins, "seed {seed}: {said}");
        }
    }

    #[track_caller]
    pub(crate) fn is_clean(&self) {
        assert_eq!(self.run(Schedule::InOrder), Ok(()));
        for seed in 0..8 {
            let ran = self.run(Schedule::Seeded(seed));
            assert_eq!(ran, Ok(()), "seed {seed}");
        }
    }
}
