//! Places in the source, as reports name them.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use attributed::{inlined, is_of_author, known};
use ptx::{Body, Location, Module};

pub(crate) use attributed::{Attributed, attributed};
pub(crate) use calls::called_at;
pub use frames::Frame;
pub(crate) use frames::frames;
pub use names::{demangled, name_of};

mod attributed;
mod calls;
mod frames;
mod names;

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file; within the workspace that the process runs in, from its root.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where the compiler knew none.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Where an instruction is from.
#[derive(Default)]
pub(crate) struct Places {
    /// The innermost function of the kernel's author at or before it: compilers often tell no more than
    /// where what they inlined is from. Else the instruction's own line.
    pub(crate) own: Option<Place>,
    /// Its own line.
    itself: Option<Place>,
    /// The author's lines where that function was inlined, the innermost first.
    outer: Vec<Place>,
}

impl Places {
    /// Where inlined code itself stands, if that is another line than the author's.
    pub(crate) fn callee(&self) -> Option<Place> {
        let is_other = |it: &&Place| !self.own.as_ref().is_some_and(|own| own.is_line_of(it));
        self.itself.as_ref().filter(is_other).cloned()
    }

    /// The same as reports name it.
    pub(crate) fn inlined(&self) -> Option<String> {
        let line = |it: Place| format!("{}:{}", in_library(&it.file), it.line);
        self.callee().map(line)
    }

    /// How it came to stand there: what was inlined, and where.
    fn notes(&self) -> impl Iterator<Item = String> {
        let callee = self.inlined().map(|it| format!("inlined: {it}"));
        let outer = self.outer.iter().map(|it| format!("inlined at {it}"));
        callee.into_iter().chain(outer)
    }
}

impl Place {
    fn new(file: &str, location: &Location) -> Place {
        Place {
            file: shortened(file).to_owned(),
            line: location.line,
            column: location.column,
        }
    }

    fn is_line_of(&self, other: &Place) -> bool {
        (&self.file, self.line) == (&other.file, other.line)
    }
}

/// File and line of an instruction, else its line in the PTX; in brackets what was inlined there, where that was
/// inlined, and what `called_at` says of its function.
///
/// Where the compiler says that an instruction is from no line (`.loc 1 0 0`), that of an earlier one would be wrong: it is the
/// PTX's, too.
pub(crate) fn place(module: &Module, body: &Body, index: usize, called_at: &[String]) -> String {
    let places = match is_from_no_line(body, index) {
        true => Places::default(),
        false => places(module, body, index),
    };
    let line = line_of(&places, body, index);
    let notes: Vec<String> = places.notes().chain(called_at.iter().cloned()).collect();
    match notes.is_empty() {
        true => line,
        false => format!("{line} ({})", notes.join(", ")),
    }
}

fn is_from_no_line(body: &Body, index: usize) -> bool {
    let all = inlined(body, body.instructions[index].location);
    let mut lines = all.map(|at| body.locations[at as usize].line).peekable();
    lines.peek().is_some() && lines.all(|line| line == 0)
}

fn line_of(places: &Places, body: &Body, index: usize) -> String {
    match &places.own {
        Some(place) => place.to_string(),
        None => format!("line {} of the PTX", body.instructions[index].line),
    }
}

pub(crate) fn places(module: &Module, body: &Body, index: usize) -> Places {
    let of_author = |at: &u32| is_of_author(module, body, *at);
    let before = body.instructions[..=index].iter().rev();
    let authors = before
        .map(|it| it.location)
        .find_map(|first| inlined(body, first).find(of_author));
    let place =
        |at: u32| known(module, body, at).map(|(file, location)| Place::new(file, location));
    let (own, itself) = (
        authors.and_then(place),
        body.instructions[index].location.and_then(place),
    );
    let mut outer: Vec<Place> = inlined(body, authors)
        .skip(1)
        .filter(|at| of_author(at) && !is_wrapper(body, *at))
        .filter_map(place)
        .collect();
    outer.dedup_by(|next, it| next.is_line_of(it));
    outer.retain(|it| !own.as_ref().is_some_and(|own| own.is_line_of(it)));
    Places {
        own: own.or_else(|| itself.clone()),
        itself,
        outer,
    }
}

/// Whether it is a line that nobody has written: `#[kernel]` makes an entry for each instance of a kernel, which
/// stands where the attribute does, from the first column on.
fn is_wrapper(body: &Body, at: u32) -> bool {
    let (at, entry) = (&body.locations[at as usize], &body.locations[0]);
    at.inlined_at.is_none() && at.column == 1 && (at.file, at.line) == (entry.file, entry.line)
}

