//! An argument that a kernel takes by value, copies to its stack and only reads there: it is read where it lies.
//!
//! rustc passes an aggregate to a kernel in pieces, and LLVM stores them to the stack where an index that is no constant
//! reaches them. The stack is local memory, off the chip. Parameters are constant memory, which `ld.param` reaches by any
//! address, so [`Copied::of`] looks for a frame that is nothing but such a copy, and [`Copied::read_in_place`] makes each
//! load from the frame one from the parameter.
//!
//! It is exact because of what the frame must be: all that is ever stored in it is bytes of one parameter, each at its
//! place, and its address goes nowhere but into loads, stores, sums and comparisons with another address in it. A byte of
//! the frame is then that of the parameter, or was never stored, and what reads it reads nothing defined.

use std::collections::{HashMap, HashSet};

use ::ptx::{
    Address, Base, Body, FunctionKind, Instruction, Ld, Operand, Operation, Order, Reg, Space, St,
    Symbol,
};

use super::edit::{Edits, position};
use super::frame;
use super::source::{Definition, Source};
use super::spaces::{Derivation, derivation};

/// The stack frame of a kernel that is a copy of one of its parameters.
pub(crate) struct Copied {
    frame: Symbol,
    parameter: u32,
    /// Where in the frame the parameter begins: before it, where its first bytes are not copied.
    begin: i64,
    /// By index: what stores the copy, and what loads from it.
    stores: Vec<usize>,
    loads: Vec<usize>,
    /// Indices of the instructions that take the address of the frame.
    origins: Vec<usize>,
}

/// A part of a parameter that a register holds.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Piece {
    parameter: u32,
    offset: i64,
    bytes: u32,
}

impl Copied {
    /// `None` where the function is no kernel, has no frame, or one that is anything else.
    pub(crate) fn of(definition: Definition<'_>) -> Option<Self> {
        let Definition { function, body, .. } = definition;
        if function.kind != FunctionKind::Entry {
            return None;
        }
        let symbol = frame::frame_symbol(body)?;
        let addresses = Addresses::of(body, symbol);
        let mut copied = Copied {
            frame: symbol,
            parameter: 0,
            begin: 0,
            stores: Vec::new(),
            loads: Vec::new(),
            origins: Vec::new(),
        };
        let pieces = pieces(body);
        let mut places = HashSet::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            match addresses.role(instruction)? {
                Role::Other | Role::Arithmetic => {}
                Role::Origin => copied.origins.push(index),
                Role::Load => copied.loads.push(index),
                Role::Store(offset) => {
                    places.insert(stored(&instruction.operation, offset, &pieces)?);
                    copied.stores.push(index);
                }
            }
        }
        // All from one parameter, at one distance.
        let mut places = places.into_iter();
        let (Some(place), None) = (places.next(), places.next()) else {
            return None;
        };
        (copied.parameter, copied.begin) = place;
        copied.fits(definition).then_some(copied)
    }

    /// Whether the parameter is aligned for each of the loads.
    fn fits(&self, definition: Definition<'_>) -> bool {
        let parameter = &definition.function.parameters[self.parameter as usize];
        let aligned = |&load: &usize| match &definition.body.instructions[load].operation {
            Operation::Ld(load) => {
                let bytes = load.ty.bytes() * load.d.len() as u32;
                bytes <= parameter.alignment && self.begin % i64::from(bytes) == 0
            }
            _ => false,
        };
        self.loads.iter().all(aligned)
    }

    /// Leaves out the frame and what is stored to it, and loads from the parameter.
    pub(crate) fn read_in_place(
        &self,
        source: &Source<'_>,
        definition: Definition<'_>,
        edits: &mut Edits,
    ) {
        let instructions = &definition.body.instructions;
        if let Some(declaration) = definition.declaration(self.frame) {
            edits.replace(declaration.span.clone(), "");
        }
        for &store in &self.stores {
            edits.replace(instructions[store].span.clone(), "");
        }
        for &load in &self.loads {
            let opcode = instructions[load].opcode(source.text);
            let named = opcode.replacen(".local", ".param", 1);
            edits.replace(position(source.text, opcode), named);
        }
        let parameter = &definition.function.parameters[self.parameter as usize].name;
        for &origin in &self.origins {
            let instruction = &instructions[origin];
            let [written, ..] = definition.mentions(instruction) else {
                continue;
            };
            let register = source.slice(&written.span);
            let mut text = format!("mov.b64 {register}, {parameter};");
            if self.begin != 0 {
                text += &format!("\n\tadd.s64 {register}, {register}, {};", -self.begin);
            }
            edits.replace(instruction.span.clone(), text);
        }
    }
}

/// The part that an instruction has to do with a frame.
enum Role {
    /// None.
    Other,
    /// It takes the frame's address.
    Origin,
    /// It makes an address from an address, or compares two.
    Arithmetic,
    Load,
    /// At this offset in the frame.
    Store(i64),
}

