//! What is remembered of each word of memory: who wrote it last, who has read it since, and which
//! of its bytes have a value.

use std::ops::Range;

use std::panic::Location;

use cuda_std::emulation::{Effect, Place};

/// Bytes that one cell stands for.
pub(crate) const WORD: usize = 4;
/// Bytes that one page of cells stands for.
const PAGE: usize = 4096;

/// How an access was made, as far as it matters to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    Plain = 0,
    AtomicInBlock = 1,
    Atomic = 2,
}

/// One access, in 16 bytes. All zero is none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// Place: bits 0 to 47. Thread: 10 bits. Bytes of the word: 4. Manner: 2.
    packed: u64,
    pub(crate) block: u32,
    pub(crate) time: u32,
}

/// Set in a place that is a `Location`'s address. No address of a program has this bit.
const IS_SOURCE: u64 = 1 << 47;

impl Record {
    pub(crate) fn new(thread: u32, block: u32, time: u32, manner: Manner, place: Place) -> Record {
        let place = match place {
            Place::Code(address) => address as u64 & (IS_SOURCE - 1),
            Place::Source(location) => (&raw const *location).addr() as u64 | IS_SOURCE,
        };
        Record {
            packed: place | u64::from(thread) << 48 | (manner as u64) << 62,
            block,
            time,
        }
    }

    pub(crate) fn with_bytes(self, bytes: u64) -> Record {
        Record {
            packed: self.packed | bytes << 58,
            ..self
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.time == 0
    }

    pub(crate) fn thread(&self) -> u32 {
        (self.packed >> 48) as u32 & 1023
    }

    fn bytes(&self) -> u64 {
        self.packed >> 58 & 15
    }

    pub(crate) fn manner(&self) -> Manner {
        match self.packed >> 62 {
            0 => Manner::Plain,
            1 => Manner::AtomicInBlock,
            _ => Manner::Atomic,
        }
    }

    pub(crate) fn place(&self) -> Place {
        let bits = self.packed & (2 * IS_SOURCE - 1);
        if bits & IS_SOURCE == 0 {
            return Place::Code(bits as usize);
        }
        let location = (bits & !IS_SOURCE) as usize as *const Location<'static>;
        // SAFETY: `new` took it from a reference for ever.
        Place::Source(unsafe { &*location })
    }

    fn is_of_the_thread_of(&self, other: &Record) -> bool {
        self.block == other.block && self.thread() == other.thread()
    }

    /// Whether the two are of different threads, share bytes, and are not both atomic for each
    /// other.
    fn may_conflict(&self, other: &Record) -> bool {
        let both_atomic = match (self.manner(), other.manner()) {
            (Manner::Plain, _) | (_, Manner::Plain) => false,
            (Manner::Atomic, Manner::Atomic) => true,
            _ => self.block == other.block,
        };
        !self.is_none()
            && !self.is_of_the_thread_of(other)
            && self.bytes() & other.bytes() != 0
            && !both_atomic
    }
}

/// An earlier access that a new one races with, and what it did.
pub(crate) type Found = (Record, Effect);

/// The last write of a word, and two of the reads since. Two are enough: of two threads one is not
/// the next writer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cell {
    write: Record,
    reads: [Record; 2],
}

impl Cell {
    /// Remembers a read. Gives the write that it races with, if there is one.
    pub(crate) fn read(&mut self, now: Record, ordered: impl Fn(&Record) -> bool) -> Option<Found> {
        if self.write.may_conflict(&now) && !ordered(&self.write) {
            return Some((self.write, Effect::Write));
        }
        let replaced = self
            .reads
            .iter_mut()
            .find(|read| read.is_none() || read.is_of_the_thread_of(&now) || ordered(read));
        match replaced {
            Some(read) => *read = now,
            None => self.reads[1] = now,
        }
        None
    }

    /// Remembers a write. Gives the access that it races with, if there is one.
    pub(crate) fn write(
        &mut self,
        now: Record,
        ordered: impl Fn(&Record) -> bool,
    ) -> Option<Found> {
        let [first, second] = self.reads;
        let before = [
            (self.write, Effect::Write),
            (first, Effect::Read),
            (second, Effect::Read),
        ];
        for found in before {
            if found.0.may_conflict(&now) && !ordered(&found.0) {
                return Some(found);
            }
        }
        *self = Cell {
            write: now,
            reads: [Record::default(); 2],
        };
        None
    }
}

type Cells = [Cell; PAGE / WORD];

/// The cells of a range of memory. Pages that nothing reaches have none.
pub(crate) struct Shadow {
    start: usize,
    pages: Vec<Option<Box<Cells>>>,
}

impl Shadow {
    pub(crate) fn new(range: &Range<usize>) -> Shadow {
        let start = range.start & !(WORD - 1);
        let mut pages = Vec::new();
        pages.resize_with((range.end - start).div_ceil(PAGE), || None);
        Shadow { start, pages }
    }

    /// The cell of each word that the access reaches, with the bytes of it.
    pub(crate) fn cells(
        &mut self,
        access: Range<usize>,
        mut visit: impl FnMut(&mut Cell, u64) -> Option<Found>,
    ) -> Option<Found> {
        let mut word = access.start & !(WORD - 1);
        while word < access.end {
            let first = access.start.saturating_sub(word);
            let end = (access.end - word).min(WORD);
            let bytes = (1 << end) - (1 << first);
            let offset = word - self.start;
            let page = self.pages[offset / PAGE]
                .get_or_insert_with(|| Box::new([Cell::default(); PAGE / WORD]));
            if let Some(before) = visit(&mut page[offset % PAGE / WORD], bytes) {
                return Some(before);
            }
            word += WORD;
        }
        None
    }
}

/// Which bytes of a range of memory have a value.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    start: usize,
    bits: Vec<u64>,
}

impl Written {
    /// None of them.
    pub(crate) fn none(range: &Range<usize>) -> Written {
        Written {
            start: range.start,
            bits: vec![0; range.len().div_ceil(64)],
        }
    }

    /// Forgets what lies in the range, and perhaps some bytes around it.
    pub(crate) fn clear(&mut self, range: Range<usize>) {
        let (first, end) = (range.start - self.start, range.end - self.start);
        self.bits[first / 64..end.div_ceil(64)].fill(0);
    }

    pub(crate) fn write(&mut self, access: Range<usize>) {
        for_each_word(access, self.start, |word, mask| self.bits[word] |= mask);
    }

    pub(crate) fn has(&self, access: Range<usize>) -> bool {
        let mut all = true;
        for_each_word(access, self.start, |word, mask| {
            all &= self.bits[word] & mask == mask;
        });
        all
    }
}

/// The words of bits that stand for the bytes from `start` on, each with a mask.
fn for_each_word(access: Range<usize>, start: usize, mut visit: impl FnMut(usize, u64)) {
    let (mut first, end) = (access.start - start, access.end - start);
    while first < end {
        let count = (64 - first % 64).min(end - first);
        visit(first / 64, u64::MAX >> (64 - count) << (first % 64));
        first += count;
    }
}
