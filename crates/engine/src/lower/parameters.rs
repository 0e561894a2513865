//! Loads and stores of parameters, which lie in registers.

use ptx::{Ld, Reg, St, Symbol, Type};

use super::handler::handler;
use super::{Lowered, Lowering};
use crate::exec::op::{binary, ternary, unary};
use crate::exec::parameter_bounds::parameter_bounds;
use crate::exec::program::{Parameter, Words};
use crate::exec::registers::Kind;

impl Lowering<'_> {
    /// A load from a parameter: of the kernel, of the function, or of a call.
    pub(super) fn load_parameter(&mut self, symbol: Symbol, it: &Ld) -> Lowered<()> {
        let bytes = it.ty.bytes();
        for (index, register) in it.d.iter().enumerate() {
            let Some(register) = *register else { continue };
            let offset = self.offset_in(symbol, it.address.offset, index, bytes)?;
            match symbol {
                Symbol::Parameter(parameter) if self.function.kind == ptx::FunctionKind::Entry => {
                    let bounds = parameter_bounds(self.function)[parameter as usize];
                    self.load_of_launch(register, bounds.offset + offset, it.ty)?;
                }
                symbol => {
                    let words = self.words_of(symbol)?;
                    self.load_words(register, words, offset, it.ty)?;
                }
            }
        }
        Ok(())
    }

    /// The offset of an element of a load or store in a parameter.
    ///
    /// # Errors
    /// It does not lie there.
    fn offset_in(&self, symbol: Symbol, first: i64, index: usize, bytes: u32) -> Lowered<u32> {
        let (name, size) = match symbol {
            Symbol::Parameter(index) => named(self.function.parameters.get(index as usize)),
            Symbol::Return(index) => named(self.function.returns.get(index as usize)),
            Symbol::Body(index) => {
                let body = self.function.body.as_ref();
                let variable = body.and_then(|it| it.variables.get(index as usize));
                variable.map(|it| (it.name.as_str(), it.bytes))
            }
            Symbol::Module(_) | Symbol::Function(_) => None,
        }
        .ok_or("a parameter outside of a function")?;
        let offset = i128::from(first) + index as i128 * i128::from(bytes);
        if offset < 0 || offset + i128::from(bytes) > i128::from(size) {
            return Err(format!(
                "{bytes} bytes at offset {offset} of the parameter `{name}`, which has {size}"
            ));
        }
        if offset % i128::from(bytes) != 0 {
            return Err(format!(
                "offset {offset} of the parameter `{name}` is no multiple of {bytes}"
            ));
        }
        u32::try_from(offset).map_err(|_| format!("offset {offset} of the parameter `{name}`"))
    }

    /// A part of the kernel's parameters, which lies in a slot before the kernel begins.
    fn load_of_launch(&mut self, register: Reg, offset: u32, ty: Type) -> Lowered<()> {
        let (own, kind) = self.write(register);
        if kind == Kind::Predicate || ty.bits() > kind.bits() {
            return Err(too_narrow(ty, kind));
        }
        let slot = if self.is_hoisted {
            own
        } else {
            self.slots.add(kind)
        };
        let (bytes, signed) = (ty.bytes(), ty.is_signed());
        self.parameters.push(Parameter::Launch {
            offset,
            bytes,
            signed,
            slot,
            kind,
        });
        if !self.is_hoisted {
            self.copy(register, slot);
        }
        Ok(())
    }

    fn load_words(&mut self, register: Reg, words: Words, offset: u32, ty: Type) -> Lowered<()> {
        let word = |index: u32| words.slot + (offset / 4 + index) * Kind::Word.bytes();
        let kind = self.slots.kind(register);
        match ty.bytes() {
            8 if kind == Kind::Double => {
                let run = handler!(|c, op| binary(c, op, |low: u32, high: u32| u64::from(low)
                    | u64::from(high) << 32));
                self.emit(run, register, &[word(0), word(1)]);
            }
            4 if kind == Kind::Word => self.copy(register, word(0)),
            4 if kind == Kind::Double => {
                let run = match ty.is_signed() {
                    true => handler!(|c, op| unary(c, op, |a: i32| i64::from(a))),
                    false => handler!(|c, op| unary(c, op, |a: u32| u64::from(a))),
                };
                self.emit(run, register, &[word(0)]);
            }
            bytes @ (1 | 2) if kind == Kind::Word => {
                let shift = self.constant(Kind::Word, u128::from(offset % 4 * 8));
                let run = match (bytes, ty.is_signed(), self.register_bits(register)) {
                    (1, false, _) => {
                        handler!(|c, op| binary(c, op, |a: u32, s: u32| (a >> s) as u8))
                    }
                    (1, true, 16) => {
                        handler!(|c, op| binary(c, op, |a: u32, s: u32| i16::from((a >> s) as i8)))
                    }
                    (1, true, _) => {
                        handler!(|c, op| binary(c, op, |a: u32, s: u32| i32::from((a >> s) as i8)))
                    }
                    (_, true, 32) => {
                        handler!(|c, op| binary(c, op, |a: u32, s: u32| i32::from((a >> s) as i16)))
                    }
                    _ => handler!(|c, op| binary(c, op, |a: u32, s: u32| (a >> s) as u16)),
                };
                self.emit(run, register, &[word(0), shift]);
            }
            _ => return Err(too_narrow(ty, kind)),
        }
        Ok(())
    }

    pub(super) fn store_parameter(&mut self, symbol: Symbol, it: &St) -> Lowered<()> {
        let words = self.words_of(symbol)?;
        let bytes = it.ty.bytes();
        for (index, operand) in it.a.iter().enumerate() {
            let offset = self.offset_in(symbol, it.address.offset, index, bytes)?;
            let word = |index: u32| words.slot + (offset / 4 + index) * Kind::Word.bytes();
            if bytes == 8 {
                let value = self.read(operand, Kind::Double)?;
                let low = handler!(|c, op| unary(c, op, |a: u64| a as u32));
                let high = handler!(|c, op| unary(c, op, |a: u64| (a >> 32) as u32));
                self.emit_to(low, word(0), Kind::Word, &[value]);
                self.emit_to(high, word(1), Kind::Word, &[value]);
                continue;
            }
            let value = self.read(operand, Kind::Word)?;
            let shift = self.constant(Kind::Word, u128::from(offset % 4 * 8));
            match bytes {
                4 => {
                    let run = handler!(|c, op| unary(c, op, |a: u32| a));
                    self.emit_to(run, word(0), Kind::Word, &[value]);
                }
                2 | 1 => {
                    let run = match bytes {
                        2 => handler!(|c, op| ternary(c, op, |word: u32, a: u32, s: u32| word
                            & !(0xFFFF << s)
                            | (a & 0xFFFF) << s)),
                        _ => handler!(|c, op| ternary(c, op, |word: u32, a: u32, s: u32| word
                            & !(0xFF << s)
                            | (a & 0xFF) << s)),
                    };
                    self.emit_to(run, word(0), Kind::Word, &[word(0), value, shift]);
                }
                bytes => return Err(format!("a parameter of {bytes} bytes")),
            }
        }
        Ok(())
    }
}

fn named(parameter: Option<&ptx::Parameter>) -> Option<(&str, u64)> {
    parameter.map(|it| (it.name.as_str(), it.bytes))
}

fn too_narrow(ty: Type, kind: Kind) -> String {
    let bits = ty.bits();
    format!("a parameter of {bits} bits in a register of {kind:?}")
}
