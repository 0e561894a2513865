//! The crate `half` as it is compiled for GPUs.
//!
//! It converts by instructions on x86 and aarch64, and in integer code elsewhere, at some twenty instructions for a number. So
//! the nested build compiles a copy in which conversions, sums and comparisons are those of `half/instructions.rs`. Cargo
//! puts the copy in the place of the dependency (`paths` of its configuration) without a change to the lock file. The
//! copy is made of the sources that the lock file names: all else of the crate is theirs.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Package;

use crate::nested::KernelCrate;
use crate::{CudaBuilderError, source, write};

const NAME: &str = "half";

const INSTRUCTIONS: &str = include_str!("half/instructions.rs");

/// Conversions with a form for compile time, `NAME_fallback`, which the crate uses at run time, too.
const CONVERSIONS: [&str; 4] = ["f32_to_f16", "f64_to_f16", "f16_to_f32", "f16_to_f64"];

/// Parts of `bfloat.rs`, each of which stands there once.
const OF_BFLOAT: [(&str, &str); 5] = [
    (
        "Self::from_f32_const(value)",
        "bf16(crate::gpu::f32_to_bf16(value))",
    ),
    ("self.to_f32_const()", "crate::gpu::bf16_to_f32(self.0)"),
    ("self.to_f64_const()", "f64::from(self.to_f32())"),
    (
        "Self::from_f32(Self::to_f32(self) + Self::to_f32(rhs))",
        "bf16(crate::gpu::add_bf16(self.0, rhs.0))",
    ),
    (
        "Self::from_f32(Self::to_f32(self) - Self::to_f32(rhs))",
        "bf16(crate::gpu::subtract_bf16(self.0, rhs.0))",
    ),
];

/// Whether the crate is replaced, and otherwise why not.
pub(crate) enum Half {
    /// The kernels do not have it, or have it by a path.
    None,
    /// The folder of the copy.
    Copied(PathBuf),
    /// Its sources are none that are known: the text for the kernels' author, if they use it.
    Unknown(Option<String>),
}

impl Half {
    /// Puts the copy into the folder.
    ///
    /// # Errors
    /// A source cannot be read, or the copy cannot be written.
    pub(crate) fn prepare(kernels: &KernelCrate, folder: &Path) -> Result<Half, CudaBuilderError> {
        let all = kernels.packages_named(NAME);
        let [half] = all[..] else {
            return match all.len() {
                0 => Ok(Half::None),
                _ => advice(kernels, "there are several versions of it").map(Half::Unknown),
            };
        };
        if half.source.is_none() {
            return Ok(Half::None);
        }
        let original = half.manifest_path.parent().unwrap_or(&half.manifest_path);
        let mut files = Vec::new();
        read_files(original.as_std_path(), Path::new(""), &mut files)?;
        if edit(&mut files).is_none() {
            return advice(kernels, &unknown(half)).map(Half::Unknown);
        }
        let copy = folder.join(format!("{NAME}-{}", half.version));
        for File { path, text } in &files {
            let target = copy.join(path);
            let parent = target.parent().unwrap_or(&copy);
            fs::create_dir_all(parent)
                .map_err(|error| CudaBuilderError::io("create", parent, error))?;
            write(&target, text)?;
        }
        Ok(Half::Copied(copy))
    }

    /// Cargo's arguments that have it compile the copy.
    pub(crate) fn arguments(&self) -> Vec<String> {
        match self {
            Half::Copied(folder) => {
                vec!["--config".to_owned(), format!("paths=[{folder:?}]")]
            }
            Half::None | Half::Unknown(_) => Vec::new(),
        }
    }
}

fn unknown(half: &Package) -> String {
    let version = &half.version;
    format!(
        "the builder does not know the sources of {version}, but those of 2.3.1 to 2.7.1 (`cargo update {NAME}`)"
    )
}

