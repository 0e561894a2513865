//! The verdict and the advice of a row: what holds a launch back, and what to try, in all words but those around them
//! (`report/terminal.rs`, `report/html.rs`).

use serde::Serialize;

use super::Limit;

/// The bound of a launch: what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Memory or a cache is busy nearly all the time.
    Bandwidth,
    /// Arithmetic is busy nearly all the time.
    Compute,
    /// Neither is: there is too little in flight, or the two do not overlap.
    Latency,
}

impl Bound {
    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Bandwidth => "bandwidth",
            Bound::Compute => "compute",
            Bound::Latency => "latency",
        }
    }
}

/// A launch, as far as it takes to judge it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation {
    /// The share of its time that its bytes take at the roof's bandwidth.
    pub bandwidth_share: f64,
    /// The share of its time that its operations take at the roof's rate.
    pub compute_share: f64,
    /// The arithmetic it is made of.
    pub arithmetic: Limit,
    /// Bytes that a thread loads at once, where that is known.
    pub load_bytes: Option<u32>,
    /// Whether its data fit into the level 2 cache.
    pub in_l2: bool,
    /// Whether its blocks stay, and each thread takes one part of the data after another.
    pub strides: bool,
    /// Whether its threads are fewer than the multiprocessors hold.
    pub is_small: bool,
}

/// Busy nearly all the time: at least this share of it.
const BUSY: f64 = 0.75;
/// As good as always busy: from this share on only less work helps.
const FULL: f64 = 0.9;

impl Situation {
    /// Returns what the launch waits for.
    pub fn bound(&self) -> Bound {
        let busier = self.bandwidth_share.max(self.compute_share);
        if busier < BUSY {
            Bound::Latency
        } else if self.bandwidth_share > self.compute_share {
            Bound::Bandwidth
        } else {
            Bound::Compute
        }
    }

    /// Whether bytes and operations take times that differ by a factor of 4 at most: as the
    /// intensity differs from the ridge point's.
    fn is_near_ridge(&self) -> bool {
        let ratio = self.compute_share / self.bandwidth_share;
        (0.25..=4.0).contains(&ratio)
    }

    /// One sentence: what to try.
    pub fn advice(&self) -> &'static str {
        const WIDEST: u32 = 16;
        let busier = self.bandwidth_share.max(self.compute_share);
        let by_memory = self.bandwidth_share > self.compute_share;
        if busier >= FULL {
            return match (by_memory, self.arithmetic) {
                (true, _) if self.in_l2 => {
                    "The data stay in the L2 cache: only shared memory or registers are faster."
                }
                (true, _) => {
                    "Memory is busy: move fewer bytes, by fusing kernels, by narrower types, or by reuse."
                }
                (false, Limit::AddMul) => {
                    "Add and multiply take a slot each: a fused multiply-add does both in one."
                }
                (false, Limit::Special) => {
                    "Special functions are busy: use fewer of them, or polynomials in their place."
                }
                (false, Limit::Tensor) => "Tensor cores are busy: only a narrower type is faster.",
                (false, _) => {
                    "Arithmetic is busy: do fewer operations, or use a type with a higher roof."
                }
            };
        }
        if !by_memory && self.arithmetic == Limit::Tensor {
            "Tensor cores wait for operands: more or larger tiles per multiprocessor, more stages in flight."
        } else if self.is_small {
            "The launch is too small to fill the GPU: give it more elements or batch launches."
        } else if !by_memory && !self.is_near_ridge() {
            "Arithmetic does not get every cycle: operands in one register bank or too few chains; try \
             another vector or ILP, and look at the machine code."
        } else if self.load_bytes.is_some_and(|bytes| bytes < WIDEST) {
            "Too little is in flight: load 16 bytes per thread."
        } else if self.is_near_ridge() && self.strides {
            "Close to the ridge point loads and arithmetic take nearly the same time, and not all of it \
             overlaps: fewer bytes help, and so do fewer operations."
        } else if self.is_near_ridge() {
            "Close to the ridge point loads and arithmetic take nearly the same time, and what does \
             not overlap adds up: use a grid-stride loop (grid 8x)."
        } else {
            "Too little is in flight: more independent work per thread, or more threads."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY_MEMORY: Situation = Situation {
        bandwidth_share: 0.95,
        compute_share: 0.1,
        arithmetic: Limit::Fma,
        load_bytes: Some(16),
        in_l2: false,
        strides: false,
        is_small: false,
    };

    #[test]
    fn the_busier_part_is_the_bound() {
        assert_eq!(BUSY_MEMORY.bound(), Bound::Bandwidth);
        let arithmetic = Situation {
            compute_share: 0.97,
            ..BUSY_MEMORY
        };
        assert_eq!(arithmetic.bound(), Bound::Compute);
        let neither = Situation {
            bandwidth_share: 0.5,
            ..BUSY_MEMORY
        };
        assert_eq!(neither.bound(), Bound::Latency);
    }

    #[test]
    fn advice_fits_the_cause() {
        let idle = Situation {
            bandwidth_share: 0.5,
            ..BUSY_MEMORY
        };
        let with = |change: fn(&mut Situation)| {
            let mut situation = idle;
            change(&mut situation);
            situation.advice()
        };
        assert!(with(|it| it.is_small = true).contains("too small"));
        assert!(with(|it| it.load_bytes = Some(4)).contains("16 bytes"));
        assert!(with(|it| it.compute_share = 0.4).contains("ridge point"));
        assert!(with(|it| it.compute_share = 0.8).contains("stride"));
        let striding = with(|it| (it.compute_share, it.strides) = (0.8, true));
        assert!(striding.contains("ridge point") && !striding.contains("stride"));
        assert!(with(|it| (it.bandwidth_share, it.compute_share) = (0.1, 0.8)).contains("bank"));
        assert!(with(|_| ()).contains("more independent work"));
        assert!(with(|it| it.bandwidth_share = 0.9).contains("fewer bytes"));
        assert!(with(|it| it.bandwidth_share = 0.8).contains("more independent work"));
        let in_l2 = with(|it| (it.bandwidth_share, it.in_l2) = (0.9, true));
        assert!(in_l2.contains("L2"));
        let unfused = with(|it| (it.compute_share, it.arithmetic) = (0.9, Limit::AddMul));
        assert!(unfused.contains("fused"));
        let tensor = with(|it| (it.compute_share, it.arithmetic) = (0.8, Limit::Tensor));
        assert!(tensor.contains("tiles"));
    }
}
