//! Products of matrices in registers, and matrices from and to shared memory.

use ptx::{
    BitOperator, Layout, Ldmatrix, Mma, Movmatrix, Operand, Order, Reg, Scope, Stmatrix, Type,
};

use super::handler::{handler, rare};
use super::{Lowered, Lowering};
use crate::arith::tensor::{Element, Sum};
use crate::exec::access::{self, Act, Data};
use crate::exec::fragment::{self, Factor, Product, Summand};
use crate::exec::op::{Context, Op};
use crate::exec::program::Meeting;
use crate::exec::registers::Kind;
use crate::exec::signature::{Aux, Mover, Table};

impl Lowering<'_> {
    /// A whole warp comes to the instruction, and nothing meets it elsewhere.
    pub(super) fn meet_whole(&mut self) -> Lowered<()> {
        let all = Operand::Immediate(u32::MAX.into());
        self.meet(Some(&all), None, Meeting::Matrix(self.instruction))
    }

    pub(super) fn mma(&mut self, it: &Mma) -> Lowered<()> {
        if it.sparsity.is_some() || it.scale.is_some() || it.kind.is_some() {
            return Err("sparse and scaled factors".to_owned());
        }
        if (it.a_layout, it.b_layout) != (Layout::Row, Layout::Column) {
            return Err("layouts other than .row.col".to_owned());
        }
        let (m, n, k) = (
            it.shape.m as usize,
            it.shape.n as usize,
            it.shape.k as usize,
        );
        let (a, b) = (element(it.a_type)?, element(it.b_type)?);
        if n != 8 || a.bits() != b.bits() {
            return Err("this shape".to_owned());
        }
        let (c, d) = (sum(it.c_type, it.saturate)?, sum(it.d_type, it.saturate)?);
        // A lane has its part of each matrix in registers of 32 bits, or of 64.
        let registers =
            |elements: usize, bits: u32| elements / 32 * bits as usize / bits.max(32) as usize;
        let fits = [
            (it.a.len(), m * k, a.bits()),
            (it.b.len(), k * n, b.bits()),
            (it.c.len(), m * n, c.bits()),
            (it.d.len(), m * n, d.bits()),
        ];
        if let Some((given, ..)) = fits
            .iter()
            .find(|&&(given, all, bits)| given != registers(all, bits))
        {
            return Err(format!("{given} registers for this shape"));
        }
        self.meet_whole()?;
        let product = Product {
            m,
            n,
            k,
            a: Factor {
                of: a,
                slots: self.sources(&it.a, fragment::kind_of(a))?,
            },
            b: Factor {
                of: b,
                slots: self.sources(&it.b, fragment::kind_of(b))?,
            },
            c: Summand {
                of: c,
                slots: self.sources(&it.c, fragment::kind_of_sum(c))?,
            },
            d: Summand {
                of: d,
                slots: self.destinations(&it.d, fragment::kind_of_sum(d))?,
            },
            differences: it.bits == Some(BitOperator::Xor),
        };
        self.product(product);
        Ok(())
    }

    /// Has a warp that has met compute a product.
    pub(super) fn product(&mut self, product: Product) {
        self.products.push(product);
        let index = self.products.len() as u64 - 1;
        self.emit_masked(
            handler!([aux: Table::Products], |c, op| fragment::product(c, op)),
            0,
            [0; 3],
            index,
        );
    }

    /// The slots of operands of one kind.
    pub(super) fn sources(&mut self, operands: &[Operand], kind: Kind) -> Lowered<Vec<u32>> {
        operands.iter().map(|it| self.read(it, kind)).collect()
    }

    /// The slots of registers of one kind.
    pub(super) fn destinations(&mut self, registers: &[Reg], kind: Kind) -> Lowered<Vec<u32>> {
        let slot = |&register| match self.write(register) {
            (slot, of) if of == kind => Ok(slot),
            (_, of) => Err(format!("a register of {of:?} where {kind:?} is wanted")),
        };
        registers.iter().map(slot).collect()
    }

    /// Keeps slots in the program's list, and gives the place of the first.
    pub(super) fn list(&mut self, slots: Vec<u32>) -> u64 {
        self.lists.extend(&slots);
        (self.lists.len() - slots.len()) as u64
    }

    pub(super) fn ldmatrix(&mut self, it: &Ldmatrix) -> Lowered<()> {
        let of = elements((it.shape.m, it.shape.n), 16, it.ty, it.transposed)?;
        if it.format.is_some() || matches!(of, Elements::Bytes) && it.count > 2 {
            return Err(
                "elements that become wider, or more matrices than a warp has rows".to_owned(),
            );
        }
        self.meet_whole()?;
        let rows = self.scratch(Kind::Quad);
        let act = Act::Load {
            signed: false,
            is_read_only: false,
        };
        let eights = match of {
            Elements::Halves => it.count,
            Elements::Bytes => 2 * it.count,
        };
        self.rows(it.space, &it.address, act, rows, eights)?;
        let d = self.destinations(&it.d, Kind::Word)?;
        let (count, list) = (d.len() as u32, self.list(d));
        if count != u32::from(eights) {
            return Err(format!("{count} registers"));
        }
        let run = match (of, it.transposed) {
            (Elements::Bytes, _) => {
                handler!([a: Kind::Quad, aux: Aux::List], |c, op| fragment::spread_bytes(c, op))
            }
            (Elements::Halves, false) => {
                handler!([a: Kind::Quad, aux: Aux::List], |c, op| fragment::spread(c, op, false))
            }
            (Elements::Halves, true) => {
                handler!([a: Kind::Quad, aux: Aux::List], |c, op| fragment::spread(c, op, true))
            }
        };
        self.emit_masked(run, 0, [rows, count, 0], list);
        Ok(())
    }

    pub(super) fn stmatrix(&mut self, it: &Stmatrix) -> Lowered<()> {
        let of = elements((it.shape.m, it.shape.n), 8, it.ty, it.transposed)?;
        self.meet_whole()?;
        let rows = self.scratch(Kind::Quad);
        let a = self.sources(&it.a, Kind::Word)?;
        let (count, list) = (a.len() as u32, self.list(a));
        if count != u32::from(it.count) {
            return Err(format!("{count} registers"));
        }
        let run = match (of, it.transposed) {
            (Elements::Bytes, _) => {
                handler!([d: Kind::Quad, aux: Aux::List], |c, op| fragment::gather_bytes(c, op))
            }
            (Elements::Halves, false) => {
                handler!([d: Kind::Quad, aux: Aux::List], |c, op| fragment::gather(c, op, false))
            }
            (Elements::Halves, true) => {
                handler!([d: Kind::Quad, aux: Aux::List], |c, op| fragment::gather(c, op, true))
            }
        };
        self.emit_masked(run, rows, [0, count, 0], list);
        self.rows(it.space, &it.address, Act::Store, rows, it.count)
    }

    /// The rows of matrices, of which each of the first lanes has one.
    fn rows(
        &mut self,
        space: ptx::Space,
        address: &ptx::Address,
        act: Act,
        rows: u32,
        matrices: u8,
    ) -> Lowered<()> {
        let data = vec![Data {
            slot: Some(rows),
            kind: Kind::Quad,
            bits: 128,
        }];
        self.access(
            space,
            Type::B128,
            address,
            Order::Weak,
            Scope::System,
            act,
            data,
        )?;
        if let Some(last) = self.ops.last_mut() {
            // Nobody parts the lanes, which have met.
            last.op.accesses_memory = false;
            last.handle_by(match matrices {
                1 => rare!([a: Kind::Double, aux: Aux::Access(Mover::Any)], |c, op| of_lanes(c, op, 0xff)),
                2 => rare!([a: Kind::Double, aux: Aux::Access(Mover::Any)], |c, op| of_lanes(c, op, 0xffff)),
                _ => rare!([a: Kind::Double, aux: Aux::Access(Mover::Any)], |c, op| of_lanes(c, op, u32::MAX)),
            });
        }
        Ok(())
    }

    pub(super) fn movmatrix(&mut self, it: &Movmatrix) -> Lowered<()> {
        self.meet_whole()?;
        let a = self.read(&it.a, Kind::Word)?;
        let d = self.write(it.d).0;
        self.emit_masked(
            handler!([d: Kind::Word, a: Kind::Word], |c, op| fragment::transpose(c, op)),
            d,
            [a, 0, 0],
            0,
        );
        Ok(())
    }
}

