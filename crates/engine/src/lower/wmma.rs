//! `wmma`: matrices from and to memory in fragments, and their products.
//!
//! The PTX ISA leaves open where an element of a fragment lies. Here it lies as on an H200: scripts/gpu/fragments.py asks a device, and
//! docs/results/h200-fragments has what it answered. That is how `mma` has its matrices, so that each product is one or two of `mma`'s; where
//! n is 32 all of it is transposed.

use ptx::{
    Address, BitOperator, Fragment, Layout, Operand, Order, Rounding, Scope, Shape, Space, Type,
    WmmaLoad, WmmaMma, WmmaStore,
};

use super::handler::{handler, rare};
use super::matrix::{element, of_lanes, sum};
use super::{Lowered, Lowering};
use crate::arith::tensor::Sum;
use crate::exec::access::{Act, Data};
use crate::exec::fragment::{self, Factor, Product, Start, Summand};
use crate::exec::op::{binary, unary};
use crate::exec::registers::Kind;
use crate::exec::signature::{Aux, Mover};

/// The elements of a fragment, on lines of which each lane is on one of eight: rows of the left factor and of sums, columns of the right factor.
struct Places {
    /// Elements of a register, which follow each other on the line.
    pack: u32,
    /// Elements on the line from a lane to the next of its four.
    run: u32,
    /// The line and the place on it of each register's first element, in lane 0.
    starts: Vec<(u32, u32)>,
    /// Whether lines are rows.
    has_rows: bool,
}

impl Places {
    fn of(fragment: Fragment, shape: Shape, ty: Type) -> Lowered<Places> {
        if !is_defined(fragment, shape, ty) {
            return Err("this shape".to_owned());
        }
        let bits = ty.bits();
        let is_turned = shape.n == 32;
        let (lines, columns) = match is_turned {
            false => (shape.m, shape.n),
            true => (shape.n, shape.m),
        };
        let pack = 32 / bits.min(32);
        let (is_left, is_right) = match fragment {
            Fragment::A => (!is_turned, is_turned),
            Fragment::B => (is_turned, !is_turned),
            Fragment::C | Fragment::D => (false, false),
        };
        // Each step doubles the registers.
        let mut starts = vec![(0, 0)];
        let mut step = |line: u32, along: u32| {
            let more: Vec<_> = starts
                .iter()
                .map(|at| (at.0 + line, at.1 + along))
                .collect();
            starts.extend(more);
        };
        let run = if is_left || is_right { pack } else { 2 };
        if !is_left && !is_right && pack == 1 {
            step(0, 1);
        }
        if !is_right && lines >= 16 {
            step(8, 0);
        }
        if is_left || is_right {
            let mut along = 4 * pack;
            while along < shape.k {
                step(0, along);
                along *= 2;
            }
        } else if columns == 16 {
            step(0, 8);
        }
        if is_right && columns == 16 {
            step(8, 0);
        }
        if !is_right && lines == 32 {
            step(16, 0);
        }
        Ok(Places {
            pack,
            run,
            starts,
            has_rows: match fragment {
                Fragment::A => true,
                Fragment::B => false,
                Fragment::C | Fragment::D => !is_turned,
            },
        })
    }

    /// Refuses another number of registers than it has; where all of a factor's halves are in eight, the elements are there once more, in the
    /// same order.
    fn check(&self, given: usize, repeats: bool) -> Lowered<usize> {
        let own = self.starts.len();
        match given == if repeats { 8 } else { own } {
            true => Ok(own),
            false => Err(format!("{given} registers for this fragment")),
        }
    }
}

/// A fragment in memory.
struct Matrix<'a> {
    layout: Layout,
    space: Space,
    ty: Type,
    address: &'a Address,
    base: u32,
    stride: u32,
}

