//! The connection between the hosts of the ranks: small messages, and who was lost.

mod frame;
pub mod fuzzing;
mod hub;
mod link;
mod local;
mod mailbox;
mod meeting;
mod remote;
mod rendezvous;

use std::sync::Arc;
use std::time::Instant;

use crate::error::RankError;
use crate::limits::Limits;
use frame::Round;
pub(crate) use hub::Hub;
pub(crate) use local::connected;
use mailbox::Mailbox;
pub use mailbox::Watch;
pub(crate) use meeting::meet;
pub(crate) use rendezvous::hostname;

/// A rank's connection to the others. All ranks call the same operations in the same order.
///
/// A clone is the same connection. When the last one is dropped, the rank has left; when that happens in a panic,
/// it was lost.
///
/// ```
/// use ranks::{Control, Limits, RankError, run_threads};
/// use ridgepoint_driver::{Device, DeviceChoice};
///
/// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
/// let devices = (0..3).map(open).collect::<Result<Vec<_>, _>>()?;
/// let sums = run_threads(&devices, Limits::default(), |rank| {
///     let control: &Control = rank.control();
///     assert_eq!((control.size(), control.limits()), (3, Limits::default()));
///     let all = control.exchange(&[10 * rank.rank() as u8])?;
///     control.barrier()?;
///     control.check()?;
///     Ok::<_, RankError>(all.concat().iter().sum::<u8>())
/// })?;
/// assert_eq!(sums, [30, 30, 30]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Control(Arc<Member>);

/// A rank's end of the connection.
struct Member {
    rank: usize,
    size: usize,
    limits: Limits,
    mailbox: Arc<Mailbox>,
    /// One operation at a time: a message goes out and its round comes in.
    turn: std::sync::Mutex<()>,
    way: Way,
}

/// How a rank's messages come to the hub, which makes rounds of them.
enum Way {
    /// The hub is in this process.
    Hub(Arc<Hub>),
    /// The hub is at the other end of a connection.
    Remote(link::Link),
}

/// The purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Exchange = 1,
    Barrier = 2,
    Collective = 3,
}

impl Control {
    fn new(rank: usize, size: usize, limits: Limits, mailbox: Arc<Mailbox>, way: Way) -> Control {
        Control(Arc::new(Member {
            rank,
            size,
            limits,
            mailbox,
            turn: std::sync::Mutex::new(()),
            way,
        }))
    }

    /// This rank, counted from 0.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// How long the ranks wait for each other.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// Gives every rank the messages of all, in the order of the ranks. The messages may differ in length.
    ///
    /// # Errors
    /// [`RankError::Lost`], [`RankError::Late`]: a rank ended, or does not come; [`RankError::Mismatch`]: another rank
    /// called another operation; [`RankError::TooLong`].
    pub fn exchange(&self, message: &[u8]) -> Result<Vec<Vec<u8>>, RankError> {
        let round = self.round(Kind::Exchange, message)?;
        Ok(round.iter().map(|it| it[1..].to_vec()).collect())
    }

    /// Waits until every rank has come here.
    ///
    /// # Errors
    /// As [`Control::exchange`].
    pub fn barrier(&self) -> Result<(), RankError> {
        self.round(Kind::Barrier, &[]).map(|_| ())
    }

    /// Whether all ranks are well, without waiting.
    ///
    /// # Errors
    /// The fault that was noticed first: [`RankError::Lost`], [`RankError::Late`].
    pub fn check(&self) -> Result<(), RankError> {
        self.0.mailbox.check()
    }

    /// Calls `call` on a thread of its own as soon as a rank is lost, or now if one was, unless the
    /// [`Watch`] is dropped before.
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use ranks::{Limits, Watch, run_threads};
    /// use ridgepoint_driver::{Device, DeviceChoice};
    ///
    /// let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
    /// let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
    /// let result = run_threads(&devices, Limits::default(), |rank| {
    ///     if rank.rank() == 1 {
    ///         return Err("the disk is full".to_owned());
    ///     }
    ///     let (noticed, notices) = mpsc::channel();
    ///     let tell = move |error: &_| noticed.send(ToString::to_string(error)).unwrap_or(());
    ///     let watch: Watch = rank.control().on_loss(tell);
    ///     assert_eq!(notices.recv().unwrap(), "rank 1 was lost: the disk is full");
    ///     drop(watch);
    ///     rank.control().barrier().map_err(|error| error.to_string())
    /// });
    /// assert_eq!(result.unwrap_err().to_string(), "rank 1: the disk is full");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "dropped, nothing is called"]
    pub fn on_loss(&self, call: impl FnOnce(&RankError) + Send + 'static) -> Watch {
        Mailbox::watch(&self.0.mailbox, Box::new(call))
    }

