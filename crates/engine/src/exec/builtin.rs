//! Functions that the driver defines.

use super::calls;
use super::checked;
use super::failure::{Cause, Failure};
use super::format::{self, MOST_BYTES};
use super::op::Context;
use super::program::{Builtin, Call};
use super::registers::{LANES, lanes_of};
use crate::memory::windows;
use crate::memory::{Cached, Direction, Lanes};

/// Executes a call for the lanes of the context's mask.
///
/// # Errors
/// A lane fails.
pub(crate) fn call(
    which: Builtin,
    call: &Call,
    context: &mut Context<'_>,
    instruction: u32,
) -> Result<(), Cause> {
    match which {
        Builtin::Print => print(call, context, instruction),
        Builtin::AssertFail => Err(assertion(call, context)),
        Builtin::Allocate => {
            let checking = context.at.checking.as_ref();
            let launch = checking.map_or(0, |it| it.launch.number());
            let instruction = checked::site(context.at.function_index(), instruction);
            for lane in lanes_of(context.mask) {
                let bytes = argument(call, context, 0, lane);
                let memory = context.at.launch.memory;
                let allocated = memory.heap_allocate(bytes, instruction, launch);
                let address = allocated.unwrap_or_else(|full| {
                    context.at.launch.full_heap.get_or_init(|| full);
                    0
                });
                give(call, context, lane, address);
            }
            Ok(())
        }
        Builtin::Free => {
            for lane in lanes_of(context.mask) {
                let address = argument(call, context, 0, lane);
                context
                    .at
                    .launch
                    .memory
                    .heap_free(address)
                    .map_err(|mut fault| {
                        fault.lane = lane as u32;
                        Cause::Fault(fault)
                    })?;
            }
            Ok(())
        }
    }
}

fn print(call: &Call, context: &mut Context<'_>, instruction: u32) -> Result<(), Cause> {
    for lane in lanes_of(context.mask) {
        // A text may be long.
        if context.is_over(instruction) {
            return Ok(());
        }
        let format = text(context, argument(call, context, 0, lane), MOST_BYTES, lane)?;
        let values = argument(call, context, 1, lane);
        let (mut offset, mut count) = (0u64, 0);
        let mut next = |bytes: u64| {
            offset = offset.next_multiple_of(bytes);
            offset += bytes;
            count += 1;
            load(
                context,
                values.wrapping_add(offset - bytes),
                bytes as u32,
                lane,
            )
        };
        let text = format::format(&format, &mut next, &|address, most| {
            text(context, address, most, lane)
        })?;
        (context.at.launch.print)(&text);
        give(call, context, lane, count);
    }
    Ok(())
}

fn assertion(call: &Call, context: &Context<'_>) -> Cause {
    let lane = context.mask.trailing_zeros() as usize;
    let of = |index| {
        text(
            context,
            argument(call, context, index, lane),
            MOST_BYTES,
            lane,
        )
    };
    let told = || {
        Ok(Cause::Failure(Failure::Assertion {
            message: of(0)?,
            file: of(1)?,
            line: argument(call, context, 2, lane) as u32,
            function: of(3)?,
        }))
    };
    told().unwrap_or_else(|cause| cause)
}

/// An argument of a lane, its lower 64 bits.
fn argument(call: &Call, context: &Context<'_>, index: usize, lane: usize) -> u64 {
    let Some(words) = call.arguments.get(index).copied() else {
        return 0;
    };
    // SAFETY: the words of a verified program.
    let word = |index| u64::from(unsafe { calls::word(context.registers, words, index, lane) });
    match words.count {
        0 => 0,
        1 => word(0),
        _ => word(0) | word(1) << 32,
    }
}

/// Gives a lane what is returned.
fn give(call: &Call, context: &mut Context<'_>, lane: usize, value: u64) {
    if let Some(words) = call.returns.first().copied() {
        for index in 0..words.count.min(2) {
            let half = (value >> (32 * index)) as u32;
            // SAFETY: the words of a verified program.
            unsafe { calls::set_word(context.registers, words, index, lane, half) };
        }
    }
}

/// A text that ends with a zero byte, or as many bytes of one as are wanted at most.
fn text(context: &Context<'_>, address: u64, most: usize, lane: usize) -> Result<String, Cause> {
    let mut bytes = Vec::new();
    while bytes.len() < most {
        match load(context, address.wrapping_add(bytes.len() as u64), 1, lane)? {
            0 => break,
            byte => bytes.push(byte as u8),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads memory at a generic address.
fn load(context: &Context<'_>, address: u64, bytes: u32, lane: usize) -> Result<u64, Cause> {
    let offset = match windows::of(address) {
        windows::SHARED => address ^ context.at.shared_window,
        windows::LOCAL => address.wrapping_sub(context.at.local_window_of(lane)),
        _ => address & windows::OFFSET,
    };
    let addresses = [if address < windows::SHARED {
        address
    } else {
        offset
    }; LANES];
    let lanes = Lanes::new(&addresses, 1 << lane, bytes);
    let (resolved, at) = match windows::of(address) {
        windows::LOCAL => {
            let local = context.at.local;
            let thread = local.start.wrapping_add(lane * local.bytes as usize);
            (
                context.at.frames().resolve(&lanes),
                thread.wrapping_add(offset as usize),
            )
        }
        windows::SHARED => (
            context.at.layout.resolve(&lanes),
            context.at.shared.wrapping_add(offset as usize),
        ),
        _ => (
            context
                .at
                .launch
                .memory
                .resolve(&lanes, Direction::Read, &mut Cached::default()),
            std::ptr::with_exposed_provenance_mut(addresses[lane] as usize),
        ),
    };
    resolved.map_err(Cause::Fault)?;
    // SAFETY: resolved above to `bytes` bytes of an aligned address.
    Ok(unsafe {
        match bytes {
            1 => u64::from(at.read()),
            4 => u64::from(at.cast::<u32>().read()),
            _ => at.cast::<u64>().read(),
        }
    })
}
