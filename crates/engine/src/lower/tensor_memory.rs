//! Tensor memory: `tcgen05`.

use ptx::{
    Address, Space, Tcgen05Alloc, Tcgen05Commit, Tcgen05Copy, Tcgen05CopyShape, Tcgen05Dealloc,
    Tcgen05Kind, Tcgen05Left, Tcgen05Load, Tcgen05Mma, Tcgen05Multicast, Tcgen05Scales,
    Tcgen05Store, Tcgen05Wait,
};

use super::handler::{handler, rare};
use super::{Lowered, Lowering};
use crate::exec::access;
use crate::exec::registers::Kind;
use crate::exec::shared_operand;
use crate::exec::signature::{Handler, Table};
use crate::exec::tensor_memory::{
    self, Copy, Direction, Instruction, Left, Move, Multiply, Scales,
};

impl Lowering<'_> {
    pub(super) fn allocate_columns(&mut self, it: &Tcgen05Alloc) -> Lowered<()> {
        one_block(it.group)?;
        self.meet_whole()?;
        let to = self.place(it.space, &it.destination)?;
        let columns = self.read(&it.columns, Kind::Word)?;
        self.tensor_memory(Instruction::Allocate { to, columns })
    }

    pub(super) fn free_columns(&mut self, it: &Tcgen05Dealloc) -> Lowered<()> {
        one_block(it.group)?;
        self.meet_whole()?;
        let address = self.read(&it.address, Kind::Word)?;
        let columns = self.read(&it.columns, Kind::Word)?;
        self.tensor_memory(Instruction::Free { address, columns })
    }

    pub(super) fn relinquish(&mut self, group: u32) -> Lowered<()> {
        one_block(group)?;
        self.meet_whole()?;
        self.tensor_memory(Instruction::Relinquish)
    }

    pub(super) fn tensor_load(&mut self, it: &Tcgen05Load) -> Lowered<()> {
        self.meet_whole()?;
        let address = self.in_tensor_memory(&it.address)?;
        let slots = self.destinations(&it.d, Kind::Word)?;
        self.tensor_memory(Instruction::Move(Move {
            direction: Direction::Load,
            shape: it.shape,
            repeats: it.repeats,
            is_packed: it.pack,
            address,
            split: it.split.unwrap_or(0),
            slots,
            written: it.d.iter().map(|it| it.0).collect(),
        }))
    }

    pub(super) fn tensor_store(&mut self, it: &Tcgen05Store) -> Lowered<()> {
        self.meet_whole()?;
        let address = self.in_tensor_memory(&it.address)?;
        let slots = self.sources(&it.a, Kind::Word)?;
        self.tensor_memory(Instruction::Move(Move {
            direction: Direction::Store,
            shape: it.shape,
            repeats: it.repeats,
            is_packed: it.unpack,
            address,
            split: it.split.unwrap_or(0),
            slots,
            written: Vec::new(),
        }))
    }

    pub(super) fn wait_for_tensor_memory(&mut self, it: &Tcgen05Wait) -> Lowered<()> {
        self.meet_whole()?;
        let run = rare!([], |c, op| tensor_memory::wait(c, op));
        self.emit_masked(run, 0, [u32::from(it.loads), 0, 0], 0);
        Ok(())
    }

    pub(super) fn copy_to_tensor_memory(&mut self, it: &Tcgen05Copy) -> Lowered<()> {
        one_block(it.group)?;
        if it.decompresses {
            return Err("elements that become wider".to_owned());
        }
        let fits = match (it.shape, it.multicast) {
            (Tcgen05CopyShape::L32x128b, multicast) => multicast == Some(Tcgen05Multicast::Warpx4),
            (Tcgen05CopyShape::L64x128b, multicast) => matches!(
                multicast,
                Some(Tcgen05Multicast::Warpx2x02x13 | Tcgen05Multicast::Warpx2x01x23)
            ),
            (_, multicast) => multicast.is_none(),
        };
        if !fits {
            return Err("this shape with these warps".to_owned());
        }
        let (rows, places) = match it.shape {
            Tcgen05CopyShape::L128x256b => (128, 2),
            Tcgen05CopyShape::L128x128b => (128, 1),
            Tcgen05CopyShape::L64x128b => (64, 1),
            Tcgen05CopyShape::L32x128b => (32, 1),
            Tcgen05CopyShape::L4x256b => return Err("4 lanes".to_owned()),
        };
        let address = self.in_tensor_memory(&it.address)?;
        let descriptor = self.read(&it.descriptor, Kind::Double)?;
        self.tensor_memory(Instruction::Copy(Copy {
            rows,
            places,
            multicast: it.multicast,
            address,
            descriptor,
        }))
    }

    pub(super) fn tensor_product(&mut self, it: &Tcgen05Mma) -> Lowered<()> {
        one_block(it.group)?;
        if it.is_sparse || it.is_stationary || it.shifts {
            return Err("sparse, stationary and shifted factors".to_owned());
        }
        let d = self.in_tensor_memory(&it.d)?;
        let a = match &it.a {
            Tcgen05Left::Descriptor(descriptor) => {
                Left::Shared(self.read(descriptor, Kind::Double)?)
            }
            Tcgen05Left::TensorMemory(address) => Left::Tensor(self.in_tensor_memory(address)?),
        };
        let scales = match &it.scales {
            None => None,
            Some(scales) => Some(self.scales(it.kind, scales)?),
        };
        if it.kind.is_scaled() != scales.is_some() {
            return Err("scales that the kind has not".to_owned());
        }
        if !matches!(it.disabled.len(), 0 | 4) {
            return Err(format!("{} words of lanes", it.disabled.len()));
        }
        let multiply = Multiply {
            kind: it.kind,
            d,
            a,
            b: self.read(&it.b, Kind::Double)?,
            descriptor: self.read(&it.descriptor, Kind::Word)?,
            scales,
            disabled: self.sources(&it.disabled, Kind::Word)?,
            adds: self.read_predicate(&it.adds)?,
            scale_d: it.scale_d.unwrap_or(0),
        };
        let run = handler!([aux: Table::TensorMemory], |c, op| tensor_memory::execute(
            c, op
        ));
        self.on_tensor_memory(run, Instruction::Multiply(multiply))
    }

    fn scales(&mut self, kind: Tcgen05Kind, it: &Tcgen05Scales) -> Lowered<Scales> {
        let block = match (kind, it.block) {
            (Tcgen05Kind::Mxf4nvf4, Some(16)) => 16,
            (Tcgen05Kind::Mxf4nvf4, Some(32)) => 32,
            (Tcgen05Kind::Mxf8f6f4 | Tcgen05Kind::Mxf4, None | Some(32)) => 32,
            (_, block) => return Err(format!("blocks {block:?} of scales")),
        };
        Ok(Scales {
            block,
            a: self.in_tensor_memory(&it.a)?,
            b: self.in_tensor_memory(&it.b)?,
        })
    }

    pub(super) fn commit_tensor_memory(&mut self, it: &Tcgen05Commit) -> Lowered<()> {
        one_block(it.group)?;
        let space = match it.space {
            Space::Shared => Space::SharedCluster,
            other => other,
        };
        let mbarrier = self.place(space, &it.mbarrier)?;
        let multicast = self.multicast(it.multicast.as_ref())?;
        self.tensor_memory(Instruction::Commit {
            mbarrier,
            multicast,
        })?;
        Ok(())
    }

    /// An address of tensor memory, of 32 bits.
    fn in_tensor_memory(&mut self, address: &Address) -> Lowered<shared_operand::Address> {
        let (slot, offset) = self.address(address)?;
        Ok(shared_operand::Address {
            slot,
            offset,
            space: access::Space::Shared,
        })
    }

    fn tensor_memory(&mut self, it: Instruction) -> Lowered<()> {
        let run = rare!([aux: Table::TensorMemory], |c, op| tensor_memory::execute(
            c, op
        ));
        self.on_tensor_memory(run, it)
    }

    fn on_tensor_memory(&mut self, run: Handler, it: Instruction) -> Lowered<()> {
        self.tensor_memory.push(it);
        let index = self.tensor_memory.len() as u64 - 1;
        self.emit_masked(run, 0, [0; 3], index);
        self.reaches_others();
        Ok(())
    }
}

fn one_block(group: u32) -> Lowered<()> {
    match group {
        1 => Ok(()),
        _ => Err("pairs of blocks".to_owned()),
    }
}
