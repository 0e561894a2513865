//! Norms and the dot product, as users launch them.

use bytemuck::bytes_of;
use cuda_std::launch::SliceMut;
use kernels_gpu::norm::{BLOCK, IN_FLIGHT};
use kernels_gpu::normalize::{self, TILE};
use kernels_gpu::vector::{normalize_blocks, reduction_blocks};

use super::checked::{Checked, FEW, OfSize};
use super::numbers::{BLOCKS, NUMBERS, Numbers, wide};
use super::registry::Listed;
use super::values::{Expected, Given, Output, check_same, epsilon, whole};
use crate::driver::{Device, DeviceBuffer, DeviceValue, DriverError, LaunchConfig};
use crate::vector::Real;
use crate::workload::{Point, PointError};

pub(super) fn listed() -> Vec<Listed> {
    let mut listed = of_type::<f32>();
    listed.extend(of_type::<f64>());
    listed
}

fn of_type<T: Real>() -> Vec<Listed> {
    let [norm, normalized, dot] = [norm::<T>(), normalized::<T>(), dot::<T>()];
    let no_number = Checked::of_size(dot).at(NUMBERS, [Numbers::NotANumber as u64]);
    let no_number = no_number.at(BLOCKS, [1u64, 3]).of_sizes([1, 4099]);
    let products = of_sums::<T>(dot).into_iter().chain([no_number]);
    vec![
        Listed::checked(norm, of_norms::<T>(norm)),
        Listed::checked(normalized, of_normalized::<T>(normalized)),
        Listed::checked(dot, products),
    ]
}

/// Grids whose sums of blocks one warp adds up: of each the last is another of those that a lane waits for at once. The numbers are odd:
/// of an even one a lane beside the last would have none either.
pub(super) const OF_A_WARP: [u64; 8] = [3, 41, 73, 105, 137, 169, 201, 233];

/// Where a sum over a grid, of vectors of `T`, is checked.
pub(super) fn of_sums<T: Real>(it: &'static OfSize) -> Vec<Checked> {
    // The elements of a block that has one vector a thread.
    let row = u64::from(BLOCK) * T::WIDTH as u64;
    let checked = || Checked::of_size(it);
    // All threads of a block add up the sums of more blocks: again each is the last of those that a thread waits for at once.
    let of_a_block = (1..4).map(|i| u64::from(BLOCK) * i + 301);
    let few = OF_A_WARP.into_iter().chain([301]);
    // All have elements, and a thread adds up several groups of the most.
    let full = |blocks: u64| {
        let it = checked().at(BLOCKS, [blocks]);
        it.of_sizes([blocks * row - row / 2 - 1])
    };
    // Vectors that a block takes in three whole turns and a rest.
    let turns = row * IN_FLIGHT as u64 * 3 + row / 3 + 1;
    vec![
        checked().all_seeded().each(2 * T::WIDTH as u64 + 1),
        checked()
            .all_seeded()
            .at(BLOCKS, few)
            .of_sizes([3 * row + 1]),
        checked().at(BLOCKS, of_a_block).of_sizes([3 * row + 1]),
        checked().at(BLOCKS, [1]).of_sizes([turns]),
        full(250).all_seeded(),
        full(288).all_seeded(),
        full(4 * u64::from(BLOCK) + 12),
    ]
}