/// An access by some lanes alone.
///
/// # Safety
/// As for [`access::access`].
pub(super) unsafe fn of_lanes(context: &mut Context<'_>, op: &Op, lanes: u32) {
    let mask = context.mask;
    if !fragment::is_whole(context, op) {
        return;
    }
    context.mask &= lanes;
    // SAFETY: the operation is the one that this function was given, of a verified program.
    unsafe { access::access(context, op) };
    context.mask = mask;
}

/// The elements of matrices that lanes exchange with shared memory.
#[derive(Clone, Copy, Debug)]
enum Elements {
    /// 8 by 8 of 16 bits.
    Halves,
    /// 16 by 16, or 16 by 8, of 8 bits, transposed.
    Bytes,
}

/// Of bytes a matrix has 16 rows, and so many columns.
fn elements(shape: (u32, u32), columns: u32, ty: Type, transposed: bool) -> Lowered<Elements> {
    match (shape, ty) {
        ((8, 8), Type::B16) => Ok(Elements::Halves),
        ((16, n), Type::B8) if transposed && n == columns => Ok(Elements::Bytes),
        _ => Err("matrices of these elements".to_owned()),
    }
}

/// Returns the type of an element of a factor.
pub(super) fn element(ty: Type) -> Lowered<Element> {
    Ok(match ty {
        Type::F16 => Element::F16,
        Type::Bf16 => Element::Bf16,
        Type::Tf32 => Element::Tf32,
        Type::F64 => Element::F64,
        Type::E4m3 => Element::E4m3,
        Type::E5m2 => Element::E5m2,
        Type::S8 => Element::S8,
        Type::U8 => Element::U8,
        Type::S4 => Element::S4,
        Type::U4 => Element::U4,
        Type::B1 => Element::B1,
        other => return Err(format!("elements of {other:?}")),
    })
}

/// Returns the type of an element of a sum.
pub(super) fn sum(ty: Type, saturates: bool) -> Lowered<Sum> {
    Ok(match ty {
        Type::F16 => Sum::F16,
        Type::F32 => Sum::F32,
        Type::F64 => Sum::F64,
        Type::S32 if saturates => Sum::SaturatedS32,
        Type::S32 => Sum::S32,
        other => return Err(format!("sums of {other:?}")),
    })
}
