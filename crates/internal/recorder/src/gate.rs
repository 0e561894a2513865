//! Says what is recorded: all of a process, or the parts of it that were selected.
//!
//! A part is a time. Calls that are made within it are recorded to their ends, and with them all that they ask of devices, also
//! where that is done long after the part: their numbers tell.

use std::sync::{Mutex, MutexGuard};

use recording::Part as Turn;

use crate::lock;
use crate::selection::{Selection, Within};

/// Whether there is a selection, and how far it is.
#[derive(Debug)]
pub(crate) struct Gate(Option<Mutex<State>>);

#[derive(Debug)]
struct State {
    selection: Selection,
    parts: Vec<Part>,
    /// Ranges with the selected name that go on.
    ranges: u32,
    /// Launches in front of the first part, and then those that are recorded.
    launches: u64,
    /// So many launches were recorded as were asked for.
    is_over: bool,
}

/// A part of a process.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u64,
    /// `u64::MAX` until it is known.
    end: u64,
    /// The first and the last of the numbers of its calls.
    calls: (u32, u32),
}

/// A call that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun {
    pub(crate) correlation: u32,
    pub(crate) is_launch: bool,
    pub(crate) time: u64,
}

/// Begins and ends of parts, which are to be written. Only the first of a part's ends counts.
pub(crate) type Turns = Vec<Turn>;

impl Gate {
    /// For a process that is recorded from this time on.
    pub(crate) fn new(selection: Selection, begin: u64) -> (Gate, Turns) {
        if selection.is_all() {
            return (Gate(None), Turns::new());
        }
        let start = match selection.within {
            Within::All => Some(begin),
            Within::Delay(delay) => Some(begin.saturating_add(delay.as_nanos() as u64)),
            Within::Profiler | Within::Range(_) | Within::Skip(_) => None,
        };
        let mut state = State {
            selection,
            parts: Vec::new(),
            ranges: 0,
            launches: 0,
            is_over: false,
        };
        let turns = start.map_or_else(Turns::new, |start| state.open(start));
        (Gate(Some(Mutex::new(state))), turns)
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        self.0.as_ref().map(lock)
    }

    /// Whether a call is recorded that begins.
    pub(crate) fn admits(&self, call: Begun) -> (bool, Turns) {
        match self.state() {
            None => (true, Turns::new()),
            Some(mut state) => state.admits(call),
        }
    }

    /// A recorded call makes another, with this number.
    pub(crate) fn has_inner(&self, correlation: u32) {
        if let Some(mut state) = self.state() {
            state.has(correlation);
        }
    }

    /// `cudaProfilerStart` has returned.
    pub(crate) fn profiler_starts(&self, time: u64) -> Turns {
        self.state().map_or_else(Turns::new, |mut state| {
            match state.selection.within == Within::Profiler {
                true => state.open(time),
                false => Turns::new(),
            }
        })
    }

    /// `cudaProfilerStop` is called.
    pub(crate) fn profiler_stops(&self, time: u64) -> Turns {
        self.state().map_or_else(Turns::new, |mut state| {
            match state.selection.within == Within::Profiler {
                true => state.close(time),
                false => Turns::new(),
            }
        })
    }

    /// A range begins. Says whether it is one of those that were selected.
    pub(crate) fn range_begins(&self, name: &str, time: u64) -> (bool, Turns) {
        let Some(mut state) = self.state() else {
            return (false, Turns::new());
        };
        let is_selected = matches!(&state.selection.within, Within::Range(it) if it == name);
        if !is_selected {
            return (false, Turns::new());
        }
        state.ranges += 1;
        (true, state.open(time))
    }

    /// One of these ranges ends.
    pub(crate) fn range_ends(&self, time: u64) -> Turns {
        self.state().map_or_else(Turns::new, |mut state| {
            state.ranges = state.ranges.saturating_sub(1);
            match state.ranges {
                0 => state.close(time),
                _ => Turns::new(),
            }
        })
    }

    /// Whether what this call has asked for is recorded.
    pub(crate) fn has_call(&self, correlation: u32) -> bool {
        let is_in = |it: &Part| (it.calls.0..=it.calls.1).contains(&correlation);
        self.state()
            .is_none_or(|state| state.parts.iter().any(is_in))
    }

    /// Whether what happens at this time, and is no call's, is recorded.
    pub(crate) fn has_time(&self, time: u64) -> bool {
        let is_in = |it: &Part| (it.start..it.end).contains(&time);
        self.state()
            .is_none_or(|state| state.parts.iter().any(is_in))
    }
}

impl State {
    /// Begins a part, unless one goes on or the recording is over.
    fn open(&mut self, start: u64) -> Turns {
        let end = match (self.selection.duration, self.parts.first()) {
            (None, _) => u64::MAX,
            (Some(duration), first) => {
                let begun = first.map_or(start, |it| it.start);
                begun.saturating_add(duration.as_nanos() as u64)
            }
        };
        let goes_on = self.parts.last().is_some_and(|it| start < it.end);
        if self.is_over || goes_on || start >= end {
            return Turns::new();
        }
        if self.parts.is_empty() {
            self.launches = 0;
        }
        self.parts.push(Part {
            start,
            end,
            calls: (u32::MAX, 0),
        });
        match end {
            u64::MAX => vec![Turn::Begin(start)],
            end => vec![Turn::Begin(start), Turn::End(end)],
        }
    }

    fn close(&mut self, time: u64) -> Turns {
        match self.parts.last_mut() {
            Some(part) if time < part.end => {
                part.end = time;
                vec![Turn::End(time)]
            }
            _ => Turns::new(),
        }
    }

