//! One connection of two ranks: a thread writes, with signs of life between, and a thread reads.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::frame::{Frame, Room};
use crate::error::{RankError, system};
use crate::limits::Limits;

/// How long a connection that is closed waits for the other end to read what was sent last.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);

/// One connection. Dropped, it is closed after what was sent has been written.
pub(super) struct Link {
    outgoing: Arc<Outgoing>,
    stream: TcpStream,
    threads: Vec<JoinHandle<()>>,
}

/// The queue of frames to be written; `None` once nothing more is.
struct Outgoing(Mutex<Option<Sender<Arc<Vec<u8>>>>>);

/// The next step of one who reads a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Read,
    Stop,
}

impl Link {
    /// Begins to write and to read. `take` is given each frame, and at last why there are no more, if it has not
    /// stopped before. After either nothing is written any more.
    ///
    /// A frame for which there is no room ends the connection.
    ///
    /// An end that has not been heard of for the time for faults is lost.
    pub(super) fn open(
        stream: TcpStream,
        (room, limits): (Room, Limits),
        mut take: impl FnMut(Result<Frame, String>) -> Next + Send + 'static,
    ) -> Result<Link, RankError> {
        const OPERATION: &str = "talk to a rank";
        let socket = system(OPERATION);
        stream.set_nodelay(true).map_err(&socket)?;
        stream
            .set_read_timeout(Some(limits.fault))
            .map_err(&socket)?;
        stream
            .set_write_timeout(Some(limits.fault))
            .map_err(&socket)?;
        let (sender, receiver) = mpsc::channel();
        let outgoing = Arc::new(Outgoing(Mutex::new(Some(sender))));
        let mut link = Link {
            outgoing: Arc::clone(&outgoing),
            stream: stream.try_clone().map_err(&socket)?,
            threads: Vec::new(),
        };
        let writer = stream.try_clone().map_err(&socket)?;
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let writing = named("ranks-write").spawn(move || write(writer, &receiver, limits.beat()));
        link.threads.push(writing.map_err(&socket)?);
        let reading = named("ranks-read").spawn(move || {
            read(stream, (room, limits), &mut take);
            outgoing.end();
        });
        link.threads.push(reading.map_err(&socket)?);
        Ok(link)
    }

    pub(super) fn send(&self, frame: &Frame) {
        self.send_bytes(Arc::new(frame.to_bytes()));
    }

    /// Whoever reads notices that a connection has gone, so that nothing is said here.
    pub(super) fn send_bytes(&self, bytes: Arc<Vec<u8>>) {
        let outgoing = self.outgoing.lock();
        if let Some(sender) = &*outgoing {
            let _ = sender.send(bytes);
        }
    }

    /// This rank ends with an error.
    pub(super) fn fail(&self, reason: &str) {
        self.send(&Frame::Failed(reason.to_owned()));
    }

    /// Nothing more is sent.
    pub(super) fn end(&self) {
        self.outgoing.end();
    }

    /// Closes the connection, at the latest at `end`. Before that it waits for the other end to close it, too:
    /// the system throws away what was sent where a connection is closed that has not been read to its end.
    pub(super) fn hang_up(&mut self, end: Instant) {
        self.end();
        while Instant::now() < end && !self.threads.iter().all(JoinHandle::is_finished) {
            thread::sleep(Duration::from_millis(2));
        }
        // It is closed by now, or the other end does not answer.
        let _ = self.stream.shutdown(Shutdown::Both);
        for thread in self.threads.drain(..) {
            // They do not panic, and the one who drops the connection may be one of them.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

impl Outgoing {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Sender<Arc<Vec<u8>>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        self.lock().take();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.hang_up(Instant::now() + FAREWELL);
    }
}

fn write(mut stream: TcpStream, frames: &Receiver<Arc<Vec<u8>>>, beat: Duration) {
    let alive = Frame::Beat.to_bytes();
    loop {
        let written = match frames.recv_timeout(beat) {
            Ok(bytes) => stream.write_all(&bytes),
            Err(RecvTimeoutError::Timeout) => stream.write_all(&alive),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if written.is_err() {
            break;
        }
    }
    // The reader notices whatever is wrong.
    let _ = stream.shutdown(Shutdown::Write);
}

fn read(
    mut stream: TcpStream,
    (room, limits): (Room, Limits),
    take: &mut impl FnMut(Result<Frame, String>) -> Next,
) {
    loop {
        match Frame::read(&mut stream, room) {
            Ok(frame) => {
                if take(Ok(frame)) == Next::Stop {
                    return;
                }
            }
            Err(error) => {
                take(Err(reason(&error, limits)));
                return;
            }
        }
    }
}

/// Why a connection has no more frames.
fn reason(error: &io::Error, limits: Limits) -> String {
    use io::ErrorKind::{ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
    match error.kind() {
        UnexpectedEof | ConnectionReset => "its connection ended".to_owned(),
        TimedOut | WouldBlock => format!("it was silent for {} s", limits.fault.as_secs_f64()),
        _ => format!("its connection failed: {error}"),
    }
}
