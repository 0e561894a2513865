//! The `ridgepoint` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ridgepoint::cli::main()
}
