//! The two ends of a connection: what the hub does with a rank's frames, and what a rank does with the hub's.

use std::net::TcpStream;
use std::sync::Arc;

use super::frame::{Frame, Room};
use super::hub::{Hub, Output};
use super::link::{Link, Next};
use super::mailbox::Mailbox;
use super::{Control, Way};
use crate::error::RankError;
use crate::limits::Limits;

/// The fault of a rank that sends what does not belong here.
const OTHER: &str = "it sent what this version does not know";

/// The fault of one that does not wait for the others: nobody keeps what it sends meanwhile.
const EARLY: &str = "it sent a second message before the round of its first";

/// Takes a rank in at the hub.
pub(super) fn take_in(
    hub: &Arc<Hub>,
    (rank, size): (usize, usize),
    stream: TcpStream,
    limits: Limits,
) -> Result<(), RankError> {
    let of_rank = Arc::clone(hub);
    let room = Room::of_rank(size);
    let link = Link::open(stream, (room, limits), move |frame| {
        match frame {
            Ok(Frame::Data(message)) => {
                if !of_rank.put(rank, message) {
                    of_rank.lose(rank, EARLY);
                    return Next::Stop;
                }
            }
            // As long as anybody lives, the late are noticed.
            Ok(Frame::Beat) => of_rank.check_patience(limits.patience),
            Ok(Frame::Failed(reason)) => of_rank.lose(rank, &reason),
            Ok(Frame::Bye) => of_rank.leave(rank),
            Ok(_) => {
                of_rank.lose(rank, OTHER);
                return Next::Stop;
            }
            Err(reason) => of_rank.lose(rank, &reason),
        }
        Next::Read
    })?;
    link.send(&Frame::Welcome);
    hub.connect(rank, Output::Link(link));
    Ok(())
}

/// The connection of a rank that the hub, which is rank 0, has taken in.
pub(super) fn taken_in(
    rank: usize,
    size: usize,
    stream: TcpStream,
    limits: Limits,
) -> Result<Control, RankError> {
    let mailbox = Arc::new(Mailbox::default());
    let of_rank = Arc::clone(&mailbox);
    let room = Room::of_hub(size);
    let link = Link::open(stream, (room, limits), move |frame| {
        let lost = |reason: &str| RankError::Lost {
            rank: 0,
            reason: reason.to_owned(),
        };
        match frame {
            Ok(Frame::Round(round)) => {
                if of_rank.deliver(round) {
                    return Next::Read;
                }
                of_rank.fault(lost(EARLY));
            }
            Ok(Frame::Beat) => return Next::Read,
            Ok(Frame::Fault(fault)) => of_rank.fault(fault.into()),
            Ok(Frame::Bye) => of_rank.end(lost("it has ended, and others wait for it")),
            Ok(_) => of_rank.fault(lost(OTHER)),
            Err(reason) => of_rank.fault(lost(&reason)),
        }
        Next::Stop
    })?;
    Ok(Control::new(rank, size, limits, mailbox, Way::Remote(link)))
}
