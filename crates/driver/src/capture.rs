//! The launches that a stream captures for a graph.

use std::ptr;

use cust::sys::{self, CUgraphNode, CUstream};

use super::DriverError;
use super::checking::Order;
use super::error::checked;
use super::host_work::{self, Work};
use super::replay::Replay;

/// The launches that a stream has been asked for since its capture began.
#[derive(Default)]
pub(super) struct Captured {
    /// Those of a GPU.
    pub(super) kernels: Vec<CUgraphNode>,
    /// Those of the emulator, and what the host does between.
    pub(super) pieces: Vec<Piece>,
}

/// A piece of work that a graph of the emulator replays.
pub(super) enum Piece {
    Launch(Replay),
    Work(Work),
}

impl Piece {
    /// Runs it, after what is in the stream.
    ///
    /// # Safety
    /// As for the launch that was captured.
    pub(super) unsafe fn run(&self, order: &Order) -> Result<(), DriverError> {
        match self {
            // SAFETY: the caller's contract.
            Piece::Launch(replay) => unsafe { replay.run(order) },
            Piece::Work(work) => host_work::run(work, order),
        }
    }

    /// Returns the launch, if it is one.
    pub(super) fn launch(&mut self) -> Option<&mut Replay> {
        match self {
            Piece::Launch(replay) => Some(replay),
            Piece::Work(_) => None,
        }
    }
}

impl Captured {
    /// Remembers what the emulator replays.
    pub(super) fn add(&mut self, piece: Piece) {
        self.pieces.push(piece);
    }

    /// Remembers the launch that has just been put into the capturing stream.
    pub(super) fn add_last_of(&mut self, stream: CUstream) -> Result<(), DriverError> {
        let mut status = sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE;
        let (mut dependencies, mut count) = (ptr::null(), 0);
        // SAFETY: the stream is alive, and all others are places to write to or null.
        checked("look at a capture", unsafe {
            sys::cuStreamGetCaptureInfo_v2(
                stream,
                &mut status,
                ptr::null_mut(),
                ptr::null_mut(),
                &mut dependencies,
                &mut count,
            )
        })?;
        // What comes next depends on the launch alone.
        if count == 1 {
            // SAFETY: the driver says that there is one, which lives as long as the capture.
            self.kernels.push(unsafe { *dependencies });
        }
        Ok(())
    }
}
