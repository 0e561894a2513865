//! The mailbox of a rank: a round, and the first fault.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::frame::Round;
use crate::error::RankError;

/// The function that is called when a rank is lost.
type Call = Box<dyn FnOnce(&RankError) + Send>;

/// The messages that a rank has received.
#[derive(Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// That for which the rank waits.
    round: Option<Round>,
    /// The first that was noticed.
    fault: Option<RankError>,
    /// Why no more rounds come, although nothing is wrong.
    end: Option<RankError>,
    /// Whether the rank has left: nothing concerns it any more.
    is_closed: bool,
    calls: BTreeMap<u64, Call>,
    next_call: u64,
}

impl Mailbox {
    /// The next round. Every `slice` of the time that it waits, `tick` may end it.
    pub(super) fn next(
        &self,
        slice: Duration,
        mut tick: impl FnMut() -> Option<RankError>,
    ) -> Result<Round, RankError> {
        loop {
            let mut state = self.lock();
            if let Some(round) = state.round.take() {
                return Ok(round);
            }
            if let Some(error) = state.fault.as_ref().or(state.end.as_ref()) {
                return Err(error.clone());
            }
            let waited = self.changed.wait_timeout(state, slice);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            if let Some(error) = tick() {
                self.fault(error);
            }
        }
    }

    pub(super) fn check(&self) -> Result<(), RankError> {
        self.lock().fault.clone().map_or(Ok(()), Err)
    }

    /// Keeps a round. Gives whether there was room: a rank takes each before it asks for the next.
    pub(super) fn deliver(&self, round: Round) -> bool {
        let mut state = self.lock();
        let has_room = state.round.is_none();
        if has_room {
            state.round = Some(round);
            self.changed.notify_all();
        }
        has_room
    }

    /// Keeps the first fault, and calls those who watch for it.
    pub(super) fn fault(&self, error: RankError) {
        let mut state = self.lock();
        if state.is_closed || state.fault.is_some() {
            return;
        }
        state.fault = Some(error.clone());
        for call in std::mem::take(&mut state.calls).into_values() {
            tell(call, error.clone());
        }
        self.changed.notify_all();
    }

    /// No more rounds come.
    pub(super) fn end(&self, error: RankError) {
        self.lock().end.get_or_insert(error);
        self.changed.notify_all();
    }

    /// The rank has left.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.calls.clear();
    }

    pub(super) fn watch(mailbox: &Arc<Mailbox>, call: Call) -> Watch {
        let mut state = mailbox.lock();
        let id = state.next_call;
        state.next_call += 1;
        match state.fault.clone() {
            Some(error) => tell(call, error),
            None => drop(state.calls.insert(id, call)),
        }
        Watch {
            mailbox: Arc::clone(mailbox),
            id,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// On a thread of its own: it may take long, and others are to be told, too.
fn tell(call: Call, error: RankError) {
    let named = thread::Builder::new().name("ranks-watch".to_owned());
    // Without a thread the loss still ends every operation of the connection.
    let _ = named.spawn(move || call(&error));
}

/// Something is called when a rank is lost, as long as this is there. [`Control::on_loss`](super::Control::on_loss)
/// has an example.
pub struct Watch {
    mailbox: Arc<Mailbox>,
    id: u64,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let call = self.mailbox.lock().calls.remove(&self.id);
        // Outside of the lock: what it owns may use the mailbox.
        drop(call);
    }
}
