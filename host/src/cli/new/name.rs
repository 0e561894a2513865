//! The name of a package.

use std::fmt;
use std::str::FromStr;

/// A name that cargo takes for a package with a library, a program and Ridgepoint's crates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(String);

impl Name {
    /// The library's name in Rust.
    pub(super) fn crate_name(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = Name(text.to_owned());
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !text.starts_with(|first: char| first.is_ascii_alphabetic())
            || !text.bytes().all(is_plain)
        {
            return Err("expected a letter from a to z, then letters, digits, - and _".to_owned());
        }
        let crate_name = name.crate_name();
        if KEYWORDS.contains(&&*crate_name) {
            return Err("it is a Rust keyword: choose another name".to_owned());
        }
        if FORBIDDEN.contains(&text) {
            return Err(
                "cargo reserves this name for a folder of its own: choose another name".to_owned(),
            );
        }
        if TAKEN.contains(&&*crate_name) || crate_name.starts_with(OURS) {
            return Err(
                "the package depends on a crate of this name: choose another name".to_owned(),
            );
        }
        Ok(name)
    }
}

/// Of the editions up to 2024, those in lower case, and `Self`.
const KEYWORDS: [&str; 52] = [
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue",
    "crate", "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if",
    "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Crates whose names the generated package or its lock file cannot have twice.
const TAKEN: [&str; 17] = [
    "alloc",
    "core",
    "cuda_builder",
    "cuda_loader",
    "cuda_std",
    "cupti",
    "find_cuda_helper",
    "gpu_test",
    "kernels",
    "proc_macro",
    "ptx_builder",
    "ptx_std",
    "ptx_std_macros",
    "ridgepoint",
    "simt",
    "std",
    "test",
];

/// Names of programs that cargo refuses.
const FORBIDDEN: [&str; 4] = ["build", "deps", "examples", "incremental"];

/// The beginning of the names of Ridgepoint's own packages.
const OURS: &str = "ridgepoint_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_takes_are_names() {
        for text in ["demo", "a", "my-kernels", "x_2", "Demo"] {
            assert_eq!(
                text.parse::<Name>().map(|name| name.to_string()),
                Ok(text.to_owned())
            );
        }
        assert_eq!(Name("my-kernels".to_owned()).crate_name(), "my_kernels");
    }

    #[test]
    fn other_names_are_refused_with_what_is_allowed() {
        for text in ["", "1st", "-a", "_a", "a b", "a/b", "..", "naïve", "a.b"] {
            let error = text.parse::<Name>().expect_err(text);
            assert!(
                error.contains("letters, digits, - and _"),
                "{text}: {error}"
            );
        }
        for (text, reason) in [
            ("fn", "Rust"),
            ("deps", "cargo"),
            ("ptx-std", "depends on"),
            ("ridgepoint-simt", "depends on"),
            ("kernels", "depends on"),
        ] {
            let error = text.parse::<Name>().expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
