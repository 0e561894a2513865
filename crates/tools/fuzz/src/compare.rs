//! Runs the programs of seeds on several devices and compares all bits.

use crate::device::{Device, Outcome};
use crate::program::{
    Class, Classes, Program, Registers, Statement, generate_long, module, origin, shrink,
};
use crate::report;

/// How often a program is run to make it smaller.
const ATTEMPTS: usize = 400;

/// How the programs of some seeds are compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The classes of instructions in the programs.
    pub classes: Classes,
    /// Statements of a kernel.
    pub statements: u32,
    /// Programs of a module.
    pub batch: usize,
}

/// The key of the summary for what was compared and is equal.
pub const COMPARED: &str = "programs compared";

/// The key for what differed.
pub const DIFFERENT: &str = "programs that differ";

/// The key for what is equal where the first device's assembler does not optimise.
pub const OPTIMISED: &str = "programs that the assembler's optimiser changes";

impl Comparison {
    /// Compares the programs of seeds, and reports.
    ///
    /// # Errors
    /// A device is lost. Its last seed has been reported.
    pub fn run(self, devices: &mut [Box<dyn Device>], seeds: &[u64]) -> Result<(), String> {
        let mut left = seeds;
        while let Some(first) = left.first() {
            if report::is_over() {
                report::left(left.len());
                return Ok(());
            }
            report::at(*first);
            let (batch, others) = left.split_at(self.batch.clamp(1, left.len()));
            let programs: Vec<Program> = batch.iter().map(|it| self.program(*it)).collect();
            let mut equal = 0;
            for (program, found) in programs.iter().zip(differences(devices, &programs)?) {
                match found {
                    None => equal += 1,
                    Some(found) => {
                        report::found(program.seed, found.key());
                        report::say(&format!(
                            "seed {}, {}: {}",
                            program.seed,
                            found.origin(program),
                            found.text(devices)
                        ));
                    }
                }
            }
            report::add(COMPARED, equal);
            left = others;
        }
        Ok(())
    }

    /// Makes the programs of seeds smaller while they differ, and reports what is left of them.
    ///
    /// # Errors
    /// A device is lost. Its last seed has been reported.
    pub fn shrink(self, devices: &mut [Box<dyn Device>], seeds: &[u64]) -> Result<(), String> {
        for (done, seed) in seeds.iter().enumerate() {
            if report::is_over() {
                report::left(seeds.len() - done);
                return Ok(());
            }
            report::at(*seed);
            let program = self.program(*seed);
            let Some(found) = one(devices, &program)? else {
                report::say(&format!("seed {seed}: it does not differ again"));
                continue;
            };
            let small = smaller(devices, &program, &found)?;
            let classes = classes(&small);
            report::add(&format!("{} smaller, in {classes}", found.key()), 1);
            let text = one(devices, &small)?.unwrap_or(found).text(devices);
            report::say(&format!(
                "seed {seed}, {classes}: {text}\n{}",
                module(&[small])
            ));
        }
        Ok(())
    }

    fn program(self, seed: u64) -> Program {
        generate_long(seed, self.classes, self.statements)
    }
}

/// The smallest program found that differs in the same way.
fn smaller(
    devices: &mut [Box<dyn Device>],
    program: &Program,
    found: &Found,
) -> Result<Program, String> {
    let mut lost = None;
    let small = shrink(program, ATTEMPTS, &mut |it| {
        if report::is_over() {
            return false;
        }
        match one(devices, it) {
            Ok(outcome) => outcome.is_some_and(|it| it.is_as(found)),
            Err(error) => {
                lost = Some(error);
                false
            }
        }
    });
    lost.map_or(Ok(small), Err)
}

/// The difference of one program.
fn one(devices: &mut [Box<dyn Device>], program: &Program) -> Result<Option<Found>, String> {
    let all = differences(devices, std::slice::from_ref(program))?;
    Ok(all.into_iter().next().flatten())
}

/// Runs programs on all devices, and those that differ on the first one again, without its assembler's optimiser.
fn differences(
    devices: &mut [Box<dyn Device>],
    programs: &[Program],
) -> Result<Vec<Option<Found>>, String> {
    let outcomes = all_outcomes(devices, programs)?;
    let of = |index: usize| -> Vec<&Outcome> { outcomes.iter().map(|it| &it[index]).collect() };
    let mut all: Vec<Option<Found>> = (0..programs.len())
        .map(|it| {
            difference(&of(it)).map(|kind| Found {
                kind,
                unoptimised: None,
            })
        })
        .collect();
    let again: Vec<usize> = (0..all.len()).filter(|it| all[*it].is_some()).collect();
    let suspects: Vec<Program> = again.iter().map(|it| programs[*it].clone()).collect();
    if suspects.is_empty() {
        return Ok(all);
    }
    let name = devices[0].name();
    let Some(unoptimised) = devices[0].run_unoptimised(&suspects) else {
        return Ok(all);
    };
    let unoptimised = unoptimised.map_err(|it| format!("{name}: {it}"))?;
    for (index, outcome) in again.into_iter().zip(&unoptimised) {
        let mut of_devices = of(index);
        of_devices[0] = outcome;
        if let Some(found) = &mut all[index] {
            found.unoptimised = Some(difference(&of_devices));
        }
    }
    Ok(all)
}

