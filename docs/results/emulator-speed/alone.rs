//! The same launches by the engine alone: as crates/engine/examples/alone.rs, `cargo run --release -p ridgepoint-engine --example alone`.

use engine::check::{Checker, Streams};
use engine::memory::{Contents, Label, Memory};
use engine::{Checks, Module, Options, Shape};
use std::sync::Arc;
use std::time::Instant;
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string("saxpy.ptx")?;
    let memory: Arc<Memory> = Arc::default();
    let module = Module::load(&text, &memory)?;
    let kernel = module.kernel("saxpy").ok_or("no saxpy")?;
    let mut checker = Checker::new();
    let mut streams = Streams::default();
    let stream = streams.stream();
    for (n, threads, rounds, count) in [(32u32, 32u32, 21, 5000), (16 << 20, 256, 9, 1)] {
        let x = memory.allocate(4 * n as u64, 256, Contents::Defined, Label::new("x", 4))?;
        let y = memory.allocate(4 * n as u64, 256, Contents::Defined, Label::new("y", 4))?;
        let p = [
            &n.to_le_bytes()[..],
            &2f32.to_le_bytes(),
            &x.to_le_bytes(),
            &y.to_le_bytes(),
        ]
        .concat();
        for checked in [false, true] {
            let mut times = Vec::new();
            for _ in 0..rounds {
                let start = Instant::now();
                for _ in 0..count {
                    let options = Options {
                        steps: 1 << 28,
                        ..Options::default()
                    };
                    let shape = Shape {
                        grid: [n.div_ceil(threads), 1, 1],
                        block: [threads, 1, 1],
                        dynamic_shared: 0,
                    };
                    let checks = checked.then(|| Checks {
                        operation: streams.enqueue(stream),
                        checker: &mut checker,
                        fixed: vec![],
                        lent: vec![],
                        benign: None,
                    });
                    kernel.launch(shape, options, &p, &|_| {}, checks)?;
                }
                times.push(start.elapsed().as_secs_f64() * 1e6 / count as f64);
            }
            times.sort_by(f64::total_cmp);
            println!(
                "n = {n}, checked {checked}: min {:.2} us, median {:.2} us",
                times[0],
                times[rounds / 2]
            );
        }
    }
    Ok(())
}
