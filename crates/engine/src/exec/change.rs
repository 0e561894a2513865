//! Atomic changes of memory, lane by lane.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::access::{Access, Atomic, Data, Host};
use super::lanewise::{lane_of, set_lane};
use super::op::Context;
use super::registers::{LANES, lanes_of};
use super::surroundings::Look;

/// # Safety
/// Each lane of the mask may read and write its elements, which are aligned.
pub(super) unsafe fn change(
    context: &mut Context<'_>,
    access: &Access,
    atomic: &Atomic,
    host: &Host<'_>,
    (mask, instruction): (u32, u32),
) {
    let mut has_changed = false;
    for lane in lanes_of(mask) {
        let at = host.at(lane);
        for (index, data) in access.data.iter().enumerate() {
            let of = |slot| Data {
                slot: Some(slot),
                kind: atomic.kind,
                bits: 128,
            };
            // SAFETY: the lane's bytes have been resolved, and the slots verified.
            unsafe {
                let operand = lane_of(context, of(atomic.operands[index]), lane);
                let comparand = lane_of(context, of(atomic.comparand), lane);
                let at = at.add(index * access.element as usize);
                let before = update(at, access.element, |old| {
                    (atomic.update)(old, operand, comparand)
                });
                has_changed |= (atomic.update)(before, operand, comparand) != before;
                set_lane(context, *data, lane, before);
            }
        }
    }
    if !has_changed {
        context.at.looks = context.at.looks.saturating_add(1);
        context.at.looked = Some(Look {
            program: context.at.program,
            instruction,
            at: host.at(mask.trailing_zeros() as usize % LANES),
        });
    }
}

/// Changes an element atomically, and gives what it was.
///
/// # Safety
/// It may be read and written, and is aligned.
pub(super) unsafe fn update(at: *mut u8, bytes: u32, change: impl Fn(u128) -> u128) -> u128 {
    macro_rules! exchange {
        ($atomic:ty, $bits:ty) => {{
            // SAFETY: the element is aligned and may be changed, by the contract of `update`; all host threads
            // access it atomically while it is raced for.
            let element = unsafe { <$atomic>::from_ptr(at.cast()) };
            let mut old = element.load(Ordering::Relaxed);
            loop {
                let new = change(u128::from(old)) as $bits;
                match element.compare_exchange_weak(old, new, Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => break u128::from(old),
                    Err(now) => old = now,
                }
            }
        }};
    }
    match bytes {
        1 => exchange!(AtomicU8, u8),
        2 => exchange!(AtomicU16, u16),
        4 => exchange!(AtomicU32, u32),
        8 => exchange!(AtomicU64, u64),
        _ => {
            // Hosts have no type for it.
            static LOCK: Mutex<()> = Mutex::new(());
            let _guard = LOCK.lock();
            // SAFETY: the lane's bytes have been resolved, and the slots verified; the lock keeps others out.
            unsafe {
                let old = at.cast::<u128>().read_unaligned();
                at.cast::<u128>().write_unaligned(change(old));
                old
            }
        }
    }
}
