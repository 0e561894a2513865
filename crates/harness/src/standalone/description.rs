//! The description of a launch, from a command line or a launch file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use super::argument::Kind;
use super::run::read_ptx;
use super::variable::{self, Known};
use super::{Argument, Expected, Place, Setting, StandaloneError};
use crate::driver::{LaunchConfig, read_whole};
use crate::workload::whole;

/// The most bytes of a launch file.
const MAX_BYTES: u64 = 1 << 20;

/// Launches, or a part of their description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// The file of PTX.
    pub file: Option<PathBuf>,
    /// The launch.
    pub launch: Step,
    /// Several launches, one after the other, in place of one.
    pub steps: Vec<Step>,
    /// The values that variables begin with.
    pub settings: Vec<Setting>,
    /// The buffers and variables that are wanted.
    pub outputs: Vec<Output>,
    /// The results that there should be.
    pub expected: Vec<Expected>,
    /// The greatest difference of a float from what is expected, relative to that if it is more than 1.
    pub tolerance: Option<f64>,
}

/// A launch of a kernel, or a part of its description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
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
}

impl Step {
    /// This one, and from `other` what it does not say.
    fn or(self, other: Step) -> Step {
        Step {
            kernel: self.kernel.or(other.kernel),
            grid: self.grid.or(other.grid),
            block: self.block.or(other.block),
            shared: self.shared.or(other.shared),
            cooperative: self.cooperative.or(other.cooperative),
            arguments: either(self.arguments, other.arguments),
        }
    }

    fn complete(self, file: &Path) -> Result<LaunchStep, StandaloneError> {
        let missing = |what| StandaloneError::Usage(format!("{what} is missing"));
        let (Some(Extents(grid)), Some(Extents(block))) = (self.grid, self.block) else {
            read_ptx(file)?;
            return Err(match self.grid {
                None => missing("--grid, the number of blocks,"),
                Some(_) => missing("--block, the number of threads per block,"),
            });
        };
        Ok(LaunchStep {
            kernel: self.kernel,
            config: LaunchConfig {
                grid: grid.map(u64::from),
                block,
                dynamic_shared: self.shared.unwrap_or(0),
            },
            is_cooperative: self.cooperative.unwrap_or(false),
            arguments: self.arguments,
        })
    }
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

/// A buffer or a variable that is wanted after the launch: `2`, `2.1` in a structure, or `2=y.bin` for its bytes in a file.
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
    launch: Vec<TomlStep>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    out: Vec<String>,
    #[serde(default)]
    expect: Vec<String>,
    tolerance: Option<f64>,
}

/// A launch of several.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TomlStep {
    kernel: Option<String>,
    grid: Option<Extents>,
    block: Option<Extents>,
    shared: Option<u32>,
    cooperative: Option<bool>,
    #[serde(default)]
    args: Vec<String>,
}

/// A description that is complete but for the kernels' names.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub(super) file: PathBuf,
    /// One at least.
    pub(super) steps: Vec<LaunchStep>,
    pub(super) settings: Vec<Setting>,
    pub(super) outputs: Vec<Output>,
    pub(super) expected: Vec<Expected>,
    pub(super) tolerance: f64,
}

/// One of its launches.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LaunchStep {
    pub(super) kernel: Option<String>,
    pub(super) config: LaunchConfig,
    pub(super) is_cooperative: bool,
    pub(super) arguments: Vec<Argument>,
}

impl Launch {
    /// The arguments of each launch.
    pub(super) fn arguments(&self) -> Vec<Vec<Argument>> {
        self.steps.iter().map(|it| it.arguments.clone()).collect()
    }

    /// Looks at the names of arguments: each is one's alone, and who refers to it comes behind. Places of arguments that have a
    /// name are called by it from here on.
    ///
    /// # Errors
    /// In words.
    pub(super) fn check_names(&mut self) -> Result<(), String> {
        let mut known: Vec<&str> = Vec::new();
        let steps = self.steps.iter().flat_map(|it| &it.arguments);
        let arguments = steps.map(|it| (it.name.as_deref(), &it.kind));
        let settings = self.settings.iter();
        let settings = settings.map(|it| (Some(it.name.as_str()), &it.kind));
        for (name, kind) in arguments.chain(settings) {
            let references = kind.references();
            if let Some(other) = references.iter().find(|it| !known.contains(it)) {
                return Err(format!("@{other}: no argument before it is called {other}"));
            }
            if let Some(name) = name.filter(|it| known.contains(it)) {
                return Err(format!("two arguments or variables are called {name}"));
            }
            known.extend(name);
        }
        let steps = &self.steps;
        let called = |place: &mut Place| {
            let Place::Argument { launch, path } = place else {
                return;
            };
            let argument = steps.get(*launch).and_then(|it| it.arguments.get(path[0]));
            if let Some(name) = argument.and_then(|it| it.name.as_deref()) {
                let parts = path[1..].iter().map(|it| format!(".{it}"));
                *place = Place::Named(name.to_owned() + &parts.collect::<String>());
            }
        };
        self.outputs.iter_mut().for_each(|it| called(&mut it.place));
        self.expected
            .iter_mut()
            .for_each(|it| called(&mut it.place));
        Ok(())
    }

