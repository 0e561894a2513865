//! The blocks of a launch, one after another; where all that have begun wait for others, in turns.

use corosensei::stack::DefaultStack;

use crate::block::{LiveBlock, Progress};
use crate::wait::line;
use crate::{Launch, LaunchError, most_blocks};

/// Twice the local memory that a GPU's thread may have. Only the pages that a thread touches take
/// memory.
pub(crate) const STACK_BYTES: usize = 1024 * 1024;

/// Stacks that threads have left.
#[derive(Default)]
pub(crate) struct Stacks(Vec<DefaultStack>);

impl Stacks {
    /// A stack, used or new.
    pub(crate) fn take(&mut self) -> Result<DefaultStack, LaunchError> {
        match self.0.pop() {
            Some(stack) => Ok(stack),
            None => DefaultStack::new(STACK_BYTES)
                .map_err(|error| LaunchError::Stack(error.to_string())),
        }
    }

    pub(crate) fn give_back(&mut self, stack: DefaultStack) {
        self.0.push(stack);
    }
}

/// Runs every block, to the end or to the first failure.
pub(crate) fn run(launch: &Launch<'_>, kernel: &dyn Fn()) -> Result<(), LaunchError> {
    let (all, most) = (launch.shape.blocks(), most_blocks(launch.shape) as usize);
    let mut stacks = Stacks::default();
    let mut live: Vec<LiveBlock<'_>> = Vec::new();
    let (mut begun, mut turn) = (0, 0);
    loop {
        // One that has not begun goes before those that only wait.
        if begun < all && live.len() < most {
            turn = live.len();
            live.push(LiveBlock::new(launch, kernel, begun));
            begun += 1;
        } else if live.is_empty() {
            return Ok(());
        } else {
            turn = (turn + 1) % live.len();
        }
        match live[turn].advance(&mut stacks)? {
            Progress::Ended => drop(live.swap_remove(turn)),
            Progress::Spins => give_up(launch, &live)?,
        }
    }
}

/// Ends a launch whose threads have all waited for too long.
fn give_up(launch: &Launch<'_>, live: &[LiveBlock<'_>]) -> Result<(), LaunchError> {
    if live.iter().any(|block| block.idle <= launch.steps) {
        return Ok(());
    }
    let spinning = live.iter().find_map(LiveBlock::spinning);
    spinning.map_or(Ok(()), |(thread, at)| {
        Err(LaunchError::Steps {
            thread,
            limit: launch.steps,
            place: line(at),
        })
    })
}
