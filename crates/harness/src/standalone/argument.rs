//! An argument as people write it: `u32:5`, `f32[1024]=random`.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs};

use fastrand::Rng;

use super::StandaloneError;
use super::element::{Element, integer};
use super::place::{Place, is_name};
use super::structure::Structure;
use super::texture::Texture;
use crate::driver::{free_host_memory, read_whole};

/// An argument of a launch for a parameter of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// As it was written.
    text: String,
    /// The name by which others refer to its memory.
    pub(super) name: Option<String>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// A number of a type.
    Value(Element, Vec<u8>),
    /// A structure: its bytes.
    Bytes(Vec<u8>),
    /// A structure: its parts.
    Structure(Structure),
    /// A pointer to memory.
    Buffer(Buffer),
    /// A pointer to a structure in memory: to pointers, too.
    Pointer(Structure),
    /// A pointer to the memory of another argument, by its name.
    Same(String),
    /// A texture or surface object.
    Texture(Texture),
}

impl Kind {
    /// Whether it is memory of the launch's own, and the argument a pointer to it.
    pub(super) fn is_memory(&self) -> bool {
        matches!(self, Kind::Buffer(_) | Kind::Pointer(_))
    }

    /// Bytes of the argument itself.
    pub(super) fn size(&self) -> usize {
        match self {
            Kind::Value(_, bytes) | Kind::Bytes(bytes) => bytes.len(),
            Kind::Buffer(_) | Kind::Pointer(_) | Kind::Same(_) | Kind::Texture(_) => POINTER,
            Kind::Structure(structure) => {
                let sizes = structure.bytes(|_, part| Ok::<_, Infallible>(vec![0; part.size()]));
                sizes.map_or_else(|never| match never {}, |bytes| bytes.len())
            }
        }
    }

    pub(super) fn alignment(&self) -> usize {
        match self {
            Kind::Value(element, _) => element.bytes(),
            Kind::Bytes(_) => 1,
            Kind::Buffer(_) | Kind::Pointer(_) | Kind::Same(_) | Kind::Texture(_) => POINTER,
            Kind::Structure(structure) => structure.alignment(),
        }
    }

    /// Bytes of all memory of the launch's own that it has or reaches, as far as that is said.
    pub(super) fn memory_bytes(&self) -> u64 {
        let of_parts = |structure: &Structure| {
            let bytes = structure.parts.iter().map(Kind::memory_bytes);
            bytes.fold(0, u64::saturating_add)
        };
        match self {
            Kind::Value(..) | Kind::Bytes(_) | Kind::Same(_) => 0,
            Kind::Buffer(buffer) | Kind::Texture(Texture { buffer, .. }) => buffer.bytes(),
            Kind::Structure(structure) => of_parts(structure),
            Kind::Pointer(structure) => {
                of_parts(structure).saturating_add(Kind::Structure(structure.clone()).size() as u64)
            }
        }
    }

    /// The names of other arguments' memory that it has or reaches.
    pub(super) fn references(&self) -> Vec<&str> {
        match self {
            Kind::Same(name) => vec![name],
            Kind::Structure(structure) | Kind::Pointer(structure) => {
                let parts = structure.parts.iter();
                parts.flat_map(Kind::references).collect()
            }
            Kind::Value(..) | Kind::Bytes(_) | Kind::Buffer(_) | Kind::Texture(_) => Vec::new(),
        }
    }

    pub(super) fn join_paths(&mut self, folder: &Path) {
        match self {
            Kind::Buffer(buffer) | Kind::Texture(Texture { buffer, .. }) => {
                if let Fill::File(path) = &mut buffer.fill {
                    *path = folder.join(&*path);
                }
            }
            Kind::Structure(structure) | Kind::Pointer(structure) => {
                structure
                    .parts
                    .iter_mut()
                    .for_each(|it| it.join_paths(folder));
            }
            Kind::Value(..) | Kind::Bytes(_) | Kind::Same(_) => {}
        }
    }
}

/// Bytes of a pointer.
const POINTER: usize = 8;

/// Memory of the launch's own.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buffer {
    pub(super) element: Element,
    /// `None`: what the file has.
    len: Option<usize>,
    fill: Fill,
}

/// The first contents of a buffer.
#[derive(Clone, Debug, PartialEq)]
enum Fill {
    /// Uninitialised: a kernel that reads it is reported.
    Nothing,
    /// Each element is this number.
    Constant(Vec<u8>),
    /// 0, 1, 2 and so on.
    Iota,
    /// Floats from 0 to 1, and whole numbers of any bits; or numbers below a limit.
    Random(Option<u64>),
    /// The bytes of a file.
    File(PathBuf),
}

