//! Parses the files it is given and says which could not be, and how fast it went.

use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut bytes, mut instructions, mut others, mut time, mut failed) =
        (0, 0, 0, Duration::ZERO, 0);
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let begin = Instant::now();
        let parsed = ptx::parse(&text);
        time += begin.elapsed();
        bytes += text.len();
        match parsed {
            Ok(module) => {
                let bodies = module
                    .functions
                    .iter()
                    .filter_map(|function| function.body.as_ref());
                for instruction in bodies.flat_map(|body| &body.instructions) {
                    instructions += 1;
                    others +=
                        usize::from(matches!(instruction.operation, ptx::Operation::Other(_)));
                }
            }
            Err(error) => {
                failed += 1;
                println!("{path}: {error}");
            }
        }
    }
    let speed = bytes as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{bytes} bytes, {instructions} instructions ({others} only taken apart), {failed} files failed, {speed:.1} MB/s"
    );
    Ok(())
}
