//! Makes a program from a seed.

use fastrand::Rng;

use super::chain::chain;
use super::registers::file;
use super::templates::{Nature, ROWS};
use super::{Class, Classes, Program, Statement, Times};

/// How deep branches and loops are in each other.
const DEPTH: u32 = 3;

/// Statements of a kernel, where nobody asks for another number: those inside of others are not among them.
pub const STATEMENTS: u32 = 28;

/// The program of a seed, of these classes.
pub fn generate(seed: u64, classes: Classes) -> Program {
    generate_long(seed, classes, STATEMENTS)
}

/// The program of a seed, of these classes, with so many statements in its kernel.
pub fn generate_long(seed: u64, classes: Classes, statements: u32) -> Program {
    let mut random = Rng::with_seed(seed);
    let functions = match classes.has(Class::Call) && random.u32(0..3) == 0 {
        true => random.usize(1..3),
        false => 0,
    };
    let mut make = |callable, count| {
        let place = match callable {
            Callable::Inside => Place::Function,
            Callable::These(_) => Place::Converged,
        };
        let mut maker = Maker {
            random: &mut random,
            classes,
            seed,
            callable,
            turns: [0; 4],
            counters: 0,
            before: Vec::new(),
        };
        maker.statements(place, 0, count)
    };
    let body = make(Callable::These(functions), statements);
    Program {
        seed,
        body,
        functions: (0..functions).map(|_| make(Callable::Inside, 8)).collect(),
    }
}

/// Who executes a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// All threads of a block.
    Converged,
    /// Some of them.
    Diverged,
    /// Those that call a function.
    Function,
}

/// The functions that statements may call.
#[derive(Clone, Copy, Debug)]
enum Callable {
    /// None, for these are a function's own.
    Inside,
    /// As many as there are.
    These(usize),
}

/// Makes statements.
pub(super) struct Maker<'r> {
    pub(super) random: &'r mut Rng,
    classes: Classes,
    seed: u64,
    callable: Callable,
    /// How many registers of each file have been written.
    turns: [usize; 4],
    counters: u32,
    /// Instructions that have to stand before those of the row.
    before: Vec<String>,
}

