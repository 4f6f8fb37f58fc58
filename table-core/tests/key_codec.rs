//! The promises of the key encoding, over all of Unicode: round trip, order, exact prefixes.
//!
//! Characters that the escaping treats specially, accents, U+E000 to U+FFFF and emoji are weighted
//! up, and texts share beginnings, so that neighbours in the order meet often.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::cmp::Ordering;
use std::ops::Bound;

use proptest::prelude::*;
use proptest::test_runner::Config;
use table_core::keys::{KeyPrefix, KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};
use table_core::{PartitionKey, RowKey};

/// Each property runs so many times; together they are well over 100,000 cases.
const CASES: u32 = 20_000;

const fn text(name: &'static str, terminator: Option<char>) -> TemplatePart {
    TemplatePart::Field { name, format: PartFormat::new(PartKind::Text, PartSpec::Default, terminator) }
}

const fn number(name: &'static str) -> TemplatePart {
    TemplatePart::Field { name, format: PartFormat::new(PartKind::Unsigned { digits: 10 }, PartSpec::Width(6), None) }
}

/// One text alone.
const LAST: KeyTemplate = KeyTemplate::new(&[TemplatePart::Literal("email_"), text("a", None)]);
/// Two texts, then a number: one template for each separator.
const SEPARATORS: [(char, KeyTemplate); 5] = [
    (
        '_',
        separated(&[
            text("a", Some('_')),
            TemplatePart::Literal("_"),
            text("b", Some('_')),
            TemplatePart::Literal("_"),
            number("n"),
        ]),
    ),
    (
        '!',
        separated(&[
            text("a", Some('!')),
            TemplatePart::Literal("!"),
            text("b", Some('!')),
            TemplatePart::Literal("!"),
            number("n"),
        ]),
    ),
    (
        '|',
        separated(&[
            text("a", Some('|')),
            TemplatePart::Literal("|"),
            text("b", Some('|')),
            TemplatePart::Literal("|"),
            number("n"),
        ]),
    ),
    (
        '-',
        separated(&[
            text("a", Some('-')),
            TemplatePart::Literal("-"),
            text("b", Some('-')),
            TemplatePart::Literal("-"),
            number("n"),
        ]),
    ),
    (
        'x',
        separated(&[
            text("a", Some('x')),
            TemplatePart::Literal("x"),
            text("b", Some('x')),
            TemplatePart::Literal("x"),
            number("n"),
        ]),
    ),
];

const fn separated(parts: &'static [TemplatePart]) -> KeyTemplate {
    KeyTemplate::new(parts)
}

fn any_char() -> impl Strategy<Value = char> {
    prop_oneof![
        6 => prop::sample::select("/\\#?~}._^[\">!|-{x`wy".chars().collect::<Vec<_>>()),
        3 => prop::char::range(' ', '~'),
        2 => prop::char::range('a', 'c'),
        2 => prop::char::range('\u{a0}', '\u{24f}'),
        2 => prop::char::range('\u{e000}', '\u{ffff}'),
        2 => prop::char::range('\u{1f600}', '\u{1f64f}'),
        1 => prop::sample::select("\u{a0}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}".chars().collect::<Vec<_>>()),
        1 => any::<char>().prop_filter("control characters are refused", |each| !each.is_control()),
    ]
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(any_char(), 0..6).prop_map(|chars| chars.into_iter().collect())
}

/// Two texts that often share their beginning.
fn two_texts() -> impl Strategy<Value = (String, String)> {
    (any_text(), any_text(), any_text()).prop_flat_map(|(common, a, b)| {
        prop_oneof![
            Just((format!("{common}{a}"), format!("{common}{b}"))),
            Just((common.clone(), format!("{common}{b}"))),
            Just((a, b)),
        ]
    })
}

