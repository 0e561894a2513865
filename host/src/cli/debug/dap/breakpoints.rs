//! Breakpoints as an editor sets them.

use std::collections::BTreeMap;

use debugger::protocol::{Breakpoint, Location, Resolved};
use serde_json::{Value, json};

/// All that are set, by the source or the kind that a request replaces.
#[derive(Default)]
pub(super) struct Breakpoints {
    sets: BTreeMap<String, Vec<Breakpoint>>,
    /// The last number.
    last: u32,
}

impl Breakpoints {
    /// Takes those of a request in place of those before: what the editor is told of each.
    pub(super) fn set(&mut self, command: &str, arguments: &Value) -> Vec<Value> {
        let path = arguments["source"]["path"].as_str().unwrap_or_default();
        let asked = arguments["breakpoints"].as_array();
        let (mut set, mut told) = (Vec::new(), Vec::new());
        for it in asked.into_iter().flatten() {
            let at = match command {
                "setBreakpoints" => line(it).map(|line| Location::Line(path.to_owned(), line)),
                "setFunctionBreakpoints" => it["name"]
                    .as_str()
                    .map(|it| Location::Function(it.to_owned())),
                _ => it["dataId"].as_str().and_then(watched),
            };
            let Some(at) = at else {
                let message = "it names no place";
                told.push(json!({"verified": false, "reason": "failed", "message": message}));
                continue;
            };
            self.last += 1;
            let is_watch = matches!(at, Location::Write(..));
            told.push(match is_watch {
                true => json!({"id": self.last, "verified": true}),
                false => json!({
                    "id": self.last,
                    "verified": false,
                    "reason": "pending",
                    "message": "found when a kernel that has it is launched",
                }),
            });
            let times = it["hitCondition"]
                .as_str()
                .and_then(|it| it.trim().parse::<u64>().ok());
            set.push(Breakpoint {
                id: self.last,
                at,
                condition: it["condition"].as_str().map(str::to_owned),
                ignored: times.map_or(0, |it| it.saturating_sub(1)),
            });
        }
        self.sets.insert(format!("{command} {path}"), set);
        told
    }

    pub(super) fn all(&self) -> Vec<Breakpoint> {
        self.sets.values().flatten().cloned().collect()
    }

    /// Those that a kernel has, as the editor is told.
    pub(super) fn resolved(&self, all: &[Resolved]) -> Vec<Value> {
        let body = |it: &Resolved| {
            let place = it.place.as_ref()?;
            Some(json!({"id": it.id, "verified": true, "line": place.line}))
        };
        all.iter().filter_map(body).collect()
    }
}

fn line(of: &Value) -> Option<u32> {
    of["line"].as_u64().and_then(|it| u32::try_from(it).ok())
}

/// Names what a watchpoint watches.
pub(super) fn data_id(address: u64, bytes: u32) -> String {
    format!("{address}:{bytes}")
}

fn watched(id: &str) -> Option<Location> {
    let (address, bytes) = id.split_once(':')?;
    Some(Location::Write(address.parse().ok()?, bytes.parse().ok()?))
}
