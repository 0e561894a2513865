//! The axes of a roofline sweep.

use std::fmt;
use std::str::FromStr;

use itertools::iproduct;
use kernels_gpu::polynomial::Form;

use crate::driver::{DeviceProperties, LaunchConfig};
use crate::measure::CacheState;
use crate::model::{FlopsPerByte, Limit, Precision};

/// A list of values for each axis. A sweep visits every combination, `k` changing fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Axes {
    /// How the polynomial is evaluated.
    pub forms: Vec<Form>,
    /// Element types.
    pub precisions: Vec<Precision>,
    /// Elements in a vector.
    pub vectors: Vec<u32>,
    /// Vectors a thread.
    pub ilps: Vec<u32>,
    /// Numbers in all.
    pub n: Vec<u64>,
    /// Threads a block.
    pub blocks: Vec<u32>,
    /// Blocks in the grid.
    pub grids: Vec<GridSize>,
    /// What the caches hold when a launch begins.
    pub caches: Vec<CacheState>,
    /// Degrees of the polynomial.
    pub k: Vec<u32>,
}

/// A sweep of more points than anybody waits for, or than fit into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the lists make {0} combinations: at most {most} are possible", most = TooManyPoints::MOST)]
pub struct TooManyPoints(usize);

impl TooManyPoints {
    const MOST: usize = 100_000;

    /// Fails if lists of these lengths have too many combinations.
    ///
    /// # Errors
    /// How many there are.
    pub fn check(lengths: &[usize]) -> Result<(), TooManyPoints> {
        let product = lengths
            .iter()
            .fold(1usize, |all, &one| all.saturating_mul(one));
        match product {
            ..=TooManyPoints::MOST => Ok(()),
            more => Err(TooManyPoints(more)),
        }
    }
}

impl Axes {
    /// Fails if there are too many points.
    ///
    /// # Errors
    /// How many there are.
    pub fn check(&self) -> Result<(), TooManyPoints> {
        TooManyPoints::check(&[
            self.forms.len(),
            self.precisions.len(),
            self.vectors.len(),
            self.ilps.len(),
            self.n.len(),
            self.blocks.len(),
            self.grids.len(),
            self.caches.len(),
            self.k.len(),
        ])
    }

    /// Every combination, `k` changing fastest.
    pub fn points(&self) -> Vec<Point> {
        iproduct!(
            &self.forms,
            &self.precisions,
            &self.vectors,
            &self.ilps,
            &self.n,
            &self.blocks,
            &self.grids,
            &self.caches,
            &self.k
        )
        .map(
            |(&form, &precision, &vector, &ilp, &n, &block, &grid, &cache, &k)| Point {
                form,
                precision,
                vector,
                ilp,
                n,
                block,
                grid,
                cache,
                k,
            },
        )
        .collect()
    }
}

/// How many blocks a launch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GridSize {
    /// As many threads as there is work for at once.
    Full,
    /// This many blocks for each multiprocessor, whose threads stride over the vectors.
    PerMultiprocessor(u32),
}

impl FromStr for GridSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "full" {
            return Ok(GridSize::Full);
        }
        let count = text.strip_suffix('x').and_then(|count| count.parse().ok());
        match count {
            Some(count @ 1..=GridSize::MOST) => Ok(GridSize::PerMultiprocessor(count)),
            _ => Err(format!(
                "{text:?} is no grid: expected full, or 1x to {most}x, which is so many blocks per \
                 multiprocessor",
                most = GridSize::MOST
            )),
        }
    }
}

impl GridSize {
    /// Blocks for each multiprocessor at most: 32 times as many as any holds at once.
    pub const MOST: u32 = 1024;

    /// The blocks for each multiprocessor, where they were asked for.
    pub fn per_multiprocessor(self) -> Option<u32> {
        match self {
            GridSize::Full => None,
            GridSize::PerMultiprocessor(count) => Some(count),
        }
    }
}

