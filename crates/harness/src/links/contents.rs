//! The contents of transfers, and their comparison with what came.

use cuda_std::launch::Slice;
use kernels_gpu::ceilings::stream::{Vector, pattern_vector};

use super::LinkError;
use crate::driver::{Device, DeviceBuffer, DriverError};
use crate::embedded::pattern::{EACH, WIDTH, on_all_cores, patterned, sum_of_words, sum_on_device};

/// Vectors by which the contents of one sender begin further on in the pattern than those of the one before: 4 KiB, so that both are
/// aligned alike.
pub(super) const APART: usize = 256;

/// Of more than [`EACH`] elements the sum is compared, and so many places of [`APART`] vectors each.
const PLACES: usize = 64;

/// The contents of each device's array, and of the host's, which comes last: parts of one pattern, no two of which are the same.
pub(super) struct Contents {
    vectors: usize,
    /// The wrapping sum of each one's words, where not each element is compared.
    sums: Vec<u32>,
    devices: usize,
}

impl Contents {
    pub(super) fn new(vectors: usize, devices: usize) -> Contents {
        let sum_of = |sender: usize| {
            let of_part = |range: std::ops::Range<usize>| {
                let words = range.map(|i| word_sum(&pattern_vector(sender * APART + i)));
                words.fold(0, u32::wrapping_add)
            };
            sum_of_words(&on_all_cores(vectors, of_part))
        };
        let sums = match vectors * WIDTH > EACH {
            true => (0..=devices).map(sum_of).collect(),
            false => Vec::new(),
        };
        Contents {
            vectors,
            sums,
            devices,
        }
    }

    /// The sender that is the host.
    pub(super) fn host(&self) -> usize {
        self.devices
    }

    /// An array of a device, of which [`Contents::part`] is sent.
    pub(super) fn source(
        &self,
        device: &Device,
        number: usize,
    ) -> Result<DeviceBuffer<Vector>, DriverError> {
        patterned(device, 0, number * APART + self.vectors)
    }

    /// Returns the part that a device sends.
    pub(super) fn part<'b>(
        &self,
        source: &'b DeviceBuffer<Vector>,
        number: usize,
    ) -> Slice<'b, Vector> {
        let first = number * APART;
        source.slice(first..first + self.vectors)
    }

    /// Vector `i` of what is sent.
    pub(super) fn vector(&self, sender: usize, i: usize) -> Vector {
        pattern_vector(sender * APART + i)
    }

    pub(super) fn vectors(&self) -> usize {
        self.vectors
    }

    /// Fails unless a device's array holds what a sender has sent: each element of few, and of many their sum, by the device, and those
    /// of many places.
    pub(super) fn check(
        &self,
        device: &Device,
        came: &DeviceBuffer<Vector>,
        sender: usize,
    ) -> Result<(), LinkError> {
        let Some(&expected) = self.sums.get(sender) else {
            return self.check_part(&came.to_vec()?, 0, sender);
        };
        let mut part = vec![[0.0; WIDTH]; APART];
        let last = self.vectors - APART;
        for place in 0..PLACES {
            let first = last * place / (PLACES - 1);
            came.read(first, &mut part)?;
            self.check_part(&part, first, sender)?;
        }
        match sum_on_device(device, came.slice(..))? {
            actual if actual == expected => Ok(()),
            actual => Err(LinkError::wrong(format!(
                "the sum of the words that came is {actual}, not {expected}"
            ))),
        }
    }

    /// Fails unless vectors from number `first` on are those that a sender has sent.
    pub(super) fn check_part(
        &self,
        came: &[Vector],
        first: usize,
        sender: usize,
    ) -> Result<(), LinkError> {
        let wrong_in = |range: std::ops::Range<usize>| {
            let mut numbers = range;
            numbers.find(|&i| bits(&came[i]) != bits(&self.vector(sender, first + i)))
        };
        let Some(i) = on_all_cores(came.len(), wrong_in)
            .into_iter()
            .flatten()
            .next()
        else {
            return Ok(());
        };
        let (actual, expected) = (came[i], self.vector(sender, first + i));
        let number = first + i;
        let vectors = self.vectors;
        Err(LinkError::wrong(match bits(&actual) {
            [u32::MAX, ..] => format!("vector {number} of {vectors} did not come"),
            _ => format!("vector {number} of {vectors} is {actual:?}, not {expected:?}"),
        }))
    }
}

fn bits(vector: &Vector) -> [u32; WIDTH] {
    vector.map(f32::to_bits)
}

fn word_sum(vector: &Vector) -> u32 {
    sum_of_words(&bits(vector))
}
