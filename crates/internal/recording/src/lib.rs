//! Records of what a program asked of its GPUs, who asked, and what they did, in a file that outlives the program.
//!
//! A [`Log`] takes the records of one process, from any of its threads; a [`Recording`] is what it has left, however it
//! ended. Times are nanoseconds of one clock, the process's own: CUPTI's on a GPU, the emulator's without.
//!
//! ```
//! use recording::{Log, Record, Recording, Text};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("process.rec");
//! let log = Log::create(&path, 1 << 20)?;
//! log.write(&Record::Text(Text { id: 1, text: "cudaLaunchKernel".to_owned() }));
//! // The log is not closed: what was written is there, also where the process is killed.
//! let recording = Recording::read(&path)?;
//! assert_eq!(recording.records.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod log;
mod record;

pub use log::{Log, NotALog, Recording};
pub use record::{
    Activity, Allocation, Call, Counted, Device, End, Event, Frame, Kernel, Memory, Module, Part,
    Process, Range, Record, Stack, Synchronization, Synchronized, Text, Work,
};
