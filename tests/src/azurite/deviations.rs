//! Where Azurite does otherwise than the documented service, and so than the contract.
//!
//! Each case fails on Azurite for the reason beside it. A case that passes again fails the run, until its line is
//! taken out.

/// Cases by name, with the reason.
pub(super) const ALL: &[(&str, &str)] = &[
    ("tables::names_are_compared_without_case", "Azurite finds a table only under the case it was created with"),
    ("tables::tables_are_listed_by_name", "Azurite lists upper-case names before lower-case ones"),
    ("filters::date_time_compares_to_the_tick", "Azurite compares times to the millisecond"),
    ("filters::guid_compares_for_equality", "Azurite takes a text that spells a Guid for one"),
    ("filters::number_types_compare_by_value", "Azurite compares an Int64 only with a literal that ends in L"),
    ("filters::wide_numbers_compare_exactly", "Azurite compares an Int64 with a double after rounding it to one"),
    ("filters::another_type_fails_every_comparison", "Azurite compares binary values with those of other types"),
    ("values::double_comes_back_to_the_bit", "Azurite is written in JavaScript, whose JSON has no minus zero"),
    (
        "keys::quotes_and_parentheses",
        "Azurite looks for `RowKey='` anywhere in the address of a transaction's operation, so in keys too",
    ),
    ("limits::the_longest_text", "Azurite decodes a body chunk by chunk and breaks characters that two chunks share"),
    ("limits::a_merge_beyond_the_most_properties_is_refused", "Azurite does not count properties"),
    ("limits::a_merge_beyond_a_mebibyte_is_refused", "Azurite does not add up what a merge leaves"),
];
