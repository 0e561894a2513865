//! A launch under the debugger, run as often as it takes to be where the front wants to be.
//!
//! Forwards each step is looked at until one is to stop at. Backwards it takes two runs: the first ends where the launch was, and
//! remembers the last step before that would have been one to stop at; the second goes there without a look.

use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::LaunchError;
use engine::debug::{Next, Observer, Stopped};
use engine::memory::LANES;

use crate::breakpoints::Hit;
use crate::inspect::answer;
use crate::lines::Lines;
use crate::protocol::{Message, Motion, Reason, Request, Stop, Until};
use crate::session::Session;
use crate::watch::Watching;

/// A launch, from its first run to its last.
pub(crate) struct Run<'s> {
    state: Mutex<State<'s>>,
}

struct State<'s> {
    session: &'s mut Session,
    lines: &'s Lines,
    kernel: &'s str,
    plan: Plan,
    watching: Watching,
    /// The step that it goes on from, which stops it no more.
    passed: Option<u64>,
    /// Steps that an earlier run has taken.
    replayed: u64,
    /// Whether this run is beyond them.
    is_new: bool,
    /// Whether the launch is to run again.
    is_again: bool,
    /// Steps of the run that has ended.
    steps: u64,
    /// Whether the front has seen why the launch fails, and lets it.
    may_fail: bool,
    /// Why there is no other run, where there is none.
    no_way_back: Option<String>,
}

/// The purpose of a run.
enum Plan {
    Forward(Goal),
    Back {
        goal: Goal,
        /// The step that ends the run.
        before: u64,
        /// The step that it went back from.
        from: u64,
        found: Option<(u64, Arrival)>,
        /// The lines that the lane is in, and since which step.
        line: Option<(Vec<u32>, u64)>,
    },
    To(u64, Arrival),
}

/// Why a launch stops at a step.
#[derive(Clone)]
struct Arrival {
    reason: Reason,
    hit: Hit,
}

/// Where a motion of a lane ends.
struct Goal {
    until: Until,
    lane: u32,
    warp: u32,
    block: [u32; 3],
    /// The lines that it is in.
    stack: Vec<u32>,
}

impl<'s> Run<'s> {
    pub(crate) fn new(
        session: &'s mut Session,
        lines: &'s Lines,
        kernel: &'s str,
        no_way_back: Option<String>,
    ) -> Run<'s> {
        let watching = Watching::of(&session.breakpoints, None);
        let goal = Goal {
            until: Until::Breakpoint,
            lane: 0,
            warp: 0,
            block: [0; 3],
            stack: Vec::new(),
        };
        let state = State {
            session,
            lines,
            kernel,
            plan: Plan::Forward(goal),
            watching,
            passed: None,
            replayed: 0,
            is_new: true,
            is_again: false,
            steps: 0,
            may_fail: false,
            no_way_back,
        };
        Run {
            state: Mutex::new(state),
        }
    }

    /// Whether this run does what no run before has done.
    pub(crate) fn is_new(&self) -> bool {
        self.state().is_new
    }

    /// A run has ended: whether another follows. What no instruction has failed at, such as a barrier that not all come to, is
    /// shown at the last one.
    pub(crate) fn goes_on(&self, result: &Result<(), LaunchError>) -> bool {
        let mut state = self.state();
        if std::mem::take(&mut state.is_again) {
            return true;
        }
        let Err(error) = result else {
            return false;
        };
        let may_run = state.session.is_attached() && state.no_way_back.is_none();
        if state.steps == 0 || state.may_fail || !may_run {
            return false;
        }
        let hit = Hit {
            text: error.to_string(),
            lane: LANES as u32,
            ..Hit::default()
        };
        let arrival = Arrival {
            reason: Reason::Finding,
            hit,
        };
        let steps = state.steps;
        state.again(steps, Plan::To(steps - 1, arrival));
        std::mem::take(&mut state.is_again)
    }

    fn state(&self) -> MutexGuard<'_, State<'s>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Run<'_> {
    fn before(&self, stopped: &Stopped<'_>) -> Next {
        self.state().before(stopped)
    }

    fn failed(&self, stopped: &Stopped<'_>, lane: u32, error: &LaunchError) -> Next {
        let mut state = self.state();
        if !state.session.is_attached() || state.may_fail {
            return Next::At(u64::MAX);
        }
        if matches!(state.plan, Plan::Back { .. }) {
            return state.turn(stopped.position());
        }
        let hit = Hit {
            text: error.to_string(),
            lane,
            ..Hit::default()
        };
        let reason = Reason::Finding;
        state.stop(stopped, &Arrival { reason, hit }, true)
    }

    fn ended(&self, steps: u64) {
        self.state().steps = steps;
    }
}

