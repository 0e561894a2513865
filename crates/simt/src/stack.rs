//! The stack of an emulated thread.

#[cfg(windows)]
use corosensei::stack::StackTebFields;
use corosensei::stack::{DefaultStack, STACK_ALIGNMENT, Stack, StackPointer};

use crate::LaunchError;

/// Twice the local memory that a GPU's thread may have. Only the pages that a thread touches take
/// memory.
const BYTES: usize = 1024 * 1024;

/// How far stacks begin from each other, and how many different beginnings there are. Without this
/// all would begin at the same place of a page, and share one corner of the first-level cache.
const STEP: usize = 7 * 64;
const STEPS: usize = 8;

/// A stack that begins a little below its end.
pub(crate) struct ThreadStack {
    stack: DefaultStack,
    skipped: usize,
}

impl ThreadStack {
    /// The stack with this number.
    pub(crate) fn new(number: usize) -> Result<ThreadStack, LaunchError> {
        const { assert!(STEP.is_multiple_of(STACK_ALIGNMENT)) };
        let stack =
            DefaultStack::new(BYTES).map_err(|error| LaunchError::Stack(error.to_string()))?;
        Ok(ThreadStack {
            stack,
            skipped: number % STEPS * STEP,
        })
    }
}

// SAFETY: a part of a stack with all its guard pages, of which some bytes less can be used.
unsafe impl Stack for ThreadStack {
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.skipped;
        // Not 0: some bytes below the end of a stack.
        StackPointer::new(base).unwrap_or(self.stack.base())
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}
