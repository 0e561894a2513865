//! The socket between a debugged program and its front.

use std::io::{self, BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use crate::protocol::{Message, Request};

/// The program's end.
pub struct Link {
    stream: UnixStream,
    requests: Receiver<Request>,
    is_asked_for: Arc<AtomicBool>,
}

impl Link {
    /// Connects to the front that listens at a path.
    ///
    /// # Errors
    /// Nobody does, or the system has no thread.
    pub fn connect(path: &Path) -> io::Result<Link> {
        Link::over(UnixStream::connect(path)?)
    }

    /// Makes a link of a socket.
    ///
    /// # Errors
    /// The system has no thread.
    pub fn over(stream: UnixStream) -> io::Result<Link> {
        let (sender, requests) = channel();
        let is_asked_for = Arc::new(AtomicBool::new(false));
        let (reader, wakes) = (
            BufReader::new(stream.try_clone()?),
            Arc::clone(&is_asked_for),
        );
        let read = move || {
            for line in reader.lines().map_while(Result::ok) {
                // A front of another version has words of its own.
                let Ok(request) = serde_json::from_str(&line) else {
                    break;
                };
                if sender.send(request).is_err() {
                    break;
                }
                wakes.store(true, Ordering::Release);
            }
            drop(sender);
            wakes.store(true, Ordering::Release);
        };
        thread::Builder::new()
            .name("debugger".to_owned())
            .spawn(read)?;
        Ok(Link {
            stream,
            requests,
            is_asked_for,
        })
    }

    /// Set where the front has said something that was not heard.
    pub(crate) fn is_asked_for(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_asked_for)
    }

    /// Waits for what the front says; none where it is gone.
    pub(crate) fn hear(&self) -> Option<Request> {
        self.requests.recv().ok()
    }

    /// The request that the front has made meanwhile; an error where it is gone.
    pub(crate) fn heard(&self) -> Result<Option<Request>, ()> {
        if !self.is_asked_for.load(Ordering::Acquire) {
            return Ok(None);
        }
        match self.requests.try_recv() {
            Ok(request) => Ok(Some(request)),
            Err(TryRecvError::Empty) => {
                self.is_asked_for.store(false, Ordering::Release);
                // What has come between the two lines above is here, and there may be more of it.
                let request = self.requests.try_recv().ok();
                if request.is_some() {
                    self.is_asked_for.store(true, Ordering::Release);
                }
                Ok(request)
            }
            Err(TryRecvError::Disconnected) => Err(()),
        }
    }

    /// Says something. A front that is gone is noticed when it is heard next.
    pub(crate) fn say(&mut self, message: &Message) {
        let mut line = serde_json::to_vec(message).unwrap_or_default();
        line.push(b'\n');
        let _ = self.stream.write_all(&line);
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The thread that reads has the socket, too. A front that is gone has closed it.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}
