//! The stack of a thread within a function: `alloca`, `stacksave`, `stackrestore`.

use super::calls;
use super::failure::{Failed, Failure};
use super::op::Context;
use super::program::{Call, Stack};
use super::registers::lanes_of;
use super::warp::Warp;
use crate::limits::MAX_LOCAL_BYTES;

impl Warp {
    /// Executes an instruction on the stack for the lanes of the context's mask. What `alloca` gives belongs to the function
    /// until it returns, or until the stack is restored to what it was before.
    pub(super) fn stack(
        &mut self,
        which: Stack,
        call: &Call,
        context: &mut Context<'_>,
        instruction: u32,
    ) -> Result<(), Box<Failed>> {
        let registers = context.registers;
        let value = |index: usize, lane| {
            let words = call.arguments[index];
            // SAFETY: the words of a verified program, whose registers these are.
            let word = |index| u64::from(unsafe { calls::word(registers, words, index, lane) });
            (0..words.count).fold(0, |value, index| value | word(index) << (32 * index))
        };
        let give = |lane, value: u64| {
            let words = call.returns[0];
            for index in 0..words.count {
                let half = (value >> (32 * index)) as u32;
                // SAFETY: as above.
                unsafe { calls::set_word(registers, words, index, lane, half) };
            }
        };
        match which {
            Stack::Allocate { alignment } => {
                let mut left = context.mask;
                while left != 0 {
                    let first = left.trailing_zeros() as usize;
                    let bytes = value(0, first);
                    let same = lanes_of(left).filter(|&lane| value(0, lane) == bytes);
                    let same = same.fold(0, |mask, lane| mask | 1 << lane);
                    left &= !same;
                    let start = self.allocate(same, (bytes, alignment), context);
                    let start = start
                        .map_err(|failure| Box::new(context.failed(failure.into(), instruction)))?;
                    lanes_of(same).for_each(|lane| give(lane, start.into()));
                }
            }
            Stack::Save => {
                for lane in lanes_of(context.mask) {
                    give(lane, self.frames.depth(lane) as u64);
                }
            }
            Stack::Restore => {
                for lane in lanes_of(context.mask) {
                    let depth = usize::try_from(value(0, lane)).unwrap_or(usize::MAX);
                    self.frames.restore(lane, depth);
                }
            }
        }
        Ok(())
    }

    /// Local memory for some lanes: its offset in each thread's.
    fn allocate(
        &mut self,
        lanes: u32,
        (bytes, alignment): (u64, u32),
        context: &mut Context<'_>,
    ) -> Result<u32, Failure> {
        let limit = MAX_LOCAL_BYTES;
        let room = limit.saturating_sub(self.frames.bytes().saturating_add(alignment));
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        if bytes > room {
            let actual = (limit - room).saturating_add(bytes);
            return Err(Failure::LocalMemory { actual, limit });
        }
        let start = self.frames.extend(lanes, bytes, alignment);
        self.begin_local(lanes, (start, bytes), context);
        Ok(start)
    }
}
