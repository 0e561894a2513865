//! Where the local variables of a body lie in an activation's local memory.

use ptx::{Body, Function, Space};

use super::flow::changes_stack;
use crate::memory::{FrameLayout, Kind, Label, LocalVariable};
use crate::source;

/// Bytes behind each variable that belong to nobody, so that overruns are found. Whole sectors, so that
/// accesses keep theirs.
const GAP: u32 = 64;

/// The name by which LLVM and nvcc call the variable that they make of all of a function's.
const DEPOT: &str = "__local_depot";

/// Alignment of a frame, at least.
pub(super) const ALIGNMENT: u32 = 16;

/// The local variables of a body.
#[derive(Debug)]
pub(crate) struct Locals {
    /// Which variable of the body each of the frame's is.
    indices: Vec<u32>,
    pub(crate) frame: FrameLayout,
}

impl Locals {
    pub(crate) fn of(function: &Function, body: &Body) -> Locals {
        let mut frame = FrameLayout {
            alignment: ALIGNMENT,
            ..FrameLayout::default()
        };
        let mut indices = Vec::new();
        for (index, variable) in body.variables.iter().enumerate() {
            if variable.space != Space::Local {
                continue;
            }
            let gap = if indices.is_empty() { 0 } else { GAP };
            let offset = (frame.bytes + gap).next_multiple_of(variable.alignment.max(1));
            let bytes = variable.bytes as u32;
            let (kind, label) = match variable.name.starts_with(DEPOT) {
                true => (Kind::Local, Label::new(&source::name_of(&function.name), 1)),
                false => (
                    Kind::LocalVariable,
                    Label::new(&source::name_of(&variable.name), variable.ty.bytes()),
                ),
            };
            frame.variables.push(LocalVariable {
                kind,
                label,
                offset,
                bytes,
            });
            frame.bytes = offset + bytes;
            frame.alignment = frame.alignment.max(variable.alignment);
            indices.push(index as u32);
        }
        // Memory of `alloca` ends with the function's frame, so that there must be one.
        if frame.bytes == 0 && body.instructions.iter().any(changes_stack) {
            frame.bytes = ALIGNMENT;
        }
        Locals { indices, frame }
    }

    /// Where a local variable of the body lies in the frame.
    pub(crate) fn offset(&self, index: u32) -> u32 {
        let place = self.indices.binary_search(&index);
        self.frame.variables[place.expect("a local variable")].offset
    }
}
