//! Counts of launches by kernel: printed as the process ends.

use std::collections::BTreeMap;
use std::sync::Mutex;

use engine::count::{Counts, Space, Tallied};

use crate::findings::say;
use crate::handles::lock;

static ALL: Mutex<Vec<Counts>> = Mutex::new(Vec::new());

/// Lines of a kernel that are shown.
const LINES: usize = 8;

/// Adds a launch to what its kernel has done.
pub(crate) fn add(kernel: &str, tallied: &Tallied<'_>) {
    let mut all = lock(&ALL);
    match all.iter_mut().find(|it| it.kernel == kernel) {
        Some(counts) => tallied.add_to(counts),
        None => all.push(tallied.counts()),
    }
}

/// Prints what each kernel has done, and its lines with the most instructions.
pub(crate) fn print() {
    for counts in lock(&ALL).iter() {
        say(&format!(
            "{}: {} launches, {} warps, {} instructions of warps, {} FLOP, {} bytes of global memory, {} sectors",
            counts.kernel,
            counts.launches,
            counts.warps,
            counts.instructions.iter().map(|it| it.warps).sum::<u64>(),
            counts.flop(),
            counts.bytes(Space::Global),
            counts.footprint.either,
        ));
        let mut lines: BTreeMap<String, u64> = BTreeMap::new();
        for counted in &counts.instructions {
            let place = match &counted.source {
                Some(place) => place.to_string(),
                None => format!("line {} of the PTX", counted.ptx_line),
            };
            *lines.entry(place).or_default() += counted.warps;
        }
        let mut lines: Vec<(String, u64)> = lines.into_iter().collect();
        lines.sort_by_key(|it| std::cmp::Reverse(it.1));
        for (place, warps) in lines.iter().take(LINES) {
            say(&format!("  {warps:>12} instructions of warps at {place}"));
        }
    }
}
