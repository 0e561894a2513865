//! The threads of an editor: lanes of the warps that it has looked at.
//!
//! An editor may ask for the name of a thread once, so a number stands for one thread of a block alone.

use debugger::protocol::Stop;
use serde_json::{Value, json};

/// The thread of a program that runs.
const PROGRAM: u64 = 1;
const LANES: u64 = 32;

/// The warps that the editor has looked at. Threads are numbered by them, those of the first from 32.
#[derive(Default)]
pub(super) struct Threads {
    warps: Vec<Warp>,
    /// The one that stands.
    standing: u64,
}

#[derive(PartialEq)]
struct Warp {
    block: [u32; 3],
    /// In the block, of each lane.
    threads: Vec<[u32; 3]>,
}

impl Threads {
    /// A warp stands.
    pub(super) fn stand(&mut self, stop: &Stop) {
        let warp = Warp {
            block: stop.block,
            threads: stop.threads.clone(),
        };
        let known = self.warps.iter().position(|it| *it == warp);
        let index = known.unwrap_or_else(|| {
            self.warps.push(warp);
            self.warps.len() - 1
        });
        self.standing = index as u64;
    }

    /// The number of a lane's thread.
    pub(super) fn number(&self, lane: u32) -> u64 {
        LANES * (1 + self.standing) + u64::from(lane)
    }

    /// The lane of a request's thread.
    ///
    /// # Errors
    /// It is of another warp.
    pub(super) fn lane_of(&self, arguments: &Value) -> Result<u32, String> {
        let thread = arguments["threadId"].as_u64().unwrap_or(0);
        let mut lanes = 0..LANES as u32;
        let found = lanes.find(|&lane| self.number(lane) == thread);
        found.ok_or_else(|| format!("thread {thread} is not of the warp that stands"))
    }

    /// The threads that have not ended, as an editor is told.
    pub(super) fn told(&self, stop: Option<&Stop>) -> Value {
        let Some(stop) = stop else {
            return json!({"threads": [{"id": PROGRAM, "name": "the program runs"}]});
        };
        let live = (0..LANES as u32).filter(|lane| stop.live >> lane & 1 != 0);
        let thread = |lane: u32| {
            let thread = stop.threads[lane as usize];
            let name = format!("block {:?}, thread {thread:?}", stop.block);
            json!({"id": self.number(lane), "name": name})
        };
        json!({"threads": live.map(thread).collect::<Vec<_>>()})
    }
}
