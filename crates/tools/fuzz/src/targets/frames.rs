//! Frames between ranks, as the hub reads them.

use std::io;

use fastrand::Rng;

use super::Target;
use super::texts::mutant;

/// Mutants of connections' bytes.
#[derive(Debug)]
pub(super) struct Frames;

impl Target for Frames {
    fn run(&mut self, seed: u64) -> io::Result<&'static str> {
        let mut random = Rng::with_seed(seed);
        let mut bytes = ranks::fuzzing::connection();
        bytes = mutant(&bytes, &mut random);
        if random.bool() {
            let at = random.usize(..bytes.len().max(1)) & !3;
            let length: u32 = [0, 1, 4095, 4097, 1 << 31, u32::MAX, 300][random.usize(..7)];
            for (byte, new) in bytes.iter_mut().skip(at).zip(length.to_le_bytes()) {
                *byte = new;
            }
        }
        Ok(match ranks::fuzzing::frames(&bytes) {
            0 => "no frame",
            1..4 => "some frames",
            _ => "many frames",
        })
    }
}
