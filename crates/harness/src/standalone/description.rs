//! The description of a launch, from a command line or a launch file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::run::read_ptx;
use super::{Argument, Place, StandaloneError};
use crate::driver::{LaunchConfig, read_whole};
use crate::workload::whole;

/// The most bytes of a launch file.
const MAX_BYTES: u64 = 1 << 20;

/// A launch, or a part of its description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// The file of PTX.
    pub file: Option<PathBuf>,
    /// The kernel; where it is missing, the only one in the file.
    pub kernel: Option<String>,
    /// Blocks.
    pub grid: Option<Extents>,
    /// Threads per block.
    pub block: Option<Extents>,
    /// Bytes of dynamic shared memory per block.
    pub shared: Option<u32>,
    /// Whether the launch is cooperative.
    pub cooperative: Option<bool>,
    /// An argument for each of the kernel's parameters.
    pub arguments: Vec<Argument>,
    /// The buffers that are wanted.
    pub outputs: Vec<Output>,
}

/// Numbers in x, y and z: `64`, `64,8` or `64,8,1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extents(pub [u32; 3]);

/// As TOML has it: a number or a list.
impl<'de> Deserialize<'de> for Extents {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl<'de> Visitor<'de> for Written {
    type Value = Extents;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one to three whole numbers, such as 64 or [64, 8]")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Extents, E> {
        extent(number).and_then(|x| Extents::of(&[x]).map_err(E::custom))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Extents, A::Error> {
        let mut numbers = Vec::new();
        while let Some(number) = list.next_element()? {
            numbers.push(extent(number)?);
        }
        Extents::of(&numbers).map_err(de::Error::custom)
    }
}

fn extent<E: de::Error>(number: i64) -> Result<u32, E> {
    u32::try_from(number).map_err(|_| {
        E::custom(format!(
            "{number}: expected a whole number from 0 to {}",
            u32::MAX
        ))
    })
}

impl Extents {
    fn of(numbers: &[u32]) -> Result<Extents, String> {
        match *numbers {
            [x] => Ok(Extents([x, 1, 1])),
            [x, y] => Ok(Extents([x, y, 1])),
            [x, y, z] => Ok(Extents([x, y, z])),
            _ => Err(format!(
                "{} numbers, and there are three axes",
                numbers.len()
            )),
        }
    }
}

impl FromStr for Extents {
    type Err = String;

    fn from_str(text: &str) -> Result<Extents, String> {
        let number = whole::<u32>(0..=u64::from(u32::MAX));
        let numbers: Result<Vec<u32>, _> = text.split(',').map(number).collect();
        let expected =
            || format!("{text:?}: expected one to three numbers, such as 64, 2^10 or 64,8");
        Extents::of(&numbers.map_err(|_| expected())?).map_err(|_| expected())
    }
}

/// A buffer that is wanted after the launch: `2`, `2.1` in a structure, or `2=y.bin` for its bytes in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Of which argument, or of which part of one.
    pub place: Place,
    /// Where its bytes go.
    pub path: Option<PathBuf>,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Output, String> {
        let (place, path) = match text.split_once('=') {
            Some((_, "")) => return Err(format!("{text:?} names no file")),
            Some((place, path)) => (place, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let place = place.parse()?;
        Ok(Output { place, path })
    }
}

/// A launch file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Toml {
    file: Option<PathBuf>,
    kernel: Option<String>,
    grid: Option<Extents>,
    block: Option<Extents>,
    shared: Option<u32>,
    cooperative: Option<bool>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    out: Vec<String>,
}

/// A description that is complete but for the kernel's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub(super) file: PathBuf,
    pub(super) kernel: Option<String>,
    pub(super) config: LaunchConfig,
    pub(super) is_cooperative: bool,
    pub(super) arguments: Vec<Argument>,
    pub(super) outputs: Vec<Output>,
}

impl Description {
    /// Reads a launch file. Paths in it begin at its folder.
    ///
    /// # Errors
    /// [`StandaloneError::File`]: the file cannot be read; [`StandaloneError::Usage`]: it is no TOML, or
    /// has a field that a description does not have, and where.
    pub fn read(path: &Path) -> Result<Description, StandaloneError> {
        let text = read_whole(path, MAX_BYTES).and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
        });
        let text = text.map_err(|error| StandaloneError::File {
            path: path.to_owned(),
            error,
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        parse(&text, folder).map_err(|error| {
            StandaloneError::Usage(format!("{}: {}", path.display(), error.trim_end()))
        })
    }

    /// This description, and from `other` what it does not say.
    #[must_use]
    pub fn or(self, other: Description) -> Description {
        Description {
            file: self.file.or(other.file),
            kernel: self.kernel.or(other.kernel),
            grid: self.grid.or(other.grid),
            block: self.block.or(other.block),
            shared: self.shared.or(other.shared),
            cooperative: self.cooperative.or(other.cooperative),
            arguments: either(self.arguments, other.arguments),
            outputs: either(self.outputs, other.outputs),
        }
    }

    /// The launch.
    ///
    /// # Errors
    /// [`StandaloneError::Usage`]: the file of PTX, the grid or the block is missing, and which option gives it;
    /// [`StandaloneError::File`], [`StandaloneError::Ptx`]: the launch is not complete, and the file is not to be read, or is no
    /// PTX, which comes first.
    pub fn complete(self) -> Result<Launch, StandaloneError> {
        let missing = |what| StandaloneError::Usage(format!("{what} is missing"));
        let file = self.file.ok_or_else(|| {
            missing("the PTX file, the first argument or `file` of a launch file,")
        })?;
        let (Some(Extents(grid)), Some(Extents(block))) = (self.grid, self.block) else {
            read_ptx(&file)?;
            return Err(match self.grid {
                None => missing("--grid, the number of blocks,"),
                Some(_) => missing("--block, the number of threads per block,"),
            });
        };
        Ok(Launch {
            file,
            kernel: self.kernel,
            config: LaunchConfig {
                grid: grid.map(u64::from),
                block,
                dynamic_shared: self.shared.unwrap_or(0),
            },
            is_cooperative: self.cooperative.unwrap_or(false),
            arguments: self.arguments,
            outputs: self.outputs,
        })
    }
}

