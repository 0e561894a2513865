//! Tensor memory: `tcgen05`.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Parser, Result};
use crate::{
    Operand, Space, Tcgen05Alloc, Tcgen05Commit, Tcgen05Copy, Tcgen05Dealloc, Tcgen05Fence,
    Tcgen05Kind, Tcgen05Left, Tcgen05Load, Tcgen05Mma, Tcgen05Multicast, Tcgen05Scales,
    Tcgen05Shape, Tcgen05Store, Tcgen05Wait, Type,
};

/// `.cta_group::1`.
fn group(op: &mut Opcode<'_>) -> Result<u32> {
    op.want("`.cta_group::1` or `.cta_group::2`", |part| {
        let group = part.strip_prefix("cta_group::")?.parse().ok()?;
        (1..=2).contains(&group).then_some(group)
    })
}

/// `.x1` to `.x128`.
fn repeats(op: &mut Opcode<'_>, shape: Tcgen05Shape) -> Result<u32> {
    let most = 128 / shape.registers() as u32;
    op.want("a number of repetitions such as `.x4`", |part| {
        let count: u32 = part.strip_prefix('x')?.parse().ok()?;
        (count.is_power_of_two() && count <= most).then_some(count)
    })
}

/// `.sync.aligned`.
fn aligned(op: &mut Opcode<'_>) -> Result<()> {
    op.need("sync")?;
    op.need("aligned")
}

fn space(op: &mut Opcode<'_>) -> Space {
    op.take(Space::from_name).unwrap_or(Space::Generic)
}

