//! Checks that panic, made before the loads between them.
//!
//! A load behind a check's branch waits until the branch is decided, and the branch often for the load before it. So
//! [`gather`] looks for stretches of a function that do nothing but compute, load, store and check. All checks of a stretch are
//! computed in front of it, by copies of what they depend on, and one branch tells whether one of them fails. If none does,
//! the stretch runs without its checks. If one does, it runs as it was, from a copy at the function's end, and comes to the
//! check that fails.
//!
//! It is exact, because no check of a stretch depends on what it loads: the copies compute what the checks will. Either way the
//! stretch itself begins after that, so that what it stores before a check that fails is stored.
//!
//! A condition over a check and a load ends a stretch. With the load under a guard instead, a 5 x 5 convolution took 1.7 times as
//! long on an H100, and 71 registers in place of 27 with five of them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use ::ptx::{Access, Base, FunctionKind, Guard, Instruction, Operation, Order, Reg, Space, Symbol};

use super::edit::Edits;
use super::flow::Flow;
use super::source::{Definition, Source};

/// Loads of a stretch: each holds registers until it arrives.
const MOST_LOADS: usize = 8;
/// Checks of which it is better to make one though they do not wait for each other.
const MANY_CHECKS: usize = 3;
/// Instructions of a stretch.
const LONGEST: usize = 192;

/// Instructions that compute, load and store, and whose checks can be made before.
#[derive(Debug, Default)]
struct Stretch {
    first: usize,
    /// Behind its last instruction.
    end: usize,
    checks: Vec<Check>,
    loads: Vec<usize>,
}

/// A branch to where only a panic follows.
#[derive(Clone, Copy, Debug)]
struct Check {
    branch: usize,
    guard: Guard,
}

/// Gathers the checks of the function, and returns of how many stretches.
pub(crate) fn gather(
    source: &Source<'_>,
    definition: Definition<'_>,
    flow: &Flow,
    edits: &mut Edits,
) -> usize {
    let body = definition.body;
    if body
        .instructions
        .last()
        .is_none_or(Instruction::falls_through)
    {
        return 0;
    }
    let finder = Finder::new(source, definition, flow);
    let stretches = finder.stretches();
    let mut writer = Writer {
        source,
        definition,
        declarations: String::new(),
        copies: String::new(),
        registers: 0,
    };
    for (number, stretch) in stretches.iter().enumerate() {
        writer.stretch(number, stretch, edits);
    }
    if let Some(span) = definition
        .spans
        .body
        .as_ref()
        .filter(|_| !stretches.is_empty())
    {
        edits.insert(span.start + 1, writer.declarations);
        edits.insert(span.end - 1, writer.copies);
    }
    stretches.len()
}

struct Finder<'s> {
    definition: Definition<'s>,
    flow: &'s Flow,
    /// Instructions that branches and jump tables go to.
    targets: HashSet<usize>,
    /// By instruction: how many scopes it lies in.
    depths: Vec<i32>,
}

/// The instruction of the stretch that made a register's value; `None` where that is not known.
type Values = HashMap<Reg, Option<usize>>;

impl<'s> Finder<'s> {
    fn new(source: &Source<'_>, definition: Definition<'s>, flow: &'s Flow) -> Self {
        let body = definition.body;
        let instructions = body.instructions.iter();
        let labels = instructions.flat_map(|it| super::flow::targets(body, it));
        let targets = labels.map(|it| body.labels[it.0 as usize].position as usize);
        Finder {
            definition,
            flow,
            targets: targets.collect(),
            depths: depths(source, definition),
        }
    }

