//! The reader of frames for those who look for its faults: no part of the interface.

use std::sync::Arc;
use std::time::Duration;

use super::frame::{Frame, Hello, PROTOCOL, Refusal, Room};
use crate::error::Fault;

/// One frame of each kind.
fn every_frame() -> Vec<Frame> {
    let hello = Hello {
        protocol: PROTOCOL,
        token: "7".to_owned(),
        rank: 1,
        size: 2,
    };
    vec![
        Frame::Hello(hello),
        Frame::Welcome,
        Frame::Refused(Refusal::OtherRun),
        Frame::Data(vec![1, 2, 3]),
        Frame::Round(Arc::new(vec![vec![], vec![9; 300], vec![1]])),
        Frame::Beat,
        Frame::Fault(Fault::Late {
            ranks: vec![0, 3],
            waited: Duration::from_millis(20),
        }),
        Frame::Failed("no disk".to_owned()),
        Frame::Bye,
    ]
}

/// The bytes of a connection over which a frame of each kind goes.
pub fn connection() -> Vec<u8> {
    every_frame().iter().flat_map(Frame::to_bytes).collect()
}

/// Reads frames as the hub of two ranks does: the first as a stranger's. Returns how many there were before the end, or before
/// what no rank sends.
pub fn frames(mut bytes: &[u8]) -> usize {
    let of_rank = || Room::of_rank(2);
    let rooms = std::iter::once(Room::GREETING).chain(std::iter::repeat_with(of_rank));
    let read = rooms.map_while(|room| Frame::read(&mut bytes, room).ok());
    read.count()
}
