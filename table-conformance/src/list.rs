//! The list of cases, once: it makes the suite and the generated tests.

use crate::suite::{Case, Needs};

/// Hands the list of cases, with the guarantee that each cites and what it needs, to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_case {
    (tables [$($callback:tt)+] $($arguments:tt)*) => {
        $($callback)+! {
            [$($arguments)*]
            tables {
                a_created_table_can_be_used_at_once T1 Tables;
                creating_a_table_twice_is_refused T2 Tables;
                creating_a_table_twice_keeps_its_rows T2 Tables;
                names_are_compared_without_case T3 Tables;
                a_table_is_listed_as_it_was_written T3 Tables;
                tables_are_listed_by_name T6 Tables;
                a_deleted_table_is_gone T4 Tables;
                deleting_a_missing_table_is_refused T5 Tables;
                a_table_created_again_is_empty T7 Tables;
                reads_of_a_missing_table_are_refused T5 Tables;
                writes_to_a_missing_table_are_refused T5 Tables;
                a_transaction_on_a_missing_table_is_refused T5 Tables;
                tables_are_apart T8 Tables;
                a_junk_listing_token_is_refused P5 Tables;
            }
            reads {
                a_row_comes_back_as_it_was_written R1 Tables;
                a_missing_row_is_none R2 Tables;
                a_read_carries_etag_and_timestamp R1 Tables;
                a_query_reads_what_a_get_reads R1 Tables;
                the_timestamp_rises_with_each_write R5 Tables;
                a_get_sees_the_write_before_it R3 Tables;
                a_get_sees_the_delete_before_it R3 Tables;
                a_query_sees_the_write_before_it R3 Tables;
                one_row_key_in_two_partitions_is_two_rows R2 Tables;
            }
            selection {
                a_get_returns_only_what_is_selected R4 Tables;
                a_query_returns_only_what_is_selected R4 Tables;
                keys_and_etag_come_along R4 Tables;
                an_empty_selection_returns_keys_and_etag R4 Tables;
                what_a_row_lacks_is_left_out R4 Tables;
                names_are_selected_with_case R4 Tables;
                a_selected_read_can_be_written_upon R4 Tables;
                a_filter_sees_what_is_not_selected Q10 Tables;
            }
            writes {
                an_insert_adds_a_row W1 Tables;
                an_insert_of_an_existing_row_is_refused W1 Tables;
                a_row_without_properties_can_be_inserted W1 Tables;
                a_row_can_be_inserted_again_after_a_delete W1 Tables;
                a_replace_leaves_nothing_of_the_old_row W2 Tables;
                a_replace_of_a_missing_row_is_refused W2 Tables;
                a_replace_by_nothing_leaves_the_keys W2 Tables;
                a_merge_sets_some_and_keeps_the_rest W3 Tables;
                a_merge_of_a_missing_row_is_refused W3 Tables;
                a_merge_can_change_a_type W3 Tables;
                a_merge_of_nothing_keeps_all W3 Tables;
                an_insert_or_replace_inserts W4 Tables;
                an_insert_or_replace_replaces W4 Tables;
                an_insert_or_merge_inserts W5 Tables;
                an_insert_or_merge_merges W5 Tables;
                a_delete_removes_its_row_alone W6 Tables;
                a_delete_of_a_missing_row_is_refused W6 Tables;
                nothing_of_a_deleted_row_comes_back W6 Tables;
                a_write_answers_the_etag_that_a_read_gives W7 Tables;
                a_delete_answers_no_etag W7 Tables;
                a_timestamp_that_is_sent_is_ignored W8 Tables;
                an_etag_that_an_entity_carries_is_ignored W8 Tables;
                an_error_names_operation_table_and_key W10 Tables;
                an_error_holds_no_property_value W10 Tables;
                a_row_changes_only_by_its_own_writes W9 Tables;
            }
            conditions {
                a_replace_of_the_current_version_is_done E3 Tables;
                a_merge_of_the_current_version_is_done E3 Tables;
                a_delete_of_the_current_version_is_done E3 Tables;
                a_replace_of_a_stale_version_is_refused E3 Tables;
                a_merge_of_a_stale_version_is_refused E3 Tables;
                a_delete_of_a_stale_version_is_refused E3 Tables;
                a_replace_asks_for_existence_first E4 Tables;
                a_merge_asks_for_existence_first E4 Tables;
                a_delete_asks_for_existence_first E4 Tables;
                a_replace_of_any_version_is_done E5 Tables;
                a_merge_of_any_version_is_done E5 Tables;
                a_delete_of_any_version_is_done E5 Tables;
                every_kind_of_write_changes_the_etag E1 Tables;
                quick_writes_have_etags_of_their_own E2 Tables;
                a_row_inserted_again_has_another_etag E2 Tables;
                an_etag_does_not_survive_its_row E2 Tables;
                an_etag_of_another_row_is_refused E3 Tables;
                an_etag_can_be_carried_as_text E6 Tables;
                a_refused_write_keeps_the_etag W9 Tables;
            }
            transactions {
                all_operations_happen X1 Tables;
                an_upsert_in_a_transaction_meets_what_is_there X1 Tables;
                answers_come_in_the_order_of_operations X3 Tables;
                a_transaction_of_one_is_a_write X1 Tables;
                a_failing_first_operation_changes_nothing X1 Tables;
                a_failing_operation_in_the_middle_changes_nothing X1 Tables;
                a_failing_last_operation_changes_nothing X2 Tables;
                a_stale_version_fails_the_transaction X4 Tables;
                a_missing_row_fails_before_its_condition X4 Tables;
                every_condition_that_holds_lets_it_happen X4 Tables;
                a_refused_transaction_can_be_repeated X1 Tables;
                a_hundred_operations_are_one_transaction X5 Tables;
                the_hundredth_operation_can_fail_it_all X5 Tables;
                a_transaction_changes_every_etag E1 Tables;
                partitions_are_transacted_apart X5 Tables;
            }
            order {
                rows_come_in_the_order_of_their_keys Q1 OrderedTables;
                partitions_come_before_rows Q1 OrderedTables;
                numbers_in_keys_sort_as_text Q1 OrderedTables;
                upper_case_comes_before_lower_case Q1 OrderedTables;
                a_key_comes_before_what_it_begins Q1 OrderedTables;
                a_partition_comes_before_those_that_it_begins Q1 OrderedTables;
                punctuation_sorts_by_code Q1 OrderedTables;
                accents_sort_by_code Q1 OrderedTables;
                emoji_come_before_the_private_use_area Q1 OrderedTables;
                emoji_sort_inside_keys_too Q1 OrderedTables;
                partitions_sort_by_utf16_too Q1 OrderedTables;
                the_order_holds_from_page_to_page Q1 OrderedTables;
                the_order_does_not_depend_on_writes Q1 OrderedTables;
            }
            ranges {
                one_entity Q2 Tables;
                one_partition Q2 Tables;
                the_whole_table Q2 Tables;
                bounds_are_included_or_not_as_they_say Q2 Tables;
                bounds_need_not_be_keys_of_rows Q2 Tables;
                an_empty_range_has_no_rows Q2 Tables;
                a_range_of_partitions Q2 Tables;
                a_range_of_rows_in_every_partition Q2 Tables;
                a_prefix_of_rows Q2 Tables;
                a_prefix_of_partitions Q2 Tables;
                empty_keys_lie_in_ranges Q2 Tables;
                bounds_compare_by_utf16_unit Q2 Tables;
            }
            filters {
                int32_compares_by_value Q3 Tables;
                int64_compares_by_value Q3 Tables;
                double_compares_by_value Q3 Tables;
                infinities_compare_by_value Q3 Tables;
                boolean_compares_false_before_true Q3 Tables;
                date_time_compares_to_the_tick Q3 Tables;
                string_compares_by_utf16_unit Q3 Tables;
                string_compares_with_case_and_length Q3 Tables;
                text_in_a_filter_is_taken_literally Q3 Tables;
                guid_compares_for_equality Q3 Tables;
                binary_compares_by_bytes Q3 Tables;
                number_types_compare_by_value Q5 Tables;
                wide_numbers_compare_exactly Q5 Tables;
                nan_compares_with_nothing Q7 Tables;
                a_missing_property_fails_every_comparison Q4 Tables;
                a_missing_property_is_not_different Q4 Tables;
                not_includes_rows_without_the_property Q4 Tables;
                another_type_fails_every_comparison Q6 Tables;
                and_or_and_not_join Q8 Tables;
                and_binds_as_the_tree_says Q8 Tables;
                a_join_of_nothing_is_all_or_none Q8 Tables;
                keys_can_be_filtered Q9 Tables;
                the_timestamp_can_be_filtered Q9 Tables;
                property_names_are_compared_with_case Q9 Tables;
                a_filter_and_a_range_both_hold Q2 Tables;
            }
            paging {
                a_page_keeps_its_limit P1 Tables;
                pages_give_every_row_once P3 Tables;
                pages_end P2 Tables;
                a_page_holds_a_thousand_at_most P1 Tables;
                pages_run_over_partitions P3 Tables;
                a_range_of_rows_is_paged_in_every_partition P3 Tables;
                a_selective_filter_is_paged_to_its_end P2 Tables;
                filter_and_selection_hold_on_every_page P4 Tables;
                a_continuation_can_be_carried_as_text P4 Tables;
                a_continuation_can_be_used_again P4 Tables;
                a_continuation_takes_another_limit P4 Tables;
                a_junk_continuation_is_refused P5 Tables;
                a_page_of_none_is_refused P6 Tables;
                rows_deleted_meanwhile_lose_no_other P3 Tables;
                rows_inserted_meanwhile_double_no_other P3 Tables;
                rows_changed_meanwhile_come_once P3 Tables;
                a_continuation_outlives_its_rows P4 Tables;
            }
            values {
                int32_comes_back V1 Tables;
                int64_comes_back V1 Tables;
                double_comes_back_to_the_bit V1 Tables;
                infinities_come_back V1 Tables;
                nan_comes_back V1 Tables;
                boolean_comes_back V1 Tables;
                date_time_comes_back_to_the_tick V1 Tables;
                guid_comes_back V1 Tables;
                binary_comes_back V1 Tables;
                string_comes_back V1 Tables;
                empty_values_are_values V2 Tables;
                a_whole_double_stays_a_double V1 Tables;
                all_types_live_in_one_row V1 Tables;
                values_survive_a_merge_of_others V1 Tables;
                property_names_differ_by_case V3 Tables;
                property_names_may_be_unusual V3 Tables;
            }
            keys {
                quotes_and_parentheses K1 Tables;
                percent_signs K1 Tables;
                plus_signs_and_spaces K1 Tables;
                marks_of_urls_and_json K1 Tables;
                dots K1 Tables;
                letters_of_all_scripts K1 Tables;
                emoji_and_the_private_use_area K1 Tables;
                spaces_of_unicode K1 Tables;
                the_empty_key K1 Tables;
                case_and_composition_tell_keys_apart K2 Tables;
                the_longest_keys K3 Tables;
            }
            limits {
                the_most_properties L1 Tables;
                the_longest_text L1 Tables;
                the_longest_binary L1 Tables;
                the_longest_property_name L1 Tables;
                a_row_of_nearly_a_mebibyte L1 Tables;
                a_merge_beyond_the_most_properties_is_refused L2 Tables;
                a_merge_up_to_the_most_properties_is_done L2 Tables;
                a_merge_beyond_a_mebibyte_is_refused L2 Tables;
                a_merge_that_shrinks_a_row_is_done L2 Tables;
                a_transaction_of_nearly_the_most_bytes L1 Tables;
            }
            concurrency {
                of_many_inserts_one_is_done S1 Tables;
                of_many_writes_upon_one_version_one_is_done S1 Tables;
                no_update_of_an_etag_loop_is_lost S1 Tables;
                merges_of_different_properties_all_stay S2 Tables;
                a_page_never_shows_half_a_transaction X6 Tables;
                of_many_transactions_upon_one_version_one_is_done S1 Tables;
            }
        }
    };
    (queues [$($callback:tt)+] $($arguments:tt)*) => {
        $($callback)+! {
            [$($arguments)*]
            queues {
                a_created_queue_is_empty M1 Queues;
                creating_a_queue_twice_keeps_its_messages M1 Queues;
                every_call_on_a_missing_queue_is_refused M2 Queues;
                a_deleted_queue_is_gone M3 Queues;
                queues_are_apart M4 Queues;
            }
            messages {
                a_message_comes_as_it_was_sent M5 Queues;
                any_bytes_are_a_body M5 Queues;
                the_longest_body M5 Queues;
                a_body_that_is_too_long_is_refused M7 Queues;
                every_message_is_delivered M6 Queues;
                equal_bodies_are_messages_of_their_own M6 Queues;
                a_receive_keeps_its_count M7 Queues;
                a_count_out_of_bounds_is_refused M7 Queues;
                times_out_of_bounds_are_refused M7 Queues;
                a_message_tells_its_times M19 Queues;
                a_peek_takes_nothing M16 Queues;
                a_peek_shows_what_is_visible M16 Queues;
                the_length_counts_hidden_messages M17 Queues;
                a_message_goes_to_one_receiver M18 Queues;
            }
            receipts {
                a_receiver_can_delete M12 Queues;
                the_sender_can_delete M12 Queues;
                the_sender_can_update M12 Queues;
                a_receiver_can_update_the_body M15 Queues;
                an_update_without_a_body_keeps_it M15 Queues;
                an_update_gives_a_new_receipt M13 Queues;
                a_receive_makes_the_senders_receipt_stale M13 Queues;
                a_second_receive_makes_the_first_stale M13 Queues;
                a_deleted_message_has_stale_receipts M13 Queues;
                a_receipt_outlives_its_visibility_until_the_next_receive M14 Queues;
                a_receipt_of_a_deleted_queue_is_stale M13 Queues;
                a_receipt_can_be_carried_as_text M12 Queues;
                a_receipt_of_another_message_is_stale M13 Queues;
            }
            visibility {
                a_received_message_is_hidden M8 Queues;
                a_message_comes_back_after_its_visibility M8 Queues;
                every_receive_is_counted M9 Queues;
                an_update_is_not_counted M9 Queues;
                a_delayed_message_comes_later M10 Queues;
                an_update_hides_from_now_on M15 Queues;
                an_update_can_show_a_message_at_once M15 Queues;
                an_expired_message_is_gone M11 Queues;
                a_hidden_message_expires_too M11 Queues;
                a_message_can_live_for_ever M11 Queues;
                hidden_messages_do_not_hold_others_back M8 Queues;
            }
        }
    };
}