impl Maker<'_> {
    fn statements(&mut self, place: Place, depth: u32, count: u32) -> Vec<Statement> {
        (0..count).map(|_| self.statement(place, depth)).collect()
    }

    fn statement(&mut self, place: Place, depth: u32) -> Statement {
        let has_control = self.classes.has(Class::Control) && depth < DEPTH && self.counters < 12;
        match self.random.u32(0..100) {
            0..5 if has_control => self.branch(place, depth),
            5..8 if has_control => self.repetition(place, depth),
            8..9 if has_control => self.switch(place, depth),
            9..12 => match self.callable {
                Callable::These(count @ 1..) => self.call(count),
                _ => self.plain(place),
            },
            12..20 if self.classes.has(Class::Carry) => chain(self),
            _ => self.plain(place),
        }
    }

    fn branch(&mut self, place: Place, depth: u32) -> Statement {
        let inner = diverged(place);
        let (count, others) = (self.random.u32(1..6), self.random.u32(0..5));
        Statement::If {
            predicate: self.register('p'),
            then: self.statements(inner, depth + 1, count),
            otherwise: self.statements(inner, depth + 1, others),
        }
    }

    fn switch(&mut self, place: Place, depth: u32) -> Statement {
        let inner = diverged(place);
        Statement::Switch {
            index: self.register('r'),
            arms: (0..4)
                .map(|_| {
                    let count = self.random.u32(0..3);
                    self.statements(inner, depth + 1, count)
                })
                .collect(),
        }
    }

    fn repetition(&mut self, place: Place, depth: u32) -> Statement {
        self.counters += 1;
        let counter = format!("%c{}", self.counters);
        let (times, inner) = match self.random.bool() {
            true => (Times::Fixed(self.random.u32(1..5)), place),
            false => (Times::OfThread(self.register('r')), diverged(place)),
        };
        let count = self.random.u32(1..6);
        Statement::Loop {
            times,
            counter,
            body: self.statements(inner, depth + 1, count),
        }
    }

    fn call(&mut self, count: usize) -> Statement {
        let function = self.random.usize(..count);
        let (a, b, d) = (self.register('r'), self.register('d'), self.written('d'));
        let lines = [
            "{ .param .b32 a; .param .b64 b; .param .b64 c".to_owned(),
            format!("st.param.b32 [a], {a}"),
            format!("st.param.b64 [b], {b}"),
            format!("call (c), f{}_{function}, (a, b)", self.seed),
            format!("ld.param.b64 {d}, [c]"),
            "}".to_owned(),
        ];
        Statement::Plain {
            class: Class::Call,
            lines: lines.into(),
            is_divisible: false,
        }
    }

    /// A statement of a row. The classes may have none for the place, and then nothing is added to a register.
    fn plain(&mut self, place: Place) -> Statement {
        for _ in 0..1000 {
            let (class, nature, row) = ROWS[self.random.usize(..ROWS.len())];
            if self.classes.has(class) && self.may_stand(nature, place) {
                return self.of_row(class, nature, row);
            }
        }
        self.of_row(Class::Integer, Nature::Free, "add.u32 $R, $r, 0")
    }

    fn may_stand(&self, nature: Nature, place: Place) -> bool {
        match nature {
            Nature::Together => place == Place::Converged,
            Nature::Own => place != Place::Function,
            Nature::Nan => place != Place::Function && self.classes.has(Class::Nan),
            _ => true,
        }
    }

    fn of_row(&mut self, class: Class, nature: Nature, row: &str) -> Statement {
        let mut lines: Vec<String> = self.line(row).split("; ").map(str::to_owned).collect();
        let may_be_guarded = !matches!(nature, Nature::Together | Nature::Unguarded);
        if lines.len() == 1 && may_be_guarded && self.random.u32(0..8) == 0 {
            let negation = if self.random.bool() { "!" } else { "" };
            lines[0] = format!("@{negation}{} {}", self.register('p'), lines[0]);
        }
        lines.splice(..0, self.before.drain(..));
        if !self.classes.has(Class::Nan) {
            lines.extend(self.same_nan(nature));
        }
        Statement::Plain {
            class,
            lines,
            is_divisible: false,
        }
    }

    /// Makes each NaN of the register that was written last the same.
    fn same_nan(&self, nature: Nature) -> Vec<String> {
        let (bits, ty, nan, letter) = match nature {
            Nature::Float32 => (32, "f32", "0x7FFFFFFF", 'r'),
            Nature::Float64 => (64, "f64", "0x7FF8000000000000", 'd'),
            Nature::Float16 => (16, "f16", "0x7FFF", 'h'),
            _ => return Vec::new(),
        };
        let register = self.recent(letter, 0);
        vec![
            format!("setp.nan.{ty} %q1, {register}, {register}"),
            format!("@%q1 mov.b{bits} {register}, {nan}"),
        ]
    }

    /// A row with its choices made.
    pub(super) fn line(&mut self, row: &str) -> String {
        let chosen = self.choose(row);
        let mut parts = chosen.split('$');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (letter, rest) = part.split_at(1);
            text += &self.operand(letter);
            text += rest;
        }
        text
    }

    /// The text with one of each `<a|b>`.
    fn choose(&mut self, row: &str) -> String {
        let mut text = String::new();
        let mut rest = row;
        while let Some((before, after)) = rest.split_once('<') {
            let (all, behind) = after.split_once('>').unwrap_or((after, ""));
            let all: Vec<&str> = all.split('|').collect();
            text += before;
            text += all[self.random.usize(..all.len())];
            rest = behind;
        }
        text + rest
    }

    fn operand(&mut self, letter: &str) -> String {
        let is_number = self.random.u32(0..4) == 0;
        match letter {
            "R" => self.written('r'),
            "D" => self.written('d'),
            "H" => self.written('h'),
            "P" => self.written('p'),
            "r" => self.register('r'),
            "d" => self.register('d'),
            "h" => self.register('h'),
            "p" => self.register('p'),
            "n" => {
                let register = self.register('r');
                self.before.push(format!("xor.b32 %t3, {register}, 1"));
                "%t3".to_owned()
            }
            "i" if is_number => format!("{:#x}", self.number() as u32),
            "i" => self.register('r'),
            "j" if is_number => format!("{:#x}", self.number()),
            "j" => self.register('d'),
            "k" => self.random.u32(0..70).to_string(),
            _ => self.random.u8(..).to_string(),
        }
    }

    fn number(&mut self) -> u64 {
        let near = u64::from(self.random.u32(0..4)).wrapping_sub(2);
        match self.random.u32(0..4) {
            0 => near,
            1 => (1u64 << self.random.u32(0..64)).wrapping_add(near),
            _ => self.random.u64(..) >> self.random.u32(0..64),
        }
    }

    /// A register to write: they take turns, so that those of one row differ and each result stays for a while.
    fn written(&mut self, letter: char) -> String {
        self.turns[turn(letter)] += 1;
        self.recent(letter, 0)
    }

    /// A register to read: as often one of the last that were written as any.
    pub(super) fn register(&mut self, letter: char) -> String {
        let most = if self.random.bool() { 3 } else { 16 };
        let age = self.random.usize(0..most);
        self.recent(letter, age)
    }

    /// The register that was written so many before the last.
    fn recent(&self, letter: char, age: usize) -> String {
        let count = file(letter).map_or(1, |it| it.count);
        let turn = self.turns[turn(letter)] + 16 * count - age;
        format!("%{letter}{}", turn % count)
    }
}