/// The service's order.
fn by_units(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

fn key(template: &KeyTemplate, values: &[KeyValue<'_>]) -> RowKey {
    template.row_key(values).unwrap()
}

fn text_value(text: &str) -> KeyValue<'_> {
    KeyValue::Text(text.into())
}

proptest! {
    #![proptest_config(Config { cases: CASES, failure_persistence: None, ..Config::default() })]

    #[test]
    fn tuples_come_back_exactly((a, b) in two_texts(), n in 0..1_000_000_u64, which in 0..SEPARATORS.len()) {
        let (_, template) = &SEPARATORS[which];
        let values = [text_value(&a), text_value(&b), KeyValue::Unsigned(n)];
        let encoded = key(template, &values);
        // What the codec writes is a key that the service takes.
        prop_assert_eq!(RowKey::new(encoded.as_str()).unwrap(), encoded.clone());
        let mut decoded = [KeyValue::Lost, KeyValue::Lost, KeyValue::Lost];
        template.decode(encoded.as_str(), &mut decoded).unwrap();
        prop_assert_eq!(decoded, values);
    }

    #[test]
    fn a_text_that_ends_a_key_sorts_as_it_does((a, b) in two_texts()) {
        let (x, y) = (key(&LAST, &[text_value(&a)]), key(&LAST, &[text_value(&b)]));
        prop_assert_eq!(x.cmp(&y), by_units(&a, &b), "{:?} {:?}", x, y);
    }

    #[test]
    fn tuples_sort_as_tuples_when_the_separator_is_below_every_character(
        ((a, b), (c, d)) in (two_texts(), two_texts()),
        (m, n) in (0..3_u64, 0..3_u64),
        which in 0..SEPARATORS.len(),
    ) {
        let (separator, template) = &SEPARATORS[which];
        let above = |text: &str| text.chars().filter(|each| each > separator).collect::<String>();
        let (a, b, c, d) = (above(&a), above(&b), above(&c), above(&d));
        let x = key(template, &[text_value(&a), text_value(&c), KeyValue::Unsigned(m)]);
        let y = key(template, &[text_value(&b), text_value(&d), KeyValue::Unsigned(n)]);
        let expected = by_units(&a, &b).then_with(|| by_units(&c, &d)).then(m.cmp(&n));
        prop_assert_eq!(x.cmp(&y), expected, "{:?} {:?}", x, y);
    }

    #[test]
    fn a_text_prefix_matches_exactly_its_texts((prefix, whole) in two_texts(), other in any_text(), which in 0..=SEPARATORS.len()) {
        let (template, encoded) = match SEPARATORS.get(which) {
            Some((_, template)) => {
                (template, key(template, &[text_value(&whole), text_value(&other), KeyValue::Unsigned(7)]))
            }
            None => (&LAST, key(&LAST, &[text_value(&whole)])),
        };
        let range = KeyPrefix::new(PartitionKey::new("p"), template).text_prefix(&prefix).unwrap();
        prop_assert_eq!(range.row.contains(encoded.as_str()), whole.starts_with(&prefix), "{:?} {:?}", range.row, encoded);
    }

    #[test]
    fn leading_parts_match_exactly_their_rows((a, b) in two_texts(), other in any_text(), which in 0..SEPARATORS.len()) {
        let (_, template) = &SEPARATORS[which];
        let encoded = key(template, &[text_value(&b), text_value(&other), KeyValue::Unsigned(7)]);
        let range = KeyPrefix::new(PartitionKey::new("p"), template).push(Ok(text_value(&a))).finish().unwrap();
        prop_assert_eq!(range.row.contains(encoded.as_str()), a == b, "{:?} {:?}", range.row, encoded);
    }

    #[test]
    fn a_range_of_texts_that_end_a_key_is_exact((a, b) in two_texts(), each in any_text(), bounds in 0..9_u8) {
        let bound = |kind: u8, text: &str| match kind {
            0 => Bound::Unbounded,
            1 => Bound::Included(text.to_owned()),
            _ => Bound::Excluded(text.to_owned()),
        };
        let (lower, upper) = (bound(bounds / 3, &a), bound(bounds % 3, &b));
        let inside = match &lower { Bound::Unbounded => true, Bound::Included(low) => by_units(&each, low).is_ge(), Bound::Excluded(low) => by_units(&each, low).is_gt() }
            && match &upper { Bound::Unbounded => true, Bound::Included(high) => by_units(&each, high).is_le(), Bound::Excluded(high) => by_units(&each, high).is_lt() };
        let value = |bound: &Bound<String>| bound.as_ref().map(|text| Ok(KeyValue::Text(text.clone().into())));
        let range = KeyPrefix::new(PartitionKey::new("p"), &LAST).between(value(&lower), value(&upper)).unwrap();
        let encoded = key(&LAST, &[text_value(&each)]);
        prop_assert_eq!(range.row.contains(encoded.as_str()), inside);
    }

    #[test]
    fn whatever_decodes_is_what_the_codec_writes(raw in any_text(), tail in any_text(), which in 0..SEPARATORS.len()) {
        let (separator, template) = &SEPARATORS[which];
        let raw = format!("{raw}{separator}{tail}{separator}000007");
        let mut decoded = [KeyValue::Lost, KeyValue::Lost, KeyValue::Lost];
        if template.decode(&raw, &mut decoded).is_ok()
            && let Ok(again) = template.row_key(&decoded)
        {
            prop_assert_eq!(again.as_str(), raw);
        }
    }
}

/// A template of one field of a kind.
macro_rules! single {
    ($kind:expr) => {
        single!($kind, PartSpec::Default)
    };
    ($kind:expr, $spec:expr) => {{
        const PARTS: &[TemplatePart] =
            &[TemplatePart::Field { name: "field", format: PartFormat::new($kind, $spec, None) }];
        KeyTemplate::new(PARTS)
    }};
}

fn check_pair<T: table_core::keys::KeyPart + Clone>(template: &KeyTemplate, a: &T, b: &T, expected: Ordering) {
    let (x, y) = (key(template, &[a.to_key().unwrap()]), key(template, &[b.to_key().unwrap()]));
    assert_eq!(x.cmp(&y), expected, "{x} {y}");
    for (encoded, original) in [(&x, a), (&y, b)] {
        let mut decoded = [KeyValue::Lost];
        template.decode(encoded.as_str(), &mut decoded).unwrap();
        let [decoded] = decoded;
        let again = T::from_key(decoded).unwrap();
        assert_eq!(key(template, &[again.to_key().unwrap()]), *encoded);
        assert_eq!(key(template, &[original.to_key().unwrap()]), *encoded);
    }
}

proptest! {
    #![proptest_config(Config { cases: CASES, failure_persistence: None, ..Config::default() })]

    #[test]
    fn numbers_sort_as_numbers(a: i64, b: i64, c: u64, d: u64, e: i8, f: i8) {
        check_pair(&single!(PartKind::Signed { digits: 19 }), &a, &b, a.cmp(&b));
        check_pair(&single!(PartKind::Unsigned { digits: 20 }), &c, &d, c.cmp(&d));
        check_pair(&single!(PartKind::Signed { digits: 3 }), &e, &f, e.cmp(&f));
    }

    #[test]
    fn floats_sort_in_their_total_order(
        a in any::<f64>().prop_filter("NaN is refused", |each| !each.is_nan()),
        b in any::<f64>().prop_filter("NaN is refused", |each| !each.is_nan()),
        c in any::<f32>().prop_filter("NaN is refused", |each| !each.is_nan()),
        d in any::<f32>().prop_filter("NaN is refused", |each| !each.is_nan()),
    ) {
        check_pair(&single!(PartKind::Float64), &a, &b, a.total_cmp(&b));
        check_pair(&single!(PartKind::Float32), &c, &d, c.total_cmp(&d));
    }

    #[test]
    fn times_and_uuids_sort(a in 0..=3_155_378_975_999_999_999_i64, b in 0..=3_155_378_975_999_999_999_i64, u: u128, v: u128) {
        let (a, b) = (table_core::Timestamp::from_ticks(a).unwrap(), table_core::Timestamp::from_ticks(b).unwrap());
        check_pair(&single!(PartKind::Time), &a, &b, a.cmp(&b));
        check_pair(&single!(PartKind::Time, PartSpec::Desc), &a, &b, b.cmp(&a));
        let (u, v) = (uuid::Uuid::from_u128(u), uuid::Uuid::from_u128(v));
        check_pair(&single!(PartKind::Uuid), &u, &v, u.cmp(&v));
        let minutes = single!(PartKind::Time, PartSpec::Calendar("%Y-%m-%dT%H%M"));
        let minute = |at: table_core::Timestamp| at.ticks() / 600_000_000;
        let (x, y) = (key(&minutes, &[KeyValue::Time(a)]), key(&minutes, &[KeyValue::Time(b)]));
        prop_assert_eq!(x.cmp(&y), minute(a).cmp(&minute(b)));
    }
}