/// Makes one test of each case, so that a test runner lists and filters them.
///
/// The harness expression is evaluated in every test, outside of any runtime.
///
/// ```
/// use std::sync::Arc;
/// use table_conformance::Harness;
/// use table_core::{ManualClock, MemoryStore, Timestamp};
///
/// fn memory() -> Harness {
///     let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
///     let store = MemoryStore::with_clock(clock.clone());
///     Harness::new("memory").with_tables(store.clone()).with_queues(store).with_clock(clock)
/// }
///
/// table_conformance::conformance_tests!(memory_store, memory());
/// // Only the one kind of store: `conformance_tests!(memory_tables, tables, memory());`
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($module:ident, $harness:expr) => {
        mod $module {
            #[allow(unused_imports, reason = "the harness expression may name anything in scope")]
            use super::*;
            $crate::for_each_case! { tables [$crate::tests_of_cases] $harness }
            $crate::for_each_case! { queues [$crate::tests_of_cases] $harness }
        }
    };
    ($module:ident, $kind:ident, $harness:expr) => {
        mod $module {
            #[allow(unused_imports, reason = "the harness expression may name anything in scope")]
            use super::*;
            $crate::for_each_case! { $kind [$crate::tests_of_cases] $harness }
        }
    };
}

/// The tests of some cases, by subject.
#[doc(hidden)]
#[macro_export]
macro_rules! tests_of_cases {
    ([$harness:expr] $($subject:ident { $($name:ident $guarantee:ident $needs:ident;)* })*) => {
        $(mod $subject {
            #[allow(unused_imports, reason = "the harness expression may name anything in scope")]
            use super::*;
            $(#[test]
            fn $name() {
                $crate::run_case(concat!(stringify!($subject), "::", stringify!($name)), $harness);
            })*
        })*
    };
}

/// The cases as values.
macro_rules! cases {
    ([] $($subject:ident { $($name:ident $guarantee:ident $needs:ident;)* })*) => {
        vec![$($(Case::new(
            concat!(stringify!($subject), "::", stringify!($name)),
            stringify!($guarantee),
            Needs::$needs,
            |context| Box::pin($crate::cases::$subject::$name(context)),
        ),)*)*]
    };
}

pub(crate) fn table_cases() -> Vec<Case> {
    for_each_case!(tables[cases])
}

pub(crate) fn queue_cases() -> Vec<Case> {
    for_each_case!(queues[cases])
}
