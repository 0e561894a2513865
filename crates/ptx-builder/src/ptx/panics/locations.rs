//! The places of a module's panics, side by side, and the table of their texts.

use std::collections::{HashMap, HashSet};

use ::ptx::{
    Declaration, Linkage, Module, Operation, RelocatedAddress, Relocation, Space, Symbol, Type,
    Variable,
};

use super::DECLARE_RECORD;
use super::kinds::KINDS;
use crate::ptx::edit::Edits;
use crate::ptx::source::{Source, symbol_of};

/// The places, [`WORDS`] words each.
const PLACES: &str = "__ptx_std_panic_places";
const WORDS: usize = 3;

/// The number of places; each of them as text; the kinds, from 1 on. One per line.
const TEXTS: &str = "__ptx_std_panic_texts";

/// Puts the places side by side and adds the table of their texts.
pub(super) fn gather_places(source: &Source<'_>) -> String {
    let places = places(source);
    let mut edits = Edits::default();
    edits.insert(source.spans.head_end, DECLARE_RECORD);
    let numbers: HashMap<Symbol, usize> = places
        .iter()
        .enumerate()
        .map(|(number, place)| (place.symbol, number))
        .collect();
    for (number, place) in places.iter().enumerate() {
        let all = match number + 1 == places.len() {
            true => declare_places(&places),
            false => String::new(),
        };
        edits.replace(place.declaration.span.clone(), all);
    }
    for mention in source.spans.functions.iter().flat_map(|one| &one.mentions) {
        if let Some((symbol, offset)) = symbol_of(mention)
            && let Some(number) = numbers.get(&symbol)
        {
            let offset = (number * WORDS * size_of::<u64>()) as i64 + offset;
            edits.replace(mention.span.clone(), format!("{PLACES}+{offset}"));
        }
    }
    edits.apply(source.text)
}

/// A `core::panic::Location`.
struct PanicPlace<'s> {
    declaration: &'s Declaration,
    symbol: Symbol,
    /// The contents of the variable.
    words: String,
    text: String,
}

/// The places of the module that nothing but instructions names, each by itself.
fn places<'s>(source: &'s Source<'_>) -> Vec<PanicPlace<'s>> {
    let variables = source.module.variables.iter();
    let values = variables.filter_map(|variable| variable.initial.as_ref());
    let mut taken: HashSet<Symbol> = values
        .flat_map(|value| &value.relocations)
        .map(|address| address.symbol)
        .collect();
    // `[NAME+16]`, which would need a sum.
    let instructions = source.definitions().flat_map(|it| &it.body.instructions);
    for instruction in instructions.filter(|one| !matches!(one.operation, Operation::Mov(_))) {
        instruction.visit_symbols(|symbol| {
            taken.insert(symbol);
        });
    }
    let declarations = source.spans.declarations.iter();
    declarations
        .filter_map(|declaration| match declaration.variables[..] {
            [symbol] if !taken.contains(&symbol) => place(&source.module, declaration, symbol),
            _ => None,
        })
        .collect()
}

/// `.global .align 8 .u64 NAME[3] = {generic(FILE), 10, 51539607559}`
fn place<'s>(
    module: &Module,
    declaration: &'s Declaration,
    symbol: Symbol,
) -> Option<PanicPlace<'s>> {
    let variable = variable(module, symbol)?;
    let of_words = variable.linkage == Linkage::Private
        && variable.space == Space::Global
        && (variable.ty, variable.alignment) == (Type::U64, 8)
        && variable.dimensions == [WORDS as u64];
    let value = variable.initial.as_ref().filter(|_| of_words)?;
    let [
        Relocation {
            offset: 0,
            addend: 0,
            shift: 0,
            address: RelocatedAddress::Generic,
            symbol: file,
            ..
        },
    ] = value.relocations[..]
    else {
        return None;
    };
    let file = self::variable(module, file)?;
    let word = |index: usize| {
        let bytes = value.bytes.get(8 * index..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    };
    let (len, line_and_column) = (word(1)?, word(2)?);
    let bytes = file
        .initial
        .as_ref()
        .filter(|it| it.relocations.is_empty())?;
    let path = std::str::from_utf8(bytes.bytes.get(..usize::try_from(len).ok()?)?).ok()?;
    let (line, column) = (line_and_column as u32, line_and_column >> u32::BITS);
    let is_place = !path.contains('\n') && line > 0 && column > 0;
    is_place.then(|| PanicPlace {
        declaration,
        symbol,
        words: format!("generic({}), {len}, {line_and_column}", file.name),
        text: format!("{path}:{line}:{column}"),
    })
}

fn variable(module: &Module, symbol: Symbol) -> Option<&Variable> {
    match symbol {
        Symbol::Module(index) => module.variables.get(index as usize),
        _ => None,
    }
}

fn declare_places(places: &[PanicPlace<'_>]) -> String {
    let words: Vec<&str> = places.iter().map(|place| place.words.as_str()).collect();
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
