//! Device memory whose contents are not all known: which bytes a kernel or the host has written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::emulation::Effect;

use crate::check::Written;

/// All buffers that began without contents, by their addresses.
static BUFFERS: Mutex<BTreeMap<usize, Contents>> = Mutex::new(BTreeMap::new());

/// Which bytes of a buffer have a value. Clones are the same buffer's.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    end: usize,
    written: Arc<Mutex<Written>>,
}

impl Contents {
    /// Whether the access reads nothing but what has a value. What it writes has one from now on.
    pub(crate) fn allow(&self, effect: Effect, access: &Range<usize>) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if effect != Effect::Write && !written.has(access.clone()) {
            return false;
        }
        if effect != Effect::Read {
            written.write(access.clone());
        }
        true
    }
}

/// What is known of the buffer that the range lies in, if it began without contents.
pub(crate) fn contents(range: &Range<usize>) -> Option<Contents> {
    let buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, contents) = buffers.range(..=range.start).next_back()?;
    (range.end <= contents.end).then(|| contents.clone())
}

/// Device memory that begins without contents. As long as this lives, launches report a kernel that
/// reads a byte which neither a kernel nor the host has written.
#[derive(Debug)]
pub struct Uninitialised {
    start: usize,
    contents: Contents,
}

impl Uninitialised {
    /// The memory of the range, which nobody else describes meanwhile.
    pub fn new(range: Range<usize>) -> Uninitialised {
        let contents = Contents {
            end: range.end,
            written: Arc::new(Mutex::new(Written::none(&range))),
        };
        let start = range.start;
        let mut buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.insert(start, contents.clone());
        Uninitialised { start, contents }
    }

    /// The host has written these bytes.
    pub fn written(&self, range: Range<usize>) {
        self.contents.allow(Effect::Write, &range);
    }
}

impl Drop for Uninitialised {
    fn drop(&mut self) {
        let mut buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        buffers.remove(&self.start);
    }
}
