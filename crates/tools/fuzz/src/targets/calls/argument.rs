//! Arguments of calls.

use fastrand::Rng;

use super::{SCRATCH, Sequence};

/// The kind of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Is {
    /// A place for an answer that is a handle or an address of this kind.
    Made(Kind),
    /// A handle or an address of this kind.
    Given(Kind),
    /// A place for anything.
    Out,
    /// Memory of the host with as many bytes as `Bytes` can be.
    Host,
    /// So many bytes or elements.
    Bytes,
    /// The same where only a device's memory limits them.
    AnyBytes,
    Number,
    Zero,
    /// How many handles [`Is::Handles`] has, or fewer.
    Count,
    Name,
    /// The addresses of a kernel's parameters.
    Parameters,
    /// Handles of this kind side by side.
    Handles(Kind),
    /// A description of this kind.
    Described(Description),
}

/// The kind of a handle or of an address of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Memory,
    Stream,
    Event,
    Module,
    Function,
    Graph,
    Node,
    Executable,
    Pool,
    Context,
    Library,
    Kernel,
    Linking,
    Array,
    Texture,
    Surface,
}

/// A structure that a call describes its work with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Description {
    Rows,
    Planes,
    Fill,
    KernelNode,
    HostNode,
    AnyNode,
    Launch,
    PoolProperties,
    TensorSizes,
    TensorStrides,
    TensorTile,
    TensorSteps,
    Image,
    Volume,
    Resource,
    Reading,
}

/// Handles that are side by side.
pub(super) const HANDLES: usize = 4;

pub(super) fn of(random: &mut Rng, all: &[u64]) -> u64 {
    all[random.usize(..all.len())]
}

impl Sequence {
    pub(super) fn argument(&mut self, is: Is) -> u64 {
        let scratch = self.scratch.as_mut_ptr().expose_provenance() as u64;
        let random = &mut self.random;
        let is_place = !matches!(
            is,
            Is::Given(_) | Is::Bytes | Is::AnyBytes | Is::Number | Is::Zero | Is::Count
        );
        if is_place && random.u8(..) < 12 {
            return 0;
        }
        match is {
            Is::Made(_) | Is::Out | Is::Host => scratch,
            Is::Bytes => of(random, &[0, 1, 3, 4, 16, 64, 100, 256, SCRATCH as u64]),
            Is::AnyBytes => {
                let large = [1 << 20, 1 << 40, u64::MAX - 3, u64::MAX];
                let all = [&[0, 1, 4, 64, 256, SCRATCH as u64], &large[..]].concat();
                of(random, &all)
            }
            Is::Number => of(
                random,
                &[0, 0, 1, 1, 1, 2, 3, 4, 32, 64, 1000, u32::MAX.into()],
            ),
            Is::Zero => 0,
            Is::Count => random.u64(..=HANDLES as u64),
            Is::Name => {
                let names = [
                    c"add",
                    c"beyond",
                    c"racing",
                    c"cuMemAlloc",
                    c"cuLaunchKernel",
                    c"",
                ];
                let name = names[random.usize(..names.len())];
                name.as_ptr().expose_provenance() as u64
            }
            Is::Given(kind) => self.handle(kind),
            Is::Parameters => self.parameters(),
            Is::Handles(kind) => {
                let handles = std::array::from_fn(|_| self.handle(kind));
                self.descriptions.handles(handles)
            }
            Is::Described(which) => self.describe(which),
        }
    }

    /// A handle of a kind; now and then of another, a stale one, or garbage. An address may lie within.
    pub(super) fn handle(&mut self, kind: Kind) -> u64 {
        let random = &mut self.random;
        match random.u8(..) {
            0..8 => self.made[random.usize(..self.made.len())].1,
            8..16 => of(random, &[0, 1, 2, 0xdead_beef, u64::MAX]),
            _ => {
                let all: Vec<u64> = self
                    .made
                    .iter()
                    .filter(|it| it.0 == kind)
                    .map(|it| it.1)
                    .collect();
                let own = random.choice(all).unwrap_or(0);
                let within = match kind {
                    Kind::Memory => of(random, &[0, 0, 0, 4]),
                    _ => 0,
                };
                own.wrapping_add(within)
            }
        }
    }
}
