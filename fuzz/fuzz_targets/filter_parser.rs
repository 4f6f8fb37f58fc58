//! `cargo +nightly fuzz run filter_parser fuzz/corpus/filter_parser fuzz/seeds/filter_parser`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = table_tests::fuzzing::filter_parser(input);
});
