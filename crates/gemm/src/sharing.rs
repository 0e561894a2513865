//! How many blocks share a tile of `f64`.

use gemm_kernels::double::{COLUMNS, ROWS};

/// The blocks of a product of `f64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// Blocks per cluster, which share the tiles of the last turn if there is a cluster for each.
    pub(crate) share: u32,
    /// Clusters, all of which run at the same time: none where there are no tiles.
    clusters: u64,
    /// Tiles of the result.
    tiles: u64,
}

impl Sharing {
    /// The one with which the last block is done first, for a result of `m` x `n` on a device with so many multiprocessors.
    pub(crate) fn best([m, n]: [u32; 2], steps: u32, multiprocessors: u32) -> Sharing {
        let tiles = u64::from(m.div_ceil(ROWS)) * u64::from(n.div_ceil(COLUMNS));
        let all = [1, 2, 4, 8].map(|share| Sharing {
            share,
            clusters: at_once(share, multiprocessors).min(tiles),
            tiles,
        });
        // A device may have room for no cluster of some size.
        let possible = all
            .into_iter()
            .filter(|it| it.clusters > 0 || it.share == 1);
        let cost = |sharing: &Sharing| sharing.cost(steps.into());
        possible.min_by_key(cost).expect("one block")
    }

    /// Blocks of the launch.
    pub(crate) fn blocks(self) -> u64 {
        u64::from(self.share) * self.clusters
    }

    /// Tiles that blocks share.
    pub(crate) fn shared(self) -> u64 {
        let left_over = self.tiles % self.blocks().max(1);
        match self.share > 1 && left_over <= self.clusters {
            true => left_over,
            false => 0,
        }
    }

    /// How long the product takes, in steps of a tile: turns in which each block has a tile, and one in which clusters may have one.
    /// The exchange between the blocks of a cluster takes as many steps as there are blocks: of 512 x 512 x 512 on an H200 a step
    /// takes 1.0 us, and the exchange between two blocks 1.7, between four 3.4.
    fn cost(self, steps: u64) -> u64 {
        let share = u64::from(self.share);
        let blocks = self.blocks().max(1);
        let last = match self.shared() {
            0 => (self.tiles % blocks).min(1) * steps,
            _ => steps.div_ceil(share) + share,
        };
        self.tiles / blocks * steps + last
    }
}

/// Clusters of so many blocks that run at the same time. Multiprocessors come in pairs. Larger clusters lie in groups of up to 18,
/// whose sizes differ from chip to chip: on an H200 no 32 clusters of four fit, nor 16 of eight.
fn at_once(share: u32, multiprocessors: u32) -> u64 {
    u64::from(match share {
        1 | 2 => multiprocessors / share,
        _ => multiprocessors * 3 / 4 / share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_share_what_is_left_over() {
        let of = |n: u32| {
            let sharing = Sharing::best([n, n], n / 16, 132);
            (sharing.share, sharing.blocks())
        };
        // 4 tiles more than 31 for each block.
        assert_eq!(of(8192), (2, 132));
        // 100 tiles more than 7 for each block: too many.
        assert_eq!(of(4096), (1, 132));
        assert_eq!(of(1024), (2, 128));
        assert_eq!(of(512), (4, 64));
        assert_eq!(of(128), (2, 2));
        assert_eq!(of(0), (1, 0));
    }

    #[test]
    fn short_sums_are_not_shared() {
        assert_eq!(Sharing::best([512, 512], 4, 132).share, 1);
        assert_eq!(Sharing::best([512, 512], 1, 132).blocks(), 16);
    }

    #[test]
    fn one_multiprocessor_takes_all_tiles() {
        let sharing = Sharing::best([512, 512], 64, 1);
        assert_eq!(
            (sharing.share, sharing.blocks(), sharing.shared()),
            (1, 1, 0)
        );
    }
}
