//! The linker, which makes one PTX of several, and the options of what loads images.

use std::sync::{Mutex, OnceLock};

use crate::arguments::{In, Out};
use crate::context::current;
use crate::findings::{heard, say};
use crate::handles::{Handle, keep, lock, look};
use crate::image;
use crate::link::linked;
use crate::module::bytes_of_path;
use crate::status::{Answer, Status};

/// The modules to link, and the image that they become: PTX that ends with NUL.
pub(crate) struct Linking {
    options: Options,
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

/// A buffer of the program's for text, which may be written to as long as what the options were given for goes on.
#[derive(Default)]
struct Log {
    /// 0 where the program wants no text.
    buffer: usize,
    room: usize,
    /// Where the bytes are told that were written; 0 where the program has not said how much room there is.
    written: usize,
}

/// `CUjit_option`: the buffers for what is said and for what is wrong, each followed by its size.
const INFO: i32 = 3;
const ERROR: i32 = 5;

impl Options {
    /// Reads options: a value is an address or a number.
    pub(crate) fn read(count: u32, options: In<i32>, values: Out<usize>) -> Answer<Options> {
        let options = options.all(count as usize)?;
        let place = |which| {
            let at = options.iter().position(|&it| it == which)?;
            Some(values.nth(at))
        };
        let log = |which| -> Answer<Log> {
            let (Some(buffer), Some(room)) = (place(which), place(which + 1)) else {
                return Ok(Log::default());
            };
            Ok(Log {
                buffer: buffer.get()?,
                room: room.get()?,
                written: room.address(),
            })
        };
        Ok(Options {
            info: log(INFO)?,
            error: log(ERROR)?,
        })
    }

    /// Does something, and writes both logs: why it has failed is what it has said.
    pub(crate) fn told<T>(&self, load: impl FnOnce() -> Answer<T>) -> Answer<T> {
        let (loaded, said) = heard(load);
        self.info.write("")?;
        self.error.write(match loaded {
            Ok(_) => "",
            Err(status) if said.is_empty() => status.name(),
            Err(_) => &said,
        })?;
        loaded
    }
}

impl Log {
    /// Writes text with NUL at its end, and how many bytes it has: without NUL, if that fits.
    fn write(&self, text: &str) -> Answer {
        if self.buffer == 0 || self.room == 0 {
            return Ok(());
        }
        Out::of_address(self.buffer).put_text(text, self.room)?;
        Out::of_address(self.written).put(self.room.min(text.len()))
    }
}

fn create(options: Options) -> Answer<Handle> {
    current()?;
    Ok(keep(Linking {
        options,
        modules: Mutex::default(),
        image: OnceLock::new(),
    }))
}

pub(crate) mod calls {
    use super::*;
    use crate::arguments::Text;
    use crate::handles::end;

    driver! {
        fn cuLinkCreate_v2(count: u32, options: In<i32>, values: Out<usize>, to: Out<Handle>) {
            to.check()?;
            let options = Options::read(count, options, values)?;
            options.told(|| Ok(()))?;
            to.put(create(options)?)
        }
        fn cuLinkAddData_v2(
            linking: Handle, _kind: u32, data: In<u8>, bytes: usize, _name: In<u8>, _count: u32, _options: In<i32>,
            _values: Out<usize>,
        ) {
            let linking = look::<Linking>(linking)?;
            let data = data.all(bytes)?;
            linking.options.told(|| linking.add_bytes(&data))
        }
        fn cuLinkAddFile_v2(linking: Handle, _kind: u32, path: Text, _count: u32, _options: In<i32>, _values: Out<usize>) {
            let (linking, path) = (look::<Linking>(linking)?, path.get()?);
            linking.options.told(|| linking.add_bytes(&bytes_of_path(&path)?))
        }
        fn cuLinkComplete(linking: Handle, to: Out<*const u8>, bytes: Out<usize>) {
            let linking = look::<Linking>(linking)?;
            let (start, size) = linking.options.told(|| linking.image())?;
            to.put(start)?;
            bytes.put_if_asked(size);
            Ok(())
        }
        fn cuLinkDestroy(linking: Handle) { end::<Linking>(linking).map(drop) }
    }
}
