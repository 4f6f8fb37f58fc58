//! Every message of the derive macros, and forms that must compile.

#[test]
fn mistakes_are_told_where_they_are_made() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