/// The registers that hold addresses in a frame, and nothing else.
struct Addresses {
    frame: Symbol,
    /// With the offset, where it is always the same one.
    registers: HashMap<Reg, Option<i64>>,
}

impl Addresses {
    fn of(body: &Body, frame: Symbol) -> Self {
        let mut addresses = Addresses {
            frame,
            registers: HashMap::new(),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for instruction in &body.instructions {
                let Some(offset) = addresses.result(&instruction.operation) else {
                    continue;
                };
                for register in instruction.definitions() {
                    let old = addresses.registers.get(&register).copied();
                    let new = match old {
                        Some(old) if old != offset => None,
                        _ => offset,
                    };
                    changed |= old != Some(new);
                    addresses.registers.insert(register, new);
                }
            }
        }
        addresses
    }

    /// Returns the offset of the address in the frame that an operation makes, if it makes one.
    fn result(&self, operation: &Operation) -> Option<Option<i64>> {
        let of = |operand: Operand| self.offset(operand);
        match derivation(operation)? {
            Derivation::Copy(a) => of(a),
            Derivation::Either(a, b) => of(a).or(of(b)).map(|_| None),
            // An `or` is a sum at the frame's alignment, which the parameter may not have.
            _ if matches!(operation, Operation::Or(_) | Operation::And(_)) => None,
            Derivation::Sum(a, b) => match (of(a), of(b)) {
                (Some(offset), None) => Some(moved(offset, b, 1)),
                (None, Some(offset)) => Some(moved(offset, a, 1)),
                _ => None,
            },
            Derivation::Difference(a, b) => match (of(a), of(b)) {
                (Some(offset), None) => Some(moved(offset, b, -1)),
                _ => None,
            },
            Derivation::Product(address) => of(address).map(|_| None),
            Derivation::Mask(..) => None,
        }
    }

    /// Whether the operand is an address in the frame, and at which offset.
    fn offset(&self, operand: Operand) -> Option<Option<i64>> {
        match operand {
            Operand::Register(register) => self.registers.get(&register).copied(),
            Operand::Symbol { symbol, offset } if symbol == self.frame => Some(Some(offset)),
            _ => None,
        }
    }

    /// `None` where the frame's address goes elsewhere, or a register holds it only at times.
    fn role(&self, instruction: &Instruction) -> Option<Role> {
        let mut names_frame = false;
        instruction.visit_symbols(|symbol| names_frame |= symbol == self.frame);
        let is_address = |register: &Reg| self.registers.contains_key(register);
        let read = instruction
            .uses()
            .iter()
            .filter(|it| is_address(it))
            .count();
        let makes = self.result(&instruction.operation).is_some();
        if instruction.definitions().iter().any(is_address) != makes {
            return None;
        }
        if names_frame {
            // An address that is taken when a condition holds is another at other times.
            let is_taken = matches!(&instruction.operation, Operation::Mov(it)
                if matches!(it.a, Operand::Symbol { offset: 0, .. }));
            return (is_taken && instruction.guard.is_none()).then_some(Role::Origin);
        }
        if read == 0 {
            return Some(Role::Other);
        }
        match &instruction.operation {
            Operation::Ld(load) if is_plain_load(load) => Some(Role::Load),
            Operation::St(store) if is_plain_store(store) && read == 1 => {
                Some(Role::Store(self.exact(&store.address)?))
            }
            Operation::Setp(_) | Operation::Selp(_) => (read == 2).then_some(Role::Arithmetic),
            _ => (makes && read == 1).then_some(Role::Arithmetic),
        }
    }

    /// The offset in the frame of an address that is always the same.
    fn exact(&self, address: &Address) -> Option<i64> {
        let Base::Register(register) = address.base else {
            return None;
        };
        let base = self.registers.get(&register).copied()??;
        base.checked_add(address.offset)
    }
}

/// The offset after a step, where both are known.
fn moved(offset: Option<i64>, by: Operand, sign: i64) -> Option<i64> {
    match by {
        Operand::Immediate(by) => offset?.checked_add(sign * by as i64),
        _ => None,
    }
}

fn is_plain_load(load: &Ld) -> bool {
    load.space == Space::Local && load.order == Order::Weak && !load.read_only && !load.unified
}

fn is_plain_store(store: &St) -> bool {
    store.space == Space::Local && store.order == Order::Weak
}

/// Returns what each register holds that is loaded from a parameter, and only there.
fn pieces(body: &Body) -> HashMap<Reg, Piece> {
    let mut pieces: HashMap<Reg, Option<Piece>> = HashMap::new();
    for instruction in &body.instructions {
        let loaded = loaded(&instruction.operation);
        for (number, register) in instruction.definitions().iter().enumerate() {
            let piece = loaded.map(|first| Piece {
                offset: first.offset + number as i64 * i64::from(first.bytes),
                ..first
            });
            let known = pieces.entry(*register).or_insert(piece);
            if *known != piece {
                *known = None;
            }
        }
    }
    let known = pieces.into_iter();
    known
        .filter_map(|(register, piece)| Some((register, piece?)))
        .collect()
}

