//! `tcgen05.cp`: from shared memory to tensor memory.

use ptx::Tcgen05Multicast;

use super::super::checked;
use super::super::failure::Cause;
use super::super::matrix_descriptor::Layout;
use super::super::op::{Context, Op};
use super::super::shared_operand::Address;
use super::{LANES, memory};
use crate::check::{TensorAct, TensorCells};

/// Words of 16 bytes.
const WORDS: u32 = 4;

/// A copy.
#[derive(Debug)]
pub(crate) struct Copy {
    /// Rows in shared memory, 128, 64 or 32, and 16 bytes of each.
    pub(crate) rows: usize,
    pub(crate) places: usize,
    pub(crate) multicast: Option<Tcgen05Multicast>,
    pub(crate) address: Address,
    /// A slot of 64 bits.
    pub(crate) descriptor: u32,
}

impl Copy {
    /// The lanes that a row goes to.
    fn lanes(&self, row: usize) -> Vec<usize> {
        match (self.rows, self.multicast) {
            (64, Some(Tcgen05Multicast::Warpx2x01x23)) => {
                let first = row / 32 * 64 + row % 32;
                vec![first, first + 32]
            }
            (64, _) => vec![row, row + 64],
            (32, _) => (0..4).map(|warp| row + 32 * warp).collect(),
            _ => vec![row],
        }
    }

    /// # Safety
    /// The slots are those of the running program.
    pub(super) unsafe fn execute(
        &self,
        context: &mut Context<'_>,
        op: &Op,
        lane: usize,
    ) -> Result<(), Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let (address, descriptor) = unsafe {
            let address = self.address.of(context, lane) as u32;
            (address, context.slot::<u64>(self.descriptor)[lane])
        };
        let column = address & 0xffff;
        if address >> 16 != 0 {
            let text = format!(
                "copies to lane {} of tensor memory, and not lane 0",
                address >> 16
            );
            return Err(Cause::misuse(text));
        }
        let layout = Layout::of_tcgen05(descriptor).map_err(Cause::misuse)?;
        let (rows, places) = (self.rows, self.places);
        let columns = places as u32 * WORDS;
        memory(context).check(column, columns)?;
        let mut parts = Vec::new();
        for place in 0..places {
            parts.push(layout.rows(context, rows, place)?);
        }
        let chunks: Vec<u64> = parts.iter().flatten().map(|it| it.0).collect();
        let writes = [TensorCells::new(0, LANES as u32, column, columns)];
        let act = TensorAct::Product {
            chunks: &chunks,
            reads: &[],
        };
        checked::tensor(context, op, lane, act, &writes)?;
        let memory = memory(context);
        for (place, rows) in parts.iter().enumerate() {
            for (row, (_, bytes)) in rows.iter().enumerate() {
                for lane in self.lanes(row) {
                    for word in 0..WORDS {
                        let at = column + place as u32 * WORDS + word;
                        *memory.word(lane, at) = (bytes >> (32 * word)) as u32;
                    }
                }
            }
        }
        Ok(())
    }
}
