//! The lane that a shuffle reads from.

use ptx::ShuffleMode;

/// The lane from which a lane reads, and whether that is within bounds: `amount` is PTX's b, `bounds` its c.
#[inline(always)]
pub(crate) fn read_by(mode: ShuffleMode, lane: u32, amount: u32, bounds: u32) -> (u32, bool) {
    let (amount, clamp, segment) = (amount & 31, bounds & 31, bounds >> 8 & 31);
    let last = lane & segment | clamp & !segment;
    match mode {
        ShuffleMode::Up => {
            let from = lane.wrapping_sub(amount);
            (from, from as i32 >= last as i32)
        }
        ShuffleMode::Down => (lane + amount, lane + amount <= last),
        ShuffleMode::Butterfly => (lane ^ amount, lane ^ amount <= last),
        ShuffleMode::Index => {
            let from = lane & segment | amount & !segment;
            (from, from <= last)
        }
    }
}
