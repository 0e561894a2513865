//! Makes rounds of the messages of all ranks, and tells all of them the first fault.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::frame::Frame;
use super::link::{FAREWELL, Link};
use super::mailbox::Mailbox;
use crate::error::Fault;

/// Makes rounds of the messages of all ranks: rank 0 has it, or the process whose threads the ranks are.
pub(crate) struct Hub {
    state: Mutex<State>,
}

struct State {
    /// What each rank has sent, for rounds that are not complete.
    queues: Vec<VecDeque<Vec<u8>>>,
    /// When the first message of the oldest of those rounds came.
    since: Option<Instant>,
    has_left: Vec<bool>,
    fault: Option<Fault>,
    /// Where each rank is, once that is known.
    outputs: Vec<Option<Output>>,
}

/// Where rounds for a rank go.
pub(super) enum Output {
    Mailbox(Arc<Mailbox>),
    Link(Link),
}

impl Hub {
    pub(super) fn new(size: usize) -> Hub {
        let state = State {
            queues: vec![VecDeque::new(); size],
            since: None,
            has_left: vec![false; size],
            fault: None,
            outputs: (0..size).map(|_| None).collect(),
        };
        Hub {
            state: Mutex::new(state),
        }
    }

    /// Where this rank is. It is told of a fault that is there already.
    pub(super) fn connect(&self, rank: usize, output: Output) {
        let mut state = self.lock();
        if let Some(fault) = &state.fault {
            output.tell(fault);
        }
        state.outputs[rank] = Some(output);
    }

    /// The ranks that have not been connected.
    pub(super) fn absent(&self) -> Vec<usize> {
        let state = self.lock();
        let all = state.outputs.iter().enumerate();
        let absent = all.filter(|(_, it)| it.is_none()).map(|(rank, _)| rank);
        absent.collect()
    }

    /// A rank's next message.
    pub(super) fn put(&self, rank: usize, message: Vec<u8>) {
        let mut state = self.lock();
        state.queues[rank].push_back(message);
        state.since.get_or_insert_with(Instant::now);
        state.complete();
        state.refuse_waiting_for_leavers();
    }

    /// A rank has ended without a fault.
    pub(super) fn leave(&self, rank: usize) {
        let mut state = self.lock();
        state.has_left[rank] = true;
        if let Some(Output::Link(link)) = &state.outputs[rank] {
            link.end();
        }
        state.refuse_waiting_for_leavers();
    }

    /// A rank has ended, or is silent: all others are told, unless it had left before.
    pub(crate) fn lose(&self, rank: usize, reason: &str) {
        let mut state = self.lock();
        if !state.has_left[rank] {
            let reason = reason.to_owned();
            state.raise(Fault::Lost { rank, reason });
        }
    }

    /// Tells all ranks of a fault, if it is the first.
    pub(super) fn raise(&self, fault: Fault) {
        self.lock().raise(fault);
    }

    /// The first fault.
    pub(crate) fn fault(&self) -> Option<Fault> {
        self.lock().fault.clone()
    }

    /// Ends the waiting for ranks that live, if it has taken too long.
    pub(super) fn check_patience(&self, patience: Duration) {
        let mut state = self.lock();
        let Some(waited) = state.since.map(|it| it.elapsed()) else {
            return;
        };
        if waited > patience {
            let queues = state.queues.iter().enumerate();
            let late = queues.filter(|(_, it)| it.is_empty());
            let ranks = late.map(|(rank, _)| rank).collect();
            state.raise(Fault::Late { ranks, waited });
        }
    }

    /// Says goodbye to the ranks at the other ends of connections, and closes these. Rank 0 does it when it ends.
    pub(super) fn close(&self) {
        let mut links: Vec<Link> = Vec::new();
        for output in &mut self.lock().outputs {
            match output.take() {
                Some(Output::Link(link)) => links.push(link),
                other => *output = other,
            }
        }
        for link in &links {
            link.send(&Frame::Bye);
            link.end();
        }
        // Outside of the lock: those who read the connections use the hub until they end.
        let end = Instant::now() + FAREWELL;
        for link in &mut links {
            link.hang_up(end);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Sends every round that is complete.
    fn complete(&mut self) {
        while self.queues.iter().all(|queue| !queue.is_empty()) {
            let messages = self.queues.iter_mut().filter_map(VecDeque::pop_front);
            let round = Arc::new(messages.collect());
            let frame = Frame::Round(Arc::clone(&round));
            let mut bytes = None;
            for output in self.outputs.iter().flatten() {
                match output {
                    Output::Mailbox(mailbox) => mailbox.deliver(Arc::clone(&round)),
                    Output::Link(link) => {
                        let bytes = bytes.get_or_insert_with(|| Arc::new(frame.to_bytes()));
                        link.send_bytes(Arc::clone(bytes));
                    }
                }
            }
            let is_waited_for = self.queues.iter().any(|queue| !queue.is_empty());
            self.since = is_waited_for.then(Instant::now);
        }
    }

    /// Nobody waits for a rank that has left.
    fn refuse_waiting_for_leavers(&mut self) {
        if self.since.is_none() {
            return;
        }
        let mut ranks = self.queues.iter().zip(&self.has_left);
        if let Some(rank) = ranks.position(|(queue, &has_left)| has_left && queue.is_empty()) {
            let reason = "it has ended, and others wait for it".to_owned();
            self.raise(Fault::Lost { rank, reason });
        }
    }

    fn raise(&mut self, fault: Fault) {
        if self.fault.is_some() {
            return;
        }
        for output in self.outputs.iter().flatten() {
            output.tell(&fault);
        }
        self.fault = Some(fault);
    }
}

impl Output {
    fn tell(&self, fault: &Fault) {
        match self {
            Output::Mailbox(mailbox) => mailbox.fault(fault.clone().into()),
            Output::Link(link) => link.send(&Frame::Fault(fault.clone())),
        }
    }
}