    /// The variables that are set, and then the others that are looked at, where the arguments' memory has these names.
    ///
    /// # Errors
    /// In words: there is no such variable, or its value has other bytes, or nothing is where something is wanted.
    pub(super) fn variables(
        &self,
        module: &ptx::Module,
        names: &[(Place, &str)],
    ) -> Result<Vec<Known>, String> {
        let mut variables = Vec::new();
        for Setting { name, kind } in &self.settings {
            let mut found = variable::find(module, name)?;
            let given = match kind {
                Kind::Buffer(buffer) => Some(buffer.bytes()).filter(|it| *it > 0),
                kind => Some(kind.size() as u64),
            };
            if let Some(given) = given.filter(|it| *it != found.bytes) {
                let bytes = found.bytes;
                return Err(format!("{name} has {bytes} bytes, and its value {given}"));
            }
            found.element = match kind {
                Kind::Buffer(buffer) => buffer.element,
                Kind::Value(element, _) => *element,
                _ => found.element,
            };
            variables.push(found);
        }
        let outputs = self.outputs.iter().map(|it| ("--out", &it.place));
        let expected = self.expected.iter().map(|it| ("--expect", &it.place));
        for (option, place) in outputs.chain(expected) {
            match place {
                place if names.iter().any(|(it, _)| it == place) => {}
                Place::Argument { .. } => {
                    return Err(format!(
                        "{option} {place}: argument {place} is not a buffer; arguments are counted from 0"
                    ));
                }
                Place::Named(name) if variables.iter().all(|it: &Known| it.name != *name) => {
                    let found = variable::find(module, name);
                    variables.push(found.map_err(|error| {
                        format!("{option} {name}: no argument is called so, and {error}")
                    })?);
                }
                Place::Named(_) => {}
            }
        }
        Ok(variables)
    }
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

    /// This description, and from `other` what it does not say. What it says of a launch holds for each of several.
    #[must_use]
    pub fn or(self, other: Description) -> Description {
        let others = other.steps.iter().cloned();
        let steps = others.map(|step| {
            let arguments = step.arguments.clone();
            Step {
                arguments,
                ..self.launch.clone().or(step)
            }
        });
        let steps = either(self.steps, steps.collect());
        Description {
            file: self.file.or(other.file),
            launch: self.launch.or(other.launch),
            steps,
            settings: either(self.settings, other.settings),
            outputs: either(self.outputs, other.outputs),
            expected: either(self.expected, other.expected),
            tolerance: self.tolerance.or(other.tolerance),
        }
    }