    /// Tells the other ranks that this one ends with an error: they notice that it was lost, and why.
    /// [`run_threads`](crate::run_threads) and [`run_process`](crate::run_process) do so where their work fails.
    ///
    /// ```
    /// # use ranks::{Limits, run_threads};
    /// # use ridgepoint_driver::{Device, DeviceChoice};
    /// # let open = |_| Device::open(&DeviceChoice::Cpu, &[]);
    /// # let devices = (0..2).map(open).collect::<Result<Vec<_>, _>>()?;
    /// let result = run_threads(&devices, Limits::default(), |rank| {
    ///     if rank.rank() == 1 {
    ///         rank.control().fail("no input");
    ///     }
    ///     rank.control().barrier()
    /// });
    /// assert!(result.unwrap_err().to_string().ends_with("rank 1 was lost: no input"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fail(&self, reason: &str) {
        match &self.0.way {
            Way::Hub(hub) => hub.lose(self.0.rank, reason),
            Way::Remote(link) => link.fail(reason),
        }
    }

    /// The messages of all ranks, each behind a byte for its kind.
    pub(crate) fn round(&self, kind: Kind, message: &[u8]) -> Result<Round, RankError> {
        let member = &*self.0;
        let (actual, limit) = (message.len(), frame::most_bytes_of_message(member.size));
        if actual > limit {
            return Err(RankError::TooLong { actual, limit });
        }
        let _turn = member.turn.lock().unwrap_or_else(|it| it.into_inner());
        member.mailbox.check()?;
        let mut marked = Vec::with_capacity(1 + message.len());
        marked.push(kind as u8);
        marked.extend_from_slice(message);
        member.send(marked);
        let round = member.receive()?;
        let other = |it: &Vec<u8>| it.first() != Some(&(kind as u8));
        match round.iter().position(other) {
            None => Ok(round),
            Some(rank) => Err(RankError::Mismatch {
                rank,
                own: name(kind as u8).to_owned(),
                other: name(round[rank].first().copied().unwrap_or(0)).to_owned(),
            }),
        }
    }
}

impl Member {
    fn send(&self, message: Vec<u8>) {
        match &self.way {
            Way::Hub(hub) => {
                // There is room: operations take turns, and each ends with its round or with a fault.
                hub.put(self.rank, message);
            }
            Way::Remote(link) => link.send(&frame::Frame::Data(message)),
        }
    }

    fn receive(&self) -> Result<Round, RankError> {
        let begin = Instant::now();
        match &self.way {
            Way::Hub(hub) => self.mailbox.next(self.limits.beat(), || {
                hub.check_patience(self.limits.patience);
                None
            }),
            // The hub is the first to lose patience, and knows with whom; where it does not, something is wrong with it.
            Way::Remote(_) => self.mailbox.next(self.limits.beat(), || {
                let most = self.limits.patience + self.limits.fault;
                (begin.elapsed() > most).then(|| RankError::Late {
                    ranks: vec![0],
                    waited: most,
                })
            }),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        // What the end of the connection looks like is no fault of this rank's any more.
        self.mailbox.close();
        let panics = std::thread::panicking();
        match &self.way {
            Way::Hub(hub) if panics => hub.lose(self.rank, PANICKED),
            Way::Hub(hub) => hub.leave(self.rank),
            Way::Remote(link) if panics => link.fail(PANICKED),
            Way::Remote(link) => link.send(&frame::Frame::Bye),
        }
        if let Way::Hub(hub) = &self.way
            && self.rank == 0
        {
            hub.close();
        }
    }
}

/// Why a rank that panicked was lost.
const PANICKED: &str = "it panicked";

fn name(kind: u8) -> &'static str {
    match kind {
        1 => "an exchange",
        2 => "a barrier",
        3 => "a collective",
        _ => "an unknown operation",
    }
}
