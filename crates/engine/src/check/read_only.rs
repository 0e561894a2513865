//! Memory that a kernel reads by `ld.global.nc`: PTX wants that no thread of the launch writes it, whatever orders the
//! accesses.

use super::access::{Access, Accessors};
use super::cell::{Before, Wrong, entries};
use super::line::{PENDING, SET, SITE, SITE_SHIFT, STRONG, THREAD};
use super::shadow::Cells;
use super::sites::Role;
use super::warp::{Numbered, Trouble};
use super::{Checked, Checker, live};
use crate::memory::{Cached, Lanes, Memory, Pattern};

const WORD: u64 = 4;
/// In `by`, above the thread and the site: which of the word's bytes.
const BYTES_SHIFT: u32 = 26;
const ALL_BYTES: u32 = 0xf << BYTES_SHIFT;

/// Who has read the words of an allocation so. Takes no memory before somebody has.
#[derive(Debug, Default)]
pub(super) struct ReadOnly {
    /// When each was read last.
    epochs: Vec<u32>,
    /// By which thread, at which site; and its bytes that the launch has read.
    by: Vec<u32>,
    /// When any was.
    last: u32,
}

/// The words from `start` on that an access reaches, and the bits of its bytes in each.
fn words(start: u64, address: u64, bytes: u64) -> impl Iterator<Item = (usize, u32)> {
    let end = address + bytes;
    (address / WORD..end.div_ceil(WORD)).map(move |word| {
        let first = address.saturating_sub(word * WORD);
        let end = (end - word * WORD).min(WORD);
        let bits = (1u32 << end) - (1 << first);
        ((word - start / WORD) as usize, bits << BYTES_SHIFT)
    })
}

impl ReadOnly {
    fn reserve(&mut self, of: &Cached) {
        if self.epochs.is_empty() {
            let words = (of.start() + of.bytes()).div_ceil(WORD) - of.start() / WORD;
            self.epochs = vec![0; words as usize];
            self.by = vec![0; words as usize];
        }
    }

    /// Remembers a warp's reads in a launch that began at a time.
    fn read(&mut self, of: &Cached, access: &Numbered<'_>, began: u32, now: u32) {
        self.reserve(of);
        self.last = self.last.max(now);
        let (lanes, warp) = (access.lanes, access.warp * 32);
        let by = warp | access.site << SITE_SHIFT;
        let bytes = u64::from(lanes.bytes);
        if let Pattern::Consecutive { start } = lanes.pattern
            && lanes.mask == u32::MAX
            && bytes % WORD == 0
        {
            let first = (start / WORD - of.start() / WORD) as usize;
            let each = (bytes / WORD) as usize;
            self.epochs[first..][..32 * each].fill(now);
            let rows = self.by[first..][..32 * each].chunks_exact_mut(each);
            rows.zip(by..)
                .for_each(|(row, by)| row.fill(by | ALL_BYTES));
            return;
        }
        for (lane, address) in lanes.each() {
            for (word, bits) in words(of.start(), address, bytes) {
                let is_again = self.epochs[word] >= began;
                let before = if is_again {
                    self.by[word] & ALL_BYTES
                } else {
                    0
                };
                self.by[word] = by | lane | before | bits;
                self.epochs[word] = now;
            }
            if let Pattern::Same { .. } = lanes.pattern {
                break;
            }
        }
    }

    /// Who has read any of these bytes since a time.
    fn reader(&self, of: &Cached, address: u64, bytes: u64, since: u32) -> Option<Before> {
        let mut all = words(of.start(), address, bytes);
        let (word, _) =
            all.find(|&(word, bits)| self.epochs[word] >= since && self.by[word] & bits != 0)?;
        Some(before(self.epochs[word], self.by[word]))
    }
}

fn before(epoch: u32, by: u32) -> Before {
    Before {
        epoch,
        thread: by & THREAD,
        site: (by & SITE) >> SITE_SHIFT,
        is_exact: true,
        kind: Wrong::ReadOnlyLoad,
    }
}

impl Checker {
    /// As [`Checker::global`], of a read of what no thread of the launch writes.
    ///
    /// # Errors
    /// As there; what the launch has written.
    pub fn read_only(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Accessors,
        access: &Access<'_>,
    ) -> Checked {
        let bytes = access.lanes.bytes;
        let written = self.writer_of_any(memory, cached, who, access);
        // A race is what is wrong, if it is one; and this read takes the place of what was there before.
        self.global(memory, cached, who, access)?;
        let numbered = self.numbered(who, access, Role::Read);
        if let Some(trouble) = written {
            let place = memory.place(trouble.address);
            return Err(self.found(who, &numbered, place, &trouble).into());
        }
        let clock = &live(&mut self.blocks, who.block).clock;
        let (began, now) = (self.world.began(clock.launch), clock.now);
        let (first, last) = access.lanes.span();
        if cached.covers(first, last) {
            let known = &mut self.shadows[cached.id.slot as usize];
            known.read_only.read(cached, &numbered, began, now);
            return Ok(());
        }
        for (lane, address) in access.lanes.each() {
            if memory.look_up(address, bytes, cached).is_ok() {
                let lanes = Lanes::new(access.lanes.addresses, 1 << lane, bytes);
                let one = Numbered {
                    lanes: &lanes,
                    ..numbered
                };
                let known = &mut self.shadows[cached.id.slot as usize];
                known.read_only.read(cached, &one, began, now);
            }
        }
        Ok(())
    }

