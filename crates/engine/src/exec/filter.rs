//! The arithmetic of texture units: which elements a coordinate is between, and how those are mixed.
//!
//! CUDA's programming guide ("Texture Fetching") says that weights have 8 bits of fraction, and leaves open how they are rounded. Here they are as an
//! H200 has them, to the bit, which probes have found: docs/results/h200-fetches.

use super::image::Beyond;

/// Bits of fraction that a coordinate is cut off to, before it is scaled by the size.
const FRACTION: u32 = 21;

/// A coordinate in 2^-21 elements.
///
/// Normalized coordinates are cut off before they are scaled: 1 / 7 in `f32`, which is above, is before the second of seven elements. Far outside is as
/// an end, and NaN as 0.
pub(super) fn steps(coordinate: f32, beyond: Beyond, normalized_to: Option<u32>) -> i64 {
    let scale = f64::from(1u32 << FRACTION);
    // No subnormals.
    let coordinate = match coordinate.abs() < f32::MIN_POSITIVE {
        true => 0.0,
        false => f64::from(coordinate),
    };
    let steps = (coordinate * scale).floor();
    let steps = match (normalized_to, beyond) {
        (Some(_), Beyond::Wrap) => steps.rem_euclid(scale),
        (Some(_), Beyond::Mirror) => steps.rem_euclid(2.0 * scale),
        _ => steps.clamp(-scale * scale, scale * scale),
    };
    // NaN is 0.
    steps as i64 * i64::from(normalized_to.unwrap_or(1))
}

/// The element that it is in.
pub(super) fn nearest(steps: i64) -> i64 {
    steps >> FRACTION
}

/// The first of the two elements whose middles it is between, and the second's share in 256ths, rounded half up.
pub(super) fn between(steps: i64) -> (i64, u32) {
    let half = 1 << (FRACTION - 1);
    let shares = (steps - half + (1 << (FRACTION - 9))) >> (FRACTION - 8);
    (shares >> 8, (shares & 0xff) as u32)
}

fn share(of: u32, by: u32) -> u32 {
    (of * by + 128) >> 8
}

/// The weights of eight elements in 256ths, by the shares of the second along x, y and z; x changes fastest, then y.
///
/// Divided first by z, then by x, then by y. What is left of a rounded share is the other's, so that all of them together are 256.
pub(super) fn weights([of_x, of_y, of_z]: [u32; 3]) -> [u32; 8] {
    let mut all = [0; 8];
    for (z, plane) in [256 - of_z, of_z].into_iter().enumerate() {
        let right = share(plane, of_x);
        let left = plane - right;
        let above = share(left, 256 - of_y);
        let below = share(right, of_y);
        let shares = [above, right - below, left - above, below];
        all[4 * z..][..4].copy_from_slice(&shares);
    }
    all
}

/// A number with so many bits behind the first, rounded to nearest, and from between two away from zero.
pub(super) fn away(number: f64, bits: u32) -> f64 {
    let dropped = 52 - bits;
    match number.is_finite() {
        true => f64::from_bits((number.to_bits() + (1 << (dropped - 1))) >> dropped << dropped),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seventh_is_before_the_second_of_seven() {
        let at = |x: f32| nearest(steps(x, Beyond::Clamp, Some(7)));
        assert_eq!(at(1.0 / 7.0), 0);
        assert_eq!(at(1.00001 / 7.0), 1);
    }

    #[test]
    fn subnormal_coordinates_are_zero() {
        assert_eq!(steps(-f32::from_bits(1), Beyond::Border, None), 0);
        assert_eq!(steps(-f32::MIN_POSITIVE, Beyond::Border, None), -1);
    }

    #[test]
    fn far_outside_is_the_beginning_of_what_repeats() {
        for far in [3e9, -3e9, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert_eq!(steps(far, Beyond::Wrap, Some(7)), 0, "{far}");
            assert_eq!(steps(far, Beyond::Mirror, Some(7)), 0, "{far}");
        }
        assert!(nearest(steps(f32::INFINITY, Beyond::Clamp, None)) > 1 << 20);
        assert_eq!(steps(f32::NAN, Beyond::Clamp, None), 0);
    }

    #[test]
    fn shares_are_rounded_half_up() {
        let at = |x: f32| between(steps(x, Beyond::Clamp, None));
        assert_eq!(at(1.5), (1, 0));
        assert_eq!(at(1.5 + 1.0 / 512.0), (1, 1));
        assert_eq!(at(1.5 - 1.0 / 512.0), (1, 0));
        assert_eq!(at(0.0), (-1, 128));
    }

    #[test]
    fn weights_are_256_together() {
        assert_eq!(weights([0, 0, 0]), [256, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(weights([64, 128, 0])[..4], [96, 32, 96, 32]);
        for of_x in 0..=256 {
            for (of_y, of_z) in [(1, 0), (128, 3), (77, 128), (255, 256)] {
                assert_eq!(weights([of_x, of_y, of_z]).iter().sum::<u32>(), 256);
            }
        }
    }

    #[test]
    fn between_two_numbers_is_away_from_zero() {
        assert_eq!(away(1.0 + 2f64.powi(-24), 23), 1.0 + 2f64.powi(-23));
        assert_eq!(away(-1.0 - 2f64.powi(-24), 23), -1.0 - 2f64.powi(-23));
        assert_eq!(away(1.0 + 2f64.powi(-25), 23), 1.0);
        assert_eq!(away(f64::INFINITY, 23), f64::INFINITY);
    }
}
