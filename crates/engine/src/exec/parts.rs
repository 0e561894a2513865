//! Parts of dynamic shared memory, as blocks of checked launches declare them.

use super::checked::site;
use super::op::{Context, Op};
use super::registers::lanes_of;
use crate::memory::{DynamicPart, Parts};

/// Keeps what the running lanes declare: mostly the same.
///
/// # Safety
/// `d` holds addresses; `a`, `b` and `c` hold words.
pub(crate) unsafe fn declare(context: &mut Context<'_>, op: &Op) {
    if context.at.checking.is_none() {
        return;
    }
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let (starts, words) = unsafe {
        let word = |slot| *context.slot::<u32>(slot);
        let starts = *context.slot::<u64>(op.d);
        (starts, [word(op.a), word(op.b), word(op.c)])
    };
    let by = site(context.at.function_index(), op.instruction);
    let (mask, block) = (context.mask, context.at.block);
    let Some(checking) = &mut context.at.checking else {
        return;
    };
    let parts: &mut Parts = checking.parts.entry(block).or_default();
    for lane in lanes_of(mask) {
        let [number, bytes, element] = words.map(|word| word[lane]);
        parts.declare(DynamicPart {
            by,
            number,
            start: starts[lane] & u64::from(u32::MAX),
            bytes: bytes.into(),
            element_bytes: element.max(1),
        });
    }
}