/// A program whose outcomes differ.
#[derive(Clone, Debug)]
struct Found {
    kind: Kind,
    /// How it differs where the first device's assembler does not optimise, if it was run so.
    unoptimised: Option<Option<Kind>>,
}

impl Found {
    fn is_of_the_optimiser(&self) -> bool {
        matches!(self.unoptimised, Some(None))
    }

    /// The key of the summary.
    fn key(&self) -> &'static str {
        match self.is_of_the_optimiser() {
            true => OPTIMISED,
            false => DIFFERENT,
        }
    }

    /// Whether it may have the same reason.
    fn is_as(&self, other: &Found) -> bool {
        self.is_of_the_optimiser() == other.is_of_the_optimiser() && self.kind.is_as(&other.kind)
    }

    fn text(&self, devices: &[Box<dyn Device>]) -> String {
        let kind = self.kind.text(devices);
        match &self.unoptimised {
            None => kind,
            Some(None) => format!("the assembler's optimiser changes it: {kind}"),
            Some(Some(still)) => format!("{kind}; not optimised: {}", still.text(devices)),
        }
    }

    /// The instruction at which it may have begun.
    fn origin(&self, program: &Program) -> String {
        match (&self.kind, &self.unoptimised) {
            (_, Some(Some(Kind::Bits { registers, .. }))) | (Kind::Bits { registers, .. }, _) => {
                origin(program, registers)
            }
            (Kind::Fails { .. }, _) => "nothing was written".to_owned(),
        }
    }
}

/// Words of a thread.
const WIDTH: usize = Registers::ALL.len();

fn all_outcomes(
    devices: &mut [Box<dyn Device>],
    programs: &[Program],
) -> Result<Vec<Vec<Outcome>>, String> {
    let of_device = |device: &mut Box<dyn Device>| {
        device
            .run(programs)
            .map_err(|it| format!("{}: {it}", device.name()))
    };
    devices.iter_mut().map(of_device).collect()
}

/// How devices differ.
#[derive(Clone, Debug)]
enum Kind {
    /// A device does not run the program.
    Fails { device: usize, why: String },
    /// Words differ: how many, the first of them, and the registers that have some.
    Bits {
        device: usize,
        words: usize,
        first: usize,
        values: [u64; 2],
        registers: Vec<&'static str>,
    },
}

impl Kind {
    /// Whether it may have the same reason.
    fn is_as(&self, other: &Kind) -> bool {
        match (self, other) {
            (
                Kind::Fails { device, why },
                Kind::Fails {
                    device: same,
                    why: as_before,
                },
            ) => {
                // Names and numbers change with the program.
                let gist = |text: &str| {
                    text.chars()
                        .filter(|it| it.is_alphabetic())
                        .take(30)
                        .collect::<String>()
                };
                device == same && gist(why) == gist(as_before)
            }
            (Kind::Bits { device, .. }, Kind::Bits { device: same, .. }) => device == same,
            _ => false,
        }
    }

    fn text(&self, devices: &[Box<dyn Device>]) -> String {
        match self {
            Kind::Fails { device, why } => {
                format!("{} does not run it: {why}", devices[*device].name())
            }
            Kind::Bits {
                device,
                words,
                first,
                values: [one, other],
                ..
            } => {
                format!(
                    "{words} words differ; {} of thread {} is {one:#x} on {} and {other:#x} on {}",
                    Registers::ALL[first % WIDTH],
                    first / WIDTH,
                    devices[0].name(),
                    devices[*device].name()
                )
            }
        }
    }
}

/// How the outcomes of a program on all devices differ, if they do.
fn difference(outcomes: &[&Outcome]) -> Option<Kind> {
    for (device, outcome) in outcomes.iter().enumerate() {
        if let Err(why) = outcome {
            let why = why.clone();
            return Some(Kind::Fails { device, why });
        }
    }
    let words: Vec<&Vec<u64>> = outcomes.iter().filter_map(|it| it.as_ref().ok()).collect();
    let (reference, others) = words.split_first()?;
    for (index, other) in others.iter().enumerate() {
        let differs = |it: &usize| reference[*it] != other[*it];
        let different: Vec<usize> = (0..reference.len()).filter(differs).collect();
        if let Some(first) = different.first().copied() {
            let mut registers: Vec<usize> = different.iter().map(|it| it % WIDTH).collect();
            registers.sort_unstable();
            registers.dedup();
            return Some(Kind::Bits {
                device: index + 1,
                words: different.len(),
                first,
                values: [reference[first], other[first]],
                registers: registers.iter().map(|it| Registers::ALL[*it]).collect(),
            });
        }
    }
    None
}

/// The classes of a program's statements.
fn classes(program: &Program) -> String {
    let mut all: Vec<Class> = Vec::new();
    collect(&program.body, &mut all);
    program
        .functions
        .iter()
        .for_each(|it| collect(it, &mut all));
    all.sort();
    all.dedup();
    let names: Vec<String> = all.iter().map(ToString::to_string).collect();
    names.join("+")
}