/// Where a norm is checked: with other numbers, too.
pub(super) fn of_norms<T: Real>(it: &'static OfSize) -> Vec<Checked> {
    let row = u64::from(BLOCK) * T::WIDTH as u64;
    let others = || 1..Numbers::ALL.len() as u64;
    let checked = |blocks, numbers, elements| {
        let at = Checked::of_size(it)
            .at(BLOCKS, [blocks])
            .at(NUMBERS, numbers);
        at.of_sizes([elements])
    };
    let mut all = of_sums::<T>(it);
    let all_blocks = |blocks: u64, numbers: Numbers| {
        checked(blocks, numbers as u64..numbers as u64 + 1, blocks * row)
    };
    all.extend([
        // In several turns of one block, and in several blocks.
        checked(1, others(), row * IN_FLIGHT as u64 * 2 + row / 3 + 1),
        checked(3, others(), row * 3 - row / 3 + 1),
        // Other sums than the first come from all blocks.
        all_blocks(250, Numbers::Small),
        all_blocks(250, Numbers::Large),
        // One alone, of a block whose sum comes to another half of a warp than the first block's.
        all_blocks(250, Numbers::Alone),
        all_blocks(288, Numbers::Alone),
    ]);
    all
}

/// Blocks of a launch over `n` elements.
pub(super) fn blocks<T: Real>(at: &Point<'_>) -> u64 {
    at.given(BLOCKS)
        .unwrap_or_else(|| reduction_blocks::<T>(at.whole("n"), FEW as u32))
}

/// Where the sums of blocks are, and how many have begun.
pub(super) struct Grid<S: DeviceValue> {
    partials: DeviceBuffer<S>,
    ticket: DeviceBuffer<u32>,
}

impl<S: DeviceValue> Grid<S> {
    pub(super) fn new(device: &Device, blocks: u64) -> Result<Grid<S>, DriverError> {
        Ok(Grid {
            partials: device.buffer_zeroed(blocks as usize)?,
            ticket: device.buffer_zeroed(1)?,
        })
    }

    pub(super) fn views(&mut self) -> (SliceMut<'_, S>, SliceMut<'_, u32>) {
        (self.partials.slice_mut(..), self.ticket.slice_mut(..))
    }

    /// Fails unless the launch has left all bits 0, for the next one.
    pub(super) fn check(&self) -> Result<(), PointError> {
        let is_zero = |it: &S| bytes_of(it).iter().all(|&byte| byte == 0);
        if let Some(block) = self.partials.to_vec()?.iter().position(|it| !is_zero(it)) {
            return Err(format!("the sum of block {block} is not 0 after the launch").into());
        }
        check_same(&self.ticket.to_vec()?, &[0])
    }
}

fn norm<T: Real>() -> &'static OfSize {
    OfSize::elements(T::nrm2().name(), move |at| {
        let (n, numbers, blocks) = (at.size("n"), Numbers::at(at), blocks::<T>(at));
        let arrays = at
            .launch(T::nrm2(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, 1)?;
                Ok((given, Grid::<T::Sums>::new(device, blocks)?))
            })
            .check(move |(it, grid)| {
                it.out.check([numbers.norm_of(it.here().0)].into_iter())?;
                grid.check()
            });
        // SAFETY: x is aligned; one partial per block, and a ticket that begins at 0 and is 0 again after each launch.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, grid)| {
                let (partials, ticket) = grid.views();
                (it.x.slice(..), it.out.view(), partials, ticket)
            })
        })
    })
}

/// Where `x / ‖x‖` is checked.
fn of_normalized<T: Real>(it: &'static OfSize) -> Vec<Checked> {
    let (tile, width) = (TILE as u64, T::WIDTH as u64);
    let row = u64::from(normalize::BLOCK);
    let checked = |blocks: u64| Checked::of_size(it).at(BLOCKS, [blocks]);
    // A thread's last vector is each of those that it has in flight at once, of its first ones and of those in the last of two turns
    // more; and a vector is whole at the end of x, or not.
    let ends = (0..4).flat_map(|u| [u, 8 + u]).map(|rows| rows * row + 101);
    let ends = ends.flat_map(|vectors| [0, 1].map(|more| vectors * width + more));
    let others = 1..Numbers::ALL.len() as u64;
    let of_others = [1, 3].map(|blocks| {
        let elements = 2 * tile * blocks * width + row * width + 1;
        checked(blocks)
            .at(NUMBERS, others.clone())
            .of_sizes([elements])
    });
    // The last block has the one number that is not 0, and its sum comes to another half of a warp than the first block's.
    let alone = checked(20).at(NUMBERS, [Numbers::Alone as u64]);
    let alone = alone.of_sizes([20 * tile * width]);
    let usual = Checked::of_size(it).all_seeded().each(2 * width + 1);
    [usual, checked(1).of_sizes(ends), alone]
        .into_iter()
        .chain(of_others)
        .collect()
}

