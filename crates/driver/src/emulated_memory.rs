//! The memory of the emulated devices.

use std::sync::{Arc, LazyLock};

use engine::memory::Memory;

use super::DeviceChoice;

/// The memory of emulated device 0, which knows that of the others, too: all have addresses of their own.
pub(super) fn memory() -> &'static Arc<Memory> {
    memory_of(0)
}

/// The memory of the emulated device of this number.
pub(super) fn memory_of(number: u32) -> &'static Arc<Memory> {
    static ALL: LazyLock<Vec<Arc<Memory>>> = LazyLock::new(|| {
        let first = Memory::default();
        let all = 0..DeviceChoice::EMULATORS;
        all.map(|number| Arc::new(first.of_device(number)))
            .collect()
    });
    &ALL[number as usize]
}
