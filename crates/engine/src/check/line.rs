//! The shadow of 32 cells, and accesses that all of a warp make to cells in a row.
//!
//! A cell is a word, or a byte where bytes are accessed. It remembers the last weak write and the
//! accesses since: those of one warp by their lanes, those of several as a set. What these functions
//! cannot show to be in order they leave to [`super::cell`], which knows everything.

/// Cells per line.
pub(super) const CELLS: usize = 32;
/// Bits of `wt` and `rt`: the thread, of which these are the warp's.
pub(super) const THREAD: u32 = 0x3ff;
pub(super) const WARP: u32 = 0x3e0;
pub(super) const LANE: u32 = 0x1f;
/// Then 16 bits of the site, and flags.
pub(super) const SITE_SHIFT: u32 = 10;
pub(super) const SITE: u32 = 0xffff << SITE_SHIFT;
/// The accesses since the last write are one that is strong, or the write itself, of several lanes at once.
pub(super) const STRONG: u32 = 1 << 26;
/// They are a set: `rm` is its number.
pub(super) const SET: u32 = 1 << 27;
/// Lanes of `rm` have read at other instructions, too.
pub(super) const SEVERAL: u32 = 1 << 28;

/// No time at all: what has never been accessed.
pub(super) const NEVER: u32 = 0;
/// The time of what was written before anything that is remembered.
pub(super) const ANCIENT: u32 = 1;
/// The time of an asynchronous write that has not landed.
pub(super) const PENDING: u32 = u32::MAX;

/// The shadow of 32 cells. All zero is nothing.
#[derive(Clone, Debug)]
#[repr(C, align(16))]
pub(super) struct Line {
    /// When each was written last.
    pub(super) we: [u32; CELLS],
    /// By which thread, at which site.
    pub(super) wt: [u32; CELLS],
    /// When each was accessed since, the latest.
    pub(super) re: [u32; CELLS],
    /// By which thread, the latest; at which site; flags.
    pub(super) rt: [u32; CELLS],
    /// By which lanes of its warp, or the number of a set.
    pub(super) rm: [u32; CELLS],
}

/// A warp's knowledge of the order of accesses, as far as comparisons go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fast {
    /// Everything before is in order.
    pub(super) floor: u32,
    /// Nothing was written before.
    pub(super) unwritten: u32,
    /// From here on all times are the block's own.
    pub(super) run: u32,
    /// From `run` on, so much is before the last barrier;
    pub(super) barrier_span: u32,
    /// so much before the last time that the whole warp met;
    pub(super) sync_span: u32,
    /// so much until now.
    pub(super) now_span: u32,
    pub(super) now: u32,
    /// The thread of lane 0.
    pub(super) base: u32,
    pub(super) mask: u32,
    /// In its place among the bits.
    pub(super) site: u32,
}

impl Line {
    /// All that is remembered of a cell.
    pub(super) fn state(&self, cell: usize) -> [u32; 5] {
        [&self.we, &self.wt, &self.re, &self.rt, &self.rm].map(|of| of[cell])
    }

    pub(super) fn set_state(&mut self, cell: usize, state: [u32; 5]) {
        [
            self.we[cell],
            self.wt[cell],
            self.re[cell],
            self.rt[cell],
            self.rm[cell],
        ] = state;
    }
}

impl Fast {
    /// Whether it is a time of the block, since the last one of others.
    pub(super) fn is_own(&self, epoch: u32) -> bool {
        epoch.wrapping_sub(self.run) <= self.now_span
    }

    /// Whether a thread is one of the warp.
    pub(super) fn is_of_warp(&self, who: u32) -> bool {
        who & WARP == self.base
    }
}

/// The kinds of accesses to the cells of a line.
pub(super) const READ: bool = false;
pub(super) const WRITE: bool = true;

/// Accesses by lanes with 2^`SHIFT` cells each, the first of lane 0 at cell `first` of the first
/// line, which may lie outside. Remembers what is in order, and gives whether all is.
#[inline(always)]
fn sweep<const SHIFT: u32, const KIND: bool>(
    lines: &mut [Line],
    fast: &Fast,
    mut first: i32,
) -> bool {
    let mut bad_at_all = 0;
    for line in lines {
        let is_whole = fast.mask == u32::MAX && first <= 0 && (31 - first) >> SHIFT < 32;
        let bad = match (KIND, is_whole) {
            (READ, true) => read::<SHIFT, true>(line, fast, first),
            (READ, false) => read::<SHIFT, false>(line, fast, first),
            (WRITE, true) => write::<SHIFT, true>(line, fast, first),
            (WRITE, false) => write::<SHIFT, false>(line, fast, first),
        };
        bad_at_all |= bad;
        first -= CELLS as i32;
    }
    bad_at_all == 0
}

