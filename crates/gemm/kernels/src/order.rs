//! In which order blocks take the tiles of the result, and add up the terms of each.

use cuda_std::wgmma::{N256, Shape};

use crate::pipeline::ROWS;
use crate::problem::Problem;
use crate::team::Team;

/// Tiles along `m` that are taken together: 16 tiles of 128 rows, which with as many columns as the other blocks
/// work on at the time fit in the L2 cache.
const GROUP: u32 = 16;

/// As many where the blocks of a turn have all columns: 4096 x 4096 x 4096 is 0.5 % faster, as all of `B` stays in the cache.
const GROUP_OF_FEW_COLUMNS: u32 = 8;

/// Up to as many tiles along `n`, which with 8 along `m` are a turn of an H100 or H200.
const FEW_COLUMNS: u32 = 16;

/// The tiles of a result, `rows` x `columns` of them.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Tiles along `m`.
    pub rows: u32,
    /// Tiles along `n`.
    pub columns: u32,
}

impl Tiles {
    /// How many there are.
    #[inline(always)]
    pub fn count(self) -> u32 {
        self.rows * self.columns
    }

    /// Tiles along `m` that are taken together.
    #[inline(always)]
    fn group(self) -> u32 {
        match self.columns > FEW_COLUMNS {
            true => GROUP,
            false => GROUP_OF_FEW_COLUMNS,
        }
    }

    /// Row and column of the tile that is taken as the one of this number: a group of rows column by column, then the next
    /// group. Blocks of neighbouring numbers run at the same time, and read the same rows of `A` and columns of `B`.
    #[inline(always)]
    pub fn at(self, number: u32) -> (u32, u32) {
        let most = self.group();
        // At least 1, which tells the compiler that no division is by 0.
        let in_group = (most * self.columns).max(1);
        let group = number / in_group;
        let within = number - group * in_group;
        let first = group * most;
        let rows = (self.rows - first).clamp(1, most);
        let column = within / rows;
        (first + (within - column * rows), column)
    }

    /// The number of a tile, of which [`at`](Tiles::at) gives row and column.
    #[inline(always)]
    fn number(self, row: u32, column: u32) -> u32 {
        let most = self.group();
        let first = row / most * most;
        let rows = (self.rows - first).min(most);
        first * self.columns + column * rows + (row - first)
    }
}

/// Blocks that work at the same time on an H100 or H200. Elsewhere what is below is no faster, and the results are the same.
const TURN: u32 = 132;

/// Which way the elements of a tile are added up: from the first terms to the last, or in every second turn of 132 tiles from the last to the
/// first. What the turn before has read last is then still in the L2 cache. It follows from the element's place in the result alone, and
/// not from the kernel or the device, so that all kernels' sums have the same order.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    steps: u32,
    backwards: bool,
}

impl Direction {
    /// That of the tile that begins with this row and column of the result, whose elements are added up in so many steps. Turns
    /// are those of tiles of 128 x 256 that blocks take in pairs, whatever the tile's own size.
    #[inline(always)]
    pub fn of(problem: &Problem, row: u32, column: u32, steps: u32) -> Direction {
        let tiles = Tiles {
            rows: Team::PAIR * problem.m.div_ceil(Team::PAIR * ROWS),
            columns: problem.n.div_ceil(N256::COLUMNS),
        };
        let turn = tiles.number(row / ROWS, column / N256::COLUMNS) / TURN;
        Direction {
            steps,
            backwards: turn % 2 == 1,
        }
    }

    /// Which of the result's steps is taken as the one of this number.
    #[inline(always)]
    pub fn step(self, number: u32) -> u32 {
        match self.backwards {
            true => self.steps - 1 - number,
            false => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEPS: u32 = 5;

    fn problem(m: u32, n: u32) -> Problem {
        Problem {
            m,
            n,
            k: 320,
            pitch: n,
            alpha: 1.0,
            beta: 0.0,
            has_bias: 0,
            activation: 0,
        }
    }

    #[test]
    fn numbers_and_places_belong_together() {
        for (rows, columns) in [(1, 1), (16, 9), (17, 4), (34, 1), (50, 17)] {
            let tiles = Tiles { rows, columns };
            for number in 0..tiles.count() {
                let (row, column) = tiles.at(number);
                assert!(row < rows && column < columns);
                assert_eq!(tiles.number(row, column), number);
            }
        }
    }

    #[test]
    fn every_second_turn_goes_backwards() {
        let problem = problem(128 * 24, 256 * 22);
        let tiles = Tiles {
            rows: 24,
            columns: 22,
        };
        for number in 0..tiles.count() {
            let (row, column) = tiles.at(number);
            let direction = Direction::of(&problem, row * ROWS, column * 256, STEPS);
            assert_eq!(
                direction.backwards,
                [132..264, 396..528]
                    .iter()
                    .any(|turn| turn.contains(&number))
            );
        }
    }

    #[test]
    fn pairs_and_parts_of_a_tile_go_the_same_way() {
        // An odd number of rows of tiles: the last one has no other beside it.
        let problem = problem(128 * 23 - 5, 256 * 12 - 100);
        for row in 0..24 {
            for column in 0..12 {
                let of =
                    |row: u32, column: u32| Direction::of(&problem, row, column, STEPS).backwards;
                let whole = of(row * 128, column * 256);
                assert_eq!(whole, of((row ^ 1) * 128, column * 256));
                for part in [(0, 128), (64, 0), (64, 128)] {
                    assert_eq!(whole, of(row * 128 + part.0, column * 256 + part.1));
                }
            }
        }
    }

    #[test]
    fn backwards_takes_every_step_once() {
        let backwards = Direction {
            steps: STEPS,
            backwards: true,
        };
        assert!(
            (0..STEPS)
                .map(|number| backwards.step(number))
                .eq((0..STEPS).rev())
        );
    }
}