fn either<T>(own: Vec<T>, other: Vec<T>) -> Vec<T> {
    match own.is_empty() {
        true => other,
        false => own,
    }
}

fn parse(text: &str, folder: &Path) -> Result<Description, String> {
    let toml: Toml = toml::from_str(text).map_err(|error| error.to_string())?;
    let argument = |text: &String| text.parse().map(|it: Argument| it.from_folder(folder));
    let output = |text: &String| {
        text.parse().map(|it: Output| Output {
            path: it.path.map(|path| folder.join(path)),
            ..it
        })
    };
    Ok(Description {
        file: toml.file.map(|file| folder.join(file)),
        kernel: toml.kernel,
        grid: toml.grid,
        block: toml.block,
        shared: toml.shared,
        cooperative: toml.cooperative,
        arguments: toml.args.iter().map(argument).collect::<Result<_, _>>()?,
        outputs: toml.out.iter().map(output).collect::<Result<_, _>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_file_has_what_the_options_have() {
        let text = r#"
            file = "saxpy.ptx"
            kernel = "saxpy"
            grid = 64
            block = [32, 8]
            shared = 1024
            cooperative = true
            args = ["u32:5", "f32[8]=x.bin"]
            out = ["1=y.bin"]
        "#;
        let read = parse(text, Path::new("/tmp")).expect("a description");
        assert_eq!(read.file, Some("/tmp/saxpy.ptx".into()));
        assert_eq!(read.block, Some(Extents([32, 8, 1])));
        assert_eq!(read.outputs[0].path, Some("/tmp/y.bin".into()));
        let expected: Argument = "f32[8]=x.bin".parse().expect("an argument");
        assert_eq!(read.arguments[1], expected.from_folder(Path::new("/tmp")));
        let launch = Description {
            grid: Some(Extents([2, 1, 1])),
            ..Description::default()
        };
        let launch = launch.or(read).complete().expect("all is there");
        assert_eq!(launch.config.grid, [2, 1, 1]);
        assert_eq!(launch.config.dynamic_shared, 1024);
        assert!(launch.is_cooperative);
        assert_eq!(launch.arguments.len(), 2);
    }

    #[test]
    fn what_a_launch_file_has_wrong_is_told() {
        for (text, expected) in [
            ("gird = 64", "unknown field `gird`"),
            ("grid = [1, 2, 3, 4]", "4 numbers, and there are three axes"),
            (
                "grid = -1",
                "-1: expected a whole number from 0 to 4294967295",
            ),
            ("block = [32, -8]", "-8: expected a whole number"),
            (
                "grid = \"64\"",
                "expected one to three whole numbers, such as 64 or [64, 8]",
            ),
            ("args = [\"u32\"]", "\"u32\" has no type"),
            ("out = [\"y\"]", "expected the number of an argument"),
        ] {
            let error = parse(text, Path::new("")).expect_err("refused");
            assert!(error.contains(expected), "{error}");
        }
        let error = Description::default()
            .complete()
            .expect_err("nothing is there");
        assert!(error.to_string().contains("the PTX file"), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        let of = |name: &str| Description {
            file: Some(folder.path().join(name)),
            block: Some(Extents([32, 1, 1])),
            ..Description::default()
        };
        let said = |name: &str| of(name).complete().expect_err("no grid").to_string();
        assert!(
            said("nope.ptx").contains("cannot read"),
            "{}",
            said("nope.ptx")
        );
        std::fs::write(folder.path().join("bin.dat"), [0, 1, 2]).expect("writable");
        assert!(!said("bin.dat").contains("--grid"), "{}", said("bin.dat"));
        let empty = ".version 7.0\n.target sm_70\n.address_size 64\n";
        std::fs::write(folder.path().join("a.ptx"), empty).expect("writable");
        assert!(said("a.ptx").contains("--grid"), "{}", said("a.ptx"));
    }

    #[test]
    fn extents_are_one_to_three() {
        assert_eq!("64".parse(), Ok(Extents([64, 1, 1])));
        assert_eq!("64,8".parse(), Ok(Extents([64, 8, 1])));
        assert_eq!("4,3,2".parse(), Ok(Extents([4, 3, 2])));
        assert_eq!("2^10,2".parse(), Ok(Extents([1024, 2, 1])));
        for text in ["", "x", "1,2,3,4", "-1", "64x8"] {
            let error = text.parse::<Extents>().expect_err("refused");
            assert!(error.contains("such as 64, 2^10 or 64,8"), "{error}");
        }
    }
}
