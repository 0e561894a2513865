//! The interval of a prediction: how far off predictions of kernels have been that the interval was not made of.

/// The shares of a prediction between which the measured time of nine in ten kernels lies that the model was not made with, on boards that
/// were measured: docs/results/prediction/unseen.md.
const MEASURED: (f64, f64) = (0.78, 1.71);
/// The factors by which a data sheet makes it wider, by guess: no row of such a board was measured.
const SHEET: (f64, f64) = (0.8, 1.25);

/// The share of rows whose times lie in the interval.
pub const COVERAGE: f64 = 0.9;

/// The interval of a time.
pub(super) fn around(seconds: f64, is_measured: bool) -> (f64, f64) {
    let (low, high) = MEASURED;
    match is_measured {
        true => (low * seconds, high * seconds),
        false => (low * SHEET.0 * seconds, high * SHEET.1 * seconds),
    }
}
