//! Runs a program so that it leaves recordings.

use std::env;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use emulated_driver::settings;
use recorder::{Selection, Within};

use super::{Arguments, On};
use crate::cli::emulate::{folder::Folder, own_status};
use crate::cli::interrupt::Interrupt;
use crate::cli::temporary::Temporary;
use crate::cli::{Failure, embedded_library, streams};
use crate::driver::gpus;
use crate::measure::launch_metrics;

/// The variables that name the libraries which NVIDIA's driver and NVTX load.
const INJECTION: &str = "CUDA_INJECTION64_PATH";
const RANGES: &str = "NVTX_INJECTION64_PATH";

/// The folder, in that of recordings, of those that count.
pub(super) const COUNTED: &str = "counted";

/// The program has ended, and has left recordings.
pub(super) struct Recorded {
    name: String,
    ended: ExitStatus,
    interrupt: Interrupt,
    folder: PathBuf,
    /// Removed with this value.
    _temporary: Vec<Temporary>,
}

impl Recorded {
    /// Runs the program to its end, and where it has ended well a second time to count, if counters are asked for.
    ///
    /// # Errors
    /// It cannot be started, or nothing could be recorded.
    pub(super) fn run(arguments: &Arguments) -> Result<Recorded, Failure> {
        if arguments.counters && is_emulated(arguments.on)? {
            return Err(Failure::Usage(
                "--counters reads a GPU's hardware, and the emulator has none".to_owned(),
            ));
        }
        let temporary = new_folder()?;
        let folder = match &arguments.keep {
            Some(folder) => kept(folder)?,
            None => temporary.path().to_owned(),
        };
        let recorded = Recorded::once(arguments, folder, temporary, false)?;
        if arguments.counters {
            recorded.interrupt.check()?;
            match recorded.ended.success() {
                true => recorded.count(arguments),
                false => {
                    streams::complain("the program has failed, and is not run again to be counted")
                }
            }
        }
        Ok(recorded)
    }

    /// Runs the program again to count. What goes wrong is said, and leaves what was recorded as it is.
    fn count(&self, arguments: &Arguments) {
        let folder = self.folder.join(COUNTED);
        let made = fs::create_dir(&folder).map_err(Failure::failed);
        let counted = made.and_then(|()| {
            let temporary = new_folder()?;
            Recorded::once(arguments, folder.clone(), temporary, true)
        });
        match counted {
            Ok(counted) if counted.ended.success() => {}
            Ok(counted) => streams::complain(&format!(
                "the program has ended with {} where it was counted",
                counted.ended
            )),
            Err(failure) => {
                // An empty folder would be taken for one of a program without kernels.
                let _ = fs::remove_dir_all(&folder);
                streams::complain(&format!("the kernels are not counted: {}", failure.text()));
            }
        }
    }

