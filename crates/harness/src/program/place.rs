//! Places: the line of the author's program behind a call, found among its callers.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use recording::{Frame, Module};
use serde::{Deserialize, Serialize};

use super::symbols::Symbols;

/// A place in the author's program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The source file, below the current directory where it is there; the file of machine code where that says
    /// nothing of its source. Empty where no caller is known.
    pub file: String,
    /// The line of the source.
    pub line: Option<u32>,
    /// The function.
    pub function: String,
    /// The function of a library that the line called, such as `cupy.asnumpy`.
    pub through: Option<String>,
}

impl Place {
    /// Whether a caller is known.
    pub fn is_known(&self) -> bool {
        !self.file.is_empty()
    }

    /// The place without the library's function.
    pub(super) fn line(&self) -> Place {
        Place {
            through: None,
            ..self.clone()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}", self.file),
            None if !self.is_known() => formatter.write_str("an unknown caller"),
            None => write!(formatter, "{} in {}", self.function, self.file),
        }
    }
}

/// Finds places.
#[derive(Debug)]
pub(super) struct Places {
    directory: PathBuf,
    modules: Vec<Module>,
    symbols: Symbols,
    /// By address in memory, the innermost first.
    native: HashMap<u64, Vec<Caller>>,
}

/// A caller with all that its place depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: Option<u32>,
    pub(super) owner: Owner,
}

/// Whose code a caller is, the author's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Author,
    /// Text that was executed, as `python -c` does, or a program whose source is not known.
    Unnamed,
    /// A shared object whose source is not known.
    Shared,
    Library,
}

impl Places {
    /// Of a process with these files of machine code, for a reader in `directory`.
    pub(super) fn new(modules: Vec<Module>, directory: &Path) -> Places {
        Places {
            directory: directory.to_owned(),
            modules,
            symbols: Symbols::default(),
            native: HashMap::new(),
        }
    }

    /// The place behind these callers, of which the innermost comes first.
    pub(super) fn of(&mut self, frames: &[Frame]) -> Place {
        let mut callers = Vec::new();
        for frame in frames {
            match frame {
                Frame::Source {
                    function,
                    file,
                    line,
                } => callers.push(Caller {
                    function: function.clone(),
                    file: file.clone(),
                    line: Some(*line),
                    owner: owner_of_python(file),
                }),
                Frame::Native(address) => callers.extend_from_slice(self.at(*address)),
            }
        }
        place(&callers, &self.directory)
    }

    /// The function at an address and those that were inlined there.
    fn at(&mut self, address: u64) -> &[Caller] {
        let (modules, symbols) = (&self.modules, &mut self.symbols);
        self.native.entry(address).or_insert_with(|| {
            let module = modules
                .iter()
                .rfind(|it| (it.start..it.end).contains(&address));
            module.map_or_else(Vec::new, |it| symbols.callers(it, address))
        })
    }
}

fn place(callers: &[Caller], directory: &Path) -> Place {
    let Some(at) = (0..callers.len()).min_by_key(|&at| (callers[at].owner, at)) else {
        return Place::default();
    };
    let caller = &callers[at];
    let below = Path::new(&caller.file).strip_prefix(directory).ok();
    let below = below.and_then(Path::to_str).filter(|it| !it.is_empty());
    Place {
        file: below.unwrap_or(&caller.file).to_owned(),
        line: caller.line,
        function: caller.function.clone(),
        through: at.checked_sub(1).and_then(|at| callers[at].of_library()),
    }
}

impl Caller {
    /// The function with the library's name, such as `cupy.asnumpy`; `None` where it has no name.
    fn of_library(&self) -> Option<String> {
        match library_of_python(&self.file) {
            Some(library) => Some(format!("{library}.{}", self.function)),
            None => Some(self.function.clone()).filter(|it| !it.starts_with("0x")),
        }
    }
}

fn owner_of_python(file: &str) -> Owner {
    match library_of_python(file) {
        Some(_) => Owner::Library,
        None if file.starts_with('<') => Owner::Unnamed,
        None => Owner::Author,
    }
}

/// The package or the module of a file of Python that is installed.
fn library_of_python(file: &str) -> Option<&str> {
    if let Some(module) = file.strip_prefix("<frozen ") {
        return module.trim_end_matches('>').split('.').next();
    }
    let parts: Vec<&str> = file.split('/').collect();
    let is_root = |it: &&str| matches!(*it, "site-packages" | "dist-packages");
    let installed = parts.iter().rposition(is_root);
    // The standard library: lib/python3.12.
    let standard = || {
        let is_lib = |pair: &[&str]| pair[0].starts_with("lib") && pair[1].starts_with("python3");
        parts.windows(2).rposition(is_lib).map(|at| at + 1)
    };
    let name = parts.get(installed.or_else(standard)? + 1)?;
    Some(name.strip_suffix(".py").unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(function: &str, file: &str, line: u32) -> Frame {
        Frame::Source {
            function: function.to_owned(),
            file: file.to_owned(),
            line,
        }
    }

    fn place_of(frames: &[Frame]) -> Place {
        Places::new(Vec::new(), Path::new("/home/me/work")).of(frames)
    }

    #[test]
    fn a_place_is_the_innermost_line_that_is_of_no_library() {
        let place = place_of(&[
            source(
                "asnumpy",
                "/usr/lib/python3/dist-packages/cupy/__init__.py",
                816,
            ),
            source("residual", "/home/me/work/solver/power.py", 38),
            source("<module>", "/home/me/work/run.py", 7),
            source("run_module", "<frozen runpy>", 226),
        ]);
        assert_eq!(place.to_string(), "solver/power.py:38");
        assert_eq!(place.function, "residual");
        assert_eq!(place.through.as_deref(), Some("cupy.asnumpy"));
    }

    #[test]
    fn executed_text_is_named_only_where_nothing_else_is() {
        let text = source("<module>", "<string>", 1);
        let library = source("run", "/opt/conda/lib/python3.12/threading.py", 1012);
        let place = place_of(&[library.clone(), text.clone()]);
        assert_eq!(place.to_string(), "<string>:1");
        let place = place_of(&[text, source("f", "train.py", 3)]);
        assert_eq!(place.to_string(), "train.py:3");
        let place = place_of(&[library]);
        assert_eq!(
            place.to_string(),
            "/opt/conda/lib/python3.12/threading.py:1012"
        );
        assert_eq!(place_of(&[]).to_string(), "an unknown caller");
    }

    #[test]
    fn libraries_of_python_are_known_by_their_folders() {
        let files = [
            (
                "/v/lib/python3.12/site-packages/torch/_tensor.py",
                Some("torch"),
            ),
            ("/usr/lib/python3.12/json/decoder.py", Some("json")),
            ("/v/lib/python3.12/site-packages/six.py", Some("six")),
            ("<frozen importlib._bootstrap>", Some("importlib")),
            ("/home/me/python3/train.py", None),
            ("train.py", None),
        ];
        for (file, library) in files {
            assert_eq!(library_of_python(file), library, "{file}");
        }
    }
}
