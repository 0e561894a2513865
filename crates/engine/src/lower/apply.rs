//! Instructions that are a function of their sources.

use ptx::{Operand, Reg, Type};

use super::slots::kind;
use super::{Lowered, Lowering};
use crate::exec::registers::Kind;
use crate::exec::signature::Handler;

impl Lowering<'_> {
    /// `d = f(sources)`, all of one type.
    ///
    /// # Errors
    /// There is no handler, or an operand is not of the type's width.
    pub(super) fn same(
        &mut self,
        run: Option<Handler>,
        ty: Type,
        d: Reg,
        sources: &[Operand],
    ) -> Lowered<()> {
        let sources: Vec<_> = sources.iter().map(|&it| (it, ty)).collect();
        self.apply(run, (d, ty), &sources, 0)
    }

    /// `d = f(sources)`, each of its type. The handler is given `aux`.
    ///
    /// # Errors
    /// As for [`Lowering::same`].
    pub(super) fn apply(
        &mut self,
        run: Option<Handler>,
        (d, ty): (Reg, Type),
        sources: &[(Operand, Type)],
        aux: u64,
    ) -> Lowered<()> {
        let run = run.ok_or("the type or a modifier")?;
        let mut slots = [0; 3];
        for (slot, (operand, ty)) in slots.iter_mut().zip(sources) {
            *slot = self.read(operand, kind(*ty))?;
        }
        self.finish_in(run, (d, kind(ty)), slots, aux)
    }

    /// As [`Lowering::apply`], of slots.
    ///
    /// # Errors
    /// The register is of another kind than the handler writes.
    pub(super) fn finish_in(
        &mut self,
        run: Handler,
        (d, kind): (Reg, Kind),
        sources: [u32; 3],
        aux: u64,
    ) -> Lowered<()> {
        let (slot, of) = self.write(d);
        if of != kind {
            return Err(format!("a result of {kind:?} in a register of {of:?}"));
        }
        self.push(run, Some(kind), slot, sources, aux);
        Ok(())
    }

    /// A value within the instruction: the scratch slot that gets it.
    pub(super) fn value(&mut self, run: Handler, kind: Kind, sources: [u32; 3], aux: u64) -> u32 {
        let slot = self.scratch(kind);
        self.push(run, Some(kind), slot, sources, aux);
        slot
    }
}
