//! Matrices spread over a warp or four.

use super::super::lexer::Token;
use super::super::opcode::Opcode;
use super::super::{Fail, Parser, Result};
use crate::{
    Accumulator, BitOperator, BlockScale, Fragment, Layout, Ldmatrix, Mma, MmaKind, Movmatrix,
    Operand, PackedFormat, Rounding, Scale, Shape, Space, Sparsity, Stmatrix, Type, WgmmaMma,
    WgmmaSource, WmmaLoad, WmmaMma, WmmaStore,
};

/// `m16n8k16` or `m8n8`.
fn shape(part: &str) -> Option<Shape> {
    let (m, rest) = part.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    Some(Shape {
        m: m.parse().ok()?,
        n: n.parse().ok()?,
        k: k.parse().ok()?,
    })
}

fn want_shape(op: &mut Opcode<'_>) -> Result<Shape> {
    op.want("a shape such as `.m16n8k16`", shape)
}

fn layout(op: &mut Opcode<'_>) -> Result<Layout> {
    op.want("`.row` or `.col`", Layout::from_name)
}

/// `.xor.popc`.
fn bits(op: &mut Opcode<'_>) -> Option<BitOperator> {
    op.flag("popc")
        .then(|| op.take(BitOperator::from_name).unwrap_or(BitOperator::And))
}

/// `.x1`, `.x2`, `.x4`.
fn count(op: &mut Opcode<'_>) -> Result<u8> {
    op.want("`.x1`, `.x2` or `.x4`", |part| {
        part.strip_prefix('x')?.parse().ok()
    })
}

/// The type of an element of a matrix in memory.
fn element(op: &mut Opcode<'_>) -> Result<Type> {
    match op.flag("b8x16") {
        true => Ok(Type::B8),
        false => op.ty(),
    }
}

impl<'a> Parser<'a> {
    pub(crate) fn mma(&mut self, op: &mut Opcode<'a>) -> Result<Mma> {
        let sparse = sparse(op);
        let shape = want_shape(op)?;
        let (a_layout, b_layout) = (layout(op)?, layout(op)?);
        let (saturate, bits) = (op.flag("satfinite"), bits(op));
        let kind = op.take(|part| MmaKind::from_name(part.strip_prefix("kind::")?));
        let scaled = op.flag("block_scale");
        let vector = op.take(|part| {
            part.strip_prefix("scale_vec::")?
                .strip_suffix('X')?
                .parse()
                .ok()
        });
        let (d_type, a_type, b_type, c_type) = (op.ty()?, op.ty()?, op.ty()?, op.ty()?);
        let scale_type = if scaled { Some(op.ty()?) } else { None };
        let d = self.registers_of()?;
        let (a, b, c) = (self.then_list()?, self.then_list()?, self.then_list()?);
        let sparsity = sparse.map(|ordered| self.sparsity(ordered)).transpose()?;
        let scale = scale_type
            .map(|ty| self.block_scale(vector, ty))
            .transpose()?;
        Ok(Mma {
            shape,
            a_layout,
            b_layout,
            d_type,
            a_type,
            b_type,
            c_type,
            saturate,
            bits,
            kind,
            sparsity,
            scale,
            d,
            a,
            b,
            c,
        })
    }

    /// A comma and a list of registers.
    fn then_list(&mut self) -> Result<Vec<Operand>> {
        self.comma()?;
        self.sources(Type::B64)
    }

    fn sparsity(&mut self, ordered: bool) -> Result<Sparsity> {
        Ok(Sparsity {
            ordered,
            metadata: self.then(Type::B32)?,
            selector: self.then(Type::U32)?,
        })
    }

    fn block_scale(&mut self, vector: Option<u32>, ty: Type) -> Result<BlockScale> {
        Ok(BlockScale {
            vector,
            ty,
            a: self.scale()?,
            b: self.scale()?,
        })
    }

    /// `data, {byte, thread}`.
    fn scale(&mut self) -> Result<Scale> {
        // The data may stand in braces.
        self.comma()?;
        let begin = self.begin;
        let data = self.sources(Type::B32)?;
        self.comma()?;
        let selectors = self.sources(Type::U16)?;
        match (&data[..], &selectors[..]) {
            (&[data], &[byte_id, thread_id]) => Ok(Scale {
                data,
                byte_id,
                thread_id,
            }),
            _ => Err(Fail::at(begin, "expected a scale and `{byte, thread}`")),
        }
    }

    pub(crate) fn wmma_load(&mut self, op: &mut Opcode<'a>) -> Result<WmmaLoad> {
        let fragment = op.want("`.a`, `.b` or `.c`", Fragment::from_name)?;
        let (layout, shape) = (layout(op)?, want_shape(op)?);
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let ty = op.ty()?;
        let (d, address) = (self.registers_of()?, self.then_address()?);
        Ok(WmmaLoad {
            fragment,
            layout,
            shape,
            space,
            ty,
            d,
            address,
            stride: self.optional(Type::U32)?,
        })
    }

