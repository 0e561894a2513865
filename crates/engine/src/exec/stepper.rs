//! The steps of a launch that is debugged: an instruction of a group of lanes after another, numbered.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::activation::Group;
use super::failure::Failed;
use super::op::Context;
use super::program::Program;
use super::warp::Warp;

/// A debugger's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Go on, and ask before the step of this number, or sooner.
    At(u64),
    /// End the launch here, without an effect of this step: [`Failure::Abandoned`](super::failure::Failure::Abandoned).
    Abandon,
}

/// Who is told of steps.
pub(crate) trait Watch: Sync {
    /// A step is about to be taken.
    fn before(&self, at: &At<'_, '_>) -> Next;

    /// A step could not be taken.
    fn failed(&self, at: &At<'_, '_>, failed: &Failed) -> Next;
}

/// A step.
pub(crate) struct At<'a, 'c> {
    /// How many were taken before it.
    pub(crate) position: u64,
    /// Of the function.
    pub(crate) instruction: u32,
    pub(crate) group: Group,
    pub(crate) warp: &'a Warp,
    pub(crate) program: &'a Program,
    pub(crate) context: &'a Context<'c>,
    pub(crate) stepper: &'a Stepper<'a>,
}

/// Counts the steps of a launch, which one host thread takes, and asks its debugger.
pub(crate) struct Stepper<'d> {
    watch: &'d dyn Watch,
    /// Whether it shall ask before the next step.
    asked_for: &'d AtomicBool,
    /// How many steps were taken.
    position: AtomicU64,
    /// Before which it asks next.
    next: AtomicU64,
    notes: Mutex<Vec<Note>>,
}

impl<'d> Stepper<'d> {
    pub(crate) fn new(watch: &'d dyn Watch, asked_for: &'d AtomicBool) -> Stepper<'d> {
        Stepper {
            watch,
            asked_for,
            position: AtomicU64::new(0),
            next: AtomicU64::new(0),
            notes: Mutex::default(),
        }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Whether it asks before none of so many steps.
    pub(super) fn sleeps_through(&self, steps: u64) -> bool {
        self.position() + steps <= self.next() && !self.asked_for.load(Ordering::Relaxed)
    }

    /// Steps have been taken.
    pub(super) fn pass(&self, steps: u64) {
        self.position
            .store(self.position() + steps, Ordering::Relaxed);
    }

    /// Asks before a step, if it is time to.
    pub(super) fn ask(&self, at: &At<'_, '_>) -> Next {
        if self.sleeps_through(1) {
            return Next::At(self.next());
        }
        self.answered(self.watch.before(at))
    }

    /// Tells of a step that has failed.
    pub(super) fn tell(&self, at: &At<'_, '_>, failed: &Failed) -> Next {
        self.answered(self.watch.failed(at, failed))
    }

    fn answered(&self, next: Next) -> Next {
        if let Next::At(position) = next {
            self.next.store(position, Ordering::Relaxed);
        }
        next
    }

    /// Notes where the warps of the block are, one of which runs now.
    pub(super) fn note(&self, warps: &[Warp]) {
        let mut notes = self.notes();
        notes.clear();
        warps.iter().for_each(|warp| warp.note(&mut notes));
    }

    /// Where the warps of the block were when the one began that runs now.
    pub(crate) fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where lanes of a warp are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Note {
    pub(crate) warp: u32,
    pub(crate) mask: u32,
    pub(crate) function: u32,
    pub(crate) instruction: u32,
    pub(crate) waits: Waits,
}

/// The reasons for which lanes wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Nothing: they can go on.
    Not,
    /// A barrier of the block, by its number, and so many threads; none for all of the block.
    Barrier(u32, Option<u32>),
    /// These lanes of their own warp.
    Lanes(u32),
}

impl Warp {
    /// Where its lanes are.
    pub(crate) fn note(&self, notes: &mut Vec<Note>) {
        let note = |group: &Group, at: Option<u32>, waits| Note {
            warp: self.index,
            mask: group.mask,
            function: self.activations.get(group.activation).program.index,
            instruction: at.unwrap_or_else(|| self.instruction_of(group)),
            waits,
        };
        notes.extend(self.ready.iter().map(|it| note(it, None, Waits::Not)));
        let gated = self.gated.iter();
        notes.extend(gated.map(|(it, members)| note(it, None, Waits::Lanes(members & !it.mask))));
        let waiting = self.waiting.iter();
        notes.extend(waiting.map(|it| {
            let at = super::checked::of_site(it.site).1;
            note(&it.group, Some(at), Waits::Barrier(it.id, it.threads))
        }));
    }

    /// The instruction that a group comes to next.
    fn instruction_of(&self, group: &Group) -> u32 {
        self.activations
            .get(group.activation)
            .program
            .instruction_at(group.at)
    }

    /// The group of a lane that does not run, and the instruction that it is at.
    pub(crate) fn group_of(&self, lane: u32) -> Option<(Group, u32)> {
        let holds = |group: &Group| group.mask >> lane & 1 != 0;
        let ready = self.ready.iter().chain(self.gated.iter().map(|it| &it.0));
        let ready = ready.map(|group| (*group, self.instruction_of(group)));
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|it| (it.group, super::checked::of_site(it.site).1));
        ready.chain(waiting).find(|it| holds(&it.0))
    }
}
