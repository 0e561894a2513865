//! The attributes of a launch beyond its grid: clusters of blocks, and to begin before the launch in front of it has ended.

use cuda_loader::newer::{self, LaunchAttribute};
use cust::sys::CUstream;
use smallvec::SmallVec;

use super::launch_config::Blocks;

/// The number of blocks in a cluster that every GPU with clusters allows.
const MOST_BLOCKS: u64 = 8;

/// The attributes of a launch beyond its grid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) cluster: Option<[u32; 3]>,
    pub(super) order: Order,
}

/// When a launch begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// When what stands before it in the stream has ended.
    #[default]
    Behind,
    /// When the launch before it says so.
    Overlapping,
}

impl Attributes {
    pub(super) fn are_none(self) -> bool {
        self.cluster.is_none() && self.order == Order::Behind
    }

    /// Blocks of a cluster, x, y, z.
    pub(super) fn cluster(self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// As the driver takes them; none where an ordinary launch does.
    pub(super) fn all(self, blocks: Blocks) -> SmallVec<[LaunchAttribute; 3]> {
        let mut all = SmallVec::new();
        if self.are_none() {
            return all;
        }
        all.extend(self.cluster.map(LaunchAttribute::cluster));
        if self.order == Order::Overlapping {
            all.push(LaunchAttribute::PROGRAMMATIC_STREAM_SERIALIZATION);
        }
        if blocks == Blocks::Cooperative {
            all.push(LaunchAttribute::COOPERATIVE);
        }
        all
    }
}

/// A launch of this shape with the attributes, as the driver takes it.
pub(super) fn config(
    shape: simt::Shape,
    stream: CUstream,
    attributes: &[LaunchAttribute],
) -> newer::LaunchConfig {
    newer::LaunchConfig {
        grid: shape.grid,
        block: shape.block,
        shared_bytes: shape.dynamic_shared,
        stream,
        attributes: attributes.as_ptr(),
        attribute_count: attributes.len() as u32,
    }
}

/// Why a grid is not made of clusters of `blocks` blocks.
pub(super) fn refuse(blocks: [u32; 3], grid: [u32; 3]) -> Option<String> {
    let all: u64 = blocks.iter().map(|&extent| u64::from(extent)).product();
    if !(1..=MOST_BLOCKS).contains(&all) {
        return Some(format!(
            "clusters of {all} blocks; 1 to {MOST_BLOCKS} are allowed"
        ));
    }
    let axis = (0..3).find(|&axis| !grid[axis].is_multiple_of(blocks[axis]))?;
    let name = ['x', 'y', 'z'][axis];
    Some(format!(
        "clusters of {} blocks in {name}, in a grid of {}",
        blocks[axis], grid[axis]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_made_of_whole_clusters() {
        assert_eq!(refuse([2, 1, 1], [10, 3, 1]), None);
        assert_eq!(refuse([2, 2, 2], [10, 4, 2]), None);
        let odd = refuse([2, 2, 1], [10, 3, 1]);
        assert_eq!(
            odd.as_deref(),
            Some("clusters of 2 blocks in y, in a grid of 3")
        );
        let large = refuse([4, 4, 1], [16, 16, 1]);
        assert_eq!(
            large.as_deref(),
            Some("clusters of 16 blocks; 1 to 8 are allowed")
        );
        let none = refuse([2, 0, 1], [16, 16, 1]);
        assert_eq!(
            none.as_deref(),
            Some("clusters of 0 blocks; 1 to 8 are allowed")
        );
    }

    #[test]
    fn a_launch_that_asks_for_nothing_has_no_attributes() {
        let count = |attributes: Attributes, blocks| attributes.all(blocks).len();
        let none = Attributes::default();
        assert_eq!(count(none, Blocks::Cooperative), 0);
        let all = Attributes {
            cluster: Some([2, 1, 1]),
            order: Order::Overlapping,
        };
        assert_eq!(count(all, Blocks::Independent), 2);
        assert_eq!(count(all, Blocks::Cooperative), 3);
    }
}
