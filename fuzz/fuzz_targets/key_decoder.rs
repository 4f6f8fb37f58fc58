//! `cargo +nightly fuzz run key_decoder fuzz/corpus/key_decoder fuzz/seeds/key_decoder`

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    let _ = table_tests::fuzzing::key_decoder(input);
});
