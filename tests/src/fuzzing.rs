//! What must hold for any input at all: called by the fuzz targets, and by a bounded test.
//!
//! Each function takes whatever bytes it is given, panics where a promise is broken, and says
//! whether the input was one that the code under test takes.

use table_core::keys::{KeyPart, KeyRange, KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};
use table_core::query::{Filter, Plan};
use table_core::{DynamicEntity, EntityKey, ErrorKind, Result, RowKey, SortKey, Timestamp};

/// Any text is a filter or an error. A filter prints as text that leads back to it, and its plan
/// reads the rows that it matches.
///
/// # Panics
/// Where one of this is not so.
#[must_use]
pub fn filter_parser(input: &[u8]) -> bool {
    let text = String::from_utf8_lossy(input);
    let filter = match Filter::parse(&text) {
        Ok(filter) => filter,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidQuery, "{error}");
            return false;
        }
    };
    let printed = filter.to_string();
    assert_eq!(Filter::parse(&printed).as_ref().ok(), Some(&filter), "printed as {printed}");
    let plan = match Plan::new(&filter, &KeyRange::ALL) {
        Ok(plan) => plan,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
            return true;
        }
    };
    for row in sample_rows().iter().flatten() {
        let read = plan.steps().iter().any(|step| {
            step.range.contains(&row.key.partition, &row.key.row)
                && step.filter.as_ref().is_none_or(|left| left.matches(row))
        });
        assert_eq!(read, filter.matches(row), "{printed} at {}", row.key);
    }
    true
}

/// A few rows that the seeds' filters tell apart.
fn sample_rows() -> [Result<DynamicEntity>; 4] {
    let row = |partition, row| EntityKey::parse(partition, row).map(DynamicEntity::new);
    [
        row("Sales", "empid_000123").and_then(|row| row.with("Age", 40)),
        row("Sales", "2").and_then(|row| row.with("LastName", "Jones")),
        row("Sales", "T").and_then(|row| row.with("IsActive", true)),
        row("", ""),
    ]
}

const fn field(name: &'static str, kind: PartKind, spec: PartSpec, terminator: Option<char>) -> TemplatePart {
    TemplatePart::Field { name, format: PartFormat::new(kind, spec, terminator) }
}

/// Every form of a part, and every way in which parts can follow each other.
const TEMPLATES: [KeyTemplate; 7] = [
    KeyTemplate::new(&[field("text", PartKind::Text, PartSpec::Default, None)]),
    KeyTemplate::new(&[TemplatePart::Literal("empid_"), field("id", u32::KIND, PartSpec::Width(6), None)]),
    KeyTemplate::new(&[
        field("first", PartKind::Text, PartSpec::Default, Some('_')),
        TemplatePart::Literal("_"),
        field("second", PartKind::Text, PartSpec::Default, Some('-')),
        TemplatePart::Literal("-"),
        field("number", i64::KIND, PartSpec::Default, None),
    ]),
    KeyTemplate::new(&[
        field("at", Timestamp::KIND, PartSpec::Desc, None),
        field("id", PartKind::Uuid, PartSpec::Default, None),
        field("truth", PartKind::Bool, PartSpec::Default, None),
    ]),
    KeyTemplate::new(&[
        field("wide", PartKind::Float64, PartSpec::Default, None),
        TemplatePart::Literal("!"),
        field("narrow", PartKind::Float32, PartSpec::Default, None),
        field("at", Timestamp::KIND, PartSpec::Default, None),
        field("plain", i16::KIND, PartSpec::Width(5), None),
    ]),
    KeyTemplate::new(&[
        field("spread", PartKind::Text, PartSpec::Bucket { count: 16, width: 2 }, None),
        TemplatePart::Literal("_"),
        field("id", u32::KIND, PartSpec::Width(6), None),
    ]),
    KeyTemplate::new(&[
        field("day", Timestamp::KIND, PartSpec::Calendar("%Y-%m-%d"), None),
        TemplatePart::Literal("|"),
        field("text", PartKind::Text, PartSpec::Default, Some('|')),
        TemplatePart::Literal("|"),
    ]),
];

/// Any key is one of a template or an error, and a key that was read is written again as it was.
/// The same goes for keys as bytes.
///
/// # Panics
/// Where one of this is not so.
#[must_use]
pub fn key_decoder(input: &[u8]) -> bool {
    // The seeds are files of text, which end with a newline; keys don't.
    let input = input.strip_suffix(b"\n").unwrap_or(input);
    let bytes = SortKey::decode_bytes(input);
    if let Ok(key) = &bytes {
        assert_eq!(SortKey::of(key).as_bytes(), input);
    }
    let mut taken = bytes.is_ok();
    let text = String::from_utf8_lossy(input);
    for template in &TEMPLATES {
        let mut values = vec![KeyValue::Lost; template.fields().count()];
        let decoded = template.decode(&text, &mut values);
        assert_eq!(decoded.is_ok(), template.matches(&text), "{template}");
        taken |= decoded.is_ok();
        // What a calendar or a bucket says is lost, and only a text that can be a key need come back.
        let whole = decoded.is_ok() && !values.contains(&KeyValue::Lost);
        if let (true, Ok(key)) = (whole, RowKey::new(&text)) {
            assert_eq!(template.row_key(&values).ok(), Some(key), "{template}");
        }
    }
    taken
}
