//! A session: the front, its breakpoints, and the launches that it sees one after another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Kernel, LaunchError};

use crate::breakpoints::Breakpoints;
use crate::lines::Lines;
use crate::link::Link;
use crate::protocol::{Breakpoint, Message, Request, Resolved};
use crate::run::Run;

/// A launch that can be run again.
pub trait Relaunch {
    /// Runs it once. What kernels print counts where `is_new` says so: else it has been printed before.
    ///
    /// # Errors
    /// The launch fails, or the debugger has ended it.
    fn run(
        &self,
        debugger: engine::debug::Debugger<'_>,
        is_new: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), LaunchError>;

    /// Brings memory back to what it was before the first run.
    fn restore(&self);

    /// Why that is not possible, where it is not.
    fn no_way_back(&self) -> Option<String> {
        None
    }
}

/// The debugger of a process.
pub struct Debugger {
    session: Mutex<Session>,
    is_asked_for: Arc<AtomicBool>,
    is_attached: AtomicBool,
}

/// The state that outlives a launch.
pub(crate) struct Session {
    link: Option<Link>,
    pub(crate) breakpoints: Breakpoints,
    /// Whether the front has let the first launch begin.
    has_begun: bool,
    /// Whether it wants the next launch to stop at its first step.
    is_paused: bool,
    /// Those of kernels by their names, with the texts of their modules.
    lines: HashMap<String, (String, Arc<Lines>)>,
    /// The breakpoints that the front was told of, by kernels.
    told: HashMap<String, Vec<Resolved>>,
}

impl Debugger {
    /// Makes the debugger that a front leads.
    pub fn new(link: Link) -> Debugger {
        Debugger {
            is_asked_for: link.is_asked_for(),
            is_attached: AtomicBool::new(true),
            session: Mutex::new(Session {
                link: Some(link),
                breakpoints: Breakpoints::default(),
                has_begun: false,
                is_paused: false,
                lines: HashMap::new(),
                told: HashMap::new(),
            }),
        }
    }

    /// Whether a front leads it still: launches need no debugger else.
    pub fn is_attached(&self) -> bool {
        self.is_attached.load(Ordering::Acquire)
    }

    /// Runs a launch of a kernel, which is shown by a name, as often as the front goes back in it. Launches of other host threads
    /// wait.
    ///
    /// # Errors
    /// The launch fails, after the front has seen why.
    pub fn debug(
        &self,
        kernel: &Kernel,
        name: &str,
        launch: &dyn Relaunch,
    ) -> Result<(), LaunchError> {
        let mut session = self.session();
        let lines = session.lines_of(kernel, name);
        session.begin(name, &lines);
        let run = Run::new(&mut session, &lines, name, launch.no_way_back());
        let debugger = engine::debug::Debugger {
            observer: &run,
            is_asked_for: &self.is_asked_for,
        };
        let result = loop {
            let result = launch.run(debugger, &|| run.is_new());
            if !run.goes_on(&result) {
                break result;
            }
            launch.restore();
        };
        drop(run);
        session.breakpoints.end_launch();
        self.is_attached
            .store(session.is_attached(), Ordering::Release);
        result
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn lines_of(&mut self, kernel: &Kernel, name: &str) -> Arc<Lines> {
        let text = kernel.ptx_text();
        if let Some((_, lines)) = self.lines.get(kernel.name()).filter(|it| it.0 == text) {
            return Arc::clone(lines);
        }
        let lines = Arc::new(Lines::of(kernel, name));
        let known = (text.to_owned(), Arc::clone(&lines));
        self.lines.insert(kernel.name().to_owned(), known);
        lines
    }

    /// A launch begins: the first as soon as the front lets it.
    fn begin(&mut self, kernel: &str, lines: &Lines) {
        self.resolve(kernel, lines);
        while !self.has_begun {
            match self.hear() {
                None => break,
                Some(Request::Set(all)) => self.set(all, kernel, lines),
                Some(Request::Move(_)) => self.has_begun = true,
                Some(Request::Pause) => self.is_paused = true,
                Some(Request::Ask(_)) => self.refuse(),
            }
        }
    }

    /// Whether the front has asked for a pause before the launch began.
    pub(crate) fn takes_pause(&mut self) -> bool {
        std::mem::take(&mut self.is_paused)
    }

    /// Takes the front's breakpoints, and says where they are.
    pub(crate) fn set(&mut self, all: Vec<Breakpoint>, kernel: &str, lines: &Lines) {
        self.breakpoints.set(all);
        self.resolve(kernel, lines);
    }

    fn resolve(&mut self, kernel: &str, lines: &Lines) {
        let resolved = self.breakpoints.resolve(kernel, lines);
        // A kernel may be launched a million times.
        let before = self.told.insert(kernel.to_owned(), resolved.clone());
        if !resolved.is_empty() && before.as_ref() != Some(&resolved) {
            self.say(&Message::Resolved(resolved));
        }
    }

    /// To a question while the program runs.
    pub(crate) fn refuse(&mut self) {
        let why = "the program runs: stop it first".to_owned();
        self.say(&Message::Answer(Err(why)));
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.link.is_some()
    }

    /// Waits for the front; none where it is gone.
    pub(crate) fn hear(&mut self) -> Option<Request> {
        let heard = self.link.as_ref().and_then(Link::hear);
        if heard.is_none() {
            self.link = None;
        }
        heard
    }

    /// The request that the front has made meanwhile.
    pub(crate) fn heard(&mut self) -> Option<Request> {
        let heard = self.link.as_ref()?.heard();
        heard.unwrap_or_else(|()| {
            self.link = None;
            None
        })
    }

    pub(crate) fn say(&mut self, message: &Message) {
        if let Some(link) = &mut self.link {
            link.say(message);
        }
    }
}
