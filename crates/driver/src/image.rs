//! The contents of a file of kernels: PTX or a cubin.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::{Path, PathBuf};

use super::DriverError;
use super::whole_file::{MAX_IMAGE_BYTES, read_whole};

/// A file of kernels as errors describe it.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    names: Vec<String>,
}

impl File {
    pub(super) fn new(path: &Path, image: &Image) -> File {
        File {
            path: path.to_owned(),
            names: image.names(),
        }
    }

    /// Its name without its folder.
    pub(super) fn name(&self) -> Cow<'_, str> {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy()
    }

    /// The error that it has no such kernel.
    pub(super) fn without(&self, kernel: &'static str) -> DriverError {
        DriverError::NoKernelInFile {
            kernel,
            path: self.path.clone(),
            names: self.names.clone(),
        }
    }
}

/// Kernels as the driver takes them. What it is not told is where they end.
#[derive(Debug)]
pub(super) enum Image {
    /// Text.
    Ptx(CString),
    /// An ELF image, all of it.
    Cubin(Vec<u8>),
}

impl Image {
    pub(super) fn read(path: &Path) -> Result<Image, DriverError> {
        let bytes =
            read_whole(path, MAX_IMAGE_BYTES).map_err(|error| DriverError::UnreadableFile {
                path: path.to_owned(),
                error,
            })?;
        Image::of(bytes).map_err(|found| DriverError::UnknownFile {
            path: path.to_owned(),
            found,
        })
    }

    /// # Errors
    /// The contents in words, if they are neither: empty, of another format, for another machine, or cut off.
    fn of(mut bytes: Vec<u8>) -> Result<Image, String> {
        if bytes.is_empty() {
            return Err("it is empty".to_owned());
        }
        if bytes.starts_with(ELF) {
            return check_cubin(&bytes).map(|()| Image::Cubin(bytes));
        }
        if !after_comments(&bytes).starts_with(b".version") {
            let start = bytes[..bytes.len().min(16)].escape_ascii();
            return Err(format!("it begins with \"{start}\""));
        }
        // Some compilers write the zero byte that ends a text.
        while bytes.pop_if(|last| *last == 0).is_some() {}
        CString::new(bytes).map(Image::Ptx).map_err(|error| {
            let position = error.nul_position();
            format!("it is PTX with a zero byte at {position}")
        })
    }

    /// Returns its bytes as text, with U+FFFD where they are none.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self {
            Image::Ptx(text) => text.to_string_lossy(),
            Image::Cubin(image) => String::from_utf8_lossy(image),
        }
    }

    /// The names of its kernels, and in a cubin of the functions that they call, as far as they are found
    /// without the driver.
    pub(super) fn names(&self) -> Vec<String> {
        let text = self.text();
        let names: BTreeSet<&str> = match self {
            Image::Ptx(_) => {
                let entries = text.split(".entry").skip(1);
                let words = entries.map(|it| it.split(|c: char| c == '(' || c.is_whitespace()));
                words
                    .filter_map(|mut it| it.find(|word| !word.is_empty()))
                    .collect()
            }
            // The code of each is a section.
            Image::Cubin(_) => {
                let texts = text.split('\0');
                texts.filter_map(|it| it.strip_prefix(".text.")).collect()
            }
        };
        names.into_iter().map(str::to_owned).collect()
    }
}

/// Returns the PTX behind its first comments and white space.
fn after_comments(mut text: &[u8]) -> &[u8] {
    loop {
        text = text.trim_ascii_start();
        let end = match text {
            [b'/', b'/', ..] => text.iter().position(|&byte| byte == b'\n'),
            [b'/', b'*', ..] => text[2..]
                .windows(2)
                .position(|two| two == b"*/")
                .map(|at| at + 3),
            _ => return text,
        };
        text = &text[end.map_or(text.len(), |end| end + 1)..];
    }
}

const ELF: &[u8] = b"\x7fELF";

/// The machine that NVIDIA's GPUs are in ELF.
const CUDA: u64 = 190;

/// Refuses what is for other machines, and what the driver would read beyond the end of.
fn check_cubin(image: &[u8]) -> Result<(), String> {
    const WIDE: u64 = 2;
    const NO_BYTES: u64 = 8;
    let length = image.len() as u64;
    let field = |at: u64, bytes: u64| {
        little_endian(image, at, bytes)
            .ok_or_else(|| format!("it is an ELF image cut off at {length} bytes"))
    };
    let machine = field(18, 2)?;
    if machine != CUDA {
        return Err(format!(
            "it is an ELF image for machine {machine}, and a GPU's is {CUDA}"
        ));
    }
    let class = field(4, 1)?;
    if class != WIDE {
        return Err(format!(
            "it is an ELF image of class {class}, and a GPU's is {WIDE}"
        ));
    }
    let mut end = 0;
    let mut reach = |offset: u64, bytes: u64| end = end.max(offset.saturating_add(bytes));
    // Tables of program and of section headers: offset of the table, size of an entry, entries.
    for (is_sections, [table, size, count]) in [(false, [32, 54, 56]), (true, [40, 58, 60])] {
        let (table, size, count) = (field(table, 8)?, field(size, 2)?, field(count, 2)?);
        reach(table, size * count);
        for header in (0..count).map(|i| table.saturating_add(i * size)) {
            let field = |at: u64, bytes| field(header.saturating_add(at), bytes);
            match is_sections {
                true if field(4, 4)? == NO_BYTES => {}
                true => reach(field(24, 8)?, field(32, 8)?),
                false => reach(field(8, 8)?, field(32, 8)?),
            }
        }
    }
    match end <= length {
        true => Ok(()),
        false => Err(format!(
            "it is an ELF image of {end} bytes, cut off at {length}"
        )),
    }
}

