//! Checks that panic, made before the loads between them.
//!
//! A load behind a check's branch waits until the branch is decided, and the branch often for the load before it. So
//! [`gather`] looks for stretches of a function that do nothing but compute, load, store and check. All checks of a stretch are
//! computed in front of it, by copies of what they depend on, and one branch tells whether one of them fails. If none does,
//! the stretch runs without its checks, and conditions over a few instructions become their guards. If one does, the stretch
//! runs as it was, from a copy at the function's end, and comes to the check that fails.
//!
//! It is exact, because no check of a stretch depends on what it loads: the copies compute what the checks will, each under
//! the condition that leads to it. Either way the stretch itself begins after that, so that what it stores before a check
//! that fails is stored.

use std::collections::HashMap;
use std::fmt::Write;

use ::ptx::{
    Access, Base, Body, FunctionKind, Guard, Instruction, Operation, Order, Reg, Space, Symbol,
};

use super::edit::Edits;
use super::flow::Flow;
use super::source::{Definition, Source};

/// Loads of a stretch: each holds registers until it arrives.
const MOST_LOADS: usize = 8;
/// Conditions of a stretch. Each holds a predicate, and what is under it merges with what was before: with five, a 5 x 5
/// convolution takes 71 registers in place of 27.
const MOST_CONDITIONS: usize = 1;
/// Checks of which it is better to make one though they do not wait for each other.
const MANY_CHECKS: usize = 3;
/// Instructions of a stretch, and of a condition in it.
const LONGEST: usize = 192;
const LONGEST_CONDITION: usize = 24;

/// Instructions that compute, load and store, and whose checks can be made before.
#[derive(Debug, Default)]
struct Stretch {
    first: usize,
    /// Behind its last instruction.
    end: usize,
    checks: Vec<Check>,
    conditions: Vec<Condition>,
    loads: Vec<usize>,
}

/// A branch to where only a panic follows.
#[derive(Clone, Copy, Debug)]
struct Check {
    branch: usize,
    guard: Guard,
    /// The condition that it is under.
    under: Option<Guard>,
}

/// A branch over a few instructions.
#[derive(Clone, Copy, Debug)]
struct Condition {
    branch: usize,
    guard: Guard,
    /// The instruction that it goes to.
    end: usize,
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
    /// By instruction: the branches that go to it. A jump table's is not that of any condition.
    sources: HashMap<usize, Vec<usize>>,
    /// By instruction: how many scopes it lies in.
    depths: Vec<i32>,
}

/// The instruction of the stretch that made a register's value; `None` where that is not known.
type Values = HashMap<Reg, Option<usize>>;

