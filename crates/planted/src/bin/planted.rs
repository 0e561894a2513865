//! Launches one kernel on a GPU, so that compute-sanitizer can look at it:
//!
//! ```text
//! planted             lists the kernels with bugs
//! planted NAME        launches the kernel with the bug
//! planted NAME fixed  launches its twin
//! ```

use std::env;
use std::error::Error;

use planted::{BUGS, ptx};
use ridgepoint_driver::Device;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(name) = arguments.first() else {
        for bug in BUGS {
            println!("{}", bug.name);
        }
        return Ok(());
    };
    let bug = BUGS.iter().find(|bug| bug.name == name);
    let bug = bug.ok_or_else(|| format!("no bug {name}"))?;
    let entry = match arguments.get(1).map(String::as_str) {
        None => (bug.kernel)(),
        Some("fixed") => (bug.fixed)(),
        Some(other) => return Err(format!("{other} is not `fixed`").into()),
    };
    bug.run(&Device::with_ptx(0, ptx())?, entry)?;
    Ok(())
}