    /// Runs the program to its end, with its recordings in this folder.
    fn once(
        arguments: &Arguments,
        folder: PathBuf,
        temporary: Temporary,
        counts: bool,
    ) -> Result<Recorded, Failure> {
        let [name, words @ ..] = arguments.program.as_slice() else {
            return Err(Failure::Usage("no program is named".to_owned()));
        };
        let mut temporary = vec![temporary];
        let mut program = Command::new(name);
        program.args(words).env(recorder::FOLDER, &folder);
        let selection = arguments.selected.selection();
        for (variable, value) in selection.variables() {
            match value {
                Some(value) => program.env(variable, value),
                None => program.env_remove(variable),
            };
        }
        match counts {
            true => program.env(recorder::COUNTERS, launch_metrics().join(",")),
            false => program.env_remove(recorder::COUNTERS),
        };
        let emulated = match is_emulated(arguments.on)? {
            true => Some(Emulated::around(&mut program, &selection)?),
            false => {
                temporary.push(inject(&mut program, &selection)?);
                None
            }
        };
        let interrupt = Interrupt::watch();
        let ended =
            Interrupt::start(&mut program).and_then(|mut started| interrupt.wait(&mut started));
        drop(emulated);
        let name = name.display().to_string();
        let ended =
            ended.map_err(|error| Failure::Failed(format!("cannot run {name}: {error}")))?;
        say_problems(&folder)?;
        Ok(Recorded {
            name,
            ended,
            interrupt,
            folder,
            _temporary: temporary,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends as the program has ended, which is said where that was no success.
    pub(super) fn verdict(&self) -> Result<(), Failure> {
        self.interrupt.check()?;
        match (self.ended.code(), self.ended.signal()) {
            (Some(0), _) => {}
            (Some(status), _) => {
                streams::complain(&format!("{} has ended with status {status}", self.name));
            }
            (None, signal) => {
                let signal = signal.unwrap_or(0);
                streams::complain(&format!("{} was ended by signal {signal}", self.name));
            }
        }
        own_status(self.ended)
    }
}

fn new_folder() -> Result<Temporary, Failure> {
    Temporary::new().map_err(Failure::failed)
}

/// A folder for recordings that are kept: one that has none yet, for those of two runs would be taken for one.
fn kept(folder: &Path) -> Result<PathBuf, Failure> {
    let failed =
        |error: io::Error| Failure::Failed(format!("cannot make {}: {error}", folder.display()));
    fs::create_dir(folder).map_err(failed)?;
    folder.canonicalize().map_err(failed)
}

fn is_emulated(on: On) -> Result<bool, Failure> {
    match (on, gpus()) {
        (On::Emulator, _) | (On::Auto, Err(_)) => Ok(true),
        (On::Auto | On::Gpu, Ok(_)) => Ok(false),
        (On::Gpu, Err(error)) => Err(Failure::Failed(format!(
            "{error}; --on emulator profiles the program without a GPU"
        ))),
    }
}

/// Has NVIDIA's driver load the recorder. The library is in the folder that is returned.
fn inject(program: &mut Command, selection: &Selection) -> Result<Temporary, Failure> {
    if let Some(other) = env::var_os(INJECTION) {
        return Err(Failure::Usage(format!(
            "{INJECTION} names {} already: a program is recorded by one at a time",
            other.display()
        )));
    }
    let folder = new_folder()?;
    let path = folder.path().join("libridgepoint_injection.so");
    fs::write(&path, embedded_library::injection()).map_err(Failure::failed)?;
    program.env(INJECTION, &path);
    listen_to_ranges(program, &path, selection)?;
    Ok(folder)
}

/// Has NVTX tell this library of the program's ranges. One that the environment names already is left alone, and gets them.
fn listen_to_ranges(
    program: &mut Command,
    library: &Path,
    selection: &Selection,
) -> Result<(), Failure> {
    match (env::var_os(RANGES), &selection.within) {
        (None, _) => {
            program.env(RANGES, library);
            Ok(())
        }
        (Some(other), Within::Range(_)) => Err(Failure::Usage(format!(
            "{RANGES} names {} already: ranges are told to one library at a time",
            other.display()
        ))),
        (Some(_), _) => Ok(()),
    }
}

/// The emulated driver in the program's environment, which records by itself.
struct Emulated {
    _folder: Folder,
}

impl Emulated {
    fn around(program: &mut Command, selection: &Selection) -> Result<Emulated, Failure> {
        let folder = Folder::new().map_err(Failure::failed)?;
        folder.lend_to(program);
        listen_to_ranges(program, &folder.library(), selection)?;
        program
            .env(settings::RECORD, folder.record())
            .env(settings::CHECKS, "off");
        Ok(Emulated { _folder: folder })
    }
}

/// Ends where a process could not be recorded, with its reason.
fn say_problems(folder: &Path) -> Result<(), Failure> {
    for entry in fs::read_dir(folder).map_err(Failure::failed)? {
        let path = entry.map_err(Failure::failed)?.path();
        if path.extension().is_some_and(|it| it == "error") {
            let reason = fs::read_to_string(&path).map_err(Failure::failed)?;
            return Err(Failure::Failed(format!(
                "the program could not be recorded: {reason}"
            )));
        }
    }
    Ok(())
}
