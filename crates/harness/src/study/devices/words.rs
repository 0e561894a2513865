//! Words in which devices that share a vector hand each other numbers ([`kernels_gpu::distributed`]).

use std::mem::ManuallyDrop;

use cuda_std::launch::{Slice, SliceMut};
use kernels_gpu::distributed::{MOST_DEVICES, SETS};
use kernels_gpu::reduction::to_word;
use ranks::{Rank, RankError};

use super::{Exchange, Team};

use crate::driver::{Device, DeviceBuffer, DriverError};
use crate::study::StudyError;

/// The words of a device, and where it sends its own numbers.
pub(crate) struct Words {
    sets: ManuallyDrop<[DeviceBuffer<u64>; SETS]>,
    /// Of each set the addresses of those that a number is sent to.
    targets: [DeviceBuffer<u64>; SETS],
    /// Not 0 once a word has been waited for in vain.
    lost: DeviceBuffer<u32>,
    turn: Turns,
}

/// Which set is next.
enum Turns {
    /// Always the first: another operation in the stream brings what is missing.
    First,
    /// All in turns: this one is next.
    Next(usize),
}

/// The words of a turn.
pub(crate) struct Turn<'a> {
    /// Those that the numbers come to.
    pub(crate) words: &'a mut DeviceBuffer<u64>,
    /// Those of the turn before, to be emptied.
    pub(crate) spare: SliceMut<'a, u64>,
    /// The addresses of the words that this device sends to.
    pub(crate) targets: Slice<'a, u64>,
    /// Where a launch says that it has waited in vain.
    pub(crate) lost: SliceMut<'a, u32>,
}

impl Words {
    /// `len` words of a rank, for this exchange.
    pub(crate) fn of(
        team: &Team<'_, '_>,
        exchange: Option<Exchange>,
        len: usize,
    ) -> Result<Words, StudyError> {
        match exchange {
            Some(Exchange::Peer) => Words::between(team.rank, team.devices, len),
            Some(Exchange::Gather | Exchange::Graph) | None => {
                Ok(Words::alone(team.rank.device(), len)?)
            }
        }
    }

    /// `len` words of a device, which sends to these alone. There is a number in each.
    fn alone(device: &Device, len: usize) -> Result<Words, DriverError> {
        let number = to_word(0.5);
        let set = || device.buffer_filled(len, number);
        Words::made(device, [set()?, set()?, set()?], Turns::First)
    }

    fn made(
        device: &Device,
        sets: [DeviceBuffer<u64>; SETS],
        turn: Turns,
    ) -> Result<Words, DriverError> {
        let own = |set: &DeviceBuffer<u64>| device.buffer_from(&[address(set)]);
        Ok(Words {
            targets: [own(&sets[0])?, own(&sets[1])?, own(&sets[2])?],
            lost: device.buffer_zeroed(1)?,
            sets: ManuallyDrop::new(sets),
            turn,
        })
    }

    /// `len` words of each of these devices, of which the rank's is one. Each sends to those of all.
    fn between(rank: &Rank<'_>, devices: &[Device], len: usize) -> Result<Words, StudyError> {
        if devices.len() > MOST_DEVICES {
            return Err(StudyError::Devices {
                actual: devices.len(),
                limit: MOST_DEVICES,
            });
        }
        let device = rank.device();
        for peer in devices {
            device.enable_peer_access(peer)?;
        }
        let set = || device.buffer_zeroed::<u64>(len);
        let mut words = Words::made(device, [set()?, set()?, set()?], Turns::Next(0))?;
        let own = words.sets.each_ref().map(address);
        let all = rank.control().exchange(bytemuck::bytes_of(&own))?;
        for (set, targets) in words.targets.iter_mut().enumerate() {
            let of = |message: &Vec<u8>| bytemuck::pod_read_unaligned::<[u64; SETS]>(message)[set];
            let addresses: Vec<u64> = all.iter().map(of).collect();
            *targets = device.buffer_from(&addresses)?;
        }
        // Nobody sends before all words are empty.
        rank.control().barrier()?;
        Ok(words)
    }

    /// The words of the next turn.
    pub(crate) fn begin(&mut self) -> Turn<'_> {
        let (now, before) = match &mut self.turn {
            Turns::First => (0, 1),
            Turns::Next(next) => {
                let now = *next;
                *next = (now + 1) % SETS;
                (now, (now + SETS - 1) % SETS)
            }
        };
        self.at(now, before)
    }

    /// The words of the turn that was begun last.
    pub(crate) fn current(&mut self) -> Turn<'_> {
        let now = match self.turn {
            Turns::First => return self.at(0, 1),
            Turns::Next(next) => (next + SETS - 1) % SETS,
        };
        self.at(now, (now + SETS - 1) % SETS)
    }

    fn at(&mut self, now: usize, before: usize) -> Turn<'_> {
        let [words, spare] = self
            .sets
            .get_disjoint_mut([now, before])
            .expect("two sets of three");
        Turn {
            words,
            spare: spare.slice_mut(..),
            targets: self.targets[now].slice(..),
            lost: self.lost.slice_mut(..),
        }
    }

    /// Fails if a word has been waited for in vain, for so long.
    pub(crate) fn check(&self, nanoseconds: u64) -> Result<(), StudyError> {
        match self.lost.to_vec()?[..] {
            [0] => Ok(()),
            _ => Err(StudyError::Silent {
                seconds: nanoseconds as f64 / 1e9,
            }),
        }
    }

    /// Waits until no device sends any more: from now on the words can be freed. Where a rank fails before that, they are kept for
    /// ever, because another device may still be sending.
    pub(crate) fn finish(&mut self, rank: &Rank<'_>) -> Result<(), RankError> {
        rank.control().barrier()?;
        self.turn = Turns::First;
        Ok(())
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if let Turns::First = self.turn {
            // SAFETY: dropped here alone.
            unsafe { ManuallyDrop::drop(&mut self.sets) };
        }
    }
}

fn address(set: &DeviceBuffer<u64>) -> u64 {
    set.slice(..).as_ptr().expose_provenance() as u64
}
