//! The driver's log: what is said to people, as programs read it and have it told to functions of theirs.

use std::collections::VecDeque;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use crate::api;
use crate::arguments::{Out, Text};
use crate::handles::{Handle, lock};
use crate::status::{Answer, Status};

/// Messages that are kept.
const MOST: usize = 100;

/// `CU_LOG_LEVEL_ERROR`, `CU_LOG_LEVEL_WARNING`
const ERROR: u32 = 0;
const WARNING: u32 = 1;

/// `CUlogsCallback`
type Function = unsafe extern "C" fn(*mut c_void, u32, *mut c_char, usize);

/// A function of the program's that messages are told to.
#[derive(Clone, Copy)]
pub(crate) struct Listener {
    handle: Handle,
    function: Function,
    data: usize,
}

#[derive(Default)]
struct Log {
    /// The number of the first message that is kept.
    first: u32,
    messages: VecDeque<String>,
    /// The level of the last message, of which one that is indented is the rest.
    level: u32,
    listeners: Vec<Listener>,
    /// The messages that nobody has been told of yet, each with its level and whom to tell.
    untold: Vec<(String, u32, Vec<Handle>)>,
}

static LOG: LazyLock<Mutex<Log>> = LazyLock::new(Mutex::default);
/// Whether somebody is to be told something.
static IS_UNTOLD: AtomicBool = AtomicBool::new(false);
/// Held while functions of the program's are told.
static TELLING: Mutex<()> = Mutex::new(());
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Adds a message.
pub(crate) fn add(text: &str) {
    let mut log = lock(&LOG);
    log.messages.push_back(text.to_owned());
    if log.messages.len() > MOST {
        log.messages.pop_front();
        log.first = log.first.wrapping_add(1);
    }
    if !text.starts_with(' ') {
        let is_mild = ["benign", "note"].iter().any(|it| text.starts_with(it));
        log.level = if is_mild { WARNING } else { ERROR };
    }
    if !log.listeners.is_empty() {
        let (level, whom) = (
            log.level,
            log.listeners.iter().map(|it| it.handle).collect(),
        );
        log.untold.push((text.to_owned(), level, whom));
        IS_UNTOLD.store(true, Ordering::Release);
    }
}

/// Tells the program's functions what has been said: behind a call of the program's own, when no lock is held.
pub(crate) fn tell() {
    if api::is_in_host() || !IS_UNTOLD.swap(false, Ordering::AcqRel) {
        return;
    }
    let _telling = lock(&TELLING);
    let untold = std::mem::take(&mut lock(&LOG).untold);
    for (text, level, whom) in untold {
        let mut message: Vec<u8> = text.bytes().filter(|&it| it != 0).chain([0]).collect();
        let length = message.len() - 1;
        for handle in whom {
            // One may end another, or itself.
            let listeners = lock(&LOG).listeners.clone();
            let Some(listener) = listeners.into_iter().find(|it| it.handle == handle) else {
                continue;
            };
            api::call_host(|| {
                // SAFETY: the program has handed both over for this, and the message lives until the call is over.
                unsafe {
                    (listener.function)(
                        listener.data as *mut c_void,
                        level,
                        message.as_mut_ptr().cast(),
                        length,
                    );
                }
            });
        }
    }
}

impl Log {
    /// The number of the message that comes next.
    fn next(&self) -> u32 {
        self.first.wrapping_add(self.messages.len() as u32)
    }

    /// The messages from a number on, and whether some before them are not kept any more.
    fn since(&self, number: Option<u32>) -> (impl Iterator<Item = &String>, bool) {
        let skipped = number.map_or(0, |it| it.wrapping_sub(self.first) as i32);
        let messages = self.messages.iter().skip(skipped.max(0) as usize);
        (messages, skipped < 0 || number.is_none() && self.first > 0)
    }
}

const TRUNCATED: &str = "earlier messages are not kept\n";

/// The messages from an iterator on, which goes to the end, as much as there is room for; the last ones.
fn dump(iterator: Out<u32>, flags: u32, room: usize) -> Answer<String> {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let log = lock(&LOG);
    let from = match iterator.is_null() {
        true => None,
        false => Some(iterator.get()?),
    };
    let (messages, is_older_lost) = log.since(from);
    let messages: Vec<&String> = messages.collect();
    let bytes = |all: &[&String]| all.iter().map(|it| it.len() + 1).sum::<usize>();
    let head = |is_truncated: bool| if is_truncated { TRUNCATED } else { "" };
    // The last ones for which there is room, with what is said where some are missing.
    let fits = |&first: &usize| {
        let head = head(is_older_lost || first > 0);
        head.len() + bytes(&messages[first..]) <= room
    };
    let first = (0..messages.len()).find(fits).unwrap_or(messages.len());
    if first == messages.len() && first > 0 {
        return Err(Status::INVALID_VALUE);
    }
    iterator.put_if_asked(log.next());
    let mut text = match messages.is_empty() {
        true => String::new(),
        false => head(is_older_lost || first > 0).to_owned(),
    };
    for message in &messages[first..] {
        text.push_str(message);
        text.push('\n');
    }
    Ok(text)
}

pub(crate) mod calls {
    use super::*;

    driver! {
        fn cuLogsRegisterCallback(function: Option<Function>, data: *mut c_void, to: Out<Handle>) {
            let function = function.ok_or(Status::INVALID_VALUE)?;
            let handle = NEXT.fetch_add(1, Ordering::Relaxed);
            lock(&LOG).listeners.push(Listener { handle, function, data: data as usize });
            to.put_if_asked(handle);
            Ok(())
        }
        fn cuLogsUnregisterCallback(handle: Handle) {
            // Behind this call it is not told anything, by another thread either.
            let _telling = (!api::is_in_host()).then(|| lock(&TELLING));
            let listeners = &mut lock(&LOG).listeners;
            let place = listeners.iter().position(|it| it.handle == handle);
            listeners.remove(place.ok_or(Status::INVALID_VALUE)?);
            Ok(())
        }
        fn cuLogsCurrent(to: Out<u32>, flags: u32) {
            match flags {
                0 => to.put(lock(&LOG).next()),
                _ => Err(Status::INVALID_VALUE),
            }
        }
        fn cuLogsDumpToFile(iterator: Out<u32>, path: Text, flags: u32) {
            let path = path.get()?;
            let text = dump(iterator, flags, usize::MAX)?;
            std::fs::write(path, text).map_err(|_| Status::INVALID_VALUE)
        }
        fn cuLogsDumpToMemory(iterator: Out<u32>, buffer: Out<c_char>, size: Out<usize>, flags: u32) {
            buffer.check()?;
            let room = size.get()?;
            // The program's place may be any of the others: what was read of it counts.
            size.put(0)?;
            let text = dump(iterator, flags, room.saturating_sub(1))?;
            if room == 0 {
                return Err(Status::INVALID_VALUE);
            }
            buffer.put_text(&text, room)?;
            size.put(text.len())
        }
    }
}
