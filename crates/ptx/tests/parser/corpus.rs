//! PTX that compilers wrote parses, and the parts of the result agree with each other.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

use ptx::{Access, Body, Function, Location, Module, Operation, Reg, Row};

/// File, functions with a body, instructions, those only taken apart, variables.
const EXPECTED: &str = "\
async_sm_90a.ptx 5 347 0 0
blackwell_sm_100a.ptx 2 99 0 0
features_sm_75.ptx 22 3324 7 21
features_sm_90.ptx 24 2906 7 21
isa_sm_100a.ptx 2 43 1 0
isa_sm_90a.ptx 8 460 3 10
rustc_lends.ptx 2 34 0 1
rustc_widths.ptx 5 85 0 5
triton_add_75.ptx 1 51 0 0
triton_atomics_80.ptx 1 95 0 1
triton_matmul8_100.ptx 1 683 0 1
triton_matmul_90.ptx 1 307 0 1
triton_softmax_90.ptx 1 121 0 1
";

fn bodies(module: &Module) -> impl Iterator<Item = (&Function, &Body)> {
    module
        .functions
        .iter()
        .filter_map(|function| Some((function, function.body.as_ref()?)))
}

fn parsed() -> Vec<(String, String, Module)> {
    let parse = |(name, text): (String, String)| {
        let module = ptx::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, text, module)
    };
    crate::common::corpus().into_iter().map(parse).collect()
}

#[test]
fn all_of_it_is_there() {
    let mut found = String::new();
    for (name, _, module) in parsed() {
        let instructions: Vec<_> = bodies(&module)
            .flat_map(|(_, body)| &body.instructions)
            .collect();
        let others = instructions
            .iter()
            .filter(|instruction| matches!(instruction.operation, Operation::Other(_)))
            .count();
        let (functions, variables) = (bodies(&module).count(), module.variables.len());
        let _ = writeln!(
            found,
            "{name} {functions} {} {others} {variables}",
            instructions.len()
        );
    }
    assert_eq!(found, EXPECTED, "found:\n{found}");
}

/// Each row of the table is found by its opcode: none is hidden by one before it.
#[test]
fn each_row_is_read() {
    let mut read = HashSet::new();
    for (_, _, module) in parsed() {
        for (_, body) in bodies(&module) {
            read.extend(body.instructions.iter().map(|it| it.operation.row()));
        }
    }
    // No compiler of the corpus writes it.
    read.insert(crate::common::one("st.bulk.weak.shared::cta [d0], d1, 0;").row());
    let hidden: Vec<_> = Row::ALL.iter().filter(|row| !read.contains(row)).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn texts_and_numbers_agree() {
    for (name, text, module) in parsed() {
        for (function, body) in bodies(&module) {
            let place = format!("{name}: {}", function.name);
            let mut end = 0;
            for instruction in &body.instructions {
                let own = instruction.text(&text);
                assert!(
                    own.ends_with(';') && instruction.span.start >= end,
                    "{place}: {own}"
                );
                let line = text[..instruction.span.start as usize]
                    .matches('\n')
                    .count()
                    + 1;
                // The line is the opcode's; a guard may stand on the one before.
                assert!(
                    instruction.line as usize >= line && instruction.line as usize <= line + 1,
                    "{place}: {own}"
                );
                assert_eq!(
                    instruction.guard.is_some(),
                    own.starts_with('@'),
                    "{place}: {own}"
                );
                end = instruction.span.end;
                for register in instruction
                    .uses()
                    .into_iter()
                    .chain(instruction.definitions())
                {
                    let name = &body.registers[register.0 as usize].name;
                    let base = name
                        .rsplit_once('.')
                        .map_or(name.as_str(), |(vector, _)| vector);
                    assert!(own.contains(base), "{place}: {name} is not in {own}");
                }
            }
            assert!(
                body.labels
                    .iter()
                    .all(|label| label.position as usize <= body.instructions.len()),
                "{place}"
            );
            let above = |(index, location): (usize, &Location)| {
                location
                    .inlined_at
                    .is_none_or(|outer| (outer as usize) < index)
            };
            assert!(body.locations.iter().enumerate().all(above), "{place}");
        }
    }
}

/// Each name of a register in an instruction's text is one that it uses or defines.
#[test]
fn no_operand_is_forgotten() {
    for (name, text, module) in parsed()
        .into_iter()
        .filter(|(name, ..)| !name.starts_with("isa"))
    {
        for (function, body) in bodies(&module) {
            for instruction in &body.instructions {
                let own = instruction.text(&text);
                let mut named = BTreeSet::new();
                for word in own.split(|letter: char| {
                    !(letter.is_ascii_alphanumeric() || "%_$".contains(letter))
                }) {
                    let is_register = |register: &ptx::Register| register.name == word;
                    if word.starts_with('%') && body.registers.iter().any(is_register) {
                        named.insert(word);
                    }
                }
                let mut visited = BTreeSet::new();
                instruction.visit(|_, Reg(register)| {
                    visited.insert(body.registers[register as usize].name.as_str());
                });
                let forgotten: Vec<_> = named.difference(&visited).collect();
                assert!(
                    forgotten.is_empty(),
                    "{name}: {}: {forgotten:?} in {own}",
                    function.name
                );
            }
        }
    }
}

/// Compilers read no register that nothing writes, so an instruction that forgot its destination shows.
#[test]
fn what_is_read_is_written() {
    for (name, text, module) in parsed()
        .into_iter()
        .filter(|(name, ..)| !name.starts_with("isa"))
    {
        for (function, body) in bodies(&module) {
            let mut written = vec![false; body.registers.len()];
            for instruction in &body.instructions {
                instruction.visit(|access, Reg(register)| {
                    written[register as usize] |= access == Access::Define
                });
            }
            for instruction in &body.instructions {
                for Reg(register) in instruction.uses() {
                    let register_name = &body.registers[register as usize].name;
                    let own = instruction.text(&text);
                    assert!(
                        written[register as usize],
                        "{name}: {}: nothing writes {register_name} of {own}",
                        function.name
                    );
                }
            }
        }
    }
}

#[test]
fn inlined_functions_have_their_names() {
    let (mut inlined, mut named, mut deep) = (0, 0, 0);
    for (_, _, module) in parsed() {
        for (_, body) in bodies(&module) {
            for location in &body.locations {
                assert!(
                    module.file(location.file).is_some(),
                    "file {}",
                    location.file
                );
                let Some(outer) = location.inlined_at else {
                    continue;
                };
                inlined += 1;
                named += usize::from(
                    location
                        .function
                        .as_ref()
                        .is_some_and(|name| name.starts_with('_') || !name.is_empty()),
                );
                deep += usize::from(body.locations[outer as usize].inlined_at.is_some());
            }
        }
    }
    assert!(
        inlined > 100 && named == inlined && deep > 20,
        "{inlined} inlined, {named} named, {deep} within another"
    );
}