impl Argument {
    /// The same, with a file's path from this folder on.
    #[must_use]
    pub fn from_folder(mut self, folder: &Path) -> Argument {
        self.kind.join_paths(folder);
        self
    }
}

/// As it was written.
impl fmt::Display for Argument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Argument {
    type Err = String;

    fn from_str(text: &str) -> Result<Argument, String> {
        let (name, rest) = match text.split_once('=') {
            Some((name, rest)) if is_name(name) => (Some(name.to_owned()), rest),
            _ => (None, text),
        };
        let kind = kind(rest).map_err(|error| {
            format!(
                "{error}; an argument is a value such as u32:5 or f32:2.5, a buffer such as \
                 f32[1024]=random, or a structure such as {{f32[1024]=random,u32:5}}"
            )
        })?;
        if let Some(name) = name.as_ref().filter(|_| !kind.is_memory()) {
            return Err(format!(
                "{text:?}: {name} would name no memory; a name is for a buffer such as f32[1024]=random"
            ));
        }
        Ok(Argument {
            text: text.to_owned(),
            name,
            kind,
        })
    }
}

pub(super) fn kind(text: &str) -> Result<Kind, String> {
    let (pointed, is_pointer) = match text.strip_prefix('&') {
        Some(pointed) => (pointed, true),
        None => (text, false),
    };
    if Texture::is_meant(text) {
        return Texture::parse(text).map(Kind::Texture);
    }
    if let Some(name) = text.strip_prefix('@') {
        return match is_name(name) {
            true => Ok(Kind::Same(name.to_owned())),
            false => Err(format!("{name:?} is no name")),
        };
    }
    if let Some(parts) = pointed.strip_prefix('{') {
        let parts = parts.strip_suffix('}');
        let structure = Structure::parse(parts.ok_or_else(|| format!("{text:?} has no }}"))?)?;
        return Ok(match is_pointer {
            true => Kind::Pointer(structure),
            false => Kind::Structure(structure),
        });
    }
    if let Some((ty, rest)) = text.split_once('[') {
        let element = Element::parse(ty)?;
        let (len, fill) = rest
            .split_once(']')
            .ok_or_else(|| format!("{text:?} has no ]"))?;
        return buffer(element, len, fill).map(Kind::Buffer);
    }
    match text.split_once(':') {
        Some(("bytes", digits)) => hexadecimal(digits).map(Kind::Bytes),
        Some((ty, value)) => {
            let element = Element::parse(ty)?;
            Ok(Kind::Value(element, element.value(value)?))
        }
        None => Err(format!("{text:?} has no type")),
    }
}

pub(super) fn buffer(element: Element, len: &str, fill: &str) -> Result<Buffer, String> {
    let fill = match fill.strip_prefix('=') {
        Some(fill) => Fill::parse(element, fill)?,
        None if fill.is_empty() => Fill::Nothing,
        None => return Err(format!("{fill:?} stands where = is expected")),
    };
    let is_file = matches!(fill, Fill::File(_));
    let len = match integer(len).and_then(|len| usize::try_from(len).ok()) {
        Some(len) => Some(len),
        None if len.is_empty() && is_file => None,
        None => return Err(format!("{len:?} is no number of elements")),
    };
    Ok(Buffer { element, len, fill })
}

impl Fill {
    fn parse(element: Element, text: &str) -> Result<Fill, String> {
        Ok(match text {
            "zeros" => Fill::Constant(element.integer(0)),
            "ones" => Fill::Constant(element.integer(1)),
            "iota" => Fill::Iota,
            "random" => Fill::Random(None),
            "" => return Err("nothing stands behind =".to_owned()),
            _ => match (text.strip_prefix("random:"), element.value(text)) {
                (Some(limit), _) => Fill::Random(Some(Fill::limit(element, limit)?)),
                (None, Ok(constant)) => Fill::Constant(constant),
                (None, Err(_)) if text.contains(['.', '/']) => Fill::File(text.into()),
                (None, Err(_)) => {
                    return Err(format!(
                        "{text:?}: expected zeros, ones, iota, random, random:LIMIT, a number of the \
                         type, or a file"
                    ));
                }
            },
        })
    }
}

impl Fill {
    /// Parses the limit that random numbers of the type are below.
    fn limit(element: Element, text: &str) -> Result<u64, String> {
        let limit = integer(text).filter(|limit| *limit > 0);
        let limit = limit.and_then(|limit| u64::try_from(limit).ok());
        let limit = limit.ok_or_else(|| format!("{text:?} is no limit of random numbers"))?;
        let greatest = element.greatest();
        match i128::from(limit) - 1 <= greatest {
            true => Ok(limit),
            false => Err(format!(
                "random:{text}: the numbers of a buffer of {} are {greatest} at most",
                element.name()
            )),
        }
    }
}

