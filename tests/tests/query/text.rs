//! Filters printed and parsed.

use proptest::prelude::*;
use table_core::query::{Comparison, Field, Filter};
use table_core::{ErrorKind, PropertyName, Timestamp, Value};
use uuid::Uuid;

fn print_of(text: &str) -> String {
    text.parse::<Filter>().unwrap().to_string()
}

fn message_of(text: &str) -> String {
    let error = Filter::parse(text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{text}");
    error.message().to_owned()
}

#[test]
fn literals_are_those_of_the_service() {
    let same = [
        "Name eq 'it''s'",
        "Name eq ''''",
        "Name eq ''",
        "Age eq -42",
        "Age eq 42L",
        "Age eq -9223372036854775808L",
        "Rate eq 1.5",
        "Rate eq -0.0",
        "Rate eq 1e300",
        "Rate lt 5e-324",
        "Rate ge NaN",
        "Rate ge INF",
        "Rate ge -INF",
        "Active ne false",
        "Timestamp ge datetime'2014-08-22T00:50:32.1234567Z'",
        "Id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'",
        "Photo eq X'00cafe'",
        "Photo eq X''",
    ];
    for text in same {
        assert_eq!(print_of(text), text);
    }
}

#[test]
fn other_spellings_are_understood() {
    let spellings = [
        ("  ( Age\tge 40 ) ", "Age ge 40"),
        ("40 le Age", "Age ge 40"),
        ("IsActive", "IsActive eq true"),
        ("not IsActive", "not (IsActive eq true)"),
        ("not Age eq 40", "not (Age eq 40)"),
        ("not not (Age eq 40)", "Age eq 40"),
        ("(A) and (B) or not C", "A eq true and B eq true or not (C eq true)"),
        ("A and (B and C)", "A eq true and B eq true and C eq true"),
        ("A or B and C", "A eq true or B eq true and C eq true"),
        ("(A or B) and C", "(A eq true or B eq true) and C eq true"),
        ("Rate eq 1E+2", "Rate eq 100.0"),
        ("At eq datetime'2014-08-22T00:50:32Z'", "At eq datetime'2014-08-22T00:50:32.0000000Z'"),
        ("Photo eq binary'CAFE'", "Photo eq X'cafe'"),
        ("Id eq guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", "Id eq guid'c9da6455-213d-42c9-9a79-3e9149a57833'"),
        ("true", "true"),
        ("not true", "false"),
        ("A and true", "A eq true"),
        ("A or true", "true"),
        ("datetime eq 1", "datetime eq 1"),
    ];
    for (text, printed) in spellings {
        assert_eq!(print_of(text), printed, "{text}");
    }
}

#[test]
fn errors_say_where_and_what_to_write() {
    let errors = [
        ("", "the filter ends where a condition should stand, such as `Age ge 40` (at character 1 of the filter)"),
        ("é = 1", "a filter has no `=`; write `eq` (at character 3 of the filter)"),
        ("Age == 1", "a filter has no `==`; write `eq`"),
        ("A && B", "a filter has no `&`; write `and`"),
        ("A || B", "a filter has no `|`; write `or`"),
        ("A AND B", "operators are written in lower case (at character 3"),
        ("(A AND B)", "operators are written in lower case"),
        ("Age eq 1 AND B", "operators are written in lower case"),
        ("Age EQ 1", "operators are written in lower case"),
        ("Name eq \"x\"", "a text stands in single quotes, not in double ones"),
        ("Name eq 'x", "this literal has no closing quote"),
        ("Name eq 'x''", "this literal has no closing quote"),
        ("Name eq Smith", "two properties cannot be compared; a text stands in single quotes"),
        ("1 eq 1", "a comparison needs the name of a property on one side"),
        ("Name eq null", "nothing compares with null"),
        ("startswith(Name, 'a')", "a filter has no functions"),
        ("Name like 'a'", "a filter knows only eq, ne, gt, ge, lt and le"),
        ("Name foo 'a'", "an operator should stand here"),
        ("Age eq", "the filter ends where a condition should stand"),
        ("Age eq eq", "a name or a literal should stand here, not an operator"),
        ("(Age eq 1", "a parenthesis should be closed here"),
        ("Age eq 1)", "this parenthesis was never opened"),
        ("Age eq 1 2", "the filter should end here, or go on with `and` or `or`"),
        ("Age eq 2147483648", "the number does not fit an Int32; write an L after it"),
        ("Age eq 99999999999999999999", "the number does not fit an Int64; write it with a decimal point"),
        ("Age eq 9223372036854775808L", "the number does not fit an Int64"),
        ("Age eq 1e999", "the number does not fit a Double"),
        ("Age eq 12abc", "a number is written like 42"),
        ("Age eq 1.5L", "a number is written like 42"),
        ("Age eq -", "a number is written like 42"),
        ("Age eq .5", "a number is written like 42"),
        ("At eq datetime'yesterday'", "a time is written like datetime'2014"),
        ("At eq guid'x'", "a guid is written like guid'c9da6455"),
        ("At eq guid'c9da6455213d42c99a793e9149a57833'", "a guid is written like"),
        ("At eq X'abc'", "a binary is written as pairs"),
        ("At eq time'00:00'", "only datetime, guid, X and binary may stand right before a quote"),
        ("PartitionKey eq 1", "a key compares only with a text"),
        ("RowKey", "a comparison should stand here"),
        ("Timestamp ge '2014'", "Timestamp compares only with a time"),
        ("Age eq \u{0}", "this character has no meaning here"),
        ("💥", "this character has no meaning here"),
    ];
    for (text, expected) in errors {
        let message = message_of(text);
        assert!(message.starts_with(expected), "{text}: {message}");
    }
}

#[test]
fn errors_never_repeat_the_text() {
    for text in
        ["Secret eq 'hunter2", "hunter2 hunter2", "Secret eq hunter2", "Secret eq 'hunter2' hunter2", "hunter2("]
    {
        let error = format!("{:?}", Filter::parse(text).unwrap_err());
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn hostile_texts_are_errors() {
    let deep = |opening: &str, count: usize| opening.repeat(count);
    assert!(message_of(&deep("(", 100_000)).contains("at most 64 levels"));
    assert!(message_of(&deep("not ", 50_000)).contains("at most 64 levels"));
    assert!(message_of(&"x".repeat(300 * 1024)).contains("at most 262144 bytes"));
    assert!(message_of(&format!("Age eq {}", "9".repeat(100_000))).contains("does not fit"));
    assert!(message_of(&"'".repeat(100_001)).contains("no closing quote"));
    let nested = format!("{}A{}", "(".repeat(64), ")".repeat(64));
    assert_eq!(print_of(&nested), "A eq true");
    let wide = vec!["Age eq 1"; 10_000].join(" or ");
    assert_eq!(print_of(&wide), wide);
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<Vec<u8>>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        (0..=Timestamp::MAX.ticks()).prop_map(|ticks| Value::from(Timestamp::from_ticks(ticks).unwrap())),
        any::<u64>().prop_map(|bits| Value::from(f64::from_bits(bits))),
        any::<f64>().prop_map(Value::from),
        any::<u128>().prop_map(|bits| Value::from(Uuid::from_u128(bits))),
        any::<i32>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "['a ()]{0,6}".prop_map(Value::from),
    ]
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    use Comparison::{Eq, Ge, Gt, Le, Lt, Ne};
    prop_oneof![Just(Eq), Just(Ne), Just(Gt), Just(Ge), Just(Lt), Just(Le)]
}

fn filters() -> impl Strategy<Value = Filter> {
    let property = ("[A-Zé_][a-z0-9_]{0,5}", comparisons(), values())
        .prop_map(|(name, how, value)| Filter::compare(Field::Property(PropertyName::new(name).unwrap()), how, value));
    let key = (any::<bool>(), comparisons(), any::<String>()).prop_map(|(partition, how, text)| {
        Filter::compare(if partition { Field::PartitionKey } else { Field::RowKey }, how, text)
    });
    prop_oneof![3 => property, 1 => key].prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

proptest! {
    #[test]
    fn printing_and_parsing_lead_back(filter in filters()) {
        let text = filter.to_string();
        let normal = filter.normalised();
        prop_assert_eq!(&text.parse::<Filter>().unwrap(), &normal, "{}", text);
        prop_assert_eq!(&normal.to_string().parse::<Filter>().unwrap(), &normal);
        prop_assert_eq!(normal.clone().normalised(), normal);
    }

    #[test]
    fn any_text_is_a_filter_or_an_error(text in "[a-zA-Z0-9 '()=.\\-_éL]{0,40}|\\PC*|(not |\\(|\\)|and |or |A|'x'| eq |1L|true|datetime'){0,12}") {
        if let Ok(filter) = Filter::parse(&text) {
            prop_assert_eq!(filter.to_string().parse::<Filter>().unwrap(), filter);
        }
    }
}
