//! The bounds of a kernel's parameters.

use ptx::Function;

/// Where a parameter of a kernel lies among all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParameterBounds {
    pub(crate) offset: u32,
    pub(crate) bytes: u32,
}

impl ParameterBounds {
    /// Whether so many bytes from an offset among all parameters on lie in it.
    pub(crate) fn holds(&self, offset: u64, bytes: u32) -> bool {
        let inside = offset.checked_sub(self.offset.into());
        let end = inside.and_then(|inside| inside.checked_add(bytes.into()));
        end.is_some_and(|end| end <= self.bytes.into())
    }
}

/// Where each parameter of a kernel lies. `declarations::check` has found that all of them are few.
pub(crate) fn parameter_bounds(function: &Function) -> Vec<ParameterBounds> {
    let mut end = 0u32;
    let bounds = function.parameters.iter().map(|parameter| {
        let offset = end.next_multiple_of(parameter.alignment.max(1));
        let bytes = parameter.bytes as u32;
        end = offset + bytes;
        ParameterBounds { offset, bytes }
    });
    bounds.collect()
}