impl State<'_> {
    fn before(&mut self, stopped: &Stopped<'_>) -> Next {
        let position = stopped.position();
        self.is_new |= position >= self.replayed;
        if self.listens() {
            let reason = Reason::Pause;
            let hit = Hit::at(stopped);
            return self.stop(stopped, &Arrival { reason, hit }, false);
        }
        if !self.session.is_attached() {
            return Next::At(u64::MAX);
        }
        match &self.plan {
            Plan::To(to, _) if position < *to => Next::At(*to),
            Plan::To(_, arrival) => {
                let arrival = arrival.clone();
                self.stop(stopped, &arrival, false)
            }
            Plan::Back { .. } => self.back(stopped),
            Plan::Forward(_) => self.forward(stopped),
        }
    }

    /// Hears what the front has said while the launch ran: whether it wants it to stop.
    fn listens(&mut self) -> bool {
        let mut is_paused = self.session.takes_pause();
        while let Some(request) = self.session.heard() {
            match request {
                Request::Pause => is_paused = true,
                Request::Set(all) => {
                    self.session.set(all, self.kernel, self.lines);
                    self.watching = Watching::of(&self.session.breakpoints, None);
                }
                Request::Ask(_) => self.session.refuse(),
                // It goes on already.
                Request::Move(_) => {}
            }
        }
        is_paused
    }

    fn forward(&mut self, stopped: &Stopped<'_>) -> Next {
        let position = stopped.position();
        let is_passed = self.passed == Some(position);
        let [before, here] = self.watching.look(stopped);
        if let Some((at, hit)) = before.filter(|it| self.passed != Some(it.0)) {
            let arrival = Arrival {
                reason: Reason::Write,
                hit,
            };
            if self.no_way_back.is_some() {
                return self.stop(stopped, &arrival, false);
            }
            self.again(position, Plan::To(at, arrival));
            return Next::Abandon;
        }
        let Plan::Forward(goal) = &self.plan else {
            return Next::At(position + 1);
        };
        if !is_passed {
            let written = here.map(|(_, hit)| (Reason::Write, hit));
            let come = || {
                Some((
                    Reason::Breakpoint,
                    self.session.breakpoints.hit(stopped, self.lines)?,
                ))
            };
            let done = || {
                goal.is_reached(stopped, self.lines)
                    .then(|| (Reason::Step, goal.hit()))
            };
            if let Some((reason, hit)) = written.or_else(come).or_else(done) {
                return self.stop(stopped, &Arrival { reason, hit }, false);
            }
        }
        self.onwards(position)
    }

    /// The step at which a run forwards has to be asked next.
    fn onwards(&self, position: u64) -> Next {
        let looks = match &self.plan {
            Plan::Forward(goal) => !matches!(goal.until, Until::Breakpoint | Until::Write(..)),
            _ => true,
        };
        let looks = looks || self.session.breakpoints.are_there() || self.watching.is_any();
        let next = match (looks, position < self.replayed) {
            (true, _) => position + 1,
            // What is printed from there on counts.
            (false, true) => self.replayed,
            (false, false) => u64::MAX,
        };
        Next::At(next)
    }

    fn back(&mut self, stopped: &Stopped<'_>) -> Next {
        let position = stopped.position();
        let written = self.watching.look(stopped);
        let Plan::Back {
            goal,
            before,
            found,
            line,
            ..
        } = &mut self.plan
        else {
            return Next::At(position + 1);
        };
        let is_over = position >= *before;
        let mut find = |at: u64, reason, hit| *found = Some((at, Arrival { reason, hit }));
        match goal.until {
            Until::Breakpoint | Until::Write(..) => {
                let may_hit = goal.until == Until::Breakpoint && !is_over;
                let hit = || self.session.breakpoints.hit(stopped, self.lines);
                if let Some(hit) = may_hit.then(hit).flatten() {
                    find(position, Reason::Breakpoint, hit);
                }
                for (at, hit) in written.into_iter().flatten().filter(|it| it.0 < *before) {
                    find(at, Reason::Write, hit);
                }
            }
            _ if is_over || !goal.is_of(stopped) => {}
            Until::Line | Until::LineOver => {
                let stack = self.lines.stack(&stopped.calls(goal.lane));
                let is_within = goal.until == Until::LineOver && stack.len() > goal.stack.len();
                if !is_within && line.as_ref().is_none_or(|it| it.0 != stack) {
                    *line = Some((stack, position));
                }
            }
            Until::Instruction | Until::Caller | Until::Barrier => {
                if goal.is_reached(stopped, self.lines) {
                    find(position, Reason::Step, goal.hit());
                }
            }
        }
        match is_over {
            true => self.turn(position),
            false => Next::At(position + 1),
        }
    }

    /// The first run back is over: the next one goes to what it has found.
    fn turn(&mut self, position: u64) -> Next {
        if let Plan::Back {
            goal,
            from,
            found,
            line,
            ..
        } = &mut self.plan
        {
            let step = Arrival {
                reason: Reason::Step,
                hit: goal.hit(),
            };
            let line = line.take().map(|it| (it.1, step));
            let (at, arrival) = found.take().or(line).unwrap_or_else(|| {
                let (at, text) = match goal.until {
                    Until::Breakpoint => (0, "the launch begins here"),
                    Until::Write(..) => (*from, "the launch has not written it before"),
                    _ => (*from, "the thread has been at no such place before"),
                };
                let hit = Hit {
                    text: text.to_owned(),
                    ..goal.hit()
                };
                let reason = Reason::Beginning;
                (at, Arrival { reason, hit })
            });
            self.again(position, Plan::To(at, arrival));
        }
        Next::Abandon
    }

    /// Ends this run, which has come to a step, for another.
    fn again(&mut self, position: u64, plan: Plan) {
        self.replayed = self.replayed.max(position);
        (self.is_new, self.is_again) = (false, true);
        self.passed = None;
        self.plan = plan;
        self.watching = Watching::of(&self.session.breakpoints, None);
    }

    /// Shows the front where the launch is, and does what it says. `has_failed`: the step cannot be taken.
    fn stop(&mut self, stopped: &Stopped<'_>, arrival: &Arrival, has_failed: bool) -> Next {
        let lane = match stopped.live() >> (arrival.hit.lane % LANES as u32) & 1 {
            1 if arrival.hit.lane < LANES as u32 => arrival.hit.lane,
            _ => stopped.running().trailing_zeros(),
        };
        let stop = Box::new(self.told(stopped, arrival, lane));
        self.session.say(&Message::Stopped(stop));
        while let Some(request) = self.session.hear() {
            match request {
                Request::Pause => {}
                Request::Set(all) => self.session.set(all, self.kernel, self.lines),
                Request::Ask(question) => {
                    let answer = answer(stopped, self.lines, &question);
                    self.session.say(&Message::Answer(answer));
                }
                Request::Move(motion) if motion.is_back && self.no_way_back.is_some() => {
                    let text = self.no_way_back.clone().unwrap_or_default();
                    let hit = Hit {
                        lane,
                        text,
                        ..Hit::default()
                    };
                    let reason = Reason::Beginning;
                    let stop = self.told(stopped, &Arrival { reason, hit }, lane);
                    self.session.say(&Message::Stopped(Box::new(stop)));
                }
                Request::Move(motion) => {
                    self.may_fail = arrival.reason == Reason::Finding && !motion.is_back;
                    return self.go(stopped, motion, has_failed);
                }
            }
        }
        Next::At(u64::MAX)
    }

    fn go(&mut self, stopped: &Stopped<'_>, motion: Motion, has_failed: bool) -> Next {
        let goal = Goal::new(stopped, motion, self.lines);
        let position = stopped.position();
        let asked = match motion.until {
            Until::Write(address, bytes) => Some((address, bytes)),
            _ => None,
        };
        if !motion.is_back {
            self.passed = Some(position);
            self.plan = Plan::Forward(goal);
            self.watching = Watching::of(&self.session.breakpoints, asked);
            // From here on what changes is seen.
            self.watching.look(stopped);
            return self.onwards(position);
        }
        let before = position + u64::from(has_failed);
        let plan = Plan::Back {
            goal,
            before,
            from: position,
            found: None,
            line: None,
        };
        self.again(position, plan);
        if let Some(asked) = asked {
            self.watching = Watching::only(asked);
        }
        Next::Abandon
    }

    fn told(&self, stopped: &Stopped<'_>, arrival: &Arrival, lane: u32) -> Stop {
        let instruction = self.lines.instruction(stopped.site());
        Stop {
            reason: arrival.reason,
            text: arrival.hit.text.clone(),
            breakpoints: arrival.hit.breakpoints.clone(),
            kernel: self.kernel.to_owned(),
            position: stopped.position(),
            block: stopped.block(),
            warp: stopped.warp(),
            lane,
            threads: (0..LANES as u32).map(|it| stopped.thread(it)).collect(),
            running: stopped.running(),
            live: stopped.live(),
            instruction: instruction.map_or_else(String::new, |it| it.text.clone()),
            frames: self.lines.frames(&stopped.calls(lane)),
        }
    }
}

