//! PTX that must not reach what is not its own.

mod declarations;
mod parameters;
mod tensor_maps;

use std::sync::Arc;

use crate::memory::{Contents, Label, Memory};
use crate::{LaunchError, LoadError, Module, Options, Shape};

/// A module with its memory.
struct Loaded {
    memory: Arc<Memory>,
    module: Module,
}

/// Loads a module of this body.
fn load(body: &str) -> Result<Loaded, LoadError> {
    load_for("9.0", "sm_90a", body)
}

fn load_for(version: &str, target: &str, body: &str) -> Result<Loaded, LoadError> {
    let text = format!(".version {version}\n.target {target}\n.address_size 64\n{body}");
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(&text, &memory)?;
    Ok(Loaded { memory, module })
}

/// Why a module is not loaded.
fn refusal(body: &str) -> String {
    let error = load(body).err().expect("it must not be loaded");
    error.to_string()
}

impl Loaded {
    /// Runs the kernel `k` by one warp. Its last parameter is the address of 32 words, which are given; `first` are
    /// the bytes of those before.
    fn run(&self, first: &[u8]) -> Result<[u32; 32], LaunchError> {
        let out = self
            .memory
            .allocate(128, 16, Contents::Defined, Label::new("out", 4))
            .expect("memory");
        let kernel = self.module.kernel("k").expect("the kernel");
        let shape = Shape {
            grid: [1; 3],
            block: [32, 1, 1],
            dynamic_shared: 0,
        };
        let parameters = [first, &out.to_le_bytes()].concat();
        kernel.launch(shape, Options::default(), &parameters, &|_| {}, None)?;
        let from = std::ptr::with_exposed_provenance::<[u32; 32]>(out as usize);
        // SAFETY: allocated above, and nothing runs.
        Ok(unsafe { from.read() })
    }
}

/// Returns the message of a launch of the kernel `k`, which fails.
fn failure(body: &str) -> String {
    let loaded = load(body).expect("it can be loaded");
    let error = loaded.run(&[]).expect_err("it must fail");
    error.to_string()
}
