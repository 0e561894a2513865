//! To do.
use ptx::Operation;
use super::{Lowered, Lowering};
impl Lowering<'_> {
    pub(super) fn logic(&mut self, _operation: &Operation) -> Option<Lowered<()>> {
        None
    }
}
