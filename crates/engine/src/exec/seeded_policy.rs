//! The scheduling policy that a seed selects.

use fastrand::Rng;

use super::directed::{Among, Candidate, Place};
use super::director::Point;

/// The scheduling policy of a seed: all of its decisions have one bias, so that among a few seeds some switch at each access
/// and some hardly ever do.
pub(crate) struct SeededPolicy {
    rng: Rng,
    bias: Bias,
    /// Between accesses where others may have their turn lie up to 2, 4, 8, .. or 2 to the power of this others.
    scales: u32,
    /// Accesses until the next one.
    left: u32,
    /// How many blocks take turns.
    together: usize,
    /// In which order blocks begin.
    pub(crate) order: u64,
    /// The block that goes ahead, or stays behind.
    apart: Option<u64>,
}

/// The bias of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    /// Whoever may go on does, one as likely as another.
    Mixed,
    /// One block runs to its end while others that have begun stand still.
    Ahead,
    /// One block stands still until no other can go on.
    Behind,
}

impl SeededPolicy {
    pub(crate) fn of(seed: u64) -> SeededPolicy {
        let mut rng = Rng::with_seed(seed);
        // By turns, so that a few seeds in a row have all biases.
        let bias = [Bias::Mixed, Bias::Ahead, Bias::Mixed, Bias::Behind][seed as usize % 4];
        let scales = [2, 4, 8][rng.usize(..3)];
        let together = [2, 4, 4, 16][rng.usize(..4)];
        let order = match bias == Bias::Ahead || rng.bool() {
            true => rng.u64(..),
            false => 0,
        };
        let mut policy = SeededPolicy {
            rng,
            bias,
            scales,
            left: 0,
            together,
            order,
            apart: None,
        };
        policy.left = policy.gap();
        policy
    }

    /// Of all scales alike, so that a launch of three accesses is interrupted as well as one of thousands.
    fn gap(&mut self) -> u32 {
        let scale = self.rng.u32(..=self.scales);
        self.rng.u32(..1 << scale)
    }

    /// Whether others may have their turn at an access.
    pub(crate) fn asks(&mut self) -> bool {
        let asks = self.left == 0;
        self.left = if asks { self.gap() } else { self.left - 1 };
        asks
    }

    /// Who goes on.
    pub(crate) fn choose(&mut self, among: &Among<'_>) -> Option<Candidate> {
        let Among {
            point, own, others, ..
        } = *among;
        if !own.is_empty() && (others.is_empty() || self.rng.bool()) {
            return self.any(own.iter());
        }
        self.set_apart(among);
        // Those that have begun may wait for one that has not.
        let may_begin = among.begun < self.together || point == Point::Yields;
        let (bias, apart) = (self.bias, self.apart);
        let may_go = |it: &&Candidate| may_begin || !matches!(it.place, Place::New(_));
        let suits = |it: &&Candidate| match apart {
            Some(block) => (it.block == block) == (bias == Bias::Ahead),
            None => true,
        };
        let chosen = self.any(others.iter().filter(may_go).filter(suits));
        if point == Point::Access {
            return chosen;
        }
        chosen
            .or_else(|| self.any(others.iter().filter(may_go)))
            .or_else(|| self.any(others.iter()))
    }

    /// Says now and then which block goes ahead or stays behind, as long as it has not ended.
    fn set_apart(&mut self, among: &Among<'_>) {
        let Among {
            point,
            here,
            others,
            ..
        } = *among;
        let is_there = |block| here == Some(block) || others.iter().any(|it| it.block == block);
        if let Some(block) = self.apart
            && (!is_there(block) || here == Some(block) && point == Point::Yields)
        {
            self.apart = None;
        }
        if self.apart.is_none() && self.rng.bool() {
            self.apart = match self.bias {
                Bias::Mixed => None,
                Bias::Ahead => self.any(others.iter()).map(|it| it.block),
                Bias::Behind => here,
            };
        }
    }

    /// One of them: a block, then one of its warps.
    fn any<'a>(&mut self, all: impl Iterator<Item = &'a Candidate> + Clone) -> Option<Candidate> {
        let mut blocks: Vec<u64> = all.clone().map(|it| it.block).collect();
        blocks.dedup();
        let block = *blocks.get(self.rng.usize(..blocks.len().max(1)))?;
        let of: Vec<&Candidate> = all.filter(|it| it.block == block).collect();
        let chosen = of.get(self.rng.usize(..of.len().max(1)))?;
        Some(**chosen)
    }
}
