//! Reads PTX files and tells what of their kernels the engine does not execute.

use std::process::ExitCode;
use std::sync::Arc;

use engine::Module;
use engine::memory::{Limits, Memory};

fn main() -> ExitCode {
    let mut missing = 0;
    for path in std::env::args().skip(1) {
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{path}: {error}");
                return ExitCode::FAILURE;
            }
        };
        missing += prepare(&path, &text);
    }
    println!("{missing} kernels or modules are not executed");
    if missing == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// How many kernels, or the module, cannot be executed.
fn prepare(path: &str, text: &str) -> usize {
    let module = match Module::load(text, &Arc::new(Memory::new(Limits::default()))) {
        Ok(module) => module,
        Err(error) => {
            println!("{path}: {error}");
            return 1;
        }
    };
    let names: Vec<_> = module.kernels().collect();
    let kernels = names.iter().filter_map(|name| module.kernel(name));
    let errors =
        kernels.filter_map(|kernel| Some((kernel.name().to_owned(), kernel.prepare().err()?)));
    errors
        .inspect(|(kernel, error)| println!("{path}: {kernel}: {error}"))
        .count()
}
