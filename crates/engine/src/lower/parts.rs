//! Parts of dynamic shared memory, as ptx-std's `DynamicShared` declares them: a move of the part's address
//! behind three of words to registers of these names, which nothing reads and no GPU has.

use ptx::{Body, Operand, Operation, Type};

use super::handler::handler;
use super::{Lowering, Unsupported};
use crate::exec::parts;
use crate::exec::registers::Kind;

/// The names of the registers of a declaration.
const WORDS: [&str; 3] = ["__part_number", "__part_bytes", "__part_element"];

/// A part: its number, bytes and bytes of an element, and its address.
struct Declaration {
    words: [Operand; 3],
    address: Operand,
}

/// The declaration that begins with an instruction.
fn declaration(body: &Body, first: usize) -> Option<Declaration> {
    let moved = |step: usize| match &body.instructions.get(first + step)?.operation {
        Operation::Mov(it) => Some((&body.registers[it.d.0 as usize], it.a)),
        _ => None,
    };
    let mut words = [Operand::Immediate(0); 3];
    for (step, name) in WORDS.into_iter().enumerate() {
        let (_, word) = moved(step).filter(|(to, _)| to.name == name && to.ty == Type::B32)?;
        words[step] = word;
    }
    let (to, address) = moved(WORDS.len())?;
    (to.ty.bits() == 64).then_some(Declaration { words, address })
}

/// Whether an instruction gives the address of a part.
pub(super) fn gives_part(body: &Body, instruction: usize) -> bool {
    let first = instruction.checked_sub(WORDS.len());
    first.is_some_and(|first| declaration(body, first).is_some())
}

impl Lowering<'_> {
    /// Tells the checks of a part whose declaration begins with this instruction.
    ///
    /// # Errors
    /// It is made of what is no word.
    pub(super) fn part(&mut self, first: usize) -> Result<(), Unsupported> {
        let body = self.function.body.as_ref().expect("it has one");
        let Some(Declaration { words, address }) = declaration(body, first) else {
            return Ok(());
        };
        self.used.clear();
        let read = |of: &mut Self| {
            let [number, bytes, element] = words;
            let address = of.read(&address, Kind::Double)?;
            let mut word = |operand| of.read(&operand, Kind::Word);
            Ok((address, [word(number)?, word(bytes)?, word(element)?]))
        };
        let read = read(self);
        let (address, words) =
            read.map_err(|why| self.unsupported(&body.instructions[first], why))?;
        self.instruction = (first + WORDS.len()) as u32;
        self.emit_masked(handler!([d: Kind::Double, a: Kind::Word, b: Kind::Word, c: Kind::Word], |c, op| parts::declare(c, op)), address, words, 0);
        Ok(())
    }
}
