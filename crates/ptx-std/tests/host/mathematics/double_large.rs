//! `f64`'s functions near the greatest number.

use ptx_std::GpuFloat;

/// Fails unless the value is at most one float from the expected one.
#[track_caller]
fn near(value: f64, expected: f64) {
    let apart = value.to_bits().abs_diff(expected.to_bits());
    assert!(apart <= 1, "{value:?} is {apart} floats from {expected:?}");
}

#[test]
fn logarithms_of_the_greatest_arguments() {
    near(GpuFloat::ln_1p(1.6734777995188557e308_f64), 709.7111126178488);
    near(GpuFloat::ln_1p(1.2697100071202852e308_f64), 709.4349971757126);
    near(GpuFloat::ln_1p(f64::MAX), 709.782712893384);
    near(GpuFloat::asinh(-1.364066561408095e308_f64), -710.199826179643);
    near(GpuFloat::asinh(f64::MAX), 710.475860073944);
    near(GpuFloat::acosh(1.0623759166194961e308_f64), 709.9498636533646);
    near(GpuFloat::acosh(f64::MAX), 710.475860073944);
}
