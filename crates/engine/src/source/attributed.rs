//! The lines that an instruction stands for.

use ptx::{Body, Location, Module};

use super::{Place, is_foreign, is_wrapper};

/// A line of the author's that an instruction stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attributed {
    pub(crate) place: Place,
    /// Where the line's function was inlined, as an index of [`Body::locations`], which tells copies of a line apart.
    pub(crate) inlined_at: Option<u32>,
}

/// A location of which the compiler knew file and line.
pub(super) fn known<'m>(
    module: &'m Module,
    body: &'m Body,
    at: u32,
) -> Option<(&'m str, &'m Location)> {
    let location = &body.locations[at as usize];
    let file = module.file(location.file)?;
    (location.line > 0).then_some((file, location))
}

/// A location, where it was inlined, where that was, and so on.
pub(super) fn inlined(body: &Body, first: Option<u32>) -> impl Iterator<Item = u32> {
    std::iter::successors(first, |&at| body.locations[at as usize].inlined_at)
}

pub(super) fn is_of_author(module: &Module, body: &Body, at: u32) -> bool {
    known(module, body, at).is_some_and(|(file, _)| !is_foreign(file))
}

/// The author's lines that a location stands for, the innermost first: inlined code is at its own line and at each where
/// it was inlined.
pub(crate) fn attributed(module: &Module, body: &Body, first: u32) -> Vec<Attributed> {
    let authors = inlined(body, Some(first))
        .filter(|&at| is_of_author(module, body, at) && !is_wrapper(body, at));
    let line = |at: u32| {
        let (file, location) = known(module, body, at)?;
        Some(Attributed {
            place: Place::new(file, location),
            inlined_at: location.inlined_at,
        })
    };
    authors.filter_map(line).collect()
}
