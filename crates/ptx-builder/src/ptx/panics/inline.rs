//! Puts what a panic does at the end of each function that panics.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use super::functions::{Panic, panics, parameter_read};
use super::kinds::kind;
use super::{KIND, KIND_REGISTER, bodies, with_semicolon};
use crate::ptx::body::Body;
use crate::ptx::edit::{Edits, position};
use crate::ptx::frame::Uses;
use crate::ptx::instruction::{Instruction, is_name};
use crate::ptx::parse::{Function, Module};

/// Puts what a panic does at the end of each function that panics.
pub(super) fn inline(module: &Module<'_>, parsed: Option<&::ptx::Module>) -> String {
    let inlining = Inlining::new(module, parsed);
    let mut edits = Edits::default();
    for (index, function) in module.functions.iter().enumerate() {
        if inlining.goes(function) {
            edits.replace(extent(module, function), "");
        } else {
            inlining.take_into(index, &mut edits);
        }
    }
    edits.apply(module.text)
}

/// From the first word of a function, or of its declaration, to its end.
fn extent(module: &Module<'_>, function: &Function<'_>) -> Range<usize> {
    let end = match &function.body {
        Some(body) => body.end,
        None => module.text[function.attributes_at..]
            .find(';')
            .map_or(module.text.len(), |at| function.attributes_at + at + 1),
    };
    position(module.text, function.linkage).start..end
}

struct Inlining<'m, 't> {
    module: &'m Module<'t>,
    /// The same text.
    parsed: Option<&'m ::ptx::Module>,
    /// The functions that can be put into others, by name.
    panics: BTreeMap<&'t str, Panic<'m, 't>>,
    /// Names that stand elsewhere than in a call that is replaced.
    mentioned: HashSet<&'t str>,
}

impl<'m, 't> Inlining<'m, 't> {
    fn new(module: &'m Module<'t>, parsed: Option<&'m ::ptx::Module>) -> Self {
        let panics = parsed.map_or_else(BTreeMap::new, |parsed| panics(module, parsed));
        let mentioned = mentioned(module, &panics);
        Inlining {
            module,
            parsed,
            panics,
            mentioned,
        }
    }

    /// Whether nothing needs the function any longer.
    fn goes(&self, function: &Function<'_>) -> bool {
        let is_private = !["visible", "weak", "extern"]
            .iter()
            .any(|word| function.linkage.contains(word));
        is_private
            && self.panics.contains_key(function.name)
            && !self.mentioned.contains(function.name)
    }

    /// Puts the panics that the function calls at its end.
    fn take_into(&self, index: usize, edits: &mut Edits) {
        let Some(body) = &self.module.functions[index].body else {
            return;
        };
        let mut needed = BTreeSet::new();
        let unread = self.branch(body, true, &mut needed, edits);
        self.drop_frame(index, body, &unread, edits);
        let mut open: Vec<&str> = needed.iter().copied().collect();
        while let Some(name) = open.pop() {
            let instructions = self.panics[name].body.instructions.iter();
            let callees = instructions.filter_map(Instruction::callee);
            for panic in callees.filter_map(|callee| self.panics.get(callee)) {
                if needed.insert(panic.function.name) {
                    open.push(panic.function.name);
                }
            }
        }
        // The handler may stand as a function, too.
        replace_kind(self.module, body, "0", edits);
        if needed.is_empty() {
            return;
        }
        let mut registers = format!("\n\t.reg .b32 \t{KIND_REGISTER};");
        let mut bodies = String::new();
        for name in needed {
            let panic = &self.panics[name];
            for (parameter, width) in &panic.parameters {
                registers += &format!("\n\t.reg .{width} \t{};", panic.register(*parameter));
            }
            bodies += &format!("{}:\n{}\n", panic.label(), self.text_of(panic));
        }
        edits.insert(body.start, registers);
        edits.insert(body.end - 1, bodies);
    }

    /// The body, for another function.
    fn text_of(&self, panic: &Panic<'_, '_>) -> String {
        let module = self.module;
        let mut edits = Edits::default();
        self.branch(panic.body, false, &mut BTreeSet::new(), &mut edits);
        replace_kind(module, panic.body, KIND_REGISTER, &mut edits);
        for instruction in &panic.body.instructions {
            if let Some((parameter, width)) = parameter_read(panic.function, instruction) {
                let (result, from) = (instruction.operands[0], panic.register(parameter));
                let copy = format!("mov.{width} \t{result}, {from}");
                edits.replace(position(module.text, instruction.text), copy);
            }
        }
        let whole = panic.body.start - 1..panic.body.end;
        edits.apply_within(module.text, whole)
    }

