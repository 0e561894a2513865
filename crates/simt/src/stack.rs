//! The stack of an emulated thread.

#[cfg(windows)]
use corosensei::stack::StackTebFields;
use corosensei::stack::{DefaultStack, STACK_ALIGNMENT, Stack, StackPointer};

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::LaunchError;

/// Twice the local memory that a GPU's thread may have. Only the pages that a thread touches take
/// memory.
const BYTES: usize = 1024 * 1024;

/// How far stacks begin from each other, and how many different beginnings there are: each line of a
/// page. Without this all would begin at the same place of a page, and share one corner of the
/// first-level cache.
const STEP: usize = 7 * 64;
const STEPS: usize = 64;

/// How many stacks are kept for launches to come, and those that are.
const KEPT: usize = 4096;
static SPARE: Mutex<Vec<ThreadStack>> = Mutex::new(Vec::new());

/// A stack that begins a little below its end.
pub(crate) struct ThreadStack {
    stack: DefaultStack,
    skipped: usize,
}

impl ThreadStack {
    /// A stack, used or new.
    pub(crate) fn new() -> Result<ThreadStack, LaunchError> {
        const { assert!(STEP.is_multiple_of(STACK_ALIGNMENT)) };
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(stack) = spare {
            return Ok(stack);
        }
        let stack =
            DefaultStack::new(BYTES).map_err(|error| LaunchError::Stack(error.to_string()))?;
        Ok(ThreadStack {
            stack,
            skipped: MADE.fetch_add(1, Ordering::Relaxed) % STEPS * STEP,
        })
    }

    /// Keeps stacks for launches to come.
    pub(crate) fn keep(stacks: Vec<ThreadStack>) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        let room = KEPT.saturating_sub(spare.len());
        spare.extend(stacks.into_iter().take(room));
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
