//! Special values, ends and errors of the functions of floats, a family a file.

mod double_exponential;
mod double_trigonometric;
mod error_function;
mod exponential_single;
mod gamma_bessel;
mod single_elementary;
