//! What a check has found.

use std::fmt;

use super::access::{LaunchId, Scope, What};
use crate::memory::{FaultClass, Place};

/// The state space of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Global memory, the heap, constants.
    Global,
    /// Shared memory.
    Shared,
    /// Local memory.
    Local,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Two threads reach the same bytes, one of them writing, and nothing orders them.
    Race(Why),
    /// Memory is read that nobody has written.
    Uninitialised,
    /// An asynchronous copy has not been waited for by the thread that made it.
    PendingCopy,
    /// A product of matrices has not been waited for that reads it.
    PendingProduct,
    /// A copy or a product reaches through the asynchronous proxy what a thread has written, without a proxy
    /// fence between.
    Proxy,
    /// Bytes are read by `ld.global.nc` and written in the same launch.
    ReadOnly,
    /// A heap block that nobody has freed, or can.
    Leak,
    /// The access cannot be made at all.
    Fault(FaultClass),
}

/// Why two accesses that race are not atomic for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// At least one is neither atomic nor relaxed.
    Weak,
    /// Both are strong, and the scope of one leaves the other out.
    Scope,
    /// Both are strong, and of different sizes.
    Size,
}

/// Who made an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// One of two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Side {
    /// The launch.
    pub launch: LaunchId,
    /// The device that it is on; none of the host.
    pub device: Option<u32>,
    /// The launch's program, which `instruction` counts in.
    pub program: u32,
    /// Who.
    pub agent: Agent,
    /// What it does. None of an asynchronous copy.
    pub what: Option<What>,
    /// Which instruction.
    pub instruction: u32,
    /// Whether it is this instruction: of several reads by a warp since the last barrier only the
    /// last one's is known.
    pub is_exact: bool,
}

/// Something wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text(Side::plain))]
pub struct Finding {
    /// What.
    pub class: Class,
    /// In which state space.
    pub space: Space,
    /// Where.
    pub place: Place,
    /// The access at which it was found.
    pub now: Side,
    /// The access before.
    pub before: Option<Side>,
}

impl Finding {
    /// The text, with `whom` naming a side's thread and its place in the source.
    pub fn text(&self, whom: impl Fn(&Side) -> (String, String)) -> String {
        let (thread, source) = whom(&self.now);
        let (place, verb) = (&self.place, self.now.verb());
        let Some(before) = &self.before else {
            return match self.class {
                Class::Leak => format!(
                    "leak: no later kernel reaches {}, allocated at {source}",
                    place.whole()
                ),
                Class::PendingCopy => format!(
                    "{}: {thread} {verb} {place} at {source}, and its block has ended",
                    self.class.name()
                ),
                _ => format!("{}: {thread} {verb} {place} at {source}", self.class.name()),
            };
        };
        let (other, other_source) = whom(before);
        let past = before.past();
        format!(
            "{} on {place}: {thread} {verb} it at {source}, and {other} {past} it at {other_source}{}",
            self.class.name(),
            self.hint(before)
        )
    }

    /// What there is to say of why.
    fn hint(&self, before: &Side) -> String {
        let devices = self.now.device.zip(before.device);
        match (self.class, devices.filter(|(now, before)| now != before)) {
            (Class::Race(Why::Scope), Some((now, other))) => {
                let scope = |side: &Side| Some(side.what?.strong()?.1);
                let own = scope(&self.now).unwrap_or(Scope::System);
                let (narrow, on, other) = match own < Scope::System {
                    true => (own, now, other),
                    false => (scope(before).unwrap_or(own), other, now),
                };
                format!(
                    "; the scope of the access on cpu:{on} is {}, and the other is on cpu:{other}",
                    narrow.name()
                )
            }
            (Class::Race(Why::Weak), Some(_)) => {
                "; what one device does comes before what another does by fences and atomics of the system's scope alone"
                    .to_owned()
            }
            (class, _) => class.hint().to_owned(),
        }
    }
}

impl Class {
    /// As reports begin.
    pub fn name(self) -> &'static str {
        match self {
            Class::Race(_) => "race",
            Class::Uninitialised => "uninitialised",
            Class::PendingCopy => "asynchronous copy without a wait",
            Class::Proxy => "no proxy fence",
            Class::PendingProduct => "product without a wait",
            Class::ReadOnly => "read-only load of data that the kernel writes",
            Class::Leak => "leak",
            Class::Fault(class) => class.name(),
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Class::Race(Why::Scope) => "; the scope of one leaves the other out",
            Class::Race(Why::Size) => "; atomics of different sizes",
            Class::ReadOnly => "; `ld.global.nc` is for what no thread of the launch writes",
            _ => "",
        }
    }
}

impl Side {
    fn plain(&self) -> (String, String) {
        (
            self.agent.to_string(),
            format!("instruction {}", self.instruction),
        )
    }

    fn verb(&self) -> &'static str {
        match self.what {
            None => "copies to or from",
            Some(What::Read(_)) => "reads",
            Some(What::Write(_)) => "writes",
            Some(What::Atomic(..)) => "atomically accesses",
        }
    }

    fn past(&self) -> &'static str {
        match self.what {
            None => "copied to or from",
            Some(What::Read(_)) => "read",
            Some(What::Write(_)) => "wrote",
            Some(What::Atomic(..)) => "atomically accessed",
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