/// Where the turns of a file are counted.
fn turn(letter: char) -> usize {
    "rdhp".find(letter).unwrap_or(0)
}

/// Where what a branch chooses stands.
fn diverged(place: Place) -> Place {
    match place {
        Place::Function => Place::Function,
        Place::Converged | Place::Diverged => Place::Diverged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::module;

    #[test]
    fn a_seed_names_its_program() {
        let text = |seed| module(&[generate(seed, Classes::default())]);
        assert_eq!(text(7), text(7));
        assert_ne!(text(7), text(8));
    }

    #[test]
    fn classes_are_left_out() {
        let all: Vec<Class> = Class::all().filter(|it| *it != Class::Bits).collect();
        let program = generate(3, Classes::without(&all));
        let is_bits =
            |it: &Statement| matches!(it, Statement::Plain { class, .. } if *class == Class::Bits);
        assert!(program.functions.is_empty() && program.body.iter().all(is_bits));
    }

    /// The instructions of many programs, with their guards.
    fn instructions() -> Vec<(String, String)> {
        let of = |line: &str| match line.strip_prefix('@').and_then(|it| it.split_once(' ')) {
            Some((guard, rest)) => (guard.to_owned(), rest.to_owned()),
            None => (String::new(), line.to_owned()),
        };
        let text = |seed| module(&[generate(seed, Classes::without(&[]))]);
        (0..300)
            .flat_map(|seed| text(seed).lines().map(of).collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn ptxas_gets_no_guard_that_it_gets_wrong() {
        let mut all = instructions();
        all.retain(|(_, it)| {
            it.starts_with("testp.") || it.starts_with("set.") && it.contains(".f32.")
        });
        assert!(all.len() > 100);
        all.retain(|(guard, _)| !guard.is_empty());
        assert!(all.is_empty(), "{all:?}");
    }

    #[test]
    fn ptxas_gets_no_field_that_it_gets_wrong() {
        for (name, operand) in [("bfe.s32", 2), ("bfi.b32", 4)] {
            let mut all = instructions();
            all.retain(|(_, it)| it.starts_with(name));
            assert!(all.len() > 20, "{name}");
            all.retain(|(_, it)| {
                let number = it.trim_end_matches(';').split(", ").nth(operand);
                number.is_some_and(|it| it.parse().is_ok_and(|it: u32| it >= 32))
            });
            assert!(all.is_empty(), "{all:?}");
        }
    }

    #[test]
    fn ptxas_sees_no_float_where_it_would_make_an_integer_of_it() {
        let last = |it: &str| it.rsplit([',', ' ']).next().unwrap_or_default().to_owned();
        let mut all = instructions();
        all.retain(|(_, it)| {
            let is_narrow = it.starts_with("st.") && (it.contains(".b8 ") || it.contains(".b16 "));
            is_narrow || it.starts_with("sh") && it.contains("64 ")
        });
        assert!(all.len() > 100);
        all.retain(|(_, it)| last(it).starts_with("%r"));
        assert!(all.is_empty(), "{all:?}");
    }

    #[test]
    fn every_class_occurs() {
        let mut missing: Vec<String> = Class::all().map(|it| it.to_string()).collect();
        for seed in 0..200 {
            let all = format!("{:?}", generate(seed, Classes::without(&[])));
            missing.retain(|name| !all.to_lowercase().contains(&format!("class: {name}")));
        }
        // Those are no statements' own.
        assert_eq!(missing, ["nan", "control"]);
    }
}
