//! Makes rounds of the messages of all ranks, and tells all of them the first fault.

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
    /// The message of each rank for the round that is not complete. It waits for the round before it sends more.
    messages: Vec<Option<Vec<u8>>>,
    /// When the first of those came.
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
            messages: vec![None; size],
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

    /// A rank's next message. Gives whether there was room: it comes after the round of the one before.
    pub(super) fn put(&self, rank: usize, message: Vec<u8>) -> bool {
        let mut state = self.lock();
        if state.messages[rank].is_some() {
            return false;
        }
        state.messages[rank] = Some(message);
        state.since.get_or_insert_with(Instant::now);
        state.complete();
        state.refuse_waiting_for_leavers();
        true
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
            let messages = state.messages.iter().enumerate();
            let late = messages.filter(|(_, it)| it.is_none());
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
    /// Sends the round, if it is complete.
    fn complete(&mut self) {
        if self.messages.iter().any(Option::is_none) {
            return;
        }
        let messages = self.messages.iter_mut().filter_map(Option::take);
        let round = Arc::new(messages.collect());
        let frame = Frame::Round(Arc::clone(&round));
        let mut bytes = None;
        for output in self.outputs.iter().flatten() {
            match output {
                Output::Mailbox(mailbox) => {
                    // There is room: its rank has sent a message, and waits for this round of it.
                    mailbox.deliver(Arc::clone(&round));
                }
                Output::Link(link) => {
                    let bytes = bytes.get_or_insert_with(|| Arc::new(frame.to_bytes()));
                    link.send_bytes(Arc::clone(bytes));
                }
            }
        }
        self.since = None;
    }

    /// Nobody waits for a rank that has left.
    fn refuse_waiting_for_leavers(&mut self) {
        if self.since.is_none() {
            return;
        }
        let mut ranks = self.messages.iter().zip(&self.has_left);
        if let Some(rank) = ranks.position(|(message, &has_left)| has_left && message.is_none()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_has_room_for_one_message_until_its_round() {
        let hub = Hub::new(2);
        assert!(hub.put(0, vec![1]));
        assert!(!hub.put(0, vec![2]), "its round is not complete");
        assert!(hub.put(1, vec![3]));
        assert!(hub.put(0, vec![4]));
    }
}
