//! Values from register to register, and addresses from space to space.

use ptx::{Cvta, CvtaDirection, Isspacep, MovVector, Operand, Pack, Reg, Space, Unpack};

use super::handler::handler;
use super::slots::kind;
use super::{Lowered, Lowering};
use crate::exec::op::{binary, each_lane, predicates, unary};
use crate::exec::registers::Kind;
use crate::memory::windows;

impl Lowering<'_> {
    pub(super) fn mov(&mut self, d: Reg, a: &Operand) -> Lowered<()> {
        let kind = self.slots.kind(d);
        let a = self.read(a, kind)?;
        self.copy(d, a);
        Ok(())
    }

    pub(super) fn mov_vector(&mut self, it: &MovVector) -> Lowered<()> {
        let kind = kind(it.ty);
        // A source may be one of the destinations.
        let copy = match kind {
            Kind::Word => handler!(|c, op| unary(c, op, |a: u32| a)),
            Kind::Double => handler!(|c, op| unary(c, op, |a: u64| a)),
            Kind::Quad | Kind::Predicate => return Err("the type".to_owned()),
        };
        let mut values = Vec::new();
        for a in &it.a {
            let a = self.read(a, kind)?;
            values.push(self.value(copy, kind, [a, 0, 0], 0));
        }
        for (d, value) in it.d.iter().zip(values) {
            if let Some(d) = *d {
                self.finish_in(copy, (d, kind), [value, 0, 0], 0)?;
            }
        }
        Ok(())
    }

    /// Copies a slot of the register's kind.
    pub(super) fn copy(&mut self, d: Reg, a: u32) {
        let run = match self.slots.kind(d) {
            Kind::Predicate => handler!(|c, op| predicates(c, op, |a| a)),
            Kind::Word => handler!(|c, op| unary(c, op, |a: u32| a)),
            Kind::Double => handler!(|c, op| unary(c, op, |a: u64| a)),
            Kind::Quad => handler!(|c, op| unary(c, op, |a: u128| a)),
        };
        self.emit(run, d, &[a]);
    }

    pub(super) fn pack(&mut self, it: &Pack) -> Lowered<()> {
        let bits = it.ty.bits() / it.a.len() as u32;
        let whole = kind(it.ty);
        let mut sum = self.constant(whole, 0);
        for (index, part) in it.a.iter().enumerate() {
            let part_kind = if bits == 64 { Kind::Double } else { Kind::Word };
            let part = self.read(part, part_kind)?;
            let part = self.low_bits(part, part_kind, bits);
            let part = match part_kind == whole {
                true => part,
                false => self.resized(part, part_kind, whole)?,
            };
            let shift = self.constant(Kind::Word, u128::from(bits * index as u32));
            let run = match whole {
                Kind::Word => handler!(|c, op| crate::exec::op::ternary(
                    c,
                    op,
                    |sum: u32, part: u32, shift: u32| sum | part << shift
                )),
                Kind::Double => handler!(|c, op| crate::exec::op::ternary(
                    c,
                    op,
                    |sum: u64, part: u64, shift: u32| sum | part << shift
                )),
                Kind::Quad => handler!(|c, op| crate::exec::op::ternary(
                    c,
                    op,
                    |sum: u128, part: u128, shift: u32| sum | part << shift
                )),
                Kind::Predicate => return Err("a predicate of several values".to_owned()),
            };
            if index + 1 == it.a.len() {
                self.emit(run, it.d, &[sum, part, shift]);
            } else {
                let next = self.scratch(whole);
                self.emit_to(run, next, whole, &[sum, part, shift]);
                sum = next;
            }
        }
        Ok(())
    }

    /// The lower bits of a slot, where it may hold more.
    fn low_bits(&mut self, slot: u32, kind: Kind, bits: u32) -> u32 {
        if kind != Kind::Word || bits == 32 {
            return slot;
        }
        let mask = self.constant(kind, (1 << bits) - 1);
        let cut = self.scratch(kind);
        let run = handler!(|c, op| binary(c, op, |a: u32, b: u32| a & b));
        self.emit_to(run, cut, kind, &[slot, mask]);
        cut
    }

    pub(super) fn unpack(&mut self, it: &Unpack) -> Lowered<()> {
        let bits = it.ty.bits() / it.d.len() as u32;
        let whole = kind(it.ty);
        // The source may be one of the destinations.
        let a = self.read(&it.a, whole)?;
        let source = self.scratch(whole);
        let copy = match whole {
            Kind::Word => handler!(|c, op| unary(c, op, |a: u32| a)),
            Kind::Double => handler!(|c, op| unary(c, op, |a: u64| a)),
            Kind::Quad => handler!(|c, op| unary(c, op, |a: u128| a)),
            Kind::Predicate => return Err("several values of a predicate".to_owned()),
        };
        self.emit_to(copy, source, whole, &[a]);
        for (index, part) in it.d.iter().enumerate() {
            let Some(part) = *part else { continue };
            let shift = self.constant(Kind::Word, u128::from(bits * index as u32));
            let run = match (whole, bits) {
                (Kind::Word, 16) => {
                    handler!(|c, op| binary(c, op, |a: u32, s: u32| a >> s & 0xFFFF))
                }
                (Kind::Word, _) => handler!(|c, op| binary(c, op, |a: u32, s: u32| a >> s & 0xFF)),
                (Kind::Double, 32) => {
                    handler!(|c, op| binary(c, op, |a: u64, s: u32| (a >> s) as u32))
                }
                (Kind::Double, 16) => {
                    handler!(|c, op| binary(c, op, |a: u64, s: u32| (a >> s) as u16))
                }
                (Kind::Double, _) => {
                    handler!(|c, op| binary(c, op, |a: u64, s: u32| (a >> s) as u8))
                }
                (_, 64) => handler!(|c, op| binary(c, op, |a: u128, s: u32| (a >> s) as u64)),
                (_, 32) => handler!(|c, op| binary(c, op, |a: u128, s: u32| (a >> s) as u32)),
                _ => handler!(|c, op| binary(c, op, |a: u128, s: u32| (a >> s) as u16)),
            };
            self.emit(run, part, &[source, shift]);
        }
        Ok(())
    }

    pub(super) fn cvta(&mut self, it: &Cvta) -> Lowered<()> {
        let window = window(it.space)?;
        let a = match it.a {
            // The address of a kernel's parameter is an offset here.
            Operand::Symbol { symbol, offset } => self.address_of(symbol, offset)?,
            ref other => self.read(other, Kind::Double)?,
        };
        let moved = match it.direction {
            _ if window == windows::SHARED => self.in_shared_window(a),
            direction if window == windows::LOCAL => self.in_local_window(a, direction),
            CvtaDirection::ToGeneric => self.in_window(a, window),
            CvtaDirection::FromGeneric => self.in_window(a, window.wrapping_neg()),
        };
        let kind = self.slots.kind(it.d);
        let moved = match kind {
            Kind::Double => moved,
            kind => self.resized(moved, Kind::Double, kind)?,
        };
        self.copy(it.d, moved);
        Ok(())
    }

    /// An address with a window's first one added. Null stays null in global memory alone, which has
    /// no window.
    pub(super) fn in_window(&mut self, slot: u32, window: u64) -> u32 {
        if window == 0 {
            return slot;
        }
        let first = self.constant(Kind::Double, u128::from(window));
        let sum = self.scratch(Kind::Double);
        let run = handler!(|c, op| binary(c, op, |a: u64, b: u64| a.wrapping_add(b)));
        self.emit_to(run, sum, Kind::Double, &[slot, first]);
        sum
    }

    /// An offset in shared memory as a generic address, or the other way round.
    pub(super) fn in_shared_window(&mut self, slot: u32) -> u32 {
        let moved = self.scratch(Kind::Double);
        let run = handler!(|c, op| {
            let window = c.at.shared_window;
            unary(c, op, |a: u64| a ^ window)
        });
        self.emit_to(run, moved, Kind::Double, &[slot]);
        moved
    }

    /// An offset in local memory as a generic address, or the other way round.
    fn in_local_window(&mut self, slot: u32, direction: CvtaDirection) -> u32 {
        let moved = self.scratch(Kind::Double);
        let run = match direction {
            CvtaDirection::ToGeneric => handler!([d: Kind::Double, a: Kind::Double], |c, op| {
                let offsets = *c.slot::<u64>(op.a);
                let window = |lane| c.at.local_window_of(lane);
                *c.slot_mut(op.d) = each_lane(|lane| offsets[lane].wrapping_add(window(lane)));
            }),
            CvtaDirection::FromGeneric => handler!([d: Kind::Double, a: Kind::Double], |c, op| {
                let addresses = *c.slot::<u64>(op.a);
                let window = |lane| c.at.local_window_of(lane);
                *c.slot_mut(op.d) = each_lane(|lane| addresses[lane].wrapping_sub(window(lane)));
            }),
        };
        self.emit_to(run, moved, Kind::Double, &[slot]);
        moved
    }

    pub(super) fn isspacep(&mut self, it: &Isspacep) -> Lowered<()> {
        let a = self.read(&it.a, Kind::Double)?;
        let first = self.constant(Kind::Double, u128::from(window(it.space)?));
        let run =
            handler!(|c, op| crate::exec::op::compare(c, op, |a: u64, b: u64| windows::of(a) == b));
        self.emit(run, it.p, &[a, first]);
        Ok(())
    }
}

/// The window of a space.
fn window(space: Space) -> Lowered<u64> {
    Ok(match space {
        Space::Global => 0,
        Space::Const => windows::CONSTANT,
        Space::Shared | Space::SharedCluster => windows::SHARED,
        Space::Local => windows::LOCAL,
        Space::Param | Space::ParamEntry => windows::PARAMETERS,
        other => return Err(format!("addresses of the space {other:?}")),
    })
}
