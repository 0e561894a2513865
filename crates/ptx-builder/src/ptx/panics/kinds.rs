//! Kinds of panics.

use crate::ptx::lints::readable;

/// The messages of the functions that the compiler calls. Other panics are known by their places alone.
pub(super) const KINDS: &[(&str, &str)] = &[
    ("core::panicking::panic_bounds_check", "index out of bounds"),
    ("core::slice::index::", "range out of the slice's bounds"),
    (
        "core::str::slice_error_fail",
        "range out of the string's bounds",
    ),
    (
        "core::option::unwrap_failed",
        "called `Option::unwrap()` on a `None` value",
    ),
    (
        "core::option::expect_failed",
        "called `Option::expect()` on a `None` value",
    ),
    (
        "core::result::unwrap_failed",
        "called `Result::unwrap()` on an `Err` value",
    ),
    (
        "core::panicking::assert_failed",
        "an assertion about two values failed",
    ),
    (
        "core::panicking::panic_const::panic_const_add_overflow",
        "attempt to add with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_sub_overflow",
        "attempt to subtract with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_mul_overflow",
        "attempt to multiply with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_div_overflow",
        "attempt to divide with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_rem_overflow",
        "attempt to take the remainder with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_neg_overflow",
        "attempt to negate with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_shl_overflow",
        "attempt to shift left with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_shr_overflow",
        "attempt to shift right with overflow",
    ),
    (
        "core::panicking::panic_const::panic_const_div_by_zero",
        "attempt to divide by zero",
    ),
    (
        "core::panicking::panic_const::panic_const_rem_by_zero",
        "attempt to take the remainder with a divisor of zero",
    ),
    (
        "core::cell::panic_already",
        "a `RefCell` is already borrowed",
    ),
    (
        "alloc::alloc::handle_alloc_error",
        "the device's heap has no more memory",
    ),
    ("alloc::raw_vec::", "too large for a vector"),
];

/// The number of the kind, from 1 on, or 0.
pub(super) fn kind(function: &str) -> usize {
    let name = readable(function);
    let known = KINDS.iter().position(|(start, _)| name.starts_with(start));
    known.map_or(0, |index| index + 1)
}
