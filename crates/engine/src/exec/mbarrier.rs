//! `mbarrier`: objects of 64 bits in shared memory at which threads arrive and asynchronous copies count
//! their bytes.

use super::checked::{self, OfShared};
use super::failure::Cause;
use super::op::{Context, Op};
use super::registers::lanes_of;
use super::shared_operand::{Address, SharedOperand};
use super::surroundings::Unmet;
use super::undefined;
use crate::check::{AccessKind, Checker, Strength};

/// An instruction on an mbarrier. Numbers are slots of words, but for states and phases that are states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mbarrier {
    pub(crate) at: Address,
    pub(crate) act: Act,
    /// Kind of the access, for the checks.
    pub(crate) what: AccessKind,
}

/// The action on an mbarrier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Init {
        count: u32,
    },
    Inval,
    Expect {
        bytes: u32,
    },
    Complete {
        bytes: u32,
    },
    Arrive(Arrival),
    /// When the thread's copies before it are done.
    ArriveByCopies {
        is_expected: bool,
    },
    Wait {
        phase: Phase,
        /// Whether the phase is complete.
        p: u32,
    },
}

/// `mbarrier.arrive`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) drops: bool,
    pub(crate) expect: Option<u32>,
    pub(crate) completes: bool,
    pub(crate) count: Option<u32>,
    /// A slot of 64 bits.
    pub(crate) state: Option<u32>,
}

/// Which phase is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Phase {
    /// That of a state, in a slot of 64 bits.
    Of(u32),
    /// The one of this parity, in a slot of words.
    Parity(u32),
}

/// The state of an mbarrier. The emulator's own layout: PTX leaves it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    /// Arrivals until the phase ends.
    pending: u32,
    /// Arrivals of the phases to come.
    expected: u32,
    /// Bytes that are expected and have not come; less than 0 where they came before they were expected.
    bytes: i64,
    parity: bool,
}

/// Arrivals and bytes that there can be.
const MOST: u32 = (1 << 20) - 1;
const PENDING: u32 = 0;
const EXPECTED: u32 = 20;
const BYTES: u32 = 40;
const PARITY: u32 = 61;
/// Memory that is filled with ones, or zeros, is no mbarrier.
const VALID: u64 = 0b10 << 62;

impl Word {
    fn of(bits: u64) -> Option<Word> {
        let part = |from: u32| (bits >> from) as u32 & MOST;
        (bits >> 62 == VALID >> 62).then(|| Word {
            pending: part(PENDING),
            expected: part(EXPECTED),
            // 21 bits, of which the highest is the sign.
            bytes: (bits << (64 - PARITY)) as i64 >> (64 - PARITY + BYTES),
            parity: bits >> PARITY & 1 == 1,
        })
    }

    fn bits(self) -> u64 {
        let bytes = self.bytes as u64 & ((1 << (PARITY - BYTES)) - 1);
        u64::from(self.pending) << PENDING
            | u64::from(self.expected) << EXPECTED
            | bytes << BYTES
            | u64::from(self.parity) << PARITY
            | VALID
    }

    /// Ends the phase where all have come. Gives whether it has.
    fn settle(&mut self) -> bool {
        let ends = self.pending == 0 && self.bytes == 0;
        if ends {
            self.parity = !self.parity;
            self.pending = self.expected;
        }
        ends
    }

    fn add_bytes(&mut self, bytes: i64) -> Result<(), String> {
        self.bytes += bytes;
        match self.bytes.unsigned_abs() <= u64::from(MOST) {
            true => Ok(()),
            false => Err(format!(
                "the bytes that an mbarrier expects become {}, beyond {MOST}",
                self.bytes
            )),
        }
    }

    fn arrive(&mut self, count: u32, drops: bool) -> Result<(), String> {
        if count == 0 || count > self.pending {
            return Err(format!(
                "{count} arrive at an mbarrier whose phase expects {} more",
                self.pending
            ));
        }
        self.pending -= count;
        if drops {
            self.expected -= count.min(self.expected);
        }
        Ok(())
    }
}

/// Arrivals that the phase of a state still expects: `mbarrier.pending_count`.
pub(crate) fn pending_count(state: u64) -> u32 {
    Word::of(state).map_or(0, |word| word.pending)
}

