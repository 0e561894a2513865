//! Calls of a thread: the outermost is recorded, with all that it calls itself.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use recording::{Call, Part, Record};

use crate::gate::Begun;
use crate::{Recorder, names, thread};

/// The functions that begin and end a profiler's range have these numbers. Those of other functions are their texts', and of
/// those that launch, with this bit.
const START: u32 = u32::MAX;
const STOP: u32 = u32::MAX - 1;
const LAUNCHES: u32 = 1 << 31;

/// The call that goes on in a thread, and how many it has made itself that go on.
#[derive(Clone, Copy, Default)]
struct Open {
    depth: u32,
    stack: u32,
    start: u64,
}

thread_local! {
    static OPEN: Cell<Open> = const { Cell::new(Open { depth: 0, stack: 0, start: 0 }) };
}

impl Recorder {
    /// The number of a function of driver or runtime; `None` where its calls are not recorded.
    pub fn function(&self, name: &str) -> Option<u32> {
        match name {
            name if name.contains("ProfilerStart") => Some(START),
            name if name.contains("ProfilerStop") => Some(STOP),
            name => {
                let name = names::recorded(name)?;
                let launches = match names::launches(name) {
                    true => LAUNCHES,
                    false => 0,
                };
                Some(self.text(name) | launches)
            }
        }
    }

    /// A call of a function with such a number begins on this thread.
    pub fn enter(&self, function: u32, correlation: u32) {
        // Another thread of the parent may have held any lock when this process was forked off.
        if !self.is_own() {
            return;
        }
        match function {
            START => return,
            STOP => return self.turn(&self.gate.profiler_stops((self.clock)())),
            _ => {}
        }
        // A thread that ends has no variables any more.
        let Ok(open) = OPEN.try_with(Cell::get) else {
            return;
        };
        if open.depth > 0 {
            self.gate.has_inner(correlation);
            OPEN.set(Open {
                depth: open.depth + 1,
                ..open
            });
        } else {
            let before = (self.clock)();
            let (is_recorded, turns) = self.gate.admits(Begun {
                correlation,
                is_launch: function & LAUNCHES != 0,
                time: before,
            });
            self.turn(&turns);
            if !is_recorded {
                return;
            }
            let stack = self.callers();
            let start = (self.clock)();
            OPEN.set(Open {
                depth: 1,
                stack,
                start,
            });
            self.took(before, start);
        }
    }

    /// The call ends, with this answer. Returns when it began, if it was recorded: not where another call made it.
    pub fn leave(&self, function: u32, correlation: u32, status: u32) -> Option<u64> {
        if !self.is_own() {
            return None;
        }
        match function {
            START => {
                self.turn(&self.gate.profiler_starts((self.clock)()));
                return None;
            }
            STOP => return None,
            _ => {}
        }
        let open = OPEN.try_with(Cell::get).ok()?;
        match open.depth {
            // It began where nothing was recorded.
            0 => None,
            1 => {
                let end = (self.clock)();
                OPEN.set(Open::default());
                self.write(&Record::Call(Call {
                    name: function & !LAUNCHES,
                    thread: thread(),
                    stack: open.stack,
                    start: open.start,
                    end,
                    correlation,
                    status,
                }));
                self.took(end, (self.clock)());
                Some(open.start)
            }
            depth => {
                OPEN.set(Open {
                    depth: depth - 1,
                    ..open
                });
                None
            }
        }
    }

    /// Whether what this call has asked for is recorded.
    pub fn has_call(&self, correlation: u32) -> bool {
        self.gate.has_call(correlation)
    }

    /// A part begins or ends.
    pub(crate) fn turn(&self, turns: &[Part]) {
        for &turn in turns {
            self.write(&Record::Part(turn));
        }
    }

    fn took(&self, from: u64, to: u64) {
        self.cost
            .fetch_add(to.saturating_sub(from), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use recording::Recording;

    use super::*;

    #[test]
    fn a_call_is_one_record_with_what_it_calls_itself() {
        static TIME: AtomicU64 = AtomicU64::new(0);
        let folder = tempfile::tempdir().expect("a folder");
        let clock = || TIME.fetch_add(1, Ordering::Relaxed);
        let recorder = Recorder::create(folder.path(), "a test", false, clock).expect("a file");
        let outer = recorder
            .function("cudaMemcpyAsync_v3020")
            .expect("recorded");
        let inner = recorder.function("cuMemcpyDtoHAsync_v2").expect("recorded");
        assert_eq!(recorder.function("cudaGetDevice_v3020"), None);
        recorder.enter(outer, 5);
        recorder.enter(inner, 5);
        recorder.leave(inner, 5, 0);
        recorder.leave(outer, 5, 700);
        recorder.leave(outer, 6, 0);
        recorder.end(0);
        let path = folder.path().join(format!("{}.rec", std::process::id()));
        let records = Recording::read(&path).expect("a recording").records;
        let calls: Vec<&Call> = records
            .iter()
            .filter_map(|record| match record {
                Record::Call(call) => Some(call),
                _ => None,
            })
            .collect();
        let [call] = calls[..] else {
            panic!("{calls:?}")
        };
        assert_eq!(
            (call.name, call.status, call.thread),
            (outer, 700, thread())
        );
        assert!(call.stack > 0 && call.end > call.start);
        let Some(Record::End(end)) = records.last() else {
            panic!("{records:?}")
        };
        assert_eq!(
            end.cost, 2,
            "a tick for the callers, and one for the record"
        );
    }
}