/// All ones for true, so that comparisons of lanes stay comparisons of vectors.
#[inline(always)]
pub(super) fn all(truth: bool) -> u32 {
    u32::from(truth).wrapping_neg()
}

#[inline(always)]
pub(super) fn pick(mask: u32, yes: u32, no: u32) -> u32 {
    (yes & mask) | (no & !mask)
}

/// Of a cell: its lane's bit, its thread, and whether the lane is active.
#[inline(always)]
fn lane<const SHIFT: u32, const WHOLE: bool>(
    cell: usize,
    fast: &Fast,
    first: i32,
) -> (u32, u32, u32) {
    let lane = ((cell as i32 - first) >> SHIFT) as u32;
    let bit = 1u32 << (lane & 31);
    let active = if WHOLE {
        u32::MAX
    } else {
        all(lane < 32) & all(fast.mask & bit != 0)
    };
    (bit, fast.base | (lane & 31), active)
}

#[inline(always)]
fn is_written_before(fast: &Fast, we: u32, wt: u32, me: u32) -> u32 {
    let since = we.wrapping_sub(fast.run);
    all(we < fast.floor)
        | all(since < fast.barrier_span)
        | (all(since <= fast.now_span) & all(wt & THREAD == me))
        | (all(since < fast.sync_span) & all(wt & WARP == fast.base))
}

/// Whether a cell has been written, before what a thread of the warp does. Of no thread that there is: before
/// what all of the warp do.
#[inline(always)]
pub(super) fn is_written_for(line: &Line, cell: usize, fast: &Fast, me: u32) -> u32 {
    let (we, wt) = (line.we[cell], line.wt[cell]);
    all(we >= fast.unwritten) & is_written_before(fast, we, wt, me)
}

/// Whether the accesses since the last write are before this one; and whether they are weak reads of
/// this warp.
#[inline(always)]
fn is_read_before(fast: &Fast, re: u32, rt: u32, rm: u32, bit: u32) -> (u32, u32) {
    let since = re.wrapping_sub(fast.run);
    let plain = all(rt & (SET | STRONG) == 0);
    let warp = plain & all(rt & WARP == fast.base);
    let own = all(rm == bit) & all(since <= fast.now_span);
    let before = all(re < fast.floor)
        | (plain & all(since < fast.barrier_span))
        | (warp & (all(since < fast.sync_span) | own));
    (before, warp)
}

#[inline(always)]
fn read<const SHIFT: u32, const WHOLE: bool>(line: &mut Line, fast: &Fast, first: i32) -> u32 {
    let mut bad = [0; CELLS];
    for (cell, bad) in bad.iter_mut().enumerate() {
        *bad = read_cell(line, cell, fast, lane::<SHIFT, WHOLE>(cell, fast, first));
    }
    bad.iter().fold(0, |any, bad| any | bad)
}

/// All ones if the cell is active and its access cannot be shown to be in order.
#[inline(always)]
fn read_cell(line: &mut Line, cell: usize, fast: &Fast, (bit, me, active): (u32, u32, u32)) -> u32 {
    let (re, rt, rm) = (line.re[cell], line.rt[cell], line.rm[cell]);
    let (before, warp) = is_read_before(fast, re, rt, rm, bit);
    let merge = warp & all(re == fast.now);
    let good = is_written_for(line, cell, fast, me) & (before | merge) & active;
    let mine = me | fast.site;
    let others = merge & all(rm != bit);
    let several = others & ((all((rt ^ mine) & SITE != 0) & SEVERAL) | (rt & SEVERAL));
    line.re[cell] = pick(good, fast.now, re);
    line.rt[cell] = pick(good, mine | several, rt);
    line.rm[cell] = pick(good, bit | (merge & rm), rm);
    active & !good
}

#[inline(always)]
fn write<const SHIFT: u32, const WHOLE: bool>(line: &mut Line, fast: &Fast, first: i32) -> u32 {
    let mut bad = [0; CELLS];
    for (cell, bad) in bad.iter_mut().enumerate() {
        *bad = write_cell(line, cell, fast, lane::<SHIFT, WHOLE>(cell, fast, first));
    }
    bad.iter().fold(0, |any, bad| any | bad)
}

