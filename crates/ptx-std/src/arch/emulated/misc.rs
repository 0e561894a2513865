//! The host's clocks. It has no GPU debugger or profiler to talk to.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub(crate) fn breakpoint() {}

pub(crate) fn profiler_counter(_counter: u32) {}

pub(crate) fn clock() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}

pub(crate) fn globaltimer() -> u64 {
    // A clock set before 1970 reads 0.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    since.as_nanos() as u64
}