impl Buffer {
    /// Whether it begins with values.
    pub(super) fn has_values(&self) -> bool {
        self.fill != Fill::Nothing
    }

    /// How many bytes it has, as far as that is said, or its file can be asked.
    pub(super) fn bytes(&self) -> u64 {
        let size = self.element.bytes() as u64;
        match (self.len, &self.fill) {
            (None, Fill::File(path)) => fs::metadata(path).map_or(0, |it| it.len()),
            (len, _) => (len.unwrap_or_default() as u64).saturating_mul(size),
        }
    }

    /// Returns its first contents: all bytes, or how many there are of uninitialised memory. The same each time, and in
    /// buffers of other places another.
    pub(super) fn contents(&self, place: &Place) -> Result<Contents, StandaloneError> {
        let (len, size) = (self.len.unwrap_or_default(), self.element.bytes());
        let (bytes, free) = (len.checked_mul(size), free_host_memory());
        if bytes.is_none_or(|bytes| bytes as u64 > free) {
            return Err(StandaloneError::Usage(format!(
                "a buffer of {len} elements of {size} bytes: {free} bytes of memory are free"
            )));
        }
        Ok(Contents::Written(match &self.fill {
            Fill::Nothing => return Ok(Contents::Unwritten(len * size)),
            Fill::Constant(value) => value.repeat(len),
            Fill::Iota => (0..len as i128)
                .flat_map(|it| self.element.integer(it))
                .collect(),
            Fill::Random(limit) => self.random(len, *limit, place.seed()),
            Fill::File(path) => self.read(path)?,
        }))
    }