/// Returns a text for the kernels' author, if a source of the kernel crate names the types.
fn advice(kernels: &KernelCrate, reason: &str) -> Result<Option<String>, CudaBuilderError> {
    let root = kernels.workspace();
    for file in source::rust_files(&[kernels.folder().to_path_buf()])? {
        let text = fs::read_to_string(&file)
            .map_err(|error| CudaBuilderError::io("read", &file, error))?;
        let line = source::code(&text).position(|line| line.contains("f16"));
        if let Some(line) = line {
            let file = file.strip_prefix(root).unwrap_or(&file);
            return Ok(Some(format!(
                "{}:{}: the crate `{NAME}` converts in integer code here, some twenty instructions for a number: {reason}",
                file.display(),
                line + 1
            )));
        }
    }
    Ok(None)
}

/// A file of the crate, by its path in there.
struct File {
    path: PathBuf,
    text: String,
}

fn read_files(root: &Path, folder: &Path, files: &mut Vec<File>) -> Result<(), CudaBuilderError> {
    let whole = root.join(folder);
    let unreadable = |error| CudaBuilderError::io("read", &whole, error);
    for entry in fs::read_dir(&whole).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
        if entry.file_type().map_err(unreadable)?.is_dir() {
            read_files(root, &path, files)?;
        } else if path.extension().is_some_and(|it| it == "rs") || name == "Cargo.toml" {
            let text = fs::read_to_string(root.join(&path)).map_err(unreadable)?;
            // Some versions have the line ends of Windows.
            let text = text.replace("\r\n", "\n");
            files.push(File { path, text });
        }
    }
    Ok(())
}

/// Has the sources use the instructions, or returns nothing where a part is not as it is known.
fn edit(files: &mut Vec<File>) -> Option<()> {
    let arch = text(files, "src/binary16/arch.rs")?;
    for name in CONVERSIONS {
        convert_by_instructions(arch, name)?;
    }
    compare_as_f32(text(files, "src/binary16.rs")?, "f16")?;
    let bfloat = text(files, "src/bfloat.rs")?;
    for (part, other) in OF_BFLOAT {
        let (before, after) = bfloat.split_once(part)?;
        if after.contains(part) {
            return None;
        }
        *bfloat = format!("{before}{other}{after}");
    }
    compare_as_f32(bfloat, "bf16")?;
    let library = text(files, "src/lib.rs")?;
    // On the first line, so that the others keep their numbers.
    *library = format!("#![feature(asm_experimental_arch, f16)] {library}\nmod gpu;\n");
    // A package of its own, whatever workspace lies around the copy.
    text(files, "Cargo.toml")?.push_str("\n[workspace]\n");
    files.push(File {
        path: "src/gpu.rs".into(),
        text: INSTRUCTIONS.to_owned(),
    });
    Some(())
}

fn text<'f>(files: &'f mut [File], path: &str) -> Option<&'f mut String> {
    let mut files = files.iter_mut();
    let file = files.find(|file| file.path == Path::new(path))?;
    Some(&mut file.text)
}

/// Puts the instruction in the place of each use of the conversion in integer code.
fn convert_by_instructions(text: &mut String, name: &str) -> Option<()> {
    let fallback = format!("{name}_fallback");
    let definition = format!("fn {fallback}(");
    let (before, after) = text.split_once(&definition)?;
    let instruction = format!("crate::gpu::{name}");
    let [before, after] = [before, after].map(|part| part.replace(&fallback, &instruction));
    let used = before.contains(&format!("{instruction}("));
    *text = format!("{before}{definition}{after}");
    used.then_some(())
}