impl Lowering<'_> {
    pub(super) fn wmma_load(&mut self, it: &WmmaLoad) -> Lowered<()> {
        let bits = it.ty.bits();
        let places = Places::of(it.fragment, it.shape, it.ty)?;
        let is_factor = matches!(it.fragment, Fragment::A | Fragment::B);
        let own = places.check(it.d.len(), is_factor && it.ty == Type::F16)?;
        let kind = if bits == 64 { Kind::Double } else { Kind::Word };
        let slots = self.destinations(&it.d, kind)?;
        let (m, n, k) = (it.shape.m, it.shape.n, it.shape.k);
        let (rows, columns) = match it.fragment {
            Fragment::A => (m, k),
            Fragment::B => (k, n),
            Fragment::C | Fragment::D => (m, n),
        };
        self.meet_whole()?;
        let matrix = self.matrix(
            (it.layout, it.space, it.ty),
            &it.address,
            &it.stride,
            (rows, columns),
        )?;
        let act = Act::Load {
            signed: false,
            is_read_only: false,
        };
        let data = |slot, bits| Data {
            slot: Some(slot),
            kind,
            bits,
        };
        if places.is_adjacent(it.layout) {
            let mut next = 0;
            while next < own {
                let together = places.together(next);
                let all = slots[next..next + together].iter();
                let all = all.map(|&slot| data(slot, bits.max(32))).collect();
                self.fragment_access(&matrix, &places, places.starts[next], act, all)?;
                next += together;
            }
        } else {
            let width = whole_bytes(bits)?;
            for (index, &(line, along)) in places.starts.iter().enumerate() {
                let mut parts = Vec::new();
                for part in 0..places.pack {
                    let slot = match places.pack {
                        1 => slots[index],
                        _ => self.scratch(Kind::Word),
                    };
                    let of_part = vec![data(slot, bits.max(32))];
                    self.fragment_access(&matrix, &places, (line, along + part), act, of_part)?;
                    parts.push(slot);
                }
                self.join(&parts, slots[index], width);
            }
        }
        for (index, &slot) in slots.iter().enumerate().skip(own) {
            let copy = handler!(|c, op| unary(c, op, |a: u32| a));
            self.emit_to(copy, slot, Kind::Word, &[slots[index % own]]);
        }
        Ok(())
    }

    pub(super) fn wmma_store(&mut self, it: &WmmaStore) -> Lowered<()> {
        let bits = it.ty.bits();
        let places = Places::of(Fragment::D, it.shape, it.ty)?;
        places.check(it.a.len(), false)?;
        let kind = if bits == 64 { Kind::Double } else { Kind::Word };
        let slots = self.sources(&it.a, kind)?;
        self.meet_whole()?;
        let matrix = self.matrix(
            (it.layout, it.space, it.ty),
            &it.address,
            &it.stride,
            (it.shape.m, it.shape.n),
        )?;
        let data = |slot| Data {
            slot: Some(slot),
            kind,
            bits: 128,
        };
        if places.is_adjacent(it.layout) {
            let mut next = 0;
            while next < slots.len() {
                let together = places.together(next);
                let all = slots[next..next + together].iter();
                let all = all.map(|&slot| data(slot)).collect();
                self.fragment_access(&matrix, &places, places.starts[next], Act::Store, all)?;
                next += together;
            }
            return Ok(());
        }
        for (index, &(line, along)) in places.starts.iter().enumerate() {
            for part in 0..places.pack {
                let slot = match part {
                    0 => slots[index],
                    _ => {
                        let run = handler!(|c, op| unary(c, op, |a: u32| a >> 16));
                        self.value(run, Kind::Word, [slots[index], 0, 0], 0)
                    }
                };
                let at = (line, along + part);
                self.fragment_access(&matrix, &places, at, Act::Store, vec![data(slot)])?;
            }
        }
        Ok(())
    }

    pub(super) fn wmma_mma(&mut self, it: &WmmaMma) -> Lowered<()> {
        if !matches!(it.rounding, None | Some(Rounding::Rn)) {
            return Err("roundings other than to nearest".to_owned());
        }
        let of = element(it.a_type)?;
        if it.a_type != it.b_type {
            return Err("factors of two types".to_owned());
        }
        let (c, d) = (sum(it.c_type, it.saturate)?, sum(it.d_type, it.saturate)?);
        let mut factor = |fragment, operands: &[Operand]| {
            let places = Places::of(fragment, it.shape, it.a_type)?;
            let own = places.check(operands.len(), it.a_type == Type::F16)?;
            self.sources(&operands[..own], fragment::kind_of(of))
        };
        let (a, b) = (factor(Fragment::A, &it.a)?, factor(Fragment::B, &it.b)?);
        for (given, ty) in [(it.c.len(), it.c_type), (it.d.len(), it.d_type)] {
            Places::of(Fragment::D, it.shape, ty)?.check(given, false)?;
        }
        let of_c = self.sources(&it.c, fragment::kind_of_sum(c))?;
        let of_d = self.destinations(&it.d, fragment::kind_of_sum(d))?;
        self.meet_whole()?;
        let (left, right, lines, columns) = match it.shape.n {
            32 => (b, a, 32, it.shape.m),
            n => (a, b, it.shape.m, n),
        };
        let halves = if lines == 8 { 1 } else { 2 };
        // Of two products that `mma` has, either each has half of the lines, or half of the columns.
        let half = |slots: &[u32], index: usize, is_halved: bool| match is_halved {
            true => slots[slots.len() / halves * index..][..slots.len() / halves].to_vec(),
            false => slots.to_vec(),
        };
        let mut products: Vec<Product> = (0..halves)
            .map(|index| Product {
                m: (lines as usize).min(16),
                n: 8,
                k: it.shape.k as usize,
                a: Factor {
                    of,
                    slots: half(&left, index, columns == 8),
                },
                b: Factor {
                    of,
                    slots: half(&right, index, columns != 8),
                },
                c: Summand {
                    of: c,
                    slots: half(&of_c, index, true),
                },
                d: Summand {
                    of: d,
                    slots: half(&of_d, index, true),
                },
                differences: it.bits == Some(BitOperator::Xor),
            })
            .collect();
        let kept = self.keep_sources(&mut products);
        for product in products {
            self.product(product);
        }
        for (from, to) in kept {
            self.copy_sum(d, from, to);
        }
        Ok(())
    }

    /// Has the first of two products give its sums elsewhere where the second reads what they would overwrite: the slots, and where they belong.
    fn keep_sources(&mut self, products: &mut [Product]) -> Vec<(u32, u32)> {
        let [first, second] = products else {
            return Vec::new();
        };
        let read = [&second.a.slots, &second.b.slots, &second.c.slots];
        let is_read = |slot: &u32| read.iter().any(|slots| slots.contains(slot));
        if !first.d.slots.iter().any(is_read) {
            return Vec::new();
        }
        let kind = fragment::kind_of_sum(first.d.of);
        let keep = |slot: &mut u32| (std::mem::replace(slot, self.scratch(kind)), *slot);
        let kept = first.d.slots.iter_mut().map(keep);
        kept.map(|(to, from)| (from, to)).collect()
    }

    fn copy_sum(&mut self, of: Sum, from: u32, to: u32) {
        match fragment::kind_of_sum(of) {
            Kind::Double => {
                let copy = handler!(|c, op| unary(c, op, |a: u64| a));
                self.emit_to(copy, to, Kind::Double, &[from]);
            }
            _ => {
                let copy = handler!(|c, op| unary(c, op, |a: u32| a));
                self.emit_to(copy, to, Kind::Word, &[from]);
            }
        }
    }

    /// The matrix at an address, whose lines follow each other where no stride is given.
    fn matrix<'a>(
        &mut self,
        (layout, space, ty): (Layout, Space, Type),
        address: &'a Address,
        stride: &Option<Operand>,
        (rows, columns): (u32, u32),
    ) -> Lowered<Matrix<'a>> {
        let stride = match (stride, layout) {
            (Some(stride), _) => self.read(stride, Kind::Word)?,
            (None, Layout::Row) => self.constant(Kind::Word, columns.into()),
            (None, Layout::Column) => self.constant(Kind::Word, rows.into()),
        };
        // Results may go to the registers that say where.
        let base = self.address(address)?.0;
        let copy = handler!(|c, op| unary(c, op, |a: u64| a));
        let base = self.value(copy, Kind::Double, [base, 0, 0], 0);
        let copy = handler!(|c, op| unary(c, op, |a: u32| a));
        let stride = self.value(copy, Kind::Word, [stride, 0, 0], 0);
        Ok(Matrix {
            layout,
            space,
            ty,
            address,
            base,
            stride,
        })
    }

    /// An access by all lanes to elements from one on, which follow each other.
    fn fragment_access(
        &mut self,
        matrix: &Matrix<'_>,
        places: &Places,
        (line, along): (u32, u32),
        act: Act,
        data: Vec<Data>,
    ) -> Lowered<()> {
        let is_adjacent = places.is_adjacent(matrix.layout);
        let start = Start {
            line: line as u8,
            along: along as u8,
            run: places.run as u8,
            bits: matrix.ty.bits() as u8,
            is_adjacent,
        };
        let run = handler!([d: Kind::Double, a: Kind::Double, b: Kind::Word], |c, op| fragment::addresses(c, op));
        let sources = [matrix.base, matrix.stride, 0];
        let addresses = self.value(run, Kind::Double, sources, start.encode());
        let ty = match if is_adjacent {
            matrix.ty.bits().max(32)
        } else {
            matrix.ty.bits()
        } {
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            _ => Type::B64,
        };
        let (weak, scope) = (Order::Weak, Scope::System);
        self.access(matrix.space, ty, matrix.address, weak, scope, act, data)?;
        if let Some(last) = self.ops.last_mut() {
            // Nobody parts the lanes, which have met.
            last.op.accesses_memory = false;
            last.op.a = addresses;
            last.handle_by(rare!([a: Kind::Double, aux: Aux::Access(Mover::Any)], |c, op| of_lanes(c, op, u32::MAX)));
        }
        Ok(())
    }

    /// Puts elements together to a register, the first in the lowest bits.
    fn join(&mut self, parts: &[u32], to: u32, bytes: u32) {
        let Some((&last, others)) = parts.split_last() else {
            return;
        };
        let mut all = last;
        for (index, &part) in others.iter().enumerate().rev() {
            let run = match bytes {
                1 => handler!(|c, op| binary(c, op, |a: u32, b: u32| a | b << 8)),
                _ => handler!(|c, op| binary(c, op, |a: u32, b: u32| a | b << 16)),
            };
            let slot = if index == 0 {
                to
            } else {
                self.scratch(Kind::Word)
            };
            self.emit_to(run, slot, Kind::Word, &[part, all]);
            all = slot;
        }
    }
}

