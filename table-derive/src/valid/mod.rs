//! What must hold for a struct beyond its syntax. Every check reports and goes on.

mod collide;
mod keys;
mod properties;

use crate::ast::{Entity, Index};
use crate::error::Errors;
use crate::field::{Field, Storage};
use crate::names;
use crate::template::Part;

pub(crate) use properties::{check_fields, refuse_blobs};

/// The bytes of the largest property.
const PROPERTY_BYTES: u32 = 64 * 1024;

/// Checks an entity.
pub(crate) fn check_entity(entity: &Entity<'_>, errors: &mut Errors) {
    check_container(entity, errors);
    check_fields(&entity.fields, &entity.input.generics, errors);
    properties::check_blobs(&entity.fields, errors);
    properties::check_columns(&entity.fields, errors);
    keys::check_primary(entity, errors);
    for (position, index) in entity.indexes.iter().enumerate() {
        check_index(entity, position, index, errors);
    }
    collide::check(entity, errors);
}

fn check_container(entity: &Entity<'_>, errors: &mut Errors) {
    let attrs = &entity.attrs;
    if let Some(name) = &attrs.name
        && name.value().is_empty()
    {
        errors.add(name, "an entity's name must not be empty");
    }
    if let (Some(version), Some(at)) = (attrs.version, &attrs.version_at)
        && !(1..=i32::MAX.unsigned_abs()).contains(&version)
    {
        errors.add(at, "versions count from 1 to 2147483647");
    }
    if let Some(old) = &attrs.upgrade_from
        && entity.version() < 2
    {
        errors.add(old, "`upgrade_from` needs a version above the old one, as in `version = 2`");
    }
    if let (Some(above), Some(at)) = (attrs.blob_above, &attrs.blob_above_at)
        && above > PROPERTY_BYTES
    {
        errors.add(at, format!("a property holds at most {PROPERTY_BYTES} bytes; choose a number up to that"));
    }
    let Some(discriminator) = &attrs.discriminator else { return };
    match discriminator.value().as_str() {
        "property" => {}
        "row_key" => {
            let begins = matches!(entity.key.row.parts.first(), Some(Part::Literal(_)));
            if !begins && !entity.key.row.broken {
                errors.add(
                    discriminator,
                    "a type told by its row key needs a row template that begins with a literal, as in `row = \"empid_{id}\"`",
                );
            }
        }
        other => {
            let hint = names::suggestion(other, ["property", "row_key"]);
            errors.add(discriminator, format!("unknown discriminator `{other}`{hint}"));
        }
    }
}

fn check_index(entity: &Entity<'_>, position: usize, index: &Index, errors: &mut Errors) {
    let name = names::plain(&index.name);
    let twin = entity.indexes.iter().take(position).any(|other| names::plain(&other.name) == name);
    if twin {
        errors.add(&index.name, format!("there are two indexes named `{name}`; rename one"));
    }
    if let Some(table) = &index.table
        && let Some(problem) = names::table_problem(&table.value())
    {
        errors.add(table, format!("a table name {problem}"));
    }
    keys::check_index(entity, index, errors);
    check_include(&entity.fields, index, errors);
}

fn check_include(fields: &[Field<'_>], index: &Index, errors: &mut Errors) {
    let include = index.include.as_deref().unwrap_or_default();
    for (position, ident) in include.iter().enumerate() {
        let name = names::plain(ident);
        match fields.iter().find(|field| field.name == name) {
            None => {
                let hint = names::suggestion(&name, fields.iter().map(|field| field.name.as_str()));
                errors.add(ident, format!("`include` names the unknown field `{name}`{hint}"));
            }
            Some(field) if matches!(field.storage, Storage::Skip) => {
                errors.add(ident, format!("the field `{name}` is skipped, so no index can include it"));
            }
            Some(field) if field.blob.is_some() => {
                errors.add(
                    ident,
                    format!("the field `{name}` is kept in a blob, so no index can include it; read it from the entity itself"),
                );
            }
            Some(_) if include.iter().take(position).any(|other| names::plain(other) == name) => {
                errors.add(ident, format!("`include` names `{name}` twice; keep one"));
            }
            Some(_) => {}
        }
    }
}
