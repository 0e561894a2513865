//! Places in the source, as reports name them.

use std::path::Path;
use std::sync::LazyLock;

use ptx::{Body, Module};

/// File and line of the innermost function of the kernel's author at or before an instruction: compilers
/// often tell no more than where what they inlined is from. Else the instruction's own line, else that of
/// the PTX.
pub(crate) fn place(module: &Module, body: &Body, index: usize) -> String {
    let own = body.instructions[..=index].iter().rev().find_map(|it| {
        let mut location = it.location;
        while let Some(found) = location.map(|it| &body.locations[it as usize]) {
            match module.file(found.file) {
                Some(file) if found.line > 0 && !is_foreign(file) => {
                    return Some((file, found.line));
                }
                _ => location = found.inlined_at,
            }
        }
        None
    });
    let instruction = &body.instructions[index];
    let any = || {
        let location = &body.locations[instruction.location? as usize];
        let file = module.file(location.file)?;
        (location.line > 0).then_some((file, location.line))
    };
    match own.or_else(any) {
        Some((file, line)) => format!("{}:{line}", shortened(file)),
        None => format!("line {} of the PTX", instruction.line),
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
