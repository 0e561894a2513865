//! Kernels that use a value that was never written, with twins that only move it; and atomics of bytes, with plain accesses to the same ones
//! and, in their twins, to neighbours.

use cuda_std::launch::Entry;
use planted_kernels::{bytes, containers, narrow, pieces, records, sorting, undefined};

use crate::Before::Zeros;
use crate::{Launch, Needs, Planted, marks};

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
        y: (512, Zeros),
        lent: usize::MAX,
    };

    /// Returns the lines at which the value is read and used: those that end with `// at: NAME`.
    pub fn lines(&self) -> Vec<String> {
        let marks = marks(self.name, ValueBug::LAUNCH.needs).into_iter();
        marks.filter(|it| it.0 == "at").map(|it| it.1).collect()
    }
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
    undefined::register_not_written / register_not_written_fixed: "uninitialised",
    containers::filter_collected / filter_collected_fixed: "uninitialised",
    containers::vector_split / vector_split_fixed: "uninitialised",
    containers::row_too_long / row_too_long_fixed: "uninitialised",
    containers::middle_not_filled / middle_not_filled_fixed: "uninitialised",
    containers::key_not_there / key_not_there_fixed: "uninitialised",
    containers::between_values / between_values_fixed: "uninitialised",
    containers::end_of_list / end_of_list_fixed: "uninitialised",
    containers::branch_without_value / branch_without_value_fixed: "uninitialised",
    containers::room_not_filled / room_not_filled_fixed: "uninitialised",
    containers::padding_counted / padding_counted_fixed: "uninitialised",
    records::sample_in_buffer / sample_in_buffer_fixed: "uninitialised",
    records::sample_on_heap / sample_on_heap_fixed: "uninitialised",
    records::tuple_missing / tuple_missing_fixed: "uninitialised",
    records::outcome_missing / outcome_missing_fixed: "uninitialised",
    records::best_of_too_many / best_of_too_many_fixed: "uninitialised",
    records::padding_shuffled / padding_shuffled_fixed: "uninitialised",
    records::byte_of_union / byte_of_union_fixed: "uninitialised",
    records::fields_compared / fields_compared_fixed: "uninitialised",
    narrow::counter_not_set / counter_not_set_fixed: "uninitialised",
    narrow::greatest_not_set / greatest_not_set_fixed: "uninitialised",
    narrow::flag_not_set / flag_not_set_fixed: "uninitialised",
    narrow::state_not_set / state_not_set_fixed: "uninitialised",
    narrow::bins_not_cleared / bins_not_cleared_fixed: "uninitialised",
    narrow::byte_not_published / byte_not_published_fixed: "uninitialised",
    sorting::pair_not_pushed / pair_not_pushed_fixed: "uninitialised",
    sorting::padding_merged / padding_merged_fixed: "uninitialised",
    sorting::last_not_written / last_not_written_fixed: "uninitialised",
    sorting::bitonic_too_few / bitonic_too_few_fixed: "uninitialised",
    sorting::run_too_long / run_too_long_fixed: "uninitialised",
    sorting::heap_too_large / heap_too_large_fixed: "uninitialised",
    pieces::ring_popped_empty / ring_popped_empty_fixed: "uninitialised",
    pieces::text_compared / text_compared_fixed: "uninitialised",
    pieces::other_triangle / other_triangle_fixed: "uninitialised",
    pieces::queue_overrun / queue_overrun_fixed: "uninitialised",
    pieces::lower_half_added / lower_half_added_fixed: "uninitialised",
    pieces::word_not_cleared / word_not_cleared_fixed: "uninitialised",
    bytes::bytes_on_heap / bytes_on_heap_fixed: "uninitialised",
    bytes::byte_not_atomic / byte_not_atomic_fixed: "race",
    bytes::half_not_atomic / half_not_atomic_fixed: "race",
    bytes::flags_not_atomic / flags_not_atomic_fixed: "race",
    bytes::half_not_cleared / half_not_cleared_fixed: "uninitialised",
}
