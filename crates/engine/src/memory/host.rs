//! The memory of the host's system: how much is free, and room that is asked for before it is taken.

use std::alloc::{Layout, alloc_zeroed};
use std::fs;
use std::ptr;

/// From here on the system is asked how much is free; it promises more than it has.
const LARGE: u64 = 16 << 20;

/// Bytes that can be allocated without swapping, and within the limit of the process's addresses, if
/// it has one (`ulimit -v`); no limit is known where the system does not say.
pub fn free_bytes() -> u64 {
    let available = system_bytes("MemAvailable").unwrap_or(u64::MAX);
    available.min(free_addresses().unwrap_or(u64::MAX))
}

fn free_addresses() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max address space"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let used = lines.find_map(|line| line.strip_prefix("VmSize:"))?;
    let kib: u64 = used.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(kib.saturating_mul(1024)))
}

/// A line of `/proc/meminfo`, in bytes.
pub fn system_bytes(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Whether so many bytes are free; few always are.
pub(crate) fn has_room(bytes: u64) -> bool {
    bytes < LARGE || bytes <= free_bytes()
}

/// So many zeros, or none where they are not free. The system provides their pages when they are first reached.
pub fn zeros(count: u64) -> Option<Box<[u128]>> {
    let layout = Layout::array::<u128>(usize::try_from(count).ok()?).ok()?;
    let bytes = layout.size() as u64;
    if bytes == 0 {
        return Some(Box::default());
    }
    if bytes >= LARGE && bytes > free_bytes() {
        return None;
    }
    // SAFETY: the layout's size is not 0 by the test above.
    let start = unsafe { alloc_zeroed(layout) }.cast::<u128>();
    let all = ptr::slice_from_raw_parts_mut(start, count as usize);
    // SAFETY: allocated as a box of so many elements is, unless it is null, and zeros are values of them.
    (!start.is_null()).then(|| unsafe { Box::from_raw(all) })
}
