//! Launches whose blocks all run at once, so that they may wait for each other.

use crate::{LaunchError, Shape, most_workers, run};

/// The most threads of the host that a launch takes.
const MOST_THREADS: u64 = 256;

/// The most blocks of this shape that a cooperative launch may have: each runs on a thread of the
/// host of its own.
pub fn most_cooperative_blocks(shape: Shape) -> u64 {
    most_workers(shape).min(MOST_THREADS)
}

/// [`launch`](crate::launch), with all blocks of the grid running at once. A thread that waits for
/// another block gives way, as `nanosleep` does.
///
/// # Errors
/// Those of [`launch`](crate::launch).
///
/// # Panics
/// The grid has more than [`most_cooperative_blocks`].
pub fn launch_cooperative(shape: Shape, kernel: &(dyn Fn() + Sync)) -> Result<(), LaunchError> {
    let (blocks, most) = (shape.blocks(), most_cooperative_blocks(shape));
    assert!(
        blocks <= most,
        "a cooperative launch of {blocks} blocks; at most {most} run at once"
    );
    run(shape, &|text| print!("{text}"), kernel, blocks)
}
