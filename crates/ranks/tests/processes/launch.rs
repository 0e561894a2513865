//! Ranks that are processes: the test program itself, started again with the variables of a launcher.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use ranks::{Limits, World, run_process};
use ridgepoint_driver::{Device, DeviceChoice};

/// The variable that tells a started process what to do, if it is a rank: the name of a program of the test.
pub(crate) const PROGRAM: &str = "RANKS_TEST_PROGRAM";
const FOLDER: &str = "RANKS_TEST_FOLDER";
const FAULT: &str = "RANKS_TEST_FAULT_MS";
const DEVICE: &str = "RANKS_TEST_DEVICE";

/// A rank as one who starts it sees it.
pub(crate) struct Started {
    child: Child,
    lines: BufReader<ChildStdout>,
}

/// How a rank ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) is_success: bool,
    /// The last text that it printed.
    pub(crate) said: String,
    /// How long its end was waited for.
    pub(crate) waited: Duration,
}

/// How ranks are started.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a str,
    /// Where they meet; an address may be among the variables instead.
    pub(crate) folder: Option<&'a Path>,
    pub(crate) fault: Duration,
    /// The devices, by rank: `cuda:{rank}`, or else emulated ones.
    pub(crate) device: &'a str,
    pub(crate) variables: &'a [(&'a str, &'a str)],
}

impl Launch<'_> {
    /// Starts rank `rank` of `size`, as an MPI launcher does.
    pub(crate) fn start(&self, rank: usize, size: usize) -> Started {
        let itself = env::current_exe().expect("this program's file");
        let mut command = Command::new(itself);
        command
            .env(PROGRAM, self.program)
            .env(FAULT, self.fault.as_millis().to_string())
            .env(DEVICE, self.device)
            .env("PMI_RANK", rank.to_string())
            .env("PMI_SIZE", size.to_string())
            .env_remove(FOLDER)
            .envs(self.variables.iter().copied())
            .stdout(Stdio::piped());
        if let Some(folder) = self.folder {
            command.env(FOLDER, folder);
        }
        let mut child = command.spawn().expect("this program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Started { child, lines }
    }

    pub(crate) fn start_all(&self, size: usize) -> Vec<Started> {
        (0..size).map(|rank| self.start(rank, size)).collect()
    }
}

impl Started {
    /// Waits for the line `ready`.
    pub(crate) fn wait_until_ready(&mut self) {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("readable");
        assert_eq!(line, "ready\n");
    }

    pub(crate) fn id(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id() as i32)
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let begin = Instant::now();
        let mut said = String::new();
        self.lines.read_to_string(&mut said).expect("readable");
        let status = self.child.wait().expect("it ends");
        Ended {
            is_success: status.success(),
            said: said.lines().last().unwrap_or_default().to_owned(),
            waited: begin.elapsed(),
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It has ended, or nobody waits for it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// This process as a rank: runs the program, and says what came of it.
pub(crate) fn rank(run: impl FnOnce(&str, ranks::Rank<'_>) -> Result<String, String>) -> ExitCode {
    let (said, code) = match try_rank(run) {
        Ok(said) => (said, ExitCode::SUCCESS),
        Err(error) => (error, ExitCode::FAILURE),
    };
    println!("{said}");
    code
}

fn try_rank(
    run: impl FnOnce(&str, ranks::Rank<'_>) -> Result<String, String>,
) -> Result<String, String> {
    let variable = |name: &str| env::var(name).ok();
    let world = World::from_env().map_err(|it| it.to_string())?;
    let world = world.ok_or("no launcher")?;
    let fault = variable(FAULT).and_then(|it| it.parse().ok());
    let limits = Limits::of(Duration::from_millis(fault.ok_or("no time for faults")?));
    let program = variable(PROGRAM).ok_or("no program")?;
    let choice = match variable(DEVICE).as_deref() {
        Some("cuda") => DeviceChoice::Cuda(world.local_rank() as u32),
        _ => DeviceChoice::Cpu,
    };
    let device = Device::open(&choice, &[]).map_err(|it| it.to_string())?;
    let folder = variable(FOLDER);
    let folder = folder.as_deref().map(Path::new);
    let done = run_process(&world, folder, &device, limits, |it| run(&program, it));
    done.map_err(|it| it.to_string())
}