    /// The launches.
    ///
    /// # Errors
    /// [`StandaloneError::Usage`]: the file of PTX, the grid or the block is missing, and which option gives it, or arguments are for
    /// several launches;
    /// [`StandaloneError::File`], [`StandaloneError::Ptx`]: the launch is not complete, and the file is not to be read, or is no
    /// PTX, which comes first.
    pub fn complete(self) -> Result<Launch, StandaloneError> {
        let step = self.launch;
        let file = self.file.ok_or_else(|| {
            let missing = "the PTX file, the first argument or `file` of a launch file, is missing";
            StandaloneError::Usage(missing.to_owned())
        })?;
        let steps = match self.steps.is_empty() {
            true => vec![step],
            false if step.arguments.is_empty() => self.steps,
            false => {
                return Err(StandaloneError::Usage(format!(
                    "arguments are given for one launch, and the launch file has {}: give each its own there",
                    self.steps.len()
                )));
            }
        };
        let steps = steps.into_iter().map(|step| step.complete(&file));
        Ok(Launch {
            steps: steps.collect::<Result<_, _>>()?,
            file,
            settings: self.settings,
            outputs: self.outputs,
            expected: self.expected,
            tolerance: self.tolerance.unwrap_or(0.0),
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
    let arguments = |all: &[String]| all.iter().map(argument).collect::<Result<Vec<_>, _>>();
    let output = |text: &String| {
        text.parse().map(|it: Output| Output {
            path: it.path.map(|path| folder.join(path)),
            ..it
        })
    };
    let set = |text: &String| text.parse().map(|it: Setting| it.from_folder(folder));
    let expect = |text: &String| text.parse().map(|it: Expected| it.from_folder(folder));
    if let Some(tolerance) = toml.tolerance.filter(|it| !(*it >= 0.0 && it.is_finite())) {
        return Err(format!(
            "tolerance = {tolerance}: expected a number that is not negative"
        ));
    }
    let mut description = Description {
        file: toml.file.map(|file| folder.join(file)),
        launch: Step {
            kernel: toml.kernel,
            grid: toml.grid,
            block: toml.block,
            shared: toml.shared,
            cooperative: toml.cooperative,
            arguments: arguments(&toml.args)?,
        },
        steps: Vec::new(),
        settings: toml.set.iter().map(set).collect::<Result<_, _>>()?,
        outputs: toml.out.iter().map(output).collect::<Result<_, _>>()?,
        expected: toml.expect.iter().map(expect).collect::<Result<_, _>>()?,
        tolerance: toml.tolerance,
    };
    if !toml.launch.is_empty() && !description.launch.arguments.is_empty() {
        return Err("args stands beside [[launch]]: give each launch its own".to_owned());
    }
    for step in toml.launch {
        let own = Step {
            kernel: step.kernel,
            grid: step.grid,
            block: step.block,
            shared: step.shared,
            cooperative: step.cooperative,
            arguments: arguments(&step.args)?,
        };
        let step = own.or(description.launch.clone());
        description.steps.push(step);
    }
    Ok(description)
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
        assert_eq!(read.launch.block, Some(Extents([32, 8, 1])));
        assert_eq!(read.outputs[0].path, Some("/tmp/y.bin".into()));
        let expected: Argument = "f32[8]=x.bin".parse().expect("an argument");
        assert_eq!(
            read.launch.arguments[1],
            expected.from_folder(Path::new("/tmp"))
        );
        let launch = Description {
            launch: Step {
                grid: Some(Extents([2, 1, 1])),
                ..Step::default()
            },
            ..Description::default()
        };
        let launch = launch.or(read).complete().expect("all is there");
        let [step] = &launch.steps[..] else {
            panic!("one launch")
        };
        assert_eq!(step.config.grid, [2, 1, 1]);
        assert_eq!(step.config.dynamic_shared, 1024);
        assert!(step.is_cooperative);
        assert_eq!(step.arguments.len(), 2);
    }

    #[test]
    fn a_launch_file_has_several_launches_that_share_what_stands_above_them() {
        let text = r#"
            file = "sums.ptx"
            block = 256
            set = ["scale=f32:2"]
            expect = ["sum=f32:32"]
            tolerance = 1e-5
            [[launch]]
            kernel = "blocks"
            grid = 16
            args = ["f32[4096]=ones", "sums=f32[16]"]
            [[launch]]
            kernel = "all"
            grid = 1
            block = 16
            args = ["@sums", "sum=f32[1]"]
        "#;
        let read = parse(text, Path::new("")).expect("a description");
        let mut launch = read.clone().complete().expect("all is there");
        assert_eq!(launch.check_names(), Ok(()));
        let of = |step: &LaunchStep| {
            (
                step.kernel.clone(),
                step.config.grid[0],
                step.config.block[0],
            )
        };
        let steps: Vec<_> = launch.steps.iter().map(of).collect();
        let expected = [("blocks", 16, 256), ("all", 1, 16)];
        let expected = expected.map(|(name, grid, block)| (Some(name.to_owned()), grid, block));
        assert_eq!(steps, expected);
        assert_eq!((launch.tolerance, launch.settings.len()), (1e-5, 1));
        let shorter = Description {
            launch: Step {
                block: Some(Extents([32, 1, 1])),
                ..Step::default()
            },
            ..Description::default()
        };
        let launch = shorter.or(read.clone()).complete().expect("all is there");
        assert!(launch.steps.iter().all(|it| it.config.block[0] == 32));
        let more = Description {
            launch: Step {
                arguments: vec!["u32:1".parse().expect("an argument")],
                ..Step::default()
            },
            ..Description::default()
        };
        let error = more.or(read).complete().expect_err("of which launch?");
        assert!(
            error.to_string().contains("the launch file has 2"),
            "{error}"
        );
    }

    #[test]
    fn names_are_of_one_argument_that_comes_before() {
        for (first, second, expected) in [
            ("@x", "x=f32[1]", "@x: no argument before it is called x"),
            (
                "x=f32[1]",
                "x=f32[1]",
                "two arguments or variables are called x",
            ),
        ] {
            let text =
                format!("file = \"a\"\ngrid = 1\nblock = 1\nargs = [\"{first}\", \"{second}\"]");
            let read = parse(&text, Path::new("")).expect("a description");
            let mut launch = read.complete().expect("all is there");
            assert_eq!(launch.check_names(), Err(expected.to_owned()));
        }
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
            ("out = [\"-y\"]", "expected the number of an argument"),
            ("set = [\"x\"]", "expected NAME=VALUE"),
            ("expect = [\"x\"]", "expected the place of a result"),
            ("tolerance = -1.0", "expected a number that is not negative"),
            (
                "args = [\"u32:1\"]\n[[launch]]\ngrid = 1",
                "beside [[launch]]",
            ),
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
            launch: Step {
                block: Some(Extents([32, 1, 1])),
                ..Step::default()
            },
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
