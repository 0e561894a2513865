//! From where a function is called.

use std::collections::BTreeSet;

use ptx::{Callee, Module, Operation};

use super::{line_of, places};
use crate::reach::reached;

/// How many calls are named of those that may be meant.
const MOST_NAMED: usize = 3;

/// A call: its function, and the instruction.
type Site = (u32, usize);

/// From where a kernel calls a function, the nearest call first. Of several calls it does not know which was made, and
/// names them all, and nothing of where those are called from. Nothing of the kernel itself.
pub(crate) fn called_at(module: &Module, kernel: u32, function: u32) -> Vec<String> {
    let reached = reached(module, kernel);
    let (mut notes, mut seen, mut function) = (Vec::new(), BTreeSet::new(), function);
    while function != kernel && seen.insert(function) {
        let sites = calls_of(module, &reached, function);
        match sites.as_slice() {
            [] => break,
            &[(caller, at)] => {
                let body = module.functions[caller as usize].body.as_ref();
                let body = body.expect("it has a call");
                let places = places(module, body, at);
                notes.push(format!("called at {}", line_of(&places, body, at)));
                notes.extend(places.notes());
                function = caller;
            }
            several => {
                notes.push(one_of(module, several));
                break;
            }
        }
    }
    notes
}

/// One of several calls, which is not known.
fn one_of(module: &Module, sites: &[Site]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for &(caller, at) in sites {
        let body = module.functions[caller as usize].body.as_ref();
        let body = body.expect("it has a call");
        let line = line_of(&places(module, body, at), body, at);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let others = lines.len().saturating_sub(MOST_NAMED);
    lines.truncate(MOST_NAMED);
    if others > 0 {
        lines.push(format!("{others} more"));
    }
    format!("called at {}", lines.join(" or "))
}

/// The direct calls of a function, or where there are none the calls through pointers.
fn calls_of(module: &Module, reached: &BTreeSet<u32>, function: u32) -> Vec<Site> {
    let (mut direct, mut indirect) = (Vec::new(), Vec::new());
    for &caller in reached {
        let Some(body) = &module.functions[caller as usize].body else {
            continue;
        };
        for (at, instruction) in body.instructions.iter().enumerate() {
            let Operation::Call(call) = &instruction.operation else {
                continue;
            };
            match &call.callee {
                Callee::Direct(callee) if callee.0 == function => direct.push((caller, at)),
                Callee::Direct(_) => {}
                Callee::Indirect { .. } => indirect.push((caller, at)),
            }
        }
    }
    match direct.is_empty() {
        true => indirect,
        false => direct,
    }
}
