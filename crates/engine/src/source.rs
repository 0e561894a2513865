//! Places in the source, as reports name them.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use ptx::{Body, Location, Module};

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
pub(crate) struct Places {
    /// The innermost function of the kernel's author at or before it: compilers often tell no more than
    /// where what they inlined is from. Else the instruction's own line.
    pub(crate) own: Option<Place>,
    /// Its own line.
    itself: Option<Place>,
}

impl Places {
    /// Where inlined code itself stands, if that is another line than the author's.
    pub(crate) fn callee(&self) -> Option<Place> {
        let line = |it: &Place| (it.file.clone(), it.line);
        let is_other = |it: &&Place| self.own.as_ref().map(line) != Some(line(it));
        self.itself.as_ref().filter(is_other).cloned()
    }
}

/// File and line of an instruction, else its line in the PTX.
pub(crate) fn place(module: &Module, body: &Body, index: usize) -> String {
    match places(module, body, index).own {
        Some(place) => place.to_string(),
        None => format!("line {} of the PTX", body.instructions[index].line),
    }
}

pub(crate) fn places(module: &Module, body: &Body, index: usize) -> Places {
    let known = |at: u32| {
        let location = &body.locations[at as usize];
        let file = module.file(location.file)?;
        (location.line > 0).then_some((file, location))
    };
    let authors = body.instructions[..=index].iter().rev().find_map(|it| {
        let mut next = it.location;
        while let Some(at) = next {
            match known(at) {
                Some((file, location)) if !is_foreign(file) => return Some((file, location)),
                _ => next = body.locations[at as usize].inlined_at,
            }
        }
        None
    });
    let itself = body.instructions[index].location.and_then(known);
    let place = |(file, location): (&str, &Location)| Place {
        file: shortened(file).to_owned(),
        line: location.line,
        column: location.column,
    };
    Places {
        own: authors.or(itself).map(place),
        itself: itself.map(place),
    }
}

/// Files that are not the kernel's author's: the compiler's libraries and ours.
fn is_foreign(file: &str) -> bool {
    file.starts_with("/rustc/")
        || file.starts_with("/usr/src/rustc-") // Debian's.
        || file.contains("/rustlib/src/")
        || file.contains("ptx-std/src/")
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

/// What the author calls a variable: the last part of a name that rustc has mangled.
pub(crate) fn name_of(symbol: &str) -> &str {
    let Some(path) = symbol.strip_prefix("_R") else {
        return symbol;
    };
    // Parts are their lengths in digits and what they say, which may begin with a `_` that does not count.
    let last = (1..path.len()).find_map(|at| {
        let (before, part) = path.split_at_checked(at)?;
        let digits = before.len()
            - before
                .trim_end_matches(|it: char| it.is_ascii_digit())
                .len();
        let length: usize = before[before.len() - digits..].parse().ok()?;
        let part = match part.strip_prefix('_') {
            Some(rest) if rest.len() == length => rest,
            _ => part,
        };
        (part.len() == length && digits > 0).then_some(part)
    });
    last.unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn variables_have_the_names_of_the_source() {
        let names = [
            (
                "_RNvNtCslJq33NdhYKP_19conformance_kernels6memory6PRIMES",
                "PRIMES",
            ),
            ("_RNvNtCs1_7planted9elsewhere11TABLE_OF_12", "TABLE_OF_12"),
            ("TABLE", "TABLE"),
        ];
        for (symbol, name) in names {
            assert_eq!(name_of(symbol), name);
        }
    }
}
