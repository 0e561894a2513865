//! Special values, ends and errors of the functions of floats, one file per family.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "values are written as they were computed"
)]

mod bessel_orders;
mod double_exponential;
mod double_trigonometric;
mod error_function;
mod exponential_single;
mod gamma_bessel;
mod single_elementary;
