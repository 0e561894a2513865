//! Refusals of a text that reads as PTX, as the assembler's.
//!
//! Which types, modifiers and operands an instruction takes stands beside it, in [`crate::instruction`]. Here each is
//! looked at in its function, and what lies between functions: calls, state spaces, names, shared memory.

mod call;
mod names;
mod shared;
mod space;

use crate::instruction::{Named, Visit, Wanted};
use crate::{
    Body, Function, Instruction, Kind, Module, Operand, ParseError, Reg, Symbol, Variable,
};

/// Everything in the module that `ptxas` refuses for its types, modifiers, state spaces, scopes, calls, names or
/// shared memory, in order of the text.
///
/// ```
/// let text = ".version 8.7 .target sm_90 .address_size 64
///     .visible .entry k() { .reg .b32 %r<3>; add.b32 %r1, %r1, %r2; ret; }";
/// let module = ptx::parse_undeclared(text)?;
/// let found = ptx::check(&module, text);
/// assert!(found[0].message.starts_with("`add.b32`: it has no `.b32`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn check(module: &Module, source: &str) -> Vec<ParseError> {
    let mut found = Vec::new();
    names::check(module, source, &mut found);
    shared::check(module, source, &mut found);
    for function in &module.functions {
        if let Some(body) = &function.body {
            let within = Within {
                module,
                function,
                body,
                source,
            };
            let wrong = body.instructions.iter().filter_map(|it| within.wrong(it));
            found.extend(wrong);
        }
    }
    found.sort_by_key(|error| (error.line, error.column));
    found
}

/// A function whose instructions are looked at.
#[derive(Clone, Copy)]
struct Within<'m> {
    module: &'m Module,
    function: &'m Function,
    body: &'m Body,
    source: &'m str,
}

impl Within<'_> {
    fn wrong(&self, instruction: &Instruction) -> Option<ParseError> {
        let reason = self.refused(instruction).err()?;
        let opcode = instruction.opcode(self.source);
        Some(ParseError::at(
            self.source,
            instruction.span.start as usize,
            format!("`{opcode}`: {reason}"),
        ))
    }

    fn refused(&self, instruction: &Instruction) -> Result<(), String> {
        self.target(instruction)?;
        instruction.operation.rule()?;
        self.operands(instruction)?;
        space::check(self, &instruction.operation)?;
        call::check(self, &instruction.operation)
    }

    /// Checks that the GPUs of the module's `.target` have the instruction.
    fn target(&self, instruction: &Instruction) -> Result<(), String> {
        let (needed, target) = (
            instruction.operation.row().architecture(),
            self.module.target.arch,
        );
        match needed > target {
            true => Err(format!(
                "it needs `.target sm_{needed}` or newer, and the module's is `sm_{target}`"
            )),
            false => Ok(()),
        }
    }

    /// Each register, symbol and register of the hardware where the instruction takes it.
    fn operands(&self, instruction: &Instruction) -> Result<(), String> {
        let mut found = Ok(());
        let mut elements = Vec::new();
        let mut look = |named| match named {
            Named::Register(_, register, wanted @ Wanted::Element(_)) => {
                elements.push((self.register(register), wanted));
            }
            named if found.is_ok() => found = self.operand(named),
            _ => {}
        };
        if let Some(guard) = instruction.guard {
            look(Named::Register(
                crate::Access::Use,
                guard.register,
                Wanted::PREDICATE,
            ));
        }
        instruction.operation.visit(Wanted::Any, &mut look);
        found?;
        vector(&elements)
    }

    fn operand(&self, named: Named) -> Result<(), String> {
        match named {
            Named::Register(_, register, wanted) => {
                let register = self.register(register);
                match wanted.takes(register.ty) {
                    true => Ok(()),
                    false => Err(unexpected(register, wanted)),
                }
            }
            Named::Symbol(symbol, wanted) if !wanted.takes_symbol() => Err(format!(
                "the address of `{}` stands where a register does: `mov` it into one",
                self.name(symbol)
            )),
            Named::Special(special, wanted) if !wanted.takes_special(special) => Err(format!(
                "a register of the hardware stands where it cannot, or has another size: `mov` it into a register \
                 (expected {})",
                wanted.described()
            )),
            Named::Symbol(..) | Named::Special(..) => Ok(()),
        }
    }

    fn register(&self, register: Reg) -> &crate::Register {
        &self.body.registers[register.0 as usize]
    }

    /// The variable that a symbol is, where it is one.
    fn variable(&self, symbol: Symbol) -> Option<&Variable> {
        match symbol {
            Symbol::Module(index) => self.module.variables.get(index as usize),
            Symbol::Body(index) => self.body.variables.get(index as usize),
            _ => None,
        }
    }

    fn name(&self, symbol: Symbol) -> &str {
        let function = self.function;
        match symbol {
            Symbol::Module(_) | Symbol::Body(_) => self.variable(symbol).map(|it| it.name.as_str()),
            Symbol::Parameter(index) => function
                .parameters
                .get(index as usize)
                .map(|it| it.name.as_str()),
            Symbol::Return(index) => function
                .returns
                .get(index as usize)
                .map(|it| it.name.as_str()),
            Symbol::Function(id) => self
                .module
                .functions
                .get(id.0 as usize)
                .map(|it| it.name.as_str()),
        }
        .unwrap_or_default()
    }
}

/// The registers of a vector: of one size, and each of the instruction's type. Among untyped ones a vector counts as bits,
/// as `ptxas` has it.
fn vector(elements: &[(&crate::Register, Wanted)]) -> Result<(), String> {
    let Some((first, _)) = elements.first() else {
        return Ok(());
    };
    let is_untyped = |it: &crate::Register| matches!(it.ty.kind(), Kind::Bits);
    let untyped = elements.iter().find(|(it, _)| is_untyped(it));
    for (register, wanted) in elements {
        let is_mixed = untyped.is_none() && register.ty.is_float() != first.ty.is_float();
        if is_mixed || register.ty.bits() != first.ty.bits() {
            return Err(unequal_elements(first, register));
        }
        let ty = untyped.map_or(register.ty, |(untyped, _)| untyped.ty);
        if !wanted.takes(ty) {
            return Err(unexpected(register, *wanted));
        }
    }
    Ok(())
}

fn unexpected(register: &crate::Register, wanted: Wanted) -> String {
    format!(
        "`{}` is `.{}`: expected {}",
        register.name,
        register.ty.name(),
        wanted.described()
    )
}

fn unequal_elements(first: &crate::Register, other: &crate::Register) -> String {
    format!(
        "the elements of a vector have one size and kind: `{}` is `.{}`, and `{}` is `.{}`",
        first.name,
        first.ty.name(),
        other.name,
        other.ty.name()
    )
}

/// Returns the symbol that a value is the address of.
const fn symbol_of(operand: Operand) -> Option<Symbol> {
    match operand {
        Operand::Symbol { symbol, .. } => Some(symbol),
        _ => None,
    }
}
