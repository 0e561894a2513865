//! Hand-made recordings, and what is said of them.

use std::collections::HashMap;
use std::path::Path;

use recording::{
    Activity, Call, Device, End, Frame, Kernel, Memory, Process, Record, Recording, Stack,
    Synchronization, Synchronized, Text, Work,
};

use super::text::wait as wait_text;
use super::{Analysis, NoProgram, Program, text};
use crate::table::Width;

/// Writes the recording of a process whose author's file is `train.py`.
pub(super) struct Script {
    records: Vec<Record>,
    texts: HashMap<String, u32>,
    stacks: HashMap<u32, u32>,
    correlation: u32,
}

/// A microsecond.
pub(super) const US: u64 = 1000;

impl Script {
    pub(super) fn new() -> Script {
        Script::emulated(false)
    }

    pub(super) fn emulated(is_emulated: bool) -> Script {
        let process = Process {
            id: 42,
            parent: 1,
            command: vec!["python3".to_owned(), "train.py".to_owned()],
            time: 5000,
            unix_time: 1_700_000_000_000_000_000,
            source: "CUPTI 13.0".to_owned(),
            is_emulated,
        };
        let device = Device {
            id: 0,
            name: "NVIDIA H100".to_owned(),
        };
        Script {
            records: vec![Record::Process(process), Record::Device(device)],
            texts: HashMap::new(),
            stacks: HashMap::new(),
            correlation: 0,
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(&id) = self.texts.get(text) {
            return id;
        }
        let id = self.texts.len() as u32 + 1;
        self.texts.insert(text.to_owned(), id);
        self.records.push(Record::Text(Text {
            id,
            text: text.to_owned(),
        }));
        id
    }

    fn stack(&mut self, line: u32) -> u32 {
        if let Some(&id) = self.stacks.get(&line) {
            return id;
        }
        let id = self.stacks.len() as u32 + 1;
        self.stacks.insert(line, id);
        let frame = Frame::Source {
            function: "step".to_owned(),
            file: "/home/me/train.py".to_owned(),
            line,
        };
        self.records.push(Record::Stack(Stack {
            id,
            frames: vec![frame],
            of_thread: 0,
        }));
        id
    }

    /// A call at this line between these microseconds, and its correlation.
    pub(super) fn call(&mut self, function: &str, line: u32, (start, end): (u64, u64)) -> u32 {
        let (name, stack) = (self.text(function), self.stack(line));
        self.correlation += 1;
        self.records.push(Record::Call(Call {
            name,
            thread: 42,
            stack,
            start: 5000 + start * US,
            end: 5000 + end * US,
            correlation: self.correlation,
            status: 0,
        }));
        self.correlation
    }

    fn work(&mut self, work: Work, (stream, correlation): (u32, u32), (start, end): (u64, u64)) {
        self.records.push(Record::Activity(Activity {
            work,
            device: 0,
            context: 1,
            stream,
            correlation,
            graph: 0,
            start: 5000 + start * US,
            end: 5000 + end * US,
        }));
    }

    pub(super) fn kernel(&mut self, name: &str, of: (u32, u32), time: (u64, u64)) {
        let name = self.text(name);
        let kernel = Kernel {
            name,
            grid: [1; 3],
            block: [256, 1, 1],
            registers: 32,
            shared: [0; 2],
        };
        self.work(Work::Kernel(kernel), of, time);
    }

    pub(super) fn copy(
        &mut self,
        (from, to, bytes): (Memory, Memory, u64),
        of: (u32, u32),
        time: (u64, u64),
    ) {
        let peer = None;
        self.work(
            Work::Copy {
                from,
                to,
                bytes,
                peer,
            },
            of,
            time,
        );
    }

    pub(super) fn synchronization(&mut self, on: Synchronized, correlation: u32) {
        self.records.push(Record::Synchronization(Synchronization {
            on,
            context: 1,
            correlation,
            start: 0,
            end: 0,
        }));
    }

    /// The recording of a process that has ended then.
    pub(super) fn end(mut self, time: u64) -> Recording {
        self.records.push(Record::End(End {
            time: 5000 + time * US,
            lost: 0,
            cost: 3 * US,
        }));
        self.killed()
    }

    pub(super) fn killed(self) -> Recording {
        Recording {
            records: self.records,
            refused: 0,
        }
    }
}

pub(super) fn program(recording: Recording) -> Program {
    Program::of(vec![recording], Path::new("/home/me")).expect("a program")
}

/// A norm whose result is copied to pageable memory: the copy's call waits for the kernel.
fn norm(is_emulated: bool) -> Script {
    let mut script = Script::emulated(is_emulated);
    let launch = script.call("cudaLaunchKernel_v7000", 37, (10, 15));
    script.kernel("_Z4nrm2PKd", (7, launch), (20, 4960));
    let copy = script.call("cudaMemcpyAsync_v3020", 38, (20, 4970));
    script.copy(
        (Memory::Device, Memory::Pageable, 8),
        (7, copy),
        (4962, 4964),
    );
    script
}

#[test]
fn a_blocking_copy_is_not_blamed_for_the_kernel_in_front_of_it() {
    let analysis = Analysis::of(&program(norm(false).end(5000)));
    let [wait] = &analysis.waits[..] else {
        panic!("one wait: {:?}", analysis.waits);
    };
    assert_eq!(
        wait_text(wait),
        "  cudaMemcpyAsync at train.py:38: 4.95 ms, of which 4.94 ms the kernel nrm2 launched at train.py:37, \
         2.00 us the copy, 8.00 us on the host"
    );
    let [kernel, copy] = &analysis.device[..] else {
        panic!("two kinds of work: {:?}", analysis.device);
    };
    assert_eq!(
        (&*kernel.name, &*kernel.place.to_string()),
        ("nrm2", "train.py:37")
    );
    assert_eq!(copy.name, "copy device to host, pageable");
    assert_eq!(analysis.host[0].name, "cudaMemcpyAsync");
}

#[test]
fn an_emulated_program_has_order_and_no_times() {
    let analysis = Analysis::of(&program(norm(true).end(5000)));
    assert_eq!(
        wait_text(&analysis.waits[0]),
        "  cudaMemcpyAsync at train.py:38: 1 call behind the kernel nrm2 launched at train.py:37"
    );
    assert!(analysis.device.iter().all(|it| it.times.is_none()));
    let text = text(&analysis, Width::Any);
    assert!(!text.contains(" ms"), "{text}");
}

#[test]
fn a_synchronization_waits_for_its_own_stream() {
    let mut script = Script::new();
    let first = script.call("cudaLaunchKernel", 1, (0, 5));
    script.kernel("mine", (7, first), (10, 100));
    let second = script.call("cudaLaunchKernel", 2, (5, 10));
    script.kernel("other", (8, second), (10, 400));
    let wait = script.call("cudaStreamSynchronize", 3, (20, 110));
    script.synchronization(Synchronized::Stream(7), wait);
    let analysis = Analysis::of(&program(script.end(500)));
    assert_eq!(
        wait_text(&analysis.waits[0]),
        "  cudaStreamSynchronize at train.py:3: 90.00 us, of which 80.00 us the kernel mine launched at \
         train.py:1, 10.00 us on the host"
    );
}

#[test]
fn an_asynchronous_copy_is_no_wait() {
    let mut script = Script::new();
    let copy = script.call("cudaMemcpyAsync", 3, (0, 5));
    script.copy(
        (Memory::Pinned, Memory::Device, 1 << 20),
        (7, copy),
        (6, 30),
    );
    let analysis = Analysis::of(&program(script.end(500)));
    assert_eq!(analysis.waits, []);
}

#[test]
fn what_a_recording_lacks_is_told() {
    let mut script = Script::new();
    script.kernel("orphan", (7, 1000), (10, 100));
    let mut recording = script.killed();
    recording.refused = 3;
    let analysis = Analysis::of(&program(recording));
    let text = text(&analysis, Width::Any);
    for part in [
        "has no end",
        "3 records found no room",
        "calls of 1 piece of work",
        "an unknown caller",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    assert_eq!(
        Program::of(Vec::new(), Path::new("/")).err(),
        Some(NoProgram::Nothing)
    );
}
