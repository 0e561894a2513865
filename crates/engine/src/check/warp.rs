//! The effect of a warp's access on the shadow.

use super::access::{AccessKind, Order, Scope, Unwritten};
use super::benign::Harmless;
use super::cell::{Before, Judge, Touch};
use super::clock::Clock;
use super::epochs::Epochs;
use super::line::{CELLS, Fast, PENDING, READ, SET, STRONG, Sweeps, WRITE, one, read_by_all};
use super::overlap::Stored;
use super::sets::Sets;
use super::shadow::{Cells, LINE, Rows, Shadow};
use super::sites::Sites;
use super::strong::{Effect, How, Reach, Site};
use super::warp_readers::WarpReaders;
use crate::memory::{Lanes, Pattern};

/// The first access of a warp that something is wrong with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    pub(super) lane: u32,
    pub(super) address: u64,
    /// None where nobody has written.
    pub(super) before: Option<Before>,
}

/// The first of each that is wrong with an access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Troubles {
    /// It reads what nobody has written.
    pub(super) empty: Option<Trouble>,
    pub(super) race: Option<Trouble>,
    pub(super) benign: Option<Trouble>,
}

/// The state with which accesses to one memory are judged.
pub(super) struct Ground<'a> {
    pub(super) world: &'a mut Epochs,
    pub(super) clock: &'a mut Clock,
    pub(super) sites: &'a Sites,
    pub(super) sets: &'a mut Sets,
    pub(super) sweeps: &'a Sweeps,
    pub(super) shadow: &'a mut Shadow,
    pub(super) floor: u32,
    pub(super) unwritten: u32,
    pub(super) initial: u32,
    pub(super) reach: Reach,
    pub(super) found: Troubles,
    /// Where weak writes have taken the place of strong ones.
    pub(super) overwritten: Vec<u64>,
    /// Tells equal offsets of blocks apart.
    pub(super) space: u64,
}

/// One warp's access by the number of its site.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a> {
    pub(super) warp: u32,
    pub(super) what: AccessKind,
    pub(super) element_bytes: u32,
    pub(super) lanes: &'a Lanes<'a>,
    pub(super) site: u32,
    pub(super) unwritten: Unwritten,
    pub(super) stored: Option<&'a dyn Stored>,
    /// Whether it is `mbarrier.inval`.
    pub(super) is_inval: bool,
}

impl Numbered<'_> {
    fn touch(&self, lane: u32, place: u64) -> Touch {
        Touch {
            thread: self.warp * 32 + lane,
            place,
            what: self.what,
            element_bytes: self.element_bytes,
            site: self.site,
        }
    }

    pub(super) fn kind(&self) -> bool {
        if self.what.writes() { WRITE } else { READ }
    }
}