/// Compares by way of `f32`, which is exact.
fn compare_as_f32(text: &mut String, float: &str) -> Option<()> {
    let method = |name: &str, operator: &str| {
        format!(
            "#[inline]\nfn {name}(&self, other: &{float}) -> bool {{ self.to_f32() {operator} other.to_f32() }}\n"
        )
    };
    let ordered = [("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
        .map(|(name, operator)| method(name, operator));
    let partial = format!(
        "#[inline]\nfn partial_cmp(&self, other: &{float}) -> Option<Ordering> {{ \
         self.to_f32().partial_cmp(&other.to_f32()) }}\n{}",
        ordered.concat()
    );
    for (name, methods) in [("PartialEq", method("eq", "==")), ("PartialOrd", partial)] {
        let header = format!("impl {name} for {float} {{\n");
        let (before, after) = text.split_once(&header)?;
        let (_, after) = after.split_once("\n}\n")?;
        *text = format!("{before}{header}{methods}}}\n{after}");
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels() -> KernelCrate {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels-gpu");
        KernelCrate::open(&folder).expect("it is there")
    }

    /// The files of the crate, as the workspace has it.
    fn originals() -> Vec<File> {
        let kernels = kernels();
        let half = kernels.packages_named(NAME)[0];
        let folder = half.manifest_path.parent().expect("a folder");
        let mut files = Vec::new();
        read_files(folder.as_std_path(), Path::new(""), &mut files).expect("they are there");
        files
    }

    #[test]
    fn the_copy_differs_from_the_crate_in_what_is_computed_by_instructions() {
        let folder = tempfile::tempdir().expect("a folder");
        let half = Half::prepare(&kernels(), folder.path()).expect("it can be copied");
        let Half::Copied(copy) = &half else {
            panic!("the sources of the workspace's version are not known");
        };
        assert_eq!(half.arguments(), ["--config", &format!("paths=[{copy:?}]")]);
        let read = |path: &Path| fs::read_to_string(copy.join(path)).expect("it was copied");
        let mut changed = Vec::new();
        for File { path, text } in originals() {
            if read(&path) != text {
                changed.push(path.display().to_string());
            }
        }
        changed.sort();
        let expected = [
            "Cargo.toml",
            "src/bfloat.rs",
            "src/binary16.rs",
            "src/binary16/arch.rs",
            "src/lib.rs",
        ];
        assert_eq!(changed, expected);
        assert_eq!(read(Path::new("src/gpu.rs")), INSTRUCTIONS);
        let arch = read(Path::new("src/binary16/arch.rs"));
        for name in CONVERSIONS {
            // In its definition alone.
            assert_eq!(
                arch.matches(&format!("{name}_fallback")).count(),
                1,
                "{name}"
            );
        }
        // A second build finds the same files, and so compiles nothing again.
        let written = || fs::metadata(copy.join("src/lib.rs")).and_then(|it| it.modified());
        let before = written().expect("a time");
        Half::prepare(&kernels(), folder.path()).expect("it can be copied");
        assert_eq!(written().expect("a time"), before);
    }

    #[test]
    fn sources_of_another_shape_are_left_as_they_are() {
        assert!(edit(&mut originals()).is_some());
        let parts = OF_BFLOAT.map(|(part, _)| ("src/bfloat.rs", part));
        let others = [
            ("src/bfloat.rs", "impl PartialOrd for bf16 {"),
            ("src/binary16.rs", "impl PartialEq for f16 {"),
            ("src/binary16/arch.rs", "fn f32_to_f16_fallback("),
        ];
        for (path, part) in parts.into_iter().chain(others) {
            let mut files = originals();
            let text = text(&mut files, path).expect("it is there");
            assert!(text.contains(part), "{part}");
            *text = text.replace(part, "");
            assert!(edit(&mut files).is_none(), "{part}");
        }
        assert!(edit(&mut Vec::new()).is_none());
    }

    #[test]
    fn who_uses_halves_is_told_why_they_are_slow() {
        let advice = |folder: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let kernels = KernelCrate::open(&folder).expect("it is there");
            advice(&kernels, "a reason").expect("sources can be read")
        };
        let text = advice("../../examples/kernels").expect("some use them");
        assert!(text.starts_with("examples/kernels/src/"), "{text}");
        assert!(text.ends_with(": a reason"), "{text}");
        assert_eq!(advice("../material/conformance/panicking"), None);
    }
}
