//! Puts what a panic does at the end of each function that panics.

use std::collections::{BTreeSet, HashSet};

use ::ptx::{Base, Function, Instruction, Linkage, Operand, Operation, Space, Symbol};

use super::functions::{Panic, Panics, called, panics, parameter_read};
use super::kinds::kind;
use super::{KIND, KIND_REGISTER};
use crate::ptx::edit::Edits;
use crate::ptx::frame::{Uses, frame_symbol};
use crate::ptx::source::{Definition, Source, symbol_of};

/// Puts what a panic does at the end of each function that panics.
pub(super) fn inline(source: &Source<'_>) -> String {
    let inlining = Inlining::new(source);
    let mut edits = Edits::default();
    for spans in &source.spans.functions {
        let function = &source.module.functions[spans.function.0 as usize];
        if inlining.goes(function) {
            edits.replace(spans.span.clone(), "");
        }
    }
    for definition in source.definitions() {
        if !inlining.goes(definition.function) {
            inlining.take_into(definition, &mut edits);
        }
    }
    inlining.declare_mentioned(&mut edits);
    edits.apply(source.text)
}

struct Inlining<'s, 't> {
    source: &'s Source<'t>,
    panics: Panics<'s>,
    /// Names that stand elsewhere than in a call that is replaced.
    mentioned: HashSet<&'s str>,
    /// The symbol in place of the kind of a panic.
    kind: Option<Symbol>,
}

impl<'s, 't> Inlining<'s, 't> {
    fn new(source: &'s Source<'t>) -> Self {
        // What is not known may call anything: there all calls stay calls.
        let panics = match source.is_known() {
            true => panics(source),
            false => Panics::new(),
        };
        let mut variables = source.module.variables.iter();
        Inlining {
            source,
            mentioned: mentioned(source, &panics),
            panics,
            kind: variables
                .position(|it| it.name == KIND)
                .map(|index| Symbol::Module(index as u32)),
        }
    }

    /// Declares before all functions those that panics name, such as what would write the message of one: a panic may now
    /// stand in front of them.
    fn declare_mentioned(&self, edits: &mut Edits) {
        let spans = &self.source.spans.functions;
        let name_of = |function: &::ptx::FunctionSpans| {
            let index = function.function.0 as usize;
            self.source.module.functions[index].name.as_str()
        };
        let mut missing = BTreeSet::new();
        for panic in self.panics.values() {
            for instruction in &panic.definition.body.instructions {
                let callee = called(self.source, instruction);
                instruction.visit_symbols(|symbol| {
                    let is_function = matches!(symbol, Symbol::Function(_));
                    let name = self.source.name(symbol).filter(|_| is_function);
                    missing.extend(name.filter(|name| Some(*name) != callee));
                });
            }
        }
        let declared = spans.iter().filter(|it| it.body.is_none()).map(name_of);
        for name in declared {
            missing.remove(name);
        }
        let Some(first) = spans.iter().map(|it| it.span.start).min() else {
            return;
        };
        for function in spans.iter().filter(|it| missing.contains(name_of(it))) {
            let Some(body) = &function.body else { continue };
            let head = self.source.slice(&(function.span.start..body.start));
            edits.insert(first, format!("{};\n", head.trim_end()));
        }
    }

    /// Whether nothing needs the function any longer.
    fn goes(&self, function: &Function) -> bool {
        let name = function.name.as_str();
        function.linkage == Linkage::Private
            && self.panics.contains_key(name)
            && !self.mentioned.contains(name)
    }

