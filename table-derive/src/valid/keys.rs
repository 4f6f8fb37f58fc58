//! Key templates against the fields that they name.

use crate::ast::{Entity, Index};
use crate::error::Errors;
use crate::field::{Field, Storage};
use crate::shape::Shape;
use crate::template::{Part, Spec, Template, can_terminate, is_key_char};

/// Checks the primary key.
pub(super) fn check_primary(entity: &Entity<'_>, errors: &mut Errors) {
    check_template(&entity.key.partition, &entity.fields, errors);
    check_row(&entity.key.row, &entity.fields, errors);
    for position in entity.key.fields() {
        if let Some(field) = entity.fields.get(position).filter(|field| field.optional && field.is_property()) {
            let template = if entity.key.row.fields().any(|(each, _)| each == position) {
                &entity.key.row
            } else {
                &entity.key.partition
            };
            errors.add(
                &template.text,
                format!(
                    "`{{{0}}}` is an Option, and a primary key needs a value for every part; make `{0}` a plain type or take it out of the key",
                    field.name
                ),
            );
        }
    }
}

/// Checks the key of an index.
pub(super) fn check_index(entity: &Entity<'_>, index: &Index, errors: &mut Errors) {
    if index.own_partition {
        check_template(&index.key.partition, &entity.fields, errors);
    }
    check_row(&index.key.row, &entity.fields, errors);
}

fn check_row(row: &Template, fields: &[Field<'_>], errors: &mut Errors) {
    match row.parts.first() {
        Some(Part::Literal(literal)) if literal.starts_with('~') => {
            errors.add(&row.text, "row keys that begin with `~` are reserved; begin with another character");
        }
        _ => check_template(row, fields, errors),
    }
    if row.fields().any(|(_, spec)| matches!(spec, Spec::Bucket { .. })) {
        errors.add(&row.text, "a bucket spreads rows over partitions; it stands in a partition key");
    }
}

fn check_template(template: &Template, fields: &[Field<'_>], errors: &mut Errors) {
    let mut seen: Vec<usize> = Vec::new();
    for (part, next) in template.with_next() {
        match part {
            Part::Literal(literal) => check_literal(template, literal, errors),
            Part::Field { field: position, spec } => {
                let Some(field) = fields.get(*position) else { continue };
                if seen.contains(position) {
                    errors.add(&template.text, format!("`{{{}}}` stands twice in the key; keep one", field.name));
                }
                seen.push(*position);
                if let Some(problem) = field_problem(field).or_else(|| spec_problem(field, spec)) {
                    errors.add(&template.text, problem);
                } else if field.shape == Shape::Text
                    && !matches!(spec, Spec::Bucket { .. })
                    && let Some(problem) = ending_problem(field, next, fields)
                {
                    errors.add(&template.text, problem);
                }
            }
        }
    }
}

fn check_literal(template: &Template, literal: &str, errors: &mut Errors) {
    if let Some(found) = literal.chars().find(|each| !is_key_char(*each)) {
        errors.add(
            &template.text,
            format!("a key must not hold {found:?}: `/`, `\\`, `#`, `?` and control characters are not allowed"),
        );
    }
    if literal.starts_with('~') {
        errors.add(&template.text, "a literal in a key template must not begin with `~`, which marks escapes");
    }
}

/// Why a field cannot stand in any key, if it cannot.
fn field_problem(field: &Field<'_>) -> Option<String> {
    let name = &field.name;
    if field.blob.is_some() {
        return Some(format!("`{{{name}}}` is kept in a blob; a key cannot hold it"));
    }
    match (&field.storage, field.shape) {
        (Storage::Json, _) => Some(format!("`{{{name}}}` is stored as JSON, which has no order; a key cannot hold it")),
        (Storage::Flatten(_), _) => {
            Some(format!("`{{{name}}}` is flattened into several properties; a key cannot hold it"))
        }
        (Storage::Skip, _) => {
            Some(format!("`{{{name}}}` is skipped, so a row would not give it back; a key cannot hold it"))
        }
        (Storage::Property, Shape::Bytes) => {
            Some(format!("`{{{name}}}` is binary; a key holds numbers, bool, String, Uuid and times"))
        }
        _ => None,
    }
}

/// Why what follows the colon does not fit the field, if it does not.
fn spec_problem(field: &Field<'_>, spec: &Spec) -> Option<String> {
    let (name, shape) = (&field.name, field.shape);
    if matches!(shape, Shape::Opaque | Shape::Unsupported(_)) {
        return None;
    }
    match spec {
        Spec::Width(width) if !shape.is_integer() => {
            Some(format!("`{{{name}:0{width}}}` has a width, which fits only an integer"))
        }
        Spec::Desc if shape != Shape::Time => Some(format!("`{{{name}:desc}}` fits only a time; `{name}` is none")),
        Spec::Calendar(format) if shape != Shape::Time => {
            Some(format!("`{{{name}:{format}}}` has a calendar format, which fits only a time"))
        }
        Spec::Bucket { .. } if matches!(shape, Shape::Float { .. }) => {
            Some(format!("`{name}` is a float, which has no bucket; use another field"))
        }
        _ => None,
    }
}

/// Why one could not tell where a text ends, if one could not.
fn ending_problem(field: &Field<'_>, next: Option<&Part>, fields: &[Field<'_>]) -> Option<String> {
    let name = &field.name;
    match next? {
        Part::Field { field: next, .. } => {
            let next = fields.get(*next).map_or("", |next| next.name.as_str());
            Some(format!("`{{{name}}}` is a text and runs into `{{{next}}}`; put a literal such as `_` between them"))
        }
        Part::Literal(literal) => {
            let first = literal.chars().next()?;
            // A `~` is reported as a mistake of the literal itself.
            (first != '~' && !can_terminate(first)).then(|| {
                format!(
                    "the literal after the text `{{{name}}}` cannot begin with {first:?}, since the text could not be told from it; use `_`, `-`, `!`, `|` or a letter"
                )
            })
        }
    }
}
