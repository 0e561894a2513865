//! A step of diffusion: seven points of a box, a thread for each element or for a column of them.

use cuda_std::prelude::*;

/// Writes to each inner element of `y` that of `x` times `own`, and the sum of its six neighbours times `neighbours`; on
/// the faces that of `x`.
#[kernel(max_threads = 512)]
pub fn diffuse(x: &[f32], own: f32, neighbours: f32, mut y: Output3<f32>) {
    let [planes, rows, columns] = y.extents();
    let plane = rows * columns;
    for ([z, y_at, x_at], y) in y.own() {
        let i = z * plane + y_at * columns + x_at;
        let at = |i: usize| x.get(i).copied().unwrap_or(0.0);
        let is_inner = z > 0
            && y_at > 0
            && x_at > 0
            && z + 1 < planes
            && y_at + 1 < rows
            && x_at + 1 < columns;
        // Written once, at the end: no load behind a write begins before it.
        let centre = at(i);
        *y = if is_inner {
            let around = (at(i - 1) + at(i + 1))
                + (at(i - columns) + at(i + columns))
                + (at(i - plane) + at(i + plane));
            own.mul_add(centre, neighbours * around)
        } else {
            centre
        };
    }
}

/// An element after the step, in float64, of those that `at` has.
pub fn reference(
    at: impl Fn(usize) -> f64,
    [planes, rows, columns]: [usize; 3],
    own: f32,
    neighbours: f32,
    i: usize,
) -> f64 {
    let plane = rows * columns;
    let (z, y, x) = (i / plane, i / columns % rows, i % columns);
    let is_face = |place: usize, extent: usize| place == 0 || place + 1 == extent;
    if is_face(z, planes) || is_face(y, rows) || is_face(x, columns) {
        return at(i);
    }
    let around = [i - 1, i + 1, i - columns, i + columns, i - plane, i + plane].map(&at);
    f64::from(own) * at(i) + f64::from(neighbours) * around.iter().sum::<f64>()
}