fn collect(statements: &[Statement], classes: &mut Vec<Class>) {
    for statement in statements {
        match statement {
            Statement::Plain { class, .. } => classes.push(*class),
            Statement::If {
                then, otherwise, ..
            } => {
                classes.push(Class::Control);
                collect(then, classes);
                collect(otherwise, classes);
            }
            Statement::Switch { arms, .. } => {
                classes.push(Class::Control);
                arms.iter().for_each(|it| collect(it, classes));
            }
            Statement::Loop { body, .. } => {
                classes.push(Class::Control);
                collect(body, classes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Emulator, Mode};
    use crate::program::generate;

    /// The engine with one bit changed in the words of programs that have an instruction.
    struct Faulty(&'static str);

    /// As [`Faulty`], but what changes bits is an optimiser, unless it also has another instruction.
    struct Optimising(&'static str, &'static str);

    impl Device for Optimising {
        fn name(&self) -> String {
            "the optimising one".to_owned()
        }

        fn run(&mut self, programs: &[Program]) -> Result<Vec<Outcome>, String> {
            Faulty(self.0).run(programs)
        }

        fn run_unoptimised(&mut self, all: &[Program]) -> Option<Result<Vec<Outcome>, String>> {
            Some(Faulty(self.1).run(all))
        }
    }

    impl Device for Faulty {
        fn name(&self) -> String {
            "the faulty one".to_owned()
        }

        fn run(&mut self, programs: &[Program]) -> Result<Vec<Outcome>, String> {
            let mut outcomes = Emulator(Mode::Unchecked).run(programs)?;
            for (outcome, program) in outcomes.iter_mut().zip(programs) {
                let is_faulty = module(std::slice::from_ref(program)).contains(self.0);
                if let (true, Ok(words)) = (is_faulty, outcome) {
                    words[0] ^= 1;
                }
            }
            Ok(outcomes)
        }
    }

    #[test]
    fn the_modes_of_the_engine_agree() {
        let mut devices = [Emulator(Mode::Unchecked), Emulator(Mode::Checked)];
        let programs: Vec<Program> = (0..300)
            .map(|it| generate(it, Classes::without(&[])))
            .collect();
        let [unchecked, checked] = devices
            .each_mut()
            .map(|it| it.run(&programs).expect("memory"));
        for ((program, one), other) in programs.iter().zip(&unchecked).zip(&checked) {
            let kind = difference(&[one, other]);
            assert!(
                kind.is_none(),
                "seed {}: {kind:?}\n{}",
                program.seed,
                module(std::slice::from_ref(program))
            );
        }
    }

    #[test]
    fn a_device_with_a_fault_is_found_and_what_it_fails_at_is_what_stays() {
        let mut devices: Vec<Box<dyn Device>> = vec![
            Box::new(Emulator(Mode::Unchecked)),
            Box::new(Faulty("brev.b32")),
        ];
        let program = (0..)
            .map(|it| generate(it, Classes::default()))
            .find(|it| module(std::slice::from_ref(it)).contains("brev.b32"));
        let program = program.expect("a seed");
        let mut differs = |it: &Program| {
            let outcomes = all_outcomes(&mut devices, std::slice::from_ref(it)).expect("memory");
            difference(&[&outcomes[0][0], &outcomes[1][0]]).is_some()
        };
        assert!(differs(&program));
        assert_eq!(classes(&shrink(&program, ATTEMPTS, &mut differs)), "bits");
    }

    #[test]
    fn the_optimiser_is_blamed_only_for_what_it_changes() {
        let has = |it: &Program, text| module(std::slice::from_ref(it)).contains(text);
        let mut devices: Vec<Box<dyn Device>> = vec![
            Box::new(Optimising("brev.b32", "popc.b32")),
            Box::new(Emulator(Mode::Unchecked)),
        ];
        let programs: Vec<Program> = (0..400)
            .map(|it| generate(it, Classes::default()))
            .collect();
        let found = differences(&mut devices, &programs).expect("memory");
        let mut seen = [0; 3];
        for (program, found) in programs.iter().zip(&found) {
            let key = found.as_ref().map(Found::key);
            let expected = match (has(program, "brev.b32"), has(program, "popc.b32")) {
                (false, _) => None,
                (true, false) => Some(OPTIMISED),
                (true, true) => Some(DIFFERENT),
            };
            assert_eq!(key, expected, "seed {}", program.seed);
            seen[key.map_or(0, |it| 1 + usize::from(it == DIFFERENT))] += 1;
        }
        assert!(seen.iter().all(|it| *it > 0), "{seen:?}");
        let mut engines: Vec<Box<dyn Device>> = vec![
            Box::new(Faulty("brev.b32")),
            Box::new(Emulator(Mode::Unchecked)),
        ];
        let found = differences(&mut engines, &programs).expect("memory");
        assert!(found.iter().flatten().all(|it| it.key() == DIFFERENT));
    }
}
