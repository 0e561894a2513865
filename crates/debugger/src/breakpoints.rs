//! Breakpoints and watchpoints of a session, as a launch comes to them.

use std::collections::HashMap;

use engine::debug::{Site, Stopped};
use engine::memory::LANES;

use crate::expression::Expression;
use crate::inspect::View;
use crate::lines::Lines;
use crate::protocol::{Breakpoint, Location, Resolved, Seat};

/// All of a session.
#[derive(Default)]
pub(crate) struct Breakpoints {
    all: Vec<Active>,
    /// Those at instructions of the kernel that runs.
    at: HashMap<Site, Vec<usize>>,
}

struct Active {
    breakpoint: Breakpoint,
    condition: Option<Result<Expression, String>>,
    /// How often it was passed in launches before.
    before: u64,
    /// At which steps of this launch it was passed.
    passed: Vec<u64>,
}

/// A companion of a launch that stops it at a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) breakpoints: Vec<u32>,
    pub(crate) lane: u32,
    pub(crate) text: String,
}

impl Hit {
    /// Where nothing has stopped it: in the first lane that runs.
    pub(crate) fn at(stopped: &Stopped<'_>) -> Hit {
        Hit {
            lane: stopped.running().trailing_zeros(),
            ..Hit::default()
        }
    }
}

impl Breakpoints {
    /// Takes others in their place; those that were there before keep how often they were passed.
    pub(crate) fn set(&mut self, all: Vec<Breakpoint>) {
        let mut before = std::mem::take(&mut self.all);
        let active = |breakpoint: Breakpoint| {
            let known = before.iter().position(|it| it.breakpoint == breakpoint);
            known
                .map(|it| before.swap_remove(it))
                .unwrap_or_else(|| Active {
                    condition: breakpoint.condition.as_deref().map(Expression::parse),
                    breakpoint,
                    before: 0,
                    passed: Vec::new(),
                })
        };
        self.all = all.into_iter().map(active).collect();
    }

    /// Finds where they are in a kernel.
    pub(crate) fn resolve(&mut self, kernel: &str, lines: &Lines) -> Vec<Resolved> {
        self.at.clear();
        let mut resolved = Vec::new();
        for (index, active) in self.all.iter().enumerate() {
            if matches!(active.breakpoint.at, Location::Write(..)) {
                continue;
            }
            let (sites, place) = lines.find(&active.breakpoint.at);
            for site in sites {
                self.at.entry(site).or_default().push(index);
            }
            resolved.push(Resolved {
                id: active.breakpoint.id,
                kernel: kernel.to_owned(),
                place,
            });
        }
        resolved
    }

    /// A launch is over.
    pub(crate) fn end_launch(&mut self) {
        for active in &mut self.all {
            active.before += active.passed.len() as u64;
            active.passed.clear();
        }
    }

    /// Whether there are any at instructions of the kernel.
    pub(crate) fn are_there(&self) -> bool {
        !self.at.is_empty()
    }

    /// The watched memory: address and bytes, and the number of the watchpoint.
    pub(crate) fn watched(&self) -> Vec<(u64, u32, u32)> {
        let watched = |it: &Active| match it.breakpoint.at {
            Location::Write(address, bytes) => Some((address, bytes, it.breakpoint.id)),
            _ => None,
        };
        self.all.iter().filter_map(watched).collect()
    }

    /// Those that running lanes have come to: the first lane in which one stops.
    pub(crate) fn hit(&mut self, stopped: &Stopped<'_>, lines: &Lines) -> Option<Hit> {
        let at = self.at.get(&stopped.site())?;
        let mut hit: Option<Hit> = None;
        for &index in at {
            let active = &mut self.all[index];
            let Some((lane, text)) = active.meets(stopped, lines) else {
                continue;
            };
            if active.pass(stopped.position()) {
                let hit = hit.get_or_insert_with(|| Hit {
                    lane,
                    ..Hit::default()
                });
                hit.breakpoints.push(active.breakpoint.id);
                hit.text.push_str(&text);
            }
        }
        hit
    }
}

impl Active {
    /// The first running lane in which the condition is true; where it has no value, that lane and why.
    fn meets(&self, stopped: &Stopped<'_>, lines: &Lines) -> Option<(u32, String)> {
        let mut lanes = (0..LANES as u32).filter(|lane| stopped.running() >> lane & 1 != 0);
        let wrong = |why: &str| format!("its condition has no value: {why}");
        match &self.condition {
            None => Some((lanes.next()?, String::new())),
            Some(Err(why)) => Some((lanes.next()?, wrong(why))),
            Some(Ok(condition)) => lanes.find_map(|lane| {
                let view = View::new(stopped, lines, Seat { lane, frame: 0 });
                match condition.value(&view) {
                    Ok(value) => value.number.is_true().then(|| (lane, String::new())),
                    Err(why) => Some((lane, wrong(&why))),
                }
            }),
        }
    }

    /// It is passed at a step, maybe again: whether it stops there. Steps count up to the first that it stops at.
    fn pass(&mut self, position: u64) -> bool {
        let left = self.breakpoint.ignored.saturating_sub(self.before);
        let is_new = self.passed.last().is_none_or(|&last| last < position);
        if is_new && self.passed.len() as u64 <= left {
            self.passed.push(position);
        }
        let until_here = self.passed.partition_point(|&it| it <= position) as u64;
        self.before + until_here > self.breakpoint.ignored
    }
}