/// The first of the pieces of a parameter that an instruction loads.
fn loaded(operation: &Operation) -> Option<Piece> {
    let Operation::Ld(load) = operation else {
        return None;
    };
    match load.address.base {
        Base::Symbol(Symbol::Parameter(parameter))
            if load.space == Space::Param && load.d.iter().all(Option::is_some) =>
        {
            Some(Piece {
                parameter,
                offset: load.address.offset,
                bytes: load.ty.bytes(),
            })
        }
        _ => None,
    }
}

/// Which parameter a store copies, and where in the frame that begins, if all values that it stores are pieces of it.
fn stored(operation: &Operation, offset: i64, pieces: &HashMap<Reg, Piece>) -> Option<(u32, i64)> {
    let Operation::St(store) = operation else {
        return None;
    };
    let bytes = store.ty.bytes();
    let mut places = store.a.iter().enumerate().map(|(number, value)| {
        let piece = pieces.get(&value.register()?)?;
        let at = offset + number as i64 * i64::from(bytes);
        (piece.bytes == bytes).then_some((piece.parameter, at - piece.offset))
    });
    let first = places.next()??;
    places.all(|place| place == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing;
    use super::*;

    /// The kernel with what is better in it, without its head; `None` where that is nothing.
    fn in_place(body: &str) -> Option<String> {
        let text = testing::module(&format!(
            ".entry k(.param .align 4 .b8 k_param_0[16], .param .b32 k_param_1) {{
.local .align 8 .b8 depot[24]; {body} }}"
        ));
        let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let definition = source.definitions().next().expect("it is defined");
        let mut edits = Edits::default();
        Copied::of(definition)?.read_in_place(&source, definition, &mut edits);
        let changed = edits.apply(&text);
        let (_, body) = changed.split_once("%SPL;").expect("the registers");
        Some(body.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    const COPY: &str = "mov.b64 %SPL, depot; add.u64 %rd1, %SPL, 8;
ld.param.b32 %r1, [k_param_0]; ld.param.v2.b32 {%r2, %r3}, [k_param_0+8];
st.local.b32 [%rd1], %r1; st.local.v2.b32 [%rd1+8], {%r2, %r3};";

    #[test]
    fn a_copy_that_is_only_read_is_read_in_the_parameter() {
        let used = "add.s64 %rd2, %rd1, %rd9; setp.eq.b64 %p1, %rd2, %rd1; ld.local.b32 %r4, [%rd2+4]; ret;";
        assert_eq!(
            in_place(&format!("{COPY}{used}")).as_deref(),
            Some(
                "mov.b64 %SPL, k_param_0; add.s64 %SPL, %SPL, -8; add.u64 %rd1, %SPL, 8; \
                 ld.param.b32 %r1, [k_param_0]; ld.param.v2.b32 {%r2, %r3}, [k_param_0+8]; \
                 add.s64 %rd2, %rd1, %rd9; setp.eq.b64 %p1, %rd2, %rd1; ld.param.b32 %r4, [%rd2+4]; ret; }"
            )
        );
    }

    #[test]
    fn any_other_frame_stays() {
        for other in [
            // Another value, also by way of a register that is written twice.
            "st.local.b32 [%rd1+4], %r7; ret;",
            "mov.b32 %r1, 5; ret;",
            // A piece of the parameter, and of another, at another place.
            "st.local.b32 [%rd1+4], %r1; ret;",
            "ld.param.b32 %r5, [k_param_1]; st.local.b32 [%rd1+4], %r5; ret;",
            // Somewhere.
            "add.s64 %rd2, %rd1, %rd9; st.local.b32 [%rd2], %r1; ret;",
            // The address goes elsewhere, or is one only at times.
            "cvta.local.u64 %rd3, %rd1; ret;",
            "st.global.b64 [%rd9], %rd1; ret;",
            "st.local.b64 [%rd1+8], %rd1; ret;",
            "setp.eq.b64 %p1, %rd1, %rd9; ret;",
            "selp.b64 %rd2, %rd1, %rd9, %p1; ld.local.b32 %r4, [%rd2]; ret;",
            "@%p1 mov.b64 %rd2, %rd1; mov.b64 %rd2, %rd9; ld.local.b32 %r4, [%rd2]; ret;",
            // At the alignment of the stack.
            "or.b64 %rd2, %rd1, 4; ld.local.b32 %r4, [%rd2]; ret;",
            "ld.local.v2.b32 {%r4, %r5}, [%rd1]; ret;",
            // Others see it.
            "ld.volatile.local.b32 %r4, [%rd1]; ret;",
        ] {
            assert_eq!(in_place(&format!("{COPY}{other}")), None, "{other}");
        }
        assert!(in_place(&format!("{COPY} ret;")).is_some());
    }
}