    fn admits(&mut self, call: Begun) -> (bool, Turns) {
        let mut turns = Turns::new();
        if let (true, true, Within::Skip(skipped)) = (
            call.is_launch,
            self.parts.is_empty(),
            &self.selection.within,
        ) {
            match self.launches < *skipped {
                true => self.launches += 1,
                false => turns = self.open(call.time),
            }
        }
        let is_within = |it: &Part| (it.start..it.end).contains(&call.time);
        if !self.parts.last().is_some_and(is_within) {
            return (false, turns);
        }
        if call.is_launch {
            if self.selection.launches == Some(self.launches) {
                self.is_over = true;
                turns.extend(self.close(call.time));
                return (false, turns);
            }
            self.launches += 1;
        }
        self.has(call.correlation);
        (true, turns)
    }

    fn has(&mut self, correlation: u32) {
        if let Some(part) = self.parts.last_mut() {
            let (first, last) = part.calls;
            part.calls = (first.min(correlation), last.max(correlation));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn gate(within: Within, duration: Option<u64>, launches: Option<u64>) -> (Gate, Turns) {
        let selection = Selection {
            within,
            duration: duration.map(Duration::from_nanos),
            launches,
        };
        Gate::new(selection, 1000)
    }

    /// The numbers of those launches that are recorded, of launches with these numbers at ten times as many nanoseconds.
    fn recorded(gate: &Gate, launches: std::ops::Range<u32>) -> Vec<u32> {
        let is_recorded = |it: &u32| {
            let call = Begun {
                correlation: *it,
                is_launch: true,
                time: u64::from(*it) * 10,
            };
            gate.admits(call).0
        };
        launches.filter(is_recorded).collect()
    }

    #[test]
    fn all_is_recorded_where_nothing_was_selected() {
        let (gate, turns) = gate(Within::All, None, None);
        assert!(turns.is_empty() && gate.profiler_stops(5).is_empty());
        assert_eq!(recorded(&gate, 1..4), [1, 2, 3]);
        assert!(gate.has_call(9) && gate.has_time(90));
    }

    #[test]
    fn the_profilers_parts_have_their_calls_and_times() {
        let (gate, _) = gate(Within::Profiler, None, None);
        assert!(gate.range_begins("a", 1).1.is_empty());
        assert_eq!(gate.profiler_starts(100), [Turn::Begin(100)]);
        // A second start within the part changes nothing.
        assert!(gate.profiler_starts(120).is_empty());
        assert_eq!(recorded(&gate, 5..15), [10, 11, 12, 13, 14]);
        gate.has_inner(16);
        assert_eq!(gate.profiler_stops(200), [Turn::End(200)]);
        assert!(gate.profiler_stops(210).is_empty());
        assert!(recorded(&gate, 20..25).is_empty());
        gate.profiler_starts(300);
        assert_eq!(recorded(&gate, 30..32), [30, 31]);
        let calls: Vec<u32> = (0..50).filter(|it| gate.has_call(*it)).collect();
        assert!(calls.into_iter().eq((10..17).chain(30..32)));
        assert!(gate.has_time(199) && !gate.has_time(200) && gate.has_time(301));
    }

    #[test]
    fn ranges_of_a_name_open_it_however_they_lie() {
        let (gate, _) = gate(Within::Range("step".to_owned()), None, None);
        assert_eq!(gate.range_begins("other", 50), (false, Turns::new()));
        assert_eq!(
            gate.range_begins("step", 100),
            (true, vec![Turn::Begin(100)])
        );
        assert_eq!(gate.range_begins("step", 110), (true, Turns::new()));
        assert!(gate.range_ends(120).is_empty());
        assert_eq!(recorded(&gate, 8..14), [10, 11, 12, 13]);
        assert_eq!(gate.range_ends(140), [Turn::End(140)]);
        assert!(recorded(&gate, 14..16).is_empty());
    }

    #[test]
    fn time_ends_a_recording_for_good() {
        let (delayed, turns) = gate(Within::Delay(Duration::from_nanos(100)), Some(50), None);
        assert_eq!(turns, [Turn::Begin(1100), Turn::End(1150)]);
        assert_eq!(recorded(&delayed, 105..120), [110, 111, 112, 113, 114]);

        let (gate, _) = gate(Within::Profiler, Some(50), None);
        assert_eq!(
            gate.profiler_starts(100),
            [Turn::Begin(100), Turn::End(150)]
        );
        assert_eq!(gate.profiler_stops(120), [Turn::End(120)]);
        assert_eq!(
            gate.profiler_starts(140),
            [Turn::Begin(140), Turn::End(150)]
        );
        assert_eq!(recorded(&gate, 13..20), [14]);
        assert!(gate.profiler_stops(160).is_empty() && gate.profiler_starts(170).is_empty());
    }

    #[test]
    fn launches_are_skipped_and_counted() {
        let (gate, turns) = gate(Within::Skip(3), None, Some(2));
        assert!(turns.is_empty());
        let copy = |number: u32| Begun {
            correlation: number,
            is_launch: false,
            time: u64::from(number) * 10,
        };
        assert!(!gate.admits(copy(1)).0);
        assert_eq!(recorded(&gate, 2..7), [5, 6]);
        // What follows the last launch is recorded up to the next.
        assert!(gate.admits(copy(7)).0);
        assert!(recorded(&gate, 8..12).is_empty());
        assert!(!gate.admits(copy(12)).0 && !gate.has_time(130));
    }
}