impl<'s> Finder<'s> {
    fn new(source: &Source<'_>, definition: Definition<'s>, flow: &'s Flow) -> Self {
        let body = definition.body;
        let mut sources: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            for target in super::flow::targets(body, instruction) {
                let position = body.labels[target.0 as usize].position as usize;
                sources.entry(position).or_default().push(index);
            }
        }
        Finder {
            definition,
            flow,
            sources,
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

    /// The longest stretch that begins with this instruction, a check or a condition.
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
            if at > first && !self.follows(at, &stretch) {
                break;
            }
            let next = if let Some(check) = self.check(at, None) {
                self.is_computable(check.guard.register, &values).then(|| {
                    stretch.checks.push(check);
                    at + 1
                })
            } else if let Some(condition) = self.condition(at) {
                self.take_condition(condition, &mut stretch, &mut values)
            } else if at > first {
                self.take(at, &mut stretch, &mut values).then_some(at + 1)
            } else {
                None
            };
            let Some(next) = next.filter(|_| stretch.is_small()) else {
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

    /// Whether the instruction is come to only from the one before it, and over conditions of the stretch.
    fn follows(&self, at: usize, stretch: &Stretch) -> bool {
        let over = |branch: &usize| {
            let mut conditions = stretch.conditions.iter();
            conditions.any(|it| it.branch == *branch && it.end == at)
        };
        let sources = self.sources.get(&at);
        self.depths[at] == 1 && sources.is_none_or(|sources| sources.iter().all(over))
    }

    fn check(&self, at: usize, under: Option<Guard>) -> Option<Check> {
        let (guard, target) = self.branch(at)?;
        let block = (target < self.definition.body.instructions.len())
            .then(|| self.flow.block_of(target))?;
        self.flow.blocks[block].panics.then_some(Check {
            branch: at,
            guard,
            under,
        })
    }

    fn condition(&self, at: usize) -> Option<Condition> {
        let (guard, end) = self.branch(at)?;
        let fits = end > at + 1 && end <= at + LONGEST_CONDITION;
        let is_inside = end < self.definition.body.instructions.len();
        (fits && is_inside).then_some(Condition {
            branch: at,
            guard,
            end,
        })
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

    /// Takes a condition with all that is under it, and returns what follows.
    fn take_condition(
        &self,
        condition: Condition,
        stretch: &mut Stretch,
        values: &mut Values,
    ) -> Option<usize> {
        let Condition { branch, guard, end } = condition;
        let mut written = Vec::new();
        for at in branch + 1..end {
            if self.sources.contains_key(&at) || self.depths[at] != 1 {
                return None;
            }
            if let Some(check) = self.check(at, Some(guard)) {
                let known = [guard, check.guard].map(|it| self.is_computable(it.register, values));
                if known != [true; 2] {
                    return None;
                }
                stretch.checks.push(check);
            } else if self.instruction(at).guard.is_some() || !self.take(at, stretch, values) {
                return None;
            }
            written.extend(self.instruction(at).definitions());
            if written.contains(&guard.register) {
                return None;
            }
        }
        values.extend(written.into_iter().map(|register| (register, None)));
        stretch.conditions.push(condition);
        Some(end)
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
    fn sizes(&self) -> (usize, usize, usize) {
        (self.checks.len(), self.conditions.len(), self.loads.len())
    }

    fn is_small(&self) -> bool {
        self.loads.len() <= MOST_LOADS && self.conditions.len() <= MOST_CONDITIONS
    }

    fn shorten(&mut self, (checks, conditions, loads): (usize, usize, usize)) {
        self.checks.truncate(checks);
        self.conditions.truncate(conditions);
        self.loads.truncate(loads);
    }

    /// Whether there are many branches, or a load waits for a check before it or for the branch over it.
    fn is_worth_it(&self) -> bool {
        let Some(last) = self.checks.last() else {
            return false;
        };
        let is_between = |load: &usize| self.checks[0].branch < *load && *load < last.branch;
        self.checks.len() >= MANY_CHECKS
            || last.under.is_some() && !self.loads.is_empty()
            || self.loads.iter().any(is_between)
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
    /// What stands at the function's end.
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
            let mut own = copied.guard(self, check.branch, check.guard, text);
            if let Some(under) = check.under {
                let leads = Guard {
                    negated: !under.negated,
                    ..under
                };
                let leads = copied.guard(self, check.branch, leads, text);
                own = self.predicate("and", &[&own, &leads], text);
            }
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

    /// Leaves the stretch without its checks and branches.
    fn leave_out_checks(&self, stretch: &Stretch, edits: &mut Edits) {
        let instructions = &self.definition.body.instructions;
        let checks = stretch.checks.iter().map(|check| check.branch);
        let conditions = stretch.conditions.iter().map(|condition| condition.branch);
        let left_out: Vec<usize> = checks.chain(conditions).collect();
        for &branch in &left_out {
            edits.replace(instructions[branch].span.clone(), "");
        }
        for Condition { branch, guard, end } in &stretch.conditions {
            let sign = if guard.negated { "" } else { "!" };
            let guard = format!("@{sign}{} ", self.name(guard.register));
            for at in (branch + 1..*end).filter(|at| !left_out.contains(at)) {
                edits.insert(instructions[at].span.start, guard.clone());
            }
        }
    }

    /// Writes the stretch as it was, with labels of its own, to the end. One of its checks fails.
    fn copy(&mut self, label: &str, stretch: &Stretch) {
        let Body {
            instructions,
            labels,
            ..
        } = self.definition.body;
        let mut text = format!("{label}:");
        let mut at = instructions[stretch.first].span.start;
        let instructions = instructions.iter().enumerate().take(stretch.end);
        for (index, instruction) in instructions.skip(stretch.first) {
            self.between(label, index, at, stretch, &mut text);
            at = instruction.span.end;
            let is_condition = stretch.conditions.iter().find(|it| it.branch == index);
            let own = instruction.text(self.source.text);
            let own = match (is_condition, &instruction.operation) {
                (Some(condition), Operation::Branch(branch)) => {
                    let target = &labels[branch.target.0 as usize].name;
                    own.replacen(target, &format!("{label}_{}", condition.end), 1)
                }
                _ => own.to_owned(),
            };
            let _ = write!(text, "\n\t{own}");
        }
        self.between(label, stretch.end, at, stretch, &mut text);
        text += "\n\ttrap;\n\texit;\n";
        self.copies += &text;
    }

    /// Writes what stands in front of an instruction: its place in the source, and a label of the copy.
    fn between(&self, label: &str, index: usize, from: u32, stretch: &Stretch, text: &mut String) {
        if let Some(instruction) = self.definition.body.instructions.get(index) {
            let gap = self.source.slice(&(from..instruction.span.start));
            let places = gap.lines().map(str::trim);
            for place in places.filter(|line| line.starts_with(".loc")) {
                let _ = write!(text, "\n\t{place}");
            }
        }
        if stretch.conditions.iter().any(|it| it.end == index) {
            let _ = write!(text, "\n{label}_{index}:");
        }
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
