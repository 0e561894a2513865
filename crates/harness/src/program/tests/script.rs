//! Recordings made by hand.

use std::collections::HashMap;
use std::path::Path;

use recording::{
    Activity, Allocation, Call, Device, End, Frame, Kernel, Memory, Part, Process, Range, Record,
    Recording, Stack, Synchronization, Synchronized, Text, Work,
};

use super::super::Program;

/// Writes the recording of a process whose author's file is `train.py`.
pub(in crate::program) struct Script {
    records: Vec<Record>,
    texts: HashMap<String, u32>,
    stacks: HashMap<u32, u32>,
    correlation: u32,
}

/// A microsecond.
pub(in crate::program) const US: u64 = 1000;

impl Script {
    pub(in crate::program) fn new() -> Script {
        Script::emulated(false)
    }

    pub(in crate::program) fn emulated(is_emulated: bool) -> Script {
        let process = Process {
            id: 42,
            parent: 1,
            command: vec!["python3".to_owned(), "train.py".to_owned()],
            time: 5000,
            unix_time: 1_700_000_000_000_000_000,
            source: "by hand".to_owned(),
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
    pub(in crate::program) fn call(
        &mut self,
        function: &str,
        line: u32,
        (start, end): (u64, u64),
    ) -> u32 {
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

    pub(in crate::program) fn kernel(&mut self, name: &str, of: (u32, u32), time: (u64, u64)) {
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

    pub(in crate::program) fn copy(
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

    pub(in crate::program) fn synchronization(&mut self, on: Synchronized, correlation: u32) {
        self.records.push(Record::Synchronization(Synchronization {
            on,
            context: 1,
            correlation,
            start: 0,
            end: 0,
        }));
    }

    /// Memory of a device, allocated or freed at a microsecond.
    pub(in crate::program) fn memory(
        &mut self,
        (address, bytes, is_release): (u64, u64, bool),
        correlation: u32,
        time: u64,
    ) {
        self.records.push(Record::Allocation(Allocation {
            memory: Memory::Device,
            is_release,
            is_pooled: false,
            address,
            bytes,
            device: 0,
            correlation,
            time: 5000 + time * US,
        }));
    }

    /// A range of NVTX of the process between these microseconds.
    pub(in crate::program) fn range(&mut self, name: &str, (start, end): (u64, u64)) {
        let name = self.text(name);
        let (id, thread) = (name, 0);
        let time = |it: u64| 5000 + it * US;
        let begin = Range::Begin {
            id,
            thread,
            name,
            time: time(start),
        };
        self.records.push(Record::Range(begin));
        let time = time(end);
        self.records.push(Record::Range(Range::End { id, time }));
    }

    /// A part of the process that begins at a microsecond, and these ends of it.
    pub(in crate::program) fn part(&mut self, begin: u64, ends: &[u64]) {
        let time = |it: u64| 5000 + it * US;
        self.records.push(Record::Part(Part::Begin(time(begin))));
        let ends = ends.iter().map(|it| Record::Part(Part::End(time(*it))));
        self.records.extend(ends);
    }

    /// The words for the parts that were asked for.
    pub(in crate::program) fn asked(&mut self, words: &str) {
        self.records.push(Record::Asked(words.to_owned()));
    }

    /// The recording of a process that has ended then.
    pub(in crate::program) fn end(mut self, time: u64) -> Recording {
        self.records.push(Record::End(End {
            time: 5000 + time * US,
            lost: 0,
            cost: 3 * US,
        }));
        self.killed()
    }

    pub(in crate::program) fn killed(self) -> Recording {
        Recording {
            records: self.records,
            refused: 0,
        }
    }
}

pub(in crate::program) fn program(recording: Recording) -> Program {
    Program::of(vec![recording], Path::new("/home/me")).expect("a program")
}
