//! The layout of a module's variables in memory.

use std::collections::HashMap;

use crate::reach::Shared;

/// The variable of ptx-std's that leads to where a panic is recorded.
pub const PANIC_RECORD: &str = "__ptx_std_panic";

/// A module, and where its variables lie for a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m> {
    pub(crate) module: &'m ptx::Module,
    pub(crate) text: &'m str,
    /// The addresses of the module's variables; none of those in shared memory.
    pub(crate) addresses: &'m [Option<u64>],
    /// The offsets of the shared variables that the kernel reaches.
    pub(crate) offsets: &'m HashMap<Shared, u32>,
    /// Whether each register has a slot of its own and each instruction its place, as a debugger wants it.
    pub(crate) is_stepped: bool,
}

impl Layout<'_> {
    /// Whether it is the variable of which each launch may have its own.
    pub(crate) fn is_panic_record(&self, index: u32) -> bool {
        self.module.variables[index as usize].name == PANIC_RECORD
    }

    /// The address of a variable of the module, in its own space.
    pub(crate) fn address_of_variable(&self, index: u32) -> Result<u64, String> {
        match self.offsets.get(&Shared::Module(index)) {
            Some(offset) => Ok(u64::from(*offset)),
            None => self.addresses[index as usize].ok_or_else(|| {
                format!(
                    "`{}` has no address",
                    self.module.variables[index as usize].name
                )
            }),
        }
    }

    /// The offset of a shared variable of a function's body.
    pub(crate) fn address_of_shared(&self, function: u32, index: u32) -> Result<u64, String> {
        let offset = self.offsets.get(&Shared::Body(function, index));
        offset
            .map(|it| u64::from(*it))
            .ok_or_else(|| "a shared variable without a place".to_owned())
    }
}
