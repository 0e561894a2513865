//! Launches one kernel on a GPU, so that compute-sanitizer can look at it:
//!
//! ```text
//! planted             lists the kernels with bugs
//! planted correct     lists those without that look as if they had one
//! planted NAME        launches the kernel
//! planted NAME fixed  launches the twin of one with a bug
//! ```

use std::env;
use std::error::Error;

use planted::{BUGS, CORRECT};
use ridgepoint_driver::Device;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let Some(name) = arguments.first() else {
        for bug in BUGS {
            println!("{}", bug.name);
        }
        return Ok(());
    };
    if name == "correct" {
        for correct in CORRECT {
            println!("{}", correct.name);
        }
        return Ok(());
    }
    let bug = BUGS.iter().find(|bug| bug.name == name);
    let correct = CORRECT.iter().find(|correct| correct.name == name);
    let (entry, launch) = match (bug, correct, arguments.get(1).map(String::as_str)) {
        (Some(bug), _, None) => ((bug.kernel)(), bug.launch),
        (Some(bug), _, Some("fixed")) => ((bug.fixed)(), bug.launch),
        (None, Some(correct), None) => ((correct.kernel)(), correct.launch),
        (None, None, _) => return Err(format!("no kernel {name}").into()),
        (.., Some(other)) => return Err(format!("{other} is not `fixed`").into()),
    };
    launch.run(&Device::with_ptx(0, launch.needs.ptx())?, entry)?;
    Ok(())
}