impl Places {
    /// Whether the elements of a line follow each other in memory.
    fn is_adjacent(&self, layout: Layout) -> bool {
        self.has_rows == (layout == Layout::Row)
    }

    /// How many registers from one on have elements that follow each other in every lane.
    fn together(&self, first: usize) -> usize {
        let (line, along) = self.starts[first];
        match self.starts.get(first + 1) {
            Some(&next) if next == (line, along + self.pack) && self.run == 2 * self.pack => 2,
            _ => 1,
        }
    }
}

/// Whether the PTX ISA has a fragment of this type.
fn is_defined(fragment: Fragment, shape: Shape, ty: Type) -> bool {
    let is_factor = matches!(fragment, Fragment::A | Fragment::B);
    match (shape.m, shape.n, shape.k) {
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) if is_factor => {
            matches!(ty, Type::F16 | Type::Bf16 | Type::S8 | Type::U8)
        }
        (16, 16, 16) | (8, 32, 16) | (32, 8, 16) => {
            matches!(ty, Type::F16 | Type::F32 | Type::S32)
        }
        (16, 16, 8) => ty == if is_factor { Type::Tf32 } else { Type::F32 },
        (8, 8, 4) => ty == Type::F64,
        (8, 8, 32) if is_factor => matches!(ty, Type::S4 | Type::U4),
        (8, 8, 128) if is_factor => ty == Type::B1,
        (8, 8, 32 | 128) => ty == Type::S32,
        _ => false,
    }
}

fn whole_bytes(bits: u32) -> Lowered<u32> {
    match bits {
        8.. => Ok(bits / 8),
        _ => Err("elements of less than a byte by lines".to_owned()),
    }
}