    pub(crate) fn wmma_store(&mut self, op: &mut Opcode<'a>) -> Result<WmmaStore> {
        op.want("`.d`", Fragment::from_name)?;
        let (layout, shape) = (layout(op)?, want_shape(op)?);
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let ty = op.ty()?;
        let (address, a) = (self.address()?, self.then_list()?);
        Ok(WmmaStore {
            layout,
            shape,
            space,
            ty,
            address,
            a,
            stride: self.optional(Type::U32)?,
        })
    }

    pub(crate) fn wmma_mma(&mut self, op: &mut Opcode<'a>) -> Result<WmmaMma> {
        let bits = bits(op);
        let (a_layout, b_layout, shape) = (layout(op)?, layout(op)?, want_shape(op)?);
        let (rounding, saturate) = (op.take(Rounding::from_name), op.flag("satfinite"));
        let (d_type, second) = (op.ty()?, op.ty()?);
        // Of halves only d and c are named.
        let (a_type, b_type, c_type) = match op.optional_type() {
            Some(third) => (second, third, op.ty()?),
            None => (Type::F16, Type::F16, second),
        };
        let d = self.registers_of()?;
        let (a, b, c) = (self.then_list()?, self.then_list()?, self.then_list()?);
        Ok(WmmaMma {
            a_layout,
            b_layout,
            shape,
            d_type,
            a_type,
            b_type,
            c_type,
            rounding,
            saturate,
            bits,
            d,
            a,
            b,
            c,
        })
    }

    pub(crate) fn movmatrix(&mut self, op: &mut Opcode<'a>) -> Result<Movmatrix> {
        want_shape(op)?;
        self.fields(op)
    }

    pub(crate) fn ldmatrix(&mut self, op: &mut Opcode<'a>) -> Result<Ldmatrix> {
        let shape = want_shape(op)?;
        let (transposed, count) = (op.flag("trans"), count(op)?);
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let format = op.take(PackedFormat::from_name);
        let ty = element(op)?;
        let (d, address) = (self.registers_of()?, self.then_address()?);
        if (shape.m, shape.n) == (16, 16) && count > 2 {
            return Err(op.error("matrices of 16 by 16 are loaded one or two at once"));
        }
        Ok(Ldmatrix {
            shape,
            transposed,
            space,
            ty,
            format,
            d,
            count,
            address,
        })
    }

    pub(crate) fn stmatrix(&mut self, op: &mut Opcode<'a>) -> Result<Stmatrix> {
        let shape = want_shape(op)?;
        let (transposed, count) = (op.flag("trans"), count(op)?);
        let space = op.take(Space::from_name).unwrap_or(Space::Generic);
        let ty = element(op)?;
        let (address, a) = (self.address()?, self.then_list()?);
        Ok(Stmatrix {
            shape,
            transposed,
            space,
            ty,
            address,
            count,
            a,
        })
    }

    pub(crate) fn wgmma(&mut self, op: &mut Opcode<'a>) -> Result<WgmmaMma> {
        let sparse = sparse(op);
        let shape = want_shape(op)?;
        let (saturate, bits) = (op.flag("satfinite"), bits(op));
        let (d_type, a_type, b_type) = (op.ty()?, op.ty()?, op.ty()?);
        let d = self.registers_of()?.into_iter().map(Accumulator).collect();
        self.comma()?;
        let a = if self.token == Token::Sign(b'{') {
            WgmmaSource::Registers(self.sources(Type::B32)?)
        } else {
            WgmmaSource::Descriptor(self.operand(Type::B64)?)
        };
        let b = self.then(Type::B64)?;
        let sparsity = sparse.map(|ordered| self.sparsity(ordered)).transpose()?;
        self.comma()?;
        let scale_d = self.predicate()?;
        let begin = self.begin;
        let numbers = self.numbers()?;
        let (scale_a, scale_b, transpose_a, transpose_b) = match (&numbers[..], &a) {
            ([], _) => (1, 1, false, false),
            (&[a, b], _) => (a, b, false, false),
            (&[a, b, transpose], WgmmaSource::Registers(_)) => (a, b, false, transpose != 0),
            (&[a, b, transpose_a, transpose_b], _) => (a, b, transpose_a != 0, transpose_b != 0),
            _ => {
                return Err(Fail::at(
                    begin,
                    "expected scales of both factors, then whether they are transposed",
                ));
            }
        };
        Ok(WgmmaMma {
            shape,
            d_type,
            a_type,
            b_type,
            saturate,
            bits,
            sparsity,
            d,
            a,
            b,
            scale_d,
            scale_a,
            scale_b,
            transpose_a,
            transpose_b,
        })
    }

    /// Integers that follow, each behind a comma.
    fn numbers(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        while self.eat(b',')? {
            let begin = self.begin;
            numbers.push(
                self.constant()?
                    .integer()
                    .ok_or_else(|| Fail::at(begin, "expected an integer"))?,
            );
        }
        Ok(numbers)
    }
}

/// `.sp`: whether its metadata are ordered.
fn sparse(op: &mut Opcode<'_>) -> Option<bool> {
    op.take(|part| match part {
        "sp" => Some(false),
        "sp::ordered_metadata" => Some(true),
        _ => None,
    })
}