/// Executes an instruction, lane by lane.
///
/// # Safety
/// `aux` is the index of an instruction of the running program, whose slots are of their kinds.
pub(crate) unsafe fn execute(context: &mut Context<'_>, op: &Op) {
    // SAFETY: set when a warp enters an activation, which keeps its program.
    let it = unsafe { (&*context.at.program).mbarriers[op.aux as usize] };
    let mask = context.mask;
    for lane in lanes_of(mask) {
        // SAFETY: the slots are those of a verified program, of their kinds.
        if let Err(failure) = unsafe { one(context, op, &it, lane) } {
            context.mask = 1 << lane;
            context.fault(failure, op.instruction);
            break;
        }
    }
    context.mask = mask;
}

/// One lane's step at an mbarrier.
struct Step<'a> {
    op: &'a Op,
    it: &'a Mbarrier,
    lane: usize,
    spot: SharedOperand,
}

/// # Safety
/// As for [`execute`].
unsafe fn one(context: &mut Context<'_>, op: &Op, it: &Mbarrier, lane: usize) -> Result<(), Cause> {
    // SAFETY: the slots are those of a verified program, of their kinds.
    let spot = unsafe { it.at.spot(context, lane, 8)? };
    let step = Step { op, it, lane, spot };
    // SAFETY: the slots are those of a verified program, of their kinds.
    unsafe {
        match it.act {
            Act::Init { count } => step.init(context, count),
            Act::Wait { phase, p } => step.wait(context, phase, p),
            _ => step.change(context),
        }
    }
}

impl Step<'_> {
    /// The lane's word of a slot.
    ///
    /// # Safety
    /// The slot is one of the running program, of words.
    unsafe fn word(&self, context: &Context<'_>, slot: u32) -> u32 {
        // SAFETY: the slot is the program's own, of this kind: `exec::verify`, slots.
        unsafe { context.slot::<u32>(slot)[self.lane] }
    }

    /// Tells the checks.
    fn tell(&self, context: &mut Context<'_>) -> Result<(), Cause> {
        let (what, tell): (_, OfShared) = match self.it.act {
            Act::Inval => (AccessKind::Write(Strength::Weak), Checker::invalidate),
            Act::Arrive(_) => (self.it.what, Checker::arrive_at),
            _ => (self.it.what, Checker::shared_of),
        };
        checked::shared_word(context, self.op, self.lane, &self.spot, what, tell)
    }

    /// Reads the state of the mbarrier.
    fn read(&self) -> Result<Word, Cause> {
        let text = "no mbarrier is where it looks for one: it has not been initialised, has been \
            invalidated, or something else was written there";
        Word::of(self.spot.read()).ok_or_else(|| Cause::misuse(text.to_owned()))
    }

    /// # Safety
    /// The slot is one of the running program, of words.
    unsafe fn init(&self, context: &mut Context<'_>, count: u32) -> Result<(), Cause> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let count = unsafe { self.word(context, count) };
        if count == 0 || count > MOST {
            let text = format!("an mbarrier for {count} arrivals; it takes 1 to {MOST}");
            return Err(Cause::misuse(text));
        }
        self.tell(context)?;
        checked::begin_mbarrier(context, &self.spot);
        let begun = Word {
            pending: count,
            expected: count,
            bytes: 0,
            parity: false,
        };
        self.spot.write(begun.bits());
        Ok(())
    }

    /// # Safety
    /// The slots are those of the running program.
    unsafe fn wait(&self, context: &mut Context<'_>, phase: Phase, p: u32) -> Result<(), Cause> {
        let Step { lane, spot, .. } = self;
        let now = self.read()?;
        let wanted = match phase {
            // SAFETY: the slot holds 64 bits.
            Phase::Of(state) => unsafe { context.slot::<u64>(state)[*lane] >> PARITY & 1 == 1 },
            // SAFETY: the slot holds words.
            Phase::Parity(parity) => unsafe { self.word(context, parity) & 1 == 1 },
        };
        let has_ended = now.parity != wanted;
        let is_complete = match has_ended {
            true => checked::may_know(context, *lane, spot),
            // As long as nobody has waited for its copies, the phase before may go on.
            false => checked::may_be_earlier(context, spot),
        };
        if has_ended && is_complete {
            context.at.unmet = None;
            checked::land(context, spot);
            self.tell(context)?;
        } else if !is_complete {
            if !has_ended {
                context.at.unmet = Some(Unmet {
                    offset: spot.offset,
                    arrivals: now.pending,
                    bytes: now.bytes,
                    instruction: self.op.instruction,
                });
            }
            // Others have their turn.
            context.at.looks = context.at.looks.saturating_add(1 << 16);
        }
        // SAFETY: the slot holds a predicate.
        unsafe {
            let others = context.predicate(p) & !(1 << lane);
            context.set_predicate(p, others | u32::from(is_complete) << lane);
        }
        undefined::written(context, p, 1 << lane);
        Ok(())
    }

    /// # Safety
    /// The slots are those of the running program.
    unsafe fn change(&self, context: &mut Context<'_>) -> Result<(), Cause> {
        let mut word = self.read()?;
        self.tell(context)?;
        // SAFETY: the slots are those of a verified program, of their kinds.
        let of = |slot: u32| unsafe { self.word(context, slot) };
        let changed = match self.it.act {
            Act::Init { .. } | Act::Wait { .. } => Ok(()),
            Act::Inval => {
                self.spot.write(u64::MAX);
                return Ok(());
            }
            Act::Expect { bytes } => word.add_bytes(of(bytes).into()),
            Act::Complete { bytes } => word.add_bytes(-i64::from(of(bytes))),
            // SAFETY: the slots are those of a verified program, of their kinds.
            Act::Arrive(arrival) => unsafe { self.arrive(context, arrival, &mut word) },
            Act::ArriveByCopies { is_expected } => {
                checked::copies_arrive(context, self.lane, &self.spot);
                // Copies are done where they begin.
                match is_expected {
                    true => word.arrive(1, false),
                    false => Ok(()),
                }
            }
        };
        changed.map_err(Cause::misuse)?;
        finish(context, &self.spot, word);
        Ok(())
    }

    /// # Safety
    /// The slots are those of the running program.
    unsafe fn arrive(
        &self,
        context: &mut Context<'_>,
        arrival: Arrival,
        word: &mut Word,
    ) -> Result<(), String> {
        // SAFETY: the slots are those of a verified program, of their kinds.
        let of = |slot: u32| unsafe { self.word(context, slot) };
        let expected = arrival.expect.map_or(0, of);
        let count = arrival.count.map_or(1, of);
        if let Some(state) = arrival.state {
            // SAFETY: the slot holds 64 bits.
            unsafe { context.slot_mut::<u64>(state)[self.lane] = word.bits() };
            undefined::written(context, state, 1 << self.lane);
        }
        word.add_bytes(expected.into())?;
        word.arrive(count, arrival.drops)?;
        match word.pending == 0 && !arrival.completes {
            true => Err("`.noComplete`, and the phase ends".to_owned()),
            false => Ok(()),
        }
    }
}

