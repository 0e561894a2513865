//! Ranks that are processes, with emulated devices and with GPUs: this program, started again as each rank.

#[path = "../support/collectives.rs"]
mod collectives;
mod emulated;
mod gpus;
mod launch;

use std::env;
use std::process::ExitCode;

use gpu_test::Arguments;
use ranks::nccl;

fn main() -> ExitCode {
    match env::var(launch::PROGRAM).as_deref() {
        Ok("nccl") => {
            println!("{}", nccl::version().expect_err("named, and not there"));
            ExitCode::FAILURE
        }
        Ok(_) => launch::rank(|program, rank| {
            let done = match gpus::PROGRAMS.contains(&program) {
                true => gpus::run(program, &rank),
                false => emulated::run(program, &rank),
            };
            done.map_err(|it| it.to_string())
        }),
        Err(_) => tests(),
    }
}

fn tests() -> ExitCode {
    let mut trials = emulated::trials();
    trials.extend(gpus::trials());
    let mut arguments = Arguments::from_args();
    // Each starts several processes.
    arguments.test_threads.get_or_insert(2);
    gpu_test::run(&arguments, trials).exit_code()
}
