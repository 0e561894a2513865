//! Kernels that use a value that was never written, with twins that only move it; and atomics of bytes, with plain accesses to the same ones
//! and, in their twins, to neighbours.

use cuda_std::launch::Entry;
use planted_kernels::{bytes, undefined};

use crate::Before::Zeros;
use crate::{Launch, Needs, Planted};

/// A kernel of these, and its twin.
pub struct ValueBug {
    /// The kernel's name.
    pub name: &'static str,
    /// The kernel.
    pub kernel: fn() -> Entry<Planted>,
    /// Its twin.
    pub fixed: fn() -> Entry<Planted>,
    /// The name of the finding.
    pub finding: &'static str,
}

impl ValueBug {
    /// How both are launched.
    pub const LAUNCH: Launch = Launch {
        needs: Needs::Any,
        shape: (1, 64, 0),
        cluster: 1,
        streams: 1,
        times: 1,
        n: 64,
        y: (64, Zeros),
        lent: usize::MAX,
    };
}

macro_rules! values {
    ($($module:ident::$name:ident / $fixed:ident: $finding:literal,)*) => {
        /// All of them.
        pub const VALUE_BUGS: &[ValueBug] = &[$(ValueBug {
            name: stringify!($name),
            kernel: || $module::$name::entry().with_signature(),
            fixed: || $module::$fixed::entry().with_signature(),
            finding: $finding,
        }),*];
    };
}

values! {
    undefined::spare_reserved / spare_reserved_fixed: "uninitialised",
    undefined::padding_grown / padding_grown_fixed: "uninitialised",
    undefined::string_grown / string_grown_fixed: "uninitialised",
    undefined::spare_extended / spare_extended_fixed: "uninitialised",
    undefined::spare_shrunk / spare_shrunk_fixed: "uninitialised",
    undefined::padding_sorted / padding_sorted_fixed: "uninitialised",
    undefined::key_not_written / key_not_written_fixed: "uninitialised",
    undefined::padding_sorted_on_heap / padding_sorted_on_heap_fixed: "uninitialised",
    undefined::padding_shared / padding_shared_fixed: "uninitialised",
    undefined::field_not_written / field_not_written_fixed: "uninitialised",
    undefined::payload_of_none / payload_of_none_fixed: "uninitialised",
    undefined::part_copied / part_copied_fixed: "uninitialised",
    undefined::padding_swapped / padding_swapped_fixed: "uninitialised",
    undefined::variant_not_there / variant_not_there_fixed: "uninitialised",
    undefined::ring_grown / ring_grown_fixed: "uninitialised",
    undefined::tree_of_padding / tree_of_padding_fixed: "uninitialised",
    undefined::queue_of_padding / queue_of_padding_fixed: "uninitialised",
    undefined::room_copied / room_copied_fixed: "uninitialised",
    undefined::part_returned / part_returned_fixed: "uninitialised",
    undefined::undefined_condition / undefined_condition_fixed: "uninitialised",
    undefined::undefined_address / undefined_address_fixed: "uninitialised",
    undefined::undefined_divisor / undefined_divisor_fixed: "uninitialised",
    undefined::exchanged_used / exchanged_used_fixed: "uninitialised",
    undefined::shuffled_undefined / shuffled_undefined_fixed: "uninitialised",
    undefined::bytes_packed / bytes_packed_fixed: "uninitialised",
    undefined::bits_moved / bits_moved_fixed: "uninitialised",
    bytes::bytes_on_heap / bytes_on_heap_fixed: "uninitialised",
    bytes::byte_not_atomic / byte_not_atomic_fixed: "race",
    bytes::half_not_atomic / half_not_atomic_fixed: "race",
}
