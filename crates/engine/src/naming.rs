//! The error of a launch that failed, with threads, source places and elements as the host knows them.

use crate::check::{Agent, Finding, Side, SiteId, Thread, Verb};
use crate::exec::checked::{of_site, site};
use crate::exec::code::Functions;
use crate::exec::failure::{Cause, Failed, Failure, Wrong};
use crate::exec::options::Shape;
use crate::exec::surroundings::coordinates;
use crate::finding_kind::FindingKind;
use crate::launch_error::LaunchError;
use crate::memory::Fault;
use crate::module::{Kernel, place_of};
use crate::source::demangled;

impl Finding {
    /// The same with the lines of both instructions: for a finding of [`Checker::host`](crate::check::Checker::host), which no
    /// launch's kernel names.
    #[must_use]
    pub fn with_places(mut self) -> Finding {
        for side in [&mut self.now].into_iter().chain(&mut self.before) {
            let (function, instruction) = of_site(side.site.instruction);
            side.source = match side.agent {
                Agent::Host => OF_HOST.to_owned(),
                _ => place_of(side.site.program, function, instruction),
            };
        }
        self
    }
}

/// Where the host's accesses are.
const OF_HOST: &str = "the host's own code";

impl Kernel {
    /// The error for what ended a launch.
    pub(crate) fn error(&self, failed: Failed, shape: Shape) -> LaunchError {
        let kernel = demangled(self.name()).into_owned();
        let now = self.side(&failed, shape);
        let access = self.code.access_of(of_site(now.site.instruction));
        match failed.cause {
            Cause::Found(finding) => self.found(finding, shape),
            Cause::Fault(fault) => fault_at(now, fault, access).of(kernel),
            Cause::Wrong(wrong) => self.wrong_at(now, *wrong).of(kernel),
            Cause::Unfinished(endless) => LaunchError::Unfinished { kernel, endless },
            Cause::Failure(mut failure) => {
                if let Failure::Endless(endless) = &mut failure
                    && let (Some(awaited), Some((verb, bytes))) = (&mut endless.awaited, access)
                {
                    awaited.verb = verb.present();
                    awaited.place.count_elements_of(bytes);
                }
                LaunchError::Thread {
                    kernel,
                    thread: failed.thread,
                    failure: Box::new(failure),
                    place: now.source,
                }
            }
        }
    }

    /// The error for a finding of the checker.
    pub(crate) fn found(&self, finding: Box<Finding>, shape: Shape) -> LaunchError {
        LaunchError::Found {
            kernel: demangled(self.name()).into_owned(),
            finding: self.named(finding, shape),
        }
    }

    /// A finding of the checker with threads, lines and elements.
    pub(crate) fn named(&self, mut finding: Box<Finding>, shape: Shape) -> Box<Finding> {
        // What is used was read before.
        let read = finding
            .before
            .as_ref()
            .filter(|_| finding.kind == FindingKind::Uninitialised);
        let site = read.unwrap_or(&finding.now).site;
        let access = self.code.access_of(of_site(site.instruction));
        if let (Some((_, bytes)), Some(place)) = (access, &mut finding.place) {
            place.count_elements_of(bytes);
        }
        let current = finding.now.launch;
        for side in [&mut finding.now].into_iter().chain(&mut finding.before) {
            self.name_side(side, shape);
            let is_kernels = matches!(side.agent, Agent::Thread { .. });
            if is_kernels && side.launch != current {
                side.who += " of another launch";
            }
            let own = self.code.memory().device();
            if let Some(device) = side.device.filter(|&it| is_kernels && it != own) {
                side.who += &format!(" on cpu:{device}");
            }
        }
        finding
    }

    /// Names the thread of a side, and the line of its instruction.
    fn name_side(&self, side: &mut Side, shape: Shape) {
        let (function, instruction) = of_site(side.site.instruction);
        let is_own = side.site.program == self.code.number();
        if let (Agent::Thread { block, thread }, true) = (side.agent, is_own) {
            let thread = Thread {
                block: coordinates(block, shape.grid),
                thread: coordinates(thread.into(), shape.block),
            };
            (side.thread, side.who) = (Some(thread), thread.to_string());
        }
        side.source = match side.agent {
            Agent::Host => OF_HOST.to_owned(),
            _ if is_own => self.code.place_in(function, instruction),
            _ => place_of(side.site.program, function, instruction),
        };
    }

    /// The thread that a launch has ended with, at its instruction.
    fn side(&self, failed: &Failed, shape: Shape) -> Side {
        let Thread { block, thread } = failed.thread;
        let function = self.code.function_of(&failed.function).unwrap_or(u32::MAX);
        let agent = Agent::Thread {
            block: linear(block, shape.grid),
            thread: linear(thread, shape.block) as u32,
        };
        let at = SiteId {
            program: self.code.number(),
            instruction: site(function, failed.instruction),
        };
        Side {
            thread: Some(failed.thread),
            who: failed.thread.to_string(),
            source: self.code.place_in(function, failed.instruction),
            device: Some(self.code.memory().device()),
            ..Side::new(agent, Verb::Reach, at)
        }
    }

    fn wrong_at(&self, now: Side, wrong: Wrong) -> Finding {
        let before = wrong.before.map(|(at, verb)| {
            let (function, instruction) = of_site(at);
            let at = SiteId {
                instruction: at,
                ..now.site
            };
            Side {
                source: self.code.place_in(function, instruction),
                verb,
                site: at,
                ..now.clone()
            }
        });
        let now = Side {
            verb: wrong.verb,
            ..now
        };
        Finding {
            place: wrong.place,
            before,
            details: wrong.details,
            ..Finding::new(wrong.kind, now)
        }
    }
}

impl Finding {
    fn of(self, kernel: String) -> LaunchError {
        LaunchError::Found {
            kernel,
            finding: Box::new(self),
        }
    }
}

/// A fault as a finding. `access` is what the instruction does with memory, and the bytes of an element.
fn fault_at(now: Side, mut fault: Fault, access: Option<(Verb, u32)>) -> Finding {
    let (verb, bytes) = match fault.kind {
        FindingKind::DoubleFree | FindingKind::NotAllocated => (Verb::Free, 1),
        _ => access.unwrap_or((Verb::Reach, 1)),
    };
    fault.place.count_elements_of(bytes);
    Finding {
        place: Some(*fault.place),
        ..Finding::new(fault.kind, Side { verb, ..now })
    }
}

/// The number of coordinates in an extent; the inverse of [`coordinates`].
fn linear([x, y, z]: [u32; 3], extent: [u32; 3]) -> u64 {
    let [width, height, _] = extent.map(u64::from);
    (u64::from(z) * height + u64::from(y)) * width + u64::from(x)
}