impl Goal {
    fn new(stopped: &Stopped<'_>, motion: Motion, lines: &Lines) -> Goal {
        let lane = motion.lane % LANES as u32;
        Goal {
            until: motion.until,
            lane,
            warp: stopped.warp(),
            block: stopped.block(),
            stack: lines.stack(&stopped.calls(lane)),
        }
    }

    fn hit(&self) -> Hit {
        Hit {
            lane: self.lane,
            ..Hit::default()
        }
    }

    /// Whether a step is the lane's.
    fn is_of(&self, stopped: &Stopped<'_>) -> bool {
        stopped.running() >> self.lane & 1 != 0
            && (stopped.warp(), stopped.block()) == (self.warp, self.block)
    }

    /// Whether the motion is over at a step.
    fn is_reached(&self, stopped: &Stopped<'_>, lines: &Lines) -> bool {
        let stack = || lines.stack(&stopped.calls(self.lane));
        let is_barrier = || {
            lines
                .instruction(stopped.site())
                .is_some_and(|it| it.is_barrier)
        };
        self.is_of(stopped)
            && match self.until {
                Until::Breakpoint | Until::Write(..) => false,
                Until::Instruction => true,
                Until::Barrier => is_barrier(),
                Until::Line => stack() != self.stack,
                Until::LineOver => {
                    let stack = stack();
                    stack.len() <= self.stack.len() && stack != self.stack
                }
                Until::Caller => stack().len() < self.stack.len(),
            }
    }
}
