//! A finding: what is wrong, where, and who did it.

use std::fmt;

use super::access::{AccessKind, LaunchId, Scope};
use crate::finding_kind::{FindingKind, RaceReason};
use crate::memory::Place;

/// Who made an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// A thread of a kernel.
    Thread {
        /// Linear index of its block.
        block: u64,
        /// Its linear index in the block.
        thread: u32,
    },
    /// The host, or a copy in a stream.
    Host,
    /// Some thread of the kernel.
    Kernel,
}

/// The action of a side on memory or on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it at once.
    Atomic,
    /// Reads or writes it by an asynchronous copy.
    Copy,
    /// Reads it by a product of matrices.
    Multiply,
    /// Adds a product of matrices to it.
    Accumulate,
    /// Lets an asynchronous copy count its bytes at it, an mbarrier.
    Count,
    /// Frees it.
    Free,
    /// Accesses it by an instruction that is no load or store.
    Reach,
    /// Uses its value, of which nothing was ever written.
    Use,
}

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The index of its block, x, y, z.
    pub block: [u32; 3],
    /// Its index in the block, x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "block {:?}, thread {:?}",
            self.block, self.thread
        )
    }
}

/// One side of a finding: an instruction that a thread executed, or an operation of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// Who.
    pub agent: Agent,
    /// The thread's coordinates. `None` of the host, and of a thread of another module's launch.
    pub thread: Option<Thread>,
    /// The same in words: `block [0, 0, 0], thread [1, 0, 0]`.
    pub who: String,
    /// The file and line, or the line of the PTX.
    pub source: String,
    /// The action.
    pub verb: Verb,
    /// How it accesses memory. `None` of an asynchronous copy, and where nothing was accessed.
    pub access: Option<AccessKind>,
    /// The emulated device that it runs on. `None` of the host.
    pub device: Option<u32>,
    /// The launch, among those that are checked.
    pub launch: Option<LaunchId>,
    /// Whether it was this instruction: of several reads by a warp since the last barrier only the last is known.
    pub is_exact: bool,
    pub(crate) site: SiteId,
}

/// An instruction of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteId {
    /// The number of the program.
    pub(crate) program: u32,
    /// The instruction's number in it.
    pub(crate) instruction: u32,
}

/// Something that threads must not do: what, where, and both accesses if it takes two.
///
/// It displays as a report, without the kernel's name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The memory. `None` where none is at fault.
    pub place: Option<Place>,
    /// The instruction at which it was found.
    pub now: Side,
    /// The access before, with which that is wrong; the read of what was never written that is used.
    pub before: Option<Side>,
    /// The rest of the report: who waits where, which rule is broken, or the name of a register. Empty of most
    /// kinds.
    pub details: String,
}

impl std::error::Error for Finding {}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.before {
            Some(before) => self.report_both(before, f),
            None => self.report_one(f),
        }
    }
}

impl Finding {
    fn report_both(&self, before: &Side, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, details, hint) = (self.kind.name(), &self.details, self.hint());
        let Side { who, source, .. } = &self.now;
        let (verb, other, other_source) = (self.now.verb.present(), &before.who, &before.source);
        if self.kind == FindingKind::Uninitialised {
            let reads = before.verb.present();
            let place = self
                .place
                .as_ref()
                .map_or_else(String::new, |it| format!(" {it}"));
            return write!(
                f,
                "{name}: {other} {reads}{place} at {other_source}, and {who} {verb} it {details} at {source}{hint}"
            );
        }
        if let Some(place) = &self.place {
            let past = before.verb.past();
            return write!(
                f,
                "{name} on {place}: {who} {verb} it at {source}, and {other} {past} it at {other_source}{hint}"
            );
        }
        if self.kind == FindingKind::UnfencedRegister {
            return write!(
                f,
                "{name}: {who} {verb} {details} at {source}, which it wrote at {other_source}{hint}"
            );
        }
        let may = before.verb.infinitive();
        write!(
            f,
            "{name}: {who} {verb} {details} at {source}, and the asynchronous instruction at {other_source} may still {may} it{hint}"
        )
    }

    fn report_one(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, details, hint) = (self.kind.name(), &self.details, self.hint());
        let Side {
            who, source, verb, ..
        } = &self.now;
        let Some(place) = &self.place else {
            return match self.kind {
                FindingKind::Divergence => write!(f, "{name} in {}: {details}", self.now.block()),
                FindingKind::Stuck => write!(f, "{} cannot go on: {details}", self.now.block()),
                _ => write!(f, "{name}: {who}: {details}, at {source}{hint}"),
            };
        };
        match self.kind {
            FindingKind::Leak => {
                let whole = place.whole();
                write!(
                    f,
                    "{name}: no later kernel reaches {whole}, allocated at {source}"
                )
            }
            FindingKind::EndlessPhase { arrivals, bytes } => {
                let expected = match (arrivals, bytes) {
                    (0, bytes) => format!("{bytes} bytes"),
                    (arrivals, 0) => format!("{arrivals} arrivals"),
                    (arrivals, bytes) => format!("{arrivals} arrivals and {bytes} bytes"),
                };
                write!(
                    f,
                    "{name}: {who} waits for ever: the mbarrier on {place} expects {expected} that do not come, at {source}"
                )
            }
            _ => write!(
                f,
                "{name}: {who} {} {place} at {source}{hint}",
                verb.present()
            ),
        }
    }
}