    fn instruction(&self, index: usize) -> &'s Instruction {
        &self.definition.body.instructions[index]
    }

    fn stretches(&self) -> Vec<Stretch> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.definition.body.instructions.len() {
            let stretch = self.stretch(at);
            at += 1;
            if stretch.is_worth_it() {
                at = stretch.end;
                found.push(stretch);
            }
        }
        found
    }

    /// The longest stretch that begins with this instruction, a check.
    fn stretch(&self, first: usize) -> Stretch {
        let mut stretch = Stretch {
            first,
            ..Stretch::default()
        };
        if self.depths[first] != 1 || self.flow.panics_at(first) {
            return stretch;
        }
        let (mut values, mut at) = (Values::new(), first);
        let mut known = stretch.sizes();
        while at < self.definition.body.instructions.len() && at < first + LONGEST {
            if at > first && !self.follows(at) {
                break;
            }
            let next = if let Some(check) = self.check(at) {
                self.is_computable(check.guard.register, &values).then(|| {
                    stretch.checks.push(check);
                    at + 1
                })
            } else if at > first {
                self.take(at, &mut stretch, &mut values).then_some(at + 1)
            } else {
                None
            };
            let Some(next) = next.filter(|_| stretch.loads.len() <= MOST_LOADS) else {
                break;
            };
            at = next;
            if stretch.checks.len() > known.0 {
                stretch.end = at;
                known = stretch.sizes();
            }
        }
        stretch.shorten(known);
        stretch
    }

    /// Whether the instruction is come to only from the one before it.
    fn follows(&self, at: usize) -> bool {
        self.depths[at] == 1 && !self.targets.contains(&at)
    }

    fn check(&self, at: usize) -> Option<Check> {
        let (guard, target) = self.branch(at)?;
        let block = (target < self.definition.body.instructions.len())
            .then(|| self.flow.block_of(target))?;
        let panics = self.flow.blocks[block].panics;
        panics.then_some(Check { branch: at, guard })
    }

    /// The guard of a branch, and the instruction that it goes to.
    fn branch(&self, at: usize) -> Option<(Guard, usize)> {
        let instruction = self.instruction(at);
        let Operation::Branch(branch) = &instruction.operation else {
            return None;
        };
        let label = &self.definition.body.labels[branch.target.0 as usize];
        Some((instruction.guard?, label.position as usize))
    }

    /// Takes an instruction that computes, loads or stores.
    fn take(&self, at: usize, stretch: &mut Stretch, values: &mut Values) -> bool {
        let instruction = self.instruction(at);
        match &instruction.operation {
            Operation::Ld(load) if load.order != Order::Weak => return false,
            // It comes from constant memory.
            Operation::Ld(load) if load.space == Space::Param => {}
            Operation::Ld(_) => stretch.loads.push(at),
            Operation::St(store) if store.order == Order::Weak => {}
            operation if !operation.facts().is_pure => return false,
            _ => {}
        }
        let value = self.is_copyable(instruction).then_some(at);
        // What it reads must be known where it is copied.
        let value = value.filter(|_| {
            let uses = instruction.uses();
            uses.iter().all(|it| self.is_computable(*it, values))
        });
        values.extend(instruction.definitions().into_iter().map(|it| (it, value)));
        true
    }

    /// Whether the register's value can be computed before the stretch.
    fn is_computable(&self, register: Reg, values: &Values) -> bool {
        values.get(&register).is_none_or(Option::is_some)
    }

    /// Whether a copy elsewhere writes the same to its one register, at no great cost.
    fn is_copyable(&self, instruction: &Instruction) -> bool {
        let is_cheap = match &instruction.operation {
            Operation::IntegerDiv(_) | Operation::IntegerRem(_) => false,
            Operation::Ld(load) => {
                let is_parameter = matches!(load.address.base, Base::Symbol(Symbol::Parameter(_)));
                is_parameter && self.definition.function.kind == FunctionKind::Entry
            }
            operation => operation.facts().is_pure,
        };
        let mentions = self.definition.mentions(instruction);
        let of = |access| mentions.iter().filter(move |it| it.access == access);
        let read = of(Access::Use).filter_map(|it| it.operand.register());
        // A clock has another value elsewhere.
        let mut has_special = false;
        instruction.visit_specials(|_| has_special = true);
        is_cheap
            && !has_special
            && instruction.guard.is_none()
            && of(Access::Define).count() == 1
            && instruction.definitions().len() == 1
            && read.eq(instruction.uses())
    }
}

impl Stretch {
    fn sizes(&self) -> (usize, usize) {
        (self.checks.len(), self.loads.len())
    }

    fn shorten(&mut self, (checks, loads): (usize, usize)) {
        self.checks.truncate(checks);
        self.loads.truncate(loads);
    }

    /// Whether there are many branches, or a load waits for a check before it.
    fn is_worth_it(&self) -> bool {
        let Some(last) = self.checks.last() else {
            return false;
        };
        let is_between = |load: &usize| self.checks[0].branch < *load && *load < last.branch;
        self.checks.len() >= MANY_CHECKS || self.loads.iter().any(is_between)
    }
}

/// By instruction: how many braces are open before it.
fn depths(source: &Source<'_>, definition: Definition<'_>) -> Vec<i32> {
    let Some(whole) = &definition.spans.body else {
        return Vec::new();
    };
    let (mut at, mut depth) = (whole.start, 0);
    let instructions = definition.body.instructions.iter();
    let depths = instructions.map(|instruction| {
        let between = source.slice(&(at..instruction.span.start));
        for brace in between.bytes() {
            depth += i32::from(brace == b'{') - i32::from(brace == b'}');
        }
        at = instruction.span.end;
        depth
    });
    depths.collect()
}

struct Writer<'s, 't> {
    source: &'s Source<'t>,
    definition: Definition<'s>,
    declarations: String,
    /// The stretches as they were, for the function's end.
    copies: String,
    registers: usize,
}

