//! The places of a module's panics, side by side, and the table of their texts.

use std::collections::{HashMap, HashSet};

use super::kinds::KINDS;
use super::{DECLARE_RECORD, bodies, with_semicolon};
use crate::ptx::edit::{Edits, position};
use crate::ptx::instruction::is_name;
use crate::ptx::parse::{Module, Variable};

/// The places, [`WORDS`] words each.
const PLACES: &str = "__ptx_std_panic_places";
const WORDS: usize = 3;

/// The number of places; each of them as text; the kinds, from 1 on. One per line.
const TEXTS: &str = "__ptx_std_panic_texts";

/// Puts the places side by side and adds the table of their texts.
pub(super) fn gather_places(module: &Module<'_>) -> String {
    let places = places(module);
    let mut edits = Edits::default();
    edits.insert(module.head_end, DECLARE_RECORD);
    let numbers: HashMap<&str, usize> = places
        .iter()
        .enumerate()
        .map(|(number, place)| (place.variable.name, number))
        .collect();
    for (number, place) in places.iter().enumerate() {
        let declaration = with_semicolon(position(module.text, place.variable.text));
        let all = match number + 1 == places.len() {
            true => declare_places(&places),
            false => String::new(),
        };
        edits.replace(declaration, all);
    }
    for instruction in bodies(module).flat_map(|body| &body.instructions) {
        for name in instruction.sources() {
            if let Some(number) = numbers.get(name) {
                let offset = number * WORDS * size_of::<u64>();
                edits.replace(position(module.text, name), format!("{PLACES}+{offset}"));
            }
        }
    }
    edits.apply(module.text)
}

/// A `core::panic::Location`.
struct PanicPlace<'t> {
    variable: &'t Variable<'t>,
    /// What the variable holds.
    words: &'t str,
    text: String,
}

/// The places of the module that nothing but instructions names, each by itself.
fn places<'t>(module: &'t Module<'t>) -> Vec<PanicPlace<'t>> {
    let texts: HashMap<&str, &str> = module
        .variables
        .iter()
        .map(|variable| (variable.name, variable.text))
        .collect();
    let mut taken: HashSet<&str> = HashSet::new();
    for variable in &module.variables {
        if let Some((_, value)) = variable.text.split_once('=') {
            taken.extend(value.split(|c: char| !is_name(c)));
        }
    }
    // `[NAME+16]`, which would need a sum.
    let instructions = bodies(module).flat_map(|body| &body.instructions);
    for instruction in instructions.filter(|one| one.base() != "mov") {
        taken.extend(instruction.sources());
    }
    let variables = module.variables.iter();
    variables
        .filter(|variable| !taken.contains(variable.name))
        .filter_map(|variable| place(variable, &texts))
        .collect()
}

/// `.global .align 8 .u64 NAME[3] = {generic(FILE), 10, 51539607559}`
fn place<'t>(variable: &'t Variable<'t>, texts: &HashMap<&str, &str>) -> Option<PanicPlace<'t>> {
    let (declarator, value) = variable.text.split_once('=')?;
    let of_words = declarator.starts_with(".global .align 8 .u64 ");
    if !of_words || !declarator.trim_end().ends_with("[3]") {
        return None;
    }
    let words = value.trim().strip_prefix('{')?.strip_suffix('}')?;
    let (file, rest) = words.strip_prefix("generic(")?.split_once("),")?;
    let (len, line_and_column) = rest.split_once(',')?;
    let len: usize = len.trim().parse().ok()?;
    let line_and_column: u64 = line_and_column.trim().parse().ok()?;
    let (_, bytes) = texts.get(file)?.split_once('=')?;
    let bytes = bytes.trim().strip_prefix('{')?.strip_suffix('}')?;
    let bytes: Vec<u8> = bytes
        .split(',')
        .map(|byte| byte.trim().parse().ok())
        .collect::<Option<_>>()?;
    let file = std::str::from_utf8(bytes.get(..len)?).ok()?;
    let (line, column) = (line_and_column as u32, line_and_column >> u32::BITS);
    let is_place = !file.contains('\n') && line > 0 && column > 0;
    is_place.then(|| PanicPlace {
        variable,
        words,
        text: format!("{file}:{line}:{column}"),
    })
}

fn declare_places(places: &[PanicPlace<'_>]) -> String {
    let words: Vec<&str> = places.iter().map(|place| place.words).collect();
    let mut text = format!("{}\n", places.len());
    for place in places {
        text += &place.text;
        text.push('\n');
    }
    for (_, kind) in KINDS {
        text += kind;
        text.push('\n');
    }
    format!(
        ".visible .global .align 8 .u64 {PLACES}[{}] = {{{}}};\n{}",
        words.len() * WORDS,
        words.join(", "),
        declare_bytes(TEXTS, &text),
    )
}

fn declare_bytes(name: &str, text: &str) -> String {
    let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
    let (len, bytes) = (bytes.len(), bytes.join(","));
    format!(".visible .global .align 1 .b8 {name}[{len}] = {{{bytes}}};")
}
