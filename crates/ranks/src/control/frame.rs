//! What goes over a connection: frames of a length (4 bytes, little endian), a byte for the kind, and bytes.

use std::io::{self, Read};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Fault;

/// The messages of all ranks, in the order of the ranks.
pub(crate) type Round = Arc<Vec<Vec<u8>>>;

/// What a connection of ranks begins with, so that nothing else is taken for one.
pub(super) const MAGIC: [u8; 8] = *b"ridgrank";

/// Changes with the frames: all ranks must have the same.
pub(super) const PROTOCOL: u32 = 1;

/// The longest frame, a round.
pub(super) const MOST_BYTES: usize = 1 << 31;

/// The longest frame while it is not known who is at the other end.
pub(super) const MOST_BYTES_OF_HELLO: usize = 4096;

/// The longest message of one of so many ranks: all of them are one frame.
pub(super) fn most_bytes_of_message(ranks: usize) -> usize {
    MOST_BYTES / ranks.max(1) - 16
}

/// What goes over a connection.
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

impl Frame {
    /// The frame as it goes over a connection.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0, self.kind()];
        match self {
            Frame::Hello(hello) => bytes.extend(json(hello)),
            Frame::Refused(refusal) => bytes.extend(json(refusal)),
            Frame::Fault(fault) => bytes.extend(json(fault)),
            Frame::Data(message) => bytes.extend_from_slice(message),
            Frame::Failed(reason) => bytes.extend_from_slice(reason.as_bytes()),
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

    /// The next frame of a connection, of at most `most` bytes.
    pub(super) fn read(from: &mut impl Read, most: usize) -> io::Result<Frame> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        if length == 0 || length > most {
            return Err(invalid(&format!("a frame of {length} bytes")));
        }
        let mut kind = [0];
        from.read_exact(&mut kind)?;
        let mut bytes = Vec::new();
        // Memory is taken as the bytes come, not as somebody announces them.
        let read = from.take(length as u64 - 1).read_to_end(&mut bytes)?;
        if read < length - 1 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Frame::parse(kind[0], bytes)
    }

    fn parse(kind: u8, bytes: Vec<u8>) -> io::Result<Frame> {
        Ok(match kind {
            1 => Frame::Hello(from_json(&bytes)?),
            2 => Frame::Welcome,
            3 => Frame::Refused(from_json(&bytes)?),
            4 => Frame::Data(bytes),
            5 => Frame::Round(Arc::new(messages(&bytes)?)),
            6 => Frame::Beat,
            7 => Frame::Fault(from_json(&bytes)?),
            8 => Frame::Failed(String::from_utf8_lossy(&bytes).into_owned()),
            9 => Frame::Bye,
            other => return Err(invalid(&format!("a frame of kind {other}"))),
        })
    }

    fn kind(&self) -> u8 {
        match self {
            Frame::Hello(_) => 1,
            Frame::Welcome => 2,
            Frame::Refused(_) => 3,
            Frame::Data(_) => 4,
            Frame::Round(_) => 5,
            Frame::Beat => 6,
            Frame::Fault(_) => 7,
            Frame::Failed(_) => 8,
            Frame::Bye => 9,
        }
    }
}

/// The messages of a round.
fn messages(mut bytes: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let message = rest.get(..length).ok_or_else(|| invalid("half a round"))?;
        messages.push(message.to_vec());
        bytes = &rest[length..];
    }
    match bytes.is_empty() {
        true => Ok(messages),
        false => Err(invalid("half a round")),
    }
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
            assert_eq!(
                Frame::read(&mut &bytes[..], MOST_BYTES).expect("a frame"),
                frame
            );
            for end in 0..bytes.len() {
                assert!(Frame::read(&mut &bytes[..end], MOST_BYTES).is_err());
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
            let error = Frame::read(&mut &bytes[..], 4096).expect_err("refused");
            assert!(error.to_string().contains("no rank sends"), "{error}");
        }
    }
}
