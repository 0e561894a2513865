//! Runs the programs of seeds on several devices and compares all bits.

use crate::device::{Device, Outcome};
use crate::program::{Class, Classes, Program, Registers, Statement, generate, module, shrink};
use crate::report;

/// How often a program is run to make it smaller.
const ATTEMPTS: usize = 400;

/// How the programs of some seeds are compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// What is in the programs.
    pub classes: Classes,
    /// Programs of a module.
    pub batch: u64,
    /// Differences that are made smaller; of the others only the seeds are told.
    pub shrunk: u64,
}

/// The key of the summary for what was compared.
pub const COMPARED: &str = "programs compared";

/// The key for what differed.
pub const DIFFERENT: &str = "programs that differ";

impl Comparison {
    /// Compares the programs of `count` seeds, and reports.
    ///
    /// # Errors
    /// A device is lost. Its last seed has been reported.
    pub fn run(
        mut self,
        devices: &mut [Box<dyn Device>],
        first: u64,
        count: u64,
    ) -> Result<(), String> {
        let end = first.saturating_add(count);
        let mut seed = first;
        while seed < end {
            let next = end.min(seed.saturating_add(self.batch.max(1)));
            report::at(seed);
            let programs: Vec<Program> =
                (seed..next).map(|it| generate(it, self.classes)).collect();
            self.batch(devices, &programs)?;
            seed = next;
        }
        Ok(())
    }

    fn batch(
        &mut self,
        devices: &mut [Box<dyn Device>],
        programs: &[Program],
    ) -> Result<(), String> {
        let outcomes = all_outcomes(devices, programs)?;
        let mut compared = 0;
        for (index, program) in programs.iter().enumerate() {
            let of_devices: Vec<&Outcome> = outcomes.iter().map(|it| &it[index]).collect();
            match difference(&of_devices) {
                None => compared += 1,
                Some(kind) => self.tell(devices, program, kind)?,
            }
        }
        report::add(COMPARED, compared);
        Ok(())
    }

    fn tell(
        &mut self,
        devices: &mut [Box<dyn Device>],
        program: &Program,
        kind: Kind,
    ) -> Result<(), String> {
        report::add(DIFFERENT, 1);
        if self.shrunk == 0 {
            report::say(&format!("seed {}: {}", program.seed, kind.text(devices)));
            report::add("differences not shrunk", 1);
            return Ok(());
        }
        self.shrunk -= 1;
        let mut lost = None;
        let small = shrink(program, ATTEMPTS, &mut |it| match all_outcomes(
            devices,
            std::slice::from_ref(it),
        ) {
            Ok(outcomes) => {
                let of_devices: Vec<&Outcome> = outcomes.iter().map(|it| &it[0]).collect();
                difference(&of_devices).is_some_and(|it| it.is_as(&kind))
            }
            Err(error) => {
                lost = Some(error);
                false
            }
        });
        let classes = classes(&small);
        report::add(&format!("differences in {classes}"), 1);
        let outcomes = all_outcomes(devices, std::slice::from_ref(&small))?;
        let of_devices: Vec<&Outcome> = outcomes.iter().map(|it| &it[0]).collect();
        let text = difference(&of_devices).unwrap_or(kind).text(devices);
        report::say(&format!(
            "seed {}, {classes}: {text}\n{}",
            program.seed,
            module(&[small])
        ));
        lost.map_or(Ok(()), Err)
    }
}

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
    /// Words differ: how many, and the first of them.
    Bits {
        device: usize,
        words: usize,
        first: usize,
        values: [u64; 2],
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
            } => {
                let registers = Registers::ALL.len();
                format!(
                    "{words} words differ; {} of thread {} is {one:#x} on {} and {other:#x} on {}",
                    Registers::ALL[first % registers],
                    first / registers,
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
        let pairs = reference.iter().zip(*other);
        let mut different = pairs.enumerate().filter(|(_, (one, other))| one != other);
        if let Some((first, (one, other))) = different.next() {
            return Some(Kind::Bits {
                device: index + 1,
                words: 1 + different.count(),
                first,
                values: [*one, *other],
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

    /// The engine with one bit changed in the words of programs that have an instruction.
    struct Faulty(&'static str);

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
}
