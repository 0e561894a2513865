//! Writes the site to `target/book`, and says what is wrong with it.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let site = tree.join("target/book");
    match book::build(&tree, &site) {
        Ok(faults) if faults.is_empty() => {
            println!("{} pages: {}", faults.pages, site.display());
            ExitCode::SUCCESS
        }
        Ok(faults) => {
            eprintln!("{faults}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
