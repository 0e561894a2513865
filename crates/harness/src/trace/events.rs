//! The events of Chrome's trace format.

use std::io::{self, BufWriter, Write};

use serde_json::{Map, Value, json};

/// A row of a timeline: a process's number, and a thread's in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Track {
    pub(crate) process: u32,
    pub(crate) thread: u32,
}

/// Writes events one by one: a program of a million calls has three million.
pub(crate) struct Events<W: Write> {
    output: BufWriter<W>,
    is_empty: bool,
}

impl<W: Write> Events<W> {
    /// Begins with what else a reader should know.
    pub(crate) fn begin(output: W, other: &Value) -> io::Result<Events<W>> {
        let mut output = BufWriter::new(output);
        write!(
            output,
            r#"{{"displayTimeUnit":"ns","otherData":{other},"traceEvents":["#
        )?;
        Ok(Events {
            output,
            is_empty: true,
        })
    }

    pub(crate) fn push(&mut self, event: &Value) -> io::Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.output.write_all(b",")?;
        }
        serde_json::to_writer(&mut self.output, event)?;
        Ok(())
    }

    pub(crate) fn end(mut self) -> io::Result<()> {
        self.output.write_all(b"]}")?;
        self.output.flush()
    }
}

impl Track {
    /// Names the row.
    pub(crate) fn named(self, name: &str) -> Value {
        self.metadata("thread_name", name)
    }

    /// Names the row's process.
    pub(crate) fn of_process_named(self, name: &str) -> Value {
        self.metadata("process_name", name)
    }

    fn metadata(self, kind: &str, name: &str) -> Value {
        json!({"ph": "M", "name": kind, "pid": self.process, "tid": self.thread, "args": {"name": name}})
    }

    /// Something that takes time, which is in microseconds: its begin, and how long it lasts.
    pub(crate) fn complete(
        self,
        (category, name): (&str, &str),
        (began, took): (f64, f64),
        fields: Map<String, Value>,
    ) -> Value {
        json!({
            "ph": "X", "name": name, "cat": category, "pid": self.process, "tid": self.thread,
            "ts": began, "dur": took, "args": fields,
        })
    }

    /// The begin of an arrow at a time within something that takes time.
    pub(crate) fn flows_from(self, arrow: u64, time: f64) -> Value {
        json!({
            "ph": "s", "name": "launch", "cat": "launch", "id": arrow, "pid": self.process, "tid": self.thread,
            "ts": time,
        })
    }

    /// The arrow's end, at the begin of something.
    pub(crate) fn flows_to(self, arrow: u64, time: f64) -> Value {
        json!({
            "ph": "f", "bp": "e", "name": "launch", "cat": "launch", "id": arrow, "pid": self.process,
            "tid": self.thread, "ts": time,
        })
    }

    /// A value from a time on.
    pub(crate) fn counts(self, name: &str, time: f64, value: u64) -> Value {
        json!({"ph": "C", "name": name, "pid": self.process, "ts": time, "args": {"bytes": value}})
    }
}