impl Ground<'_> {
    pub(super) fn fast(&self, access: &Numbered<'_>) -> Fast {
        let Clock {
            run,
            barrier,
            now,
            ref syncs,
            ..
        } = *self.clock;
        let sync = syncs.get(access.warp as usize).copied().unwrap_or(0);
        Fast {
            floor: self.floor,
            unwritten: self.unwritten,
            run,
            barrier_span: barrier.saturating_sub(run),
            sync_span: sync.saturating_sub(run),
            now_span: now - run,
            now,
            base: access.warp * 32,
            mask: access.lanes.mask,
            site: access.site << super::line::SITE_SHIFT,
        }
    }

    /// A weak access.
    #[inline]
    pub(super) fn weak(&mut self, access: &Numbered<'_>) {
        let fast = self.fast(access);
        match access.lanes.pattern {
            Pattern::Consecutive { start } => {
                if !self.consecutive(access, &fast, start) {
                    // What was found in order is so again.
                    self.scattered(access, &fast);
                }
            }
            Pattern::Same { address } if !access.what.writes() => {
                self.same(access, &fast, address);
            }
            _ => match access.overlaps() {
                Some(stored) => self.overlapping(access, &fast, stored),
                None => self.mixed(access, &fast),
            },
        }
        self.forget_overwritten();
    }

    /// An access by lanes in a row, lane 0's from `start` on: whether all is in order, and remembered.
    fn consecutive(&mut self, access: &Numbered<'_>, fast: &Fast, start: u64) -> bool {
        let bytes = u64::from(access.lanes.bytes);
        let (first, last) = access.lanes.span();
        let is_clean = if self.shadow.is_coarse(bytes) {
            let rows = self.shadow.coarse(first, last);
            sweep(self.sweeps, access, fast, rows, start)
        } else {
            let (mut chunk, mut is_clean) = (first, true);
            while chunk <= last {
                let rows = self.shadow.rows(chunk, bytes);
                chunk = rows.start + LINE;
                is_clean &= sweep(self.sweeps, access, fast, rows, start);
            }
            is_clean
        };
        is_clean || access.kind() == READ && self.read_together(access, fast, start)
    }

    /// Reads of rows that other warps have read, too: whether they are in order, and remembered.
    fn read_together(&mut self, access: &Numbered<'_>, fast: &Fast, start: u64) -> bool {
        let bytes = u64::from(access.lanes.bytes);
        let (mut chunk, last) = access.lanes.span();
        let mut together = WarpReaders {
            world: self.world,
            clock: self.clock,
            sets: self.sets,
            fast,
        };
        while chunk <= last {
            let rows = self.shadow.rows(chunk, bytes);
            chunk = rows.start + LINE;
            let (mut first, shift) = rows.place(start, bytes);
            for line in rows.lines {
                let alone = std::slice::from_mut(line);
                let is_clean = self.sweeps.run(READ, shift, alone, fast, first)
                    || together.read_row(line, (first, shift));
                if !is_clean {
                    return false;
                }
                first -= CELLS as i32;
            }
        }
        true
    }

    fn same(&mut self, access: &Numbered<'_>, fast: &Fast, address: u64) {
        let bytes = access.lanes.bytes.into();
        if !self.read_at(fast, address, bytes) {
            // Not as a group once more.
            for lane in (0..32).filter(|lane| access.lanes.mask >> lane & 1 == 1) {
                self.one(access, fast, lane, address, bytes);
            }
        }
    }

    /// An access of no pattern: by groups of lanes that share addresses, by lanes in a row, as those of a row of a tile, or by
    /// each lane.
    fn mixed(&mut self, access: &Numbered<'_>, fast: &Fast) {
        if access.kind() == READ && access.lanes.first_is_shared() {
            return self.in_groups(access, fast);
        }
        let Some(runs) = access.lanes.runs() else {
            return self.scattered(access, fast);
        };
        for (mask, start) in runs {
            let lanes = Lanes {
                mask,
                pattern: Pattern::Consecutive { start },
                ..*access.lanes
            };
            let lanes = &lanes;
            let (access, fast) = (Numbered { lanes, ..*access }, Fast { mask, ..*fast });
            if !self.consecutive(&access, &fast, start) {
                self.scattered(&access, &fast);
            }
        }
    }

    fn scattered(&mut self, access: &Numbered<'_>, fast: &Fast) {
        for (lane, address) in access.lanes.each() {
            self.one(access, fast, lane, address, access.lanes.bytes.into());
        }
    }

    /// Reads by groups of lanes that have equal addresses.
    fn in_groups(&mut self, access: &Numbered<'_>, fast: &Fast) {
        let bytes = u64::from(access.lanes.bytes);
        let mut left = access.lanes.mask;
        while left != 0 {
            let address = access.lanes.addresses[left.trailing_zeros() as usize];
            let mask = access.lanes.at(address) & left;
            left &= !mask;
            if mask.count_ones() == 1 || !self.read_at(&Fast { mask, ..*fast }, address, bytes) {
                for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
                    self.one(access, fast, lane, address, bytes);
                }
            }
        }
    }

    /// A read of one address by all lanes of the mask: whether it is in order, and remembered.
    fn read_at(&mut self, fast: &Fast, address: u64, bytes: u64) -> bool {
        let Cells { line, first, count } = self.shadow.cells(address, bytes);
        let mut together = WarpReaders {
            world: self.world,
            clock: self.clock,
            sets: self.sets,
            fast,
        };
        (first..first + count)
            .all(|cell| read_by_all(line, cell, fast) || together.read_one(line, cell))
    }

    /// One lane's cells.
    #[inline]
    pub(super) fn one(
        &mut self,
        access: &Numbered<'_>,
        fast: &Fast,
        lane: u32,
        address: u64,
        bytes: u64,
    ) {
        let judge = Judge {
            world: self.world,
            clock: self.clock,
            sites: self.sites,
            floor: self.floor,
            unwritten: self.unwritten,
            initial: self.initial,
        };
        let Cells { line, first, count } = self.shadow.cells(address, bytes);
        for cell in first..first + count {
            let is_weak = access.what.strong().is_none();
            if is_weak && one(access.kind(), line, cell, fast, lane) {
                continue;
            }
            let trouble = |before| Trouble {
                lane,
                address,
                before,
            };
            if access.what.reads() && !judge.is_written(line, cell) && line.we[cell] != PENDING {
                self.found.empty.get_or_insert(trouble(None));
            }
            if is_weak && access.what.writes() && line.rt[cell] & (STRONG | SET) != 0 {
                self.overwritten.push(address);
            }
            let size = bytes as usize / count;
            let at = address + ((cell - first) * size) as u64;
            let touch = access.touch(lane, at | self.space);
            if let Some(before) = judge.touch(line, cell, self.sets, &touch) {
                let harmless = access.harmless(lane, at, size);
                if harmless == Some(Harmless::EqualStore)
                    && judge.joins(&touch, &before)
                    && judge.join(line, cell, self.sets, (&touch, &before))
                {
                    continue;
                }
                let benign =
                    harmless.and_then(|it| judge.harmless(line, cell, self.sets, (&touch, it)));
                match benign {
                    Some(before) => self.found.benign.get_or_insert(trouble(Some(before))),
                    None => self.found.race.get_or_insert(trouble(Some(before))),
                };
            }
        }
    }

    /// A thread's access to many cells.
    pub(super) fn by_one(
        &mut self,
        access: &Numbered<'_>,
        lane: u32,
        all: impl Iterator<Item = (u64, u64)>,
    ) {
        let fast = self.fast(access);
        for (address, bytes) in all {
            self.one(access, &fast, lane, address, bytes);
        }
        self.forget_overwritten();
    }

    fn forget_overwritten(&mut self) {
        for address in std::mem::take(&mut self.overwritten) {
            let sites = match self.reach {
                Reach::Block => &mut self.clock.sites,
                Reach::All => &mut self.world.sites,
            };
            sites.remove(&(address | self.space));
        }
    }

    /// A strong access: lane by lane, element by element.
    pub(super) fn strong(&mut self, access: &Numbered<'_>, (order, scope): (Order, Scope)) {
        let fast = self.fast(access);
        let element = u64::from(access.element_bytes);
        let mut left = access.lanes.mask;
        let is_relaxed = order == Order::Relaxed && !matches!(access.what, AccessKind::Write(_));
        let may_be_alike = is_relaxed
            && matches!(access.lanes.pattern, Pattern::Same { .. })
            && access.element_bytes == access.lanes.bytes;
        for (lane, start) in access.lanes.each() {
            // The first of a block may not be alike, and is looked at closely.
            let rank = (access.lanes.mask ^ left).count_ones();
            if may_be_alike && rank < 2 && self.by_all(access, left, start, scope) {
                break;
            }
            left &= left - 1;
            for part in 0..u64::from(access.lanes.bytes) / element {
                let at = start + part * element;
                self.strong_element(access, &fast, lane, at, (order, scope));
            }
        }
        if order.releases() && access.what.writes() {
            self.clock.tick(self.world);
        }
    }

    /// Relaxed atomics or reads of one address by these lanes, as if by one after the other: whether all can be looked at at once,
    /// and are in order and remembered.
    fn by_all(&mut self, access: &Numbered<'_>, mask: u32, address: u64, scope: Scope) -> bool {
        let how = How {
            order: Order::Relaxed,
            scope,
            bytes: access.element_bytes,
            place: address | self.space,
            reach: self.reach,
        };
        let judge = Judge {
            world: self.world,
            clock: self.clock,
            sites: self.sites,
            floor: self.floor,
            unwritten: self.unwritten,
            initial: self.initial,
        };
        let last = 31 - mask.leading_zeros();
        let Cells { line, first, count } = self.shadow.cells(address, how.bytes.into());
        let mut cells = first..first + count;
        let are_alike = cells.all(|cell| {
            let at = address + ((cell - first) * how.bytes as usize / count) as u64;
            let touch = access.touch(last, at | self.space);
            judge.by_all(line, cell, self.sets, (&touch, mask))
        });
        if !are_alike {
            return false;
        }
        let Some(mut site) = self.take_site(how.place) else {
            return false;
        };
        let warp = (access.warp, mask);
        let all = match access.what.writes() {
            true => self.clock.all_update(self.world, &mut site, warp, how),
            false => {
                self.clock.see(self.world, &site, warp, (how, 0));
                true
            }
        };
        self.put_site(how.place, site);
        all
    }

    /// Takes the chains of an address out of their place for as long as they are looked at.
    fn take_site(&mut self, key: u64) -> Option<Site> {
        let sites = match self.reach {
            Reach::Block => &mut self.clock.sites,
            Reach::All => &mut self.world.sites,
        };
        sites.get_mut(&key).map(std::mem::take)
    }

    fn put_site(&mut self, key: u64, site: Site) {
        let sites = match self.reach {
            Reach::Block => &mut self.clock.sites,
            Reach::All => &mut self.world.sites,
        };
        sites.insert(key, site);
    }

    fn strong_element(
        &mut self,
        access: &Numbered<'_>,
        fast: &Fast,
        lane: u32,
        address: u64,
        (order, scope): (Order, Scope),
    ) {
        let thread = access.warp * 32 + lane;
        let key = address | self.space;
        let how = How {
            order,
            scope,
            bytes: access.element_bytes,
            place: key,
            reach: self.reach,
        };
        let known = self.take_site(key);
        let is_known = known.is_some();
        let mut site = known.unwrap_or_default();
        if access.what.reads() {
            self.clock.acquire(self.world, &site, thread, how);
        }
        self.one(access, fast, lane, address, how.bytes.into());
        if access.what.reads() {
            self.clock.observe(self.world, &site, thread, how);
        }
        if access.what.writes() {
            let effect = match access.what {
                AccessKind::Atomic(..) => Effect::Continue,
                _ => Effect::Replace,
            };
            self.clock
                .publish(self.world, &mut site, thread, how, effect);
        }
        if is_known || access.what.writes() {
            self.put_site(key, site);
        }
    }

    pub(super) fn access(&mut self, access: &Numbered<'_>) {
        match access.what.strong() {
            None => self.weak(access),
            Some(how) => self.strong(access, how),
        }
    }
}

/// One run over lines in a row.
#[inline]
fn sweep(sweeps: &Sweeps, access: &Numbered<'_>, fast: &Fast, rows: Rows<'_>, start: u64) -> bool {
    let (first, shift) = rows.place(start, access.lanes.bytes.into());
    sweeps.run(access.kind(), shift, rows.lines, fast, first)
}
