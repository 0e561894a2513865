//! Tensor maps that kernels change and copy: stores to the fields of the engine's own layout.

use ptx::{Address, Operand, Order, Scope, TensorMapCopy, TensorMapField, TensorMapReplace, Type};

use super::handler::{handler, rare};
use super::{Lowered, Lowering};
use crate::exec::access::{self, Access, Act, Data};
use crate::exec::registers::{Kind, LANES};
use crate::exec::tensor_map::{self, BYTES};

/// The number of `CUtensorMapDataType` for one of `.elemtype`.
const ELEMENT_TYPES: [u8; 13] = [0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12];

impl Lowering<'_> {
    /// `tensormap.replace`.
    pub(super) fn replace_in_tensor_map(&mut self, it: &TensorMapReplace) -> Lowered<()> {
        let dimension = it.dimension.unwrap_or(0);
        let constant = match it.value {
            Operand::Immediate(value) if it.field.is_constant() => value,
            _ => 0,
        };
        let (offset, ty) = match it.field {
            TensorMapField::GlobalAddress => (tensor_map::ADDRESS, Type::B64),
            TensorMapField::Rank => (tensor_map::LAST_DIMENSION, Type::B8),
            TensorMapField::BoxDim => (tensor_map::BOX + 2 * dimension, Type::B16),
            TensorMapField::GlobalDim => (tensor_map::SIZES + 4 * dimension, Type::B32),
            TensorMapField::GlobalStride if dimension < 4 => {
                (tensor_map::STRIDES + 8 * dimension, Type::B64)
            }
            TensorMapField::GlobalStride => {
                return Err("a tensor map has 4 strides, 0 to 3".to_owned());
            }
            TensorMapField::ElementStride => (tensor_map::STEPS + dimension, Type::B8),
            TensorMapField::ElementType => (tensor_map::ELEMENT, Type::B8),
            TensorMapField::Swizzle if constant <= 3 => (tensor_map::SWIZZLE, Type::B8),
            TensorMapField::Fill if constant <= 1 => (tensor_map::OUTSIDE, Type::B8),
            TensorMapField::Interleave | TensorMapField::SwizzleAtomicity if constant == 0 => {
                return Ok(());
            }
            field => return Err(format!("the {} {constant}", field.name())),
        };
        let value = match it.field {
            TensorMapField::ElementType => {
                let element = ELEMENT_TYPES.get(constant as usize);
                let element = element.ok_or_else(|| format!("the elemtype {constant}"))?;
                Operand::Immediate(u64::from(*element))
            }
            _ => it.value,
        };
        let mut data = vec![self.field(&value, ty)?];
        // Assemblers before that of CUDA 12.5 wanted strides in units of 16 bytes, and compilers gave them.
        if it.field == TensorMapField::GlobalStride && self.layout.module.version < (8, 5) {
            let run = rare!([d: Kind::Double, a: Kind::Double], |c, op| {
                let strides = *c.slot::<u64>(op.a);
                *c.slot_mut(op.d) = strides.map(|stride| stride.wrapping_mul(16));
            });
            let stride = data[0].slot.unwrap_or(0);
            data[0].slot = Some(self.value(run, Kind::Double, [stride, 0, 0], 0));
        }
        if it.field == TensorMapField::GlobalAddress {
            // The mark of a tensor map lies behind the address.
            let mark = Operand::Immediate(u64::from_le_bytes(*tensor_map::MARK));
            data.push(self.field(&mark, ty)?);
        }
        let address = Address {
            base: it.tensor_map.base,
            offset: it.tensor_map.offset.wrapping_add(i64::from(offset)),
        };
        let (weak, scope) = (Order::Weak, Scope::System);
        self.access(it.space, ty, &address, weak, scope, Act::Store, data)
    }

    /// A field's value. Where the field is narrower than the operand, a value that is too large stays too large.
    fn field(&mut self, value: &Operand, ty: Type) -> Lowered<Data> {
        let kind = match ty {
            Type::B64 => Kind::Double,
            _ => Kind::Word,
        };
        let mut slot = self.read(value, kind)?;
        if ty.bits() < 32 {
            let run = rare!([d: Kind::Word, a: Kind::Word], |c, op| {
                let values = *c.slot::<u32>(op.a);
                *c.slot_mut(op.d) = values.map(|value| value.min(op.aux as u32));
            });
            let max = (1u64 << ty.bits()) - 1;
            slot = self.value(run, Kind::Word, [slot, 0, 0], max);
        }
        Ok(Data {
            slot: Some(slot),
            kind,
            bits: 128,
        })
    }

    /// `tensormap.cp_fenceproxy`: a word by each lane, and a release.
    pub(super) fn copy_tensor_map(&mut self, it: &TensorMapCopy) -> Lowered<()> {
        let [from, to] = [
            self.each_word(&it.source)?,
            self.each_word(&it.destination)?,
        ];
        let data = vec![Data {
            slot: Some(self.scratch(Kind::Word)),
            kind: Kind::Word,
            bits: 32,
        }];
        let load = Act::Load {
            signed: false,
            is_read_only: false,
        };
        for (base, space, act) in [
            (from, access::Space::Shared, load),
            (to, access::Space::Global, Act::Store),
        ] {
            let access = Access {
                part_bytes: None,
                root: None,
                image: None,
                act,
                space,
                element: 4,
                data: data.clone(),
                offset: 0,
                order: Order::Weak,
                scope: Scope::System,
            };
            self.access_from(base, access);
        }
        self.fence_of_threads(Order::Release, it.scope);
        Ok(())
    }

    /// The address of each lane's word of a tensor map.
    fn each_word(&mut self, map: &Address) -> Lowered<u32> {
        const { assert!(BYTES == 4 * LANES) };
        let (base, offset) = self.address(map)?;
        let run = handler!([d: Kind::Double, a: Kind::Double], |c, op| {
            let base = *c.slot::<u64>(op.a);
            let word = |lane: usize| base[lane].wrapping_add(op.aux).wrapping_add(4 * lane as u64);
            *c.slot_mut(op.d) = std::array::from_fn::<u64, LANES, _>(word);
        });
        Ok(self.value(run, Kind::Double, [base, 0, 0], offset as u64))
    }
}