fn little_endian(image: &[u8], at: u64, bytes: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let field = image.get(at..at.checked_add(bytes as usize)?)?;
    let mut number = [0; 8];
    number[..field.len()].copy_from_slice(field);
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(bytes: &[u8]) -> String {
        Image::of(bytes.to_vec()).expect_err("not kernels")
    }

    fn put(image: &mut [u8], at: usize, field: &[u8]) {
        image[at..at + field.len()].copy_from_slice(field);
    }

    /// A cubin of 400 bytes: header, names at 64, one program header at 144, two section headers at 208,
    /// and 64 bytes that only the program header has.
    fn cubin() -> Vec<u8> {
        let mut image = vec![0; 400];
        put(&mut image, 0, ELF);
        put(&mut image, 4, &[2, 1, 1]);
        put(&mut image, 18, &190u16.to_le_bytes());
        put(&mut image, 32, &144u64.to_le_bytes());
        put(&mut image, 40, &208u64.to_le_bytes());
        put(&mut image, 54, &[56, 0, 1, 0, 64, 0, 2, 0]);
        put(
            &mut image,
            64,
            b"\0.symtab\0.text.saxpy\0.text.axpy\0.nv.info",
        );
        // Offset and size in the file.
        put(&mut image, 144 + 8, &336u64.to_le_bytes());
        put(&mut image, 144 + 32, &64u64.to_le_bytes());
        put(&mut image, 208 + 24, &64u64.to_le_bytes());
        put(&mut image, 208 + 32, &80u64.to_le_bytes());
        // Shared memory, which the file has no bytes of.
        put(&mut image, 272 + 4, &8u32.to_le_bytes());
        put(&mut image, 272 + 32, &(1u64 << 20).to_le_bytes());
        image
    }

    #[test]
    fn ptx_is_known_by_what_it_begins_with() {
        for text in [
            ".version 8.0",
            "//\n// Generated by LLVM NVPTX Back-End\n//\n\n.version 8.0\n.target sm_90",
            " /* .version */ /*/ a */\r\n\t.version 8.0\0\0",
        ] {
            let image = Image::of(text.into()).expect("PTX");
            let expected = text.trim_end_matches('\0');
            assert!(matches!(&image, Image::Ptx(_)), "{image:?}");
            assert_eq!(image.text(), expected);
        }
        let image = Image::of(b".version 8.0 // \xff".to_vec()).expect("PTX");
        assert!(image.text().contains('\u{fffd}'));
    }

    #[test]
    fn a_file_of_something_else_is_told() {
        assert_eq!(found(b""), "it is empty");
        assert_eq!(found(b"GIF8\xff"), "it begins with \"GIF8\\xff\"");
        let program = b"__global__ void saxpy(int n)";
        assert_eq!(found(program), "it begins with \"__global__ void \"");
        for comment in ["// .version", "/* .version", "/*/ .version", "//"] {
            assert!(found(comment.as_bytes()).starts_with("it begins with"));
        }
        assert_eq!(found(b".version\0 8.0"), "it is PTX with a zero byte at 8");
    }

    #[test]
    fn a_cubin_is_one_for_a_gpu_and_all_there() {
        let whole = cubin();
        assert!(matches!(Image::of(whole.clone()), Ok(Image::Cubin(image)) if image == whole));
        let with = |at, byte| {
            let mut image = cubin();
            image[at] = byte;
            found(&image)
        };
        assert_eq!(
            with(18, 62),
            "it is an ELF image for machine 62, and a GPU's is 190"
        );
        assert_eq!(
            with(4, 1),
            "it is an ELF image of class 1, and a GPU's is 2"
        );
        // The number of sections.
        assert_eq!(with(60, 4), "it is an ELF image cut off at 400 bytes");
        // The bytes of the program header's segment.
        assert_eq!(
            with(144 + 32, 128),
            "it is an ELF image of 464 bytes, cut off at 400"
        );
        // An offset beyond all bytes.
        let mut image = cubin();
        put(&mut image, 40, &u64::MAX.to_le_bytes());
        assert_eq!(found(&image), "it is an ELF image cut off at 400 bytes");
        for length in 4..whole.len() {
            let text = found(&whole[..length]);
            let end = [
                format!("cut off at {length} bytes"),
                format!("cut off at {length}"),
            ];
            assert!(end.iter().any(|end| text.ends_with(end)), "{text}");
        }
    }

    #[test]
    fn names_are_those_of_the_kernels() {
        let text = ".version 8.0\n.visible .entry scale(\n.param .u64 p)\n{}\n\
            .entry\taxpy ( )\n{ ret; }\n.weak .entry scale";
        let image = Image::of(text.into()).expect("PTX");
        assert_eq!(image.names(), ["axpy", "scale"]);
        let image = Image::of(cubin()).expect("a cubin");
        assert_eq!(image.names(), ["axpy", "saxpy"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = Image::read(Path::new("no/such.ptx")).expect_err("not there");
        let text = error.to_string();
        assert!(text.starts_with("cannot read no/such.ptx: "), "{text}");
        let path = Path::new(file!()).file_name().expect("a name");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
        let error = Image::read(&path).expect_err("a Rust file");
        let text = format!(
            "{} is neither PTX nor a cubin: it begins with",
            path.display()
        );
        assert!(error.to_string().starts_with(&text), "{error}");
    }
}