impl Writer<'_, '_> {
    fn stretch(&mut self, number: usize, stretch: &Stretch, edits: &mut Edits) {
        let label = format!("$L__ptxstd_fails_{number}");
        let first = &self.definition.body.instructions[stretch.first];
        let mut text = String::new();
        let fails = self.question(stretch, &mut text);
        let _ = write!(text, "@{fails} bra \t{label};\n\t");
        edits.insert(first.span.start, text);
        self.leave_out_checks(stretch, edits);
        self.copy(&label, stretch);
    }

    /// Writes what computes whether one of the checks fails, and returns the register that says so.
    fn question(&mut self, stretch: &Stretch, text: &mut String) -> String {
        let mut copied = Copied {
            stretch: stretch.first,
            names: HashMap::new(),
        };
        let mut fails: Option<String> = None;
        for check in &stretch.checks {
            let own = copied.guard(self, check.branch, check.guard, text);
            fails = Some(match fails {
                None => own,
                Some(fails) => self.predicate("or", &[&fails, &own], text),
            });
        }
        fails.unwrap_or_default()
    }

    /// Writes an instruction on predicates, and returns its result.
    fn predicate(&mut self, name: &str, operands: &[&str], text: &mut String) -> String {
        let result = self.register("pred");
        let _ = write!(text, "{name}.pred \t{result}, {};\n\t", operands.join(", "));
        result
    }

    fn register(&mut self, ty: &str) -> String {
        let name = format!("%ptxstd_check{}", self.registers);
        self.registers += 1;
        let _ = write!(self.declarations, "\n\t.reg .{ty} \t{name};");
        name
    }

    fn name(&self, register: Reg) -> &str {
        &self.definition.body.registers[register.0 as usize].name
    }

    /// Leaves the stretch without its checks.
    fn leave_out_checks(&self, stretch: &Stretch, edits: &mut Edits) {
        let instructions = &self.definition.body.instructions;
        for check in &stretch.checks {
            edits.replace(instructions[check.branch].span.clone(), "");
        }
    }

    /// Writes the stretch as it was to the end, with the places in the source. One of its checks fails.
    fn copy(&mut self, label: &str, stretch: &Stretch) {
        let instructions = &self.definition.body.instructions[stretch.first..stretch.end];
        let mut text = format!("{label}:");
        let mut at = instructions[0].span.start;
        for instruction in instructions {
            let gap = self.source.slice(&(at..instruction.span.start));
            let places = gap.lines().map(str::trim);
            for place in places.filter(|line| line.starts_with(".loc")) {
                let _ = write!(text, "\n\t{place}");
            }
            at = instruction.span.end;
            let _ = write!(text, "\n\t{}", instruction.text(self.source.text));
        }
        text += "\n\ttrap;\n\texit;\n";
        self.copies += &text;
    }
}

/// Registers of the copies, by the instruction that was copied.
struct Copied {
    /// The stretch's first instruction.
    stretch: usize,
    names: HashMap<usize, String>,
}

impl Copied {
    /// Writes what computes a guard as it is at the instruction `at`, and returns the register that holds it.
    fn guard(
        &mut self,
        writer: &mut Writer<'_, '_>,
        at: usize,
        guard: Guard,
        text: &mut String,
    ) -> String {
        let value = self.value(writer, at, guard.register, text);
        if guard.negated {
            return writer.predicate("not", &[&value], text);
        }
        value
    }

    /// Writes what computes the register as it is at the instruction `at`, and returns the register that holds that.
    fn value(
        &mut self,
        writer: &mut Writer<'_, '_>,
        at: usize,
        register: Reg,
        text: &mut String,
    ) -> String {
        let definition = writer.definition;
        let instructions = &definition.body.instructions;
        let writes = |index: &usize| instructions[*index].definitions().contains(&register);
        let Some(made) = (self.stretch..at).rev().find(writes) else {
            return writer.name(register).to_owned();
        };
        if let Some(name) = self.names.get(&made) {
            return name.clone();
        }
        let instruction = &instructions[made];
        let ty = definition.body.registers[register.0 as usize].ty.name();
        let mut edits = Edits::default();
        let name = writer.register(ty);
        for mention in definition.mentions(instruction) {
            match (mention.access, mention.operand.register()) {
                (Access::Define, _) => edits.replace(mention.span.clone(), name.clone()),
                (Access::Use, Some(read)) => {
                    let value = self.value(writer, made, read, text);
                    edits.replace(mention.span.clone(), value);
                }
                (Access::Use, None) => {}
            }
        }
        let copy = edits.apply_within(writer.source.text, instruction.span.clone());
        let _ = write!(text, "{copy}\n\t");
        self.names.insert(made, name.clone());
        name
    }
}

#[cfg(test)]
mod tests;