fn normalized<T: Real>() -> &'static OfSize {
    OfSize::elements(T::normalize().name(), move |at| {
        let (n, numbers) = (at.size("n"), Numbers::at(at));
        let users = || normalize_blocks::<T>(n as u64, FEW as u32);
        let blocks = at.given(BLOCKS).unwrap_or_else(users);
        let config = LaunchConfig::blocks(blocks, normalize::BLOCK);
        let arrays = at
            .launch(T::normalize(), config)
            .cooperative()
            .arrays(move |device| {
                let given = Given::<T>::new(device, numbers.of(n), n, n)?;
                let length = Output::<T>::new(device, 1)?;
                let partials = device.buffer_zeroed::<T::Sums>(blocks as usize)?;
                Ok((given, length, partials, device.buffer_zeroed(1)?))
            })
            .check(move |(it, length, ..)| {
                let (x, _) = it.here();
                let expected = numbers.norm_of(x);
                length.check([expected].into_iter())?;
                it.out.check(wide(x).map(|x| Expected {
                    value: x / expected.value,
                    tolerance: 4.0 * epsilon::<T>() * (x / expected.value).abs(),
                }))
            });
        // SAFETY: x and y have n elements and are aligned; one partial per block, and arrivals that begin with 0.
        Ok(unsafe {
            arrays.arguments_unchecked(move |(it, length, partials, arrivals)| {
                let (partials, arrivals) = (partials.slice_mut(..), arrivals.slice_mut(..));
                let (x, y, length) = (it.x.slice(..), it.out.view(), length.view());
                (x, y, n, length, partials, arrivals)
            })
        })
    })
}

fn dot<T: Real>() -> &'static OfSize {
    OfSize::elements(T::dot().name(), move |at| {
        let (n, numbers, blocks) = (at.size("n"), Numbers::at(at), blocks::<T>(at));
        let arrays = at
            .launch(T::dot(), LaunchConfig::blocks(blocks, BLOCK))
            .arrays(move |device| {
                // Products add up exactly, and to far less than the greatest of them: what is lost of any shows.
                let mut values = whole::<T>(2 * n, 19);
                for i in n / 2..n {
                    let mirrored = n - 1 - i;
                    let y: f64 = values[n + mirrored].into();
                    values[i] = values[mirrored];
                    values[n + i] = T::from_f64(if i == mirrored { 3.0 } else { 3.0 - y });
                }
                if numbers == Numbers::NotANumber && n > 0 {
                    values[n / 2] = T::from_f64(f64::NAN);
                }
                let given = Given::<T>::new(device, values, n, 1)?;
                Ok((given, Grid::<[f64; 1]>::new(device, blocks)?))
            })
            .check(|(it, grid)| {
                let (x, y) = it.here();
                let sum: f64 = wide(x).zip(wide(y)).map(|(x, y)| x * y).sum();
                let rounded = T::from_f64(sum).into();
                it.out.check([Expected::exactly(rounded)].into_iter())?;
                grid.check()
            });
        // SAFETY: x and y are as long and aligned; one partial per block, and a ticket that begins at 0 and is 0
        // again after each launch.
        Ok(unsafe {
            arrays.arguments_unchecked(|(it, grid)| {
                let (x, y) = (it.x.slice(..), it.y.slice(..));
                let (partials, ticket) = grid.views();
                (x, y, it.out.view(), partials, ticket)
            })
        })
    })
}