    /// Leaves out a frame that held only what a panic's message would have said.
    fn drop_frame(&self, index: usize, body: &Body<'t>, unread: &[&str], edits: &mut Edits) {
        let name = self.module.functions[index].name;
        let function = self.parsed.and_then(|parsed| parsed.function(name));
        let parsed = function.and_then(|function| function.body.as_ref());
        let (Some(frame), Some(parsed)) = (body.frame, parsed) else {
            return;
        };
        let Some(uses) = Uses::of(parsed) else { return };
        let text = self.module.text;
        let span = |index: usize| {
            let span = &parsed.instructions[index].span;
            span.start as usize..span.end as usize
        };
        let is_unread = |index: usize| {
            let mut unread = unread.iter();
            unread.any(|one| position(text, one).start == span(index).start)
        };
        if unread.is_empty() || !uses.others.iter().all(|&index| is_unread(index)) {
            return;
        }
        let stores = uses.writes.iter().map(|&index| span(index));
        let declaration = with_semicolon(position(text, frame.declaration));
        for statement in stores.chain([declaration]) {
            edits.replace(statement, "");
        }
        for name in body.instructions.iter().flat_map(Instruction::sources) {
            if name == frame.name {
                edits.replace(position(text, name), "0");
            }
        }
    }

    /// Makes branches of the calls, and returns the instructions that passed what nothing reads.
    /// `says_kind` is set where it is the function's own panic.
    fn branch(
        &self,
        body: &Body<'t>,
        says_kind: bool,
        needed: &mut BTreeSet<&'t str>,
        edits: &mut Edits,
    ) -> Vec<&'t str> {
        let mut unread = Vec::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            let called = instruction.callee().and_then(|name| self.panics.get(name));
            let Some(panic) = called else { continue };
            needed.insert(panic.function.name);
            unread.extend(self.pass_arguments(panic, &body.instructions[..=index], edits));
            let kind = match says_kind {
                true => format!(
                    "mov.b32 \t{KIND_REGISTER}, {};\n\t",
                    kind(panic.function.name)
                ),
                false => String::new(),
            };
            let branch = format!("{kind}bra.uni \t{}", panic.label());
            edits.replace(position(self.module.text, instruction.text), branch);
        }
        unread
    }

    /// Makes copies of what passes the arguments to the call, the last of the instructions. Returns those
    /// that pass what nothing reads.
    fn pass_arguments(
        &self,
        panic: &Panic<'_, '_>,
        instructions: &[Instruction<'t>],
        edits: &mut Edits,
    ) -> Vec<&'t str> {
        let text = self.module.text;
        let mut unread = Vec::new();
        let Some((call, before)) = instructions.split_last() else {
            return unread;
        };
        let list = call.operands.last().copied().unwrap_or_default();
        let arguments: Vec<&str> = list
            .trim_matches(['(', ')'])
            .split(',')
            .map(str::trim)
            .collect();
        let begin = text[..position(text, call.text).start]
            .rfind('{')
            .unwrap_or(0);
        let own = before
            .iter()
            .rev()
            .take_while(|one| position(text, one.text).start > begin);
        for pass in own.filter(|one| one.opcode.starts_with("st.param")) {
            let name = pass.operands[0].trim_matches(['[', ']']);
            let number = arguments.iter().position(|argument| *argument == name);
            let read = number.and_then(|number| Some((number, panic.parameters.get(&number)?)));
            let statement = position(text, pass.text);
            match read {
                Some((number, width)) => {
                    let (to, value) = (panic.register(number), pass.operands[1]);
                    edits.replace(statement, format!("mov.{width} \t{to}, {value}"));
                }
                None => {
                    unread.push(pass.text);
                    edits.replace(with_semicolon(statement), "");
                }
            }
        }
        unread
    }
}

/// Names in variables, and in instructions but for calls of the panics.
fn mentioned<'t>(
    module: &Module<'t>,
    panics: &BTreeMap<&'t str, Panic<'_, 't>>,
) -> HashSet<&'t str> {
    let values = module.variables.iter().filter_map(|variable| {
        let (_, value) = variable.text.split_once('=')?;
        Some(value.split(|c: char| !is_name(c)))
    });
    let mut mentioned: HashSet<&str> = values.flatten().collect();
    for instruction in bodies(module).flat_map(|body| &body.instructions) {
        let callee = instruction
            .callee()
            .filter(|name| panics.contains_key(name));
        let sources = instruction.sources().into_iter();
        mentioned.extend(sources.filter(|name| Some(*name) != callee));
    }
    mentioned
}

fn replace_kind(module: &Module<'_>, body: &Body<'_>, with: &str, edits: &mut Edits) {
    for instruction in &body.instructions {
        for name in instruction
            .sources()
            .into_iter()
            .filter(|name| *name == KIND)
        {
            edits.replace(position(module.text, name), with);
        }
    }
}