    /// The panic that an instruction calls.
    fn panic_called(&self, instruction: &Instruction) -> Option<&Panic<'s>> {
        self.panics.get(called(self.source, instruction)?)
    }

    /// Puts the panics that the function calls at its end.
    fn take_into(&self, definition: Definition<'s>, edits: &mut Edits) {
        let mut needed = BTreeSet::new();
        let unread = self.branch(definition, true, &mut needed, edits);
        self.drop_frame(definition, &unread, edits);
        let mut open: Vec<&str> = needed.iter().copied().collect();
        while let Some(name) = open.pop() {
            let instructions = self.panics[name].definition.body.instructions.iter();
            for panic in instructions.filter_map(|one| self.panic_called(one)) {
                if needed.insert(panic.name()) {
                    open.push(panic.name());
                }
            }
        }
        // The handler may stand as a function, too.
        self.replace_kind(definition, "0", edits);
        let body = definition.spans.body.as_ref();
        let Some(body) = body.filter(|_| !needed.is_empty()) else {
            return;
        };
        let mut registers = format!("\n\t.reg .b32 \t{KIND_REGISTER};");
        let mut bodies = String::new();
        for name in needed {
            let panic = &self.panics[name];
            for (parameter, ty) in &panic.parameters {
                let (ty, register) = (ty.name(), panic.register(*parameter));
                registers += &format!("\n\t.reg .{ty} \t{register};");
            }
            bodies += &format!("{}:\n{}\n", panic.label(), self.text_of(panic));
        }
        edits.insert(body.start + 1, registers);
        edits.insert(body.end - 1, bodies);
    }

    /// The body, for another function.
    fn text_of(&self, panic: &Panic<'s>) -> String {
        let (source, definition) = (self.source, panic.definition);
        let mut edits = Edits::default();
        self.branch(definition, false, &mut BTreeSet::new(), &mut edits);
        self.replace_kind(definition, KIND_REGISTER, &mut edits);
        for instruction in &definition.body.instructions {
            if let Some((parameter, ty)) = parameter_read(instruction)
                && let Some(result) = definition.mentions(instruction).first()
            {
                let (ty, result) = (ty.name(), source.slice(&result.span));
                let copy = format!("mov.{ty} \t{result}, {}", panic.register(parameter));
                edits.replace(source.statement(instruction), copy);
            }
        }
        let whole = definition.spans.body.clone().unwrap_or_default();
        edits.apply_within(source.text, whole)
    }

    /// Leaves out a frame that held only what a panic's message would have said.
    fn drop_frame(&self, definition: Definition<'_>, unread: &[usize], edits: &mut Edits) {
        let body = definition.body;
        let (Some(frame), Some(uses)) = (frame_symbol(body), Uses::of(body)) else {
            return;
        };
        let Some(declaration) = definition.declaration(frame) else {
            return;
        };
        if unread.is_empty() || !uses.others.iter().all(|index| unread.contains(index)) {
            return;
        }
        edits.replace(declaration.span.clone(), "");
        for (index, instruction) in body.instructions.iter().enumerate() {
            if uses.writes.contains(&index) {
                edits.replace(instruction.span.clone(), "");
            } else if !unread.contains(&index) {
                for mention in definition.mentions(instruction) {
                    if let Some((symbol, offset)) = symbol_of(mention)
                        && symbol == frame
                    {
                        edits.replace(mention.span.clone(), offset.to_string());
                    }
                }
            }
        }
    }

    /// Makes branches of the calls, and returns the instructions that passed what nothing reads.
    /// `says_kind` is set where it is the function's own panic.
    fn branch(
        &self,
        definition: Definition<'s>,
        says_kind: bool,
        needed: &mut BTreeSet<&'s str>,
        edits: &mut Edits,
    ) -> Vec<usize> {
        let mut unread = Vec::new();
        for (index, instruction) in definition.body.instructions.iter().enumerate() {
            let Some(panic) = self.panic_called(instruction) else {
                continue;
            };
            needed.insert(panic.name());
            unread.extend(self.pass_arguments(panic, definition, index, edits));
            let kind = match says_kind {
                true => format!("mov.b32 \t{KIND_REGISTER}, {};\n\t", kind(panic.name())),
                false => String::new(),
            };
            let branch = format!("{kind}bra.uni \t{}", panic.label());
            edits.replace(self.source.statement(instruction), branch);
        }
        unread
    }

    /// Makes copies of what passes the arguments to the call, the instruction of this index. Returns those
    /// that pass what nothing reads.
    fn pass_arguments(
        &self,
        panic: &Panic<'_>,
        definition: Definition<'_>,
        call: usize,
        edits: &mut Edits,
    ) -> Vec<usize> {
        let (before, after) = definition.body.instructions.split_at(call);
        let arguments = match after.first().map(|one| &one.operation) {
            Some(Operation::Call(call)) => &call.arguments[..],
            _ => &[],
        };
        let own = before.iter().enumerate().rev();
        let own = own.take_while(|(_, one)| !matches!(one.operation, Operation::Call(_)));
        let mut unread = Vec::new();
        for (index, pass) in own {
            let Some((number, offset)) = argument_passed(pass, arguments) else {
                continue;
            };
            let read = panic.parameters.get(&number).filter(|_| offset == 0);
            let statement = self.source.statement(pass);
            let value = self.source.slice(&statement).split_once(',');
            match (read, value) {
                (Some(ty), Some((_, value))) => {
                    let (ty, to) = (ty.name(), panic.register(number));
                    edits.replace(statement, format!("mov.{ty} \t{to}, {}", value.trim()));
                }
                _ => {
                    unread.push(index);
                    edits.replace(pass.span.clone(), "");
                }
            }
        }
        unread
    }

    fn replace_kind(&self, definition: Definition<'_>, with: &str, edits: &mut Edits) {
        let kind = self.kind.into_iter();
        for mention in kind.flat_map(|kind| definition.mentions_of(kind)) {
            edits.replace(mention.span.clone(), with);
        }
    }
}

/// Which of the arguments the instruction stores to, and how far behind its begin.
fn argument_passed(instruction: &Instruction, arguments: &[Operand]) -> Option<(u32, i64)> {
    let Operation::St(store) = &instruction.operation else {
        return None;
    };
    let Base::Symbol(variable) = store.address.base else {
        return None;
    };
    let is_it = |it: &Operand| matches!(it, Operand::Symbol { symbol, .. } if *symbol == variable);
    let number = arguments.iter().position(is_it)?;
    (store.space == Space::Param).then_some((number as u32, store.address.offset))
}

/// Names in first values of variables, and in instructions but for calls of the panics.
fn mentioned<'s>(source: &'s Source<'_>, panics: &Panics<'_>) -> HashSet<&'s str> {
    let values = source
        .module
        .variables
        .iter()
        .filter_map(|it| it.initial.as_ref());
    let addresses = values.flat_map(|value| &value.relocations);
    let mut mentioned: HashSet<&str> = addresses
        .filter_map(|address| source.name(address.symbol))
        .collect();
    for definition in source.definitions() {
        for instruction in &definition.body.instructions {
            let callee = called(source, instruction).filter(|name| panics.contains_key(name));
            instruction.visit_symbols(|symbol| {
                let name = source.name(symbol);
                mentioned.extend(name.filter(|name| Some(*name) != callee));
            });
        }
    }
    mentioned
}
