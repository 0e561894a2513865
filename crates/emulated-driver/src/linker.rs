//! The linker, which makes one PTX of several, and the options of what loads images.

use std::sync::{Mutex, OnceLock};

use crate::arguments::{In, Out};
use crate::context::current;
use crate::findings::say;
use crate::handles::{Handle, keep, lock, look};
use crate::image;
use crate::link::linked;
use crate::module::bytes_of_path;
use crate::status::{Answer, Status};

/// The modules to link, and the image that they become: PTX that ends with NUL.
#[derive(Default)]
pub(crate) struct Linking {
    modules: Mutex<Vec<String>>,
    image: OnceLock<Vec<u8>>,
}

/// How an archive of objects begins. It is the device runtime's, whose place our own takes.
const ARCHIVE: &[u8] = b"!<arch>";

impl Linking {
    /// Adds an image of which the bytes are given.
    fn add_bytes(&self, bytes: &[u8]) -> Answer {
        match bytes.starts_with(ARCHIVE) {
            true => Ok(()),
            false => self.add(image::ptx_of_file(bytes)?),
        }
    }

    fn add(&self, text: String) -> Answer {
        if self.image.get().is_some() {
            return Err(Status::INVALID_VALUE);
        }
        lock(&self.modules).push(text);
        Ok(())
    }

    /// Start and bytes of the image, which stays until the linking is destroyed.
    fn image(&self) -> Answer<(*const u8, usize)> {
        let modules = lock(&self.modules).clone();
        if modules.is_empty() {
            return Err(Status::INVALID_VALUE);
        }
        if self.image.get().is_none() {
            let mut image = linked_or_said(&modules)?.into_bytes();
            image.push(0);
            // Another thread may have been faster, with the same.
            let _ = self.image.set(image);
        }
        let image = self.image.get().ok_or(Status::INVALID_VALUE)?;
        Ok((image.as_ptr(), image.len()))
    }
}

/// The modules as one.
///
/// # Errors
/// They cannot be linked: the reason is said.
pub(crate) fn linked_or_said(modules: &[String]) -> Answer<String> {
    linked(modules).map_err(|reason| {
        say(&reason);
        Status::INVALID_PTX
    })
}

/// Options of a load, of which the logs count here.
pub(crate) struct Options {
    info: Log,
    error: Log,
}

/// A buffer of the program's for text.
struct Log {
    buffer: Option<Out<u8>>,
    room: usize,
}

/// `CUjit_option`: the buffers for what is said and for what is wrong, each followed by its size.
const INFO: i32 = 3;
const ERROR: i32 = 5;

impl Options {
    /// Reads options: a value is an address or a number.
    pub(crate) fn read(count: u32, options: In<i32>, values: In<Out<u8>>) -> Answer<Options> {
        let options = options.all(count as usize)?;
        let values = values.all(count as usize)?;
        let value = |which| {
            options
                .iter()
                .position(|&it| it == which)
                .map(|at| values[at])
        };
        let log = |which| Log {
            buffer: value(which).filter(|it| !it.is_null()),
            room: value(which + 1).map_or(0, Out::address),
        };
        Ok(Options {
            info: log(INFO),
            error: log(ERROR),
        })
    }

    /// Writes both logs.
    pub(crate) fn tell(&self, is_loaded: bool) -> Answer {
        self.info.write("")?;
        self.error.write(match is_loaded {
            true => "",
            false => "Ridgepoint's emulator cannot load this image; standard error says why",
        })
    }
}

impl Log {
    fn write(&self, text: &str) -> Answer {
        match self.buffer {
            Some(buffer) if self.room > 0 => buffer.cast().put_text(text, self.room),
            _ => Ok(()),
        }
    }
}

fn create() -> Answer<Handle> {
    current()?;
    Ok(keep(Linking::default()))
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Text;
    use crate::handles::end;

    driver! {
        fn cuLinkCreate_v2(count: u32, options: In<i32>, values: In<Out<u8>>, to: Out<Handle>) {
            to.check()?;
            Options::read(count, options, values)?.tell(true)?;
            to.put(create()?)
        }
        fn cuLinkAddData_v2(
            linking: Handle, _kind: u32, data: In<u8>, bytes: usize, _name: In<u8>, _count: u32, _options: In<i32>,
            _values: In<Out<u8>>,
        ) {
            let linking = look::<Linking>(linking)?;
            linking.add_bytes(&data.all(bytes)?)
        }
        fn cuLinkAddFile_v2(linking: Handle, _kind: u32, path: Text, _count: u32, _options: In<i32>, _values: In<Out<u8>>) {
            look::<Linking>(linking)?.add_bytes(&bytes_of_path(&path.get()?)?)
        }
        fn cuLinkComplete(linking: Handle, to: Out<*const u8>, bytes: Out<usize>) {
            let (start, size) = look::<Linking>(linking)?.image()?;
            to.put(start)?;
            bytes.put_if_asked(size);
            Ok(())
        }
        fn cuLinkDestroy(linking: Handle) { end::<Linking>(linking).map(drop) }
    }
}
