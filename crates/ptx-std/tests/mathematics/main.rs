//! Special values, ends and errors of the functions of floats, a family a file.

#![allow(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "values are written as they were computed"
)]

mod double_exponential;
mod double_trigonometric;
mod error_function;
mod exponential_single;
mod gamma_bessel;
mod single_elementary;
