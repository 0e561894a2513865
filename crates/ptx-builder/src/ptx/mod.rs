//! The PTX that LLVM wrote: what is made better in it, and what is refused.
//!
//! Everything here is a function of the text. [`process`] parses it ([`source`]), reads arguments where they lie
//! ([`arguments`]), divides 128-bit numbers at once ([`division`]), reads literals from constant memory ([`literals`]), gathers checks
//! ([`checks`]), writes the kernels'
//! launch bounds into it ([`kernels`]), names the state space of accesses to shared and constant
//! memory ([`spaces`], [`rewrite`]) and of atomics in global memory ([`globals`]), makes panics cheap ([`panics`]), and looks for what should not be there
//! ([`lints`]).
//!
//! Changes, lints and analyses ([`calls`], [`flow`], [`frame`]) work on the typed instructions of the
//! crate `ptx`, which the emulator executes, and the places of their operands in the text. An instruction that it does
//! not know, as inline assembly may have, stays as it is; all registers that it names count as read and written, and no
//! panic of such a module is taken into its kernels. A module that cannot be read at all stays as it is.
//! [`Lint::UnknownPtx`](lints::Lint::UnknownPtx) tells of both.

mod access;
mod arguments;
mod calls;
mod checks;
mod division;
mod edit;
mod flow;
mod frame;
mod globals;
mod kernels;
pub(crate) mod lints;
mod literals;
mod panics;
mod places;
mod rewrite;
mod source;
mod spaces;
mod version;

use std::collections::HashSet;

use ::ptx::{Instruction, ParseError};

use arguments::Copied;
use calls::Calls;
use edit::Edits;
use kernels::Description;
pub(crate) use kernels::descriptions;
use lints::{Finding, Levels, Subject};
use literals::Literals;
pub use places::Place;
pub(crate) use places::Sources;
use source::{Definition, Source};
use spaces::Spaces;

/// The inputs of [`process`] besides the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) sources: Sources,
    pub(crate) levels: Levels,
    /// Major and minor version of the compiler that wrote the text.
    pub(crate) compiler: (u32, u32),
    pub(crate) passes: Passes,
}

/// The optional passes that make the text faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// Arguments by value are read where they lie, and not in a copy on the stack.
    pub(crate) arguments_in_place: bool,
    /// 128-bit numbers are divided by ptx-std's function, and not bit by bit.
    pub(crate) divisions_at_once: bool,
    /// Literals of `f64` that loops have many of are read from constant memory.
    pub(crate) literals_in_constant_memory: bool,
    /// Checks that panic are made before the loads between them.
    pub(crate) gathered_checks: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Passes {
            arguments_in_place: true,
            divisions_at_once: true,
            literals_in_constant_memory: true,
            gathered_checks: true,
        }
    }
}

/// The result of [`process`].
#[derive(Debug)]
pub(crate) struct Processed {
    pub(crate) text: String,
    /// Findings that are not allowed, lint by lint.
    pub(crate) findings: Vec<Finding>,
}

/// Rewrites and checks a PTX module.
pub(crate) fn process(text: &str, options: &Options) -> Processed {
    let descriptions = descriptions(text);
    let finished = |source: &Source<'_>| match gathered(source, options.passes) {
        None => rewritten(source, &descriptions, options),
        Some(text) => rewritten(&Source::parse(&text)?, &descriptions, options),
    };
    let done = Source::parse(text).and_then(|source| match improved(&source, options.passes) {
        None => finished(&source),
        Some(text) => finished(&Source::parse(&text)?),
    });
    let (text, mut findings) = done.unwrap_or_else(|error| {
        let unread = lints::unread(&error, &descriptions, &options.levels);
        (text.to_owned(), Vec::from_iter(unread))
    });
    findings.extend(lints::by_parser(&text, &options.sources, &options.levels));
    Processed { text, findings }
}

/// Returns the text as LLVM could have written it, if it is another one.
fn improved(source: &Source<'_>, passes: Passes) -> Option<String> {
    let mut edits = Edits::default();
    let (mut copies, mut divisions) = (0, 0);
    let mut literals = Literals::default();
    let moves_literals = passes.literals_in_constant_memory && literals::have_room(source);
    let divides = passes.divisions_at_once && division::function(source).is_some();
    for definition in source.definitions() {
        if passes.arguments_in_place
            && let Some(copied) = Copied::of(definition)
        {
            copied.read_in_place(source, definition, &mut edits);
            copies += 1;
        }
        if divides {
            divisions += division::at_once(source, definition, &mut edits);
        }
        if moves_literals {
            literals.read(source, definition, &mut edits);
        }
    }
    if divisions > 0 {
        division::declare(source, &mut edits);
    }
    let reads_literals = literals.declare(source, &mut edits);
    (copies + divisions > 0 || reads_literals).then(|| edits.apply(source.text))
}

/// Returns the text with checks that panic made before the loads between them, if it has such.
fn gathered(source: &Source<'_>, passes: Passes) -> Option<String> {
    if !passes.gathered_checks || !source.is_known() {
        return None;
    }
    let calls = Calls::new(&source.module);
    let mut edits = Edits::default();
    let mut stretches = 0;
    for definition in source.definitions() {
        if let Some(flow) = calls.flow(definition.spans.function.0 as usize) {
            stretches += checks::gather(source, definition, flow, &mut edits);
        }
    }
    (stretches > 0).then(|| edits.apply(source.text))
}

/// Returns the text with all that is made better in it, and the findings in it as it was.
fn rewritten(
    source: &Source<'_>,
    descriptions: &[Description],
    options: &Options,
) -> Result<(String, Vec<Finding>), ParseError> {
    let definitions: Vec<(Definition<'_>, Spaces)> = source
        .definitions()
        .map(|definition| (definition, Spaces::of(definition)))
        .collect();
    let mut edits = Edits::default();
    rewrite::declare_shared(source, &mut edits);
    rewrite::place_constants(source, &mut edits);
    kernels::write_bounds(source, descriptions, &mut edits);
    for (definition, spaces) in &definitions {
        rewrite::function(source, *definition, spaces, &mut edits);
        rewrite::global_atomics(source, *definition, spaces, &mut edits);
    }
    let text = rewrite::strip_constant_mark(&edits.apply(source.text));
    let text = version::raised(panics::rewrite(&text)?);
    let findings = findings(source, &definitions, descriptions, options);
    Ok((text, findings))
}

/// The names of the entries that run an instruction, themselves or by the functions that they call. None of a text
/// that cannot be read, which [`UnknownPtx`](lints::Lint::UnknownPtx) tells.
pub(crate) fn entries_that_run(
    text: &str,
    wanted: impl Fn(&Instruction) -> bool,
) -> HashSet<String> {
    match Source::parse(text) {
        Ok(source) => Calls::new(&source.module).entries_that_run(&source.module, wanted),
        Err(_) => HashSet::new(),
    }
}

/// Returns the findings of the lints. Where a statement is unknown, that alone is told.
fn findings(
    source: &Source<'_>,
    definitions: &[(Definition<'_>, Spaces)],
    descriptions: &[Description],
    options: &Options,
) -> Vec<Finding> {
    if !source.is_known() {
        return lints::unknown(source, descriptions, &options.levels);
    }
    let left_generic: HashSet<u32> = definitions
        .iter()
        .flat_map(|(definition, spaces)| rewrite::left_generic(source, *definition, spaces))
        .collect();
    let subject = Subject::new(source, &left_generic, descriptions, options);
    lints::check(&subject, &options.levels)
}