#[inline(always)]
fn write_cell(
    line: &mut Line,
    cell: usize,
    fast: &Fast,
    (bit, me, active): (u32, u32, u32),
) -> u32 {
    let (we, wt) = (line.we[cell], line.wt[cell]);
    let (re, rt, rm) = (line.re[cell], line.rt[cell], line.rm[cell]);
    let (before, _) = is_read_before(fast, re, rt, rm, bit);
    let good = is_written_before(fast, we, wt, me) & before & active;
    line.we[cell] = pick(good, fast.now, we);
    line.wt[cell] = pick(good, me | fast.site, wt);
    line.re[cell] = re & !good;
    line.rt[cell] = rt & !good;
    line.rm[cell] = rm & !good;
    active & !good
}

/// One lane's access to one cell, as the sweeps make it: whether it is in order, and remembered.
#[inline]
pub(super) fn one(kind: bool, line: &mut Line, cell: usize, fast: &Fast, lane: u32) -> bool {
    let lane = (1 << lane, fast.base | lane, u32::MAX);
    let bad = if kind == WRITE {
        write_cell(line, cell, fast, lane)
    } else {
        read_cell(line, cell, fast, lane)
    };
    bad == 0
}

/// A read of one cell by all active lanes: whether it is in order for each, and remembered.
#[inline]
pub(super) fn read_by_all(line: &mut Line, cell: usize, fast: &Fast) -> bool {
    let is_written = is_written_for(line, cell, fast, u32::MAX) != 0;
    let (re, rt) = (line.re[cell], line.rt[cell]);
    let since = re.wrapping_sub(fast.run);
    let is_plain = rt & (SET | STRONG) == 0;
    let is_warp = is_plain && rt & WARP == fast.base;
    let is_before = re < fast.floor
        || (is_plain && since < fast.barrier_span)
        || (is_warp && since < fast.sync_span);
    let merges = is_warp && re == fast.now && !is_before;
    if !is_written || !(is_before || merges) {
        return false;
    }
    let mine = (fast.base | fast.mask.trailing_zeros()) | fast.site;
    let differs = merges && ((rt ^ mine) & SITE != 0 || rt & SEVERAL != 0);
    line.re[cell] = fast.now;
    line.rt[cell] = mine | if differs { SEVERAL } else { 0 };
    line.rm[cell] = fast.mask | if merges { line.rm[cell] } else { 0 };
    true
}

type Sweep = unsafe fn(&mut [Line], &Fast, i32) -> bool;

/// The widest vectors that this machine has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweeps {
    reads: [Sweep; 5],
    writes: [Sweep; 5],
}

macro_rules! sweeps {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use super::{Fast, Line, READ, Sweeps, WRITE, sweep};

            $(#[target_feature(enable = $feature)])?
            fn run<const SHIFT: u32, const KIND: bool>(
                lines: &mut [Line],
                fast: &Fast,
                first: i32,
            ) -> bool {
                sweep::<SHIFT, KIND>(lines, fast, first)
            }

            pub(super) const ALL: Sweeps = Sweeps {
                reads: [run::<0, READ>, run::<1, READ>, run::<2, READ>, run::<3, READ>, run::<4, READ>],
                writes: [run::<0, WRITE>, run::<1, WRITE>, run::<2, WRITE>, run::<3, WRITE>, run::<4, WRITE>],
            };
        }
    };
}

sweeps!(baseline);
#[cfg(target_arch = "x86_64")]
sweeps!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
sweeps!(avx512, "avx512f,avx512bw,avx512vl");

impl Sweeps {
    pub(super) fn of_this_machine() -> Sweeps {
        #[cfg(target_arch = "x86_64")]
        {
            let has_512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            if has_512 {
                return avx512::ALL;
            }
            if is_x86_feature_detected!("avx2") {
                return avx2::ALL;
            }
        }
        baseline::ALL
    }

    /// As [`sweep`], for 2^`shift` cells per lane, at most 16.
    #[inline]
    pub(super) fn run(
        &self,
        kind: bool,
        shift: u32,
        lines: &mut [Line],
        fast: &Fast,
        first: i32,
    ) -> bool {
        let table = if kind == WRITE {
            &self.writes
        } else {
            &self.reads
        };
        // SAFETY: `of_this_machine` saw that the machine has what they use.
        unsafe { table[shift as usize](lines, fast, first) }
    }
}