    fn random(&self, len: usize, limit: Option<u64>, seed: u64) -> Vec<u8> {
        let mut rng = Rng::with_seed(seed);
        let is_float = self.element.is_float();
        let mut bytes = Vec::with_capacity(len * self.element.bytes());
        for _ in 0..len {
            bytes.extend(match limit {
                _ if is_float => self.element.float(rng.f64() * limit.unwrap_or(1) as f64),
                Some(limit) => self.element.integer(rng.u64(..limit).into()),
                None => self.element.integer(rng.u64(..).into()),
            });
        }
        bytes
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, StandaloneError> {
        let size = self.element.bytes();
        let bytes =
            read_whole(path, free_host_memory()).map_err(|error| StandaloneError::File {
                path: path.to_owned(),
                error,
            })?;
        let expected = self
            .len
            .map_or(bytes.len().next_multiple_of(size), |len| len * size);
        match bytes.len() == expected {
            true => Ok(bytes),
            false => Err(StandaloneError::Usage(format!(
                "{} has {} bytes, and the buffer {expected}, of {size} each",
                path.display(),
                bytes.len()
            ))),
        }
    }
}

/// The first contents of a buffer.
pub(super) enum Contents {
    /// So many bytes.
    Unwritten(usize),
    Written(Vec<u8>),
}

fn hexadecimal(digits: &str) -> Result<Vec<u8>, String> {
    let refused = || format!("{digits:?} is no row of bytes, two hexadecimal digits each");
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return Err(refused());
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| refused()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<u8> {
        let argument: Argument = text.parse().unwrap_or_else(|error| panic!("{error}"));
        let Kind::Buffer(buffer) = argument.kind else {
            panic!("{text} is no buffer")
        };
        match buffer.contents(&Place::argument(3)).expect("contents") {
            Contents::Written(bytes) => bytes,
            Contents::Unwritten(bytes) => panic!("{bytes} unwritten bytes"),
        }
    }

    #[test]
    fn fills_are_those_that_were_asked_for() {
        assert_eq!(contents("u8[3]=zeros"), [0; 3]);
        assert_eq!(contents("u8[3]=7"), [7; 3]);
        assert_eq!(contents("u16[2]=ones"), [1, 0, 1, 0]);
        assert_eq!(contents("u8[2^2]=iota"), [0, 1, 2, 3]);
        let floats = contents("f32[100]=random");
        let floats = floats.as_chunks().0.iter();
        let floats: Vec<f32> = floats.map(|it| f32::from_le_bytes(*it)).collect();
        assert!(floats.iter().all(|it| (0.0..1.0).contains(it)));
        assert!(floats.windows(2).any(|it| it[0] != it[1]));
        assert!(contents("u8[100]=random:5").iter().all(|it| *it < 5));
        assert!(contents("u8[1000]=random:256").iter().any(|it| *it > 200));
        assert!(contents("i8[100]=random:128").iter().all(|it| *it < 128));
        assert!(contents("u8[1000]=random").iter().any(|it| *it > 200));
        assert_eq!(contents("u8[9]=random"), contents("u8[9]=random"));
    }

    #[test]
    fn parts_of_a_structure_lie_as_in_c() {
        let size = |text: &str| text.parse::<Argument>().expect("a structure").kind.size();
        assert_eq!(size("{u8:1,u32:5}"), 8);
        assert_eq!(size("{u32:5,f32[8]=ones,u8:1}"), 24);
        assert_eq!(size("{bytes:000102,u8:1}"), 4);
        assert_eq!(size("{u8:1,{u16:2,u8:3},u8:4}"), 8);
        assert_eq!(size("&{f32[8],f32[8]}"), 8);
        let parsed: Argument = "{u8:1,u32:5}".parse().expect("a structure");
        let Kind::Structure(structure) = parsed.kind else {
            panic!("no structure")
        };
        let bytes = structure.bytes(|_, part| match part {
            Kind::Value(_, bytes) => Ok(bytes.clone()),
            _ => Err("no value"),
        });
        assert_eq!(bytes, Ok(vec![1, 0, 0, 0, 5, 0, 0, 0]));
        let reached: Argument = "{&{u8[5],u8[6]},u8[7]}".parse().expect("a structure");
        assert_eq!(reached.kind.memory_bytes(), 5 + 6 + 16 + 7);
    }

    #[test]
    fn memory_has_a_name_for_others() {
        let of = |text: &str| text.parse::<Argument>().expect("an argument");
        assert_eq!(of("x=f32[8]=ones").name.as_deref(), Some("x"));
        assert_eq!(of("x=f32[8]=ones").kind, of("f32[8]=ones").kind);
        assert_eq!(of("rows=&{f32[8],@x}").kind.references(), ["x"]);
        assert_eq!(of("@x").kind.size(), 8);
        let error = "x=u32:5".parse::<Argument>().expect_err("no memory");
        assert!(error.contains("x would name no memory"), "{error}");
    }

    #[test]
    fn a_file_fills_a_buffer_of_its_size() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("x.bin"), [1, 2, 3, 4]).expect("written");
        let of = |text: &str| {
            let argument: Argument = text.parse().expect("an argument");
            let Kind::Buffer(buffer) = argument.from_folder(folder.path()).kind else {
                panic!("{text} is no buffer")
            };
            match buffer.contents(&Place::argument(0)) {
                Ok(Contents::Written(bytes)) => Ok(bytes),
                Ok(Contents::Unwritten(_)) => panic!("unwritten"),
                Err(error) => Err(error.to_string()),
            }
        };
        assert_eq!(of("u16[2]=x.bin"), Ok(vec![1, 2, 3, 4]));
        assert_eq!(of("u16[]=x.bin"), Ok(vec![1, 2, 3, 4]));
        let error = of("u16[3]=x.bin").expect_err("too short");
        assert!(error.contains("has 4 bytes, and the buffer 6"), "{error}");
        assert!(of("u64[]=x.bin").is_err());
        assert!(of("u16[2]=y.bin").is_err());
    }

    #[test]
    fn what_is_no_argument_is_refused_with_the_reason() {
        for (text, expected) in [
            ("5", "\"5\" has no type"),
            ("int:5", "\"int\" is not one of the types"),
            ("u32:x", "\"x\" is no u32"),
            ("f32[10", "has no ]"),
            ("f32[x]", "\"x\" is no number of elements"),
            ("f32[]", "\"\" is no number of elements"),
            ("f32[10]random", "where = is expected"),
            ("f32[10]=", "nothing stands behind ="),
            ("f32[10]=noise", "\"noise\": expected zeros"),
            ("u8[10]=random:0", "no limit"),
            ("u8[10]=random:257", "a buffer of u8 are 255 at most"),
            ("i8[10]=random:129", "a buffer of i8 are 127 at most"),
            ("f16[10]=random:65506", "a buffer of f16 are 65504 at most"),
            ("bytes:abc", "two hexadecimal digits"),
            ("{u32:5", "has no }"),
            (&"{".repeat(1 << 20), "has no }"),
            (
                &format!("{}u8:1{}", "{".repeat(17), "}".repeat(17)),
                "more than 16 deep",
            ),
            ("{}", "\"\" has no type"),
            ("{u32:5,{f32[8]=noise}}", "\"noise\": expected zeros"),
            ("&u32:5", "\"&u32\" is not one of the types"),
            ("@", "\"\" is no name"),
        ] {
            let error = text.parse::<Argument>().expect_err("refused");
            assert!(
                error.contains(expected) && error.contains("such as u32:5"),
                "{error}"
            );
        }
    }
}
