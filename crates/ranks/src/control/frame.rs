//! The frames of a connection: a length (4 bytes, little endian), a byte for the kind, and bytes.

use std::io::{self, Read};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Fault;

/// The messages of all ranks, in the order of the ranks.
pub(crate) type Round = Arc<Vec<Vec<u8>>>;

/// The first bytes of a connection of ranks, so that nothing else is taken for one.
pub(super) const MAGIC: [u8; 8] = *b"ridgrank";

/// Changes with the frames: all ranks must have the same.
pub(super) const PROTOCOL: u32 = 1;

/// The longest frame, a round.
pub(super) const MOST_BYTES: usize = 1 << 31;

/// The longest frame that is neither a message nor a round.
const MOST_BYTES_OF_NEWS: usize = 1 << 20;

/// The longest reason of a failure: it is sent on in other frames.
const MOST_BYTES_OF_REASON: usize = 1 << 16;

/// The limits of what a connection may bring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Bytes of a message.
    data: usize,
    /// Bytes of a round, and how many messages are one.
    round: (usize, usize),
    /// Bytes of any other frame.
    news: usize,
}

impl Room {
    /// Before it is known who is at the other end, and what rank 0 answers.
    pub(super) const GREETING: Room = Room {
        data: 0,
        round: (0, 0),
        news: 4096,
    };

    /// From one of so many ranks.
    pub(super) fn of_rank(ranks: usize) -> Room {
        Room {
            // The message has a byte for its kind.
            data: most_bytes_of_message(ranks) + 1,
            round: (0, 0),
            news: MOST_BYTES_OF_NEWS,
        }
    }

    /// From the hub of so many ranks.
    pub(super) fn of_hub(ranks: usize) -> Room {
        Room {
            data: 0,
            round: (MOST_BYTES, ranks),
            news: MOST_BYTES_OF_NEWS,
        }
    }
}

/// The longest message of one of so many ranks: all of them are one frame.
pub(super) fn most_bytes_of_message(ranks: usize) -> usize {
    MOST_BYTES / ranks.max(1) - 16
}

/// A message over a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The first of a rank to the hub.
    Hello(Hello),
    /// The hub has taken the rank in.
    Welcome,
    /// The hub has not.
    Refused(Refusal),
    /// A rank's message.
    Data(Vec<u8>),
    Round(Round),
    /// A sign of life.
    Beat,
    Fault(Fault),
    /// A rank ends with this error.
    Failed(String),
    /// A rank ends.
    Bye,
}

/// Who a rank says that it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub(super) protocol: u32,
    pub(super) token: String,
    pub(super) rank: usize,
    pub(super) size: usize,
}

/// Why the hub does not take a rank in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Refusal {
    /// The rank looks for another run.
    OtherRun,
    /// The launcher is wrong.
    Disagreeing(String),
}

/// The kinds of the frames that may be long.
const DATA: u8 = 4;
const ROUND: u8 = 5;

impl Frame {
    /// The frame as it goes over a connection.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, self.kind()];
        match self {
            Frame::Hello(hello) => bytes.extend(json(hello)),
            Frame::Refused(refusal) => bytes.extend(json(refusal)),
            Frame::Fault(fault) => bytes.extend(json(fault)),
            Frame::Data(message) => bytes.extend_from_slice(message),
            Frame::Failed(reason) => bytes.extend_from_slice(shortened(reason).as_bytes()),
            Frame::Round(round) => {
                for message in round.iter() {
                    bytes.extend_from_slice(&length(message.len()));
                    bytes.extend_from_slice(message);
                }
            }
            Frame::Welcome | Frame::Beat | Frame::Bye => {}
        }
        let payload = bytes.len() - 4;
        bytes[..4].copy_from_slice(&length(payload));
        bytes
    }

    /// The next frame of a connection, for which there is room.
    pub(super) fn read(from: &mut impl Read, room: Room) -> io::Result<Frame> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let refused = || invalid(&format!("a frame of {length} bytes"));
        if length == 0 {
            return Err(refused());
        }
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let most = match kind[0] {
            DATA => room.data,
            ROUND => room.round.0,
            _ => room.news,
        };
        if length - 1 > most {
            return Err(refused());
        }
        let mut bytes = Vec::new();
        // Memory is taken as the bytes come, not as somebody announces them.
        let read = from.take(length as u64 - 1).read_to_end(&mut bytes)?;
        if read < length - 1 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Frame::parse(kind[0], bytes, room)
    }

    fn parse(kind: u8, bytes: Vec<u8>, room: Room) -> io::Result<Frame> {
        Ok(match kind {
            1 => Frame::Hello(from_json(&bytes)?),
            2 => Frame::Welcome,
            3 => Frame::Refused(from_json(&bytes)?),
            DATA => Frame::Data(bytes),
            ROUND => Frame::Round(Arc::new(messages(&bytes, room.round.1)?)),
            6 => Frame::Beat,
            7 => Frame::Fault(from_json(&bytes)?),
            8 => Frame::Failed(shortened(&String::from_utf8_lossy(&bytes)).to_owned()),
            9 => Frame::Bye,
            other => return Err(invalid(&format!("a frame of kind {other}"))),
        })
    }

    fn kind(&self) -> u8 {
        match self {
            Frame::Hello(_) => 1,
            Frame::Welcome => 2,
            Frame::Refused(_) => 3,
            Frame::Data(_) => DATA,
            Frame::Round(_) => ROUND,
            Frame::Beat => 6,
            Frame::Fault(_) => 7,
            Frame::Failed(_) => 8,
            Frame::Bye => 9,
        }
    }
}