/// A file of a library, from the library's root.
fn in_library(file: &str) -> String {
    let (_, within) = file
        .rsplit_once("/rust/library/")
        .or_else(|| file.rsplit_once("/library/"))
        .or_else(|| file.rsplit_once("/include/"))
        .unwrap_or(("", file));
    let within = match within.find(PTX_STD) {
        Some(at) => &within[at..],
        None => within,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in within.split('/') {
        match part {
            ".." if !parts.is_empty() => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Whether lines of a function are known, and none is the author's.
pub(crate) fn is_in_library(module: &Module, body: &Body) -> bool {
    let mut all = 0..body.locations.len() as u32;
    !all.is_empty() && !all.any(|at| attributed::is_of_author(module, body, at))
}

/// Whether ptx-std has chosen the order of an access: it, and not the author's code, calls the function that takes one.
pub(crate) fn is_ordered_by_ptx_std(module: &Module, body: &Body, index: usize) -> bool {
    let takes_order = |it: &&str| is_compilers(it) || is_any_of(it, &TAKE_ORDERS);
    let mut callers = files(module, body, index).skip_while(takes_order);
    let is_called = files(module, body, index)
        .next()
        .is_some_and(|it| takes_order(&it));
    is_called && callers.next().is_some_and(|it| of_ptx_std(it).is_some())
}

/// Whether an instruction is of more than the author has called for by its name: a step of an algorithm of ptx-std, or of a panic.
pub(crate) fn is_step_of_ptx_std(module: &Module, body: &Body, index: usize) -> bool {
    let libraries = || files(module, body, index).take_while(|it| is_foreign(it));
    // A function of a group that is called by another of them: one alone may be a barrier, or an exchange.
    libraries().any(|it| is_any_of(it, &ALGORITHMS))
        || libraries().filter(|it| is_any_of(it, &["group"])).count() > 1
}

/// The files of an instruction's line, of the one where it was inlined, and so on.
fn files<'m>(module: &'m Module, body: &'m Body, index: usize) -> impl Iterator<Item = &'m str> {
    let all = inlined(body, body.instructions[index].location);
    all.filter_map(|at| Some(known(module, body, at)?.0))
}

/// Sources of ptx-std whose functions are given the order of an access.
const TAKE_ORDERS: [&str; 3] = ["arch/nvptx/atomic.rs", "arch/nvptx/memory.rs", "atomic"];

/// Sources of ptx-std whose functions are more than an instruction.
const ALGORITHMS: [&str; 4] = ["arch/nvptx/panic.rs", "cooperative.rs", "io.rs", "math"];

/// Whether a file is one of ptx-std's whose names begin so.
fn is_any_of(file: &str, beginnings: &[&str]) -> bool {
    of_ptx_std(file).is_some_and(|it| beginnings.iter().any(|beginning| it.starts_with(beginning)))
}

/// The name of a file among ptx-std's sources, whose folder may have a version.
fn of_ptx_std(file: &str) -> Option<&str> {
    let (_, within) = file.rsplit_once("ptx-std")?;
    let (version, name) = within.split_once("/src/")?;
    (version.is_empty() || version.starts_with('-') && !version.contains('/')).then_some(name)
}

/// The sources of ptx-std, in any folder.
const PTX_STD: &str = "ptx-std/src/";

/// Files of the compiler's libraries.
fn is_compilers(file: &str) -> bool {
    file.starts_with("/rustc/")
        || file.starts_with("/usr/src/rustc-") // Debian's.
        || file.contains("/rustlib/src/")
}

/// Files that are not the kernel's author's: the compiler's libraries, ours, and crates that cargo has fetched.
pub fn is_foreign(file: &str) -> bool {
    is_compilers(file)
        || file.contains(PTX_STD)
        || file.contains("/registry/src/") // Crates that cargo has fetched.
        || file.contains("/git/checkouts/")
        || file.contains("/targets/x86_64-linux/include/") // CUDA's headers.
        || file.contains("/cuda/include/")
        || file.contains("/bin/..//include/") // Found by nvcc beside itself.
}

/// A path within the workspace that the process runs in, from its root.
fn shortened(file: &str) -> &str {
    static ROOT: LazyLock<Option<String>> = LazyLock::new(|| {
        let here = std::env::current_dir().ok()?;
        let root = here.ancestors().find(|it| it.join("Cargo.lock").exists())?;
        Some(format!("{}/", root.to_str()?))
    });
    let root = ROOT
        .as_deref()
        .filter(|root| Path::new(file).is_absolute() && file.starts_with(root));
    root.map_or(file, |root| &file[root.len()..])
}

#[cfg(test)]
mod tests {
    use super::in_library;

    #[test]
    fn files_of_libraries_are_named_from_their_roots() {
        let files = [
            (
                "/rustc/58cf8f9/library/core/src/ptr/mod.rs",
                "core/src/ptr/mod.rs",
            ),
            (
                "/root/.rustup/toolchains/1.99.1/lib/rustlib/src/rust/library/core/src/../../stdarch/crates/x.rs",
                "stdarch/crates/x.rs",
            ),
            (
                "/home/me/ridgepoint/crates/ptx-std/src/warp.rs",
                "ptx-std/src/warp.rs",
            ),
            ("crates/ptx-std/src/warp.rs", "ptx-std/src/warp.rs"),
            (
                "/usr/local/cuda/bin/..//include/sm_20_atomic_functions.hpp",
                "sm_20_atomic_functions.hpp",
            ),
            ("src/helper.cu", "src/helper.cu"),
        ];
        for (file, named) in files {
            assert_eq!(in_library(file), named);
        }
    }
}
