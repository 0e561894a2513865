//! Lines of the kernels' sources.

use std::fmt;
use std::path::{Path, PathBuf};

use super::body::Body;
use super::instruction::Location;
use super::parse::Module;

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
    pub(crate) fn place(
        &self,
        module: &Module<'_>,
        body: &Body<'_>,
        instruction: usize,
    ) -> Option<Place> {
        let location = self.location(module, body, instruction)?;
        let file = Path::new(module.files.get(&location.file)?);
        Some(Place {
            file: file.strip_prefix(&self.root).unwrap_or(file).to_path_buf(),
            line: location.line,
        })
    }

    /// As [`Sources::place`], with the column.
    pub(crate) fn location(
        &self,
        module: &Module<'_>,
        body: &Body<'_>,
        instruction: usize,
    ) -> Option<Location> {
        body.instructions[..=instruction]
            .iter()
            .rev()
            .filter_map(|one| one.location)
            .find(|location| {
                let file = module.files.get(&location.file);
                file.is_some_and(|file| self.is_kernels(Path::new(file)))
            })
    }

    /// Whether the line is a library's.
    pub(crate) fn is_library(&self, module: &Module<'_>, location: Option<Location>) -> bool {
        let file = location.and_then(|location| module.files.get(&location.file));
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

/// How deep the innermost of the folders around the file lies.
fn depth(folders: &[PathBuf], file: &Path) -> Option<usize> {
    let around = folders.iter().filter(|folder| file.starts_with(folder));
    around.map(|folder| folder.components().count()).max()
}

#[cfg(test)]
mod tests {
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
        let module = Module::parse(text).expect("PTX");
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
