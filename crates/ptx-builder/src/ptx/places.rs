//! Lines of the kernels' sources.

use std::fmt;
use std::path::{Path, PathBuf};

use ::ptx::{Body, Location, Module};

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Relative to the kernel crate's workspace where it lies in it.
    pub file: PathBuf,
    /// Counted from 1.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file.display(), self.line)
    }
}

/// Whose sources are the kernels' and whose are libraries'.
///
/// LLVM names only the innermost line of an instruction: for an inlined function of a library it
/// is a line of that library, which tells the kernel's author little.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    /// Paths are shown relative to this folder.
    pub(crate) root: PathBuf,
    /// Folders of the kernel crate and of its path dependencies.
    pub(crate) kernels: Vec<PathBuf>,
    /// Folders of libraries, which may lie in those or around them.
    pub(crate) libraries: Vec<PathBuf>,
}

impl Sources {
    /// The place of the kernels' own sources that the instruction comes from, through inlined
    /// functions of libraries: the last such line at or before it.
    pub(crate) fn place(&self, module: &Module, body: &Body, instruction: usize) -> Option<Place> {
        let location = self.location(module, body, instruction)?;
        let file = Path::new(module.file(location.file)?);
        Some(Place {
            file: file.strip_prefix(&self.root).unwrap_or(file).to_path_buf(),
            line: location.line,
        })
    }

    /// As [`Sources::place`], with the column.
    pub(crate) fn location<'b>(
        &self,
        module: &Module,
        body: &'b Body,
        instruction: usize,
    ) -> Option<&'b Location> {
        (0..=instruction)
            .rev()
            .filter_map(|index| location(body, index))
            .find(|location| {
                let file = module.file(location.file);
                file.is_some_and(|file| self.is_kernels(Path::new(file)))
            })
    }

    /// Whether the instruction is of a library's line.
    pub(crate) fn is_library(&self, module: &Module, body: &Body, instruction: usize) -> bool {
        let location = location(body, instruction);
        let file = location.and_then(|location| module.file(location.file));
        file.is_some_and(|file| self.is_librarys(Path::new(file)))
    }

    /// Whether the innermost of the folders around the file is a library's.
    pub(crate) fn is_librarys(&self, file: &Path) -> bool {
        depth(&self.libraries, file) > depth(&self.kernels, file)
    }

    /// Whether the innermost of the folders around the file is the kernels'.
    fn is_kernels(&self, file: &Path) -> bool {
        depth(&self.kernels, file) > depth(&self.libraries, file)
    }
}

/// The innermost source line of an instruction: that of the inlined function, not that of its caller. LLVM writes
/// line 0 for what comes from none.
pub(crate) fn location(body: &Body, instruction: usize) -> Option<&Location> {
    let location = body.instructions[instruction].location?;
    let location = &body.locations[location as usize];
    (location.line > 0).then_some(location)
}

/// How deep the innermost of the folders around the file lies.
fn depth(folders: &[PathBuf], file: &Path) -> Option<usize> {
    let around = folders.iter().filter(|folder| file.starts_with(folder));
    around.map(|folder| folder.components().count()).max()
}

#[cfg(test)]
mod tests {
    use super::super::lints::testing::parse;
    use super::*;

    fn sources() -> Sources {
        Sources {
            root: "/w".into(),
            kernels: vec!["/w/kernels".into()],
            libraries: vec!["/w/kernels/std".into(), "/w".into()],
        }
    }

    #[test]
    fn the_innermost_folder_says_whose_a_file_is() {
        let is_kernels = |file: &str| sources().is_kernels(Path::new(file));
        assert!(is_kernels("/w/kernels/src/lib.rs"));
        assert!(!is_kernels("/w/kernels/std/src/lib.rs"));
        assert!(!is_kernels("/w/other/src/lib.rs"));
        assert!(!is_kernels("/usr/lib/rustlib/core/src/lib.rs"));
    }

    #[test]
    fn an_inlined_instruction_has_the_place_of_the_kernels_line_before_it() {
        let text = ".entry k() {\n.loc 2 9 1\nbar.sync 0;\n.loc 1 5 7\nadd.s32 %r1, %r1, 1;\n\
            .loc 2 9 1\nbar.sync 0;\n.loc 1 0 0\nret;\n}\n\
            .file 1 \"/w/kernels/src/lib.rs\"\n.file 2 \"/w/kernels/std/src/lib.rs\"\n";
        let module = parse(text);
        let body = module.functions[0].body.as_ref().expect("a body");
        let place = |index| {
            let place = sources().place(&module, body, index);
            place.map(|place| place.to_string())
        };
        assert_eq!(place(0), None);
        for index in 1..4 {
            assert_eq!(place(index).as_deref(), Some("kernels/src/lib.rs:5"));
        }
    }
}
