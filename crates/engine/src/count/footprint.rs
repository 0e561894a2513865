//! Which sectors of global memory were reached: a bit each, in pages.

use std::ops::Range;

use super::SECTOR;
use crate::check::hash::Map;
use crate::processor::has_vectors;

/// Sectors of a page, which is 64 KiB: small, because each block has pages of its own.
const SECTORS: u64 = 2048;
const WORDS: usize = SECTORS as usize / 64;
const _: () = assert!(
    WORDS == u32::BITS as usize,
    "a bit of `Page::used` for each"
);

/// Kind of an access to a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
    /// Atomics.
    Both,
}

#[derive(Clone, Debug)]
struct Page {
    number: u64,
    /// A bit for each word that holds any.
    used: u32,
    read: [u64; WORDS],
    written: [u64; WORDS],
}

impl Page {
    fn new(number: u64) -> Page {
        Page {
            number,
            used: 0,
            read: [0; WORDS],
            written: [0; WORDS],
        }
    }

    fn clear(&mut self) {
        let mut left = std::mem::take(&mut self.used);
        while left != 0 {
            let word = left.trailing_zeros() as usize;
            (self.read[word], self.written[word]) = (0, 0);
            left &= left - 1;
        }
    }
}

/// So many pages are looked through: a block has no more as a rule.
const FEW: usize = 8;

/// Sectors by their numbers.
#[derive(Debug, Default)]
pub(super) struct Sectors {
    pages: Vec<Page>,
    /// Places in `pages`, where there are more than [`FEW`].
    places: Map<u64, u32>,
    /// The place where a page was last, by the lowest bits of its number.
    recent: [u32; 16],
    /// How many were read, and written.
    pub(super) read: u64,
    pub(super) written: u64,
}

/// How many sectors there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) read: u64,
    pub(super) written: u64,
    pub(super) either: u64,
}

impl Sectors {
    /// Adds sectors from the first to the last. Gives how many of them are new in this way.
    #[inline(always)]
    pub(super) fn reach(&mut self, first: u64, last: u64, way: Way) -> u32 {
        match first / 64 == last / 64 {
            true => self.reach_of_word(first / 64, bits_from(first % 64, last % 64), way),
            false => self.reach_of_words(first, last, way),
        }
    }

    /// Adds sectors of a row that is read or written, not both. Gives how many of them are new in this way.
    #[inline(always)]
    pub(super) fn reach_row(&mut self, first: u64, last: u64, way: Way) -> u32 {
        if first / 64 != last / 64 {
            return self.reach_of_words(first, last, way);
        }
        let bits = bits_from(first % 64, last % 64);
        let word = first / 64;
        let page = self.page(word / WORDS as u64);
        let word = word as usize % WORDS;
        page.used |= 1 << word;
        let there = match way {
            Way::Write => &mut page.written[word],
            _ => &mut page.read[word],
        };
        // All of them or none, as a rule: without an instruction for it, which not every processor has, to count bits takes
        // longer than the rest.
        let new = match *there & bits {
            0 => (last - first + 1) as u32,
            known if known == bits => return 0,
            known => (bits & !known).count_ones(),
        };
        *there |= bits;
        let sum = match way {
            Way::Write => &mut self.written,
            _ => &mut self.read,
        };
        *sum += u64::from(new);
        new
    }

    #[inline(never)]
    fn reach_of_words(&mut self, first: u64, last: u64, way: Way) -> u32 {
        let (mut new, mut next, behind) = (0, first / 64, last / 64 + 1);
        // An inclusive range's iterator takes longer than what is done with a word.
        while next < behind {
            let begin = first.max(next * 64) % 64;
            let end = last.min(next * 64 + 63) % 64;
            new += self.reach_of_word(next, bits_from(begin, end), way);
            next += 1;
        }
        new
    }

    /// Adds the sectors of a word, which are 64. Gives how many of them are new in this way.
    #[inline(always)]
    pub(super) fn reach_of_word(&mut self, word: u64, bits: u64, way: Way) -> u32 {
        let page = self.page(word / WORDS as u64);
        let word = word as usize % WORDS;
        page.used |= 1 << word;
        let (mut read, mut written) = (0, 0);
        if way != Way::Write {
            read = add(&mut page.read[word], bits);
        }
        if way != Way::Read {
            written = add(&mut page.written[word], bits);
        }
        self.read += u64::from(read);
        self.written += u64::from(written);
        match way {
            Way::Read | Way::Both => read,
            Way::Write => written,
        }
    }

