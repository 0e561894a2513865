//! The first half of a `cp.async` that reads fewer bytes than it writes; the rest is zeros.

use super::access::{Access, Act, Host, Space, observe, resolve};
use super::checked;
use super::failure::Cause;
use super::lanewise::read;
use super::op::{Context, Op};
use super::registers::{LANES, lanes_of};
use crate::memory::Lanes;

/// Reads so many bytes of each running lane's source, and fills its element up with zeros. A lane that reads
/// nothing may have any address.
///
/// # Safety
/// `aux` is the index of the access, of one element in a slot of its kind; `a` holds addresses, `b` words.
pub(crate) unsafe fn copy_from(context: &mut Context<'_>, op: &Op) {
    // SAFETY: `aux` is the index of an access of the program: `exec::verify`, tables; the program outlives the call.
    let access = unsafe { &*context.at.accesses.add(op.aux as usize) };
    // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
    let (base, sizes) = unsafe { (*context.slot::<u64>(op.a), *context.slot::<u32>(op.b)) };
    let addresses = base.map(|it| it.wrapping_add_signed(access.offset));
    let mut left = context.mask;
    while left != 0 && context.at.fault.is_none() {
        let size = sizes[left.trailing_zeros() as usize];
        let mask = lanes_of(left)
            .filter(|&lane| sizes[lane] == size)
            .fold(0, |mask, lane| mask | 1 << lane);
        left &= !mask;
        // SAFETY: the operation is the one that this function was given, of a verified program.
        if let Err(failure) = unsafe { of_size(context, op, access, &addresses, mask, size) } {
            let all = std::mem::replace(&mut context.mask, mask);
            context.fault(failure, op.instruction);
            context.mask = all;
        }
    }
}

/// The lanes of which all read so many bytes.
///
/// # Safety
/// As for [`copy_from`].
unsafe fn of_size(
    context: &mut Context<'_>,
    op: &Op,
    access: &Access,
    addresses: &[u64; LANES],
    mask: u32,
    size: u32,
) -> Result<(), Cause> {
    let element = access.element;
    if size > element {
        let text = format!("a copy of {size} bytes to {element}: the source's are the fewer");
        return Err(Cause::misuse(text));
    }
    if size > 0
        && let Some((lane, address)) = Lanes::new(addresses, mask, element).misaligned()
    {
        let memory = context.at.launch.memory;
        let fault = memory.misaligned(lane, address, element);
        return Err(Cause::Fault(fault));
    }
    let mut values = [0u128; LANES];
    for (start, bytes) in parts(0, size) {
        let part = part_of(access, start, bytes);
        let addresses = addresses.map(|it| it.wrapping_add(start.into()));
        let lanes = Lanes::new(&addresses, mask, bytes);
        // SAFETY: the operation is the one that this function was given, of a verified program; the part has the
        // access's slots.
        unsafe {
            resolve(context, op, &part, Space::Global, &lanes).map_err(Cause::Fault)?;
            if context.at.is_observed() && !observe(context, op, &part, Space::Global, &lanes) {
                return Ok(());
            }
        }
        let host = Host::of(context, Space::Global, &addresses);
        for lane in lanes_of(mask) {
            // SAFETY: the lanes' addresses have been resolved to so many bytes.
            let value = unsafe { read(host.at(lane), bytes, access.order) };
            values[lane] |= value << (8 * start);
        }
    }
    for (start, bytes) in parts(size, element) {
        let part = part_of(access, start, bytes);
        // SAFETY: the operation is the one that this function was given, of a verified program.
        if !unsafe { checked::copy_zeros(context, op, &part, mask) } {
            return Ok(());
        }
    }
    for data in &access.data {
        for lane in lanes_of(mask) {
            // SAFETY: the slot is of its kind.
            unsafe { super::lanewise::set_lane(context, *data, lane, values[lane]) };
        }
    }
    Ok(())
}

/// Splits the bytes from one offset to another into parts of 1 to 16 bytes, each at a multiple of its size.
fn parts(mut from: u32, to: u32) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let most = 1 << (to - from).checked_ilog2()?;
        let aligned = 1 << from.trailing_zeros().min(4);
        let bytes = u32::min(most, aligned);
        from += bytes;
        Some((from - bytes, bytes))
    })
}

/// A part of the access, as an access of its own.
fn part_of(access: &Access, start: u32, bytes: u32) -> Access {
    let mut part = access.clone();
    part.element = bytes;
    part.offset += i64::from(start);
    if let Act::CopyFrom { to_offset, .. } = &mut part.act {
        *to_offset += i64::from(start);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_aligned_and_cover_the_range() {
        for to in 0..=16u32 {
            for from in 0..=to {
                let mut next = from;
                for (start, bytes) in parts(from, to) {
                    assert_eq!(start, next);
                    assert!(bytes.is_power_of_two() && bytes <= 16, "{bytes}");
                    assert_eq!(start % bytes, 0, "{start} of {bytes}");
                    next += bytes;
                }
                assert_eq!(next, to);
            }
        }
    }
}