    /// Who of the launch has written some of what a warp reads.
    fn writer_of_any(
        &mut self,
        memory: &Memory,
        cached: &mut Cached,
        who: Accessors,
        access: &Access<'_>,
    ) -> Option<Trouble> {
        let (first, last) = access.lanes.span();
        let began = self.began(who);
        if cached.covers(first, last) && !self.is_written(cached, began) {
            return None;
        }
        let bytes = access.lanes.bytes;
        access.lanes.each().find_map(|(lane, address)| {
            memory.look_up(address, bytes, cached).ok()?;
            self.writer(cached, who, lane, address, bytes)
        })
    }

    /// When the launch of a block began.
    fn began(&mut self, who: Accessors) -> u32 {
        let launch = live(&mut self.blocks, who.block).clock.launch;
        self.world.began(launch)
    }

    /// Whether an allocation has been written since a time.
    fn is_written(&self, cached: &Cached, since: u32) -> bool {
        let known = self.shadows.get(cached.id.slot as usize);
        known.is_some_and(|known| known.id == cached.id && known.written >= since)
    }

    /// Who of the launch has written some of these bytes, which lie in one allocation.
    fn writer(
        &mut self,
        cached: &Cached,
        who: Accessors,
        lane: u32,
        address: u64,
        bytes: u32,
    ) -> Option<Trouble> {
        let launch = live(&mut self.blocks, who.block).clock.launch;
        let began = self.world.began(launch);
        if !self.is_written(cached, began) {
            return None;
        }
        let known = &mut self.shadows[cached.id.slot as usize];
        let Cells { line, first, count } = known.shadow.as_mut()?.cells(address, bytes.into());
        let (world, sets, sites) = (&self.world, &self.sets, &self.sites);
        let is_own = |epoch| {
            let instance = (epoch >= began).then(|| world.instance(epoch)).flatten();
            instance.is_some_and(|it| it.launch == launch)
        };
        let of_cell = |cell: usize| {
            if line.we[cell] != PENDING && is_own(line.we[cell]) {
                return Some(before(line.we[cell], line.wt[cell]));
            }
            // Strong writes are among the accesses since.
            let is_strong = match line.rt[cell] & SET {
                0 => line.rt[cell] & STRONG != 0,
                _ => sets.has(line.re[cell]) && sets.has_strong(line.rm[cell]),
            };
            let all = match is_strong {
                true => entries(line, cell, sets, began),
                false => Vec::new(),
            };
            let all = all.into_iter().map(|entry| before(entry.epoch, entry.who));
            all.into_iter()
                .find(|it| is_own(it.epoch) && sites.get(it.site).what.writes())
        };
        let before = (first..first + count).find_map(of_cell)?;
        Some(Trouble {
            lane,
            address,
            before: Some(before),
        })
    }

    /// Looks whether a write reaches bytes that the launch has read so, which lie in one allocation.
    ///
    /// # Errors
    /// Who has read them.
    pub(super) fn overwrite(
        &mut self,
        memory: &Memory,
        cached: &Cached,
        who: Accessors,
        access: &Numbered<'_>,
        all: impl Iterator<Item = (u32, u64, u32)>,
    ) -> Checked {
        if !access.what.writes() {
            return Ok(());
        }
        let clock = &live(&mut self.blocks, who.block).clock;
        let known = &mut self.shadows[cached.id.slot as usize];
        known.written = known.written.max(clock.now);
        if known.read_only.last == 0 {
            return Ok(());
        }
        let (launch, began) = (clock.launch, self.world.began(clock.launch));
        if known.read_only.last < began {
            return Ok(());
        }
        for (lane, address, bytes) in all {
            let reader = known.read_only.reader(cached, address, bytes.into(), began);
            let instance = reader.and_then(|it| self.world.instance(it.epoch));
            if instance.is_some_and(|it| it.launch == launch) {
                let trouble = Trouble {
                    lane,
                    address,
                    before: reader,
                };
                let place = memory.place(address);
                return Err(self.found(who, access, place, &trouble).into());
            }
        }
        Ok(())
    }
}
