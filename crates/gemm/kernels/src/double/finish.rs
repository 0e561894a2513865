//! How sums become the result.

use cuda_std::{FloatExt, GpuFloat, unroll, vector};

use super::Sums;
use super::fragment::Lane;
use crate::problem::{Activation, Problem};

/// Where a warp's part of a tile lies in the result.
#[derive(Clone, Copy)]
pub struct Part {
    /// The first row.
    pub row: u32,
    /// The first column.
    pub column: u32,
}

/// The treatment of sums.
pub struct Finish {
    /// The result.
    pub result: *mut f64,
    /// An element for each column of the result, if the problem says so.
    pub bias: *const f64,
    /// Sizes and factors.
    pub problem: Problem<f64>,
}

impl Finish {
    /// Stores a warp's sums.
    ///
    /// # Safety
    /// The elements of the part are in the result, and nobody else touches them.
    #[inline(always)]
    pub unsafe fn store(&self, sums: &Sums, part: Part) {
        let lane = Lane::running();
        let Problem { n, pitch, .. } = self.problem;
        let are_pairs = (n | pitch).is_multiple_of(2) && self.result.addr().is_multiple_of(16);
        // SAFETY: the caller's contract. The lane's elements are neighbours, of which the first is in an even column.
        unsafe {
            match are_pairs {
                true => self.store_as::<Pairs>(sums, part, lane),
                false => self.store_as::<Singles>(sums, part, lane),
            }
            if self.problem.activation != Activation::None as u32 {
                self.activate(part, lane);
            }
        }
    }

    /// Stores what the lane has: two neighbours of every eighth column, in every eighth row.
    #[inline(always)]
    unsafe fn store_as<A: Access>(&self, sums: &Sums, part: Part, lane: Lane) {
        let first = part.column + 2 * lane.pair;
        let mut bias = [[0.0; 2]; 8];
        if self.problem.has_bias != 0 {
            unroll!(I in 0..8 => {
                let column = first + 8 * I as u32;
                // SAFETY: the bias has an element for each column.
                bias[I] = unsafe {
                    Singles::load(self.bias.wrapping_add(column as usize), self.are_there(column))
                };
            });
        }
        unroll!(EIGHTH in 0..4 => {
            let row = part.row + 8 * EIGHTH as u32 + lane.row;
            if row < self.problem.m {
                let half = sums[EIGHTH / 2].map(|sums| match EIGHTH % 2 {
                    0 => [sums[0], sums[1]],
                    _ => [sums[2], sums[3]],
                });
                // SAFETY: the row is in the result, and its elements are this lane's alone.
                unsafe { self.store_row::<A>(row, first, half, bias) };
            }
        });
    }

    /// Reads all former elements before the first is written.
    #[inline(always)]
    unsafe fn store_row<A: Access>(
        &self,
        row: u32,
        first: u32,
        sums: [[f64; 2]; 8],
        bias: [[f64; 2]; 8],
    ) {
        let Problem {
            pitch, alpha, beta, ..
        } = self.problem;
        let start = row as usize * pitch as usize + first as usize;
        let place = |i: usize| self.result.wrapping_add(start + 8 * i);
        let mut former = [[0.0; 2]; 8];
        if beta != 0.0 {
            unroll!(I in 0..8 => {
                // SAFETY: the caller's contract.
                former[I] = unsafe { A::load(place(I), self.are_there(first + 8 * I as u32)) };
            });
        }
        unroll!(I in 0..8 => {
            let elements = core::array::from_fn(|j| {
                GpuFloat::mul_add(beta, former[I][j], alpha * sums[I][j]) + bias[I][j]
            });
            // SAFETY: the caller's contract.
            unsafe { A::store(place(I), elements, self.are_there(first + 8 * I as u32)) };
        });
    }

    /// Whether a column and the next one are in the result.
    #[inline(always)]
    fn are_there(&self, column: u32) -> [bool; 2] {
        [column, column + 1].map(|column| column < self.problem.n)
    }

    /// Applies the activation to what the lane has stored. In front of the stores there would be a copy of it for each sum.
    #[inline(always)]
    unsafe fn activate(&self, part: Part, lane: Lane) {
        let Problem {
            m,
            n,
            pitch,
            activation,
            ..
        } = self.problem;
        for number in 0..4 * 16 {
            let row = part.row + number / 16 * 8 + lane.row;
            let column = part.column + number % 16 / 2 * 8 + 2 * lane.pair + number % 2;
            if row < m && column < n {
                let index = row as usize * pitch as usize + column as usize;
                let place = self.result.wrapping_add(index);
                // SAFETY: the element is in the result, and this lane's alone.
                unsafe { *place = activated(activation, *place) };
            }
        }
    }
}

/// How two neighbours are read and written, as far as they are there.
trait Access {
    /// Elements that are not there are 0.
    ///
    /// # Safety
    /// Those that are there may be read.
    unsafe fn load(place: *const f64, are_there: [bool; 2]) -> [f64; 2];

    /// Writes what is there.
    ///
    /// # Safety
    /// It may be written.
    unsafe fn store(place: *mut f64, elements: [f64; 2], are_there: [bool; 2]);
}

/// Both together: none or both are there, at a multiple of 16 bytes.
enum Pairs {}

impl Access for Pairs {
    #[inline(always)]
    unsafe fn load(place: *const f64, [is_there, _]: [bool; 2]) -> [f64; 2] {
        match is_there {
            // SAFETY: the caller's contract.
            true => unsafe { vector::load::<f64, 2>(place) },
            false => [0.0; 2],
        }
    }

    #[inline(always)]
    unsafe fn store(place: *mut f64, elements: [f64; 2], [is_there, _]: [bool; 2]) {
        if is_there {
            // SAFETY: the caller's contract.
            unsafe { vector::store::<f64, 2>(place, elements) };
        }
    }
}

/// Each by itself.
enum Singles {}

impl Access for Singles {
    #[inline(always)]
    unsafe fn load(place: *const f64, are_there: [bool; 2]) -> [f64; 2] {
        core::array::from_fn(|i| match are_there[i] {
            // SAFETY: the caller's contract.
            true => unsafe { *place.wrapping_add(i) },
            false => 0.0,
        })
    }

    #[inline(always)]
    unsafe fn store(place: *mut f64, elements: [f64; 2], are_there: [bool; 2]) {
        for i in 0..2 {
            if are_there[i] {
                // SAFETY: the caller's contract.
                unsafe { *place.wrapping_add(i) = elements[i] };
            }
        }
    }
}

/// By the activation of this number.
#[inline(always)]
fn activated(activation: u32, x: f64) -> f64 {
    const RELU: u32 = Activation::Relu as u32;
    const GELU: u32 = Activation::Gelu as u32;
    match activation {
        // Unlike the maximum it keeps NaN.
        RELU if x < 0.0 => 0.0,
        GELU => {
            let half = 0.5 * x;
            let erf = FloatExt::error_function(x * core::f64::consts::FRAC_1_SQRT_2);
            GpuFloat::mul_add(half, erf, half)
        }
        _ => x,
    }
}