/// Counts bytes that a copy has brought.
pub(crate) fn complete(
    context: &mut Context<'_>,
    spot: &SharedOperand,
    bytes: u32,
) -> Result<(), Cause> {
    let Some(mut word) = Word::of(spot.read()) else {
        let text = "a copy is to tell an mbarrier, and none is there";
        return Err(Cause::misuse(text.to_owned()));
    };
    word.add_bytes(-i64::from(bytes)).map_err(Cause::misuse)?;
    finish(context, spot, word);
    Ok(())
}

/// Arrives at it by itself: what somebody has committed is done.
pub(crate) fn arrive_once(context: &mut Context<'_>, spot: &SharedOperand) -> Result<(), Cause> {
    let Some(mut word) = Word::of(spot.read()) else {
        let text = "a commit is to tell an mbarrier, and none is there";
        return Err(Cause::misuse(text.to_owned()));
    };
    word.arrive(1, false).map_err(Cause::misuse)?;
    finish(context, spot, word);
    Ok(())
}

fn finish(context: &mut Context<'_>, spot: &SharedOperand, mut word: Word) {
    if word.settle() {
        context.at.unmet = None;
        context.at.has_ended_phase = true;
        checked::end_phase(context, spot);
    }
    spot.write(word.bits());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_from_their_bits() {
        for bytes in [0, 1, -1, i64::from(MOST), -i64::from(MOST)] {
            for parity in [false, true] {
                let word = Word {
                    pending: 7,
                    expected: MOST,
                    bytes,
                    parity,
                };
                assert_eq!(Word::of(word.bits()), Some(word));
            }
        }
        assert_eq!(Word::of(0), None);
        assert_eq!(Word::of(u64::MAX), None);
    }

    #[test]
    fn a_phase_ends_with_the_last_arrival_and_the_last_byte() {
        let mut word = Word {
            pending: 2,
            expected: 2,
            bytes: 0,
            parity: false,
        };
        assert_eq!(word.arrive(1, true), Ok(()));
        assert_eq!(word.add_bytes(16), Ok(()));
        assert_eq!(word.arrive(1, false), Ok(()));
        assert!(!word.settle());
        assert_eq!(word.add_bytes(-16), Ok(()));
        assert!(word.settle());
        assert_eq!((word.pending, word.parity), (1, true));
        assert!(word.arrive(2, false).is_err());
        assert!(word.add_bytes(1 << 20).is_err());
    }
}
