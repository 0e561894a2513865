//! Numbers of all kinds, at random.

macro_rules! floats {
    ($($name:ident of $float:ident: $bits:ident, $exponents:expr;)*) => {$(
        pub(crate) fn $name(random: &mut fastrand::Rng) -> $float {
            const EDGES: [$float; 18] = [
                0.0, -0.0, 1.0, -1.0, 1.5, 3.0, -0.75, $float::EPSILON, 1.0 + $float::EPSILON,
                $float::MIN_POSITIVE, -$float::MIN_POSITIVE, $float::from_bits(1), -$float::from_bits(1),
                $float::MAX, $float::MIN, $float::INFINITY, $float::NEG_INFINITY, $float::NAN,
            ];
            match random.u8(..8) {
                0 | 1 => EDGES[random.usize(..EDGES.len())],
                2 | 3 => $float::from_bits(random.$bits(..)),
                // So that sums cancel and products are exact.
                4 => $float::from(random.i16(-300..300)) * $float::EPSILON,
                5 => $float::from(random.i16(-300..300)),
                _ => (random.$float() - 0.5) * $float::from(random.i16($exponents)).exp2(),
            }
        }
    )*};
}

floats! {
    f32s of f32: u32, -130..100;
    f64s of f64: u64, -1070..1000;
}

/// Half of them in the range of `f32`, and near one.
pub(crate) fn near_f32s(random: &mut fastrand::Rng) -> f64 {
    if random.bool() {
        f64s(random)
    } else {
        f64::from(f32s(random)) * (1.0 + random.f64() * 1e-7)
    }
}

/// Half of them in the range of `i64`, integers and halves among them.
pub(crate) fn near_i64s(random: &mut fastrand::Rng) -> f64 {
    if random.bool() {
        f64s(random)
    } else {
        i64s(random) as f64 / f64::from(1 << random.u32(..3))
    }
}

/// As [`near_i64s`].
pub(crate) fn near_i64s_of_f32(random: &mut fastrand::Rng) -> f32 {
    if random.bool() {
        f32s(random)
    } else {
        near_i64s(random) as f32
    }
}

/// Of all lengths.
pub(crate) fn i64s(random: &mut fastrand::Rng) -> i64 {
    random.i64(..) >> random.u32(..64)
}

/// Of all lengths.
pub(crate) fn i32s(random: &mut fastrand::Rng) -> i32 {
    random.i32(..) >> random.u32(..32)
}
