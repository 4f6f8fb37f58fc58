//! `docs/key-encoding.md` is the specification: its vectors are run as they stand there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking, its helpers too"
)]

use std::str::FromStr;

use table_core::Timestamp;
use table_core::keys::{KeyPart, KeyTemplate, KeyValue, PartFormat, PartKind, PartSpec, TemplatePart};

const SPECIFICATION: &str = include_str!("../../docs/key-encoding.md");

/// The cells of the table of forms: type, template, value, key.
fn vectors() -> Vec<[String; 4]> {
    let forms = SPECIFICATION.split("## Forms").nth(1).unwrap().split("## Texts").next().unwrap();
    forms
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'))
        .map(|line| {
            let cells: Vec<String> = line.split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect();
            [cells[1].clone(), cells[2].clone(), cells[3].clone(), cells[4].clone()]
        })
        .collect()
}

fn parsed<T: KeyPart + FromStr>(value: &str) -> (PartKind, KeyValue<'static>)
where
    T::Err: std::fmt::Debug,
{
    (T::KIND, value.parse::<T>().unwrap().to_key().unwrap().into_owned())
}

fn value_of(type_name: &str, value: &str) -> (PartKind, KeyValue<'static>) {
    match type_name {
        "u8" => parsed::<u8>(value),
        "u16" => parsed::<u16>(value),
        "u32" => parsed::<u32>(value),
        "u64" => parsed::<u64>(value),
        "i8" => parsed::<i8>(value),
        "i16" => parsed::<i16>(value),
        "i32" => parsed::<i32>(value),
        "i64" => parsed::<i64>(value),
        "f32" => parsed::<f32>(value),
        "f64" => parsed::<f64>(value),
        "bool" => parsed::<bool>(value),
        "Uuid" => parsed::<uuid::Uuid>(value),
        "time" => parsed::<Timestamp>(value),
        "text" => parsed::<String>(value),
        other => panic!("the specification names an unknown type {other}"),
    }
}

/// A template of one field and what follows it, as the derive macro would make it.
fn template(kind: PartKind, text: &str) -> KeyTemplate {
    let (field, tail) = text.strip_prefix('{').unwrap().split_once('}').unwrap();
    let bucket = field.strip_prefix("bucket(").and_then(|field| field.split_once("):")).map(|(arguments, width)| {
        let count = arguments.split_once(", ").unwrap().1.parse().unwrap();
        PartSpec::Bucket { count, width: width.parse().unwrap() }
    });
    let form = match field.split_once(':').map(|(_, spec)| spec) {
        None => PartSpec::Default,
        Some("desc") => PartSpec::Desc,
        Some(format) if format.starts_with('%') => PartSpec::Calendar(format.to_owned().leak()),
        Some(width) => PartSpec::Width(width.parse().unwrap()),
    };
    let spec = bucket.unwrap_or(form);
    let mut parts =
        vec![TemplatePart::Field { name: "field", format: PartFormat::new(kind, spec, tail.chars().next()) }];
    if !tail.is_empty() {
        parts.push(TemplatePart::Literal(tail.to_owned().leak()));
    }
    KeyTemplate::new(parts.leak())
}

#[test]
fn every_vector_of_the_specification_holds() {
    let vectors = vectors();
    assert!(vectors.len() >= 30, "the table of forms was not found");
    for [type_name, text, value, key] in vectors {
        let (kind, value) = value_of(&type_name, &value);
        let template = template(kind, &text);
        let encoded = template.row_key(std::slice::from_ref(&value)).unwrap();
        assert_eq!(encoded.as_str(), key, "{type_name} {text}");
        let mut decoded = [KeyValue::Lost];
        template.decode(&key, &mut decoded).unwrap();
        let lossy = template.fields().any(|(_, format)| format.is_lossy());
        assert_eq!(decoded, [if lossy { KeyValue::Lost } else { value }], "{type_name} {text}");
    }
}

#[test]
fn what_a_form_cannot_hold_is_refused() {
    let refused = |type_name: &str, text: &str, value: &str| {
        let (kind, value) = value_of(type_name, value);
        template(kind, text).row_key(&[value]).unwrap_err()
    };
    for (type_name, text, value) in
        [("u32", "{n:06}", "1000000"), ("i32", "{n:04}", "-1"), ("f64", "{x}", "NaN"), ("text", "{t}", "a\u{85}b")]
    {
        assert_eq!(refused(type_name, text, value).kind(), table_core::ErrorKind::InvalidKey, "{value}");
    }
    let long = "x".repeat(513);
    assert_eq!(refused("text", "{t}", &long).kind(), table_core::ErrorKind::LimitExceeded);
    assert_eq!(refused("text", "{t}", &"/".repeat(257)).kind(), table_core::ErrorKind::LimitExceeded);
}