    #[inline(always)]
    fn page(&mut self, number: u64) -> &mut Page {
        let recent = self.recent[number as usize % 16] as usize;
        let is_there = self.pages.get(recent).map(|it| it.number) == Some(number);
        let place = if is_there { recent } else { self.place(number) };
        &mut self.pages[place]
    }

    /// Where a page is that was not there last.
    #[inline(never)]
    fn place(&mut self, number: u64) -> usize {
        let pages = &mut self.pages;
        let known = match pages.len() <= FEW {
            true => pages.iter().position(|it| it.number == number),
            false => self.places.get(&number).map(|&place| place as usize),
        };
        let place = known.unwrap_or_else(|| {
            pages.push(Page::new(number));
            let from = match pages.len() {
                ..=FEW => pages.len(),
                len if len == FEW + 1 => 0,
                len => len - 1,
            };
            let numbers = pages[from..].iter().map(|it| it.number);
            self.places.extend(numbers.zip(from as u32..));
            pages.len() - 1
        });
        self.recent[number as usize % 16] = place as u32;
        place
    }

    /// Adds another's sectors.
    pub(super) fn add(&mut self, other: &Sectors) {
        for page in other.pages.iter().filter(|it| it.used != 0) {
            let own = self.page(page.number);
            own.used |= page.used;
            let mut left = page.used;
            while left != 0 {
                let word = left.trailing_zeros() as usize;
                own.read[word] |= page.read[word];
                own.written[word] |= page.written[word];
                left &= left - 1;
            }
        }
    }

    /// Forgets all sectors, and keeps the room. The pages stay where they are few: the next block reaches the same ones
    /// as a rule.
    pub(super) fn clear(&mut self) {
        if self.pages.len() <= FEW {
            self.pages.iter_mut().for_each(Page::clear);
        } else {
            self.pages.clear();
            self.places.clear();
        }
        (self.read, self.written) = (0, 0);
    }

    /// The addresses that pages cover: of an allocation of which a sector is here, they hold the start, or it is the last
    /// one that begins before them.
    pub(super) fn span(&self) -> Range<u64> {
        let numbers = self.pages.iter().map(|it| it.number);
        let (low, high) =
            numbers.fold((u64::MAX, 0), |(low, high), it| (low.min(it), high.max(it)));
        match low <= high {
            true => low * SECTORS * SECTOR..(high + 1) * SECTORS * SECTOR,
            false => 0..0,
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.within(0..u64::MAX)
    }

    /// Those that hold bytes of an allocation.
    pub(super) fn of_allocation(&self, start: u64, bytes: u64) -> Totals {
        let first = start / SECTOR;
        self.within(first..first + bytes.div_ceil(SECTOR))
    }

    fn within(&self, sectors: Range<u64>) -> Totals {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn vectors(all: &Sectors, sectors: Range<u64>) -> Totals {
            all.within_here(sectors)
        }
        #[cfg(target_arch = "x86_64")]
        if has_vectors() {
            // SAFETY: the processor has them.
            return unsafe { vectors(self, sectors) };
        }
        self.within_here(sectors)
    }

    // Inlined, so that it is compiled for the processor that its caller is compiled for.
    #[inline(always)]
    fn within_here(&self, sectors: Range<u64>) -> Totals {
        let mut totals = Totals::default();
        for page in &self.pages {
            let first = page.number * SECTORS;
            if first >= sectors.end || first + SECTORS <= sectors.start {
                continue;
            }
            let mut left = page.used;
            while left != 0 {
                let word = left.trailing_zeros() as usize;
                left &= left - 1;
                let (read, written) = (&page.read[word], &page.written[word]);
                let first = first + word as u64 * 64;
                let mask = bits_within(first, &sectors);
                let count = |bits: u64| u64::from((bits & mask).count_ones());
                totals.read += count(*read);
                totals.written += count(*written);
                totals.either += count(read | written);
            }
        }
        totals
    }
}

/// Bits of a word, from one to another.
#[inline(always)]
fn bits_from(first: u64, last: u64) -> u64 {
    u64::MAX >> (63 - (last - first)) << first
}

/// Sets bits, and gives how many of them were not set.
#[inline(always)]
fn add(word: &mut u64, bits: u64) -> u32 {
    let new = bits & !*word;
    *word |= bits;
    new.count_ones()
}

/// The bits of the word that begins with sector `first` which lie within a range.
fn bits_within(first: u64, sectors: &Range<u64>) -> u64 {
    let from = sectors.start.saturating_sub(first).min(64);
    let to = sectors.end.saturating_sub(first).min(64);
    let below = |bit: u64| match bit {
        64 => u64::MAX,
        bit => (1 << bit) - 1,
    };
    below(to) & !below(from)
}
