//! `ridgepoint-doctor PART`: prints where the part is, or on standard error how to get it, and then
//! ends with 1. For `setup.sh`, which runs before there is a `ridgepoint`.

use std::env;
use std::process::ExitCode;

use doctor::Part;

fn main() -> ExitCode {
    let name = env::args().nth(1).unwrap_or_default();
    let Some(part) = Part::ALL.into_iter().find(|part| part.name() == name) else {
        let names = Part::ALL.map(Part::name).join(", ");
        eprintln!("usage: ridgepoint-doctor PART, one of {names}");
        return ExitCode::from(2);
    };
    match part.look().found {
        Ok(found) => {
            println!("{found}");
            ExitCode::SUCCESS
        }
        Err(missing) => {
            eprintln!("{missing}");
            ExitCode::FAILURE
        }
    }
}