impl<'a> Parser<'a> {
    pub(crate) fn tcgen05_alloc(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Alloc> {
        let (group, space) = (group(op)?, space(op));
        aligned(op)?;
        op.need("b32")?;
        Ok(Tcgen05Alloc {
            group,
            space,
            destination: self.address()?,
            columns: self.then(Type::U32)?,
        })
    }

    pub(crate) fn tcgen05_dealloc(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Dealloc> {
        let group = group(op)?;
        aligned(op)?;
        op.need("b32")?;
        Ok(Tcgen05Dealloc {
            group,
            address: self.operand(Type::B32)?,
            columns: self.then(Type::U32)?,
        })
    }

    pub(crate) fn tcgen05_relinquish(&mut self, op: &mut Opcode<'a>) -> Result<u32> {
        let group = group(op)?;
        aligned(op)?;
        Ok(group)
    }

    pub(crate) fn tcgen05_load(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Load> {
        aligned(op)?;
        let shape: Tcgen05Shape = op.want_modifier()?;
        let repeats = repeats(op, shape)?;
        let pack = op.flag("pack::16b");
        op.need("b32")?;
        let (d, address) = (self.registers_of()?, self.then_address()?);
        let split = self.split(shape, op)?;
        count(op, shape, repeats, d.len())?;
        Ok(Tcgen05Load {
            shape,
            repeats,
            pack,
            d,
            address,
            split,
        })
    }

    pub(crate) fn tcgen05_store(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Store> {
        aligned(op)?;
        let shape: Tcgen05Shape = op.want_modifier()?;
        let repeats = repeats(op, shape)?;
        let unpack = op.flag("unpack::16b");
        op.need("b32")?;
        let address = self.address()?;
        let split = self.split(shape, op)?;
        self.comma()?;
        let a = self.sources(Type::B32)?;
        count(op, shape, repeats, a.len())?;
        Ok(Tcgen05Store {
            shape,
            repeats,
            unpack,
            address,
            split,
            a,
        })
    }

    /// A comma and the columns to the second half, of the shape that has one.
    fn split(&mut self, shape: Tcgen05Shape, op: &Opcode<'a>) -> Result<Option<u32>> {
        if shape != Tcgen05Shape::L16x32bx2 {
            return Ok(None);
        }
        match self.then(Type::U32)? {
            Operand::Immediate(columns) if columns < 512 => Ok(Some(columns as u32)),
            _ => Err(op.error("`.16x32bx2` wants a constant number of columns, below 512")),
        }
    }

    pub(crate) fn tcgen05_wait(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Wait> {
        let loads = op.want("`.wait::ld` or `.wait::st`", |part| match part {
            "wait::ld" => Some(true),
            "wait::st" => Some(false),
            _ => None,
        })?;
        aligned(op)?;
        Ok(Tcgen05Wait { loads })
    }

    pub(crate) fn tcgen05_fence(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Fence> {
        let what = "`.fence::before_thread_sync` or `.fence::after_thread_sync`";
        let before = op.want(what, |part| match part {
            "fence::before_thread_sync" => Some(true),
            "fence::after_thread_sync" => Some(false),
            _ => None,
        })?;
        Ok(Tcgen05Fence { before })
    }

    pub(crate) fn tcgen05_copy(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Copy> {
        let group = group(op)?;
        let multicast = op.take(Tcgen05Multicast::from_name);
        let shape = op.want_modifier()?;
        let decompresses = op.flag("b8x16");
        if decompresses {
            op.want("`.b4x16_p64` or `.b6x16_p32`", |part| {
                matches!(part, "b4x16_p64" | "b6x16_p32").then_some(())
            })?;
        }
        Ok(Tcgen05Copy {
            group,
            shape,
            multicast,
            decompresses,
            address: self.address()?,
            descriptor: self.then(Type::B64)?,
        })
    }

    pub(crate) fn tcgen05_mma(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Mma> {
        let (is_stationary, is_sparse) = (op.flag("ws"), op.flag("sp"));
        let (group, kind): (_, Tcgen05Kind) = (group(op)?, op.want_modifier()?);
        let is_scaled = op.flag("block_scale");
        let block = op.take(|part| match part {
            "block16" | "scale_vec::4X" => Some(16),
            "block32" | "scale_vec::1X" | "scale_vec::2X" => Some(32),
            _ => None,
        });
        let shifts = op.flag("ashift");
        // A factor that is kept for the next product changes no result.
        while op
            .take(|part| part.starts_with("collector::").then_some(()))
            .is_some()
        {}
        let d = self.address()?;
        self.comma()?;
        let a = match self.token == Token::Sign(b'[') {
            true => Tcgen05Left::TensorMemory(self.address()?),
            false => Tcgen05Left::Descriptor(self.operand(Type::B64)?),
        };
        let b = self.then(Type::B64)?;
        if is_sparse {
            // The positions of the elements that are there, in tensor memory.
            self.then_address()?;
        }
        let descriptor = self.then(Type::B32)?;
        let scales = match is_scaled {
            false => None,
            true => Some(Tcgen05Scales {
                block,
                a: self.then_address()?,
                b: self.then_address()?,
            }),
        };
        self.comma()?;
        let disabled = match self.token == Token::Sign(b'{') {
            true => {
                let lanes = self.sources(Type::B32)?;
                self.comma()?;
                lanes
            }
            false => Vec::new(),
        };
        let adds = self.predicate()?;
        let scale_d = match self.optional(Type::U32)? {
            None => None,
            Some(Operand::Immediate(power)) if power < 16 => Some(power as u32),
            Some(_) if is_stationary => None,
            Some(_) => return Err(op.error("`scale-input-d` is a constant from 0 to 15")),
        };
        Ok(Tcgen05Mma {
            group,
            kind,
            element: kind.element(),
            is_stationary,
            is_sparse,
            shifts,
            d,
            a,
            b,
            descriptor,
            scales,
            disabled,
            adds,
            scale_d,
        })
    }

    pub(crate) fn tcgen05_commit(&mut self, op: &mut Opcode<'a>) -> Result<Tcgen05Commit> {
        let group = group(op)?;
        op.need("mbarrier::arrive::one")?;
        let is_multicast = op.flag("multicast::cluster");
        let space = space(op);
        op.need("b64")?;
        Ok(Tcgen05Commit {
            group,
            space,
            mbarrier: self.address()?,
            multicast: self.given(is_multicast, Type::B16)?,
        })
    }
}

/// Whether there are as many registers as a shape takes.
fn count(op: &Opcode<'_>, shape: Tcgen05Shape, repeats: u32, registers: usize) -> Result<()> {
    let wanted = shape.registers() * repeats as usize;
    if registers == wanted {
        return Ok(());
    }
    let shape = shape.name();
    Err(op.error(&format!(
        "`.{shape}.x{repeats}` takes {wanted} registers, and there are {registers}"
    )))
}