/// The messages of a round of so many ranks.
fn messages(mut bytes: &[u8], ranks: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        if messages.len() == ranks {
            return Err(invalid("a round of more messages than ranks"));
        }
        let length = u32::from_le_bytes(*length) as usize;
        let message = rest.get(..length).ok_or_else(|| invalid("half a round"))?;
        messages.push(message.to_vec());
        bytes = &rest[length..];
    }
    match bytes.is_empty() && messages.len() == ranks {
        true => Ok(messages),
        false => Err(invalid("half a round")),
    }
}

/// The beginning of a reason that is too long.
fn shortened(reason: &str) -> &str {
    &reason[..reason.floor_char_boundary(MOST_BYTES_OF_REASON)]
}

/// No frame is longer than [`MOST_BYTES`], which is below 4 GiB.
fn length(bytes: usize) -> [u8; 4] {
    u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("plain structures of numbers and texts")
}

fn from_json<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> io::Result<T> {
    serde_json::from_slice(bytes).map_err(|error| invalid(&error.to_string()))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("{what}, which no rank sends"),
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// For all frames.
    const ROOM: Room = Room {
        data: 4096,
        round: (4096, 3),
        news: 4096,
    };

    #[test]
    fn a_frame_for_which_there_is_no_room_is_refused_before_it_is_read() {
        let long = |frame: &Frame, room: Room| {
            let bytes = frame.to_bytes();
            // Of what is announced nothing but the kind is there.
            let error = Frame::read(&mut &bytes[..5], room).expect_err("no room");
            error.kind() == io::ErrorKind::InvalidData
        };
        let data = Frame::Data(vec![0; 2]);
        assert!(long(&data, Room::GREETING) && long(&data, Room::of_hub(2)));
        assert!(!long(&data, Room::of_rank(2)), "its bytes are missed");
        let round = Frame::Round(Arc::new(vec![vec![]; 2]));
        assert!(long(&round, Room::GREETING) && long(&round, Room::of_rank(2)));
        let fault = Frame::Fault(Fault::Disagreeing("x".repeat(MOST_BYTES_OF_NEWS)));
        assert!(long(&fault, Room::of_hub(2)) && long(&fault, Room::of_rank(2)));
        let many = Frame::Round(Arc::new(vec![vec![]; 3])).to_bytes();
        for ranks in [2, 4] {
            let error = Frame::read(&mut &many[..], Room::of_hub(ranks)).expect_err("3 messages");
            assert!(error.to_string().contains("no rank sends"), "{error}");
        }
        let reason = Frame::Failed("\u{e4}".repeat(MOST_BYTES_OF_REASON));
        let read = Frame::read(&mut &reason.to_bytes()[..], Room::of_rank(2)).expect("shortened");
        assert!(matches!(read, Frame::Failed(it) if it.len() == MOST_BYTES_OF_REASON));
    }

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

    #[test]
    fn frames_are_read_as_they_are_written() {
        for frame in every_frame() {
            let bytes = frame.to_bytes();
            assert_eq!(Frame::read(&mut &bytes[..], ROOM).expect("a frame"), frame);
            for end in 0..bytes.len() {
                assert!(Frame::read(&mut &bytes[..end], ROOM).is_err());
            }
        }
    }

    #[test]
    fn what_no_rank_sends_is_refused() {
        let requests: [&[u8]; 4] = [
            b"GET / HTTP/1.1\r\n\r\n",
            &[0, 0, 0, 0],
            &[1, 0, 0, 0, 77],
            &[6, 0, 0, 0, 5, 9, 0, 0, 0, 1],
        ];
        for bytes in requests {
            let error = Frame::read(&mut &bytes[..], ROOM).expect_err("refused");
            assert!(error.to_string().contains("no rank sends"), "{error}");
        }
    }
}