impl fmt::Display for GridSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GridSize::Full => write!(formatter, "full"),
            GridSize::PerMultiprocessor(count) => write!(formatter, "{count}x"),
        }
    }
}

/// One combination of the axes' values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How the polynomial is evaluated.
    pub form: Form,
    /// Element type.
    pub precision: Precision,
    /// Elements in a vector: what a thread loads at once. A pair of f16 is one.
    pub vector: u32,
    /// Vectors that a thread works on at once.
    pub ilp: u32,
    /// Numbers in all.
    pub n: u64,
    /// Threads a block.
    pub block: u32,
    /// Blocks in the grid.
    pub grid: GridSize,
    /// What the caches hold when a launch begins.
    pub cache: CacheState,
    /// Degree of the polynomial.
    pub k: u32,
}

impl Point {
    /// Floating-point operations of a launch: an add and a multiply for each step and number.
    pub fn flops(&self) -> f64 {
        2.0 * f64::from(self.k) * self.n as f64
    }

    /// Bytes of memory traffic of a launch: each number is read once and written once.
    pub fn bytes(&self) -> f64 {
        2.0 * f64::from(self.precision.bytes()) * self.n as f64
    }

    /// Operations a byte: k / 4 in f32, k / 8 in f64 and k / 2 in f16.
    pub fn intensity(&self) -> FlopsPerByte {
        FlopsPerByte(self.flops() / self.bytes())
    }

    /// Elements of the kernel's type.
    pub fn elements(&self) -> u64 {
        self.n / u64::from(self.precision.numbers())
    }

    /// The arithmetic that the kernel is made of.
    pub fn arithmetic(&self) -> Limit {
        match self.form {
            Form::PowerSum => Limit::AddMul,
            Form::Horner => Limit::Fma,
        }
    }

    /// The kernel's name on the command line and in files.
    pub fn kernel(&self) -> &'static str {
        match self.form {
            Form::PowerSum => "power-sum",
            Form::Horner => "horner",
        }
    }

    /// The launch's shape on a device.
    pub fn shape(&self, facts: &DeviceProperties) -> LaunchConfig {
        let each = u64::from(self.vector * self.ilp);
        let full = LaunchConfig::linear(self.elements().div_ceil(each), self.block);
        match self.grid {
            GridSize::Full => full,
            GridSize::PerMultiprocessor(count) => {
                let blocks = u64::from(count) * u64::from(facts.multiprocessors);
                LaunchConfig::blocks(full.grid[0].min(blocks), self.block)
            }
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point {
            vector,
            ilp,
            n,
            block,
            grid,
            cache,
            k,
            ..
        } = self;
        write!(
            formatter,
            "{} {} vector={vector} ilp={ilp} n={n} block={block} grid={grid} {cache} k={k}",
            self.kernel(),
            self.precision.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_read_as_they_are_written() {
        for text in ["full", "1x", "64x"] {
            assert_eq!(
                text.parse::<GridSize>().map(|grid| grid.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["", "0x", "x", "8", "-1x", "Full", "1025x", "4294967296x"] {
            assert!(text.parse::<GridSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn intensity_is_that_of_the_exercise() {
        let point = Point {
            form: Form::PowerSum,
            precision: Precision::F32,
            vector: 1,
            ilp: 1,
            n: 1 << 26,
            block: 256,
            grid: GridSize::Full,
            cache: CacheState::Warm,
            k: 50,
        };
        assert_eq!(point.intensity(), FlopsPerByte(12.5));
        let double = Point {
            precision: Precision::F64,
            ..point
        };
        assert_eq!(double.intensity(), FlopsPerByte(6.25));
        let half = Point {
            precision: Precision::F16x2,
            ..point
        };
        assert_eq!(half.intensity(), FlopsPerByte(25.0));
        assert_eq!((half.flops(), half.elements()), (point.flops(), 1 << 25));
    }
}