impl Finding {
    /// Returns its kind, the memory and the lines, which are those of the same finding in another order of threads, too.
    pub fn brief(&self) -> String {
        let place = self.place.as_ref().and_then(Place::named);
        let memory = place.map_or_else(String::new, |it| format!(" on {}", it.name()));
        let mut lines = vec![self.now.source.as_str()];
        lines.extend(self.before.iter().map(|it| it.source.as_str()));
        lines.sort_unstable();
        lines.dedup();
        format!("{}{memory} at {}", self.kind.name(), lines.join(" and "))
    }

    /// A finding at one instruction, which names no memory.
    pub(crate) fn new(kind: FindingKind, now: Side) -> Finding {
        Finding {
            kind,
            place: None,
            now,
            before: None,
            details: String::new(),
        }
    }

    /// How the report ends: why it is wrong, where the accesses alone do not show it.
    fn hint(&self) -> String {
        let devices = self
            .now
            .device
            .zip(self.before.as_ref().and_then(|it| it.device));
        let between_devices = devices.filter(|(now, before)| now != before);
        match (self.kind, between_devices) {
            (FindingKind::Race { reason: RaceReason::Scope }, Some((now, other))) => {
                let scope = |side: &Side| Some(side.access?.strong()?.1);
                let own = scope(&self.now).unwrap_or(Scope::System);
                let before = self.before.as_ref().and_then(scope);
                let (narrow, on, other) = match own < Scope::System {
                    true => (own, now, other),
                    false => (before.unwrap_or(own), other, now),
                };
                format!(
                    "; the scope of the access on cpu:{on} is {}, and the other is on cpu:{other}",
                    narrow.name()
                )
            }
            (FindingKind::Race { reason: RaceReason::Weak }, Some(_)) => {
                "; what one device does comes before what another does by fences and atomics of the system's scope alone"
                    .to_owned()
            }
            (kind, _) => kind.hint(),
        }
    }
}

impl Side {
    /// A side that is known by its numbers, until the launch's kernel names it.
    pub(crate) fn new(agent: Agent, verb: Verb, site: SiteId) -> Side {
        Side {
            agent,
            thread: None,
            who: agent.to_string(),
            source: format!("instruction {}", site.instruction),
            verb,
            access: None,
            device: None,
            launch: None,
            is_exact: true,
            site,
        }
    }

    /// A side by an access of memory; `None`: by an asynchronous copy.
    pub(crate) fn accessing(agent: Agent, access: Option<AccessKind>, site: SiteId) -> Side {
        Side {
            access,
            ..Side::new(agent, access.map_or(Verb::Copy, Verb::of), site)
        }
    }

    /// The thread's block, in words.
    fn block(&self) -> String {
        self.thread.map_or_else(
            || self.who.clone(),
            |Thread { block, .. }| format!("block {block:?}"),
        )
    }
}

impl Verb {
    /// The kind of an access of memory.
    pub(crate) fn of(access: AccessKind) -> Verb {
        match access {
            AccessKind::Read(_) => Verb::Read,
            AccessKind::Write(_) => Verb::Write,
            AccessKind::Atomic(..) => Verb::Atomic,
        }
    }

    /// As of what happens now.
    pub(crate) fn present(self) -> &'static str {
        match self {
            Verb::Read => "reads",
            Verb::Write => "writes",
            Verb::Atomic => "atomically accesses",
            Verb::Copy => "copies to or from",
            Verb::Multiply => "multiplies",
            Verb::Accumulate => "multiplies into",
            Verb::Count => "counts a copy at",
            Verb::Free => "frees",
            Verb::Reach => "reaches",
            Verb::Use => "uses",
        }
    }

    fn past(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::Write => "wrote",
            Verb::Atomic => "atomically accessed",
            Verb::Copy => "copied to or from",
            Verb::Multiply => "multiplied",
            Verb::Accumulate => "multiplied into",
            Verb::Count => "counted a copy at",
            Verb::Free => "freed",
            Verb::Reach => "reached",
            Verb::Use => "used",
        }
    }

    fn infinitive(self) -> &'static str {
        match self {
            Verb::Read => "read",
            Verb::Write => "write",
            Verb::Atomic => "atomically access",
            Verb::Copy => "copy to or from",
            Verb::Multiply => "multiply",
            Verb::Accumulate => "multiply into",
            Verb::Count => "count a copy at",
            Verb::Free => "free",
            Verb::Reach => "reach",
            Verb::Use => "use",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Agent::Thread { block, thread } => write!(f, "block {block}, thread {thread}"),
            Agent::Host => write!(f, "the host"),
            Agent::Kernel => write!(f, "the kernel"),
        }
    }
}
