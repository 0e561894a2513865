//! How much of a multiprocessor's time an instruction takes, as far as counts can say: what lines and advice
//! are ordered by.

use crate::driver::count::{Class, Counted, Memory, Space};

/// Warps that a multiprocessor's four schedulers issue in a cycle.
const ISSUED: f64 = 4.0;
/// Warps per cycle of what goes through 16 lanes.
const SPECIAL: f64 = 0.5;
/// Sectors that L2 gives a multiprocessor in a cycle.
const SECTORS: f64 = 2.0;
/// Sectors that it has in L1, of what its block has read before.
const REPEATED: f64 = 4.0;

/// Cycles of one multiprocessor if nothing else ran: for issue, sectors of global and local memory, and
/// wavefronts of shared memory.
pub(super) fn cycles(of: &Counted) -> f64 {
    let issue = match of.class {
        Class::Special => of.warps as f64 / SPECIAL,
        _ => of.warps as f64 / ISSUED,
    };
    issue + of.memory.iter().map(memory).sum::<f64>()
}

/// Cycles for what an instruction does in a space.
pub(super) fn memory(of: &Memory) -> f64 {
    match of.space {
        Space::Global => {
            let new = of.new_sectors.min(of.sectors);
            new as f64 / SECTORS + repeated(of.sectors - new)
        }
        Space::Local => repeated(of.sectors),
        Space::Shared => of.wavefronts as f64,
        Space::Constant | Space::Parameters => 0.0,
    }
}

/// Cycles for sectors that are in L1.
pub(super) fn repeated(count: u64) -> f64 {
    count as f64 / REPEATED
}
