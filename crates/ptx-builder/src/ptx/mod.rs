//! The PTX that LLVM wrote: what is made better in it, and what is refused.
//!
//! Everything here is a function of the text. [`process`] takes it apart ([`parse`]), writes the kernels'
//! launch bounds into it ([`kernels`]), names the state space of accesses to shared and constant
//! memory ([`spaces`], [`rewrite`]) and of atomics in global memory ([`globals`]), makes panics cheap ([`panics`]), and looks for what should not be there
//! ([`lints`]).
//!
//! What is looked for and what leads where ([`calls`], [`flow`], [`frame`]) goes by the typed instructions of the
//! crate `ptx`, which the emulator executes. [`parse`] and [`body`] know no more than where the parts of the text
//! lie, for what is changed in it.

mod access;
mod body;
mod calls;
mod edit;
mod flow;
mod frame;
mod globals;
mod instruction;
mod kernels;
pub(crate) mod lints;
mod panics;
mod parse;
mod places;
mod rewrite;
mod scanner;
mod spaces;
mod version;

use std::collections::HashSet;

use ::ptx::Instruction;

use calls::Calls;
use edit::Edits;
use kernels::Description;
use lints::{Finding, Levels, Subject};
use parse::Module;
pub(crate) use parse::ParseError;
pub use places::Place;
pub(crate) use places::Sources;
use spaces::Spaces;

/// What [`process`] has to know besides the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) sources: Sources,
    pub(crate) levels: Levels,
    /// Major and minor version of the compiler that wrote the text.
    pub(crate) compiler: (u32, u32),
}

/// What [`process`] makes of a text.
#[derive(Debug)]
pub(crate) struct Processed {
    pub(crate) text: String,
    /// What is not allowed, lint by lint.
    pub(crate) findings: Vec<Finding>,
}

/// What the kernels' authors wrote, from PTX that has been [processed](process).
///
/// # Errors
/// As for [`process`].
pub(crate) fn descriptions(text: &str) -> Result<Vec<kernels::Description>, ParseError> {
    Ok(kernels::descriptions(&Module::parse(text)?))
}

/// Rewrites and checks a PTX module.
///
/// # Errors
/// The text ends within a function or a declaration.
pub(crate) fn process(text: &str, options: &Options) -> Result<Processed, ParseError> {
    let module = Module::parse(text)?;
    let descriptions = kernels::descriptions(&module);
    let spaces: Vec<Option<Spaces<'_>>> = module
        .functions
        .iter()
        .map(|function| function.body.as_ref().map(Spaces::of))
        .collect();
    let mut edits = Edits::default();
    rewrite::declare_shared(&module, &mut edits);
    rewrite::place_constants(&module, &mut edits);
    kernels::write_bounds(&module, &descriptions, &mut edits);
    for (function, spaces) in module.functions.iter().zip(&spaces) {
        if let Some(spaces) = spaces {
            rewrite::function(&module, function, spaces, &mut edits);
            rewrite::global_atomics(&module, function, spaces, &mut edits);
        }
    }
    let text = panics::rewrite(&rewrite::strip_constant_mark(&edits.apply(text)))?;
    let text = version::raised(text);
    let mut findings = findings(&module, &spaces, &descriptions, options);
    findings.extend(lints::by_parser(&text, &options.sources, &options.levels)?);
    Ok(Processed { text, findings })
}

/// The names of the entries that run an instruction, themselves or by the functions that they call. None of a text
/// that cannot be read, which [`Lint::UnknownPtx`] tells.
pub(crate) fn entries_that_run(
    text: &str,
    wanted: impl Fn(&Instruction) -> bool,
) -> HashSet<String> {
    let Ok(module) = ::ptx::parse_undeclared(text) else {
        return HashSet::new();
    };
    Calls::new(&module).entries_that_run(&module, wanted)
}

/// What the lints say of the module.
fn findings(
    module: &Module<'_>,
    spaces: &[Option<Spaces<'_>>],
    descriptions: &[Description],
    options: &Options,
) -> Vec<Finding> {
    let parsed = match ::ptx::parse_undeclared(module.text) {
        Ok(parsed) => parsed,
        Err(error) => {
            let finding = lints::unread(&error, module, descriptions, &options.levels);
            return Vec::from_iter(finding);
        }
    };
    let mixed = module.functions.iter().zip(spaces);
    let left_generic: HashSet<u32> = mixed
        .flat_map(|(function, spaces)| rewrite::left_generic(module, function, spaces.as_ref()))
        .collect();
    let subject = Subject::new(module.text, &parsed, &left_generic, descriptions, options);
    lints::check(&subject, &options.levels)
}
